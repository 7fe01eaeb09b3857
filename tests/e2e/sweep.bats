#!/usr/bin/env bats
# One sweep, end to end, on real block devices: what was asked for took effect, was recorded, and is undone.

load helpers

setup() {
	need_root
	daemon_setup
	install -m 755 "$ROOT/tests/e2e/probe" "$HOME_DIR/probe"
	export PLAN=$HOME_DIR/plan.yaml
}

teardown() { daemon_teardown; }

# The `command` workload that runs the probe; metric names must be plain words.
probe_workload() {
	cat <<-END
	  - command:
	      as: probe
	      warm: yes
	      run: [[$HOME_DIR/probe, "\${device}", "\${dir}"]]
	      metrics:
	        deadline:  {match: 'scheduler_mq-deadline (?<v>\d+)', value: ":v", unit: "", better: neither}
	        bfq:       {match: 'scheduler_bfq (?<v>\d+)', value: ":v", unit: "", better: neither}
	        none:      {match: 'scheduler_none (?<v>\d+)', value: ":v", unit: "", better: neither}
	        requests:  {match: 'nr_requests (?<v>\d+)', value: ":v", unit: "", better: neither}
	        readahead: {match: 'readahead (?<v>\d+)', value: ":v", unit: B, better: neither}
	        noatime:   {match: 'mount_noatime (?<v>\d+)', value: ":v", unit: "", better: neither}
	        nosuid:    {match: 'mount_nosuid (?<v>\d+)', value: ":v", unit: "", better: neither}
	END
}

# result AXIS=VALUE... -- METRIC: values of a metric in the cells that match, from show --json, without a parser of our own
results() { # METRIC SQL-CONDITION-ON-AXES...
	local metric=$1 condition where=
	shift
	for condition; do
		where="$where AND EXISTS (SELECT 1 FROM cell_value v JOIN axis a ON a.id = v.axis_id
			WHERE v.cell_id = r.cell_id AND a.name = '${condition%%=*}' AND v.value = '${condition#*=}')"
	done
	query "SELECT DISTINCT printf('%g', r.value) FROM result r JOIN metric m ON m.id = r.metric_id
		WHERE m.name = '$metric' $where ORDER BY 1" | tr '\n' ' '
}

@test "the live settings in every cell are what the plan asked for" {
	daemon_start
	{
		cat <<-END
		plan: live
		target: {image: 400MiB}
		define:
		  filesystem:
		    ext4: {type: ext4, mount: [noatime]}
		    xfs:  {type: xfs}
		    btrfs: {type: btrfs}
		matrix:
		  filesystem: [ext4, xfs, btrfs]
		  scheduler: [mq-deadline, none, bfq]
		  readahead: [64KiB, 2MiB]
		  queue.nr_requests: 64
		trials: 1
		settle: 0
		workloads:
		END
		probe_workload
	} >"$PLAN"
	run iosweep submit "$PLAN" --wait
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(query "SELECT count(*), sum(state = 'ok') FROM cell")" = "18|18" ]
	for fs in ext4 xfs btrfs; do
		[ "$(results readahead filesystem=$fs readahead=65536)" = "65536 " ]
		[ "$(results readahead filesystem=$fs readahead=2097152)" = "2.09715e+06 " ]
	done
	[ "$(results deadline scheduler=mq-deadline)" = "1 " ]
	[ "$(results deadline scheduler=none)" = "0 " ]
	[ "$(results none scheduler=none)" = "1 " ]
	[ "$(results bfq scheduler=bfq)" = "1 " ]
	[ "$(results requests)" = "64 " ]
	[ "$(results noatime filesystem=ext4)" = "1 " ]
	[ "$(results noatime filesystem=xfs)" = "0 " ]
	[ "$(results nosuid)" = "1 " ]
	[ "$(query "SELECT count(*) FROM cell_value v JOIN axis a ON a.id = v.axis_id
		WHERE a.name IN ('scheduler', 'readahead') AND v.effective IS NOT v.value")" = 0 ]
	nothing_left
}

@test "the settings of a listed device are as before when a sweep is over, and its signature is gone" {
	device_make disk 400MiB
	daemon_start
	before=$(machine_state "$DEVICE"; vm_state)
	cat >"$PLAN" <<-END
	plan: restore
	target: {device: disk, erase: yes}
	matrix: {filesystem: [ext4, xfs], scheduler: [bfq, mq-deadline], readahead: 776KiB, queue.max_sectors_kb: 512KiB, vm.swappiness: 3}
	trials: 1
	settle: 0
	workloads: [{dd-write: {bs: 64KiB, size: 4MiB}}]
	END
	run iosweep submit "$PLAN" --wait
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(machine_state "$DEVICE"; vm_state)" = "$before" ]
	run blkid -p "$DEVICE"
	[ "$status" -eq 2 ]
	[ "$(query "SELECT count(*) FROM undo WHERE state <> 'done'")" = 0 ]
}

@test "readahead changes a cold sequential read on ext4, xfs and btrfs alike" {
	daemon_start
	cat >"$PLAN" <<-END
	plan: readahead
	target: {image: 400MiB}
	matrix: {filesystem: [ext4, xfs, btrfs], readahead: [0KiB, 16MiB]}
	trials: 3
	settle: 0
	workloads: [{dd-read: {bs: 4KiB, size: 16MiB}}]
	END
	run iosweep submit "$PLAN" --wait
	echo "$output"
	[ "$status" -eq 0 ]
	for fs in ext4 xfs btrfs; do
		low=$(results throughput filesystem=$fs readahead=0)
		high=$(results throughput filesystem=$fs readahead=16777216)
		awk -v low="$low" -v high="$high" -v fs=$fs 'BEGIN { print fs, low, high; exit !(high > 1.2 * low) }'
	done
}

@test "a directory target runs without mkfs and mount, and leaves the directory empty" {
	daemon_start
	cat >"$PLAN" <<-END
	plan: directory
	target: {directory: scratch}
	matrix: {dd-write.bs: [4KiB, 64KiB], label.hw: as-is}
	settle: 0
	workloads: [{dd-write: {size: 1MiB}}]
	END
	run iosweep submit "$PLAN" --wait
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(query "SELECT count(*) FROM trial WHERE state = 'ok'")" = 6 ]
	[ "$(query "SELECT count(*) FROM step_run WHERE step IN ('format', 'mount')")" = 0 ]
	[ -z "$(ls -A "$HOME_DIR/scratch")" ]
	[ "$(stat -c '%u:%g %a' "$HOME_DIR/scratch")" = "0:0 1777" ]
	chmod 755 "$HOME_DIR/scratch"
	run iosweep submit "$PLAN" --wait
	[ "$status" -eq 1 ]
	[[ "$output" == *"Permission denied"* ]]
	[ "$(stat -c '%u:%g %a' "$HOME_DIR/scratch")" = "0:0 755" ]
}

@test "cells that differ only in readahead are not formatted again under fresh: filesystem" {
	daemon_start
	cat >"$PLAN" <<-END
	plan: fresh
	target: {image: 64MiB}
	fresh: filesystem
	matrix: {filesystem: [ext4, ext2], readahead: [4KiB, 64KiB, 128KiB, 256KiB]}
	trials: 1
	settle: 0
	workloads: [{dd-write: {bs: 64KiB, size: 1MiB}}]
	END
	run iosweep check "$PLAN" --json
	echo "$output"
	[[ "$output" =~ \"format\":\ ?2[,}\ ] ]]
	run iosweep submit "$PLAN" --wait
	[ "$status" -eq 0 ]
	[ "$(query "SELECT count(*) FROM step_run WHERE step = 'format' AND state = 'done'")" = 2 ]
	[ "$(query "SELECT count(*) FROM cell WHERE state = 'ok'")" = 8 ]
}

@test "pause stops between trials, resume goes on with exactly the missing ones" {
	daemon_start
	cat >"$PLAN" <<-END
	plan: pause
	target: {directory: scratch}
	matrix: {label.n: [1, 2, 3]}
	settle: 0
	workloads: [{command: {run: [[sleep, "0.4"]], warm: yes}}]
	END
	iosweep submit "$PLAN"
	wait_for 10 eval '[ "$(query "SELECT count(*) FROM trial WHERE state = '"'ok'"'")" -ge 2 ]'
	iosweep pause last
	wait_for 10 state_is paused
	done_then=$(query "SELECT count(*) FROM trial WHERE state = 'ok'")
	[ "$done_then" -lt 9 ]
	[ "$(query "SELECT count(*) FROM trial WHERE state = 'running'")" = 0 ]
	sleep 0.6
	[ "$(query "SELECT count(*) FROM trial WHERE state = 'ok'")" = "$done_then" ]
	iosweep resume last
	run iosweep wait last
	[ "$status" -eq 0 ]
	[ "$(query "SELECT count(*), count(DISTINCT cell_id * 10 + repetition) FROM trial WHERE state = 'ok'")" = "9|9" ]
}

@test "SIGTERM ends the running trial, undoes, exits 0; the next daemon goes on with the missing trials" {
	device_make disk 64MiB
	daemon_start
	before=$(machine_state "$DEVICE")
	cat >"$PLAN" <<-END
	plan: term
	target: {device: disk, erase: yes}
	matrix: {filesystem: ext4, scheduler: [bfq, none]}
	settle: 0
	workloads: [{command: {run: [[sleep, "0.5"]], warm: yes}}]
	END
	iosweep submit "$PLAN"
	wait_for 20 eval '[ "$(query "SELECT count(*) FROM trial WHERE state = '"'ok'"'")" -ge 1 ]'
	daemon_stop
	[ "$(machine_state "$DEVICE")" = "$before" ]
	if grep -q "$DEVICE" /proc/self/mountinfo; then false; fi
	[ "$(query "SELECT count(*) FROM undo WHERE state = 'pending'")" = 0 ]
	daemon_start
	run iosweep wait last
	[ "$status" -eq 0 ]
	[ "$(query "SELECT count(*), count(DISTINCT cell_id * 10 + repetition) FROM trial WHERE state = 'ok'")" = "6|6" ]
}

@test "show --json has the shape that scripts rely on" {
	daemon_start
	cat >"$PLAN" <<-END
	plan: shape
	target: {image: 64MiB}
	matrix: {filesystem: ext4, readahead: [256sectors, 1MiB]}
	trials: 3
	settle: 0
	workloads: [{dd-write: {as: writing, bs: 64KiB, size: 1MiB}}]
	END
	iosweep submit "$PLAN" --wait
	iosweep show last --json >"$HOME_DIR/show.json"
	cat "$HOME_DIR/show.json"
	value() { sqlite3 :memory: "SELECT json_extract(readfile('$HOME_DIR/show.json'), '$1')"; }
	[ "$(value '$.sweep.plan')" = shape ]
	[ "$(value '$.sweep.state')" = 'done' ]
	[ "$(value '$.cells[0].axes.readahead.requested')" = 256sectors ]
	[ "$(value '$.cells[0].axes.readahead.value')" = 131072 ]
	[ "$(value '$.cells[0].axes.readahead.effective')" = 131072 ]
	[ "$(value '$.cells[0].results."writing.throughput".n')" = 3 ]
	[ "$(value '$.cells[0].results."writing.throughput".unit')" = B/s ]
	[ "$(value '$.cells[0].results."writing.throughput".keep')" = median ]
	[ "$(value '$.cells[0].results."writing.throughput".better')" = higher ]
	[ "$(sqlite3 :memory: "SELECT json_type(readfile('$HOME_DIR/show.json'), '\$.cells[0].results.\"writing.throughput\".flags')")" = array ]
}
