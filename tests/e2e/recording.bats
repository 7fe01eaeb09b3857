#!/usr/bin/env bats
# The store while a daemon records into it: copies, and readers who may not write; and what a default was.

load helpers

setup() {
	need_root
	daemon_setup
	sed -i 's/^group: .*/group: nogroup/' "$CONFIG"
	PLAN=$HOME_DIR/plan.yaml
}

teardown() { daemon_teardown; }

# Short trials, one after the other: something is committed at any moment.
busy_plan() { # CELLS
	cat <<-END
	plan: busy
	target: {directory: scratch}
	matrix: {label.n: [$(seq -s, 1 "$1")]}
	trials: 5
	settle: 0
	workloads:
	  - command:
	      as: quick
	      run: [sh, -c, 'echo rate \$((1000 + \$1))', sh, "\${repetition}"]
	      metrics: {rate: {match: 'rate (?<r>\\d+)', value: ":r", unit: 1/s, better: higher}}
	      warm: yes
	END
}

trials_at_least() { [ "$(query "SELECT count(*) FROM trial WHERE state = 'ok'")" -ge "$1" ]; }

reader() { setpriv --reuid 65534 --regid 65534 --clear-groups "$B/iosweep" "$@"; }

@test "a backup while a sweep is recorded is whole: every row that was committed, and none that was not" {
	local i copy
	daemon_start
	busy_plan 60 >"$PLAN"
	iosweep submit "$PLAN" >/dev/null
	wait_for 30 trials_at_least 5
	for i in $(seq 8); do
		copy=$HOME_DIR/copy.$i
		iosweep backup "$copy"
		[ "$(ls "$copy"*)" = "$copy" ]
		sqlite3 -readonly "$copy" "SELECT 'running', state FROM sweep" >>"$HOME_DIR/states"
		[ "$(sqlite3 -readonly "$copy" 'PRAGMA integrity_check')" = ok ]
		[ -z "$(sqlite3 -readonly "$copy" 'PRAGMA foreign_key_check')" ]
		# what the sweep counts is there, each good trial with its number
		[ "$(sqlite3 -readonly "$copy" "SELECT (SELECT trials_ok FROM sweep) = count(*) AND count(*) = (SELECT count(*) FROM measurement)
			FROM trial WHERE state = 'ok'")" = 1 ]
		sqlite3 -readonly "$copy" "SELECT count(*) FROM trial WHERE state = 'ok'" >>"$HOME_DIR/counts"
		sleep 0.3
	done
	grep -q 'running|running' "$HOME_DIR/states" # the copies were made meanwhile
	[ "$(sort -n "$HOME_DIR/counts" | tr '\n' ' ')" = "$(tr '\n' ' ' <"$HOME_DIR/counts")" ]
	[ "$(head -1 "$HOME_DIR/counts")" -lt "$(tail -1 "$HOME_DIR/counts")" ]
	iosweep wait last
	# every trial of each copy is in the store at the end, with the same number
	for i in $(seq 8); do
		[ "$(sqlite3 -readonly "$IOSWEEP_DB" "ATTACH '$HOME_DIR/copy.$i' AS copy;
			SELECT count(*) FROM (SELECT t.id, t.repetition, t.started_ms, m.value FROM copy.trial t JOIN copy.measurement m ON m.trial_id = t.id
			EXCEPT SELECT t.id, t.repetition, t.started_ms, m.value FROM main.trial t JOIN main.measurement m ON m.trial_id = t.id)")" = 0 ]
		IOSWEEP_DB=$HOME_DIR/copy.$i iosweep show last >/dev/null
	done
}

@test "who may not write reads: while a sweep is recorded, after it, without a daemon, and after a kill" {
	need setpriv
	local before
	daemon_start
	busy_plan 60 >"$PLAN"
	iosweep submit "$PLAN" >/dev/null
	wait_for 30 trials_at_least 20
	[ "$(reader sql --raw "SELECT count(*) >= 20 FROM trials WHERE state = 'ok'")" = 1 ]
	reader show last | grep -q 'label.n\|LABEL.N'
	reader list | grep -q running
	reader best last --json >/dev/null
	reader query label.n=1 --csv | grep -q quick.rate
	state_is running
	run reader annotate last mine
	[ "$status" -ne 0 ]
	local worker
	worker=$(pgrep -P "$DAEMON" -f -- --worker)
	kill -KILL "$DAEMON" "$worker" # left alone, it would record a trial more, and take the log into the store
	wait "$DAEMON" || true
	DAEMON=
	wait_for 20 sh -c "! kill -0 $worker"
	[ -s "$IOSWEEP_DB-wal" ] # what was committed last is in the log alone
	before=$(query "SELECT count(*) FROM trial WHERE state = 'ok'")
	[ "$(reader sql --raw "SELECT count(*) FROM trials WHERE state = 'ok'")" = "$before" ]
	daemon_start
	iosweep wait last
	[ "$(reader query --csv 'label.n>=1' --columns value | wc -l)" -eq 61 ]
	daemon_stop
	find "$HOME_DIR/state" -printf '%p %s %T@\n' | sort >"$HOME_DIR/files"
	chmod 550 "$HOME_DIR/state"
	reader show last | grep -q '60 of 60 cells'
	reader compare last last --flagged --csv | wc -l | grep -q '^61$'
	chmod 750 "$HOME_DIR/state"
	diff "$HOME_DIR/files" <(find "$HOME_DIR/state" -printf '%p %s %T@\n' | sort)
	chmod 750 "$HOME_DIR"
	run reader show last # and who may not read is told so
	[[ $status -ne 0 && $output == *'Permission denied'* ]]
}

@test "a default readahead that was another one on another kernel is another readahead: two stores merged, queried and compared" {
	need blockdev
	local i
	device_make disk 64MiB
	for i in 1 2; do
		# what another kernel would have computed for the same disk
		blockdev --setra "$((i == 1 ? 256 : 5120))" "$DEVICE"
		daemon_start
		cat >"$PLAN" <<-END
		plan: default
		target: {device: disk, erase: yes}
		matrix: {filesystem: ext4, readahead: kernel-default}
		trials: 3
		settle: 0
		workloads: [{dd-write: {size: 1MiB}}]
		END
		iosweep submit "$PLAN" --wait >/dev/null
		daemon_stop
		mv "$HOME_DIR/state" "$HOME_DIR/state.$i"
		mkdir "$HOME_DIR/state"
	done
	export IOSWEEP_DB=$HOME_DIR/both.db
	iosweep import "$HOME_DIR/state.1/iosweep.db" "$HOME_DIR/state.2/iosweep.db" >/dev/null
	[ "$(iosweep query metric=dd-write.throughput --all --csv --columns readahead:effective 2>/dev/null | tr -d '\r' | sort | tr '\n' ' ')" \
		= '131072 2621440 readahead:effective ' ]
	[ "$(iosweep query metric=dd-write.throughput readahead=2560KiB --raw --columns sweep)" = 2 ]
	run iosweep compare 1 2 --flagged # three writes of 1 MiB may well drift
	[[ $output == *'default readahead '*'kernel-default (128KiB) '*'kernel-default (2560KiB)'* ]]
}
