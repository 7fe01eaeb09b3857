# The kernel dies right after a trial is stored, with settings changed.  Disks: state, a, b.
export STATE=/state/iosweep
mkdir -p /state
. /payload/common.sh

disk=$(lab_disk state)
mkfs.ext4 -q -F "$disk"
mount "$disk" /state
mkdir -p "$STATE"
config 'disk: {serial: a}'
daemon_start
a=$(lab_disk a)
RUN='[sleep, "0.3"]' plan '{device: disk, erase: yes}' '{filesystem: ext4, readahead: [64KiB, 2MiB], scheduler: none, queue.nr_requests: 32}' 5 >/tmp/plan.yaml
iosweep submit /tmp/plan.yaml
wait_for 60 trials_ok 3
echo "acknowledged $(query "SELECT count(*) FROM trial WHERE state = 'ok'")"
echo "was $a, boot $(cat /proc/sys/kernel/random/boot_id)"
[ "$(query "SELECT count(*) FROM undo WHERE state = 'pending' AND kind = 'sysfs'")" -gt 0 ] && echo 'pending yes'
sleep 0.2
echo b >/proc/sysrq-trigger
sleep 20
