#!/usr/bin/env bats
# Who tries to get further than a plan may: hostile plans, workloads, definitions, neighbours on the host.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	[ "$(id -u)" -ne 0 ] || [ -x "$BATS_FILE_TMPDIR/attack" ] ||
		"${CC:-cc}" -D_GNU_SOURCE -Wall -Wextra -o "$BATS_FILE_TMPDIR/attack" "$BATS_TEST_DIRNAME/attack.c"
}

setup() {
	need_root
	daemon_setup
	# A user whom no other suite runs tools as: whatever a process of theirs holds is looked at when any sweep ends.
	sed -i 's/^user: .*/user: games/' "$CONFIG"
	uid=$(id -u games) gid=$(id -g games)
	PLAN=$HOME_DIR/plan.yaml
	[ ! -x "$BATS_FILE_TMPDIR/attack" ] || install -m 755 "$BATS_FILE_TMPDIR/attack" "$HOME_DIR/attack"
}

teardown() {
	[ -z "${HOLDER:-}" ] || kill "$HOLDER" 2>/dev/null || true
	daemon_stop || true
	umount "$HOME_DIR/images" 2>/dev/null || true
	daemon_teardown
}

# A plan on standard output: TARGET MATRIX TRIALS ARGV...
attack_plan() {
	cat <<-END
	plan: attack
	target: $1
	matrix: $2
	trials: $3
	settle: 0
	workloads:
	  - command:
	      as: attack
	      warm: yes
	      run: [[$(printf '"%s", ' "${@:4}")]]
	      metrics: {time: {value: ":elapsed", unit: s, better: lower}}
	END
}
trial_output() { query "SELECT hex(data) FROM output WHERE stream = 'stdout' ORDER BY trial_id DESC LIMIT 1" |
	perl -MCompress::Zlib -ne 'chomp; print uncompress(pack "H*", $_)'; }

# ---- from within a workload ----

@test "of all that a workload tries, nothing succeeds" {
	local attempts
	install -m 4755 "$(command -v id)" "$HOME_DIR/scratch/setuid-id"
	IOSWEEP_ATTACK=secret "$HOME_DIR/attack" keyed "$B/iosweepd" --config "$CONFIG" 2>>"$HOME_DIR/daemon.log" 3>&- &
	DAEMON=$!
	wait_for 10 daemon_answers
	device_make other 8MiB # a disk that is not the target
	for target in '{image: 64MiB}' '{directory: scratch}'; do
		attack_plan "$target" "{$([ "$target" = '{image: 64MiB}' ] && echo 'filesystem: ext4' || echo 'label.n: 1')}" 1 \
			"$HOME_DIR/attack" all '${dir}' "$(lsblk -dno MAJ:MIN "$DEVICE" | tr -d ' ')" >"$PLAN"
		iosweep submit "$PLAN" --wait >"$HOME_DIR/out" 2>&1 || { cat "$HOME_DIR/out"; false; }
		trial_output >"$HOME_DIR/attempts"
		cat "$HOME_DIR/attempts"
		attempts=$(grep -c ' refused: ' "$HOME_DIR/attempts")
		[ "$attempts" -ge 37 ]
		if grep SUCCEEDED "$HOME_DIR/attempts"; then false; fi
	done
}

@test "a work directory that was replaced by a link is refused, and what it points to is left alone" {
	mkdir "$HOME_DIR/scratch/victim"
	chown games "$HOME_DIR/scratch/victim"
	echo precious >"$HOME_DIR/scratch/victim/file"
	chown games "$HOME_DIR/scratch/victim/file"
	daemon_start
	attack_plan '{directory: scratch}' '{label.n: 1}' 2 bash -c 'rm -rf ${dir} && ln -s ../target/victim ${dir}' >"$PLAN"
	run iosweep submit "$PLAN" --wait
	echo "$output"
	[ "$status" -eq 1 ]
	[ "$(query "SELECT count(*) FROM trial WHERE state = 'ok' AND repetition = 2")" = 0 ]
	grep -q 'is no directory any more' <<<"$(query 'SELECT reason FROM trial')"
	if iosweep show --trials | grep -e '-1 B'; then false; fi # a trial that never began moved nothing that is known
	iosweep show --trials --json | jq -e '.cells[0].trials[1] | .read_bytes == null and .written_bytes == null' >/dev/null
	[ "$(cat "$HOME_DIR/scratch/victim/file")" = precious ]
	[ "$(ls -A "$HOME_DIR/scratch")" = victim ]
}

# Nothing but line ends and printable characters, and all of it UTF-8.
is_printable() { # FILE...
	iconv -f UTF-8 -t UTF-8 "$@" >/dev/null || return 1
	if LC_ALL=C grep -P '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$@"; then return 1; fi
}

@test "what a tool or a plan says reaches a terminal, JSON and an export as printable UTF-8" {
	daemon_start
	cat >"$PLAN" <<-'END'
	plan: attack
	target: {image: 64MiB}
	matrix: {filesystem: ext4}
	trials: 1
	settle: 0
	workloads:
	  - command:
	      as: who
	      run: [printf, 'x=\033[31m\302\233\377 1\n']
	      metrics: {t: {match: 'x=(?<who>\S+) (?<n>\d)', each: '${who}', value: ":n", unit: s, better: lower}}
	  - command:
	      as: words
	      run: [sh, -c, 'printf "\033[31m\033]0;title\007 \302\233 \377 \351t\351" >&2; exit 3']
	      metrics: {t: {value: ":elapsed", unit: s, better: lower}}
	END
	run -1 --separate-stderr iosweep submit "$PLAN" --wait
	printf '%s\n' "$output" "$stderr" >"$HOME_DIR/said"
	grep -F 'words: exit status 3: \x1b[31m\x1b]0;title\x07 \xc2\x9b \xff \xe9t\xe9' "$HOME_DIR/said"
	iosweep show --json >"$HOME_DIR/show.json"
	iosweep show --csv | tr -d '\r' >"$HOME_DIR/show.csv"
	iosweep show --trials >"$HOME_DIR/trials"
	iosweep list >"$HOME_DIR/list"
	iosweep export --lines 1 >"$HOME_DIR/lines"
	is_printable "$HOME_DIR"/{said,show.json,show.csv,trials,list,lines}

	# a store of another host may hold anything
	daemon_stop
	sqlite3 "$IOSWEEP_DB" "UPDATE plan SET name = 'p' || char(27) || '[31m', about = char(27); UPDATE host SET name = 'h' || char(27) || '[31m';
		UPDATE sweep SET target = char(27), reason = char(27) || char(10) || 'forged'; UPDATE cell SET state = 'ok', reason = char(27)"
	local command
	for command in list show 'show --trials' best query history 'plot 1 -m who.t' 'wait last'; do
		iosweep $command >"$HOME_DIR/said" 2>&1 || true
		is_printable "$HOME_DIR/said"
		if grep '^forged' "$HOME_DIR/said"; then false; fi
	done

	sed "s/^plan: .*/&\nabout: \"a\\\\e[31mb\"\n\"k\\\\e[31mey\": 1/" "$PLAN" >"$PLAN.escapes"
	run -2 --separate-stderr iosweep check "$PLAN.escapes"
	printf '%s\n' "$output" "$stderr" >"$HOME_DIR/said"
	grep ":2:8: 'about' is one line for people" "$HOME_DIR/said"
	grep -F ":3:1: unknown key 'k\\x1b[31mey'" "$HOME_DIR/said"
	is_printable "$HOME_DIR/said"
}

@test "hard links and files of others in an offered directory keep owner and mode" {
	echo precious >"$HOME_DIR/scratch/root-owned"
	chmod 640 "$HOME_DIR/scratch/root-owned"
	local before
	before=$(stat -c '%u %g %a' "$HOME_DIR/scratch/root-owned")
	daemon_start
	attack_plan '{directory: scratch}' '{label.n: 1}' 1 bash -c \
		'ln /target/root-owned ${dir}/link; ln -s /target/root-owned ${dir}/soft; mkfifo ${dir}/fifo; chmod 000 ${dir}; true' >"$PLAN"
	run iosweep submit "$PLAN" --wait
	echo "$output"
	[ "$(stat -c '%u %g %a %h' "$HOME_DIR/scratch/root-owned")" = "$before 1" ]
	[ "$(cat "$HOME_DIR/scratch/root-owned")" = precious ]
	[ "$(ls -A "$HOME_DIR/scratch")" = root-owned ]
}

@test "a descriptor that is passed out of the namespace puts the device aside, and its holder is named" {
	local name=iosweep-attack-$$
	device_make disk 64MiB
	daemon_start
	setpriv --reuid="$uid" --regid="$gid" --clear-groups "$HOME_DIR/attack" take "$name" open >"$HOME_DIR/taken" 3>&- &
	HOLDER=$!
	wait_for 20 grep -q listening "$HOME_DIR/taken"
	attack_plan '{device: disk, erase: yes}' '{filesystem: [ext4, ext2]}' 1 "$HOME_DIR/attack" pass '${dir}' "$name" >"$PLAN"
	run iosweep submit "$PLAN" --wait
	echo "$output"
	[ "$status" -eq 1 ]
	grep -q taken "$HOME_DIR/taken"
	grep -q "still used by .*$HOLDER" <<<"$(query "SELECT reason FROM sweep UNION ALL SELECT reason FROM cell UNION ALL SELECT text FROM event")"
	[ "$(query "SELECT count(*) FROM step_run WHERE step = 'format' AND state = 'done'")" -lt 2 ] # no mkfs under it
	run iosweep resume last
	[ "$status" -eq 1 ]
	grep -q 'put aside' <<<"$output"
	kill "$HOLDER"
	wait "$HOLDER" || true
	HOLDER=
	iosweep restore
	iosweep resume last
	run iosweep wait last
	[ "$(query "SELECT count(*) FROM undo WHERE state = 'pending'")" = 0 ]
}

# A sweep on the bare device, or under a filesystem, whose tool hands the device itself on.
device_is_handed_on() { # HOW FILESYSTEM
	local name=iosweep-attack-$$-$1
	rm -f "$HOME_DIR/taken"
	setpriv --reuid="$uid" --regid="$gid" --clear-groups "$HOME_DIR/attack" take "$name" "$1" >"$HOME_DIR/taken" 3>&- &
	HOLDER=$!
	wait_for 5 grep -q listening "$HOME_DIR/taken"
	attack_plan '{device: disk, erase: yes}' "{filesystem: $2}" 1 "$HOME_DIR/attack" pass '${device}' "$name" >"$PLAN"
	run iosweep submit "$PLAN" --wait
	echo "$output"
	grep -q taken "$HOME_DIR/taken"
}
holder_ends() {
	kill -KILL "$HOLDER"
	wait "$HOLDER" || true
	HOLDER=
}

@test "who keeps the device itself in hand puts it aside, and is named, however it is held" {
	local how
	device_make disk 16MiB
	daemon_start
	for how in open mapped thread ring unread; do
		device_is_handed_on "$how" "$([ "$how" = open ] && echo ext4 || echo none)"
		[ "$status" -eq 1 ]
		grep -q "still in the hands of process $HOLDER (attack)" <<<"$(query 'SELECT reason FROM sweep ORDER BY id DESC LIMIT 1')"
		run iosweep resume last
		[ "$status" -eq 1 ]
		grep -q 'put aside' <<<"$output"
		run iosweep restore
		echo "$output"
		[ "$status" -eq 1 ]
		grep -q '/dev/loop.* failed' <<<"$output"
		grep -q "^not everything could .*process $HOLDER" <<<"$(query "SELECT text FROM event WHERE kind = 'failed' ORDER BY id DESC LIMIT 1")"
		holder_ends
		iosweep restore
		[ "$(query "SELECT count(*) FROM undo WHERE state = 'pending'")" = 0 ]
		iosweep resume last # the device may be used again; no cell is left to do
		timeout 20 iosweep wait last
	done
}

@test "who keeps one device in hand keeps no other" {
	local how
	device_make disk 16MiB
	daemon_start
	for how in open mapped ring; do
		device_is_handed_on "$how" none
		[ "$status" -eq 1 ]
		attack_plan '{image: 64MiB}' '{filesystem: ext4}' 1 true >"$PLAN"
		iosweep submit "$PLAN" --wait
		holder_ends
		wait_for 20 iosweep restore # the worker of the other may be about to go
	done
}

@test "who keeps the device in hand is found after a crash, too" {
	local name=iosweep-attack-$$-crash
	device_make disk 16MiB
	daemon_start
	setpriv --reuid="$uid" --regid="$gid" --clear-groups "$HOME_DIR/attack" take "$name" open >"$HOME_DIR/taken" 3>&- &
	HOLDER=$!
	wait_for 5 grep -q listening "$HOME_DIR/taken"
	attack_plan '{device: disk, erase: yes}' '{filesystem: none}' 1 bash -c "$HOME_DIR/attack pass \${device} $name; sleep 600" >"$PLAN"
	iosweep submit "$PLAN"
	wait_for 20 grep -q taken "$HOME_DIR/taken"
	pkill -KILL -P "$DAEMON"
	wait_for 20 state_is paused
	[ "$(query "SELECT count(*) FROM event WHERE text LIKE '%still in the hands of process $HOLDER (attack), open device%'")" -gt 0 ]
	run iosweep resume last
	[ "$status" -eq 1 ]
	grep -q 'put aside' <<<"$output"
	holder_ends
	iosweep restore
	[ "$(query "SELECT count(*) FROM undo WHERE state = 'pending'")" = 0 ]
}

@test "no filesystem is made over a device that somebody has kept from an earlier cell" {
	local name=iosweep-attack-$$-below
	device_make disk 16MiB
	daemon_start
	setpriv --reuid="$uid" --regid="$gid" --clear-groups "$HOME_DIR/attack" take "$name" open >"$HOME_DIR/taken" 3>&- &
	HOLDER=$!
	wait_for 5 grep -q listening "$HOME_DIR/taken"
	attack_plan '{device: disk, erase: yes}' '{filesystem: [none, ext4]}' 1 "$HOME_DIR/attack" pass '${device}' "$name" >"$PLAN"
	run iosweep submit "$PLAN" --wait
	echo "$output"
	[ "$status" -eq 1 ]
	grep -q taken "$HOME_DIR/taken"
	[ "$(query "SELECT count(*) FROM step_run WHERE step = 'mount'")" = 0 ]
	[ "$(query "SELECT count(*) FROM undo WHERE kind = 'filesystem'")" = 0 ]
	holder_ends
}

@test "what a workload has written to the bare device is not taken for a filesystem or volume of the host afterwards" {
	local image=$HOME_DIR/crafted uuid=deadbeef-0000-4000-8000-000000000001
	device_make disk 16MiB
	truncate -s 16M "$image"
	mkfs.ext4 -q -F -U "$uuid" -L root "$image"
	chmod 644 "$image"
	daemon_start
	attack_plan '{device: disk, erase: yes}' '{filesystem: none}' 1 bash -c \
		"dd if=$image of=\${device} bs=1M conv=fsync && $HOME_DIR/attack loop \${device}" >"$PLAN" # and hides it
	iosweep submit "$PLAN" --wait
	blockdev --flushbufs "$DEVICE"
	[ -z "$(blkid -p -o export "$DEVICE" || true)" ]
	cmp -n 8M -i 1M "$image" "$DEVICE" # it had been there
	sed -i 's/filesystem: none/filesystem: [none, ext2]/; s/erase: yes/&, keep-filesystem: yes/' "$PLAN"
	sed -i "s|\"dd if=[^\"]*\"|\"test -d \${dir}\"|" "$PLAN"
	iosweep submit "$PLAN" --wait
	[ "$(blkid -p -o value -s TYPE "$DEVICE")" = ext2 ] # one that is to be kept is
}

# A sweep whose workload has done ARGUMENTS of attack to the bare device, and waits.
bare_sweep_runs() { # SCRIPT
	attack_plan '{device: disk, erase: yes}' '{filesystem: none}' 1 bash -c "$1; exec sleep 613" >"$PLAN"
	iosweep submit "$PLAN"
	wait_for 20 pgrep -x -f 'sleep 613'
}
signature() { blockdev --flushbufs "$DEVICE"; blkid -p -o export "$DEVICE" || true; }
undone() { [ "$(query "SELECT count(*) FROM undo WHERE state = 'pending'")" = 0 ]; }

@test "after a crash of its worker, too, even if the sweep is cancelled then" {
	local image=$HOME_DIR/crafted before
	device_make disk 16MiB
	before=$(loop_is)
	truncate -s 16M "$image"
	mkfs.ext4 -q -F -L root "$image"
	chmod 644 "$image"
	daemon_start
	bare_sweep_runs "dd if=$image of=\${device} bs=1M conv=fsync && $HOME_DIR/attack move \${device}" # and hides it
	[ "$(loop_is)" != "$before" ]
	kill -STOP "$DAEMON"
	pkill -KILL -P "$DAEMON"
	sqlite3 "$IOSWEEP_DB" "UPDATE sweep SET wanted = 'cancel'" # as if it had come just before
	kill -CONT "$DAEMON"
	wait_for 20 state_is cancelled
	undone
	[ "$(loop_is)" = "$before" ]
	[ -z "$(signature)" ]
	cmp -n 8M -i 1M "$image" "$DEVICE" # it had been there
}

@test "what is found there long after a crash may be somebody's: it is named, and left alone" {
	device_make disk 16MiB
	daemon_start
	bare_sweep_runs true
	sqlite3 "$IOSWEEP_DB" "UPDATE sweep SET wanted = 'cancel'"
	# shellcheck disable=SC2046 # a list of numbers
	kill -KILL "$DAEMON" $(pgrep -P "$DAEMON")
	wait "$DAEMON" || true
	wait_for 20 mkfs.ext4 -q -F -L somebody "$DEVICE"
	daemon_start
	wait_for 20 state_is cancelled
	undone
	grep -q 'LABEL=somebody' <<<"$(signature)"
	grep -q "carries a signature, of a workload .* or of somebody since" <<<"$(query "SELECT reason FROM undo WHERE kind = 'bare'")"
}

@test "partitions that a workload has made the kernel find on a loop device do not stay" {
	local ended partition
	device_make disk 48MiB
	partition=/sys/block/${DEVICE#/dev/}/${DEVICE#/dev/}p1
	partition_write "$HOME_DIR/table"
	daemon_start
	for ended in cancelled crashed; do
		bare_sweep_runs "dd if=$HOME_DIR/table of=\${device} bs=512 conv=fsync"
		# as a scan finds it; this kernel may not be able to
		partx -a "$DEVICE"
		[ -e "$partition" ]
		case $ended in
		cancelled) iosweep cancel last ;;
		crashed)
			pkill -KILL -P "$DAEMON"
			wait_for 20 grep -q 'undo-only worker ended: status 0' "$HOME_DIR/daemon.log"
			iosweep stop --now
			;;
		esac
		wait_for 20 undone
		[ ! -e "$partition" ]
		[ -z "$(signature)" ]
	done
}

loop_is() { losetup -ln -O AUTOCLEAR,OFFSET,SIZELIMIT,DIO,LOG-SEC "$DEVICE" | xargs; }

@test "what a workload changes of a loop device that it may write to is put back, and an image is detached all the same" {
	local before
	device_make disk 16MiB
	before=$(loop_is)
	daemon_start
	attack_plan '{device: disk, erase: yes}' '{filesystem: none}' 1 "$HOME_DIR/attack" loop '${device}' >"$PLAN"
	iosweep submit "$PLAN" --wait
	echo "$before"
	loop_is
	[ "$(loop_is)" = "$before" ]
	attack_plan '{image: 16MiB}' '{filesystem: none}' 1 "$HOME_DIR/attack" loop '${device}' >"$PLAN"
	iosweep submit "$PLAN" --wait
	nothing_left
	attack_plan '{image: 16MiB}' '{filesystem: none}' 1 bash -c "$HOME_DIR/attack loop \${device}; exec sleep 612" >"$PLAN"
	iosweep submit "$PLAN"
	wait_for 20 pgrep -x -f 'sleep 612'
	pkill -KILL -P "$DAEMON"
	wait_for 20 pgrep -x -f 'sleep 612' # it runs again
	iosweep stop --now
	nothing_left
	[ "$(losetup -n -O BACK-FILE | grep -c "$HOME_DIR/images" || true)" = 0 ]
}

@test "another process of the submitter does not get at the device through /proc" {
	device_make disk 16MiB
	daemon_start
	attack_plan '{device: disk, erase: yes}' '{filesystem: none}' 1 \
		bash -c 'exec 9<>${device} && printf x >&9 && sleep 611' >"$PLAN" # the tool itself may write to it
	iosweep submit "$PLAN"
	wait_for 20 pgrep -x -f 'sleep 611'
	local pid
	pid=$(pgrep -x -f 'sleep 611')
	[ -b "/proc/$pid/root/dev/target" ]
	run setpriv --reuid="$uid" --regid="$gid" --clear-groups bash -c "
		for path in /proc/$pid/root/dev/target /proc/$pid/fd/9; do
			ls -l \$path
			exec 8<\$path && echo SUCCEEDED
			exec 8<>\$path && echo SUCCEEDED
		done"
	echo "$output"
	[ "$(grep -c 'Permission denied' <<<"$output")" = 4 ]
	if grep SUCCEEDED <<<"$output"; then false; fi
	# nor into what speaks with the worker as that user
	pid=$(pgrep -u "$uid" -f -- "--config $CONFIG --worker")
	run setpriv --reuid="$uid" --regid="$gid" --clear-groups bash -c "
		for path in environ mem maps; do head -c 1 /proc/$pid/\$path >/dev/null && echo SUCCEEDED; done
		for path in root cwd fd; do ls /proc/$pid/\$path/ && echo SUCCEEDED; done"
	echo "$output"
	[ "$(grep -c 'Permission denied' <<<"$output")" = 6 ]
	if grep SUCCEEDED <<<"$output"; then false; fi
	iosweep cancel last
	wait_for 20 state_is cancelled
}

@test "a setting of PostgreSQL that runs a command runs it as the submitter, in the room, and nowhere else" {
	need initdb pgbench || [ -d /usr/lib/postgresql ] || skip "needs PostgreSQL"
	daemon_start
	cat >"$PLAN" <<-END
	plan: pg
	target: {image: 512MiB}
	matrix: {filesystem: ext4}
	trials: 1
	settle: 0
	workloads:
	  - pgbench:
	      scale: 1
	      clients: 1
	      transactions: 10
	      buffers: 16MiB
	      set_archive_mode: "on"
	      set_archive_command: "id -u > /tmp/iosweep-was-here; cat /etc/shadow > /target/shadow; false"
	      set_shared_preload_libraries: ""
	END
	run iosweep submit "$PLAN" --wait
	echo "$output"
	[ "$status" -eq 0 ]
	[ ! -e /tmp/iosweep-was-here ]
	nothing_left
}

# ---- from beside it ----

@test "definitions in a directory that others can write are refused, at the start and later" {
	printf 'workload: planted\nabout: x\nrun: [id]\nmetrics: {time: {value: ":elapsed", unit: s, better: lower}}\n' \
		>"$HOME_DIR/workloads/planted.yaml"
	chmod 777 "$HOME_DIR/workloads"
	run "$B/iosweepd" --config "$CONFIG"
	echo "$output"
	[ "$status" -eq 1 ]
	grep -q "'$HOME_DIR/workloads' can be written by others than root" <<<"$output"
	chmod 755 "$HOME_DIR/workloads"
	daemon_start
	chown games "$HOME_DIR/workloads/planted.yaml"
	printf 'plan: x\ntarget: {directory: scratch}\nmatrix: {label.n: 1}\nworkloads: [planted]\n' >"$PLAN"
	run iosweep submit "$PLAN"
	echo "$output"
	[ "$status" -ne 0 ]
	chmod 777 "$HOME_DIR/workloads"
	run iosweep submit "$PLAN"
	echo "$output"
	[ "$status" -ne 0 ]
	grep -q "can be written by others than root" <<<"$output"
}

@test "a socket that somebody else listens on is not taken for the daemon's" {
	mkdir -m 777 "$HOME_DIR/open"
	setpriv --reuid="$uid" --regid="$gid" --clear-groups perl -MIO::Socket::UNIX -e '
		my $s = IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1) or die;
		while (my $c = $s->accept) { my $l = <$c>; print $c "{\"ok\":true,\"sweep\":1,\"cells\":1}\n" }' "$HOME_DIR/open/socket" 3>&- &
	HOLDER=$!
	wait_for 20 test -S "$HOME_DIR/open/socket"
	printf 'plan: x\ntarget: {directory: scratch}\nworkloads: [dd-write: {size: 1MiB}]\n' >"$PLAN"
	IOSWEEP_SOCKET=$HOME_DIR/open/socket run iosweep submit "$PLAN"
	echo "$output"
	[ "$status" -eq 1 ]
	grep -q "'$HOME_DIR/open/socket' is served by uid $uid, not by root" <<<"$output"
}

@test "a reader that keeps a transaction open holds nothing up" {
	daemon_start
	printf 'plan: x\ntarget: {directory: scratch}\nmatrix: {label.n: [1, 2, 3]}\nsettle: 0\nworkloads: [dd-write: {size: 1MiB}]\n' >"$PLAN"
	iosweep submit "$PLAN" --wait
	printf 'BEGIN;\nSELECT count(*) FROM trial;\n.shell exec sleep 30\n' | sqlite3 -readonly "$IOSWEEP_DB" >"$HOME_DIR/read" 3>&- &
	local reader=$!
	wait_for 20 test -s "$HOME_DIR/read"
	timeout 25 iosweep submit "$PLAN" --wait
	kill -0 $reader
	pkill -P $reader
	wait $reader || true
	[ "$(query "SELECT count(*) FROM sweep WHERE state = 'done'")" = 2 ]
	[ "$(query 'PRAGMA integrity_check')" = ok ]
}

@test "an image that would fill the disk it lies on is refused, and one that was accepted in time as well" {
	mount -t tmpfs -o size=100m,mode=700 tmpfs "$HOME_DIR/images"
	daemon_start
	attack_plan '{image: 60MiB}' '{filesystem: ext4}' 1 true >"$PLAN"
	run iosweep submit "$PLAN" --wait
	echo "$output"
	local left
	left=$(ls -A "$HOME_DIR/images")
	iosweep cancel last 2>/dev/null || true
	daemon_stop
	umount "$HOME_DIR/images"
	[ "$status" -eq 1 ]
	grep -q 'keep-free\|to keep\|is to stay free\|free' <<<"$output$(query 'SELECT reason FROM sweep')"
	[ -z "$left" ]
}
