# Helpers of the end-to-end tests: a private daemon below $BATS_TEST_TMPDIR (or $BATS_FILE_TMPDIR), never the host's.
#
#   setup() { daemon_setup; daemon_start; }     teardown() { daemon_teardown; }
#
# Everything is real: daemon, worker, block devices (loop), mkfs, mount.  Tests that need root say need_root first.

B=${IOSWEEP_BUILD:-build/opt}
ROOT=$(cd "${BATS_TEST_DIRNAME}/../.." && pwd)
case $B in /*) ;; *) B=$ROOT/$B ;; esac
export PATH=$B:$PATH
export IOSWEEP_DATA=$ROOT/sweeps

need_root() {
	[ "$(id -u)" -eq 0 ] || { [ -z "${STRICT:-}" ] && skip "needs root"; return 1; }
}

need() { # PROGRAM...: skips by name if one is missing
	local program
	for program; do
		command -v "$program" >/dev/null || { [ -z "${STRICT:-}" ] && skip "needs $program"; return 1; }
	done
}

# Makes a home for a daemon: $HOME_DIR with a configuration that offers images, a directory and, once device_make was
# called, devices.  Extra configuration text is taken from stdin if it is not a terminal.
daemon_setup() {
	HOME_DIR=$(mktemp -d /var/tmp/iosweep-test.XXXXXX)
	chmod 755 "$HOME_DIR"
	mkdir -p "$HOME_DIR/state" "$HOME_DIR/images" "$HOME_DIR/scratch" "$HOME_DIR/workloads"
	chmod 1777 "$HOME_DIR/scratch"
	CONFIG=$HOME_DIR/iosweepd.yaml
	cat >"$CONFIG" <<-END
	state: $HOME_DIR/state
	socket: $HOME_DIR/socket
	group: root
	user: nobody
	workloads: [$HOME_DIR/workloads]
	images: {path: $HOME_DIR/images, max: 4GiB, keep-free: 64MiB}
	directories:
	  scratch: $HOME_DIR/scratch
	END
	export IOSWEEP_SOCKET=$HOME_DIR/socket
	export IOSWEEP_DB=$HOME_DIR/state/iosweep.db
	LOOPS=()
	DAEMON=
}

# device_make NAME SIZE: a loop device that the configuration lists by its backing file; its path is in $DEVICE.
device_make() {
	local image=$HOME_DIR/$1.img
	truncate -s "$2" "$image"
	DEVICE=$(losetup -f --show "$image")
	partx -d "$DEVICE" 2>/dev/null || true # of a test that was killed: they outlive the detaching
	LOOPS+=("$DEVICE")
	grep -q '^devices:' "$CONFIG" || echo 'devices:' >>"$CONFIG"
	echo "  $1: {backing-file: $image}" >>"$CONFIG"
}

# One primary partition of 40 MiB at 1 MiB: an MBR, 16 bytes at 446.
partition_write() { # FILE-OR-DEVICE
	printf '\0\0\0\0\203\0\0\0\0\010\0\0\0\100\1\0' | dd of="$1" bs=1 seek=446 conv=notrunc status=none
	printf '\125\252' | dd of="$1" bs=1 seek=510 conv=notrunc status=none
}

daemon_answers() {
	"$ROOT/tests/e2e/wire" ask "$IOSWEEP_SOCKET" '{"version":1,"request":"hello"}' | grep -q '"ok":true'
}

# The daemon's root directory is $daemon_root, if that is set.
daemon_start() {
	${daemon_root:+chroot "$daemon_root"} "$B/iosweepd" --config "$CONFIG" 2>>"$HOME_DIR/daemon.log" 3>&- &
	DAEMON=$!
	wait_for 10 daemon_answers # the socket may be one that a killed daemon has left
}

daemon_stop() { # SIGTERM; the exit status is the daemon's
	[ -n "$DAEMON" ] || return 0
	kill -TERM "$DAEMON" 2>/dev/null || true
	local status=0
	wait "$DAEMON" || status=$?
	DAEMON=
	return $status
}

# A name that is free again may be somebody else's by now.
loop_detach() {
	case $(losetup -n -O BACK-FILE "$1" 2>/dev/null) in
	*"$HOME_DIR"/* | /dev/loop*) losetup -d "$1" 2>/dev/null || true ;;
	esac
}

daemon_teardown() {
	daemon_stop || true
	local loop
	[ -z "${SYSCTL_WAS:-}" ] || echo "$SYSCTL_WAS" >"$SYSCTL" # what a test that failed has left
	for loop in "${LOOPS[@]}"; do loop_detach "$loop"; done
	if [ -n "${BATS_ERROR_STATUS:-}" ] && [ "${BATS_ERROR_STATUS:-0}" != 0 ]; then
		sed 's/^/daemon: /' "$HOME_DIR/daemon.log" | tail -40
	fi
	rm -rf --one-file-system "$HOME_DIR"
}

# wait_for SECONDS COMMAND...: until it succeeds
wait_for() {
	local end=$((${EPOCHREALTIME/./} + $1 * 1000000))
	shift
	until "$@" 2>/dev/null; do
		[ "${EPOCHREALTIME/./}" -lt "$end" ] || { echo "timed out: $*"; return 1; }
		sleep 0.05
	done
}

query() { # SQL: one value a line, read-only
	sqlite3 -readonly -cmd '.timeout 5000' "$IOSWEEP_DB" "$1" # after a kill somebody recovers the log
}

sweep_state() { # [ID]
	query "SELECT state FROM sweep WHERE id = ${1:-(SELECT max(id) FROM sweep)}"
}

state_is() { [ "$(sweep_state)" = "$1" ]; }

# What must be as before when a sweep is over: the settings of a disk; those of the host.
machine_state() { # DEVICE
	local queue=/sys/block/${1#/dev/}/queue attr
	for attr in scheduler nr_requests max_sectors_kb read_ahead_kb rotational write_cache rq_affinity nomerges; do
		[ -e "$queue/$attr" ] && echo "$attr $(cat "$queue/$attr")"
	done
	return 0
}

vm_state() {
	local attr
	for attr in dirty_ratio dirty_background_ratio swappiness; do echo "vm.$attr $(cat /proc/sys/vm/$attr)"; done
}

# A setting of the host that several suites change, for this test alone until it ends: $SYSCTL, which was $SYSCTL_WAS.
sysctl_take() {
	local lock
	SYSCTL=/proc/sys/vm/dirtytime_expire_seconds
	exec {lock}>/var/tmp/iosweep-test-sysctl.lock # tests/crash/row has it, too
	flock "$lock"
	SYSCTL_WAS=$(cat "$SYSCTL")
}

nothing_left() { # no mount, no loop of ours, no file of a target
	if grep -q "$HOME_DIR" /proc/self/mountinfo; then return 1; fi
	[ -z "$(losetup -n -O BACK-FILE | grep "$HOME_DIR/images" || true)" ]
	[ -z "$(ls -A "$HOME_DIR/images")" ]
}
