#!/usr/bin/env bats
# The four studies' plans from end to end: their cells and tools on an image file, in small.  The host lists no device.
# `make check-rehearse`; ten minutes together at the most, on two cores.

load ../e2e/helpers

setup_file() { export STUDIES_BEGAN=$EPOCHSECONDS; } # SECONDS begins anew with each test
setup() {
	need_root
	need jq bonnie++
	daemon_setup
	daemon_start
}
teardown() { daemon_teardown; }

# rehearse STUDY CELLS: $SHOWN is its JSON, $TABLE the table for people.
rehearse() {
	SHOWN=$HOME_DIR/show.json TABLE=$HOME_DIR/table
	iosweep submit "$ROOT/sweeps/$1.yaml" --rehearse --wait --quiet >"$TABLE" || { cat "$TABLE"; iosweep show last --trials; return 1; }
	iosweep show last --json >"$SHOWN"
	echo "$1 took $(query 'SELECT (ended_ms - started_ms) / 1000 FROM sweep') s" >&3
	grep -q '^A rehearsal' "$TABLE"
	[ "$(sweep_state)" = done ]
	[ "$(jq '.cells | length' "$SHOWN")" = "$2" ]
	[ "$(query "SELECT target_kind FROM sweep")" = image ]
	nothing_left
	[ -z "$(iosweep query state=ok --raw 2>/dev/null | tail -n +2)" ] # by themselves, its figures are nobody's
}

figures() { jq --arg k "$1" '[.cells[].results[$k].value | select(. != null and . > 0)] | length' "$SHOWN"; }

# has COUNT METRIC...: the table has a column for each, and COUNT cells a figure above 0
has() {
	local count=$1 key
	shift
	for key; do
		[ "$(figures "$key")" = "$count" ] || { echo "$key is not in $count cells"; cat "$TABLE"; return 1; }
	done
}

@test "study 1: dd write, dd read, seeks and tps" {
	rehearse md1120-perc6 28
	has 28 dd-write.throughput dd-read.throughput bonnie.random_seeks
	has 6 tpcb-100.tps select-100.tps tpcb-1000.tps select-1000.tps
	for column in dd-write dd-read bonnie tpcb-100 select-100 tpcb-1000 select-1000; do grep -q "$column" "$TABLE"; done
	grep -q 'throughput.*random_seeks.*tps' "$TABLE"
	[ "$(jq -r '[.cells[].axes["label.hw"].value] | unique | length' "$SHOWN")" = 5 ] # layouts are labels, and stay
}

@test "study 2: dd with the sync, bonnie++ and pgbench, short and long" {
	rehearse pe2950-perc5 12
	has 12 dd-write-sync.throughput bonnie.random_seeks pgbench-short.tps pgbench-long.tps
}

@test "study 3: bonnie++ blocks; iozone, or the reason why there is none" {
	rehearse r910-h700 3
	has 3 bonnie.seq_output_block
	[ "$(figures bonnie.seq_input_block)" -ge 1 ] # read in less than half a second is no figure to bonnie++
	if command -v iozone >/dev/null; then
		jq -e '.cells[0].results | keys | any(startswith("iozone.write{"))' "$SHOWN"
	else
		[ "$(jq '[.cells[] | select(.state == "infeasible" and (.reason | startswith("iozone: needs '"'iozone'"', which is not installed")))] | length' \
			"$SHOWN")" = 3 ]
	fi
	[ "$(jq -r '.sweep.keep' "$SHOWN")" = mean ]
}

@test "study 4: one stream cold and warm, two streams, files copied by four" {
	rehearse md1000-perc5e 2
	has 2 dd-read.throughput dd-read-warm.throughput dd-read-two.throughput 'dd-read-two.stream{1}' 'dd-read-two.stream{2}' \
		copy-tree.throughput
}

@test "the four took less than ten minutes" {
	echo "the four took $((EPOCHSECONDS - STUDIES_BEGAN)) s" >&3
	[ $((EPOCHSECONDS - STUDIES_BEGAN)) -lt 600 ]
}
