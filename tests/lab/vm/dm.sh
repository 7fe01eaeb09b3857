# A target that is a dm device, and what dm can do to a filesystem: errors, a suspended table, lost writes, short failures.
# Cases 40 and 48 of those from practice.  Disk t1.
. /payload/common.sh

t1=$(lab_disk t1)
modprobe -a dm-mod dm-flakey 2>/dev/null
sectors=$(blockdev --getsz "$t1")
linear="0 $sectors linear $t1 0"
dmsetup create flaky --table "$linear"
udevadm settle
dm=/dev/$(basename "$(readlink -f /dev/mapper/flaky)")
config 'disk: {by-id: dm-name-flaky}'
daemon_start

table() { # TABLE [SUSPEND-OPTION...]: as it is swapped under load
	dmsetup suspend "${@:2}" flaky && dmsetup load flaky --table "$1" && dmsetup resume flaky
}
settings() { cat "/sys/block/${t1#/dev/}/queue/scheduler" "/sys/block/${dm#/dev/}/queue/read_ahead_kb"; }
submit() { # SETTING...: three cells of two trials
	RUN=$WRITE plan '{device: disk, erase: yes}' '{filesystem: ext4, readahead: [64KiB, 1MiB, 2MiB], scheduler: mq-deadline}' 2 >/tmp/plan.yaml
	printf '%s\n' "$@" >>/tmp/plan.yaml
	sed -i 's/count=400/count=40/' /tmp/plan.yaml
	iosweep submit /tmp/plan.yaml
}
good() { query "SELECT count(*) FROM trial t JOIN cell c ON c.id = cell_id WHERE t.state = 'ok' AND sweep_id = (SELECT max(id) FROM sweep)"; }
some_are_good() { [ "$(good)" -ge "$1" ]; }
bad_reason() { query "SELECT reason FROM trial WHERE state <> 'ok' ORDER BY id DESC LIMIT 1"; }
is_unmounted() { ! grep -qs "$dm " /proc/[0-9]*/mounts; }
hangs() { answers '^device hangs: .*does not answer' "$(sweep_reason)"; }
before=$(settings)

# ---- the device fails all that it is asked for, for a while ----
submit
wait_for 60 trial_runs
table "0 $sectors error" --nolockfs --noflush
wait_for 60 eval '[ -n "$(bad_reason)" ]'
table "$linear" --nolockfs --noflush
wait_for 120 is_over
check 'dm-error: the sweep has failed, and says why' state_is failed
check 'dm-error: the reason of the trial is the error' answers 'nput/output error\|EIO\|tructure needs cleaning\|ead-only file system' "$(bad_reason)"
check 'dm-error: every cell that could not be measured has its reason' equal "$(query "SELECT count(*) FROM cell
	WHERE state = 'failed' AND reason = ''")" 0
check 'dm-error: the settings are as before' equal "$(settings)" "$before"
check 'dm-error: nothing is mounted' is_unmounted

# ---- it fails to the end: what cannot be put back is said, and put back later ----
submit
wait_for 60 trial_runs
table "0 $sectors error" --nolockfs --noflush
wait_for 120 is_over
check 'dm-error to the end: the daemon answers' iosweep list
check 'dm-error to the end: nothing is mounted' is_unmounted
table "$linear" --nolockfs --noflush
iosweep restore >/tmp/restore 2>&1
check 'dm-error to the end: restore leaves nothing behind when the device works again' equal \
	"$(query "SELECT count(*) FROM undo WHERE state = 'pending'")" 0
check 'dm-error to the end: the settings are as before' equal "$(settings)" "$before"
submit
wait_for 120 is_over
check 'dm-error to the end: the device is used again' state_is done

# ---- a suspended table: all that waits for it is in state D ----
submit 'timeout: 15s'
wait_for 60 trial_runs
dmsetup suspend --nolockfs --noflush flaky
wait_for 120 hangs
check 'dm suspended: the sweep is paused, and the reason names what hangs' hangs
check 'dm suspended: the daemon answers' iosweep list
dmsetup resume flaky
wait_for 180 state_is done
check 'dm suspended: it goes on by itself, and every trial is measured' some_are_good 6
check 'dm suspended: the settings are as before' equal "$(settings)" "$before"

# ---- it works for two seconds and fails for one, again and again ----
submit
wait_for 60 trial_runs
table "0 $sectors flakey $t1 0 2 1" --nolockfs --noflush
wait_for 180 is_over
check 'dm-flakey: the sweep ends' is_over
check 'dm-flakey: nothing is mounted' is_unmounted
table "$linear" --nolockfs --noflush
iosweep restore >/tmp/restore 2>&1
check 'dm-flakey: nothing is left to undo' equal "$(query "SELECT count(*) FROM undo WHERE state = 'pending'")" 0
check 'dm-flakey: the settings are as before' equal "$(settings)" "$before"

# ---- writes that are acknowledged and lost: mkfs succeeds, and made nothing ----
mke2fs -q -F "$dm"
dd if=/dev/zero of="$dm" bs=1M count=1 oflag=direct 2>/dev/null
table "0 $sectors flakey $t1 0 0 100 1 drop_writes"
submit
wait_for 120 is_over
check 'dm drop_writes: a filesystem that is not there is not measured' equal "$(good)" 0
check 'dm drop_writes: the reason says so' answers 'made ext4\|superblock\|reads' "$(sweep_reason)"
table "$linear"
iosweep restore >/tmp/restore 2>&1
daemon_stop
dmsetup remove flaky

# ---- case 40: nothing dirty is left when a trial starts ----
config 'disk: {serial: t1}'
daemon_start
dirty() { # COLD-OR-WARM: kB dirty at the start of the run
	cat >/tmp/plan.yaml <<-END
	plan: dirty
	target: {device: disk, erase: yes}
	matrix: {filesystem: ext4}
	trials: 1
	settle: 0
	workloads:
	  - command:
	      as: dirty
	      warm: $1
	      prepare: [[dd, if=/dev/zero, "of=\${dir}/f", bs=1M, count=60]]
	      run: [[grep, Dirty, /proc/meminfo]]
	      metrics: {dirty: {match: 'Dirty: *(?<n>\d+) kB', value: ":n", unit: kB, better: lower}}
	END
	iosweep submit /tmp/plan.yaml --wait >/dev/null 2>&1
	query "SELECT CAST(value AS INTEGER) FROM measurement ORDER BY trial_id DESC LIMIT 1"
}
echo 50 >/proc/sys/vm/dirty_ratio
echo 40 >/proc/sys/vm/dirty_background_ratio
cold=$(dirty no) warm=$(dirty yes)
check "caches: what a trial begins with is written first ($cold kB dirty; $warm if it is to stay warm: case 40)" \
	test "$cold" -lt 5000 -a "$warm" -gt 20000

# ---- case 48: the write cache changes between two trials ----
cache=/sys/block/${t1#/dev/}/queue/write_cache
RUN='[sleep, "1"]' plan '{device: disk, erase: yes}' '{filesystem: ext4}' 3 >/tmp/plan.yaml
iosweep submit /tmp/plan.yaml
last="(SELECT max(id) FROM sweep)"
wait_for 60 eval '[ "$(good)" = 1 ]'
was=$(cat "$cache")
[ "$was" = 'write back' ] && other='write through' || other='write back'
echo "$other" >"$cache"
wait_for 60 eval '[ "$(good)" = 2 ]'
echo "$was" >"$cache"
wait_for 60 state_is done
check 'write cache: the trial that it changed in is flagged (case 48)' test "$(query "SELECT count(*) FROM trial_flag f
	JOIN trial t ON t.id = trial_id JOIN cell c ON c.id = cell_id WHERE sweep_id = $last AND repetition = 2
	AND f.reason LIKE '%write cache was%'")" = 1
finish
