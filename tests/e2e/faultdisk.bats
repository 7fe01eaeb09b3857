#!/usr/bin/env bats
# A target that fails, hangs, dies or fills up, and a state directory that fills up.  The disk is tests/lab/faultdisk.bash.

load helpers
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

# Two cells, two trials each of a second or so of synchronous writes.
disk_plan() { # SETTING...
	cat <<-END
	plan: fault
	target: {device: disk, erase: yes}
	matrix: {filesystem: ext4, readahead: [64KiB, 2MiB], scheduler: mq-deadline}
	workloads:
	  - command:
	      as: write
	      warm: yes
	      run: [[dd, if=/dev/zero, "of=\${dir}/f", bs=4k, count=20, oflag=dsync]]
	      metrics: {time: {value: ":elapsed", unit: s, better: lower}}
	trials: 2
	settle: 0
	$(printf '%s\n' "$@")
	END
}

trial_runs() { [ "$(query "SELECT count(*) FROM trial WHERE state = 'running'")" -gt 0 ]; }
trial_failed() { [ "$(query "SELECT count(*) FROM trial WHERE state = 'failed'")" -gt 0 ]; }
dd_is_stuck() { ps -C dd -o stat= -o args= | grep -q "^D.*count=20 oflag=dsync"; }
is_over() { case $(sweep_state) in done | failed | paused | cancelled) true ;; *) false ;; esac; }
trial_reason() { query "SELECT reason FROM trial WHERE state = '$1' LIMIT 1"; }
sweep_reason() { query 'SELECT reason FROM sweep ORDER BY id DESC LIMIT 1'; }
as_before() { [ "$(machine_state "$LOOP")" = "$BEFORE" ] || { diff <(echo "$BEFORE") <(machine_state "$LOOP"); false; }; }
answers_at_once() { timeout 2 iosweep list >/dev/null && timeout 2 "$ROOT/tests/e2e/wire" ask "$IOSWEEP_SOCKET" \
	'{"version":1,"request":"hello"}' | grep -q '"ok":true'; }
dump() { query "SELECT state, reason FROM sweep; SELECT cell_id, repetition, state, reason FROM trial; SELECT kind, text FROM event"; cat "$HOME_DIR/daemon.log"; }

@test "writes that fail with EIO fail the trial with that reason, the next cell is measured, the machine is as before" {
	disk_up
	daemon_start
	disk_plan >"$PLAN"
	iosweep submit "$PLAN"
	wait_for 30 trial_runs
	touch "$TRIP"
	wait_for 60 trial_failed
	rm "$TRIP"
	wait_for 120 is_over
	dump
	[ "$(sweep_state)" = failed ]
	grep -q 'Input/output error' <<<"$(trial_reason failed)"
	[ "$(query "SELECT count(*) FROM trial WHERE state = 'ok' AND cell_id = (SELECT max(id) FROM cell)")" = 2 ]
	as_before
	if grep -q "$LOOP" /proc/self/mountinfo; then false; fi
}

@test "a device that hangs: the daemon answers, the trial is given up, and all goes on when the device does" {
	disk_up
	daemon_start
	disk_plan 'timeout: 8s' >"$PLAN"
	iosweep submit "$PLAN"
	wait_for 30 trial_runs
	kill -STOP "$NBDKIT"
	local hung=$SECONDS
	answers_at_once
	wait_for 10 dd_is_stuck
	sleep $((12 - SECONDS + hung)) # the deadline passes, and a SIGKILL does not end what waits for the disk
	answers_at_once
	dd_is_stuck
	kill -CONT "$NBDKIT"
	wait_for 120 is_over
	dump
	grep -q "did not end within 8.0s" <<<"$(trial_reason failed)"
	[ "$(query "SELECT count(*) FROM trial WHERE state = 'ok' AND cell_id = (SELECT max(id) FROM cell)")" = 2 ]
	as_before
	[ "$(query "SELECT count(*) FROM undo WHERE state <> 'done'")" = 0 ]
}

@test "a device that dies under a trial: the sweep ends with that reason and holds nothing" {
	disk_up
	daemon_start
	disk_plan >"$PLAN"
	iosweep submit "$PLAN"
	wait_for 30 trial_runs
	kill -KILL "$NBDKIT"
	wait_for 120 is_over
	dump
	grep -Eq 'Input/output error|device is gone' <<<"$(trial_reason failed)$(sweep_reason)"
	answers_at_once
	if grep -q "$LOOP" /proc/self/mountinfo; then false; fi
	as_before
}

@test "a full state directory pauses the sweep, what was committed stays, resume completes" {
	mount -t tmpfs -o size=2m,mode=755 tmpfs "$HOME_DIR/state"
	daemon_start
	cat >"$PLAN" <<-END
	plan: full
	target: {directory: scratch}
	matrix: {label.n: [1, 2, 3, 4]}
	workloads:
	  - command: {as: nap, warm: yes, run: [[sleep, '0.05']], metrics: {time: {value: ":elapsed", unit: s, better: lower}}}
	trials: 10
	settle: 0
	END
	iosweep submit "$PLAN"
	wait_for 30 query_ok 3
	head -c 2M /dev/zero >"$HOME_DIR/state/filler" 2>/dev/null || true
	wait_for 60 grep -q 'no space left' "$HOME_DIR/daemon.log"
	answers_at_once
	rm "$HOME_DIR/state/filler" # only now can it be written that the sweep is paused, and why
	wait_for 60 is_over
	dump
	state_is paused
	grep -q 'no space left' <<<"$(sweep_reason)"
	local kept
	kept=$(query "SELECT count(*) FROM trial WHERE state = 'ok'")
	[ "$kept" -ge 3 ]
	iosweep resume last
	wait_for 60 state_is done
	[ "$(query "SELECT count(*), count(DISTINCT cell_id || ' ' || repetition) FROM trial WHERE state = 'ok'")" = '40|40' ]
	[ "$(query 'PRAGMA integrity_check')" = ok ]
}

query_ok() { [ "$(query "SELECT count(*) FROM trial WHERE state = 'ok'")" -ge "$1" ]; }

@test "a full target fails the trial with the reason, and leaves nothing behind" {
	mount -t tmpfs -o size=8m,mode=1777 tmpfs "$HOME_DIR/scratch"
	daemon_start
	cat >"$PLAN" <<-END
	plan: full-target
	target: {directory: scratch}
	matrix: {label.n: [1, 2]}
	workloads:
	  - command: {as: big, warm: yes, run: [[dd, if=/dev/zero, "of=\${dir}/f", bs=1M, count=20]], metrics: {time: {value: ":elapsed", unit: s, better: lower}}}
	trials: 1
	settle: 0
	END
	iosweep submit "$PLAN"
	wait_for 60 is_over
	dump
	grep -qi 'no space left' <<<"$(trial_reason failed)"
	[ -z "$(ls -A "$HOME_DIR/scratch")" ]
}
