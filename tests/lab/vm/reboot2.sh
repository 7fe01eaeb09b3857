# The boot after reboot1.sh: disks a and b have swapped their names.  Arguments: trials acknowledged, a's name then.
export STATE=/state/iosweep
mkdir -p /state
. /payload/common.sh

mount "$(lab_disk state)" /state
a=$(lab_disk a)
check 'reboot: the disk has another kernel name' [ "$a" != "$2" ]
renamed=/sys/block/${2#/dev/}/queue
echo mq-deadline >"$renamed/scheduler"
echo 777 >"$renamed/read_ahead_kb"
before=$(cat "$renamed/scheduler" "$renamed/read_ahead_kb" "$renamed/nr_requests")
check 'reboot: the store is intact (case 54)' equal "$(sqlite3 "$IOSWEEP_DB" 'PRAGMA integrity_check')" ok
check 'reboot: every trial that was seen is there (case 54)' trials_ok "$1"
config 'disk: {serial: a}'
daemon_start
wait_for 90 state_is done
check 'reboot: the sweep goes on and completes' state_is done
check 'reboot: one good trial for each repetition' equal "$(query "SELECT count(*), count(DISTINCT cell_id || ' ' || repetition)
	FROM trial WHERE state = 'ok'")" '10|10'
check 'reboot: the settings of the disk that has the old name are untouched' equal "$before" \
	"$(cat "$renamed/scheduler" "$renamed/read_ahead_kb" "$renamed/nr_requests")"
check 'reboot: nothing is left to undo' equal "$(query "SELECT count(*) FROM undo WHERE state = 'pending'")" 0
finish
