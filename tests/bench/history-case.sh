#!/bin/bash
# One case of the history benchmark: prints the milliseconds it took.  IOSWEEP_DB is the store; see history.sh.
# usage: history-case.sh CASE
set -euo pipefail

newest() { # HOST: its newest sweep of plan-03
	echo "(SELECT w.id FROM sweep w JOIN host h ON h.id = w.host_id JOIN plan p ON p.id = w.plan_id WHERE h.name = '$1' AND p.name = 'plan-03' ORDER BY w.started_ms DESC LIMIT 1)"
}

run() {
	case $1 in
	show) iosweep show 100 --csv ;;
	show-sql) sqlite3 "$IOSWEEP_DB" "SELECT c.position, m.name, r.value, r.min, r.max, r.n, r.flags, (SELECT group_concat(a.name || '=' || v.value)
		FROM config_value k JOIN axis_value v ON v.id = k.axis_value_id JOIN axis a ON a.id = v.axis_id WHERE k.config_id = c.config_id)
		FROM cell c JOIN result r ON r.cell_id = c.id JOIN metric m ON m.id = r.metric_id WHERE c.sweep_id = 100 ORDER BY c.position" ;;
	best) iosweep best host=db1 -m throughput ;;
	best-sql) sqlite3 "$IOSWEEP_DB" "SELECT r.value, r.min, r.max, r.n, c.sweep_id, c.position, (SELECT group_concat(a.name || '=' || v.value)
		FROM config_value k JOIN axis_value v ON v.id = k.axis_value_id JOIN axis a ON a.id = v.axis_id WHERE k.config_id = c.config_id)
		FROM result r JOIN cell c ON c.id = r.cell_id WHERE r.host_id = (SELECT id FROM host WHERE name = 'db1') AND r.metric_id =
		(SELECT id FROM metric WHERE name = 'throughput' LIMIT 1) ORDER BY r.value DESC LIMIT 250" ;;
	compare) iosweep compare --hosts db1,db2 plan=plan-03 --csv ;;
	compare-sql) sqlite3 "$IOSWEEP_DB" "SELECT x.config_id, r.metric_id, r.value, q.value, (SELECT group_concat(value) FROM measurement t WHERE
		t.cell_id = x.id AND t.metric_id = r.metric_id), (SELECT group_concat(value) FROM measurement t WHERE t.cell_id = y.id AND
		t.metric_id = r.metric_id) FROM cell x JOIN cell y ON y.config_id = x.config_id AND y.sweep_id = $(newest db2) JOIN result r ON
		r.cell_id = x.id JOIN result q ON q.cell_id = y.id AND q.metric_id = r.metric_id WHERE x.sweep_id = $(newest db1)" ;;
	effects) iosweep effects 100 --json ;;
	first-row) head -2 < <(iosweep query filesystem=xfs --csv 2>/dev/null) ;; # what comes after it is not waited for
	first-row-sql) head -2 < <(sqlite3 -csv "$IOSWEEP_DB" "SELECT c.id, r.value FROM axis a JOIN axis_value v ON v.axis_id = a.id JOIN config_value k ON
		k.axis_value_id = v.id JOIN cell c ON c.config_id = k.config_id JOIN result r ON r.cell_id = c.id WHERE a.name = 'filesystem' AND
		v.value = 'xfs'" 2>/dev/null) ;;
	import-again) iosweep import "$BENCH_DIR/export" ;;
	*) echo "history-case.sh: unknown case '$1'" >&2; exit 2 ;;
	esac
}

start=${EPOCHREALTIME/./}
run "$1" >/dev/null 2>"$BENCH_DIR/remarks" || { cat "$BENCH_DIR/remarks" >&2; exit 1; }
echo "$(((${EPOCHREALTIME/./} - start) / 1000)).$(((${EPOCHREALTIME/./} - start) % 1000 / 100))"
