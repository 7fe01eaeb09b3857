#!/bin/bash
# make bench: the targets of speed and memory, each measured side by side with its reference in one run.
# usage: tests/bench/run.sh BUILD [dispatch|cell|idle|trial|check]...
set -euo pipefail
B=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- dispatch cell idle trial check
rounds=${ROUNDS:-10}
top=$PWD
export BENCH=$B/bench PATH=$B:$PATH IOSWEEP_DATA=$top/sweeps
BENCH_DIR=$(mktemp -d /var/tmp/iosweep-bench.XXXXXX)
chmod 755 "$BENCH_DIR"
export BENCH_DIR IOSWEEP_SOCKET=$BENCH_DIR/socket IOSWEEP_DB=$BENCH_DIR/state/iosweep.db
daemon='' device=''
finish() {
	[ -z "$daemon" ] || { kill -TERM "$daemon"; wait "$daemon" || true; }
	[ -z "$device" ] || losetup -d "$device"
	rm -rf --one-file-system "$BENCH_DIR"
}
trap finish EXIT

mkdir "$BENCH_DIR/scratch" "$BENCH_DIR/images" "$BENCH_DIR/mnt"
chmod 1777 "$BENCH_DIR/scratch"
truncate -s 2G "$BENCH_DIR/disk.img"
device=$(losetup -f --show "$BENCH_DIR/disk.img")
export BENCH_DEVICE=$device
cat >"$BENCH_DIR/iosweepd.yaml" <<END
state: $BENCH_DIR/state
socket: $BENCH_DIR/socket
group: root
user: nobody
images: {path: $BENCH_DIR/images, max: 4GiB, keep-free: 64MiB}
directories: {scratch: $BENCH_DIR/scratch}
devices: {disk: {backing-file: $BENCH_DIR/disk.img}}
END
cat >"$BENCH_DIR/dispatch.yaml" <<END
plan: dispatch
target: {directory: scratch}
matrix: {label.n: [$(seq -s, ${CELLS:-1000})]}
workloads:
  - command: {run: [[/bin/true]], warm: yes}
settle: 0
trials: 3
END
cat >"$BENCH_DIR/cells.yaml" <<END
plan: cells
target: {device: disk, erase: yes}
matrix:
  filesystem: ext4
  zip: # as the references: another scheduler and readahead in each cell
$(for ((i = 0; i < 20; i++)); do
	if ((i % 2)); then s=none r=256; else s=mq-deadline r=512; fi
	echo "    - {label.n: $i, scheduler: $s, readahead: ${r}KiB}"
done)
workloads:
  - command: {run: [[/bin/true]], warm: yes}
settle: 0
trials: 1
END
iosweepd --config "$BENCH_DIR/iosweepd.yaml" 2>"$BENCH_DIR/log" &
daemon=$!
until [ -S "$IOSWEEP_SOCKET" ]; do sleep 0.05; done

cat >"$BENCH_DIR/sleep.yaml" <<END
plan: sleep
target: {device: disk, erase: yes}
matrix: {filesystem: ext4, scheduler: mq-deadline}
workloads:
  - command: {run: [[sleep, 20]], warm: yes}
settle: 0
trials: 1
END
status() { awk -v key="$2:" '$1 == key { print $2 }' "/proc/$1/status"; } # PID KEY
switches() { echo $(($(status "$1" voluntary_ctxt_switches) + $(status "$1" nonvoluntary_ctxt_switches))); } # PID

for what; do
	echo "== $what"
	case $what in
	dispatch) "$BENCH/rounds" "$rounds" ms/trial "posix_spawn=$top/tests/bench/case.sh spawn" \
		"iosweep=$top/tests/bench/case.sh iosweep" "task-spooler=$top/tests/bench/case.sh tsp" \
		"parallel --joblog=$top/tests/bench/case.sh parallel" ;;
	cell) "$BENCH/rounds" "$rounds" ms/cell "bare C=$top/tests/bench/case.sh cell-floor" \
		"iosweep=$top/tests/bench/case.sh cell-iosweep" "shell=$top/tests/bench/case.sh cell-shell" ;;
	idle)
		before=$(switches "$daemon")
		sleep 10
		after=$(switches "$daemon")
		echo "idle daemon: $(status "$daemon" VmRSS) KiB resident, $((after - before)) context switches in 10 s" ;;
	trial)
		iosweep submit "$BENCH_DIR/sleep.yaml" >/dev/null
		until [ "$(sqlite3 -readonly "$IOSWEEP_DB" "SELECT count(*) FROM trial WHERE state = 'running'")" = 1 ]; do sleep 0.1; done
		worker=$(pgrep -P "$daemon" -f -- --worker)
		sleep 1
		before=$(switches "$daemon") worker_before=$(switches "$worker") log=$(stat -c '%s %Y' "$IOSWEEP_DB-wal")
		sleep 10
		after=$(switches "$daemon") worker_after=$(switches "$worker")
		[ "$log" = "$(stat -c '%s %Y' "$IOSWEEP_DB-wal")" ] && commits=no || commits=a
		echo "while a trial runs, in 10 s: daemon $((after - before)), worker $((worker_after - worker_before))" \
			"context switches, $commits commit; worker $(status "$worker" VmRSS) KiB resident"
		iosweep wait last >/dev/null ;;
	check)
		axis=$(seq -s, 10)
		printf 'plan: million\ntarget: {image: 1GiB}\nmatrix: {filesystem: ext4, %s}\nworkloads: [dd-write]\n' \
			"$(for a in a b c d e f; do printf 'label.%s: [%s], ' $a "$axis"; done)" >"$BENCH_DIR/million.yaml"
		for ((i = 0; i < rounds; i++)); do
			/usr/bin/env bash -c 'TIMEFORMAT="%R s"; time iosweep check "$1" >/dev/null' check "$BENCH_DIR/million.yaml"
		done 2>&1 | sort -n | sed -n "$(((rounds + 1) / 2))p" | sed 's/^/check of 1,000,000 cells: median /'
		"$BENCH/peak" iosweep check "$BENCH_DIR/million.yaml" ;;
	*) echo "run.sh: unknown benchmark '$what'" >&2; exit 2 ;;
	esac
done
