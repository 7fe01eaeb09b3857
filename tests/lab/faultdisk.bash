# shellcheck shell=bash
# The fault disk: a loop device over nbdfuse over nbdkit.  What nbdkit's filters do, the kernel sees its disk do.
#
#   fault_up IMAGE NBDKIT-ARGUMENT...   sets LOOP; the arguments are nbdkit's (filters, then "file IMAGE", then parameters)
#   fault_down                          takes it apart again, whatever state it is in
#
# FAULT_DIR holds the socket and the FUSE file; NBDKIT is the process to stop, continue or kill.

# A sleep without a process: read(1) on a FIFO to which nobody writes.
fault_nap() {
	[ -n "${FAULT_NEVER:-}" ] || {
		FAULT_NEVER=$(mktemp -u /tmp/iosweep-never.XXXXXX)
		mkfifo "$FAULT_NEVER"
		exec {FAULT_NEVER_FD}<>"$FAULT_NEVER"
		rm -f "$FAULT_NEVER"
	}
	read -r -t "$1" -u "$FAULT_NEVER_FD" || true
}

fault_wait() { # SECONDS TEST...
	local end=$((${EPOCHREALTIME/./} + $1 * 1000000))
	shift
	until "$@"; do
		[ "${EPOCHREALTIME/./}" -lt "$end" ] || { echo "fault disk: timed out: $*" >&2; return 1; }
		fault_nap 0.03
	done
}

fault_up() {
	mkdir -p "$FAULT_DIR/fuse"
	rm -f "$FAULT_DIR/socket"
	# In a session of its own: when a process group with a stopped member loses its last tie to its session, the kernel
	# sends SIGHUP to all of it (POSIX, _exit), which ends nbdkit, the other suites and make.
	setsid nbdkit -f -U "$FAULT_DIR/socket" "$@" 2>/dev/null 3>&- &
	NBDKIT=$!
	fault_wait 10 [ -S "$FAULT_DIR/socket" ] || return 1
	nbdfuse "$FAULT_DIR/fuse/disk" "nbd+unix:///?socket=$FAULT_DIR/socket" 2>/dev/null 3>&- &
	NBDFUSE=$!
	disown "$NBDFUSE"
	fault_wait 10 [ -e "$FAULT_DIR/fuse/disk" ] || return 1
	LOOP=$(losetup -f --show "$FAULT_DIR/fuse/disk") || return 1
	# Both survive a detach, so that somebody else's leftover would decide what is tested.
	echo none >"/sys/block/${LOOP#/dev/}/queue/scheduler"
	echo 'write back' >"/sys/block/${LOOP#/dev/}/queue/write_cache"
}

fault_down() {
	if [ -n "${NBDKIT:-}" ]; then
		kill -CONT "$NBDKIT" 2>/dev/null
		kill -KILL "$NBDKIT" 2>/dev/null
		wait "$NBDKIT" 2>/dev/null
		NBDKIT=
	fi
	[ -z "${LOOP:-}" ] || losetup -d "$LOOP" 2>/dev/null
	LOOP=
	fusermount3 -u "$FAULT_DIR/fuse" 2>/dev/null || umount -l "$FAULT_DIR/fuse" 2>/dev/null
	[ -z "${NBDFUSE:-}" ] || kill -KILL "$NBDFUSE" 2>/dev/null
	NBDFUSE=
	return 0
}
