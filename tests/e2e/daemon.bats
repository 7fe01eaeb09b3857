#!/usr/bin/env bats
# The daemon: its socket under abuse, who may do what, one of it per state directory, and how it starts and ends.

load helpers

setup() {
	need_root
	daemon_setup
}

teardown() { daemon_teardown; }

wire() { "$ROOT/tests/e2e/wire" "$1" "$IOSWEEP_SOCKET" "${@:2}"; }

# A plan of N cells whose trials take SECONDS each, on standard output.
slow_plan() { # CELLS SECONDS
	cat <<-END
	plan: slow
	target: {directory: scratch}
	matrix: {label.n: [$(seq -s, 1 "$1")]}
	workloads:
	  - command:
	      as: nap
	      warm: yes
	      run: [[sleep, '$2']]
	      metrics: {time: {value: ":elapsed", unit: s, better: lower}}
	trials: 1
	settle: 0
	END
}

submit_slow() { # CELLS SECONDS: prints the id
	slow_plan "$1" "$2" >"$HOME_DIR/slow.yaml"
	iosweep submit "$HOME_DIR/slow.yaml" >/dev/null
	query 'SELECT max(id) FROM sweep'
}

alive() {
	kill -0 "$DAEMON"
	wire ask '{"version":1,"request":"hello"}' | grep -q '"ok":true'
}

trial_runs() { [ "$(query "SELECT count(*) FROM trial WHERE state = 'running'")" -gt 0 ]; }

trials_were_interrupted() { [ "$(query "SELECT count(*) FROM trial WHERE state = 'interrupted'")" = "$1" ]; }

reason_is() { [ "$(query 'SELECT reason FROM sweep')" = "$1" ]; }

worker_pid() { pgrep -P "$DAEMON" -f -- --worker | head -1; }

# ---- the socket ----

@test "a malformed message gets an error, its sender is dropped, and the daemon goes on" {
	daemon_start
	local message
	while IFS='|' read -r message expected; do
		run wire raw < <(printf '%b\n{"version":1,"request":"hello"}\n' "$message")
		[ "$(wc -l <<<"$output")" -eq 1 ] # no answer to what follows
		grep -qF "\"text\":\"$expected" <<<"$output" || { echo "$message: $output"; false; }
		grep -q '"kind":"protocol"' <<<"$output"
	done <<-'END'
	nonsense|the message is not a JSON object
	[1,2]|the message is not a JSON object
	{"version":1,|the message ends in the middle, after 13 bytes
	{"version":1,"request":"hello"} tail|the message is not JSON: unexpected character
	{"version":1,"request":"\xff"}|the message is not valid UTF-8
	{"version":1,"req\0uest":"x"}|the message holds a NUL at byte 18
	{"request":"hello"}|the message has no 'version'
	{"version":2,"request":"hello"}|the message is of version 2, this daemon speaks version 1
	{"version":1,"request":7}|'request' in the message is not a string
	{"version":1,"request":"format"}|there is no request 'format'
	{"a":[[[[[[[[[[[[1]]]]]]]]]]]]}|the message is nested deeper than 8 levels
	END
	alive
}

@test "a message of 9 MiB is refused while it comes" {
	daemon_start
	run wire raw < <(head -c 9437184 /dev/zero | tr '\0' x)
	grep -q 'the message is longer than 8388608 bytes' <<<"$output"
	alive
}

@test "half a message is not waited for longer than 10 s" {
	daemon_start
	local began=$SECONDS
	run wire raw < <(printf '{"version":1,"request":"hel')
	grep -q 'no whole message came within 10 s: 27 bytes without a newline' <<<"$output"
	[ $((SECONDS - began)) -ge 9 ] && [ $((SECONDS - began)) -le 15 ]
	alive
}

@test "of 200 clients 64 are let in, the others are told, and then all is as before" {
	daemon_start
	run wire flood 200
	[ "$output" = 136 ]
	alive
}

@test "a client that never reads does not hold the daemon up" {
	daemon_start
	wire deaf '{"version":1,"request":"cancel","sweep":1}' >"$HOME_DIR/deaf" &
	local deaf=$!
	for _ in 1 2 3 4 5; do alive; done
	wait $deaf
	[ "$(cat "$HOME_DIR/deaf")" = dropped ]
	alive
}

@test "clients that leave at once, in the middle and before the answer do no harm" {
	daemon_start
	for message in '' '{"version":1,' '{"version":1,"request":"doctor"}\n' '{"version":1,"request":"watch"}\n'; do
		for _ in 1 2 3; do
			timeout 0.1 "$ROOT/tests/e2e/wire" raw "$IOSWEEP_SOCKET" < <(printf '%b' "$message") >/dev/null || true
		done
	done
	alive
}

@test "several requests on one line each are answered in their order" {
	daemon_start
	run wire ask '{"version":1,"request":"hello"}' '{"version":1,"request":"cancel","sweep":7}' '{"version":1,"request":"hello"}'
	grep -q '"pid"' <<<"${lines[0]}"
	grep -q 'there is no sweep 7' <<<"${lines[1]}"
	grep -q '"pid"' <<<"${lines[2]}"
}

# ---- who may do what ----

@test "a user outside the group cannot connect, a member can, by a supplementary group" {
	chgrp daemon "$HOME_DIR"
	sed -i 's/^group: .*/group: daemon/' "$CONFIG"
	daemon_start
	[ "$(stat -c '%a %U %G' "$IOSWEEP_SOCKET")" = '660 root daemon' ]
	[ "$(stat -c '%a %G' "$HOME_DIR/state")" = '750 daemon' ]
	[ "$(stat -c '%a %G' "$IOSWEEP_DB")" = '640 daemon' ]
	run setpriv --reuid=65534 --regid=65534 --clear-groups "$ROOT/tests/e2e/wire" ask "$IOSWEEP_SOCKET" '{}'
	grep -q 'Permission denied' <<<"$output"
	run setpriv --reuid=65534 --regid=65534 --groups=1 "$ROOT/tests/e2e/wire" ask "$IOSWEEP_SOCKET" \
		'{"version":1,"request":"hello"}'
	grep -q '"ok":true' <<<"$output"
	chmod 666 "$IOSWEEP_SOCKET" # even then
	run setpriv --reuid=65534 --regid=65534 --clear-groups "$ROOT/tests/e2e/wire" ask "$IOSWEEP_SOCKET" '{}'
	grep -q "uid 65534 is neither root nor in the group 'daemon'" <<<"$output"
}

@test "only the submitter and root may steer a sweep" {
	sed -i 's/^group: .*/group: daemon/' "$CONFIG"
	daemon_start
	id=$(submit_slow 3 600)
	wait_for 10 trial_runs
	for request in cancel pause resume; do
		run setpriv --reuid=65534 --regid=65534 --groups=1 "$ROOT/tests/e2e/wire" ask "$IOSWEEP_SOCKET" \
			"{\"version\":1,\"request\":\"$request\",\"sweep\":$id}"
		grep -q "sweep $id belongs to 'root': only that user and root may do this" <<<"$output"
	done
	for request in stop restore; do
		run setpriv --reuid=65534 --regid=65534 --groups=1 "$ROOT/tests/e2e/wire" ask "$IOSWEEP_SOCKET" \
			"{\"version\":1,\"request\":\"$request\"}"
		grep -q '"kind":"refused"' <<<"$output"
	done
	[ "$(sweep_state)" = running ]
	iosweep cancel "$id"
	wait_for 20 state_is cancelled
}

# ---- plans ----

@test "a plan that is wrong is refused with every fault, and nothing is stored" {
	daemon_start
	run wire ask '{"version":1,"request":"submit","plan":"plan: x\ntarget: {directory: scratch}\nmatrix: {readahead: [256]}\nworkloads: [nope]\n"}'
	grep -q '"kind":"usage"' <<<"$output"
	grep -q '"line":3' <<<"$output"
	grep -q '"line":4' <<<"$output"
	[ "$(query 'SELECT count(*) FROM sweep')" = 0 ]
}

@test "a target that the host does not offer is refused by name" {
	sed -i 's/max: 4GiB/max: 1GiB/' "$CONFIG"
	daemon_start
	while IFS='|' read -r target axis expected; do
		slow_plan 1 1 | sed "s/^target:.*/target: $target/; s/^matrix: {/&$axis/" >"$HOME_DIR/p.yaml"
		run iosweep submit "$HOME_DIR/p.yaml"
		[ "$status" -ne 0 ]
		grep -qF "$expected" <<<"$output" || { echo "$target: $output"; false; }
	done <<-'END'
	{directory: elsewhere}||this host offers no directory 'elsewhere'
	{device: sda, erase: yes}|filesystem: none, |this host lists no device 'sda'
	{image: 2GiB}|filesystem: none, |an image of 2GiB is larger than the 1GiB that this host allows
	END
	sed -i '/^images/d' "$CONFIG"
	daemon_stop
	daemon_start
	slow_plan 1 1 | sed "s/^target:.*/target: {image: 100MiB}/; s/^matrix: {/&filesystem: none, /" >"$HOME_DIR/p.yaml"
	run iosweep submit "$HOME_DIR/p.yaml"
	grep -q 'this host offers no images' <<<"$output"
	[ "$(query 'SELECT count(*) FROM sweep')" = 0 ]
}

@test "a name that is nearly that of a target is told which; a listed device that is not there is named with its next of kin" {
	device_make disk 32MiB
	echo "  large: {backing-file: $HOME_DIR/./disk.img, size: 64MiB}" >>"$CONFIG"
	daemon_start
	local target said
	for target in '{device: dsk}/disk' '{directory: scrach}/scratch'; do
		slow_plan 1 0 | sed "s/^target:.*/target: ${target%/*}/; $([[ $target == *device* ]] && echo 's/^matrix: {/&filesystem: none, /')" \
			>"$HOME_DIR/p.yaml"
		run iosweep submit "$HOME_DIR/p.yaml"
		[ "$status" -eq 1 ]
		[ "${lines[1]}" = "iosweep: did you mean '${target#*/}'?" ] || { echo "$output"; false; }
	done
	said=$(iosweep devices 2>&1 >/dev/null)
	[ "$said" = "iosweep: listed, but not here: device 'large': no device of this host has its identity; '$DEVICE' has its identity, \
but its size is 32MiB, the list says 64MiB" ] || { echo "$said"; false; }
	iosweep devices --json | tr -d ' \n' | grep -qF '"absent":[{"name":"large"'
}

@test "a million cells are accepted at once" {
	daemon_start
	{
		echo 'plan: million'
		echo 'target: {directory: scratch}'
		echo 'matrix:'
		for axis in a b c; do echo "  label.$axis: [$(seq -s, 1 100)]"; done
		echo 'workloads: [dd-read: {size: 1MiB}]'
	} >"$HOME_DIR/million.yaml"
	local began=${EPOCHREALTIME/./}
	iosweep submit "$HOME_DIR/million.yaml"
	[ $((${EPOCHREALTIME/./} - began)) -lt 2000000 ]
	[ "$(query 'SELECT cells FROM sweep')" = 1000000 ]
	iosweep cancel last
	wait_for 20 state_is cancelled
}

# ---- start and end ----

@test "a second daemon on the same state directory is refused with the pid of the first" {
	daemon_start
	sed "s,^socket:.*,socket: $HOME_DIR/other," "$CONFIG" >"$HOME_DIR/second.yaml"
	run "$B/iosweepd" --config "$HOME_DIR/second.yaml"
	[ "$status" -eq 1 ]
	grep -q "another iosweepd (pid $DAEMON) works in '$HOME_DIR/state'" <<<"$output"
	alive
}

@test "a second daemon on the same socket is refused, a dead socket is replaced, a file is left alone" {
	daemon_start
	sed "s,^state:.*,state: $HOME_DIR/state2," "$CONFIG" >"$HOME_DIR/second.yaml"
	run "$B/iosweepd" --config "$HOME_DIR/second.yaml"
	[ "$status" -eq 1 ]
	grep -q "somebody listens on '$IOSWEEP_SOCKET' already" <<<"$output"
	kill -KILL "$DAEMON"
	wait "$DAEMON" || true
	[ -S "$IOSWEEP_SOCKET" ]
	daemon_start
	wait_for 10 alive
	daemon_stop
	[ ! -e "$IOSWEEP_SOCKET" ]
	echo precious >"$IOSWEEP_SOCKET"
	run "$B/iosweepd" --config "$CONFIG"
	[ "$status" -eq 1 ]
	[ "$(cat "$IOSWEEP_SOCKET")" = precious ]
}

@test "a configuration that others can write is refused" {
	chmod 666 "$CONFIG"
	run "$B/iosweepd" --config "$CONFIG"
	[ "$status" -eq 1 ]
	grep -q "'$CONFIG' can be written by others than its owner" <<<"$output"
}

@test "a directory that others use is refused for the store and for images, and keeps its mode" {
	mkdir -m 1777 "$HOME_DIR/shared"
	mkdir -m 755 "$HOME_DIR/srv"
	touch "$HOME_DIR/srv/precious"
	local key directory
	for key in state images; do
		for directory in shared srv; do
			case $key in
			state) sed "s,^state:.*,state: $HOME_DIR/$directory," "$CONFIG" >"$HOME_DIR/other.yaml" ;;
			images) sed "s,^images:.*,images: {path: $HOME_DIR/$directory}," "$CONFIG" >"$HOME_DIR/other.yaml" ;;
			esac
			run timeout 10 "$B/iosweepd" --config "$HOME_DIR/other.yaml"
			[ "$status" -eq 1 ]
			echo "$output"
			[[ $output == *"$key directory: '$HOME_DIR/$directory' "*"name a directory of its own"* ]]
		done
	done
	[ "$(stat -c '%a' "$HOME_DIR/shared" "$HOME_DIR/srv" | tr '\n' ' ')" = '1777 755 ' ]
	[ "$(ls -A "$HOME_DIR/shared" "$HOME_DIR/srv" | grep -c iosweep)" = 2 ] # the two headings
	mkdir -m 755 "$HOME_DIR/own" "$HOME_DIR/own/lost+found"
	sed -i "s,^state:.*,state: $HOME_DIR/own," "$CONFIG"
	daemon_start
	[ "$(stat -c '%a' "$HOME_DIR/own")" = 750 ]
}

@test "a configuration that became wrong under a running daemon is named with line and column to who asks" {
	daemon_start
	printf 'images: [\n' >>"$CONFIG"
	local line=$(($(wc -l <"$CONFIG") + 1)) request
	printf 'plan: p\ntarget: {image: 64MiB}\nmatrix: {filesystem: ext4}\nworkloads: [dd-write: {size: 1MiB}]\n' >"$HOME_DIR/plan.yaml"
	for request in devices doctor "submit $HOME_DIR/plan.yaml"; do
		run iosweep $request
		echo "$output"
		[ "$status" -eq 2 ]
		[[ $output == *"$CONFIG:$line:1: not YAML: "* ]]
	done
	[ "$(query 'SELECT count(*) FROM sweep')" = 0 ]
}

@test "a wrong configuration is refused with all its faults, and nothing is made" {
	rm -rf "$HOME_DIR/state"
	printf 'state: %s/state\nimages: {pth: /x}\nuser: root\n' "$HOME_DIR" >"$CONFIG"
	run "$B/iosweepd" --config "$CONFIG"
	[ "$status" -eq 2 ]
	grep -q "$CONFIG:2:10: unknown key 'pth' in images" <<<"$output"
	grep -q "$CONFIG:3:7: 'user' may not be root" <<<"$output"
	[ ! -e "$HOME_DIR/state" ]
}

@test "an idle daemon is small and is never woken" {
	daemon_start
	sleep 1
	local before after
	before=$(grep ctxt "/proc/$DAEMON/status")
	sleep 10
	after=$(grep ctxt "/proc/$DAEMON/status")
	[ "$before" = "$after" ]
	case $B in */san*) skip "sanitizers have memory of their own" ;; esac
	[ "$(awk '/VmRSS/ { print $2 }' "/proc/$DAEMON/status")" -le 12288 ]
}

@test "while a trial runs the daemon sleeps" {
	daemon_start
	submit_slow 1 8
	wait_for 10 trial_runs
	sleep 0.5
	local before
	before=$(grep ctxt "/proc/$DAEMON/status")
	sleep 5
	[ "$before" = "$(grep ctxt "/proc/$DAEMON/status")" ]
}

@test "SIGTERM ends the running trial, and the next daemon runs exactly what is missing" {
	daemon_start
	submit_slow 4 1
	wait_for 20 sh -c "[ \$(sqlite3 -readonly '$IOSWEEP_DB' \"SELECT count(*) FROM trial WHERE state = 'ok'\") -ge 1 ]"
	wait_for 10 trial_runs
	daemon_stop
	[ "$(sweep_state)" = queued ]
	[ "$(query "SELECT count(*) FROM trial WHERE state = 'running'")" = 0 ]
	daemon_start
	wait_for 30 state_is done
	[ "$(query "SELECT count(*) FROM trial WHERE state = 'ok'")" = 4 ]
	[ "$(query "SELECT count(*) FROM (SELECT DISTINCT cell_id, workload_id, repetition FROM trial WHERE state = 'ok')")" = 4 ]
}

@test "a worker that is killed is followed by one that undoes, and the sweep completes" {
	daemon_start
	submit_slow 3 1
	wait_for 10 trial_runs
	kill -KILL "$(worker_pid)"
	wait_for 30 state_is done
	[ "$(query "SELECT count(*) FROM trial WHERE state = 'ok'")" = 3 ]
	[ "$(query "SELECT count(*) FROM trial WHERE state = 'interrupted'")" = 1 ]
	grep -q 'the worker was killed by signal 9' "$HOME_DIR/daemon.log"
	grep -q 'undo-only worker' "$HOME_DIR/daemon.log"
}

@test "a sweep whose worker is killed again and again is paused with the reason" {
	daemon_start
	submit_slow 1 60
	local i
	for i in 1 2 3 4; do
		wait_for 20 trial_runs
		kill -KILL "$(worker_pid)"
		wait_for 20 trials_were_interrupted "$i" # the next may run by then
	done
	wait_for 20 state_is paused
	reason_is 'the worker died 4 times in a row'
	alive
}

@test "a daemon that is killed: its worker undoes and ends, and the next daemon completes the sweep" {
	daemon_start
	submit_slow 3 1
	wait_for 10 trial_runs
	local worker
	worker=$(worker_pid)
	kill -KILL "$DAEMON"
	wait "$DAEMON" || true
	DAEMON=
	wait_for 20 sh -c "! kill -0 $worker"
	daemon_start
	wait_for 30 state_is done
	[ "$(query "SELECT count(*) FROM trial WHERE state = 'ok'")" = 3 ]
}

@test "pause holds between two trials, resume goes on" {
	daemon_start
	id=$(submit_slow 4 1)
	wait_for 10 trial_runs
	iosweep pause "$id"
	wait_for 20 state_is paused
	[ "$(query "SELECT count(*) FROM trial WHERE state NOT IN ('ok')")" = 0 ]
	wait_for 20 reason_is 'by root' # written when the worker is gone
	iosweep resume "$id"
	wait_for 30 state_is done
	[ "$(query "SELECT count(*) FROM trial WHERE state = 'ok'")" = 4 ]
}

@test "stop hands the machine back at once, and holds what waits" {
	daemon_start
	submit_slow 2 60
	submit_slow 2 60
	wait_for 10 trial_runs
	local began=$SECONDS
	run wire ask '{"version":1,"request":"stop"}'
	grep -q '"sweep":1,"paused":\[1,2\]' <<<"$output"
	[ $((SECONDS - began)) -le 3 ]
	[ "$(query "SELECT group_concat(state) FROM sweep")" = paused,paused ] # before the reply
	[ -z "$(worker_pid)" ]
}

@test "the higher priority runs first, then the earlier submission" {
	daemon_start
	submit_slow 1 60
	wait_for 10 trial_runs
	slow_plan 1 0 >"$HOME_DIR/p.yaml"
	iosweep submit "$HOME_DIR/p.yaml"
	iosweep submit "$HOME_DIR/p.yaml"
	iosweep submit --priority 5 "$HOME_DIR/p.yaml"
	iosweep cancel 1
	wait_for 30 sh -c "[ \$(sqlite3 -readonly '$IOSWEEP_DB' \"SELECT count(*) FROM sweep WHERE state = 'done'\") = 3 ]"
	[ "$(query 'SELECT group_concat(id) FROM (SELECT id FROM sweep ORDER BY started_ms)')" = 1,4,2,3 ]
}

@test "a plan for the device of the sweep that runs is queued, though the device is mounted meanwhile" {
	local plan
	device_make disk 32MiB
	daemon_start
	for plan in first second; do
		slow_plan 1 1 | sed "s/^plan: .*/plan: $plan/; s/{directory: scratch}/{device: disk}/; s/{label.n: /{filesystem: ext4, label.n: /" \
			>"$HOME_DIR/$plan.yaml"
	done
	iosweep submit "$HOME_DIR/first.yaml"
	wait_for 10 trial_runs
	run iosweep submit "$HOME_DIR/second.yaml"
	[ "$status" -eq 0 ] || { echo "$output"; false; }
	[ "$(sweep_state 1)" = running ] # or the look would not have found it mounted
	iosweep wait 1 2 --timeout 30s
	[ "$(query "SELECT count(*) FROM trial WHERE state = 'ok'")" -eq 2 ]
}

@test "those who watch are told" {
	daemon_start
	timeout 60 "$ROOT/tests/e2e/wire" follow "$IOSWEEP_SOCKET" '{"version":1,"request":"watch"}' >"$HOME_DIR/events" 3>&- &
	local watcher=$!
	sleep 0.5
	submit_slow 1 1
	wait_for 30 grep -q '"event":"done","sweep":1' "$HOME_DIR/events"
	kill $watcher
	wait $watcher || true
	grep -q '"event":"submitted","sweep":1' "$HOME_DIR/events"
	grep -q '"event":"started","sweep":1' "$HOME_DIR/events"
}

@test "a store that somebody keeps locked does not stop the daemon, and nothing is lost" {
	daemon_start
	submit_slow 2 1
	wait_for 10 trial_runs
	# BEGIN IMMEDIATE for 6 s: the worker waits with the end of its trial
	(echo 'BEGIN IMMEDIATE;'; sleep 6; echo 'ROLLBACK;') | sqlite3 "$IOSWEEP_DB" &
	local locker=$!
	sleep 0.5
	local began=$SECONDS
	slow_plan 1 0 >"$HOME_DIR/p.yaml"
	run iosweep submit "$HOME_DIR/p.yaml"
	[ "$status" -eq 1 ]
	alive
	[ $((SECONDS - began)) -le 4 ]
	wait $locker
	wait_for 30 state_is done
	[ "$(query "SELECT count(*) FROM trial WHERE state = 'ok'")" = 2 ]
}

@test "a daemon that is stopped is told from one that is still looking, and is named, within seconds" {
	daemon_start
	kill -STOP "$DAEMON"
	local command began status=0
	truncate -s 400K "$HOME_DIR/large.yaml" # more than a socket takes
	tr '\0' '#' <"$HOME_DIR/large.yaml" >"$HOME_DIR/plan.yaml"
	for command in devices 'cancel last' 'stop --now' "submit $HOME_DIR/plan.yaml"; do
		began=$SECONDS status=0
		iosweep $command >"$HOME_DIR/out" 2>&1 || status=$?
		cat "$HOME_DIR/out"
		[ "$status" -eq 3 ]
		[ $((SECONDS - began)) -le 14 ]
		grep -q "the daemon (process $DAEMON) is stopped, and answers nobody" "$HOME_DIR/out"
		grep -q "'kill -CONT $DAEMON' makes it go on" "$HOME_DIR/out"
	done
	kill -CONT "$DAEMON"
	iosweep devices >/dev/null
}
