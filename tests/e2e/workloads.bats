# Every installed tool for real on a loop image, through daemon and worker; what a tool claims is held against what its
# device moved.  Then: definitions that are wrong, `workloads`, `extract`.
bats_require_minimum_version 1.5.0

load helpers

setup() { daemon_setup; }
teardown() { daemon_teardown; }

# run_plan: the plan on stdin, submitted and waited for; $SHOWN is its JSON.
run_plan() {
	cat >"$HOME_DIR/plan.yaml"
	iosweep submit "$HOME_DIR/plan.yaml" --wait || { iosweep show last --trials; return 1; }
	SHOWN=$HOME_DIR/show.json
	iosweep show last --json >"$SHOWN"
}

# result KEY: its value in the first cell.
result() { jq -r --arg k "$1" '.cells[0].results[$k].value' "$SHOWN"; }

positive() {
	local key value
	for key; do
		value=$(result "$key")
		jq -en --argjson v "$value" '$v > 0' >/dev/null || { echo "$key is $value"; return 1; }
	done
}

# accounted NAME EXPRESSION [CACHE]: what the workload claims to have moved, by an expression over its metrics (.KEY) and .elapsed (s),
# is at most 5 % more than what the device moved and the cache (bytes) can have given.
accounted() {
	local name=$1 cache=${3:-0} elapsed moved claimed
	elapsed=$(query "SELECT t.elapsed_ns / 1e9 FROM trial t JOIN sweep_workload s USING (workload_id) WHERE s.name = '$name' AND t.repetition = 1")
	moved=$(query "SELECT t.read_bytes + t.written_bytes FROM trial t JOIN sweep_workload s USING (workload_id) WHERE s.name = '$name' AND t.repetition = 1")
	claimed=$(jq --arg w "$name." --argjson elapsed "$elapsed" '.cells[0].results | with_entries(select(.key | startswith($w)) |
		.key |= ltrimstr($w) | .value |= .value) + {elapsed: $elapsed} | '"$2" "$SHOWN")
	jq -en --argjson c "$claimed" --argjson m "$((moved + cache))" '$c > 0 and $c <= 1.05 * $m' >/dev/null ||
		{ echo "$name claims $claimed bytes, the device moved $moved and the cache held $cache"; return 1; }
}

@test "dd, cat and cp: writes and cold reads are no faster than what the device moved" {
	need_root
	need jq
	daemon_start
	run_plan <<-'END'
	plan: coreutils
	target: {image: 1GiB}
	matrix: [{filesystem: ext4}]
	trials: 1
	settle: 0
	workloads:
	  - dd-write: {size: 64MiB}
	  - dd-write: {as: two, size: 32MiB, streams: 2}
	  - dd-write-sync: {size: 64MiB}
	  - dd-read: {size: 64MiB}
	  - dd-read-warm: {size: 32MiB}
	  - cat-read: {size: 64MiB}
	  - copy-tree: {processes: 2, size: 16MiB, file: 1MiB}
	END
	positive dd-write.throughput dd-write.cpu two.throughput two.slowest two.fairness 'two.stream{1}' 'two.stream{2}' \
		dd-write-sync.throughput dd-write-sync.dd_throughput dd-read.throughput dd-read-warm.throughput \
		cat-read.throughput copy-tree.throughput copy-tree.files
	# What a tool says it moved, the device moved.
	for w in dd-write dd-write-sync dd-read; do accounted $w '.throughput * (.wall // .duration) / 1e9'; done
	accounted two '(."stream{1}" + ."stream{2}") / 2 * .duration / 1e9'
	accounted cat-read '.throughput * .elapsed'
	accounted copy-tree '.throughput * .elapsed'
	accounted dd-read-warm '.throughput * .duration / 1e9' $((32 << 20))
	# a check that cannot fail checks nothing
	run accounted dd-read '1.2 * .throughput * .duration / 1e9'
	[ "$status" -eq 1 ]
}

@test "fio: options, a job file, processes that are not grouped" {
	need_root
	need jq fio
	daemon_start
	run_plan <<-'END'
	plan: fio
	target: {image: 512MiB}
	matrix: [{filesystem: ext4}]
	trials: 1
	settle: 0
	workloads:
	  - fio: {as: random, rw: randrw, bs: 4KiB, size: 64MiB, ioengine: psync, direct: 1}
	  - fio:
	      as: jobs
	      depth: 4
	      job: |
	        [global]
	        size=8m
	        ioengine=libaio
	        iodepth=${depth}
	        direct=1
	        [write]
	        rw=write
	        bs=1m
	        [read]
	        stonewall
	        rw=randread
	        bs=16k
	  - fio: {as: three, rw: write, size: 4MiB, numjobs: 3, group_reporting: 0, bs: 4KiB}
	END
	positive random.read_iops random.write_iops random.read_bandwidth random.read_clat_mean random.read_clat_p99 \
		'jobs.write_bandwidth{write}' 'jobs.read_iops{read}' three.write_iops
	[ "$(jq -n --argjson all "$(result three.write_total)" '$all == 3 * 4 * 1048576')" = true ]
	accounted random '.read_total + .write_total'
	# the run is part of what elapsed: fio needs a moment before and after it, a longer one on a busy machine
	accounted random '(.read_bandwidth + .write_bandwidth) * ([.elapsed - 0.3, 0.1] | max)' $((1 << 20))
}

@test "bonnie++, ioping, dbench and sysbench" {
	need_root
	need jq bonnie++ ioping dbench sysbench
	daemon_start
	run_plan <<-'END'
	plan: others
	target: {image: 1GiB}
	matrix: [{filesystem: xfs}]
	trials: 1
	settle: 0
	workloads:
	  - bonnie: {size: 128MiB, ram: 64MiB, files: 1, fast: yes}
	  - ioping: {count: 20, working-set: 16MiB, direct: yes}
	  - dbench: {time: 3s, clients: 2}
	  - sysbench-fileio: {size: 32MiB, files: 4, time: 1s}
	  - sysbench-fileio: {as: direct, size: 32MiB, files: 4, time: 1s, mode: rndrd, flags: direct}
	END
	positive bonnie.latency_block_out bonnie.latency_seeks ioping.iops ioping.latency ioping.latency_max \
		dbench.throughput dbench.max_latency 'dbench.operation{Flush}' sysbench-fileio.throughput sysbench-fileio.latency \
		direct.reads
	accounted bonnie "2 * $((128 << 20))"         # written, and written again
	accounted ioping "20 * 4096"
	accounted ioping '.throughput * 20 / .iops'
	accounted direct '.throughput * 1'
	accounted dbench '1' # its rate is the cache's; it writes all the same
}

@test "PostgreSQL: a server on the file system under test, run by the submitter, gone afterwards" {
	need_root
	need jq
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || need initdb
	daemon_start
	local cluster=${HOME_DIR##*.} # other servers may run on this machine
	run_plan <<-END
	plan: postgresql
	target: {image: 2GiB}
	matrix: [{filesystem: ext4}]
	trials: 2
	settle: 0
	workloads:
	  - pgbench: {scale: 1, clients: 2, transactions: 100, buffers: 32MiB, set_max_wal_size: 256MB, set_min_wal_size: 32MB, set_cluster_name: $cluster}
	  # where it listens is not the plan's to say
	  - pgbench-select: {scale: 1, clients: 2, duration: 1s, buffers: 32MiB, set_cluster_name: $cluster, set_port: 6543, set_listen_addresses: "*"}
	END
	positive pgbench.tps pgbench.latency pgbench-select.tps
	[ "$(result pgbench.transactions)" = 200 ]
	accounted pgbench '.tps * .elapsed * 100' # a commit is on the disk; 100 bytes of log are the least
	run pgrep -f "cluster_name=$cluster"
	[ "$status" -ne 0 ]
}

@test "a setting that the server does not know is named, and nothing is left running" {
	need_root
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || need initdb
	daemon_start
	cat >"$HOME_DIR/plan.yaml" <<-'END'
	plan: misspelt
	target: {image: 1GiB}
	matrix: [{filesystem: ext4}]
	trials: 1
	settle: 0
	workloads:
	  - pgbench: {scale: 1, set_shared_bufers: 1MB, buffers: 16MiB}
	END
	run iosweep submit "$HOME_DIR/plan.yaml" --wait
	[ "$status" -eq 1 ]
	run iosweep show last --trials
	[[ "$output" == *'unrecognized configuration parameter "shared_bufers"'* ]]
}

@test "a tool that is not installed makes the cell infeasible, with that reason" {
	need_root
	! command -v iozone >/dev/null || skip "iozone is installed"
	daemon_start
	cat >"$HOME_DIR/plan.yaml" <<-'END'
	plan: missing
	target: {directory: scratch}
	matrix: [{label.x: y}]
	trials: 1
	settle: 0
	workloads: [iozone]
	END
	iosweep submit "$HOME_DIR/plan.yaml" --wait
	run iosweep show last --json
	[[ "$output" == *"needs 'iozone', which is not installed: package iozone3 (non-free)"* ]]
	[[ "$output" == *'"infeasible"'* ]]
}

@test "a user's own tool is one YAML file; a wrong one is named with its line and leaves the others usable" {
	need_root
	need jq
	cat >"$HOME_DIR/workloads/own.yaml" <<-'END'
	workload: own
	about: counts lines
	params: {lines: 3}
	run: [seq, "${lines}"]
	metrics:
	  lines: {match: '^(?<n>\d+)$', combine: max, value: ":n", unit: "", better: neither}
	END
	cat >"$HOME_DIR/workloads/wrong.yaml" <<-'END'
	workload: wrong
	run: [seq, 3]
	metrics:
	  a: {match: '(', value: "1", unit: "", better: neither}
	  b: {match: '(?<x>.)', value: ":y", better: neither}
	END
	daemon_start
	grep -F "wrong.yaml:4:14: match: pattern '(' does not compile" "$HOME_DIR/daemon.log"
	grep -F "metric 'b' has no 'unit'" "$HOME_DIR/daemon.log"
	run_plan <<-'END'
	plan: own
	target: {directory: scratch}
	matrix: [{own.lines: [2, 5]}]
	trials: 1
	settle: 0
	workloads: [own]
	END
	[ "$(jq -c '[.cells[].results["own.lines"].value] | sort' "$SHOWN")" = '[2.0,5.0]' ] ||
		[ "$(jq -c '[.cells[].results["own.lines"].value] | sort' "$SHOWN")" = '[2,5]' ]
}

@test "details are recorded and travel with a sweep, and reports leave them out unless they are named" {
	need_root
	need jq
	cat >"$HOME_DIR/workloads/own.yaml" <<-'END'
	workload: own
	about: counts lines
	params: {lines: 3}
	run: [seq, "${lines}"]
	metrics:
	  lines: {match: '^(?<n>\d+)$', combine: max, value: ":n", unit: "", better: higher}
	  first: {match: '^(?<n>\d+)$', combine: min, value: ":n", unit: "", better: lower, detail: yes}
	END
	daemon_start
	run_plan <<-'END'
	plan: own
	target: {directory: scratch}
	matrix: {own.lines: [2, 5], label.hw: [a, b]}
	trials: 2
	settle: 0
	workloads: [own]
	END
	[ "$(jq -c '[.cells[].results["own.first"].value] | add' "$SHOWN")" -eq 4 ] # programs get all
	local command
	not_told() { # of the store at IOSWEEP_DB
		run iosweep show 1
		[[ $output == *'not shown, details (--metric NAME shows them): own.first'* ]]
		for command in 'best 1' 'effects 1' 'compare label.hw=a label.hw=b' 'history sweep=1'; do
			# shellcheck disable=SC2086 # words
			run --separate-stderr iosweep $command
			[ "$status" -eq 0 ]
			[[ $output == *own.lines* && $output != *own.first* && $stderr == *"metrics that are details are left out"* ]]
			for metric in own.first '*'; do
				# shellcheck disable=SC2086
				run --separate-stderr iosweep $command -m "$metric"
				[[ $output == *own.first* && $stderr != *details* ]]
			done
		done
		run iosweep best 1 metric=own.first
		[[ $output == *own.first* ]]
		run iosweep show 1 -m own.first
		[[ $output == *first* && $output != *'not shown'* ]]
	}
	not_told
	iosweep export 1 >"$HOME_DIR/x.db"
	iosweep export 1 --lines >"$HOME_DIR/x.jsonl"
	for file in x.db x.jsonl; do
		export IOSWEEP_DB=$HOME_DIR/store-$file.db
		iosweep import "$HOME_DIR/$file"
		not_told
	done
}

@test "a tool in a directory of its own says its version in its own way, and no number of tools is too large" {
	need_root
	mkdir "$HOME_DIR/bin"
	printf '%s\n' '#!/bin/sh' '[ "$1" = show-version ] && echo "$(basename "$0") release 7.5" || echo "rate 3"' >"$HOME_DIR/bin/own-tool"
	chmod 755 "$HOME_DIR/bin" "$HOME_DIR/bin/own-tool"
	for i in $(seq 100); do ln -s /bin/true "$HOME_DIR/bin/tool-$i"; done
	cat >"$HOME_DIR/workloads/own.yaml" <<-END
	workload: own
	needs: [own-tool, $(seq -s ', ' -f 'tool-%g' 100), sh]
	path: [$HOME_DIR/bin]
	version: [own-tool, show-version]
	run: [own-tool]
	metrics: {rate: {match: 'rate (?<n>\d+)', value: ":n", unit: 1/s, better: higher}}
	END
	seq -f 'k%g=v' 200 >"$HOME_DIR/many"
	printf 'facts:\n  hook: [/bin/cat, %s]\n  next: [/bin/echo, a=b]\n' "$HOME_DIR/many" >>"$CONFIG"
	daemon_start
	cat >"$HOME_DIR/plan.yaml" <<-'END'
	plan: own
	target: {image: 64MiB}
	matrix: [{filesystem: ext4}]
	trials: 2
	settle: 0
	workloads: [own]
	END
	iosweep submit "$HOME_DIR/plan.yaml" --wait
	[ "$(query "SELECT DISTINCT value FROM environment_fact WHERE key = 'tool.own-tool'")" = 'own-tool release 7.5' ]
	[ "$(query "SELECT count(DISTINCT key) FROM environment_fact WHERE key GLOB 'tool.tool-*'")" = 100 ]
	[ "$(query "SELECT count(DISTINCT key) FROM environment_fact WHERE key GLOB 'hook.k*'")" = 128 ]
	[ "$(query "SELECT group_concat(DISTINCT value) FROM environment_fact WHERE key IN ('hook.error', 'next.a')")" = '72 lines too many,b' ]
}

@test "extract: a metric added to a definition reaches old trials, stored numbers stay" {
	need_root
	need jq
	cat >"$HOME_DIR/workloads/own.yaml" <<-'END'
	workload: own
	run: [echo, rate 12 errors 3]
	metrics:
	  rate: {match: 'rate (?<n>\d+)', value: ":n", unit: 1/s, better: higher}
	END
	daemon_start
	run_plan <<-'END'
	plan: own
	target: {directory: scratch}
	matrix: [{label.x: y}]
	trials: 2
	settle: 0
	workloads: [own]
	END
	daemon_stop
	# The definition changes: another scale for rate, and a metric more.
	mkdir -p "$HOME_DIR/data"
	cp -r "$ROOT/sweeps/workloads" "$HOME_DIR/data/workloads"
	cat >"$HOME_DIR/data/workloads/own.yaml" <<-'END'
	workload: own
	run: [echo, rate 12 errors 3]
	metrics:
	  rate: {match: 'rate (?<n>\d+)', value: ":n * 2", unit: 1/s, better: higher}
	  errors: {match: 'errors (?<n>\d+)', value: ":n", unit: "", better: lower}
	END
	export IOSWEEP_DATA=$HOME_DIR/data
	run iosweep extract last --json
	[ "$status" -eq 0 ]
	[[ "$output" == *'"changed"'* && "$output" == *'"new"'* ]]
	run iosweep extract last --add
	[ "$status" -eq 0 ]
	[[ "$output" == *"2 added"* ]]
	iosweep show last --json >"$SHOWN"
	[ "$(result own.rate | cut -d. -f1)" = 12 ]
	[ "$(result own.errors | cut -d. -f1)" = 3 ]
	sqlite3 "$IOSWEEP_DB" "UPDATE workload SET name = 'gone', definition = 'of another time'" # one that nobody can read is no end
	run iosweep extract last
	[ "$status" -eq 1 ]
	[[ "$output" == *"trial 1: workload 'own': no definition 'gone'"*"trial 2: workload 'own': no definition 'gone'"* ]]
}

@test "workloads: the list, one trial, a saved output" {
	run iosweep workloads --csv
	[ "$status" -eq 0 ]
	[[ "$output" == *"dd-write,"* ]]
	run --separate-stderr iosweep workloads show dd-write
	[ "$status" -eq 0 ]
	[ "$output" = "$(cat "$ROOT/sweeps/workloads/dd-write.yaml")" ]
	[[ "$stderr" == *"from $ROOT/sweeps/workloads/dd-write.yaml" ]]
	run iosweep workloads show dd-wirte
	[ "$status" -eq 2 ]
	[[ "$output" == *"did you mean 'dd-write'?"* ]]
	run iosweep workloads try dd-write --ram 4MiB -C "$HOME_DIR"
	[ "$status" -eq 0 ]
	[[ "$output" == *throughput*"match 1 of run stderr"* ]]
	[ -z "$(find "$HOME_DIR" -name 'iosweep-try-*')" ]
	run iosweep workloads parse dd-write "$ROOT/tests/data/outputs/dd/gnu91-short-records.txt"
	[ "$status" -eq 1 ]
	[[ "$output" == *"ambiguous"*"2 results in one output"* ]]
	run iosweep workloads parse fio "$ROOT/tests/data/outputs/fio/333-too-short.txt" --json
	[ "$status" -eq 0 ]
	[[ "$output" == *'"state": "suspect"'* ]]
	run iosweep workloads try no-such
	[ "$status" -eq 2 ]
}

@test "workloads try: a trial that failed is cleaned up, also by a step that is repeated in vain" {
	mkdir -p "$HOME_DIR/data/workloads"
	cat >"$HOME_DIR/data/workloads/own.yaml" <<-'END'
	workload: own
	prepare: [[cat, no-such-file]]
	run: [echo, 1]
	cleanup: [{argv: ["false"], retry: yes, timeout: 300ms}]
	metrics:
	  rate: {match: '(?<n>\d+)', value: ":n", unit: 1/s, better: higher}
	END
	IOSWEEP_DATA=$HOME_DIR/data run iosweep workloads try own -C "$HOME_DIR"
	[ "$status" -eq 1 ]
	[[ "$output" == *"line 2 of the definition: prepare: '"*"cat' ended with status 1: "*no-such-file* ]]
	[ -z "$(find "$HOME_DIR" -name 'iosweep-try-*')" ]
}

@test "a wait that is given up says what the last attempt said" {
	need_root
	need jq
	daemon_start
	cat >"$HOME_DIR/plan.yaml" <<-'END'
	plan: wait
	target: {directory: scratch}
	matrix: [{label.x: y}]
	trials: 1
	settle: 0
	workloads:
	  - command:
	      prepare: [{argv: [sh, -c, "echo wait: error: nobody answers >&2; echo wait: hint: begin it >&2; exit 2"], retry: yes, timeout: 300ms}]
	      run: [sleep, "0"]
	END
	run iosweep submit "$HOME_DIR/plan.yaml" --wait
	[ "$status" -eq 1 ]
	[ "$(query "SELECT reason FROM trial")" = \
		"did not end well within its time-out: prepare: '/usr/bin/sh' exited with status 2: wait: error: nobody answers" ]
}

@test "hdparm reads the target device itself, without privilege" {
	need_root
	need jq hdparm
	device_make disk 96M
	daemon_start
	run_plan <<-'END'
	plan: hdparm
	target: {device: disk, erase: yes}
	matrix: [{filesystem: none}]
	trials: 1
	settle: 0
	workloads: [hdparm]
	END
	positive hdparm.throughput
	accounted hdparm "90 * 1048576" # it reads for three seconds or to the end
}

@test "a rehearsal: the plan's cells and tools on an image, in small, compared with nothing" {
	need_root
	need jq
	daemon_start
	cat >"$HOME_DIR/plan.yaml" <<-'END'
	plan: large
	target: {device: not-listed-here, erase: yes}
	matrix: {filesystem: [ext4, xfs], label.hw: raid10, dd-write.bs: 1MiB, memory: 64GiB}
	workloads:
	  - dd-write: {size: 2x ram}
	  - dd-write: {as: tiny, size: 1MiB}
	  - dd-read: {size: 10TiB, only: {filesystem: xfs}}
	trials: 5
	keep: mean
	rehearse: {image: 512MiB, trials: 2, workloads: {dd-read: {size: 8MiB}}}
	END
	run iosweep submit "$HOME_DIR/plan.yaml"
	[ "$status" -ne 0 ]
	[[ $output == *"not-listed-here"* ]]
	iosweep check "$HOME_DIR/plan.yaml" --rehearse | grep -q '^target *image of 512MiB'
	iosweep submit "$HOME_DIR/plan.yaml" --rehearse --wait -q >"$HOME_DIR/table"
	grep -q '^A rehearsal' "$HOME_DIR/table"
	iosweep list | grep -q ' rehearsal '
	iosweep show last --json >"$HOME_DIR/show.json"
	[ "$(jq -c '[.sweep.rehearsal, .sweep.target, .sweep.keep]' "$HOME_DIR/show.json")" = '[true,"512MiB","mean"]' ]
	[ "$(jq -c '[.cells[].results | [.["dd-write.copied"].value, .["dd-write.copied"].n, .["tiny.copied"].value, .["dd-read.copied"].value]]' \
		"$HOME_DIR/show.json")" = '[[67108864,2,1048576,null],[67108864,2,1048576,8388608]]' ]
	# the limit is that of the rehearsal; the cell says what the plan asked for
	[ "$(jq -r '.cells[0].axes.memory | .value + " " + .effective' "$HOME_DIR/show.json")" = "68719476736 134217728" ]
	run iosweep best
	[[ $output != *dd-write* ]]
	iosweep best last | grep -q dd-write
	# The same sizes for real, on the same kind of target: nothing of it is held against the rehearsal.
	sed -i -e 's/^target:.*/target: {image: 512MiB}/' -e 's/memory: 64GiB/memory: 128MiB/' -e '/dd-write: {size\|dd-read/d' \
		-e 's/, dd-write.bs: 1MiB//' -e '/^rehearse/d' -e 's/trials: 5/trials: 1/' "$HOME_DIR/plan.yaml"
	iosweep submit "$HOME_DIR/plan.yaml" --wait -q
	run iosweep compare last~1 last
	echo "$output"
	[[ $output != *tiny* ]]
}
