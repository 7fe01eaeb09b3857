# An array as a target: what mkfs makes of its geometry (case 20), and a read-ahead that is gone when it is assembled anew
# (case 4).  Disks m1 m2 m3 m4.  Arrays that a sweep makes itself (cases 28 and 30) wait for the layouts.
. /payload/common.sh

members=("$(lab_disk m1)" "$(lab_disk m2)" "$(lab_disk m3)" "$(lab_disk m4)")
modprobe -a raid10 2>/dev/null
array_make() { # SIZE of each member's part
	mdadm --create /dev/md20 --run --level=10 --raid-devices=4 --chunk=64 "--size=$1" --assume-clean --bitmap=none --metadata=1.2 \
		"${members[@]}" </dev/null
	udevadm settle
	config "array: {by-id: md-uuid-$(mdadm --detail --export /dev/md20 | sed -n 's/^MD_UUID=//p')}"
	daemon_start
}
array_end() {
	daemon_stop
	mdadm --stop /dev/md20
	mdadm --zero-superblock "${members[@]}"
	udevadm settle
}
effective() { # AXIS: of the newest sweep, "FILESYSTEM VERDICT EFFECTIVE" a line
	query "SELECT f.requested, v.verdict, v.effective FROM cell_value v JOIN axis a ON a.id = v.axis_id
		JOIN cell c ON c.id = v.cell_id JOIN cell_value f ON f.cell_id = c.id JOIN axis fa ON fa.id = f.axis_id
		WHERE c.sweep_id = (SELECT max(id) FROM sweep) AND a.name = '$1' AND fa.name = 'filesystem' ORDER BY c.position"
}

# ---- case 20 ----
geometry() { # FILESYSTEM...
	RUN='[sleep, "0.1"]' plan '{device: array, erase: yes}' "{filesystem: [$1]}" 1 >/tmp/plan.yaml
	cat >>/tmp/plan.yaml <<-'END'
	define:
	  filesystem:
	    found: {type: xfs}
	    right: {type: xfs, mkfs: [-d, "su=64k,sw=2"]}
	    wrong: {type: xfs, mkfs: [-d, "su=64k,sw=12"]}
	END
	iosweep submit /tmp/plan.yaml --wait
	effective mkfs >/tmp/geometry
	cat /tmp/geometry
}
array_make 200M
geometry found
check 'mkfs.xfs: that it ignored the geometry of a small array takes the certainty away (case 20)' \
	grep -q '^found|unconfirmed|.*sunit=0 ' /tmp/geometry
array_end
array_make 600M
geometry 'found, right, wrong'
check 'mkfs.xfs: the geometry that it found by itself is recorded with its numbers (case 20)' \
	grep -q '^found|implied|.*sunit=[1-9][0-9]* swidth=[1-9]' /tmp/geometry
check 'mkfs.xfs: one that fits is confirmed' grep -q '^right|confirmed|' /tmp/geometry
check 'mkfs.xfs: one that it warned about is not (case 20)' grep -q '^wrong|\(unconfirmed\|contradicted\)|' /tmp/geometry

# ---- case 4 ----
readahead() { cat /sys/block/md20/queue/read_ahead_kb; }
found=$(readahead)
RUN='[cat, /sys/block/md20/queue/read_ahead_kb]' plan '{device: array, erase: yes}' '{filesystem: ext4, readahead: 9000KiB}' 1 >/tmp/plan.yaml
sed -i "s|metrics: .*|metrics: {kib: {match: '^(?<n>\\\\d+)\$', value: ':n', unit: KiB, better: higher}}|" /tmp/plan.yaml
measured() { query "SELECT group_concat(CAST(value AS INTEGER)) FROM (SELECT value FROM measurements WHERE metric LIKE '%kib' ORDER BY trial)"; }
iosweep submit /tmp/plan.yaml --wait
check 'md: the read-ahead is as found after the sweep' equal "$(readahead)" "$found"
blockdev --setra 4000 /dev/md20 # somebody's own, which is lost
mdadm --stop /dev/md20
udevadm settle
wait_for 20 mdadm --assemble /dev/md20 "${members[@]}"
udevadm settle
check 'md: assembled anew, the array has the read-ahead that the kernel gives it (case 4)' test "$(readahead)" != 2000
again=$(readahead)
iosweep submit /tmp/plan.yaml --wait
check 'md: the sweep after that measures with the read-ahead asked for, as the one before (case 4)' equal "$(measured)" 9000,9000
check 'md: and it is as found again' equal "$(readahead)" "$again"
finish
