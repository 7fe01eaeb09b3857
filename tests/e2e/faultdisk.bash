# shellcheck shell=bash
# Helpers of the tests on a disk with faults (tests/lab/faultdisk.bash): the only device of a daemon's configuration.

source "${BATS_TEST_DIRNAME}/../lab/faultdisk.bash"

setup() {
	need_root
	need nbdkit nbdfuse fusermount3
	daemon_setup
	FAULT_DIR=$HOME_DIR/fault
	TRIP=$HOME_DIR/trip
	PLAN=$HOME_DIR/plan.yaml
	DISK=$HOME_DIR/disk.img
	truncate -s 96M "$DISK"
}

teardown() {
	[ -z "${NBDKIT:-}" ] || kill -CONT "$NBDKIT" || true
	daemon_stop || true
	fault_down || true
	umount "$HOME_DIR/state" "$HOME_DIR/scratch" 2>/dev/null || true
	daemon_teardown
}

# The fault disk as the only device of the configuration; it takes its time, so that there is a middle.
disk_up() { # NBDKIT-ARGUMENT...
	fault_up --filter=error --filter=delay file "$DISK" wdelay=10ms error-rate=100% error-pread-rate=0 \
		"error-file=$TRIP" "$@"
	printf 'devices:\n  disk: {backing-file: %s}\n' "$FAULT_DIR/fuse/disk" >>"$CONFIG"
	BEFORE=$(machine_state "$LOOP")
}

# Two cells, two trials each of a second or so of synchronous writes; FIRST, if set, is an argument list to run before them.
disk_plan() { # SETTING...
	cat <<-END
	plan: fault
	target: {device: disk, erase: yes}
	matrix: {filesystem: ext4, readahead: [64KiB, 2MiB], scheduler: mq-deadline}
	workloads:
	  - command:
	      as: write
	      warm: yes
	      run: [${FIRST:+$FIRST, }[dd, if=/dev/zero, "of=\${dir}/f$$", bs=4k, count=20, oflag=dsync]]
	      metrics: {time: {value: ":elapsed", unit: s, better: lower}}
	trials: 2
	settle: 0
	$(printf '%s\n' "$@")
	END
}

trial_runs() { [ "$(query "SELECT count(*) FROM trial WHERE state = 'running'")" -gt 0 ]; }
trial_failed() { [ "$(query "SELECT count(*) FROM trial WHERE state = 'failed'")" -gt 0 ]; }
# Its file has a name of its own, since other suites run such a dd as well.
dd_is_stuck() { ps -C dd -o stat= -o args= | grep -q "^D.*/f$$ bs=4k"; }
dd_pid() { ps -C dd -o pid=,args= | awk -v file="/f$$" 'index($0, file " bs=4k") { print $1 }'; }
is_over() { case $(sweep_state) in done | failed | paused | cancelled) true ;; *) false ;; esac; }
trial_reason() { query "SELECT reason FROM trial WHERE state = '$1' LIMIT 1"; }
sweep_reason() { query 'SELECT reason FROM sweep ORDER BY id DESC LIMIT 1'; }
as_before() { [ "$(machine_state "$LOOP")" = "$BEFORE" ] || { diff <(echo "$BEFORE") <(machine_state "$LOOP"); false; }; }
answers_at_once() { timeout 2 iosweep list >/dev/null && timeout 2 "$ROOT/tests/e2e/wire" ask "$IOSWEEP_SOCKET" \
	'{"version":1,"request":"hello"}' | grep -q '"ok":true'; }
dump() { query "SELECT state, reason FROM sweep; SELECT cell_id, repetition, state, reason FROM trial; SELECT kind, text FROM event"; cat "$HOME_DIR/daemon.log"; }
