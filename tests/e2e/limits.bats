#!/usr/bin/env bats
# Everything that grows has a limit, each limit its error, and nobody who is at one holds the others up.  Limits of the
# socket that a hostile client meets are in daemon.bats, those of readers of files in the unit tests.

load helpers

setup() {
	need_root
	daemon_setup
	PLAN=$HOME_DIR/plan.yaml
}

teardown() { daemon_teardown; }

wire() { "$ROOT/tests/e2e/wire" "$1" "$IOSWEEP_SOCKET" "${@:2}"; }
answers_at_once() { timeout 2 "$ROOT/tests/e2e/wire" ask "$IOSWEEP_SOCKET" '{"version":1,"request":"hello"}' | grep -q '"ok":true'; }

directory_plan() { # LABELS TRIALS ARGV
	cat <<-END
	plan: limits
	target: {directory: scratch}
	matrix: {label.n: [$1]}
	trials: $2
	settle: 0
	workloads: [{command: {as: w, warm: yes, run: [$3], metrics: {time: {value: ":elapsed", unit: s, better: lower}}}}]
	END
}

@test "a client that says nothing is let go after 10 s, one that watches is not" {
	daemon_start
	local began=$SECONDS
	timeout 14 "$ROOT/tests/e2e/wire" follow "$IOSWEEP_SOCKET" '{"version":1,"request":"watch"}' >"$HOME_DIR/watched" 3>&- &
	local watcher=$!
	run timeout 30 perl -MIO::Socket::UNIX -e 'my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]); print defined <$s> ? "said" : "closed"' \
		"$IOSWEEP_SOCKET"
	[ "$output" = closed ]
	[ $((SECONDS - began)) -ge 9 ] && [ $((SECONDS - began)) -le 13 ]
	kill -0 $watcher
	answers_at_once
	wait $watcher || true
}

@test "a plan of more than 4 MiB is refused by the command, and by the daemon" {
	daemon_start
	{ directory_plan 1 1 '[true]'; head -c 4194304 /dev/zero | tr '\0' '#'; } >"$PLAN"
	run iosweep submit "$PLAN"
	echo "${output:0:300}"
	[ "$status" -eq 2 ]
	grep -qF "$PLAN: larger than 4MiB" <<<"$output"
	run wire raw < <(printf '{"version":1,"request":"submit","plan":"'; head -c 4200000 /dev/zero | tr '\0' '#'; printf '"}\n')
	echo "${output:0:300}"
	grep -q '"ok":false' <<<"$output"
	grep -q "4194304 bytes\|4MiB" <<<"$output"
	answers_at_once
}

@test "more than 100 million cells are refused, and aliases that multiply are cut off" {
	daemon_start
	{
		echo 'plan: many'
		echo 'target: {directory: scratch}'
		echo 'matrix:'
		for axis in a b c d e; do echo "  label.$axis: [$(seq -s, 1 41)]"; done
		echo 'workloads: [dd-read: {size: 1MiB}]'
	} >"$PLAN"
	local began=$SECONDS
	run iosweep submit "$PLAN"
	echo "$output"
	[ "$status" -eq 2 ]
	grep -q '100000000\|100,000,000\|100 million' <<<"$output"
	{
		echo 'a: &a [x, x, x, x, x, x, x, x, x, x]'
		local before=a name
		for name in b c d e f g h; do
			echo "$name: &$name [*$before, *$before, *$before, *$before, *$before, *$before, *$before, *$before, *$before, *$before]"
			before=$name
		done
	} >"$PLAN"
	run iosweep submit "$PLAN"
	echo "$output"
	[ "$status" -eq 2 ]
	grep -qi 'alias\|nodes\|expand' <<<"$output"
	[ $((SECONDS - began)) -le 5 ]
	[ "$(query 'SELECT count(*) FROM sweep')" = 0 ]
}

@test "of what a tool prints the beginning and the end are kept, at most 1 MiB of it, and its size" {
	daemon_start
	directory_plan 1 1 "[bash, -c, 'echo first; head -c 50000000 /dev/zero | tr \"\\\\0\" x; echo last']" >"$PLAN"
	iosweep submit "$PLAN" --wait
	query "SELECT bytes, kept FROM output WHERE stream = 'stdout'"
	[ "$(query "SELECT bytes >= 50000010, kept <= 1048576 FROM output WHERE stream = 'stdout'")" = '1|1' ]
	[ "$(awk '/VmHWM/ { print $2 }' "/proc/$DAEMON/status")" -le 40000 ] || [[ $B == */san* ]]
}

# Each failed trial is an event of some 500 bytes; a deaf watcher may leave 1 MiB of them unread.
@test "a watcher that never reads is dropped, another one gets every event, and the sweep does not wait" {
	daemon_start
	perl -MIO::Socket::UNIX -e '
		my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]);
		syswrite $s, "{\"version\":1,\"request\":\"watch\"}\n";
		sleep 1 until -e $ARGV[1];
		my ($n, $got) = (0, 0);
		$got += $n while $n = sysread $s, my $buf, 65536;
		print defined $n ? "closed after $got\n" : "lost after $got\n";' "$IOSWEEP_SOCKET" "$HOME_DIR/over" >"$HOME_DIR/deaf" 3>&- &
	local deaf=$!
	"$ROOT/tests/e2e/wire" follow "$IOSWEEP_SOCKET" '{"version":1,"request":"watch"}' >"$HOME_DIR/events" 3>&- &
	local watcher=$!
	local words
	words=$(printf 'why%.0s' {1..160})
	directory_plan "$(seq -s, 1 40)" 100 "[bash, -c, 'echo $words >&2; exit 1']" >"$PLAN"
	iosweep submit "$PLAN"
	wait_for 120 state_is failed
	answers_at_once
	: >"$HOME_DIR/over"
	wait $deaf
	cat "$HOME_DIR/deaf"
	grep -q 'reads too slowly: dropped' "$HOME_DIR/daemon.log"
	[ "$(sed 's/.*after //' "$HOME_DIR/deaf")" -lt 2000000 ]
	wait_for 10 grep -q '"event":"failed"' "$HOME_DIR/events"
	[ "$(grep -c '"event":"trial"' "$HOME_DIR/events")" -eq 4000 ]
	kill $watcher
}

@test "questions that need a child are answered four at a time, the others are told to try again" {
	daemon_start
	local n
	for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
		"$ROOT/tests/e2e/wire" ask "$IOSWEEP_SOCKET" '{"version":1,"request":"devices"}' >"$HOME_DIR/answer.$n" 3>&- &
	done
	wait $(jobs -p | grep -vx "$DAEMON")
	[ "$(cat "$HOME_DIR"/answer.* | wc -l)" -eq 12 ]
	grep -q 'such questions are being answered already; try again' "$HOME_DIR"/answer.*
	[ "$(grep -l '"ok":true' "$HOME_DIR"/answer.* | wc -l)" -ge 4 ]
	answers_at_once
	iosweep devices >/dev/null
}

@test "a full queue takes no more, and says what to do" {
	daemon_start
	directory_plan 1 1 '[sleep, "600"]' >"$PLAN"
	iosweep submit "$PLAN"
	iosweep submit "$PLAN"
	iosweep pause 2
	daemon_stop
	sqlite3 "$IOSWEEP_DB" "CREATE TEMP TABLE t AS SELECT * FROM sweep WHERE id = 2;
		UPDATE t SET id = NULL;
		WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
		INSERT INTO sweep SELECT i, randomblob(16), plan_id, host_id, state, $(sqlite3 "$IOSWEEP_DB" \
			"SELECT group_concat(name) FROM pragma_table_info('sweep') WHERE cid > 4") FROM t, n"
	[ "$(query 'SELECT count(*) FROM sweep')" = 10000 ]
	daemon_start
	run iosweep submit "$PLAN"
	echo "$output"
	[ "$status" -eq 1 ]
	grep -q 'the queue is full: 10000 sweeps have not ended' <<<"$output"
	grep -q 'cancel some of them' <<<"$output"
	iosweep cancel 10000
	iosweep submit "$PLAN"
	answers_at_once
}
