#!/bin/sh
# make demo: one real sweep on an image file, with a private daemon that is gone afterwards.
# usage: contrib/demo.sh BUILD [PLAN]
#
# The image lives in a directory of its own below ${TMPDIR:-/var/tmp}; no disk of the machine is listed, so none can be
# a target.  The results stay in that directory only as long as the demo runs, unless KEEP is set.
set -eu

build=$(cd "$1" && pwd)
plan=${2:-sweeps/demo.yaml}
if [ "$(id -u)" -ne 0 ]; then
	echo "demo: needs root: it attaches a loop device, makes filesystems on it and mounts them" >&2
	exit 1
fi

home=$(mktemp -d "${TMPDIR:-/var/tmp}/iosweep-demo.XXXXXX")
chmod 755 "$home"
mkdir "$home/images"
cat >"$home/iosweepd.yaml" <<END
state: $home/state
socket: $home/socket
group: root
user: nobody
images: {path: $home/images, max: 2GiB, keep-free: 512MiB}
END
export IOSWEEP_SOCKET="$home/socket" IOSWEEP_DB="$home/state/iosweep.db" IOSWEEP_DATA="$PWD/sweeps"

"$build/iosweepd" --config "$home/iosweepd.yaml" 2>"$home/daemon.log" &
daemon=$!
finish() {
	status=$?
	kill -TERM "$daemon" 2>/dev/null || true
	wait "$daemon" || true
	if [ "$status" -ne 0 ]; then
		echo "demo: failed; the daemon's log:" >&2
		tail -20 "$home/daemon.log" >&2
	fi
	if [ -n "${KEEP:-}" ]; then echo "demo: store, log and configuration are in $home"; else rm -rf "$home"; fi
	exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM

n=0
until [ -S "$home/socket" ]; do
	n=$((n + 1))
	[ "$n" -lt 200 ] || { echo "demo: the daemon did not start" >&2; exit 1; }
	sleep 0.05
done

echo "== iosweep check $plan"
"$build/iosweep" check "$plan"
echo
echo "== iosweep submit $plan --wait"
"$build/iosweep" submit "$plan" --wait
echo
echo "== iosweep best last"
"$build/iosweep" best last
echo

# The machine is handed back: nothing of ours is mounted or attached.
left=$(grep -c "$home" /proc/self/mountinfo || true)
attached=$(losetup -n -O BACK-FILE | grep -c "$home" || true)
if [ "$left" -ne 0 ] || [ "$attached" -ne 0 ]; then
	echo "demo: $left mounts and $attached loop devices were left behind" >&2
	exit 1
fi
echo "Nothing is left mounted or attached."
