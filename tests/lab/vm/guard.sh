# Devices that something stands on, md and dm as targets, the clock, the memory limit.  Disks m1 m2 p1 t1.
. /payload/common.sh

m1=$(lab_disk m1) m2=$(lab_disk m2) p1=$(lab_disk p1) t1=$(lab_disk t1)
modprobe -a raid1 dm-mod dm-flakey 2>/dev/null
mdadm --create /dev/md10 --run --level=1 --raid-devices=2 --size=80M --bitmap=none --metadata=1.2 "$m1" "$m2" </dev/null
mdadm --wait /dev/md10
pvcreate -q "$p1"
vgcreate -q vg "$p1"
udevadm settle
config 'member: {serial: m1}' 'pv: {serial: p1}' 'free: {serial: t1}' 
daemon_start

ends() { { head -c 1M "$1"; tail -c 1M "$1"; } | sha256sum; }
refused() { # NAME DEVICE REASON [FILESYSTEM]
	local before output
	before=$(ends "$2")
	RUN=$WRITE plan "{device: $1, erase: yes}" "{filesystem: ${4:-ext4}}" 1 >/tmp/plan.yaml
	! output=$(iosweep submit /tmp/plan.yaml --wait 2>&1) || { echo "$output"; return 1; }
	answers "$3" "$output" && equal "$(ends "$2")" "$before"
}
check 'guard: a member of a running array is refused (case 24), its ends unchanged' refused member "$m1" 'md10'
check 'guard: the same as a raw target' refused member "$m1" 'md10' none
check 'guard: an LVM PV without active LVs is refused' refused pv "$p1" 'LVM\|physical volume\|PV'
lvcreate -qq -y -W y -L 40M -n lv vg
check 'guard: an LVM PV with an active LV is refused' refused pv "$p1" 'dm-\|vg-lv\|LVM\|holder'

# ---- case 14: a stacked device takes any scheduler name and ignores it ----
uuid=$(mdadm --detail --export /dev/md10 | sed -n 's/^MD_UUID=//p')
ls /dev/disk/by-id >/tmp/by-id
daemon_stop
config "array: {by-id: md-uuid-$uuid}" 'free: {serial: t1}'
daemon_start
echo mq-deadline >"/sys/block/${m1#/dev/}/queue/scheduler"
echo mq-deadline >"/sys/block/${m2#/dev/}/queue/scheduler"
before=$(cat "/sys/block/${m1#/dev/}/queue/scheduler" "/sys/block/${m2#/dev/}/queue/scheduler")
members_set() {
	RUN="[cat, /sys/block/${m1#/dev/}/queue/scheduler, /sys/block/${m2#/dev/}/queue/scheduler]" \
		plan '{device: array, erase: yes}' '{filesystem: ext4, scheduler: [mq-deadline, none]}' 1 >/tmp/plan.yaml
	iosweep submit /tmp/plan.yaml --wait || return 1
	query "SELECT c.state, s.text FROM cell c JOIN cell_setting v ON v.cell_id = c.id JOIN axis a ON a.id = v.axis_id
		LEFT JOIN spelling s ON s.id = v.effective WHERE a.name = 'scheduler' ORDER BY 2" >/tmp/effective
	equal "$(cat /tmp/effective)" "$(printf 'ok|mq-deadline\nok|none')"
}
check 'md: the scheduler axis is set on the members (case 14)' members_set
check 'md: the schedulers of the members are as before' equal "$before" \
	"$(cat "/sys/block/${m1#/dev/}/queue/scheduler" "/sys/block/${m2#/dev/}/queue/scheduler")"

# ---- case 62: the clock goes back an hour during a trial ----
RUN='[sleep, "3"]' plan '{directory: scratch}' '{label.n: [1, 2]}' 1 >/tmp/plan.yaml
iosweep submit /tmp/plan.yaml
last="(SELECT max(id) FROM sweep)"
wait_for 30 trial_runs
date -s "@$(($(date +%s) - 3600))" >/dev/null
wait_for 60 state_is done
check 'clock: elapsed times are right though it went back an hour (case 62)' equal "$(query "SELECT count(*) FROM trial t JOIN cell c
	ON c.id = t.cell_id WHERE c.sweep_id = $last AND t.elapsed_ns BETWEEN 2900000000 AND 20000000000")" 2
check 'clock: the order of the trials is kept' equal "$(query "SELECT group_concat(position) FROM (SELECT c.position FROM trial t
	JOIN cell c ON c.id = t.cell_id WHERE c.sweep_id = $last ORDER BY t.id)")" 0,1

# ---- cgroup v2 ----
echo '+memory' >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null
memory_is_limited() {
	RUN='[head, -c, "200000000", /dev/zero]' plan '{directory: scratch}' '{memory: 96MiB}' 1 >/tmp/plan.yaml
	iosweep submit /tmp/plan.yaml --wait || return 1
	equal "$(query "SELECT s.text FROM cell_setting v JOIN axis a ON a.id = v.axis_id JOIN spelling s ON s.id = v.effective
		WHERE a.name = 'memory'")" 100663296
}
check 'cgroup v2: the memory axis is set and read back' memory_is_limited

memory_runs_out() {
	RUN='[dd, if=/dev/zero, of=/dev/null, bs=200M, count=1]' plan '{directory: scratch}' '{memory: [96MiB, 400MiB]}' 1 >/tmp/plan.yaml
	! iosweep submit /tmp/plan.yaml --wait || return 1
	equal "$(query "SELECT group_concat(c.state) FROM (SELECT * FROM cell WHERE sweep_id = $last ORDER BY position) c")" failed,ok || return 1
	answers 'killed for want of memory: the cell allows 96MiB' "$(query "SELECT reason FROM trial WHERE state = 'failed' ORDER BY id DESC LIMIT 1")"
}
check 'cgroup v2: a workload that runs out of memory fails with that reason, and the next cell is measured' memory_runs_out
check 'cgroup v2: nothing is left of the cgroup' test -z "$(find /sys/fs/cgroup -maxdepth 2 -name 'iosweep-*-*')"

# ---- dm above a disk ----
dmsetup create under --table "0 $(blockdev --getsz "$t1") linear $t1 0"
udevadm settle
check 'guard: a disk that a dm device stands on is refused' refused free "$t1" 'dm-\|under'
dmsetup remove under
finish
