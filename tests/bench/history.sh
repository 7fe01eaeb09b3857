#!/bin/bash
# The history benchmark: 1,000,000 trials of five metrics in one store, each report beside hand-written SQL over the same file.
# The store is kept in BUILD/bench for the next run, and made anew when its generator or the schema changed.
# usage: tests/bench/history.sh BUILD [SWEEPS]
set -euo pipefail
B=$(cd "$1" && pwd)
sweeps=${2:-334}
rounds=${ROUNDS:-10}
top=$PWD
export PATH=$B:$PATH
BENCH_DIR=$(mktemp -d /var/tmp/iosweep-bench.XXXXXX)
export BENCH_DIR IOSWEEP_DB=$B/bench/history-$sweeps.db
trap 'rm -rf --one-file-system "$BENCH_DIR"' EXIT
if [ ! -f "$IOSWEEP_DB" ] || [ "$B/bench/store_gen" -nt "$IOSWEEP_DB" ]; then
	rm -f "$IOSWEEP_DB"*
	"$B/bench/store_gen" "$BENCH_DIR/history.db" "$sweeps" >/dev/null
	mv "$BENCH_DIR/history.db" "$IOSWEEP_DB"
fi
bytes=$(stat -c %s "$IOSWEEP_DB")
measurements=$(sqlite3 "$IOSWEEP_DB" 'SELECT count(*) FROM measurement')
echo "== history: $measurements measurements, $((bytes / measurements)) bytes each"

case_of() { echo "$1=$top/tests/bench/history-case.sh $2"; }
for what in show best compare first-row; do
	limit='limit 100 ms, 1.5 x hand-written'
	[ "$what" != first-row ] || limit='of a query over all history: limit 100 ms'
	echo "-- $what ($limit)"
	"$B/bench/rounds" "$rounds" ms "$(case_of SQL $what-sql)" "$(case_of iosweep $what)"
done
echo "-- effects over a 1,000-cell sweep (limit 200 ms)"
"$B/bench/rounds" "$rounds" ms "$(case_of iosweep effects)" "$(case_of again effects)"

# 33 sweeps are about 100,000 trials
mapfile -t ids < <(seq 1 33)
iosweep export "${ids[@]}" --no-outputs -o "$BENCH_DIR/export" 2>/dev/null
echo "-- merging 33 sweeps that are there already (limit 1,000 ms)"
"$B/bench/rounds" 3 ms "$(case_of iosweep import-again)" "$(case_of again import-again)"
echo "-- importing them into an empty store (at least 20,000 trials a second)"
start=${EPOCHREALTIME/./}
IOSWEEP_DB=$BENCH_DIR/fresh.db "$B/bench/peak" iosweep import "$BENCH_DIR/export"
took=$((${EPOCHREALTIME/./} - start))
trials=$(sqlite3 "$BENCH_DIR/fresh.db" 'SELECT count(*) FROM trial')
echo "$trials trials in $((took / 1000)) ms: $((trials * 1000000 / took)) a second"
echo "-- memory (limit 64 MiB)"
for command in 'show 100' 'show 100 --trials --json' 'best host=db1' 'best filesystem=xfs' 'compare --hosts db1,db2 plan=plan-03' \
	'compare --hosts db1,db2 --json' 'effects 100' 'query filesystem=xfs scheduler=bfq --csv' 'query filesystem=xfs --limit 0' \
	'history plan=plan-03 -m throughput'; do
	echo "$command"
	# shellcheck disable=SC2086 # words of the command
	"$B/bench/peak" iosweep $command
done
