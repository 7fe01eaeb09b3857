#!/usr/bin/env bats
# A target that fails, dies or fills up, and a state directory that fills up.  One that hangs is in hang.bats.

load helpers
load faultdisk

@test "writes that fail with EIO fail the trial with that reason, the next cell is measured, the machine is as before" {
	disk_up
	daemon_start
	FIRST='[sleep, 2]' # the second trial fails at once on a filesystem gone read-only: time to mend the disk before the next cell
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
