/* SPDX-License-Identifier: MIT
 *
 * mkfs: the argument list, the verdict on a failure, and what was made against what was asked, from recorded
 * descriptions; and filesystems made for real on loop devices of the test's own.
 */
#include "tests/unit/worker_fixture.h"

#include <sys/wait.h>

#include "daemon/worker/device.h"
#include "daemon/worker/format.h"
#include "daemon/worker/guard.h"

#define UUID "01234567-89ab-7def-8123-456789abcdef"

static void argv_for(const char *type, const char *words, bool keeps_blocks, const char *expected)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_TEXT struct text joined = { 0 };
	struct format f = { .type = type };
	struct err e = { 0 };
	char **argv;
	size_t n;

	assert_int_equal(words_split(a, words, &f.mkfs, &n, &e), 0);
	assert_int_equal(format_argv(&f, keeps_blocks, UUID, "/node", a, &argv, &e), 0);
	for (; *argv != NULL; argv++)
		text_printf(&joined, "%s%s", joined.n > 0 ? " " : "", *argv);
	assert_string_equal(text_str(&joined), expected);
}

static void argv_is(const char *type, const char *words, const char *expected)
{
	argv_for(type, words, false, expected);
}

static void our_options_come_first_and_the_node_last(void **state)
{
	(void)state;
	argv_is("ext4", "-b 4096",
	        "mkfs.ext4 -F -q -U " UUID " -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 /node");
	argv_is("ext2", "", "mkfs.ext2 -F -q -U " UUID " -E lazy_itable_init=0,lazy_journal_init=0 /node");
	argv_is("xfs", "-d su=64k,sw=12", "mkfs.xfs -f -m uuid=" UUID " -d su=64k,sw=12 /node");
	argv_is("btrfs", "-n 8192", "mkfs.btrfs -f -U " UUID " -n 8192 /node");
}

static void extended_options_of_the_plan_keep_their_one_place(void **state)
{
	(void)state;
	argv_is("ext3", "-E stride=16",
	        "mkfs.ext3 -F -q -U " UUID " -E stride=16,lazy_itable_init=0,lazy_journal_init=0 /node");
	argv_is("ext4", "-E lazy_itable_init=1",
	        "mkfs.ext4 -F -q -U " UUID " -E lazy_itable_init=1,lazy_journal_init=0 /node");
	argv_is("ext4", "-E lazy_itable_init=1,lazy_journal_init=1",
	        "mkfs.ext4 -F -q -U " UUID " -E lazy_itable_init=1,lazy_journal_init=1 /node");
}

static void a_device_that_was_written_over_is_not_discarded_unless_the_plan_says_so(void **state)
{
	(void)state;
	argv_for("ext4", "", true,
	         "mkfs.ext4 -F -q -U " UUID " -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 /node");
	argv_for("ext3", "-E stride=16", true,
	         "mkfs.ext3 -F -q -U " UUID " -E stride=16,nodiscard,lazy_itable_init=0,lazy_journal_init=0 /node");
	argv_for("ext4", "-E discard", true,
	         "mkfs.ext4 -F -q -U " UUID " -E discard,lazy_itable_init=0,lazy_journal_init=0 /node");
	argv_for("xfs", "-i size=512", true, "mkfs.xfs -f -m uuid=" UUID " -K -i size=512 /node");
	argv_for("btrfs", "-n 8192", true, "mkfs.btrfs -f -U " UUID " -K -n 8192 /node");
	argv_for("btrfs", "-K", true, "mkfs.btrfs -f -U " UUID " -K /node");
}

static void a_lazy_plan_is_known_as_such(void **state)
{
	const char *lazy[] = { "-E", "stride=4,lazy_itable_init=1", NULL }, *eager[] = { "-E", "lazy_itable_init=0", NULL };

	(void)state;
	assert_true(format_is_lazy(&(struct format){ .type = "ext4", .mkfs = (char **)lazy }));
	assert_false(format_is_lazy(&(struct format){ .type = "ext4", .mkfs = (char **)eager }));
	assert_false(format_is_lazy(&(struct format){ .type = "xfs" }));
}

static void an_unknown_filesystem_has_no_arguments(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct err e = { 0 };
	char **argv;

	(void)state;
	assert_int_equal(format_argv(&(struct format){ .type = "zfs" }, false, UUID, "/node", a, &argv, &e), -1);
	assert_string_equal(e.text, "unknown filesystem 'zfs'");
}

static void judged(const char *err_text, int status, int signal, enum err_kind kind, const char *expected)
{
	struct tool_end end = { .exit_status = status, .exit_signal = signal };
	struct err e = { 0 };

	text_add(&end.err, err_text);
	assert_int_equal(format_judge("mkfs.xfs", &end, &e), -1);
	assert_string_equal(e.text, expected);
	assert_int_equal(e.kind, kind);
	text_done(&end.err);
}

static void usage_and_size_errors_are_infeasible_and_device_errors_are_not(void **state)
{
	(void)state;
	judged("Invalid value 3 for -b size option. Value is too small.\nUsage: mkfs.xfs\n", 1, 0, ERR_INFEASIBLE,
	       "mkfs.xfs refuses: Invalid value 3 for -b size option. Value is too small.");
	judged("Filesystem must be larger than 300MB.\n", 1, 0, ERR_INFEASIBLE,
	       "mkfs.xfs refuses: Filesystem must be larger than 300MB.");
	judged("mke2fs 1.47.0 (5-Feb-2023)\n\nmkfs.ext4: Input/output error while writing superblock\n", 1, 0, ERR_TOOL,
	       "mkfs.xfs: mkfs.ext4: Input/output error while writing superblock");
	judged("mkfs.xfs: cannot open /dev/x: Device or resource busy\n", 1, 0, ERR_BUSY,
	       "mkfs.xfs: mkfs.xfs: cannot open /dev/x: Device or resource busy");
	judged("", -1, 9, ERR_TOOL, "mkfs.xfs was ended by signal 9");
	judged("", 1, 0, ERR_TOOL, "mkfs.xfs ended with status 1 and says nothing");
}

static void the_first_line_that_tells_something_is_found(void **state)
{
	char line[128];

	(void)state;
	format_first_line("\nNOTE: several default settings have changed in version 5.15, please make sure\n      this does not affect\n"
	                  "      - DUP for metadata (-m dup)\n\n", line, sizeof(line));
	assert_string_equal(line, "");
	format_first_line("mke2fs 1.47.0 (5-Feb-2023)\nmkfs.xfs: small data volume, ignoring data volume stripe unit 128\n", line,
	                  sizeof(line));
	assert_string_equal(line, "mkfs.xfs: small data volume, ignoring data volume stripe unit 128");
}

static void verdict_is(const char *type, const char *words, enum verdict expected, const char *why_expected)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_TEXT struct text description = { 0 }, effective = { 0 }, why = { 0 };
	struct format f = { .type = type };
	struct err e = { 0 };
	char path[64];
	enum verdict v;
	size_t n;

	snprintf(path, sizeof(path), "tests/data/mkfs/%s.txt", type);
	assert_int_equal(file_read(AT_FDCWD, path, 65536, &description, &e), 0);
	assert_int_equal(words_split(a, words, &f.mkfs, &n, &e), 0);
	v = geometry_verdict(&f, text_str(&description), &effective, &why);
	if (v != expected)
		fail_msg("%s '%s': %s (%s)", type, words, verdict_name(v), text_str(&why));
	assert_string_equal(text_str(&why), why_expected);
}

static void geometry_that_was_made_is_confirmed(void **state)
{
	(void)state;
	verdict_is("ext4", "-b 4096 -I 512 -E stride=16,stripe-width=192", VERDICT_CONFIRMED, "");
	verdict_is("ext4", "-O ^metadata_csum,extent", VERDICT_CONFIRMED, "");
	verdict_is("ext4", "-O none,extent", VERDICT_CONFIRMED, "");
	verdict_is("ext4", "-N 65600", VERDICT_CONFIRMED, "");
	verdict_is("xfs", "-d su=64k,sw=12 -l size=64m", VERDICT_CONFIRMED, "");
	verdict_is("xfs", "-d sunit=128,swidth=1536", VERDICT_CONFIRMED, "");
	verdict_is("xfs", "-b size=4096 -i size=512 -m reflink=1,crc=1 -n size=4096", VERDICT_CONFIRMED, "");
	verdict_is("btrfs", "-n 8192 -s 4096", VERDICT_CONFIRMED, "");
	verdict_is("xfs", "", VERDICT_IMPLIED, "");
}

static void geometry_that_was_dropped_contradicts(void **state)
{
	(void)state;
	verdict_is("xfs", "-d su=128k,sw=12", VERDICT_CONTRADICTED, "-d su: asked for 131072, made with 65536");
	verdict_is("xfs", "-d su=64k,sw=4", VERDICT_CONTRADICTED, "-d sw: asked for 4 stripe units, made with 12");
	verdict_is("ext4", "-b 1024", VERDICT_CONTRADICTED, "-b: asked for 1024, made with 4096");
	verdict_is("ext4", "-N 65000", VERDICT_CONTRADICTED, "-N: asked for 65000, made with 65536");
	verdict_is("ext4", "-E stride=32", VERDICT_CONTRADICTED, "-E stride: asked for 32, made with 16");
	verdict_is("ext4", "-O metadata_csum", VERDICT_CONTRADICTED,
	           "-O metadata_csum: the filesystem has not the feature 'metadata_csum'");
	verdict_is("ext4", "-O ^extent", VERDICT_CONTRADICTED, "-O ^extent: the filesystem has the feature 'extent'");
	verdict_is("btrfs", "-n 16384", VERDICT_CONTRADICTED, "-n: asked for 16384, made with 8192");
}

static void an_option_that_cannot_be_read_back_is_unconfirmed(void **state)
{
	(void)state;
	verdict_is("ext4", "-b 4096 -m 1", VERDICT_UNCONFIRMED, "'-m' cannot be read back");
	verdict_is("xfs", "-K", VERDICT_UNCONFIRMED, "'-K' cannot be read back");
	verdict_is("ext4", "-E lazy_itable_init=1", VERDICT_CONFIRMED, "");
}

static void the_effective_geometry_is_told_in_bytes(void **state)
{
	AUTO_TEXT struct text description = { 0 }, effective = { 0 }, why = { 0 };
	struct format f = { .type = "xfs" };

	(void)state;
	assert_int_equal(file_read(AT_FDCWD, "tests/data/mkfs/xfs.txt", 65536, &description, NULL), 0);
	geometry_verdict(&f, text_str(&description), &effective, &why);
	assert_non_null(strstr(text_str(&effective), "block=4096 sunit=65536 swidth=786432 agcount=8 agsize=134217728 "));
	assert_non_null(strstr(text_str(&effective), "log=67108864 logsunit=65536"));
}

/* ---- for real ---- */

static int setup(void **state)
{
	struct fixture *f = xmalloc(sizeof(*f));

	fixture_new(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	fixture_end(f);
	free(f);
	return 0;
}

static struct signature signature_of(struct fixture *f)
{
	struct signature s;
	int fd = open(f->w.claimed.private_node, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	OK(signature_read(fd, &s, &f->e));
	close(fd);
	return s;
}

static void tool_runs(struct fixture *f, const char *a, const char *b, const char *c)
{
	const char *argv[] = { a, b, c, f->loop, NULL };

	OK(tool_must(&f->w.tools, NULL, &f->e, argv, 0));
}

/* The digest of the first and the last MiB of the backing file. */
static void ends_digest(struct fixture *f, char ret[DIGEST_TEXT])
{
	static char buf[2 << 20];
	uint8_t digest[DIGEST_SIZE];
	struct stat st;
	int fd = open(f->loop_file, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	assert_int_equal(fsync(f->loop_fd), 0);
	assert_int_equal(pread(fd, buf, 1 << 20, 0), 1 << 20);
	assert_int_equal(pread(fd, buf + (1 << 20), 1 << 20, st.st_size - (1 << 20)), 1 << 20);
	close(fd);
	digest_of(buf, sizeof(buf), digest);
	digest_format(digest, ret);
}

static void a_filesystem_gets_our_uuid_and_the_device_is_wiped_at_the_end(void **state)
{
	struct fixture *f = *state;
	char uuid[UUID_TEXT];

	NEEDS_MACHINE();
	fixture_loop(f, 400 << 20);
	fixture_start(f, "{device: disk}", "  filesystem: [ext4, xfs, btrfs]\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	do {
		OK(format_make(&f->w, &f->e));
		assert_string_equal(signature_of(f).uuid, uuid_format(f->w.claimed.filesystem_uuid, uuid));
		assert_string_equal(signature_of(f).type, cell_get(&f->cell, "filesystem")->value);
		assert_int_equal(pending(f), 1);
		assert_non_null(f->w.step_detail);
		f->w.is_moving_on = true;
		OK(format_undo(&f->w, &f->e));
		f->w.is_moving_on = false;
	} while (fixture_cell(f));
	OK(format_undo(&f->w, &f->e));
	assert_string_equal(signature_of(f).type, "");
	assert_int_equal(pending(f), 0);
	OK(target_release(&f->w, &f->e));
}

static void keep_filesystem_leaves_it_there(void **state)
{
	struct fixture *f = *state;

	NEEDS_MACHINE();
	fixture_loop(f, 64 << 20);
	fixture_start(f, "{device: disk, keep-filesystem: yes}", "  filesystem: ext4\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	OK(format_make(&f->w, &f->e));
	OK(format_undo(&f->w, &f->e));
	assert_string_equal(signature_of(f).type, "ext4");
	assert_int_equal(pending(f), 0);
}

static void a_signature_without_consent_is_refused_and_not_a_byte_is_written(void **state)
{
	struct fixture *f = *state;
	char expected[400], before[DIGEST_TEXT], after[DIGEST_TEXT];
	struct signature s;

	NEEDS_MACHINE();
	fixture_loop(f, 64 << 20);
	fixture_start(f, "{device: disk}", "  filesystem: ext4\n");
	fixture_cell(f);
	tool_runs(f, "mkfs.ext4", "-q", "-F");
	OK(signature_read(f->loop_fd, &s, &f->e));
	ends_digest(f, before);
	snprintf(expected, sizeof(expected), "device 'disk' (%s): '%s' carries a signature: ext4 %s", f->loop, f->loop,
	         s.uuid);
	FAILS(target_claim(&f->w, &f->e), ERR_REFUSED, expected);
	ends_digest(f, after);
	assert_string_equal(after, before);
}

static void a_signature_that_appears_after_the_claim_is_refused(void **state)
{
	struct fixture *f = *state;

	NEEDS_MACHINE();
	fixture_loop(f, 64 << 20);
	fixture_start(f, "{device: disk}", "  filesystem: ext4\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	tool_runs(f, "mkfs.ext4", "-q", "-F");
	assert_int_equal(format_make(&f->w, &f->e), -1);
	assert_int_equal(f->e.kind, ERR_REFUSED);
	assert_non_null(strstr(f->e.text, "carries a signature: ext4"));
}

static void a_device_that_is_mounted_after_the_claim_is_refused(void **state)
{
	struct fixture *f = *state;
	char expected[400], dir[96];

	NEEDS_MACHINE();
	fixture_loop(f, 64 << 20);
	fixture_start(f, "{device: disk, erase: yes}", "  filesystem: ext4\n");
	fixture_cell(f);
	tool_runs(f, "mkfs.ext4", "-q", "-F");
	OK(target_claim(&f->w, &f->e));
	snprintf(dir, sizeof(dir), "%s/there", f->dir);
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(mount(f->loop, dir, "ext4", 0, NULL), 0);
	snprintf(expected, sizeof(expected), "make ext4: device 'disk' (%s): mounted on '%s' ('%s', seen by process ",
	         f->loop, dir, f->loop);
	assert_int_equal(format_make(&f->w, &f->e), -1);
	assert_memory_equal(f->e.text, expected, strlen(expected));
	assert_int_equal(umount(dir), 0);
	OK(format_make(&f->w, &f->e));
}

static void a_device_that_gains_a_loop_device_is_refused(void **state)
{
	struct fixture *f = *state;
	const char *attach[] = { "losetup", "-f", "--show", f->loop, NULL };
	AUTO_TEXT struct text upper = { 0 };
	char expected[400];

	NEEDS_MACHINE();
	fixture_loop(f, 64 << 20);
	fixture_start(f, "{device: disk}", "  filesystem: ext4\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	OK(tool_must(&f->w.tools, &upper, &f->e, attach, 0));
	upper.s[strcspn(upper.s, "\n")] = '\0';
	snprintf(expected, sizeof(expected), "make ext4: device 'disk' (%s): the loop device '%.40s' stands on it",
	         f->loop, upper.s);
	assert_int_equal(format_make(&f->w, &f->e), -1);
	{
		const char *detach[] = { "losetup", "-d", upper.s, NULL };
		char text[sizeof(f->e.text)];

		memcpy(text, f->e.text, sizeof(text));
		OK(tool_must(&f->w.tools, NULL, &f->e, detach, 0));
		assert_string_equal(text, expected);
	}
}

static void a_device_in_use_as_swap_is_refused(void **state)
{
	struct fixture *f = *state;
	char expected[400], text[sizeof(f->e.text)];

	NEEDS_MACHINE();
	fixture_loop(f, 64 << 20);
	fixture_start(f, "{device: disk, erase: yes}", "  filesystem: ext4\n");
	fixture_cell(f);
	tool_runs(f, "mkswap", "-f", "-q");
	tool_runs(f, "swapon", "-p", "-1");
	assert_int_equal(target_claim(&f->w, &f->e), -1);
	memcpy(text, f->e.text, sizeof(text));
	{
		const char *off[] = { "swapoff", f->loop, NULL };

		OK(tool_must(&f->w.tools, NULL, &f->e, off, 0));
	}
	snprintf(expected, sizeof(expected), "device 'disk' (%s): in use as swap: '%s'", f->loop, f->loop);
	assert_string_equal(text, expected);
}

static void two_devices_of_one_identity_are_refused(void **state)
{
	struct fixture *f = *state;
	const char *attach[] = { "losetup", "-f", "--show", f->loop_file, NULL };
	AUTO_TEXT struct text second = { 0 };
	char text[sizeof(f->e.text)];

	NEEDS_MACHINE();
	fixture_loop(f, 64 << 20);
	fixture_start(f, "{device: disk}", "  filesystem: ext4\n");
	fixture_cell(f);
	OK(tool_must(&f->w.tools, &second, &f->e, attach, 0));
	second.s[strcspn(second.s, "\n")] = '\0';
	assert_int_equal(target_claim(&f->w, &f->e), -1);
	memcpy(text, f->e.text, sizeof(text));
	assert_int_equal(f->e.kind, ERR_REFUSED);
	{
		const char *detach[] = { "losetup", "-d", second.s, NULL };

		OK(tool_must(&f->w.tools, NULL, &f->e, detach, 0));
	}
	assert_non_null(strstr(text, "device 'disk': 2 devices have its identity: '/dev/loop"));
}

static void another_device_under_the_same_name_is_not_written_to(void **state)
{
	struct fixture *f = *state;

	NEEDS_MACHINE();
	fixture_start(f, "{image: 64MiB}", "  filesystem: ext4\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	f->w.claimed.diskseq++;
	assert_int_equal(format_make(&f->w, &f->e), -1);
	assert_int_equal(f->e.kind, ERR_DEVICE_LOST);
	assert_non_null(strstr(f->e.text, "it is another device now: diskseq was "));
	f->w.claimed.diskseq--;
}

static void a_size_that_mkfs_refuses_is_infeasible(void **state)
{
	struct fixture *f = *state;

	NEEDS_MACHINE();
	fixture_start(f, "{image: 64MiB}", "  filesystem: xfs\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	FAILS(format_make(&f->w, &f->e), ERR_INFEASIBLE, "make xfs: mkfs.xfs refuses: Filesystem must be larger than 300MB.");
}

static void a_crash_after_mkfs_leaves_nothing_on_the_device(void **state)
{
	struct fixture *f = *state;

	NEEDS_MACHINE();
	fixture_loop(f, 64 << 20);
	fixture_start(f, "{device: disk}", "  filesystem: ext4\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	OK(format_make(&f->w, &f->e));
	f->w.is_moving_on = true; /* releases without a wipe, as a dead worker would */
	OK(target_release(&f->w, &f->e));
	f->w.is_moving_on = false;
	assert_int_equal(pending(f), 1);
	OK(target_claim(&f->w, &f->e)); /* the signature is this sweep's own */
	assert_string_equal(signature_of(f).type, "ext4");
	OK(target_release(&f->w, &f->e));
	OK(undo_replay(&f->w, &f->e));
	assert_int_equal(pending(f), 0);
	OK(target_claim(&f->w, &f->e));
	assert_string_equal(signature_of(f).type, "");
}

/* The mounts of a killed worker go a moment after it. */
static void a_device_that_is_held_for_a_moment_is_waited_for(void **state)
{
	struct fixture *f = *state;
	char node[64];
	pid_t pid;

	NEEDS_MACHINE();
	fixture_loop(f, 64 << 20);
	fixture_start(f, "{device: disk}", "  filesystem: ext4\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	OK(format_make(&f->w, &f->e));
	snprintf(node, sizeof(node), "%s", f->w.claimed.node);
	f->w.is_moving_on = true;
	OK(target_release(&f->w, &f->e));
	f->w.is_moving_on = false;
	pid = fork();
	if (pid == 0) {
		if (open(node, O_RDONLY | O_EXCL) < 0)
			_exit(1);
		usleep(700000);
		_exit(0);
	}
	usleep(300000);
	OK(undo_replay(&f->w, &f->e));
	assert_int_equal(pending(f), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_device_that_is_away_stays_known_as_ours(void **state)
{
	struct fixture *f = *state;

	NEEDS_MACHINE();
	fixture_loop(f, 64 << 20);
	fixture_start(f, "{device: disk}", "  filesystem: ext4\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	OK(format_make(&f->w, &f->e));
	f->w.claimed.diskseq += 1000; /* as if it had been pulled out */
	OK(format_undo(&f->w, &f->e));
	assert_int_equal(pending(f), 1);
	OK(target_release(&f->w, &f->e));
	close(f->loop_fd);
	f->loop_fd = -1;
	OK(undo_replay(&f->w, &f->e));
	assert_int_equal(pending(f), 1);
	fixture_loop(f, 64 << 20); /* back, perhaps under another name */
	OK(target_claim(&f->w, &f->e));
	assert_string_equal(signature_of(f).type, "ext4");
	OK(target_release(&f->w, &f->e));
	OK(undo_replay(&f->w, &f->e));
	assert_int_equal(pending(f), 0);
	OK(target_claim(&f->w, &f->e));
	assert_string_equal(signature_of(f).type, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(our_options_come_first_and_the_node_last),
		cmocka_unit_test(extended_options_of_the_plan_keep_their_one_place),
		cmocka_unit_test(a_device_that_was_written_over_is_not_discarded_unless_the_plan_says_so),
		cmocka_unit_test(a_lazy_plan_is_known_as_such),
		cmocka_unit_test(an_unknown_filesystem_has_no_arguments),
		cmocka_unit_test(usage_and_size_errors_are_infeasible_and_device_errors_are_not),
		cmocka_unit_test(the_first_line_that_tells_something_is_found),
		cmocka_unit_test(geometry_that_was_made_is_confirmed),
		cmocka_unit_test(geometry_that_was_dropped_contradicts),
		cmocka_unit_test(an_option_that_cannot_be_read_back_is_unconfirmed),
		cmocka_unit_test(the_effective_geometry_is_told_in_bytes),
		TEST(a_filesystem_gets_our_uuid_and_the_device_is_wiped_at_the_end),
		TEST(keep_filesystem_leaves_it_there),
		TEST(a_signature_without_consent_is_refused_and_not_a_byte_is_written),
		TEST(a_signature_that_appears_after_the_claim_is_refused),
		TEST(a_device_that_is_mounted_after_the_claim_is_refused),
		TEST(a_device_that_gains_a_loop_device_is_refused),
		TEST(a_device_in_use_as_swap_is_refused),
		TEST(two_devices_of_one_identity_are_refused),
		TEST(another_device_under_the_same_name_is_not_written_to),
		TEST(a_size_that_mkfs_refuses_is_infeasible),
		TEST(a_crash_after_mkfs_leaves_nothing_on_the_device),
		TEST(a_device_that_is_held_for_a_moment_is_waited_for),
		TEST(a_device_that_is_away_stays_known_as_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
