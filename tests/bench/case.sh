#!/bin/bash
# One case of a benchmark: prints the cost of one unit in milliseconds as its last line.
# usage: tests/bench/case.sh NAME   (in an environment made by tests/bench/run.sh)
set -eu
now() { echo "${EPOCHREALTIME/./}"; }
per() { awk -v us="$1" -v n="$2" 'BEGIN { printf "%.6f\n", us / 1000 / n }'; }

case $1 in
spawn) exec "$BENCH/floor" spawn 1000 /bin/true ;;
iosweep) # 1,000 cells x 3 trials through daemon and command
	start=$(now)
	iosweep submit "$BENCH_DIR/dispatch.yaml" --wait >/dev/null 2>&1
	per $(($(now) - start)) $((${CELLS:-1000} * 3)) ;;
tsp)
	export TS_SOCKET=$BENCH_DIR/tsp.$$ TMPDIR=$BENCH_DIR
	start=$(now)
	for ((i = 0; i < 300; i++)); do tsp /bin/true >/dev/null; done
	tsp -w
	end=$(now)
	tsp -K
	per $((end - start)) 300 ;;
parallel)
	start=$(now)
	seq 100 | parallel --will-cite -j1 --joblog "$BENCH_DIR/joblog" -N0 /bin/true
	per $(($(now) - start)) 100 ;;
cell-floor) exec "$BENCH/floor" cell 20 "$BENCH_DEVICE" "$BENCH_DIR/mnt" ;;
cell-shell)
	disk=/sys/block/${BENCH_DEVICE#/dev/}/queue
	start=$(now)
	for ((i = 0; i < 20; i++)); do
		if ((i % 2)); then s=none r=256; else s=mq-deadline r=512; fi
		echo $s >"$disk/scheduler"
		mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$BENCH_DEVICE"
		mount -t ext4 -o nosuid,nodev "$BENCH_DEVICE" "$BENCH_DIR/mnt"
		blockdev --setra $((r * 2)) "$BENCH_DEVICE"
		sync -f "$BENCH_DIR/mnt"
		echo 3 >/proc/sys/vm/drop_caches
		umount "$BENCH_DIR/mnt"
		wipefs -q -a "$BENCH_DEVICE"
	done
	per $(($(now) - start)) 20 ;;
cell-iosweep) # the steps' own times, claim to undo, without the commands that only describe
	iosweep submit "$BENCH_DIR/cells.yaml" --wait >/dev/null 2>&1
	sqlite3 -readonly "$IOSWEEP_DB" "SELECT printf('%.6f', sum(elapsed_ns) / 1e6 / 20) FROM step_run
		JOIN cell ON cell.id = cell_id WHERE step <> 'describe' AND sweep_id = (SELECT max(id) FROM sweep)" ;;
*) echo "case.sh: unknown case '$1'" >&2; exit 2 ;;
esac
