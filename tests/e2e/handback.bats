#!/usr/bin/env bats
# Hand-back: `iosweep stop --now` ends what runs and proves that all is as before; `iosweep restore` does so after a kill.

bats_require_minimum_version 1.5.0
load helpers

setup() {
	need_root
	daemon_setup
	device_make disk 200MiB
	BEFORE=$(machine_state "$DEVICE")
	daemon_start
	cat >"$HOME_DIR/plan.yaml" <<-END
	plan: handback
	target: {device: disk, erase: yes}
	matrix: {filesystem: ext4, readahead: 2MiB, scheduler: bfq, queue.nr_requests: 32}
	workloads:
	  - command: {as: nap, warm: yes, run: [[sleep, '600']], metrics: {time: {value: ":elapsed", unit: s, better: lower}}}
	trials: 1
	settle: 0
	END
	iosweep submit "$HOME_DIR/plan.yaml"
	wait_for 30 trial_runs
}

teardown() { daemon_teardown; }

trial_runs() { [ "$(query "SELECT count(*) FROM trial WHERE state = 'running'")" -gt 0 ]; }
as_before() { [ "$(machine_state "$DEVICE")" = "$BEFORE" ] || { diff <(echo "$BEFORE") <(machine_state "$DEVICE"); false; }; }

@test "stop --now hands the machine back in under 2 s, with a table that proves it" {
	[ "$(machine_state "$DEVICE")" != "$BEFORE" ]
	local began=${EPOCHREALTIME/./}
	run --separate-stderr iosweep stop --now --csv
	local took_ms=$(((${EPOCHREALTIME/./} - began) / 1000))
	echo "$output" "$stderr" "took $took_ms ms"
	[ "$status" -eq 0 ]
	[ "$took_ms" -lt 2000 ]
	as_before
	if grep -q "$DEVICE" /proc/self/mountinfo; then false; fi
	[ "$(grep -c ',restored' <<<"$output")" -ge 3 ]
	if grep -q 'NOT RESTORED' <<<"$output"; then false; fi
	grep -q "/sys/block/${DEVICE#/dev/}/queue/nr_requests,[0-9]*,32,[0-9]*,restored" <<<"$output"
	[ "$(sweep_state)" = paused ]
	[ "$(query "SELECT count(*) FROM undo WHERE state = 'pending'")" = 0 ]
	iosweep resume last # and it can go on
	wait_for 30 trial_runs
}

@test "what a killed daemon left changed is put back by the next before anything else, and restore finds nothing" {
	local worker
	worker=$(pgrep -P "$DAEMON" | tr '\n' ' ')
	# shellcheck disable=SC2086 # a list of numbers
	kill -KILL "$DAEMON" $worker
	wait "$DAEMON" || true
	[ "$(machine_state "$DEVICE")" != "$BEFORE" ]
	run sqlite3 -readonly "$IOSWEEP_DB" "SELECT count(*) FROM undo WHERE state = 'pending' AND kind = 'sysfs'"
	[ "$output" -ge 3 ]
	daemon_start # puts it back by itself, before anything else
	wait_for 20 trial_runs
	iosweep stop --now
	run iosweep restore --dry-run
	echo "$output"
	[ "$status" -eq 0 ]
	run iosweep restore
	[ "$status" -eq 0 ]
	grep -q 'nothing is left to put back' <<<"$output"
	as_before
}

# An entry as a killed worker leaves it, for the sweep that was stopped.
leftover() { # BOOT-ID KIND OBJECT [IDENTITY ORIGINAL]
	sqlite3 "$IOSWEEP_DB" "INSERT INTO undo (sweep_id, boot_id, step, kind, object, identity, original, at_ms)
		VALUES (1, '$1', 'queue', '$2', '$3', '${4:-diskseq=0}', '${5:-7}', 0)"
}

@test "restore --dry-run lists what is left changed and touches nothing; restore puts it back" {
	local object queue=/sys/block/${DEVICE#/dev/}/queue scheduler
	iosweep stop --now
	object=$(query "SELECT object FROM undo WHERE object LIKE '%/scheduler'")
	scheduler=$(sed 's/.*\[//; s/\].*//' "$queue/scheduler")
	[ "$scheduler" != bfq ]
	echo bfq >"$queue/scheduler" # as a killed worker leaves it
	leftover "$(cat /proc/sys/kernel/random/boot_id)" sysfs "$object" "$(query "SELECT identity FROM undo WHERE kind = 'sysfs' LIMIT 1")" "$scheduler"
	run iosweep restore --dry-run --csv
	echo "$output"
	[ "$status" -eq 0 ]
	grep -q "^1,sysfs,$object,$scheduler,pending," <<<"$output"
	[ "$(wc -l <<<"$output")" -eq 2 ]
	sleep 0.5 # nor does anything come of it later
	grep -q '\[bfq\]' "$queue/scheduler"
	[ "$(query "SELECT count(*) FROM undo WHERE state = 'pending'")" = 1 ]
	run iosweep restore --csv
	echo "$output"
	[ "$status" -eq 0 ]
	grep -q "^1,sysfs,$object,$scheduler,done," <<<"$output"
	grep -q "\[$scheduler\]" "$queue/scheduler"
	as_before
}

@test "restore says of each entry what became of it: dropped with the reason, or failed with exit status 1" {
	iosweep stop --now
	leftover another-boot sysfs "/sys/block/${DEVICE#/dev/}/queue/nr_requests"
	run iosweep restore --csv
	echo "$output"
	[ "$status" -eq 0 ]
	grep -q ',dropped,the machine has been started anew since' <<<"$output"
	as_before
	leftover "$(cat /proc/sys/kernel/random/boot_id)" nonsense /x
	run iosweep restore --csv
	echo "$output"
	[ "$status" -eq 1 ]
	grep -q ',nonsense,/x,7,failed,' <<<"$output"
	run iosweep resume last # the device is put aside
	[ "$status" -eq 1 ]
	grep -q 'is put aside' <<<"$output"
	sqlite3 "$IOSWEEP_DB" "DELETE FROM undo WHERE kind = 'nonsense'"
}
