#!/usr/bin/env bats
# The systemd unit for real: systemd as PID 1 in a container on this kernel, over a copy-on-write view of this host, with
# iosweep installed in it.  One boot, one script; its lines are looked at by the tests.

load helpers

setup_file() {
	WHY_NOT=
	[ "$(id -u)" -eq 0 ] || WHY_NOT="needs root"
	command -v systemd-nspawn >/dev/null || WHY_NOT="needs systemd-nspawn"
	awk '$5 == "/" { found = 1 } END { exit !found }' /proc/self/mountinfo ||
		WHY_NOT="needs a root that is a mount point, which it is not below a chroot"
	export WHY_NOT
	[ -z "$WHY_NOT" ] || return 0
	export W=$BATS_FILE_TMPDIR
	make -C "$ROOT" --no-print-directory B="$B" DESTDIR="$W/install" install >"$W/install.log" 2>&1
	mkdir -p "$W/root" "$W/share" "$W/units/iosweepd.service.d"
	# a build with SAN=1 looks for leaks by ptrace(2), which the sandbox forbids; the other suites look for them
	printf '[Service]\nEnvironment=ASAN_OPTIONS=detect_leaks=0\n' >"$W/units/iosweepd.service.d/sanitizer.conf"
	tar -C "$W/install" -cf "$W/share/install.tar" .
	install -m 755 "$ROOT/tests/e2e/unit.sh" "$W/share/run"
	cat >"$W/units/probe.target" <<-END
	[Unit]
	Requires=basic.target
	After=basic.target
	Wants=probe.service
	AllowIsolate=yes
	END
	cat >"$W/units/probe.service" <<-END
	[Service]
	Type=exec
	ExecStart=/bin/bash -c '/bin/bash /run/share/run >/run/share/out 2>&1; systemctl exit 0'
	END
	local bind=(--bind=/dev/loop-control) node
	for node in /dev/loop[0-9]*; do [ ! -b "$node" ] || bind+=("--bind=$node"); done
	# the host's root, read-only, in a mount namespace of this command alone
	# shellcheck disable=SC2016 # the inner shell expands it
	SYSTEMD_NSPAWN_API_VFS_WRITABLE=yes unshare -m --propagation private sh -c '
		mount --bind / "$1/root" && mount -o remount,bind,ro "$1/root" || exit
		w=$1; shift
		exec timeout -k 5 120 systemd-nspawn -q --register=no --keep-unit -D "$w/root" --volatile=overlay --private-network \
			--console=pipe "--machine=unit-$$" "--bind=$w/share:/run/share" \
			"--bind-ro=$w/units:/run/systemd/system.control" "$@" /lib/systemd/systemd --unit=probe.target' \
		sh "$W" "${bind[@]}" </dev/null >"$W/console" 2>&1 3>&- || true
}

setup() { # not in setup_file, where a skip counts as a failure
	[ -z "$WHY_NOT" ] || skip "$WHY_NOT"
}

# said LINE: the script printed exactly this line
said() { grep -qxF "$1" "$W/share/out" || { cat "$W/share/out" "$W/console"; false; }; }

@test "the unit starts, is ready when it says so, and makes its directories" {
	said 'start 0'
	said 'ActiveState=active'
	said 'StatusText=idle'
	said '750 root iosweep /var/lib/iosweep'
	said '640 root iosweep /var/lib/iosweep/iosweep.db'
	said '660 root iosweep /run/iosweep/iosweep.sock'
}

@test "within the sandbox a sweep on a directory and one on an image complete" {
	said 'directory 0'
	said 'image 0'
}

@test "the cgroup is the daemon's to divide, its memory controller included" {
	said 'delegated: yes, memory: 1'
	said 'memory: ok, 0 to undo' || said 'memory: infeasible, 0 to undo' # cgroup v1 is read-only in a container
}

@test "systemctl stop waits for the undo, and the sweep goes on at the next start" {
	said 'to undo before stop: 1'
	said 'stop 0'
	said 'Result=success'
	said 'after stop: queued, to undo: 0, images: 0'
	said 'after start: running'
}

@test "a daemon that is killed is started again and goes on" {
	said 'after kill: NRestarts=1 running'
	said 'after cancel: cancelled'
}

@test "what is left of a unit whose daemon was killed is told to end, not killed: the worker undoes" {
	said 'workers that undo what another has left: 0'
}

@test "the unit is as tight as its comment says" {
	said "exposure $(sed -n 's/^# systemd-analyze security.*exposure level \([0-9.]*\) .*/\1/p' "$ROOT/contrib/systemd/iosweepd.service")"
}

@test "the sandbox holds: nothing but the state directory and what is offered can be written" {
	said "etc: touch: cannot touch '/etc/written': Read-only file system"
	said "usr: touch: cannot touch '/usr/written': Read-only file system"
	said 'state directory: written'
}

@test "systemd finds nothing wrong with the unit" {
	said 'verify: 0'
}

@test "a daemon that stands still is restarted by the watchdog, one that is idle is not" {
	said 'watchdog while idle: 0 restarts'
	said 'watchdog: 1 restart, running'
	said 'watchdog: 1'
}

@test "the journal has the priorities" {
	said 'notices: 1'
}
