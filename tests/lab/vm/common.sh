# shellcheck shell=bash
# For the scenarios that run in the lab's virtual machine: a daemon with a home of its own, and lines that say how each
# check ended ("ok TEXT", "not ok TEXT").

. /usr/lib/lab/lab.sh
export PATH=/payload:$PATH IOSWEEP_DATA=/payload/sweeps
HOME_DIR=${HOME_DIR:-/var/lib/iosweep-lab}
STATE=${STATE:-$HOME_DIR/state}
export IOSWEEP_SOCKET=/run/iosweep.sock IOSWEEP_DB=$STATE/iosweep.db
CONFIG=$HOME_DIR/iosweepd.yaml
mkdir -p "$HOME_DIR/scratch" "$STATE" /var/tmp
chmod 755 / /var /var/lib "$HOME_DIR"
chmod 1777 "$HOME_DIR/scratch" /tmp /var/tmp
[ -s /etc/machine-id ] || echo 0123456789abcdef0123456789abcdef >/etc/machine-id
FAILED=0

check() { # TEXT COMMAND...
	local text=$1
	shift
	if "$@" >/tmp/check 2>&1; then
		echo "ok $text"
	else
		echo "not ok $text"
		sed 's/^/#   /' /tmp/check
		FAILED=1
	fi
}
finish() {
	[ "$FAILED" = 0 ] || { query "SELECT id, state, reason FROM sweep; SELECT cell_id, repetition, state, reason FROM trial;
		SELECT kind, text FROM event" | tail -40 | sed 's/^/#   /'; tail -30 "$HOME_DIR/daemon.log" | sed 's/^/#   /'; }
	daemon_stop
	exit "$FAILED"
}

config() { # LINE-OF-DEVICES...
	cat >"$CONFIG" <<-END
	state: $STATE
	socket: $IOSWEEP_SOCKET
	group: root
	user: nobody
	directories: {scratch: $HOME_DIR/scratch}
	END
	[ $# = 0 ] || { echo 'devices:'; printf '  %s\n' "$@"; } >>"$CONFIG"
}
daemon_start() {
	iosweepd --config "$CONFIG" 2>>"$HOME_DIR/daemon.log" &
	DAEMON=$!
	wait_for 60 test -S "$IOSWEEP_SOCKET"
}
daemon_stop() {
	[ -n "${DAEMON:-}" ] || return 0
	kill -TERM "$DAEMON" 2>/dev/null
	wait "$DAEMON"
	DAEMON=
}
wait_for() { # SECONDS COMMAND...
	local end up
	read -r up _ </proc/uptime
	end=$((${up%.*} + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		read -r up _ </proc/uptime
		[ "${up%.*}" -lt "$end" ] || { echo "timed out: $*"; return 1; }
		sleep 0.1
	done
}
query() { sqlite3 -readonly "$IOSWEEP_DB" "$1"; }
equal() { [ "$1" = "$2" ] || { echo "'$1' is not '$2'"; return 1; }; }
answers() { grep -q "$1" <<<"$2" || { echo "no '$1' in: $2"; return 1; }; }
sweep_state() { query 'SELECT state FROM sweep ORDER BY id DESC LIMIT 1'; }
sweep_reason() { query 'SELECT reason FROM sweep ORDER BY id DESC LIMIT 1'; }
state_is() { equal "$(sweep_state)" "$1"; }
is_over() { case $(sweep_state) in done | failed | paused | cancelled) true ;; *) false ;; esac; }
trial_runs() { [ "$(query "SELECT count(*) FROM trial WHERE state = 'running'")" -gt 0 ]; }
step_runs() { pgrep -x "$1"; }
trials_ok() { [ "$(query "SELECT count(*) FROM trial WHERE state = 'ok'")" -ge "$1" ]; }

# A plan on standard output: TARGET MATRIX TRIALS SETTING... ; its workload's argv is RUN.
plan() {
	cat <<-END
	plan: lab
	target: $1
	matrix: $2
	trials: $3
	settle: 0
	workloads:
	  - command:
	      as: work
	      warm: yes
	      run: [$RUN]
	      metrics: {time: {value: ":elapsed", unit: s, better: lower}}
	END
}
WRITE='[dd, if=/dev/zero, "of=${dir}/f", bs=4k, count=400, oflag=dsync]'
