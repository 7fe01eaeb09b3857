#!/usr/bin/env bats
# Power cuts that lose the disk's write cache under the store.  See tests/lab/powercut.
#
# IOSWEEP_POWERCUTS is the number of cuts (100; `make soak` takes 500), IOSWEEP_SEED what their moments are drawn from.

load helpers

setup() {
	need_root
	need nbdkit nbdfuse fusermount3
	CUTS=${IOSWEEP_POWERCUTS:-100} SEED=${IOSWEEP_SEED:-1}
}

# Both targets at once: a cut waits more than it works.
@test "no acknowledged trial is lost in power cuts at random moments, and every sweep completes" {
	local out=$BATS_TEST_TMPDIR
	"$ROOT/tests/lab/powercut" "$B" $((CUTS / 2)) "$SEED" directory >"$out/directory" 2>&1 &
	local other=$! status=0
	"$ROOT/tests/lab/powercut" "$B" $((CUTS - CUTS / 2)) $((SEED + 1)) device >"$out/device" 2>&1 || status=$?
	wait $other || status=$?
	cat "$out/directory" "$out/device"
	cat "$out/directory" "$out/device" | sed 's/^/# /' >&3
	[ "$status" -eq 0 ]
	[ "$(cat "$out/directory" "$out/device" | awk '/^cuts/ { n += $2; lost += $6; bad += $8; acked += $4 }
		END { print n, lost, bad, (acked > n) }')" = "$CUTS 0 0 1" ]
}

@test "with synchronous=NORMAL the same cuts do lose acknowledged trials" {
	local testing=${B%/*}/test-${B##*/}
	[ -x "$testing/iosweepd" ] || { [ -z "${STRICT:-}" ] && skip "needs a build with TESTING=1"; false; }
	IOSWEEP_TEST_SYNCHRONOUS=NORMAL run "$ROOT/tests/lab/powercut" "$testing" 3 "$SEED" directory
	echo "$output"
	[ "$status" -ne 0 ]
	[ "$(awk '/^cuts/ { print ($6 > 0), $8 }' <<<"$output")" = '1 0' ]
}
