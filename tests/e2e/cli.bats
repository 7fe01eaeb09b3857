#!/usr/bin/env bats
# The command as people and scripts use it: exit statuses, tables, JSON, waiting, and reading without a daemon.

load helpers

setup_file() {
	[ "$(id -u)" -eq 0 ] || return 0
	daemon_setup
	cat >"$HOME_DIR/workloads/say.yaml" <<-'END'
	workload: say
	about: Prints what its parameter says
	needs: [printf]
	params: {n: "1"}
	run: [printf, 'speed %d000000 noise %d', "${n}", "${repetition}"]
	metrics:
	  speed: {match: 'speed (?<v>\d+)', value: ":v", unit: B/s, better: higher}
	  noise: {match: 'noise (?<v>\d+)', value: ":v", unit: "", better: lower}
	END
	daemon_start
	cat >"$HOME_DIR/plan.yaml" <<-END
	plan: table
	about: For the tests of show
	target: {directory: scratch}
	matrix: {label.hw: [r10, r5], say.n: ["1", "2", "3"]}
	trials: 3
	settle: 0
	workloads: [say]
	END
	iosweep submit "$HOME_DIR/plan.yaml" --wait >"$HOME_DIR/first.out" 2>"$HOME_DIR/first.err"
	export HOME_DIR CONFIG DAEMON
}

teardown_file() {
	[ -n "${HOME_DIR:-}" ] || return 0
	kill -TERM "$DAEMON" 2>/dev/null || true
	wait_for 20 bash -c "! kill -0 $DAEMON" || true
	rm -rf --one-file-system "$HOME_DIR"
}

setup() { need_root; }

# A sweep of one cell whose trials take SECONDS each.
slow_plan() { # SECONDS TRIALS
	cat <<-END
	plan: slow
	target: {directory: scratch}
	matrix: {label.hw: x}
	trials: $2
	settle: 0
	workloads: [{command: {as: nap, run: [[sleep, "$1"]], metrics: {took: {value: ":elapsed", unit: s, better: lower}}}}]
	END
}

json() { # PYTHON-EXPRESSION over d: of show --json on stdin
	python3 -c "import json, sys; d = json.load(sys.stdin); print(($1))"
}

@test "submit --wait prints the table of the sweep on standard output and its progress on standard error" {
	grep -q '^sweep 1  table  on ' "$HOME_DIR/first.out"
	grep -q '^CELL  SAY.N  LABEL.HW ' "$HOME_DIR/first.out"
	grep -q '^iosweep: sweep 1, 6 cells$' "$HOME_DIR/first.err"
	grep -q '^iosweep: sweep 1 is done$' "$HOME_DIR/first.err"
	run grep -c 'progress\|trial . of' "$HOME_DIR/first.out"
	[ "$output" = 0 ]
}

@test "show marks the best of a metric and names the unit of the column" {
	run iosweep show 1
	[ "$status" -eq 0 ]
	grep -q ' MB/s ' <<<"$output"
	[ "$(grep -c '  3.00\* *0.0%' <<<"$output")" = 2 ]
	[ "$(grep -c '  2.00  *0.0%' <<<"$output")" = 2 ]
	grep -q '^\*  best of its metric$' <<<"$output"
	grep -q '^s  spread: ' <<<"$output"
}

@test "show --by makes the values of an axis columns" {
	run iosweep show 1 --by say.n --metric speed
	[ "$status" -eq 0 ]
	grep -q '^LABEL.HW  *1  *2  *3$' <<<"$output"
	grep -q '^r10  *1.00\*  *0.0%  *2.00\*  *0.0%  *3.00\* *0.0%$' <<<"$output" # r5 has the same in each column
	grep -q '^\*  best of its column$' <<<"$output"
	[ "$(grep -c '^r[0-9]' <<<"$output")" = 2 ]
}

@test "show fits 80 columns in panels, and is not cut where there is no terminal" {
	run env COLUMNS=34 iosweep show 1
	[ "$(grep -c '^CELL ' <<<"$output")" = 2 ]
	[ "$(grep -c '^ *[0-9]  [0-9]  *r[0-9]' <<<"$output")" = 12 ]
	[ "$(awk '/^CELL/ { on = 1 } /^$/ { on = 0 } on && length($0) > 34' <<<"$output")" = "" ]
	run iosweep show 1
	[ "$(grep -c '^CELL ' <<<"$output")" = 1 ]
}

@test "show --json has the shape that scripts rely on" {
	need python3
	iosweep show last~0 --json >/dev/null
	iosweep show 1 --json >"$HOME_DIR/show.json"
	[ "$(json 'd["sweep"]["id"], d["sweep"]["plan"], d["sweep"]["state"]' <"$HOME_DIR/show.json")" = "(1, 'table', 'done')" ]
	[ "$(json 'len(d["cells"]), all(len(c["config"]) == 64 for c in d["cells"])' <"$HOME_DIR/show.json")" = "(6, True)" ]
	[ "$(json 'sorted(d["cells"][0]["axes"]["say.n"])' <"$HOME_DIR/show.json")" = "['effective', 'requested', 'value', 'verdict']" ]
	[ "$(json '[d["cells"][1]["results"]["say.speed"][k] for k in ("value", "keep", "min", "max", "n", "unit", "better", "flags")]' \
		<"$HOME_DIR/show.json")" = "[2000000, 'median', 2000000, 2000000, 3, 'B/s', 'higher', []]" ]
	[ "$(json 'd["cells"][1]["results"]["say.noise"]["flags"]' <"$HOME_DIR/show.json")" = "['drift', 'spread']" ]
	[ "$(json 'd["cells"][0]["results"]["say.speed"]["trial"] > 0' <"$HOME_DIR/show.json")" = True ]
	[ "$(iosweep show 1 --trials --json | json '[t["repetition"] for t in d["cells"][0]["trials"]]')" = "[1, 2, 3]" ]
}

@test "csv has every axis and part of a result, in base units" {
	run bash -c 'iosweep show 1 --csv --columns cell,label.hw,say.n,say.speed,say.speed.min,say.speed.n,say.speed.unit | tr -d "\r"'
	[ "${lines[0]}" = "cell,label.hw,say.n,say.speed,say.speed.min,say.speed.n,say.speed.unit" ]
	[ "${lines[1]}" = "1,r10,1,1000000,1000000,3,B/s" ]
	[ "${#lines[@]}" = 7 ]
}

@test "what does not exist is a usage error that names the nearest" {
	run iosweep shwo
	[ "$status" -eq 2 ]
	[[ $output == *"unknown command 'shwo'"*"did you mean 'show'?"* ]]
	run iosweep show 1 --metrc x
	[ "$status" -eq 2 ]
	[[ $output == *"unknown option '--metrc'"*"did you mean '--metric'?"* ]]
	run iosweep show 1 --metric sped
	[ "$status" -eq 2 ]
	[[ $output == *"has no metric 'sped'"*"did you mean 'speed'?"* ]]
	run iosweep show 1 --by label.hv
	[ "$status" -eq 2 ]
	[[ $output == *"has no axis 'label.hv'"*"did you mean 'label.hw'?"* ]]
	run iosweep show 4711
	[ "$status" -eq 2 ]
	[[ $output == *"there is no sweep 4711"* ]]
	run iosweep cancel 4711
	[ "$status" -eq 2 ]
	run iosweep
	[ "$status" -eq 2 ]
}

@test "sweeps are found by number, last, last~N and the start of their UUID" {
	uuid=$(iosweep list --raw --columns uuid --limit 0 | head -1)
	for id in 1 "${uuid:0:18}" "$uuid"; do
		[ "$(iosweep show "$id" --csv | head -1)" = "$(iosweep show 1 --csv | head -1)" ]
	done
	run iosweep show last
	[ "$status" -eq 0 ]
}

@test "a plan with errors changes nothing and exits 2, with line and column on standard error" {
	before=$(query "SELECT count(*) FROM sweep")
	printf 'plan: x\nfrob: 1\ntarget: {image: 64MiB}\nmatrix: {readahead: 256}\nworkloads: [dd-read]\n' >"$HOME_DIR/bad.yaml"
	run bash -c "iosweep submit '$HOME_DIR/bad.yaml' 2>&1 >/dev/null"
	[ "$status" -eq 2 ]
	[[ $output == *"$HOME_DIR/bad.yaml:2:1: unknown key 'frob'"* ]]
	[[ $output == *"$HOME_DIR/bad.yaml:4:21: readahead: '256' has no unit"* ]]
	run iosweep submit "$HOME_DIR/missing.yaml"
	[ "$status" -eq 2 ]
	printf 'plan: \0x\n' | { run iosweep submit -; [ "$status" -eq 2 ]; }
	truncate -s 2G "$HOME_DIR/huge.yaml"
	run iosweep submit "$HOME_DIR/huge.yaml"
	[ "$status" -eq 2 ]
	rm "$HOME_DIR/huge.yaml"
	[ "$(query "SELECT count(*) FROM sweep")" = "$before" ]
}

@test "check and submit read a plan alike: from a file, a pipe, standard input, and not from a directory" {
	local command file
	for command in check submit; do
		for file in - /dev/fd/3; do
			run iosweep "$command" "$file" < <(printf 'plna: x\n') 3< <(printf 'plna: x\n')
			echo "$command $file: $output"
			[ "$status" -eq 2 ]
			[[ $output == *"${file/#-/standard input}:1:1: unknown key 'plna' in the plan: did you mean 'plan'?"* ]]
		done
		run iosweep "$command" "$HOME_DIR"
		[ "$status" -eq 2 ]
		[ "$output" = "iosweep: read '$HOME_DIR': Is a directory" ]
		truncate -s 5M "$HOME_DIR/huge.yaml"
		run iosweep "$command" "$HOME_DIR/huge.yaml"
		[ "$status" -eq 2 ]
		[[ $output == *"$HOME_DIR/huge.yaml"*": larger than 4MiB: not a file of this kind"* ]]
	done
	rm "$HOME_DIR/huge.yaml"
}

@test "a sweep with a failed cell exits 1, one with an infeasible cell 0, and 1 under --strict" {
	slow_plan 0 1 | sed 's/\[sleep, "0"\]/["false"]/' >"$HOME_DIR/fails.yaml"
	run iosweep submit "$HOME_DIR/fails.yaml" --wait
	[ "$status" -eq 1 ]
	[[ $output == *"failed, cell 1: "* ]]
	slow_plan 0 1 | sed 's/\[sleep, "0"\]/["no-such-program"]/' >"$HOME_DIR/cannot.yaml"
	run iosweep submit "$HOME_DIR/cannot.yaml" --wait
	[ "$status" -eq 0 ]
	[[ $output == *"infeasible, cell 1: "*"no-such-program"* ]]
	run iosweep submit "$HOME_DIR/cannot.yaml" --wait --strict
	[ "$status" -eq 1 ]
}

@test "pause ends after the trial, resume runs what is missing, wait tells the end" {
	slow_plan 1 3 >"$HOME_DIR/slow.yaml"
	run iosweep submit "$HOME_DIR/slow.yaml"
	[ "$status" -eq 0 ]
	[[ $output == "sweep "*": 1 cell" ]]
	wait_for 10 state_is running
	iosweep pause last
	wait_for 10 state_is paused
	run iosweep wait last --timeout 500ms
	[ "$status" -eq 1 ]
	[[ $output == *"is still paused"* ]]
	iosweep resume last
	run iosweep wait last
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[ "$(iosweep show last --trials --raw --columns state | sort | uniq -c | tr -s ' ')" = " 3 ok" ]
}

@test "cancel ends a sweep at once, and wait exits 1" {
	slow_plan 60 1 >"$HOME_DIR/slow.yaml"
	iosweep submit "$HOME_DIR/slow.yaml"
	wait_for 10 state_is running
	iosweep cancel last
	run iosweep wait last --timeout 10s
	[ "$status" -eq 1 ]
	[[ $output == *"was cancelled"* ]]
}

@test "stop --now hands the machine back and restore finds nothing left" {
	slow_plan 60 1 >"$HOME_DIR/slow.yaml"
	iosweep submit "$HOME_DIR/slow.yaml"
	wait_for 10 state_is running
	run iosweep stop --now
	[ "$status" -eq 0 ]
	[[ $output == *"has stopped"* ]]
	state_is paused
	run iosweep restore --dry-run
	[ "$status" -eq 0 ]
	[[ $output == *"nothing is left to put back"* ]]
	iosweep cancel last
}

@test "watch prints a line a trial where there is no terminal, and one redrawn line where there is" {
	need script
	slow_plan 2.2 3 >"$HOME_DIR/slow.yaml"
	iosweep submit "$HOME_DIR/slow.yaml"
	run iosweep watch last
	[ "$status" -eq 0 ]
	[[ $output == *"cell 1 of 1"*"nap trial 2 of 3, median 2.2"*" s"* ]]
	[[ $output != *$'\r'* ]]
	iosweep submit "$HOME_DIR/slow.yaml"
	TERM=xterm run script -qec "iosweep watch last" /dev/null
	[[ $output == *$'\r'*"cell 1 of 1"* ]]
	iosweep submit "$HOME_DIR/slow.yaml"
	TERM=dumb run script -qec "iosweep watch last" /dev/null
	[[ $output == *"cell 1 of 1"* ]]
	[[ $output != *$'\033'* ]]
}

@test "watch without a daemon says that the sweep does not go on, and what to do, with exit status 3" {
	slow_plan 60 1 >"$HOME_DIR/slow.yaml"
	iosweep submit "$HOME_DIR/slow.yaml"
	IOSWEEP_SOCKET=$HOME_DIR/nobody run timeout 10 iosweep watch last
	iosweep cancel last
	echo "$output"
	[ "$status" -eq 3 ]
	[[ $output == *"does not go on: no daemon answers at '$HOME_DIR/nobody'"*"start it with"* ]]
	IOSWEEP_SOCKET=$HOME_DIR/nobody run timeout 10 iosweep watch 1 # one that is over needs none
	[ "$status" -eq 0 ]
}

@test "--wait outlives a restart of the daemon, and without one the exit status is 3" {
	slow_plan 1 3 >"$HOME_DIR/slow.yaml"
	iosweep submit "$HOME_DIR/slow.yaml" --wait >"$HOME_DIR/out" 2>"$HOME_DIR/err" 3>&- &
	waiter=$!
	wait_for 10 state_is running
	kill -TERM "$DAEMON"
	wait_for 20 bash -c "! kill -0 $DAEMON"
	run iosweep cancel last
	[ "$status" -eq 3 ]
	[[ $output == *"no daemon answers at"*"IOSWEEP_SOCKET"* ]]
	run iosweep show 1
	[ "$status" -eq 0 ]
	"$B/iosweepd" --config "$CONFIG" 2>>"$HOME_DIR/daemon.log" 3>&- &
	echo $! >"$HOME_DIR/daemon.pid"
	wait $waiter || { cat "$HOME_DIR/err"; false; }
	grep -q 'no daemon answers: the sweep goes on when one is started' "$HOME_DIR/err"
	grep '  slow  on .*: done$' "$HOME_DIR/out"
	[ "$(query "SELECT group_concat(repetition) FROM trial WHERE state = 'ok' AND cell_id = (SELECT max(id) FROM cell) ORDER BY 1")" = 1,2,3 ]
	kill -TERM "$(cat "$HOME_DIR/daemon.pid")"
	wait_for 20 bash -c "! kill -0 $(cat "$HOME_DIR/daemon.pid")"
}

@test "a user who may only read needs no daemon and no write access" {
	need setpriv
	cp "$IOSWEEP_DB" "$HOME_DIR/copy.db"
	sqlite3 "$HOME_DIR/copy.db" 'PRAGMA journal_mode' >/dev/null
	chmod 644 "$HOME_DIR/copy.db"
	run env IOSWEEP_DB="$HOME_DIR/copy.db" setpriv --reuid 65534 --regid 65534 --clear-groups "$B/iosweep" show 1
	echo "$output"
	[ "$status" -eq 0 ]
	run setpriv --reuid 65534 --regid 65534 --clear-groups "$B/iosweep" cancel 1
	[ "$status" -ne 0 ]
}

@test "a user who may only read the store is told so by what writes to it" {
	need setpriv
	cp "$IOSWEEP_DB" "$HOME_DIR/theirs.db"
	chmod 644 "$HOME_DIR/theirs.db"
	chmod 755 "$HOME_DIR/state"
	run env IOSWEEP_DB="$HOME_DIR/theirs.db" setpriv --reuid 65534 --regid 65534 --clear-groups "$B/iosweep" annotate 1 mine
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"open the store '$HOME_DIR/theirs.db' for writing: Permission denied"* ]]
}

@test "check remarks on schedulers that Linux does not come with, and takes the plan all the same" {
	printf '%s\n' 'plan: names' 'target: {image: 64MiB}' 'matrix: {filesystem: ext4, scheduler: [cfq, mq-dedline, adios, noop, none, kernel-default]}' \
		'workloads: [dd-write: {size: 8MiB}]' >"$BATS_TEST_TMPDIR/names.yaml"
	run iosweep check "$BATS_TEST_TMPDIR/names.yaml"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"names.yaml:3:40: note: 'cfq' is gone"* ]]
	[[ $output == *"names.yaml:3:45: note: 'mq-dedline' is no scheduler that Linux comes with: did you mean 'mq-deadline'?"* ]]
	[[ $output == *"names.yaml:3:57: note: 'adios' is no scheduler that Linux comes with: its cells will be infeasible unless"* ]]
	[ "$(grep -c 'note:' <<<"$output")" = 3 ]
}
