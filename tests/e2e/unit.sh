#!/bin/bash
# Runs inside the container of unit.bats, and prints what it looks at.
# The kernel may hand out a loop device that was not there when the container began.
for n in {0..127}; do [ -b "/dev/loop$n" ] || mknod "/dev/loop$n" b 7 "$n"; done
tar -C / -xf /run/share/install.tar
systemd-sysusers "$(find / -xdev -path '*/sysusers.d/iosweep.conf' -print -quit)"
mkdir -p /var/lib/iosweep-scratch /etc/systemd/system/iosweepd.service.d
chmod 1777 /var/lib/iosweep-scratch
cat >/etc/iosweep/iosweepd.yaml <<END
images: {path: /var/lib/iosweep/images, max: 1GiB, keep-free: 64MiB}
directories: {scratch: /var/lib/iosweep-scratch}
END
printf '[Service]\nReadWritePaths=/var/lib/iosweep-scratch\n' >/etc/systemd/system/iosweepd.service.d/paths.conf
systemctl daemon-reload

nap_plan() { # SECONDS [TARGET MATRIX]
	cat <<-END
	plan: nap
	target: ${2:-{directory: scratch\}}
	matrix: ${3:-{label.n: [1, 2]\}}
	workloads:
	  - command: {as: nap, warm: yes, run: [[sleep, '$1']], metrics: {time: {value: ":elapsed", unit: s, better: lower}}}
	trials: 1
	settle: 0
	END
}
query() { sqlite3 -readonly -cmd '.timeout 5000' /var/lib/iosweep/iosweep.db "$1"; }
state() { iosweep list --raw --columns state 2>/dev/null | tail -1; }
await() { # STATE: at most 20 s
	local i
	for ((i = 0; i < 200; i++)); do [ "$(state)" = "$1" ] && return; sleep 0.1; done
}

systemctl start iosweepd
echo "start $?"
systemctl show -p ActiveState,StatusText iosweepd
stat -c '%a %U %G %n' /var/lib/iosweep /var/lib/iosweep/iosweep.db /run/iosweep/iosweep.sock
echo "delegated: $(systemctl show -p Delegate --value iosweepd), memory: $(systemctl show -p DelegateControllers --value iosweepd | grep -cw memory)"
nap_plan 0.1 >/tmp/nap.yaml
timeout 30 iosweep submit /tmp/nap.yaml --wait
echo "directory $?"
cat >/tmp/image.yaml <<END
plan: image
target: {image: 200MiB}
matrix: {filesystem: ext4, readahead: [64KiB, 2MiB], scheduler: mq-deadline}
workloads: [dd-write: {bs: 1MiB, size: 16MiB}]
trials: 1
settle: 0
END
timeout 60 iosweep submit /tmp/image.yaml --wait
echo "image $?"
sed 's/scheduler: .*}/memory: 96MiB}/; s/readahead: .*, //' /tmp/image.yaml >/tmp/memory.yaml
timeout 60 iosweep submit /tmp/memory.yaml --wait
echo "memory: $(query 'SELECT state FROM cell ORDER BY id DESC LIMIT 1'), $(query "SELECT count(*) FROM undo WHERE state = 'pending'") to undo"
to_undo() { query "SELECT count(*) > 3 FROM undo WHERE state = 'pending'"; } # a cell's settings, its filesystem and its image
await_trial() { # at most 20 s
	local i
	for ((i = 0; i < 200; i++)); do [ "$(query "SELECT count(*) FROM trial WHERE state = 'running'")" = 0 ] || return 0; sleep 0.1; done
}
nap_plan 100 '{image: 64MiB}' '{filesystem: ext4, readahead: 2MiB, scheduler: mq-deadline, queue.nr_requests: 32}' >/tmp/nap.yaml
iosweep submit /tmp/nap.yaml
await_trial
echo "to undo before stop: $(to_undo)"
systemctl stop iosweepd
echo "stop $?"
systemctl show -p Result iosweepd
echo "after stop: $(state), to undo: $(query "SELECT count(*) FROM undo WHERE state = 'pending'"), images: $(ls /var/lib/iosweep/images | wc -l)"
systemctl start iosweepd
await_trial
echo "after start: $(state)"
kill -9 "$(systemctl show -p MainPID --value iosweepd)"
sleep 2.5
await_trial
echo "after kill: $(systemctl show -p NRestarts iosweepd) $(state)"
echo "workers that undo what another has left: $(journalctl -u iosweepd -o cat --no-pager | grep -c 'undo-only worker')"
iosweep cancel last
await cancelled
echo "after cancel: $(state)"
echo "exposure $(systemd-analyze security --no-pager iosweepd | sed -n 's/.*Overall exposure level for [^:]*: \([0-9.]*\) .*/\1/p')"
echo "notices: $(journalctl -u iosweepd -p 5..5 -o cat --no-pager | grep -c 'signal 15: stopping')"
echo "verify: $(systemd-analyze verify iosweepd.service 2>&1 | grep -c iosweepd)"
pid=$(systemctl show -p MainPID --value iosweepd)
echo "etc: $(nsenter -t "$pid" -m touch /etc/written 2>&1)"
echo "usr: $(nsenter -t "$pid" -m touch /usr/written 2>&1)"
nsenter -t "$pid" -m touch /var/lib/iosweep/written && rm /var/lib/iosweep/written && echo 'state directory: written'

# A daemon that stands still is noticed by the watchdog, here after 2 s, and a sweep that ran goes on.
printf '[Service]\nWatchdogSec=2s\n' >/etc/systemd/system/iosweepd.service.d/watchdog.conf
systemctl daemon-reload
systemctl restart iosweepd
systemctl show -p NRestarts iosweepd
sleep 5
echo "watchdog while idle: $(systemctl show -p NRestarts --value iosweepd) restarts"
iosweep submit /tmp/nap.yaml
await running
kill -STOP "$(systemctl show -p MainPID --value iosweepd)"
for ((i = 0; i < 150; i++)); do [ "$(systemctl show -p NRestarts --value iosweepd)" = 0 ] || break; sleep 0.1; done
sleep 1
await running
echo "watchdog: $(systemctl show -p NRestarts --value iosweepd) restart, $(state)"
echo "watchdog: $(journalctl -u iosweepd -o cat --no-pager | grep -c 'Watchdog timeout')"
iosweep cancel last
await cancelled
systemctl stop iosweepd
journalctl -u iosweepd -o short-monotonic --no-pager
