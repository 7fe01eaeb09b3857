#!/usr/bin/env bats
# iosweep sql: reads the store with and without a daemon, in every format, and never writes.

load helpers

setup() {
	need_root
	daemon_setup
	daemon_start
}

teardown() { daemon_teardown; }

@test "sql reads while the daemon runs and when it does not" {
	[ "$(iosweep sql 'SELECT count(*) FROM sweeps' --raw)" = 0 ]
	daemon_stop
	[ "$(iosweep sql 'SELECT count(*) FROM sweeps' --raw)" = 0 ]
}

@test "sql prints rows as a table, CSV, tabs and JSON" {
	local query="SELECT 1 AS n, 'a,b' AS text, NULL AS none"
	[ "$(iosweep sql "$query" --csv | tr -d '\r')" = $'n,text,none\n1,"a,b",' ]
	[ "$(iosweep sql "$query" --raw)" = $'1\ta,b\t' ]
	iosweep sql "$query" --json | tr -d ' \n' | grep -qF '{"rows":[{"n":1,"text":"a,b","none":null}]}'
	iosweep sql "$query" | head -1 | grep -q '^n  *text'
	[ "$(echo "$query" | iosweep sql - --raw)" = $'1\ta,b\t' ]
}

@test "a long answer has one header line" {
	iosweep sql "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 2500) SELECT n FROM c" --csv \
		>"$BATS_TEST_TMPDIR/long.csv"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/long.csv")" -eq 2501 ]
	[ "$(grep -c n "$BATS_TEST_TMPDIR/long.csv")" -eq 1 ]
	[ "$(tail -1 "$BATS_TEST_TMPDIR/long.csv" | tr -d '\r')" = 2500 ]
}

@test "sql lists the views, and the SQL behind them" {
	iosweep sql | grep -q '^results '
	iosweep sql --csv | grep -q '^settings,effective,'
	iosweep sql --schema trial | grep -q 'CREATE TABLE trial ('
	run iosweep sql --schema nowhere
	[ "$status" -eq 1 ]
	[ "$output" = "iosweep: there is no table or view 'nowhere'" ]
}

@test "a statement that writes, or is none, ends with status 2 and changes nothing" {
	local query
	for query in "DELETE FROM host" "VACUUM INTO '$BATS_TEST_TMPDIR/copy'" "SELECT colour" "SELECT 1; SELECT 2" ""; do
		run iosweep sql "$query"
		echo "$query: $status $output"
		[ "$status" -eq 2 ]
	done
	[ ! -e "$BATS_TEST_TMPDIR/copy" ]
	run iosweep sql "DELETE FROM host"
	[ "$output" = "iosweep: only statements that read are allowed here" ]
	[ "$(iosweep sql 'SELECT count(*) FROM host' --raw)" = 1 ]
}
