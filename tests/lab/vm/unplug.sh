# A disk is pulled under mkfs and under a workload, another one takes its name, and it comes back.
# Disk d1 (slow); the host's path of d1's image and of another image are the arguments.
. /payload/common.sh

image=$1 other=$2
config 'disk: {serial: d1}'
daemon_start
plug() { # SERIAL IMAGE ID
	lab_host "hmp drive_add 0 if=none,id=b$3,file=$2,format=raw,throttling.iops-total=150" >/dev/null
	lab_host "hmp device_add virtio-blk-pci,id=$3,drive=b$3,serial=$1" >/dev/null
	wait_for 20 lab_disk "$1"
	udevadm settle
}
unplug() { # ID NODE
	lab_host "device_del $1" >/dev/null
	wait_for 20 gone "/sys/block/${2#/dev/}"
}
gone() { [ ! -e "$1" ]; }
completes() { wait_for "$1" state_is done; }

d1=$(lab_disk d1)
RUN=$WRITE plan '{device: disk, erase: yes}' '{filesystem: ext4, readahead: [64KiB, 2MiB]}' 1 >/tmp/plan.yaml
iosweep submit /tmp/plan.yaml
wait_for 60 trial_runs
sleep 1
unplug d1 "$d1"
wait_for 90 is_over
check 'unplug under a workload: the sweep pauses' state_is paused
check 'unplug under a workload: the reason is the device' answers 'gone\|lost\|not here\|another device\|no device' "$(sweep_reason)"
check 'the daemon answers' iosweep list

plug other "$other" o1
name=$(lab_disk other)
check 'another disk has the same kernel name now' equal "$name" "$d1"
before=$(sha256sum <"$name")
wait_for 30 grep -q 'still waits for its device' "$HOME_DIR/daemon.log"
sleep 5 # for every look that its coming may cause
check 'another disk under the same name is not taken' state_is paused
check 'nor written to' equal "$(sha256sum <"$name")" "$before"

plug d1 "$image" d1b
check 'the same identity is back: the sweep resumes by itself and completes' completes 120
check 'with one good trial for each repetition' equal "$(query "SELECT count(*), count(DISTINCT cell_id) FROM trial WHERE state = 'ok'")" '2|2'

# ---- under mkfs ----
back=$(lab_disk d1)
sed -i 's/ext4/ext2/' /tmp/plan.yaml
iosweep submit /tmp/plan.yaml
wait_for 60 step_runs 'mkfs.ext2|mke2fs'
unplug d1b "$back"
wait_for 90 is_over
check 'unplug under mkfs: the sweep pauses' state_is paused
check 'unplug under mkfs: the reason is the device' answers 'gone\|lost\|not here\|another device\|no device' "$(sweep_reason)"
plug d1 "$image" d1c
check 'it resumes by itself and completes when the disk is back' completes 120
finish
