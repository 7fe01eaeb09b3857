#!/usr/bin/env bats
# A device that goes away pauses its sweep, and the sweep goes on by itself when that device is back: that one, whatever its
# name is now.  How a disk is pulled under a running tool is seen in the lab's virtual machine (tests/lab/vm/unplug.sh).

load helpers

setup() {
	need_root
	daemon_setup
	device_make disk 64MiB
	PLAN=$HOME_DIR/plan.yaml
	cat >"$PLAN" <<-END
	plan: comeback
	target: {device: disk, erase: yes}
	matrix: {filesystem: ext4, label.n: [1, 2]}
	trials: 2
	settle: 0
	workloads: [{command: {run: [[sleep, "0.5"]], warm: yes}}]
	END
}

teardown() { daemon_teardown; }

one_is_ok() { [ "$(query "SELECT count(*) FROM trial WHERE state = 'ok'")" -ge 1 ]; }
reason_has() { query 'SELECT reason FROM sweep' | grep -q "$1"; }
events() { query "SELECT count(*) FROM event WHERE kind = '$1'"; }

# A sweep that has measured something and then lost its device, which is detached.
lose() {
	daemon_start
	iosweep submit "$PLAN"
	wait_for 10 one_is_ok
	daemon_stop
	losetup -d "$DEVICE"
	daemon_start
	wait_for 20 state_is paused
	query 'SELECT reason FROM sweep'
	reason_has "^device lost: .*'disk'"
}

# The disk, under whatever name is free.
attach() { LOOPS+=("$(losetup -f --show "$HOME_DIR/disk.img")"); }

@test "the sweep goes on by itself when the device is back, and not on another one of the same name" {
	lose
	truncate -s 64M "$HOME_DIR/other.img"
	echo precious | dd of="$HOME_DIR/other.img" conv=notrunc status=none
	local sum
	sum=$(sha256sum <"$HOME_DIR/other.img")
	wait_for 30 losetup "$DEVICE" "$HOME_DIR/other.img" # somebody else's test may have the name for a moment
	wait_for 10 grep -q 'still waits for its device' "$HOME_DIR/daemon.log"
	sleep 3 # events, and looks
	state_is paused
	attach
	wait_for 30 state_is 'done'
	[ "$(sha256sum <"$HOME_DIR/other.img")" = "$sum" ]
	[ "$(query "SELECT count(*), count(DISTINCT cell_id || ' ' || repetition) FROM trial WHERE state = 'ok'")" = '4|4' ]
	[ "$(events returned)" = 1 ]
}

@test "a daemon that is started while the device is away waits for it, too" {
	lose
	daemon_stop
	daemon_start
	sleep 1
	state_is paused
	attach
	wait_for 30 state_is 'done'
}

@test "the daemon listens for devices only while a sweep waits for one, and is never woken after that" {
	lose
	attach
	wait_for 30 state_is 'done'
	sleep 1
	local before spare
	before=$(grep ctxt "/proc/$DAEMON/status")
	truncate -s 1M "$HOME_DIR/spare.img"
	spare=$(losetup -f --show "$HOME_DIR/spare.img") # an event that is nobody's business
	losetup -d "$spare"
	sleep 3
	[ "$before" = "$(grep ctxt "/proc/$DAEMON/status")" ]
}

@test "a sweep that awaits its device obeys: pause makes it stay, cancel ends it, stop holds it" {
	lose
	iosweep pause last
	reason_has '^by root$'
	attach
	sleep 3
	state_is paused
	losetup -d "${LOOPS[-1]}"
	iosweep resume last # not there: it is lost again
	wait_for 20 reason_has '^device lost: '
	iosweep stop --now
	reason_has '^by root$'
	iosweep resume last
	wait_for 20 reason_has '^device lost: '
	iosweep cancel last
	state_is cancelled
	attach
	sleep 2
	state_is cancelled
}

@test "who waits for a sweep that lost its device is told so, with exit status 1" {
	daemon_start
	iosweep submit "$PLAN"
	wait_for 10 one_is_ok
	daemon_stop
	losetup -d "$DEVICE"
	timeout 60 iosweep wait last 2>"$HOME_DIR/err" 3>&- &
	local waiter=$! status=0
	daemon_start
	wait $waiter || status=$?
	cat "$HOME_DIR/err"
	[ "$status" -eq 1 ]
	grep -q "sweep 1 is paused: device lost: .*; it goes on by itself when the device is back" "$HOME_DIR/err"
	run timeout 30 iosweep submit "$PLAN" --wait # it finds no device
	[ "$status" -eq 1 ]
	grep -q 'no device of this host has its identity' <<<"$output"
}
