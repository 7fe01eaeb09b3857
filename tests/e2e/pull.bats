#!/usr/bin/env bats
# Two hosts, each a network and host-name namespace with a daemon and an sshd of its own: pull from both, compare them.

load helpers

setup() {
	need_root
	need sshd ip unshare ssh-keygen jq
	NET=isw$$
	SSH_DIR=$(mktemp -d /var/tmp/iosweep-ssh.XXXXXX)
	mkdir -p /run/sshd
	ssh-keygen -q -t ed25519 -N '' -f "$SSH_DIR/key"
	ssh-keygen -q -t ed25519 -N '' -f "$SSH_DIR/host"
	cp "$SSH_DIR/key.pub" "$SSH_DIR/authorized"
	ip link add "$NET" type bridge
	ip addr add 10.211.7.254/24 dev "$NET"
	ip link set "$NET" up
	PIDS=()
	HOMES=()
	host_up db1 1
	host_up db2 2
	mkdir "$SSH_DIR/bin"
	printf '#!/bin/sh\nexec /usr/bin/ssh -F %s/config "$@"\n' "$SSH_DIR" >"$SSH_DIR/bin/ssh"
	chmod +x "$SSH_DIR/bin/ssh"
	{
		printf 'Host db1\n HostName 10.211.7.1\nHost db2\n HostName 10.211.7.2\nHost db3\n HostName 10.211.7.3\n'
		printf 'Host *\n User root\n IdentityFile %s/key\n UserKnownHostsFile /dev/null\n StrictHostKeyChecking no\n LogLevel ERROR\n' "$SSH_DIR"
	} >"$SSH_DIR/config"
}

teardown() {
	local pid host
	for pid in "${PIDS[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
	for pid in "${PIDS[@]}"; do wait "$pid" 2>/dev/null || true; done
	for host in 1 2; do ip netns del "$NET.$host" 2>/dev/null || true; done
	ip link del "$NET" 2>/dev/null || true
	rm -rf --one-file-system "$SSH_DIR" "${HOMES[@]}"
}

# NAME NUMBER: a namespace with address 10.211.7.NUMBER, sshd, daemon, and one sweep that has ended.
host_up() {
	local ns=$NET.$2 in
	ip netns add "$ns"
	ip link add "v$NET$2" type veth peer name eth0 netns "$ns"
	ip link set "v$NET$2" master "$NET" up
	nsenter "--net=/run/netns/$ns" ip addr add "10.211.7.$2/24" dev eth0
	nsenter "--net=/run/netns/$ns" ip link set eth0 up
	nsenter "--net=/run/netns/$ns" ip link set lo up
	printf 'Port 22\nListenAddress 10.211.7.%s\nHostKey %s/host\nAuthorizedKeysFile %s/authorized\nPidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin yes\n' \
		"$2" "$SSH_DIR" "$SSH_DIR" >"$SSH_DIR/sshd.$1"
	nsenter "--net=/run/netns/$ns" /usr/sbin/sshd -D -f "$SSH_DIR/sshd.$1" 2>"$SSH_DIR/sshd.log" 3>&- &
	PIDS+=($!)
	daemon_setup
	HOMES+=("$HOME_DIR")
	in=(nsenter "--net=/run/netns/$ns" unshare --uts sh -c "hostname $1 && exec \"\$@\"" sh)
	"${in[@]}" "$B/iosweepd" --config "$CONFIG" 2>"$HOME_DIR/daemon.log" 3>&- &
	PIDS+=($!)
	wait_for 10 test -S "$IOSWEEP_SOCKET"
	cat >"$HOME_DIR/plan.yaml" <<-END
	plan: two-hosts
	target: {directory: scratch}
	matrix: {label.n: [1, 2, 3]}
	workloads:
	  - command:
	      run: [[sh, -c, 'n=\$(hostname | tr -d a-z); echo rate \$((1000 * (n + 10) + \$1))', sh, "\${repetition}"]]
	      metrics: {rate: {match: 'rate (?<r>\\d+)', value: ":r", unit: 1/s, better: higher}}
	      warm: yes
	settle: 0
	trials: 3
	END
	iosweep submit "$HOME_DIR/plan.yaml" --wait >/dev/null
	ln -s "$IOSWEEP_DB" "$SSH_DIR/$1.db"
}

@test "pull from two hosts over ssh, going on when a third is down; then compare them" {
	export PATH=$SSH_DIR/bin:$PATH IOSWEEP_DB=$SSH_DIR/all.db
	# each host's iosweep reads its own store
	printf '#!/bin/sh\nIOSWEEP_DB=%s/$(hostname -I | sed "s/.*10.211.7.\\([12]\\).*/db\\1/").db exec %s/iosweep "$@"\n' "$SSH_DIR" "$B" >"$SSH_DIR/bin/remote"
	chmod +x "$SSH_DIR/bin/remote"
	run iosweep pull db1 db2 db3 --command "$SSH_DIR/bin/remote"
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *'db1: 1 new sweep,'* && $output == *'db2: 1 new sweep,'* && $output == *'db3: ssh:'* ]]
	run iosweep pull db1 db2 --command "$SSH_DIR/bin/remote"
	[ "$status" -eq 0 ]
	[[ $output == *'db1: 0 new sweeps'* ]]
	[ "$(iosweep list --raw --columns host | sort | tr '\n' ' ')" = 'db1 db2 ' ]
	[ "$(iosweep compare --hosts db1,db2 --json | jq -r '.metrics[0] | "\(.matched) \(.pooled.verdict)"')" = '3 better' ]
}
