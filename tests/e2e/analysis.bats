#!/usr/bin/env bats
# The morning after: what the published studies say, asked by every command; and how stores of several hosts meet.
# No daemon and no root: all of it works on a store file.

bats_require_minimum_version 1.5.0

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

# The largest of the nine is 1038 MB/s against 391: +165.47 %, which is 165; 166 is that figure rounded twice, by way of 165.5.
@test "nine matched pairs for readahead: reads +91.9 % (61 to 165), writes +0.01 %" {
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
	local command
	for command in 'best 998' 'effects 998' 'plot 998' 'query 998' 'history 998' 'compare 998 999'; do # no filter that nobody wrote
		run iosweep $command
		[[ $status -eq 2 && ${lines[0]} == "iosweep: there is no sweep 998" ]] || { echo "$command: $output"; false; }
	done
	run iosweep best -m nonsense
	[[ $status -eq 2 && ${lines[0]} == "iosweep: no metric 'nonsense' in this store" ]] || { echo "$output"; false; }
	run iosweep best metric=nonsense
	[[ $status -eq 2 && ${lines[1]} == "    metric=nonsense" ]] || { echo "$output"; false; }
	run iosweep query 'filesystem=xfs readahead 2MiB'
	[ "$status" -eq 2 ]
	[ "${lines[2]}" = "                            ^" ]
}

@test "a word that is neither a sweep's name nor a filter: what is missing is named, and where" {
	local word
	for word in 'filesystem~xfs' 'filesystem:xfs' 'filesystem==xfs'; do
		run iosweep best "$word"
		[ "$status" -eq 2 ]
		[[ $output == *"column 11: "*"after 'filesystem' is no operator: write one of = != < <= > >="* ]]
		[[ $output == *$'\n    '"$word"$'\n              ^\n'*'a filter is such as filesystem=xfs; a sweep is named by its number'* ]]
	done
	run iosweep show filesystem
	[ "$status" -eq 2 ]
	[[ $output == *"column 11: an operator is missing after 'filesystem'"* ]]
	run iosweep compare xfs ext3
	[ "$status" -eq 2 ]
	[[ $output == *"an operator is missing after 'xfs'"* ]]
	run iosweep effects lats
	[ "$status" -eq 2 ]
	[[ $output == *"did you mean 'last'?"* ]]
}

@test "trials of a metric are those of its workload, and what is not known of a trial is not 0" {
	need jq
	[ "$(ask '[.cells[].trials[].workload] | unique | join(" ")' show 3 --trials -m dd-read.throughput)" = dd-read ]
	[ "$(ask '[.cells[].trials[].workload] | unique | join(" ")' show 3 --trials metric=dd-read.throughput)" = dd-read ]
	[ "$(ask '[.cells[].trials[].measured | keys[]] | unique | join(" ")' show 3 --trials -m throughput)" = "dd-read.throughput dd-write.throughput" ]
	[ "$(ask '[.cells[].results | keys[]] | unique | join(" ")' show 3 -m 'dd-w*,see?s')" = "bonnie.seeks dd-write.throughput" ]
	[ "$(ask '[.cells[].trials[].workload] | unique | join(" ")' show 3 --trials)" = "bonnie dd-read dd-write" ]
	[ "$(iosweep show 3 --trials -m dd-read.throughput --csv --columns workload | tr -d "\r" | sort -u)" = $'dd-read\nworkload' ]
	[ "$(ask '[.cells[].trials[] | .elapsed_ns, .user_ns, .system_ns, .read_bytes] | unique == [null]' show 3 --trials)" = true ]
	[ "$(iosweep show 3 --trials --csv --columns elapsed_ns,cpu_ns | tr -d "\r" | sort -u)" = $',\nelapsed_ns,cpu_ns' ]
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
	# labels that follow from another one are not in the names
	iosweep plot plan=md1120 -m dd-write.throughput readahead=2MiB -k bars | grep -q '^xfs, 24disk raid10, cfq .* 544 '
	# a history lies in time, whatever the number of visits
	iosweep plot 'plan=md1120*' -m bonnie.seeks 'label.hw=24disk raid0' -k history --across tool -o "$BATS_TEST_TMPDIR/h.svg"
	grep -q '2008-11-1[0-9]' "$BATS_TEST_TMPDIR/h.svg"
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
	# in a pivot the best of each column
	run iosweep show plan=md1120 'label.hw=24disk raid10' --rows filesystem,scheduler --cols readahead -m dd-read.throughput
	[[ $output == *'xfs         cfq              519.0*      836.0~      853.0*      976.0*     1035.0*'*'best of its column'* ]]
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

@test "what a killed import left behind is removed by the next, what a running one uses is not" {
	need flock
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
	mkdir -p "$TMPDIR"/iosweep.{killed,inused,recent} "$TMPDIR/iosweep.longer-name"
	touch "$TMPDIR"/iosweep.{killed,inused,recent}/sweeps.db "$TMPDIR"/iosweep.killed/sweeps.db-wal
	touch -d '10 minutes ago' "$TMPDIR"/iosweep.{killed,inused,longer-name}
	ln -s /etc "$TMPDIR/iosweep.linked"
	exec 9<"$TMPDIR/iosweep.inused"
	flock 9
	iosweep export 9 -o "$BATS_TEST_TMPDIR/nine"
	exec 9<&-
	[ "$(ls "$TMPDIR")" = $'iosweep.inused\niosweep.linked\niosweep.longer-name\niosweep.recent' ]
	[ -f "$TMPDIR/iosweep.inused/sweeps.db" ]
	IOSWEEP_DB=$BATS_TEST_TMPDIR/mine.db iosweep import "$BATS_TEST_TMPDIR/nine"
	[ "$(ls "$TMPDIR")" = $'iosweep.linked\niosweep.longer-name\niosweep.recent' ]
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
	# a file that cannot be written whole leaves nothing behind
	iosweep export plan=md1120 --lines -o "$x/file.jsonl"
	diff <(iosweep export plan=md1120 --lines) "$x/file.jsonl"
	ln -s /dev/full "$x/full.part"
	run iosweep export plan=md1120 --lines -o "$x/full"
	[[ $status -ne 0 && $output == *"No space left on device"* && ! -e $x/full ]]
	run bash -c "iosweep export plan=md1120 --lines >/dev/full"
	[ "$status" -ne 0 ]
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

@test "a store made by hand speaks to no terminal, is valid JSON, and is not imported" {
	need jq sqlite3
	local bad=$BATS_TEST_TMPDIR/bad.db command
	iosweep backup "$bad" 2>/dev/null
	sqlite3 "$bad" "UPDATE host SET name = name || char(27) || '[31m' || cast(x'ff' AS TEXT);
		UPDATE plan SET name = name || char(155), about = about || char(27) || ']0;x' || char(7);
		UPDATE sweep SET reason = char(27), note = cast(x'c0' AS TEXT), source = char(7);
		UPDATE axis SET name = name || char(27) || cast(x'fe' AS TEXT) WHERE name = 'scheduler';
		UPDATE spelling SET text = text || char(27) || cast(x'fe' AS TEXT); UPDATE axis_value SET value = value || char(27) WHERE number IS NULL;
		UPDATE metric SET name = name || char(27), unit = unit || char(27); UPDATE sweep_workload SET name = name || char(155);
		UPDATE result SET flags = flags || ' ' || char(27); UPDATE environment_fact SET value = value || char(27) || cast(x'ff' AS TEXT);
		UPDATE result SET value = 9e999, max = 9e999 WHERE cell_id % 5 = 1; UPDATE result SET min = -9e999 WHERE cell_id % 7 = 1;
		UPDATE measurement SET value = -9e999 WHERE trial_id % 5 = 1"
	export IOSWEEP_DB=$bad
	for command in 'list' 'show 3' 'show 3 --trials' 'show 3 --by readahead*' 'best --pareto' 'effects 3' 'compare 3 3' 'query' 'history' 'plot 3' \
		'list --csv' 'show 3 --csv' 'best --csv' 'query --raw' 'query --format markdown' 'query --format html' 'history --csv' \
		'sql .tables' 'export --list'; do
		# shellcheck disable=SC2086 # words of the command
		iosweep $command >"$BATS_TEST_TMPDIR/said" 2>&1 || true
		[ -s "$BATS_TEST_TMPDIR/said" ]
		iconv -f UTF-8 -t UTF-8 "$BATS_TEST_TMPDIR/said" >/dev/null || { echo "$command: no UTF-8"; return 1; }
		! LC_ALL=C.UTF-8 grep -qP '[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x{80}-\x{84}\x{86}-\x{9f}]' "$BATS_TEST_TMPDIR/said" || { echo "$command: a control character"; return 1; }
	done
	for command in 'list' 'show 3' 'show 3 --trials' 'best' 'best --pareto' 'effects 3' 'query' 'history' 'label 3' 'export 3 --lines'; do
		# shellcheck disable=SC2086
		iosweep $command $([[ $command == export* ]] || echo --json) 2>/dev/null >"$BATS_TEST_TMPDIR/said"
		iconv -f UTF-8 -t UTF-8 "$BATS_TEST_TMPDIR/said" | jq empty
		! grep -qE '[:,[] *-?(inf|nan)' "$BATS_TEST_TMPDIR/said" || { echo "$command: a number that JSON has not"; return 1; }
	done
	iosweep sql "SELECT * FROM results" --json | iconv -f UTF-8 -t UTF-8 | jq empty
	export IOSWEEP_DB=$BATS_TEST_TMPDIR/mine.db
	run iosweep import "$bad"
	[ "$status" -eq 2 ]
	[[ $output == *"cannot be imported: axis.name holds what no store has: 'scheduler"'\x1b\xfe'*'nothing was imported'* ]]
	[ "$(iosweep sql 'SELECT count(*) FROM sweeps' --raw)" = 0 ]
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

@test "what follows from the axis that is compared need not be equal: labels of a layout, mkfs options of a filesystem" {
	need jq
	local x=$BATS_TEST_TMPDIR
	[ "$(ask '"\(.not_matched | join(" ")) \([.metrics[].matched] | unique)"' compare --label 'hw=24disk raid10,24disk raid6' plan=md1120)" \
		= 'label.hw label.hw_raid label.total_raid [4]' ]
	iosweep compare --label 'hw=24disk raid10,24disk raid6' plan=md1120 | grep -q '^changes along and was not matched: label.hw_raid, label.total_raid$'
	printf 'fs,options,ra,run,v\n' >"$x/t.csv"
	for run in 1 2 3; do
		printf 'xfs,-b size=4096,256,%s,%s\next4,-b 4096,256,%s,%s\nxfs,-b size=4096,512,%s,%s\next4,-b 4096,512,%s,%s\n' \
			$run $((200 + run)) $run $((150 + run)) $run $((300 + run)) $run $((220 + run)) >>"$x/t.csv"
	done
	printf 'import: options\nsource: made\npublished: 2020\nkeep: median\nhost: {value: h}\nrepetition: {column: run}\naxes:\n' >"$x/t.yaml"
	printf '  filesystem: {column: fs}\n  mkfs: {column: options}\n  readahead: {column: ra, unit: sectors}\n' >>"$x/t.yaml"
	printf 'workloads:\n  w: {}\nmetrics:\n  w.rate: {column: v, unit: 1/s, better: higher}\n' >>"$x/t.yaml"
	export IOSWEEP_DB=$x/options.db
	iosweep import --csv "$x/t.csv" --map "$x/t.yaml" >/dev/null
	[ "$(ask '.metrics[0].axes[] | select(.axis == "filesystem") | .effects[0] | "\(.pairs) \(.decided)"' effects -m w.rate)" = "2 true" ]
	[ "$(ask '"\(.not_matched | join(" ")) \(.metrics[0].matched)"' compare filesystem=ext4 filesystem=xfs)" = 'filesystem mkfs 2' ]
}

# table HOST DAY FS,RA,VALUE...: a table of that host in the store
table() {
	local host=$1 day=$2 row
	shift 2
	printf 'import: hosts\nsource: x\npublished: 2026-01-%s\nkeep: single\nhost: %s\naxes: {filesystem: {column: fs}, readahead: {column: ra, unit: KiB}}\n' \
		"$day" "$host" >"$BATS_TEST_TMPDIR/map"
	printf 'metrics: {w.t: {column: t, unit: MB/s, better: higher}}\nenvironment: %s\n' "${ENVIRONMENT:-{\}}" >>"$BATS_TEST_TMPDIR/map"
	{ echo fs,ra,t; for row; do echo "$row"; done; } >"$BATS_TEST_TMPDIR/csv"
	iosweep import --csv "$BATS_TEST_TMPDIR/csv" --map "$BATS_TEST_TMPDIR/map"
}

@test "filters on one axis compare a host with itself, never one host's value with another's" {
	need jq
	export IOSWEEP_DB=$BATS_TEST_TMPDIR/hosts.db
	table fast 01 xfs,128,900 xfs,256,900 ext4,128,1000 ext4,256,1000
	table slow 02 xfs,128,90 ext4,128,100 xfs,512,90 # nothing of 256, which the fast one has on both sides
	[ "$(ask '[.metrics[0].cells[] | .ratio * 1000 | round] | unique | join(" ")' compare filesystem=xfs filesystem=ext4)" = 1111 ]
	[ "$(ask '[.metrics[0].cells[] | select(.a.host != .b.host)] | length' compare filesystem=xfs filesystem=ext4)" = 0 ]
	[ "$(ask '"\(.metrics[0].matched) \(.matched_by_host) \(.superseded) \(.only_a)"' compare filesystem=xfs filesystem=ext4)" = "3 true 0 1" ]
	iosweep compare filesystem=xfs filesystem=ext4 | grep -q '^host=slow readahead=128KiB'
	# a cell that only one of them has on the other side, too: no other host steps in
	[ "$(ask '.metrics[0].matched' compare host=fast,slow host=fast readahead=128KiB filesystem=xfs)" = 1 ]
	# two sides without a common host: the newest of several on a side, and that is said
	table other 03 xfs,128,500
	run iosweep compare host=fast,slow host=other
	[[ $output == *'2 results left out: other hosts of the same side measured the same settings later'* ]]
	[ "$(ask '"\(.metrics[0].cells[0].a.host) \(.superseded) \(.matched_by_host)"' compare host=fast,slow host=other readahead=128KiB filesystem=xfs)" = "slow 1 false" ]
}

@test "a weight or a value that does not exist is refused before anything is printed" {
	need jq
	local wrong
	for wrong in dd-raed.throughput=1 dd-read.throughput=-1 dd-read.throughput=nan ''; do
		run --separate-stderr iosweep best --weights "$wrong"
		[ "$status" -eq 2 ] && [ -z "$output" ]
	done
	[[ $(iosweep best --weights dd-raed.throughput=1 2>&1) == *"did you mean 'dd-read.throughput'?"* ]]
	# a metric that some hosts have not measured
	[ "$(ask '[.pareto[] | select([.cells[].score] | any) | .host] | sort | join(" ")' best --weights dd-read.throughput=1)" = "pe1950 pe1950-iii" ]
	run iosweep effects 3 -x filesystem --from xsf
	[ "$status" -eq 2 ]
	[[ $output == *"axis 'filesystem' has no value 'xsf' in the selection"*"did you mean 'xfs'?"* ]]
	run iosweep effects 3 -x filesystem --from xfs --to xfs
	[ "$status" -eq 2 ]
	[ "$(ask '[.metrics[0].axes[0].effects[] | .from] | unique | join(" ")' effects 3 -x filesystem --from ext3)" = ext3 ]
}

@test "a date that no store takes is refused where it stands" {
	local year
	sed 's/^published:.*/published: DATE/' "$ROOT/sweeps/history/r910.yaml" >"$BATS_TEST_TMPDIR/map"
	export IOSWEEP_DB=$BATS_TEST_TMPDIR/dates.db
	for year in 1969 2200 9999; do
		sed "s/DATE/$year/" "$BATS_TEST_TMPDIR/map" >"$BATS_TEST_TMPDIR/map.$year"
		run iosweep import --csv "$ROOT/sweeps/history/r910.csv" --map "$BATS_TEST_TMPDIR/map.$year"
		[ "$status" -eq 2 ]
		[[ $output == *"map.$year:"*": '$year' is not a date of 1970 to 2199"* ]]
	done
}

@test "what is no export is refused by its first bytes" {
	export TMPDIR=$BATS_TEST_TMPDIR
	run timeout 5 iosweep import /dev/zero
	[ "$status" -eq 2 ]
	[[ $output == *"'/dev/zero' cannot be imported: not an SQLite file"*'nothing was imported'* ]]
	head -c 50000000 /dev/zero | gzip >"$BATS_TEST_TMPDIR/bomb"
	run timeout 5 iosweep import "$BATS_TEST_TMPDIR/bomb"
	[ "$status" -eq 2 ]
	run iosweep import "$BATS_TEST_TMPDIR"
	[ "$status" -eq 1 ]
	[[ $output == *"read '$BATS_TEST_TMPDIR': Is a directory"* ]]
	# from a pipe, as any file
	iosweep export 9 2>/dev/null | IOSWEEP_DB=$BATS_TEST_TMPDIR/mine.db iosweep import /dev/stdin
}

@test "what changed beside the settings is told by best and effects, too" {
	need jq
	export IOSWEEP_DB=$BATS_TEST_TMPDIR/changed.db
	ENVIRONMENT='{kernel.release: "5.10", cpu.model: one}' table h 01 xfs,128,900 xfs,256,910 xfs,512,905 ext4,512,1
	ENVIRONMENT='{kernel.release: "6.18", cpu.model: one}' table h 02 ext4,128,1000 ext4,256,1010 ext4,512,1005
	ENVIRONMENT='{kernel.release: "6.18", cpu.model: two}' table other 03 ext4,128,1000
	local command said='on h the results differ in more than their settings: kernel.release (5.10 | 6.18); sweep=, since= or kernel.release= chooses'
	for command in best 'effects host=h' 'effects host=*'; do
		# shellcheck disable=SC2086 # words of the command
		[ "$(iosweep $command 2>&1 >/dev/null | grep -c -F "$said")" = 1 ]
		[ "$(ask '.environments | map("\(.host) \(.fact) \(.values)") | join(", ")' $command)" = "h kernel.release 5.10 | 6.18" ]
	done
	# one environment, and what only an older visit was measured under, are no difference
	[[ $(iosweep best kernel.release=6.18 2>&1) != *'differ in more'* ]]
	[[ $(iosweep best host=h filesystem=ext4 2>&1) != *'differ in more'* ]]
	[[ $(iosweep best --all host=h filesystem=ext4 2>&1) == *"$said"* ]]
}

@test "two machines of one name are two hosts everywhere" {
	need jq sqlite3
	local a b
	export IOSWEEP_DB=$BATS_TEST_TMPDIR/b.db
	table localhost 02 xfs,128,900 ext4,128,800
	sqlite3 "$IOSWEEP_DB" "UPDATE host SET uuid = x'0123456789abcdef0123456789abcdef'"
	iosweep export -o "$BATS_TEST_TMPDIR/b"
	export IOSWEEP_DB=$BATS_TEST_TMPDIR/a.db
	table localhost 01 xfs,128,500 ext4,128,400
	[ "$(ask '[.results[].host] | unique | join(" ")' query)" = localhost ]
	iosweep import "$BATS_TEST_TMPDIR/b"
	b=localhost#012345 a=localhost#$(sqlite3 "$IOSWEEP_DB" "SELECT lower(substr(hex(uuid), 1, 6)) FROM host WHERE id = 1")
	[ "$(ask '[.metrics[] | "\(.host) \(.value / 1e6)"] | sort | join(", ")' best)" = "$(printf '%s\n' "$a 500" "$b 900" | sort | paste -sd, | sed 's/,/, /')" ]
	[ "$(ask '[.groups[] | "\(.host) \(.count)"] | sort | join(", ")' query -g host)" = "$(printf '%s\n' "$a 2" "$b 2" | sort | paste -sd, | sed 's/,/, /')" ]
	[ "$(iosweep query "host=$b" --raw | wc -l) $(iosweep query host=localhost --raw | wc -l) $(iosweep query "host=local*#*" --raw | wc -l)" = "2 4 4" ]
	[ "$(ask '.metrics[0].matched, (.metrics[0].cells[0] | .a.host, .b.host)' compare --hosts "$a,$b" | paste -sd ' ')" = "2 $a $b" ]
	iosweep list --csv --columns host | grep -q "^$b"
	iosweep show 2 | grep -q " on $b,"
	# a portable file has the name as it is
	iosweep export 2 --lines 2>/dev/null | jq -r 'select(.type == "sweep").host' | grep -qx localhost
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

# The same questions asked of the published tables themselves, without iosweep: one line an answer.
answers() {
	python3 - "$ROOT/sweeps/history" <<-'END'
	import csv, sys
	def table(name): return list(csv.DictReader(open(f"{sys.argv[1]}/{name}.csv")))
	t = table("md1120_tests")
	W, R, S = "dd_write_mb_s", "dd_read_mb_s", "bonnie_seeks_per_s"
	def pairs(rows, axis, a, b, others, metric):
	    at = {}
	    for r in rows: at.setdefault(tuple(r[k] for k in others), {})[r[axis]] = float(r[metric])
	    v = [x[b] / x[a] for x in at.values() if a in x and b in x]
	    return f"{len(v)} {100 * (sum(v) / len(v) - 1):.4f} {100 * (min(v) - 1):.4f} {100 * (max(v) - 1):.4f} {sum(x > 1 for x in v)}"
	layout = ["hw_label", "hw_raid", "sw_raid", "total_raid"]
	print("1", pairs(t, "scheduler", "cfq", "deadline", layout + ["filesystem", "readahead_sectors"], W))
	print("2", pairs(t, "scheduler", "cfq", "noop", layout + ["filesystem", "readahead_sectors"], R))
	print("3", pairs(t, "hw_label", "24disk raid10", "24disk raid6", ["filesystem", "readahead_sectors", "scheduler"], R))
	print("4", pairs(t, "readahead_sectors", "4096", "16384", layout + ["filesystem", "scheduler"], R))
	p = table("perc5e_reads")
	good = [r for r in p if r["during_rebuild"] != "yes"]
	same = ["layout", "raid", "managed_by", "members", "stripe_or_chunk_kib"]
	print("5", pairs(good, "streams", "1", "2", same + ["cache_state"], "total_mb_s"))
	print("6", pairs(good, "cache_state", "cold", "warm", same + ["streams"], "total_mb_s"))
	for ra in sorted({int(r["readahead_sectors"]) for r in t}):
	    v = [float(r[R]) for r in t if int(r["readahead_sectors"]) == ra]
	    print("7", ra * 512, len(v), f"{sum(v) / len(v):.4f} {max(v):g}")
	safe = [r for r in t if r["total_raid"] != "0"]
	def beaten(r): return any(float(o[W]) >= float(r[W]) and float(o[R]) >= float(r[R]) and (o[W], o[R]) != (r[W], r[R]) for o in safe)
	print("8", " ".join(sorted(f"{r[W]}/{r[R]}" for r in safe if not beaten(r))))
	print("9", " ".join(sorted(f"{r[W]}/{r[R]}" for r in t if float(r[W]) >= 500 and float(r[R]) > 1000)))
	g = table("md1120_pgbench")
	best = max(g, key=lambda r: float(r["tpcb_s1000_tps"]))
	print("10", best["tpcb_s1000_tps"], len(g))
	v = [float(r["select_s100_tps"]) / float(r["select_s1000_tps"]) for r in g]
	print("11", f"{min(v):.4f} {max(v):.4f}")
	b = table("md1120_bonnie_103e")
	v = [float(r["seeks_per_s_bonnie_103e_arch"]) / float(r["seeks_per_s_bonnie_102_opensuse"]) for r in b]
	print("12", len(v), f"{100 * (min(v) - 1):.4f} {100 * (max(v) - 1):.4f}")
	d = table("pe2950_dd")
	print("13", " ".join(sorted(f"{r['layout']}={r['write_mb_s']}" for r in d if float(r["write_mb_s"]) > 250)))
	END
}

@test "a dozen questions about the studies are answered as by the tables themselves" {
	need jq python3
	local pairs='.metrics[0].axes[0].effects[0] | [.pairs, .mean_percent, .min_percent, .max_percent, .better]'
	local md=plan=md1120 safe=label.total_raid!=0
	numbers() { # NAME: a line of jq's array, four decimals as the answers have them
		jq -r '.[]' | awk -v name="$1" '{ printf "%s%s", NR == 1 ? name " " : " ", $1 == int($1) ? $1 : sprintf("%.4f", $1) } END { print "" }'
	}
	effect() { # NAME AXIS FROM TO METRIC FILTER...
		local name=$1 axis=$2 from=$3 to=$4 metric=$5
		shift 5
		iosweep effects "$@" -m "$metric" -x "$axis" --from "$from" --to "$to" --json | jq "$pairs" | numbers "$name"
	}
	{
		effect 1 scheduler cfq deadline dd-write.throughput $md
		effect 2 scheduler cfq noop dd-read.throughput $md
		effect 3 label.hw '24disk raid10' '24disk raid6' dd-read.throughput $md
		effect 4 readahead 4096sectors 16384sectors dd-read.throughput $md
		effect 5 dd-read.streams 1 2 dd-read.throughput plan=perc5e-reads
		effect 6 label.cache cold warm dd-read.throughput plan=perc5e-reads
		iosweep query $md -m dd-read.throughput -g readahead --agg count,mean,max --csv | tr -d '\r' |
			awk -F, 'NR > 1 { printf "7 %d %d %.4f %g\n", $3, $4, $5 / 1e6, $6 / 1e6 }'
		echo 8 "$(iosweep best $md "$safe" -m dd-write.throughput,dd-read.throughput --json |
			jq -r '.pareto[0].cells[] | select(.pareto) | "\(.values["dd-write.throughput"] / 1e6)/\(.values["dd-read.throughput"] / 1e6)"' |
			sort | xargs)"
		echo 9 "$(iosweep show $md 'dd-write.throughput>=500MB/s' 'dd-read.throughput>1000MB/s' --json |
			jq -r '.cells[].results | "\(.["dd-write.throughput"].value / 1e6)/\(.["dd-read.throughput"].value / 1e6)"' | sort | xargs)"
		iosweep best plan=md1120-pgbench -m tpcb-1000.tps --json | jq -r '.metrics[0] | "10 \(.value) \(.candidates)"'
		iosweep sql --raw "SELECT 11, printf('%.4f %.4f', min(a.value / b.value), max(a.value / b.value)) FROM results a JOIN results b
			ON b.cell = a.cell WHERE a.workload = 'select-100' AND b.workload = 'select-1000'" | tr '\t' ' '
		iosweep compare $md plan=md1120-bonnie-1.03e --across tool --json |
			jq -r '.metrics[0] | [.matched, ([.cells[].ratio] | 100 * (min - 1), 100 * (max - 1))]' | numbers 12
		echo 13 "$(iosweep query plan=pe2950-dd 'dd-write.throughput>250MB/s' --csv --columns label.layout,value | tr -d '\r' |
			awk -F, 'NR > 1 { printf "%s=%g\n", $1, $2 / 1e6 }' | sort | xargs)"
	} >"$BATS_TEST_TMPDIR/asked"
	diff <(answers) "$BATS_TEST_TMPDIR/asked"
}

@test "results of 0 have no ratio to others: they are counted as left out wherever they take no part" {
	need jq
	cat >"$BATS_TEST_TMPDIR/map.yaml" <<-'END'
	import: zeros
	source: none
	published: 2020-01
	keep: single
	host: {value: h}
	axes:
	  filesystem: {column: fs}
	workloads:
	  w: {needs: [w]}
	metrics:
	  w.lost: {column: lost, unit: "1/s", better: lower}
	  w.none: {column: none, unit: "1/s", better: lower}
	  w.below: {column: below, unit: "1/s", better: lower}
	END
	printf 'fs,lost,none,below\next4,0,0,-1\nxfs,5,0,-2\next2,7,0,-3\n' >"$BATS_TEST_TMPDIR/zeros.csv"
	export IOSWEEP_DB=$BATS_TEST_TMPDIR/zeros.db
	iosweep import --csv "$BATS_TEST_TMPDIR/zeros.csv" --map "$BATS_TEST_TMPDIR/map.yaml"
	iosweep import --csv "$BATS_TEST_TMPDIR/zeros.csv" --map <(sed 's/zeros/again/' "$BATS_TEST_TMPDIR/map.yaml")
	[ "$(ask '[.metrics[].left_out.not_positive] | join(" ")' best 1)" = '0 0 3' ]
	iosweep best 1 -m w.below | grep -q 'nothing to rank'
	[ "$(ask '[.metrics[].left_out.not_positive] | join(" ")' effects 1)" = '1 3 3' ]
	iosweep effects 1 | grep -q 'left out: 3 of 0 or below, which have no ratio to others'
	iosweep compare 1 2 | grep -q 'results left out: 14 of 0 or below'
}
