#!/usr/bin/env bats
# Cases from practice: what people who do this job ran into, and what iosweep does about each.

load helpers

setup() {
	need_root
	daemon_setup
	PLAN=$HOME_DIR/plan.yaml
}

teardown() { daemon_teardown; }

trial_flags() { query "SELECT DISTINCT flag FROM trial_flag ORDER BY 1" | tr '\n' ' '; }

@test "readahead of 4096 sectors and of 2048KiB are one cell with both spellings" {
	daemon_start
	cat >"$PLAN" <<-END
	plan: spelling
	target: {image: 64MiB}
	matrix: {filesystem: ext4, readahead: [4096sectors, 2048KiB]}
	trials: 1
	settle: 0
	workloads: [{dd-write: {size: 1MiB}}]
	END
	iosweep submit "$PLAN" --wait
	[ "$(query "SELECT count(*) FROM cell")" = 1 ]
	[ "$(query "SELECT requested, v.value, effective FROM cell_value v JOIN axis a ON a.id = axis_id WHERE name = 'readahead'")" \
		= "4096sectors, 2048KiB|2097152|2097152" ]
}

@test "deadline and mq-deadline are one cell, and the effective name is recorded" {
	daemon_start
	cat >"$PLAN" <<-END
	plan: names
	target: {image: 64MiB}
	matrix: {filesystem: ext4, scheduler: [deadline, mq-deadline]}
	trials: 1
	settle: 0
	workloads: [{dd-write: {size: 1MiB}}]
	END
	iosweep submit "$PLAN" --wait
	[ "$(query "SELECT requested, v.value, effective FROM cell_value v JOIN axis a ON a.id = axis_id WHERE name = 'scheduler'")" \
		= "deadline, mq-deadline|mq-deadline|mq-deadline" ]
}

@test "a setting that somebody changes during a trial is a reason on that trial" {
	device_make disk 64MiB
	daemon_start
	cat >"$PLAN" <<-END
	plan: tampering
	target: {device: disk, erase: yes}
	matrix: {filesystem: ext4, queue.max_sectors_kb: 512KiB}
	trials: 1
	settle: 0
	workloads: [{command: {run: [[sleep, "2"]], warm: yes}}]
	END
	iosweep submit "$PLAN"
	wait_for 10 eval '[ "$(query "SELECT count(*) FROM trial WHERE state = '"'running'"'")" = 1 ]'
	sleep 0.3
	[ "$(cat "/sys/block/${DEVICE#/dev/}/queue/max_sectors_kb")" = 512 ]
	echo 256 >"/sys/block/${DEVICE#/dev/}/queue/max_sectors_kb"
	iosweep wait last
	query "SELECT flag, reason FROM trial_flag"
	[[ "$(query "SELECT reason FROM trial_flag WHERE flag = 'disturbed'")" == *max_sectors_kb*512*256* ]] ||
		[[ "$(query "SELECT reason FROM trial_flag WHERE flag = 'disturbed'")" == *max_sectors_kb*524288*262144* ]]
}

@test "a write cache that goes over to write through between two trials is a reason on the trials that it hit" {
	device_make disk 64MiB
	local cache="/sys/block/${DEVICE#/dev/}/queue/write_cache" was
	was=$(cat "$cache")
	echo 'write back' >"$cache"
	daemon_start
	cat >"$PLAN" <<-END
	plan: battery
	target: {device: disk, erase: yes}
	matrix: {filesystem: ext4}
	trials: 3
	settle: 0
	workloads: [{command: {run: [[sleep, "1"]], warm: yes, metrics: {t: {value: ":elapsed", unit: s, better: lower}}}}]
	END
	iosweep submit "$PLAN"
	wait_for 10 eval '[ "$(query "SELECT count(*) FROM trial WHERE state = '"'ok'"'")" = 1 ]'
	echo 'write through' >"$cache"
	iosweep wait last
	echo "$was" >"$cache"
	query "SELECT repetition, flag, f.reason FROM trial_flag f JOIN trial t ON t.id = trial_id"
	[ "$(query "SELECT group_concat(repetition) FROM trial_flag f JOIN trial t ON t.id = trial_id
		WHERE flag = 'disturbed' AND f.reason LIKE '%write cache was (%write back) and is (%write through)%'")" = 2,3 ]
	# the two are not averaged as if nothing had happened
	[ "$(query "SELECT reason FROM flags WHERE flag = 'inconsistent'")" = "device.write-cache was 'write back', then 'write through'" ]
	iosweep show last | grep -q '^v  inconsistent:'
	iosweep show last --trials | grep -q "inconsistent: device.write-cache was 'write back', then 'write through'"
	iosweep show last --trials --json | jq -e 'all(.cells[].trials[]; .flag_reasons | contains("inconsistent: device.write-cache was"))' >/dev/null
	iosweep best last --json | jq -e '.. | objects | select(.left_out?.flags == "disturbed, inconsistent" and .candidates == 0)' >/dev/null
}

@test "a workload that runs out of the memory of its cell fails with that reason, and nothing else is killed" {
	[ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ] || [ -z "${STRICT:-}" ] || false
	[ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ] || skip "needs the memory controller"
	daemon_start
	cat >"$PLAN" <<-END
	plan: memory
	target: {directory: scratch}
	matrix: {memory: [32MiB, 1GiB]}
	trials: 1
	settle: 0
	workloads: [{command: {run: [[dd, if=/dev/zero, of=/dev/null, bs=100M, count=1]], warm: yes}}]
	END
	run iosweep submit "$PLAN" --wait
	echo "$output"
	[ "$status" -eq 1 ]
	[ "$(query "SELECT group_concat(state) FROM (SELECT state FROM cell ORDER BY position)")" = failed,ok ]
	[[ "$(query "SELECT reason FROM trial WHERE state = 'failed'")" == *"killed for want of memory: the cell allows 32MiB" ]]
	kill -0 "$DAEMON"
	[ -z "$(ls -d /sys/fs/cgroup/memory/iosweep-* 2>/dev/null | grep "$(query 'SELECT lower(hex(uuid)) FROM sweep')")" ]
}

@test "a device with a signature is refused without erase, and not a byte changes" {
	device_make disk 64MiB
	mkfs.ext4 -q -F "$DEVICE"
	sum=$(sha256sum <"$DEVICE")
	daemon_start
	printf 'plan: sig\ntarget: {device: disk}\nmatrix: {filesystem: ext4}\nworkloads: [{dd-write: {size: 1MiB}}]\n' >"$PLAN"
	run iosweep submit "$PLAN" --wait
	echo "$output"
	[ "$status" -ne 0 ]
	[[ "$output" == *ext4* && "$output" == *"erase: yes"* ]]
	[ "$(sha256sum <"$DEVICE")" = "$sum" ]
}

@test "a loop device over a mounted one, or over a part of its file, is refused, and not a byte changes" {
	device_make whole 64MiB
	whole=$DEVICE
	part=$(losetup -f --show --sizelimit 32MiB "$HOME_DIR/whole.img")
	LOOPS+=("$part")
	truncate -s 64MiB "$HOME_DIR/below.img"
	below=$(losetup -f --show "$HOME_DIR/below.img")
	above=$(losetup -f --show "$below")
	LOOPS+=("$above" "$below")
	sed -i "s|^  whole: .*|  whole: {backing-file: $HOME_DIR/whole.img, size: 64MiB}\n  above: {backing-file: $below}|" "$CONFIG"
	mkfs.ext4 -q -F "$part"
	mkfs.ext4 -q -F "$below"
	mkdir "$HOME_DIR/mnt"
	daemon_start
	for pair in "whole $part" "above $below"; do
		read -r name mounted <<<"$pair"
		mount -o ro "$mounted" "$HOME_DIR/mnt" # read-only: the kernel itself must not write either
		printf 'plan: over\ntarget: {device: %s, erase: yes}\nmatrix: {filesystem: ext4}\nworkloads: [{dd-write: {size: 1MiB}}]\n' \
			"$name" >"$PLAN"
		sum=$(sha256sum <"$mounted")
		run iosweep submit "$PLAN" --wait
		[ "$(sha256sum <"$mounted")" = "$sum" ] || status=0
		umount "$HOME_DIR/mnt"
		echo "$output"
		[ "$status" -eq 1 ]
		[[ "$output" == *"device '$name'"*"mounted on '"*"$HOME_DIR/mnt' ('$mounted'"* ]]
	done
}

@test "ext4 is made without lazy initialisation unless the plan says so, and a lazy run is flagged" {
	daemon_start
	cat >"$PLAN" <<-END
	plan: lazy
	target: {image: 512MiB}
	define:
	  filesystem:
	    eager: {type: ext4}
	    lazy:  {type: ext4, mkfs: [-E, "lazy_itable_init=1,lazy_journal_init=1"]}
	matrix: {filesystem: [eager, lazy]}
	trials: 1
	settle: 0
	workloads: [{dd-write: {size: 1MiB}}]
	END
	run iosweep submit "$PLAN" --wait
	echo "$output"
	[ "$status" -eq 0 ]
	flagged="SELECT count(*) FROM trial_flag f JOIN trial t ON t.id = f.trial_id JOIN cell_value v ON v.cell_id = t.cell_id
		JOIN axis a ON a.id = v.axis_id WHERE a.name = 'filesystem' AND f.reason LIKE '%lazy%' AND v.requested ="
	[ "$(query "$flagged 'lazy'")" = 1 ]
	[ "$(query "$flagged 'eager'")" = 0 ]
}

@test "a mount option that the kernel no longer knows makes the cell infeasible, with the kernel's words" {
	daemon_start
	cat >"$PLAN" <<-END
	plan: nobarrier
	target: {image: 400MiB}
	matrix: {filesystem: xfs, mount: [noatime, "noatime,nobarrier"]}
	trials: 1
	settle: 0
	workloads: [{dd-write: {size: 1MiB}}]
	END
	run iosweep submit "$PLAN" --wait
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(query "SELECT state FROM cell ORDER BY position" | tr '\n' ' ')" = "ok infeasible " ]
	[[ "$(query "SELECT reason FROM cell WHERE state = 'infeasible'")" == *nobarrier* ]]
	[ "$(query "SELECT count(*) FROM trial")" = 1 ]
	run iosweep submit "$PLAN" --wait --strict
	[ "$status" -eq 1 ]
}

@test "a scheduler that this kernel does not have makes the cell infeasible" {
	daemon_start
	cat >"$PLAN" <<-END
	plan: cfq
	target: {image: 64MiB}
	matrix: {filesystem: ext4, scheduler: [cfq, none]}
	trials: 1
	settle: 0
	workloads: [{dd-write: {size: 1MiB}}]
	END
	iosweep submit "$PLAN" --wait
	[ "$(query "SELECT state FROM cell ORDER BY position" | tr '\n' ' ')" = "infeasible ok " ]
	[[ "$(query "SELECT reason FROM cell WHERE state = 'infeasible'")" == *cfq*mq-deadline* ]]
}

@test "a read of holes is flagged: the device moved far fewer bytes than the tool claims" {
	daemon_start
	cat >"$PLAN" <<-END
	plan: holes
	target: {image: 256MiB}
	matrix: {filesystem: ext4}
	trials: 1
	settle: 0
	workloads:
	  - command:
	      as: holes
	      reads: yes
	      prepare: [[truncate, -s, 64M, "\${dir}/f"]]
	      run: [[dd, "if=\${dir}/f", of=/dev/null, bs=1M]]
	      metrics: {throughput: {match: '(?<b>\d+) bytes.* copied, (?<s>[\d.e-]+) s', value: ":b / :s", unit: B/s, better: higher}}
	  - command:
	      as: preallocated
	      reads: yes
	      prepare: [[fallocate, -l, 64M, "\${dir}/f"]]
	      run: [[dd, "if=\${dir}/f", of=/dev/null, bs=1M]]
	      metrics: {throughput: {match: '(?<b>\d+) bytes.* copied, (?<s>[\d.e-]+) s', value: ":b / :s", unit: B/s, better: higher}}
	  - command:
	      as: data
	      reads: yes
	      prepare: [[dd, if=/dev/urandom, "of=\${dir}/f", bs=1M, count=64, conv=fsync]]
	      run: [[dd, "if=\${dir}/f", of=/dev/null, bs=1M]]
	      metrics: {throughput: {match: '(?<b>\d+) bytes.* copied, (?<s>[\d.e-]+) s', value: ":b / :s", unit: B/s, better: higher}}
	END
	run iosweep submit "$PLAN" --wait
	echo "$output"
	[ "$status" -eq 0 ]
	cached="SELECT count(*) FROM trial_flag f JOIN trial t ON t.id = f.trial_id JOIN sweep_workload w ON w.workload_id = t.workload_id
		WHERE f.flag = 'cached' AND w.name ="
	[ "$(query "$cached 'holes'")" = 1 ]
	[ "$(query "$cached 'preallocated'")" = 1 ]
	[ "$(query "$cached 'data'")" = 0 ]
	# known before the read, whatever the counters say
	[ "$(query "SELECT w.name || ': ' || f.reason FROM trial_flag f JOIN trial t ON t.id = f.trial_id JOIN sweep_workload w USING (workload_id)
		WHERE f.flag = 'unwritten' ORDER BY w.position")" = \
		"holes: of 64MiB in the work directory 64MiB are holes and 0B are preallocated
preallocated: of 64MiB in the work directory 0B are holes and 64MiB are preallocated" ]
}

@test "zeros written to a filesystem that compresses are flagged, random data is not" {
	command -v mkfs.btrfs >/dev/null || skip "needs mkfs.btrfs"
	daemon_start
	cat >"$PLAN" <<-END
	plan: compressible
	target: {image: 512MiB}
	define: {filesystem: {packed: {type: btrfs, mount: compress-force=zstd}}}
	matrix: {filesystem: [packed, btrfs]}
	trials: 1
	settle: 0
	workloads:
	  - dd-write: {size: 32MiB}
	  - dd-write: {as: random, size: 32MiB, source: /dev/urandom}
	  - sysbench-fileio: {size: 32MiB, files: 2, time: 1s, mode: seqrd}
	END
	command -v sysbench >/dev/null || sed -i '/sysbench/d' "$PLAN"
	iosweep submit "$PLAN" --wait
	query "SELECT * FROM flags"
	[ "$(query "SELECT DISTINCT s.value || ' ' || t.workload FROM flags f JOIN trials t USING (trial) JOIN settings s ON s.cell = f.cell
		WHERE f.flag = 'compressible' AND s.axis = 'mount' AND f.reason LIKE 'compressible data: %MiB of 32MiB %' ORDER BY 1")" = \
		"compress-force=zstd dd-write$(command -v sysbench >/dev/null && printf '\ncompress-force=zstd sysbench-fileio')" ]
	iosweep show last | grep -q '^z  compressible:'
}

@test "a workload that needs more space than is free fails before it writes anything" {
	daemon_start
	cat >"$PLAN" <<-END
	plan: space
	target: {image: 128MiB}
	matrix: {filesystem: ext4, roomy.size: [16MiB, 1GiB]}
	trials: 2
	settle: 0
	workloads:
	  - dd-read: {size: 64MiB, streams: 2}
	  - dd-write: {as: roomy, size: 1MiB}
	END
	run iosweep submit "$PLAN" --wait
	[ "$status" -eq 1 ]
	query "SELECT w.name, t.repetition, t.reason FROM trial t JOIN sweep_workload w USING (workload_id) WHERE state = 'failed'"
	[ "$(query "SELECT count(*) FROM trial t JOIN sweep_workload w USING (workload_id) WHERE w.name = 'dd-read' AND repetition = 1 AND
		reason LIKE 'no space: it needs 128MiB (size x streams), and %MiB are free'")" = 2 ]
	[ "$(query "SELECT group_concat(n || state) FROM (SELECT state, count(*) AS n FROM trial t JOIN sweep_workload w USING (workload_id)
		WHERE w.name = 'roomy' GROUP BY state ORDER BY state)")" = 1failed,2ok ]
	sed -i 's/{image: 128MiB}/{directory: scratch}/; s/filesystem: ext4, roomy.size: .*/roomy.size: [16MiB, 1000TiB]}/' "$PLAN"
	run iosweep submit "$PLAN" --wait
	[ "$(query "SELECT t.reason FROM trial t JOIN cell c ON c.id = t.cell_id WHERE t.state = 'failed' AND c.sweep_id = 2")" = \
		"$(query "SELECT t.reason FROM trial t JOIN cell c ON c.id = t.cell_id WHERE c.sweep_id = 2
			AND t.reason LIKE 'no space: it needs 1000TiB (size x streams), and %iB are free'")" ]
	[ "$(query "SELECT count(*) FROM trial t JOIN cell c ON c.id = t.cell_id WHERE t.state = 'failed' AND c.sweep_id = 2")" = 1 ]
}

@test "of a ratio and its size each cell has the one it names, and the next the one that was in force before" {
	local ratio
	cat >"$HOME_DIR/workloads/dirty.yaml" <<-'END'
	workload: dirty
	about: What limits dirty memory
	needs: [cat]
	warm: yes
	run: [cat, /proc/sys/vm/dirty_ratio, /proc/sys/vm/dirty_bytes]
	metrics:
	  ratio: {match: '^(?<v>\d+)\n\d+$', value: ":v", unit: "%", better: neither}
	  bytes: {match: '^\d+\n(?<v>\d+)$', value: ":v", unit: B, better: neither}
	END
	cat >"$PLAN" <<-END
	plan: dirty
	target: {directory: scratch}
	matrix:
	  - {vm.dirty_bytes: [64MiB, 100MiB]}
	  - {vm.dirty_ratio: [11, 12]}
	  - {vm.dirty_bytes: 32MiB}
	  - {vm.swappiness: 61}
	trials: 1
	settle: 0
	workloads: [dirty]
	END
	daemon_start
	ratio=$(cat /proc/sys/vm/dirty_ratio)
	iosweep submit "$PLAN" --wait
	query "SELECT state, reason FROM cell"
	[ "$(iosweep sql --raw "SELECT group_concat(CAST(v AS INTEGER), ' ') FROM (SELECT r.value AS v FROM results r JOIN cells c ON c.cell = r.cell
		ORDER BY c.position, r.metric DESC)")" = "0 67108864 0 104857600 11 0 12 0 0 33554432 $ratio 0" ]
	[ "$(cat /proc/sys/vm/dirty_ratio /proc/sys/vm/dirty_bytes)" = "$ratio"$'\n0' ]
}

@test "features decide what an ext filesystem reads as, and the driver whether it takes it" {
	daemon_start
	cat >"$PLAN" <<-END
	plan: features
	target: {image: 16MiB}
	matrix:
	  - {filesystem: ext4, mkfs: ["-O none", "-O none,has_journal"]}
	  - {filesystem: ext2, mkfs: ["-O has_journal", "-O extent"]}
	trials: 1
	settle: 0
	workloads: [{command: {run: ["true"], warm: yes, metrics: {t: {value: ":elapsed", unit: s, better: lower}}}}]
	END
	iosweep submit "$PLAN" --wait
	[ "$(query "SELECT group_concat(state, ' ') FROM (SELECT state FROM cell ORDER BY position)")" = "ok ok ok infeasible" ]
	[ "$(query "SELECT count(*) FROM cell WHERE reason LIKE 'mount: %couldn''t mount as ext2 due to feature incompatibilities%'")" = 1 ]
}

@test "files of a workload are not kept in memory where the bare device has no filesystem for them" {
	daemon_start
	cat >"$PLAN" <<-END
	plan: bare
	target: {image: 64MiB}
	matrix: {filesystem: [none, ext4]}
	trials: 1
	settle: 0
	workloads:
	  - dd-write: {size: 16MiB}
	  - command: {as: raw, run: [dd, "if=\${device}", of=/dev/null, bs=1M], metrics: {t: {value: ":elapsed", unit: s, better: lower}}}
	END
	run iosweep submit "$PLAN" --wait
	[ "$status" -eq 1 ]
	[ "$(query "SELECT w.name || ' ' || t.state || ' ' || t.reason FROM trial t JOIN sweep_workload w USING (workload_id) ORDER BY t.id")" = \
"dd-write failed no filesystem for its files (size x streams, 16MiB): keep it to cells that have one, by 'only:'
raw ok 
dd-write ok 
raw ok " ]
}

@test "the space that fio, ioping and their like take is known from their own parameters" {
	need fio ioping jq
	daemon_start
	cat >"$PLAN" <<-'END'
	plan: space
	target: {image: 128MiB}
	matrix: {filesystem: ext4}
	trials: 1
	settle: 0
	workloads:
	  - ioping: {working-set: 1GiB}
	  - fio: {as: large, size: 60m, numjobs: 3}
	  - fio: {as: job, job: "[x]\nsize=1m\nrw=write\n"} # the size of its parameters is not the job's
	END
	run iosweep submit "$PLAN" --wait
	[ "$status" -eq 1 ]
	iosweep show last --trials --json >"$HOME_DIR/show.json"
	[ "$(jq -r '.cells[].trials[] | .workload + ": " + .state + " " + (.reason | split(",")[0:2] | join(","))' "$HOME_DIR/show.json")" = \
		"ioping: failed no space: it needs 1GiB (working-set), and 105MiB are free
large: failed no space: it needs 180MiB (size x numjobs), and 105MiB are free
job: ok " ]
}

@test "whether the loop device was direct is a recorded fact that tells two sweeps apart" {
	daemon_start
	for direct in yes no; do
		cat >"$PLAN" <<-END
		plan: direct-$direct
		target: {image: 64MiB, direct: $direct}
		matrix: {filesystem: ext4}
		trials: 1
		settle: 0
		workloads: [{dd-write: {size: 1MiB}}]
		END
		iosweep submit "$PLAN" --wait
	done
	[ "$(query "SELECT count(DISTINCT environment_id) FROM trial")" = 2 ]
	[ "$(query "SELECT count(DISTINCT value) FROM environment_fact WHERE key LIKE '%direct%'")" = 2 ]
}

@test "whatever a workload leaves running is ended, setsid and double fork included" {
	daemon_start
	cat >"$HOME_DIR/escape" <<-'END'
	#!/bin/bash
	setsid -f bash -c 'exec -a iosweep-test-escapee sleep 600' </dev/null >/dev/null 2>&1
	( ( exec -a iosweep-test-escapee dd if=/dev/zero of="$1/x" bs=64k count=100000 >/dev/null 2>&1 ) & )
	[ "$2" = hang ] && sleep 600
	exit 0
	END
	chmod 755 "$HOME_DIR/escape"
	cat >"$PLAN" <<-END
	plan: escape
	target: {image: 128MiB}
	matrix: {filesystem: ext4, label.n: [1, 2]}
	trials: 1
	settle: 0
	timeout: 3s
	workloads:
	  - command: {as: leaves, run: [[$HOME_DIR/escape, "\${dir}", go]], warm: yes}
	  - command: {as: hangs, run: [[$HOME_DIR/escape, "\${dir}", hang]], warm: yes}
	END
	run iosweep submit "$PLAN" --wait
	echo "$output"
	[ "$status" -eq 1 ]
	run pgrep -f iosweep-test-escapee
	[ "$status" -ne 0 ]
	[ "$(query "SELECT count(*) FROM trial t JOIN sweep_workload w USING (workload_id) WHERE w.name = 'hangs' AND t.state = 'failed'")" = 2 ]
	[[ "$(query "SELECT max(reason) FROM trial WHERE state = 'failed'")" == *3.0s* ]]
	nothing_left
}

@test "a full filesystem fails the trial with the reason, and the next trial has the space back" {
	daemon_start
	cat >"$PLAN" <<-END
	plan: full
	target: {image: 64MiB}
	matrix: {filesystem: ext4}
	trials: 2
	settle: 0
	workloads:
	  - command:
	      as: too-much
	      run: [[dd, if=/dev/zero, "of=\${dir}/x", bs=1M, count=200]]
	      metrics: {throughput: {match: '(?<b>\d+) bytes.* copied, (?<s>[\d.e-]+) s', value: ":b / :s", unit: B/s, better: higher}}
	  - command: {as: fits, run: [[dd, if=/dev/zero, "of=\${dir}/x", bs=1M, count=32]]}
	END
	run iosweep submit "$PLAN" --wait
	echo "$output"
	[ "$status" -eq 1 ]
	[ "$(query "SELECT count(*) FROM measurement m JOIN trial t ON t.id = m.trial_id JOIN sweep_workload w USING (workload_id) WHERE w.name = 'too-much'")" = 0 ]
	[[ "$(query "SELECT max(reason) FROM trial WHERE state = 'failed'")" == *"No space left"* ]]
	[ "$(query "SELECT count(*) FROM trial t JOIN sweep_workload w USING (workload_id) WHERE w.name = 'fits' AND t.state = 'ok'")" = 2 ]
}

@test "after a reboot that swaps the kernel names, the right device is followed" {
	device_make one 64MiB
	one=$DEVICE
	device_make two 64MiB
	two=$DEVICE
	echo precious | dd of="$two" conv=notrunc status=none
	sum=$(sha256sum <"$two")
	daemon_start
	cat >"$PLAN" <<-END
	plan: swap
	target: {device: one, erase: yes}
	matrix: {filesystem: ext4, label.n: [1, 2]}
	trials: 2
	settle: 0
	workloads: [{command: {run: [[sleep, "0.5"]], warm: yes}}]
	END
	iosweep submit "$PLAN"
	wait_for 10 eval '[ "$(query "SELECT count(*) FROM trial WHERE state = '"'ok'"'")" -ge 1 ]'
	daemon_stop
	losetup -d "$one"
	losetup -d "$two"
	losetup "$one" "$HOME_DIR/two.img"
	losetup "$two" "$HOME_DIR/one.img"
	daemon_start
	run iosweep wait last
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(sha256sum <"$one")" = "$sum" ]
	[ "$(query "SELECT count(*) FROM trial WHERE state = 'ok'")" = 4 ]
}

@test "a process of somebody else on the test filesystem is named, and the device is left in peace" {
	daemon_start
	cat >"$PLAN" <<-END
	plan: holder
	target: {image: 64MiB}
	matrix: {filesystem: [ext4, ext2]}
	trials: 1
	settle: 0
	workloads: [{command: {run: [[sleep, "1"]], warm: yes}}]
	END
	iosweep submit "$PLAN"
	wait_for 10 eval '[ "$(query "SELECT count(*) FROM trial WHERE state = '"'running'"'")" = 1 ]'
	worker=$(pgrep -P "$DAEMON" | head -1)
	dir=$(awk '$5 ~ /\/room\/target$/ { print $5; exit }' "/proc/$worker/mountinfo")
	nsenter -t "$worker" -m -r -- sh -c "cd '$dir' && exec sleep 300" 3>&- &
	holder=$!
	wait_for 120 eval '[ "$(sweep_state)" != running ]'
	state=$(sweep_state)
	reason=$(query "SELECT reason FROM sweep UNION ALL SELECT reason FROM cell UNION ALL SELECT text FROM event")
	kill "$holder"
	echo "$state: $reason"
	[ "$state" != 'done' ]
	[[ "$reason" == *"$holder"* ]]
	[ "$(query "SELECT count(*) FROM step_run WHERE step = 'format' AND state = 'done'")" -lt 2 ] # no mkfs under the holder
}

@test "facts of the host's own programs are recorded with each trial, and a change flags the cell" {
	local program=$HOME_DIR/perc-state
	cat >"$program" <<-END
	#!/bin/sh
	echo run >>"$HOME_DIR/runs"
	[ \$(grep -c . "$HOME_DIR/runs") -lt 4 ] && policy=WriteBack || policy=WriteThrough
	[ -e /dev/target ] && echo in-the-room=yes
	echo "cache-policy=\$policy"
	echo "firmware=6.2.0-0013"
	echo "uid=\$(id -u)"
	echo "temperature=\$(date +%N)"
	END
	chmod 755 "$program"
	cp "$program" "$HOME_DIR/loose"
	chmod 777 "$HOME_DIR/loose"
	cat >>"$CONFIG" <<-END
	facts:
	  perc: {run: [$program, "0"], identity: [firmware], volatile: [temperature]}
	  loose: [$HOME_DIR/loose]
	  bad: [/bin/sh, -c, "echo nonsense; exit 3"]
	END
	daemon_start
	cat >"$PLAN" <<-END
	plan: controller
	target: {image: 64MiB}
	matrix: {filesystem: ext4, label.x: [steady, changed]}
	trials: 2
	settle: 0
	workloads: [{command: {run: [[sleep, "0.1"]], warm: yes, metrics: {t: {value: ":elapsed", unit: s, better: lower}}}}]
	END
	iosweep submit "$PLAN" --wait
	query "SELECT * FROM environment_fact WHERE key GLOB 'perc.*' OR key GLOB '*.error'"
	[ "$(wc -l <"$HOME_DIR/runs")" = 4 ] # before each trial, and not the one that others can write
	[ "$(query "SELECT DISTINCT key || '=' || value || ' ' || class FROM environment_fact WHERE key GLOB 'perc.*' AND key <> 'perc.temperature' ORDER BY 1")" = \
		"perc.cache-policy=WriteBack context
perc.cache-policy=WriteThrough context
perc.firmware=6.2.0-0013 identity
perc.uid=0 context" ]
	[[ $(query "SELECT value FROM environment_fact WHERE key = 'loose.error'") == *"can be written by others than root: it is not run"* ]]
	[[ $(query "SELECT value FROM environment_fact WHERE key = 'bad.error'") == *"status 3"* ]]
	[ "$(query "SELECT label.value || ' ' || f.reason FROM flags f JOIN settings label ON label.cell = f.cell AND label.axis = 'label.x'
		WHERE f.flag = 'inconsistent'")" = "changed perc.cache-policy was 'WriteBack', then 'WriteThrough'" ]
}

@test "precondition: the device is written over once before the first trial, and its counters say so" {
	device_make disk 96MiB
	daemon_start
	cat >"$PLAN" <<-END
	plan: fresh
	target: {device: disk, erase: yes}
	precondition: yes
	matrix: {filesystem: none, label.x: [a, b]}
	trials: 1
	settle: 0
	workloads: [{command: {run: [dd, "if=\${device}", of=/dev/null, bs=1M], warm: yes}}]
	END
	printf 'left by somebody' | dd of="$HOME_DIR/disk.img" conv=notrunc status=none
	before=$(awk '{ print $7 }' "/sys/block/${DEVICE#/dev/}/stat")
	iosweep check "$PLAN" | grep -q 'written over once'
	iosweep submit "$PLAN" --wait
	after=$(awk '{ print $7 }' "/sys/block/${DEVICE#/dev/}/stat")
	[ $(((after - before) * 512 / 1048576)) -eq 96 ] # once, for two cells
	[ "$(query "SELECT count(*) FROM event WHERE kind = 'preconditioned' AND text LIKE '96MiB written to device ''disk''%'")" = 1 ]
	[ "$(gzip -c "$HOME_DIR/disk.img" | wc -c)" -gt 100000000 ] # what was written does not compress
	[ "$(head -c 16 "$HOME_DIR/disk.img" | strings)" != 'left by somebody' ]
}

@test "precondition: what was written stays on the device through the mkfs of every family" {
	device_make disk 320MiB # the least that mkfs.xfs takes
	daemon_start
	cat >"$PLAN" <<-END
	plan: kept
	target: {device: disk, erase: yes}
	precondition: yes
	matrix: {filesystem: [ext4, xfs, btrfs]}
	trials: 1
	settle: 0
	workloads: [{command: {run: [stat, "\${dir}"], warm: yes}}]
	END
	iosweep submit "$PLAN" --wait
	[ "$(query "SELECT count(*) FROM trial WHERE state = 'ok'")" = 3 ]
	[ "$(stat -c '%b' "$HOME_DIR/disk.img")" -ge $((320 * 2048)) ] # each mkfs discards the whole device by itself
	[ "$(query "SELECT DISTINCT value FROM environment_fact WHERE key = 'target.preconditioned'")" = yes ]
}

@test "precondition: counters that do not move end the sweep before a trial, with both sizes" {
	device_make disk 32MiB
	daemon_start
	cat >"$PLAN" <<-END
	plan: uncounted
	target: {device: disk, erase: yes}
	precondition: yes
	matrix: {filesystem: none}
	workloads: [{command: {run: ["true"], warm: yes}}]
	END
	local stats=/sys/block/${DEVICE#/dev/}/queue/iostats
	echo 0 >"$stats"
	run iosweep submit "$PLAN" --wait
	echo 1 >"$stats"
	[ "$status" -eq 1 ]
	[[ $output == *"precondition: device 'disk' ($DEVICE) counted 0B written of 32MiB"* ]]
	[ "$(query "SELECT count(*) FROM trial")" = 0 ]
}
