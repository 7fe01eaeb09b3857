#!/usr/bin/env bats
# A device that goes away pauses its sweep, and the sweep goes on by itself when that device is back: that one, whatever its
# name is now.  How a disk is pulled under a running tool is seen in the lab's virtual machine (tests/lab/vm/unplug.sh).

bats_require_minimum_version 1.5.0
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

# The same, by a crash: nothing was undone before.
crash_and_lose() {
	daemon_start
	iosweep submit "$PLAN"
	wait_for 10 one_is_ok
	kill -STOP "$DAEMON" # or it might have it undone before it is killed itself
	pkill -KILL -P "$DAEMON"
	kill -KILL "$DAEMON"
	wait "$DAEMON" || true
	wait_for 10 losetup -d "$DEVICE"
	daemon_start
	wait_for 20 state_is paused
	reason_has "^device lost: .*'disk'"
}

@test "what a cancelled sweep has left on a device that was away is undone when the device is back" {
	crash_and_lose
	iosweep cancel last
	state_is cancelled
	[ "$(query "SELECT kind FROM undo WHERE state = 'pending'")" = filesystem ]
	[ -n "$(blkid -p -o value -s TYPE "$HOME_DIR/disk.img")" ]
	attach
	wait_for 30 nothing_pending
	[ -z "$(blkid -p -o value -s TYPE "$HOME_DIR/disk.img")" ]
	state_is cancelled
	wait_for 10 grep -q 'sweep 1: its device is back' "$HOME_DIR/daemon.log"
	sleep 1
	local before
	before=$(grep ctxt "/proc/$DAEMON/status") # and then nobody waits for anything
	losetup -d "${LOOPS[-1]}"
	sleep 3
	[ "$before" = "$(grep ctxt "/proc/$DAEMON/status")" ]
}

@test "a daemon that finds such a journal at its start waits for the device, and leaves one that is in use alone" {
	crash_and_lose
	iosweep cancel last
	daemon_stop
	daemon_start
	sleep 1
	[ "$(query "SELECT count(*) FROM undo WHERE state = 'pending'")" = 1 ]
	mkdir "$HOME_DIR/mnt"
	attach
	mount "${LOOPS[-1]}" "$HOME_DIR/mnt" || true # one of two is faster; it is never undone under a mount
	sleep 4
	if mountpoint -q "$HOME_DIR/mnt"; then
		echo precious >"$HOME_DIR/mnt/file"
		sync "$HOME_DIR/mnt/file"
		umount "$HOME_DIR/mnt"
	fi
	wait_for 30 nothing_pending
}
nothing_pending() { [ "$(query "SELECT count(*) FROM undo WHERE state = 'pending'")" = 0 ]; }

# ---- a target that this host refuses for now ----

@test "a sweep whose device left the configuration is paused with the reason, and goes on once it is listed again" {
	sed -i 's/, erase: yes//' "$PLAN" # what stands on it when it returns is known as the sweep's own
	daemon_start
	iosweep submit "$PLAN"
	wait_for 10 one_is_ok
	kill -STOP "$DAEMON" # or it might have it undone before it is killed itself
	pkill -KILL -P "$DAEMON"
	kill -KILL "$DAEMON"
	wait "$DAEMON" || true
	sed -i 's/^  disk: /  other: /' "$CONFIG"
	daemon_start
	wait_for 20 state_is paused
	query 'SELECT reason FROM sweep'
	reason_has "device 'disk' is not listed by this host's configuration"
	run -1 timeout 20 iosweep wait last
	grep -q "'iosweep resume 1' goes on with it" <<<"$output"
	sed -i 's/^  other: /  disk: /' "$CONFIG"
	iosweep resume last
	wait_for 30 state_is 'done'
	[ "$(query "SELECT count(*), count(DISTINCT cell_id || ' ' || repetition) FROM trial WHERE state = 'ok'")" = '4|4' ]
	[ "$(query "SELECT count(*) FROM cell WHERE state <> 'ok'")" = 0 ]
}

@test "a directory that is gone or not offered for a while pauses its sweep" {
	sed -i 's/^target: .*/target: {directory: scratch}/; s/filesystem: ext4, //' "$PLAN"
	daemon_start
	iosweep submit "$PLAN"
	wait_for 10 one_is_ok
	iosweep stop --now
	mv "$HOME_DIR/scratch" "$HOME_DIR/away"
	iosweep resume last
	wait_for 20 reason_has "scratch.*No such file"
	state_is paused
	sed -i 's/^  scratch: /  other: /' "$CONFIG"
	mv "$HOME_DIR/away" "$HOME_DIR/scratch"
	iosweep resume last
	wait_for 20 reason_has "directory 'scratch' is not offered"
	state_is paused
	sed -i 's/^  other: /  scratch: /' "$CONFIG"
	iosweep resume last
	wait_for 30 state_is 'done'
	[ "$(query "SELECT count(*) FROM trial WHERE state = 'ok'")" = 4 ]
}

as_daemon() { setpriv --reuid=1 --regid=1 --clear-groups "$@"; } # user and group "daemon" are there on every Debian

@test "whoever is no longer in the group runs nothing any more, and what their sweep had changed is put back all the same" {
	[ "$(id -un 1) $(id -gn 1)" = 'daemon daemon' ] || skip "needs the user daemon"
	sed -i 's/^group: .*/group: daemon/' "$CONFIG"
	chgrp daemon "$HOME_DIR"
	sed -i 's/ext4, /ext4, scheduler: bfq, /' "$PLAN"
	local before
	before=$(machine_state "$DEVICE")
	daemon_start
	as_daemon "$B/iosweep" submit "$PLAN"
	wait_for 10 one_is_ok
	kill -STOP "$DAEMON" # or it might have it undone before it is killed itself
	pkill -KILL -P "$DAEMON" # the worker: what it leaves is in the journal
	kill -KILL "$DAEMON"
	wait "$DAEMON" || true
	[ "$(machine_state "$DEVICE")" != "$before" ]
	sed -i 's/^group: .*/group: root/' "$CONFIG"
	daemon_start
	wait_for 20 reason_has "user 'daemon' is not in the group 'root'"
	state_is paused
	[ "$(machine_state "$DEVICE")" = "$before" ]
	run -1 setpriv --reuid=1 --regid=1 --groups=0 "$B/iosweep" submit "$PLAN" # a member in this session only
	grep -q "user 'daemon' is not in the group 'root'" <<<"$output"
	sed -i 's/^group: .*/group: daemon/' "$CONFIG"
	iosweep resume last
	wait_for 30 state_is 'done'
}

@test "a submitter whose user is gone runs nothing more, and settings and files that the sweep left are put back all the same" {
	sed -i 's/^target: .*/target: {directory: scratch}/; s/filesystem: ext4, /vm.dirtytime_expire_seconds: 4322s, /' "$PLAN"
	sysctl_take
	daemon_start
	iosweep submit "$PLAN"
	wait_for 10 one_is_ok
	kill -STOP "$DAEMON" # or it might have it undone before it is killed itself
	pkill -KILL -P "$DAEMON"
	kill -KILL "$DAEMON"
	wait "$DAEMON" || true
	[ "$(cat "$SYSCTL")" = 4322 ]
	[ -n "$(ls -A "$HOME_DIR/scratch")" ]
	sqlite3 "$IOSWEEP_DB" 'UPDATE sweep SET submitter_uid = 54321'
	daemon_start
	wait_for 20 reason_has 'uid 54321. is no user of this host any more'
	state_is paused
	[ "$(cat "$SYSCTL")" = "$SYSCTL_WAS" ]
	[ -z "$(ls -A "$HOME_DIR/scratch")" ]
	[ "$(query "SELECT count(*) FROM undo WHERE state = 'pending'")" = 0 ]
}
