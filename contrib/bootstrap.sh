#!/bin/sh
# Installs what iosweep needs on Debian and is not here yet; a no-op of some milliseconds otherwise.
#
#   sh contrib/bootstrap.sh            to build, run and test
#   sh contrib/bootstrap.sh lint       also what `make lint` uses
#   sh contrib/bootstrap.sh lab        also what `make check-all`, `make check-vm` and `make bench` use
#
# Each package has a reason beside it.
set -eu

build="
gcc libc6-dev make pkg-config
libuv1-dev       # the daemon's loop
libsqlite3-dev   # the store
libyaml-dev      # plans, definitions, configuration
libblkid-dev     # what is on a device
libudev-dev      # which devices there are
libmount-dev     # mount tables
libsmartcols-dev # tables for people
libjson-c-dev    # the wire and --json
libpcre2-dev     # patterns with names and limits
libmd-dev        # SHA-256
zlib1g-dev       # kept outputs
libsystemd-dev   # readiness and watchdog
"
run="
util-linux mount # losetup, setpriv
e2fsprogs xfsprogs btrfs-progs  # mkfs
fio bonnie++ hdparm ioping dbench sysbench  # workloads
postgresql-15 postgresql-client-15          # pgbench and the server it runs against
gnuplot-nox      # iosweep plot
"
test="
libcmocka-dev bats sqlite3 procps jq
systemd systemd-container  # the unit, in a container
nbdkit libnbd-bin fuse3  # the fault disk: power cuts, I/O errors, hanging devices
openssh-server openssh-client iproute2  # two hosts in network namespaces
mandoc           # the manuals are tested
"
lint="
clang clang-tidy cppcheck pmccabe shellcheck mandoc libclang-rt-14-dev valgrind gdb strace
"
lab="
qemu-system-x86 cpio kmod udev mdadm lvm2 dmsetup  # the virtual machine; its kernel is only downloaded
parallel task-spooler  # what the benchmark compares with
"

wanted="$build$run$test"
for group; do
	case $group in
	lint) wanted="$wanted$lint" ;;
	lab) wanted="$wanted$lab" ;;
	*) echo "bootstrap.sh: unknown group '$group'; known are lint and lab" >&2; exit 2 ;;
	esac
done

missing=
installed=" $(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' | sed -n 's/^.i //p' | tr '\n' ' ')"
for package in $(printf '%s\n' "$wanted" | sed 's/#.*//'); do
	case $installed in
	*" $package "*) ;;
	*) missing="$missing $package" ;;
	esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
	echo "bootstrap.sh: not root, and these packages are missing:$missing" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
# The cluster that the PostgreSQL package makes is not wanted: iosweep runs a server of its own on the tested filesystem.
if [ ! -e /etc/postgresql-common/createcluster.conf ]; then
	mkdir -p /etc/postgresql-common
	echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
fi
apt-get -qq -o DPkg::Lock::Timeout=300 update
# shellcheck disable=SC2086 # a list of names
apt-get -qq -y -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold --no-install-recommends install $missing >/dev/null
