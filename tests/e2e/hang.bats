#!/usr/bin/env bats
# A device that hangs: what waits for it is in state D and cannot be ended, not even killed.  tests/lab/faultdisk.bash.

load helpers
load faultdisk

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

# Another sweep, elsewhere, runs to its end: [SECONDS].
beside() {
	printf 'plan: beside\ntarget: {directory: scratch}\nmatrix: {label.n: 1}\nsettle: 0\nworkloads: [dd-write: {size: 1MiB}]\n' \
		>"$HOME_DIR/beside.yaml"
	timeout "${1:-30}" iosweep submit "$HOME_DIR/beside.yaml" --wait
}

# A tool is stuck, and the sweep is paused for it.
tool_hangs() {
	disk_up
	daemon_start
	disk_plan 'timeout: 5s' >"$PLAN"
	iosweep submit "$PLAN"
	wait_for 30 trial_runs
	kill -STOP "$NBDKIT"
	wait_for 60 hangs
}

hangs() { grep -q '^device hangs: ' <<<"$(sweep_reason)"; }

@test "a device that hangs for long is put aside, by its name and the process that waits; others go on; it returns by itself" {
	local waiter status=0 pid
	sysctl_take
	disk_up
	daemon_start
	disk_plan 'timeout: 5s' | sed 's/scheduler: mq-deadline}/scheduler: mq-deadline, vm.dirtytime_expire_seconds: 4321s}/' >"$PLAN"
	timeout 120 iosweep submit "$PLAN" --wait >"$HOME_DIR/out" 2>"$HOME_DIR/err" 3>&- &
	waiter=$!
	wait_for 30 trial_runs
	[ "$(cat "$SYSCTL")" = 4321 ]
	kill -STOP "$NBDKIT"
	wait_for 20 dd_is_stuck
	pid=$(dd_pid)
	wait_for 60 hangs
	sweep_reason
	state_is paused
	grep -q "device 'disk' ($LOOP) does not answer: process $pid ('dd') does not end, not even killed" <<<"$(sweep_reason)"
	wait $waiter || status=$? # who waits is told
	[ "$status" -eq 1 ]
	grep -q "is paused: device hangs: .*process $pid" "$HOME_DIR/err"
	answers_at_once
	wait_for 20 [ "$(cat "$SYSCTL")" = "$SYSCTL_WAS" ] # of the host's settings none is left
	run timeout 5 iosweep resume last
	echo "$output"
	[ "$status" -eq 1 ]
	grep -q 'when the device answers' <<<"$output"
	beside # on another target
	dd_is_stuck
	kill -CONT "$NBDKIT"
	wait_for 120 state_of_first_is 'done'
	dump
	[ "$(query "SELECT count(*), count(DISTINCT cell_id || ' ' || repetition) FROM trial
		WHERE state = 'ok' AND cell_id IN (SELECT id FROM cell WHERE sweep_id = 1)")" = '4|4' ]
	[ "$(query "SELECT group_concat(kind) FROM event WHERE kind IN ('hangs', 'answers', 'returned') AND sweep_id = 1")" = 'hangs,answers,returned' ]
	wait_for 10 as_before
	[ "$(cat "$SYSCTL")" = "$SYSCTL_WAS" ]
}

@test "cancel while a device hangs comes true at once, and what is left is undone when it answers" {
	tool_hangs
	wait_for 10 parked
	run timeout 5 iosweep stop --now
	echo "$output"
	[ "$status" -eq 1 ]
	grep -q "does not answer" <<<"$output"
	iosweep cancel last
	state_is cancelled
	if as_before; then false; fi
	kill -CONT "$NBDKIT"
	wait_for 60 as_before
	wait_for 10 nothing_pending
	state_is cancelled
	disk_plan 'timeout: 60s' >"$PLAN" # the device is not put aside any more
	timeout 60 iosweep submit "$PLAN" --wait
}
parked() { grep -q 'does not answer' "$HOME_DIR/daemon.log" && [ "$(sqlite3 -readonly "$IOSWEEP_DB" "SELECT state FROM sweep")" = paused ] && sleep 1; }
nothing_pending() { [ "$(query "SELECT count(*) FROM undo WHERE state = 'pending'")" = 0 ]; }

state_of_first_is() { case " $* " in *" $(sweep_state 1) "*) ;; *) return 1 ;; esac; }

@test "a daemon that is to end does not wait for a device that hangs, and the next one goes on when it answers" {
	tool_hangs
	local began=$SECONDS
	daemon_stop
	[ $((SECONDS - began)) -le 5 ]
	pgrep -f -- "--config $CONFIG --worker 1" # it waits, and nothing else does its work meanwhile
	daemon_start
	answers_at_once
	beside # on another target
	wait_for 10 grep -q "sweep 1: its former worker is still there; device 'disk' is put aside" "$HOME_DIR/daemon.log"
	run timeout 5 iosweep resume 1 # no second worker on one disk
	echo "$output"
	[ "$status" -eq 1 ]
	grep -q "device 'disk' is put aside" <<<"$output"
	[ "$(query "SELECT count(*) FROM undo WHERE state = 'pending'")" -gt 0 ]
	kill -CONT "$NBDKIT"
	wait_for 120 state_of_first_is 'done'
	dump
	[ "$(query "SELECT count(DISTINCT cell_id || ' ' || repetition) FROM trial
		WHERE state = 'ok' AND cell_id IN (SELECT id FROM cell WHERE sweep_id = 1)")" = 4 ]
	as_before
	[ "$(query "SELECT count(*) FROM undo WHERE state = 'pending'")" = 0 ]
}

# The worker itself waits: for a syncfs(2) of what the trial before has written.
worker_hangs() {
	disk_plan 'timeout: 600s' | sed "s|run: .*|run: [[bash, -c, 'dd if=/dev/zero of=f bs=1M count=8; sleep 2']]|; s/warm: yes/warm: no/
		s/scheduler: mq-deadline}/scheduler: mq-deadline, vm.dirtytime_expire_seconds: 4321s}/" >"$PLAN"
	iosweep submit "$PLAN"
	wait_for 30 trial_runs
	[ "$(cat "$SYSCTL")" = 4321 ]
	sleep 1 # what dd wrote is in the page cache; the next trial begins with a syncfs
	kill -STOP "$NBDKIT"
}
told_of_worker() { grep -q "device 'disk' ($LOOP) does not answer: process [0-9]* ('iosweepd --worker') waits in the kernel" <<<"$(sweep_reason)"; }

@test "a worker that itself waits for a device that hangs is told of, others go on, and it returns by itself" {
	sysctl_take
	disk_up
	daemon_start
	worker_hangs
	wait_for 90 hangs
	sweep_reason
	told_of_worker
	[ "$(query "SELECT count(*) FROM trial WHERE state = 'ok'")" = 1 ]
	wait_for 5 [ "$(cat "$SYSCTL")" = "$SYSCTL_WAS" ] # of the host's settings none is left
	run timeout 5 iosweep stop --now
	echo "$output"
	[ "$status" -eq 1 ]
	grep -q "does not answer" <<<"$output"
	beside
	kill -CONT "$NBDKIT"
	wait_for 120 state_of_first_is 'done'
	dump
	[ "$(query "SELECT count(*), count(DISTINCT cell_id || ' ' || repetition) FROM trial
		WHERE state = 'ok' AND cell_id IN (SELECT id FROM cell WHERE sweep_id = 1)")" = '4|4' ]
	wait_for 10 as_before
	[ "$(cat "$SYSCTL")" = "$SYSCTL_WAS" ]
}

# A crash on the bare device, which then hangs under the wipe.  In a build that waits less long before it tells.
@test "a worker that only undoes and waits for a device that hangs gives up its turn, too, and the sweep goes on when it answers" {
	local testing=${B%/*}/test-${B##*/}
	[ -x "$testing/iosweepd" ] || { [ -z "${STRICT:-}" ] && skip "needs a build with TESTING=1"; false; }
	sysctl_take
	disk_up
	B=$testing IOSWEEP_TEST_HANG_AFTER=2 daemon_start
	disk_plan 'timeout: 600s' | sed 's/64KiB, //; s/filesystem: ext4/filesystem: none, vm.dirtytime_expire_seconds: 4321s/; s|run: .*|run: [[mkswap, "${device}"], [sleep, "3"]]|' >"$PLAN" # something to wipe
	iosweep submit "$PLAN"
	wait_for 30 eval '[ "$(blkid -p -o value -s TYPE "$LOOP")" = swap ]'
	wait_for 10 eval '! pgrep -x mkswap >/dev/null' # it syncs at its end: what is dirty would keep a killed worker from ending
	trial_runs
	[ "$(cat "$SYSCTL")" = 4321 ]
	kill -STOP "$NBDKIT"
	pkill -KILL -P "$DAEMON" -f -- --worker
	wait_for 30 hangs
	sweep_reason
	wait_for 5 [ "$(cat "$SYSCTL")" = "$SYSCTL_WAS" ]
	beside
	echo 4999 >"$SYSCTL" # somebody else's by now
	[ "$(sweep_state 1)" = paused ]
	[ "$(query "SELECT count(*) FROM undo WHERE state = 'pending' AND sweep_id = 1")" -gt 0 ]
	kill -CONT "$NBDKIT"
	wait_for 60 state_of_first_is 'done'
	dump
	[ "$(query "SELECT count(*), count(DISTINCT repetition) FROM trial
		WHERE state = 'ok' AND cell_id IN (SELECT id FROM cell WHERE sweep_id = 1)")" = '2|2' ]
	wait_for 10 as_before
	[ "$(cat "$SYSCTL")" = 4999 ]
}

@test "a worker that waits for a device and whose daemon dies gives up its turn all the same, and is followed when it has ended" {
	sysctl_take
	disk_up
	daemon_start
	worker_hangs
	sleep 5
	kill -KILL "$DAEMON"
	wait "$DAEMON" || true
	daemon_start
	beside 90 # when the hung one has told, and put back what it had set
	[ "$(cat "$SYSCTL")" = "$SYSCTL_WAS" ]
	iosweep cancel 1
	[ "$(sweep_state 1)" = cancelled ]
	kill -CONT "$NBDKIT"
	wait_for 60 as_before
	wait_for 20 nothing_pending
	disk_plan 'timeout: 60s' >"$PLAN" # the device is not put aside any more
	timeout 60 iosweep submit "$PLAN" --wait
	[ "$(cat "$SYSCTL")" = "$SYSCTL_WAS" ]
}
