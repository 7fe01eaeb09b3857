#!/usr/bin/env bats
# The morning after: what the published studies say, asked by every command; and how stores of several hosts meet.
# No daemon and no root: all of it works on a store file.

load helpers

setup_file() {
	export IOSWEEP_DB=$BATS_FILE_TMPDIR/history.db
	local map
	for map in "$ROOT"/sweeps/history/*.yaml; do
		"$B/iosweep" import --csv "${map%.yaml}.csv" --map "$map" >/dev/null
	done
}

setup() {
	export IOSWEEP_DB=$BATS_FILE_TMPDIR/history.db
}

# JQ FILTER on the JSON of a command
ask() {
	local filter=$1
	shift
	iosweep "$@" --json | jq -r "$filter"
}

@test "nine matched pairs for readahead: reads +91.9 % (61 to 166), writes +0.01 %" {
	need jq
	local effect='.metrics[0].axes[0].effects[0] | "\(.pairs) \(.mean_percent * 10 | round) \(.min_percent | round) \(.max_percent | round)"'
	[ "$(ask "$effect" effects plan=md1120 -m dd-read.throughput -x readahead --from 256sectors --to 4096sectors)" = "9 919 61 165" ]
	[ "$(ask "$effect" effects plan=md1120 -m dd-write.throughput -x readahead --from 256sectors --to 4096sectors | cut -d ' ' -f 1,2)" = "9 0" ]
	iosweep effects plan=md1120 -m dd-write.throughput -x readahead | grep -q '^128KiB  2MiB       9  +0.01 %'
}

@test "xfs against ext3 in four pairs: writes better in all, reads in one, and the change of sign is named" {
	need jq
	local effect='.metrics[0].axes[0].effects[0] | "\(.from) \(.to) \(.better) of \(.pairs)"'
	[ "$(ask "$effect" effects plan=md1120 -m dd-write.throughput -x filesystem)" = "ext3 xfs 4 of 4" ]
	[ "$(ask "$effect" effects plan=md1120 -m dd-read.throughput -x filesystem)" = "ext3 xfs 1 of 4" ]
	[ "$(ask "$effect" effects plan=md1120 -m dd-read.throughput -x filesystem --from xfs --to ext3)" = "xfs ext3 3 of 4" ]
	iosweep effects plan=md1120 -m dd-read.throughput -x filesystem | grep -q 'ext3 -> xfs: +71.9 % with readahead=16MiB (1 pair), but -10.8 % with readahead=2MiB'
}

@test "the highest write among redundant layouts is a tie at 566" {
	need jq
	[ "$(ask '.metrics[] | select(.host == "pe1950") | "\(.value / 1e6) \(.best | length)"' best 'label.total_raid!=0' -m dd-write.throughput plan=md1120)" = "566 2" ]
	iosweep best 'label.total_raid!=0' plan=md1120 -m dd-write.throughput | grep -q '566 MB/s, a tie of 2 cells'
}

@test "bonnie++ 1.02 and 1.03e are not put into one comparison" {
	run iosweep query metric=bonnie.seeks
	[ "$status" -eq 2 ]
	[[ $output == *'44 of bonnie++ 1.02'* && $output == *'13 of bonnie++ 1.03e'* ]]
	[ "$(iosweep query metric=bonnie.seeks tool.bonnie++=1.03e --raw | wc -l)" -eq 13 ]
	[ "$(iosweep query metric=bonnie.seeks host=pe1950 --across tool --raw | wc -l)" -eq 57 ]
	run iosweep compare plan=md1120 plan=md1120-bonnie-1.03e
	[ "$status" -eq 2 ]
	[[ $output == *'nothing was compared: bonnie++ 1.02 against bonnie++ 1.03e'* ]]
	run iosweep compare plan=md1120 plan=md1120-bonnie-1.03e --across tool
	[ "$status" -eq 0 ]
	[[ $output == *'+96.8 % over 13 matched cells'* && $output == *tool.bonnie++* ]]
	[ "$(iosweep best host=pe1950 -m seeks --raw --columns metric | sort -u | wc -l)" -eq 2 ]
}

@test "rules of aggregation do not stand in one column" {
	run iosweep query metric=dd-write.throughput
	[ "$status" -eq 2 ]
	[[ $output == *'(median)'* && $output == *'(single)'* ]]
}

@test "the PE1850's three climbing trials carry a drift flag and are not ranked" {
	need jq
	[ "$(ask '.results[] | "\(.value) \(.min) \(.max) \(.n) \(.flags)"' query host=pe1850)" = "132 121 229 3 drift spread" ]
	[ "$(ask '.metrics[0] | "\(.candidates) \(.left_out.flagged)"' best host=pe1850)" = "0 1" ]
	[ "$(ask '.metrics[0].value' best host=pe1850 --flagged)" = 132 ]
	iosweep compare --hosts pe1850,pe2950 --flagged | grep -q 'with 3 against 3 trials the smallest two-sided p of a cell is 0.10'
}

@test "what never changes alone is not decided, and says what would decide it" {
	iosweep effects plan=md1120 -m dd-read.throughput -x label.sw_raid | grep -q 'not decidable: it never changes alone, label.total_raid changes along'
	run iosweep effects plan=pe2950-dd -x filesystem
	[[ $output == *'not decidable'* ]]
}

@test "unknown names: the nearest known ones are offered; a fault marks its column" {
	run iosweep query readahed=2MiB
	[ "$status" -eq 2 ]
	[[ $output == *"did you mean 'readahead'?"* ]]
	run iosweep query host=pe1950x
	[[ $status -eq 2 && $output == *"did you mean 'pe1950'?"* ]]
	run iosweep best -m dd-raed.throughput
	[[ $status -eq 2 && $output == *"did you mean 'dd-read.throughput'?"* ]]
	run iosweep effects plan=md1120 -x shceduler
	[[ $status -eq 2 && $output == *"did you mean 'scheduler'?"* ]]
	run iosweep compare 998 999
	[[ $status -eq 2 && $output == *"there is no sweep 998"* ]]
	run iosweep query 'filesystem=xfs readahead 2MiB'
	[ "$status" -eq 2 ]
	[ "${lines[2]}" = "                            ^" ]
}

@test "every format of query, grouped and not" {
	need jq
	[ "$(iosweep query plan=md1120 filesystem=ext3 -m dd-read.throughput --csv | wc -l)" -eq 5 ]
	[ "$(ask '.results | length' query plan=md1120 filesystem=ext3 -m dd-read.throughput)" -eq 4 ]
	[ "$(iosweep query plan=md1120 'dd-read.throughput>=1050MB/s' -m dd-read.throughput --raw | wc -l)" -eq 7 ]
	iosweep query plan=md1120 filesystem=ext3 --format markdown | grep -q '^| '
	iosweep query plan=md1120 filesystem=ext3 --format html | grep -q '<table>'
	[ "$(ask '.groups[] | select(.filesystem == "ext3") | "\(.count) \(.median / 1e6)"' query plan=md1120 -m dd-write.throughput -g filesystem --agg count,median)" = "4 340.5" ]
	[ "$(iosweep query state=imported since=2008-12 until=2008-12 --raw | wc -l)" -eq 13 ]
}

@test "history tells what changed between visits" {
	iosweep history "label.hw=24disk raid0" -m seeks --across tool | grep -q 'tool.bonnie++ 1.02 -> 1.03e'
}

@test "pictures: SVG and PNG by gnuplot with title and trials; a text chart without a file" {
	need gnuplot
	iosweep plot plan=md1120 -m dd-read.throughput 'label.hw=24disk raid6' -o "$BATS_TEST_TMPDIR/x.svg"
	grep -q '<svg' "$BATS_TEST_TMPDIR/x.svg"
	grep -q 'md1120 on pe1950; 2008-11-01; median of 1 trial' "$BATS_TEST_TMPDIR/x.svg"
	iosweep plot plan=md1120 -m dd-read.throughput 'label.hw=24disk raid6' -k heat -o "$BATS_TEST_TMPDIR/x.png"
	[ "$(head -c 4 "$BATS_TEST_TMPDIR/x.png" | tail -c 3)" = PNG ]
	iosweep plot plan=pe2950-pgbench -k bars | grep -q '^unstated, 100, pe1850 .* 132 '
	run iosweep plot plan=md1120
	[[ $status -eq 2 && $output == *'one metric at a time'* ]]
}

@test "show marks what best finds, and takes a filter" {
	need jq
	local metric id
	for id in $(iosweep list --raw --columns id); do
		for metric in $(iosweep show "$id" --json | jq -r '[.cells[].results | keys[]] | unique[]'); do
			diff <(iosweep best "$id" -m "$metric" --json | jq -c '[.metrics[] | (.best[].cell, .ties[].cell)] | sort') \
				<(iosweep show "$id" -m "$metric" --json |
					jq -c "[.cells[] | select(.results[\"$metric\"] | . != null and (.best or .tie)) | .cell] | sort")
		done
	done
	run iosweep show plan=md1120 filesystem=ext3
	[[ $status -eq 0 && $output == *'in every cell: '*'filesystem ext3'* && $output == *$'\n4 of 44 cells of the sweep meet the filter'* ]]
	[ "$(ask '[.cells[].axes.filesystem.value] | unique | join(",")' show plan=md1120 filesystem=ext3)" = ext3 ]
	[ "$(ask '[.cells[].results | keys[]] | unique | join(",")' show plan=md1120 metric=dd-read.throughput)" = dd-read.throughput ]
	run iosweep show 1 2
	[[ $status -eq 2 && $output == *"one sweep at a time"* ]]
	run iosweep show 1 filesistem=xfs
	[[ $status -eq 2 && $output == *"did you mean 'filesystem'"* ]]
}

@test "a store that may only be read is read" {
	need_root
	need setpriv
	local dir
	dir=$(mktemp -d /var/tmp/iosweep-test.XXXXXX)
	cp "$IOSWEEP_DB" "$dir/x.db"
	chmod 755 "$dir"
	chmod 644 "$dir/x.db"
	IOSWEEP_DB=$dir/x.db setpriv --reuid 65534 --clear-groups "$B/iosweep" best plan=md1120 >/dev/null
	[ "$(ls "$dir")" = x.db ]
	rm -r "$dir"
}

@test "export and import: any order, any number of times; a cut file is refused and changes nothing" {
	local x=$BATS_TEST_TMPDIR
	iosweep export plan=md1120 -o "$x/a" 2>/dev/null
	iosweep export 'plan=pe*' -o "$x/b" 2>/dev/null
	IOSWEEP_DB=$x/1.db iosweep import "$x/a" "$x/b" "$x/a" >/dev/null
	IOSWEEP_DB=$x/2.db iosweep import "$x/b" "$x/a" "$x/b" >/dev/null
	diff <(IOSWEEP_DB=$x/1.db iosweep query --csv --columns plan,host,config,metric,value,flags | sort) \
		<(IOSWEEP_DB=$x/2.db iosweep query --csv --columns plan,host,config,metric,value,flags | sort)
	head -c 9000 "$x/a" >"$x/cut"
	IOSWEEP_DB=$x/3.db run iosweep import "$x/cut"
	[[ $status -eq 2 && $output == *'is cut short (byte '* ]]
	[ "$(IOSWEEP_DB=$x/3.db iosweep list --raw 2>/dev/null | wc -l)" -eq 0 ]
}

@test "JSON lines: what another program filtered comes back; a fault is named by line and column, and nothing is imported" {
	local line x=$BATS_TEST_TMPDIR
	iosweep export 'plan=md1120,pe*' --lines >"$x/a.jsonl"
	gzip -k "$x/a.jsonl"
	IOSWEEP_DB=$x/1.db iosweep import "$x/a.jsonl.gz" "$x/a.jsonl" >/dev/null
	IOSWEEP_DB=$x/1.db iosweep export --lines | sort >"$x/again"
	diff <(grep -v '"type":"end"' "$x/a.jsonl" | sort) <(grep -v '"type":"end"' "$x/again")
	# the trials of one workload alone, and the end line corrected
	grep -v '"type":"trial".*"workload":"bonnie' "$x/a.jsonl" | head -n -1 >"$x/some.jsonl"
	echo "{\"type\":\"end\",\"lines\":$(wc -l <"$x/some.jsonl")}" >>"$x/some.jsonl"
	IOSWEEP_DB=$x/2.db iosweep import "$x/some.jsonl" >/dev/null
	[ "$(IOSWEEP_DB=$x/2.db iosweep query --csv --columns metric | grep -c bonnie)" -eq 0 ]
	[ "$(IOSWEEP_DB=$x/2.db iosweep query --csv --columns metric | grep -c dd-read)" -gt 10 ]
	line=$(grep -n '"type":"sweep"' "$x/a.jsonl" | head -1 | cut -d : -f 1)
	sed "${line}s/\"priority\":0/\"priority\":\"high\"/" "$x/a.jsonl" >"$x/bad.jsonl"
	IOSWEEP_DB=$x/3.db run iosweep import "$x/bad.jsonl"
	[[ $status -eq 2 && $output == *'/bad.jsonl:'$line:*": 'priority' is not a whole number"*'nothing was imported'* ]]
	[ "$(IOSWEEP_DB=$x/3.db iosweep list --raw 2>/dev/null | wc -l)" -eq 0 ]
}

@test "pull takes from all hosts that answer, goes on when one is down, and asks only for what is lacking" {
	local x=$BATS_TEST_TMPDIR
	mkdir "$x/bin"
	iosweep export plan=md1120 -o "$x/a" 2>/dev/null
	iosweep export plan=pe2950-pgbench -o "$x/b" 2>/dev/null
	IOSWEEP_DB=$x/db1.db iosweep import "$x/a" >/dev/null
	IOSWEEP_DB=$x/db2.db iosweep import "$x/b" >/dev/null
	cat >"$x/bin/ssh" <<-END
	#!/bin/bash
	while [ "\$1" != -- ]; do shift; done
	host=\$2; shift 2
	[ \$host != db3 ] || { echo "ssh: connect to host db3 port 22: No route to host" >&2; exit 255; }
	echo "\$host \$*" >>"$x/calls"
	IOSWEEP_DB=$x/\$host.db exec "\$@"
	END
	chmod +x "$x/bin/ssh"
	export PATH=$x/bin:$PATH IOSWEEP_DB=$x/all.db
	run iosweep pull db1 db2 db3
	[ "$status" -eq 1 ]
	[[ $output == *'db1: 1 new sweep,'* && $output == *'db2: 2 new sweeps'* && $output == *'db3: ssh: connect to host db3'* ]]
	[ "$(iosweep list --raw | wc -l)" -eq 3 ]
	rm "$x/calls"
	run iosweep pull db1 db2
	[ "$status" -eq 0 ]
	[ "$(wc -l <"$x/calls")" -eq 2 ]
	run iosweep pull -- -oProxyCommand=x
	[ "$status" -eq 2 ]
}

@test "notes and labels; a backup is one whole file" {
	cp "$IOSWEEP_DB" "$BATS_TEST_TMPDIR/x.db"
	export IOSWEEP_DB=$BATS_TEST_TMPDIR/x.db
	iosweep label last team=storage
	[ "$(iosweep label last --raw)" = $'team\tstorage' ]
	[ "$(iosweep query label.team=storage --raw --columns plan | sort -u)" = r910 ]
	iosweep annotate last "cold weather"
	[ "$(iosweep sql "SELECT note FROM sweeps WHERE note <> ''" --raw)" = "cold weather" ]
	iosweep backup "$BATS_TEST_TMPDIR/copy.db"
	[ "$(IOSWEEP_DB=$BATS_TEST_TMPDIR/copy.db iosweep label last --raw)" = $'team\tstorage' ]
	run iosweep backup "$BATS_TEST_TMPDIR/copy.db"
	[ "$status" -eq 2 ]
}

@test "a regression ends with status 4, noise does not" {
	local x=$BATS_TEST_TMPDIR i
	table() { # NAME FACTOR: six cells of three trials
		printf 'c,r,v\n' >"$x/$1.csv"
		for i in 1 2 3 4 5 6; do
			awk -v i="$i" -v f="$2" 'BEGIN { for (r = 1; r <= 3; r++) printf "%d,%d,%.3f\n", i, r, f * (100 * i + (r * 7 + i * 3) % 5 - 2) }'
		done >>"$x/$1.csv"
		cat >"$x/$1.yaml" <<-END
		import: $1
		source: test
		published: 2026-01
		keep: median
		host: {value: h}
		repetition: {column: r}
		axes: {label.cell: {column: c}}
		metrics: {job.rate: {column: v, unit: 1/s, better: higher}}
		END
		iosweep import --csv "$x/$1.csv" --map "$x/$1.yaml" >/dev/null
	}
	export IOSWEEP_DB=$x/r.db
	table before 1.00
	table slower 0.90
	table same 0.995
	run iosweep compare plan=before plan=slower --fail-on-regression 5%
	[ "$status" -eq 4 ]
	[[ $output == *regression* ]]
	run iosweep compare plan=before plan=same --fail-on-regression 5%
	[ "$status" -eq 0 ]
	run iosweep compare plan=slower plan=before --fail-on-regression 5%
	[ "$status" -eq 0 ]
	run iosweep compare plan=before plan=slower --fail-on-regression lots
	[ "$status" -eq 2 ]
}

@test "a table with many labels of a metric shows some of them and says so" {
	local x=$BATS_TEST_TMPDIR i
	{
		echo "fs,n,$(seq -s, -f 'l%g' 1 20)"
		echo "xfs,100,$(seq -s, 1 20)"
		echo "ext4,90,$(seq -s, 2 21)"
	} >"$x/wide.csv"
	{
		printf 'import: wide\nsource: made\npublished: 2020\nkeep: single\nhost: {value: h}\naxes:\n  filesystem: {column: fs}\n'
		printf "workloads:\n  w: {}\nmetrics:\n  w.rate: {column: n, unit: 1/s, better: higher}\n"
		for i in $(seq 20); do
			echo "  'w.lat{$i KiB}': {column: l$i, unit: ms, better: lower}"
		done
	} >"$x/wide.yaml"
	export IOSWEEP_DB=$x/wide.db
	iosweep import --csv "$x/wide.csv" --map "$x/wide.yaml" >/dev/null
	run iosweep show
	[[ $output == *'not shown, 17 labels of w.lat (--metric w.lat shows all)'* && $output == *'3 KiB'* && $output != *'4 KiB'* ]]
	[[ $output == *'all figures are single: '* ]]
	run iosweep show -m w.lat
	[[ $output != *'not shown'* && $output == *'20 KiB'* ]]
	[ "$(iosweep show --csv | head -1 | grep -o 'w.lat{[0-9]* KiB},' | wc -l)" -eq 20 ]
}
