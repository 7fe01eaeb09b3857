/* SPDX-License-Identifier: MIT
 *
 * The host's configuration: every fault with its place, all of them at once, and who may have written the file.
 * Run as root or not; the rows about owners need root.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/base/text.h"
#include "schema/config.h"

static char dir[64], file[96];

static int dir_make(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test_config.XXXXXX");
	if (mkdtemp(dir) == NULL)
		return -1;
	snprintf(file, sizeof(file), "%s/iosweepd.yaml", dir);
	return 0;
}

static int dir_remove(void **state)
{
	(void)state;
	unlink(file);
	return rmdir(dir);
}

static void file_write(const char *yaml)
{
	FILE *out = fopen(file, "we");

	assert_non_null(out);
	fputs(yaml, out);
	fclose(out);
	assert_int_equal(chmod(file, 0644), 0);
}

static struct config *read_good(const char *yaml)
{
	struct config *c = NULL;
	struct err e = { 0 };
	struct diags d;

	file_write(yaml);
	diags_init(&d, file);
	if (config_read(file, &d, &c, &e) < 0)
		fail_msg("%s: %s", e.text, d.n > 0 ? d.at[0].message : "");
	diags_done(&d);
	return c;
}

static void assert_faults(const char *yaml, const char *expected)
{
	AUTO_TEXT struct text got = { 0 };
	struct config *c = NULL;
	struct err e = { 0 };
	struct diags d;

	file_write(yaml);
	diags_init(&d, file);
	assert_int_equal(config_read(file, &d, &c, &e), -1);
	assert_null(c);
	assert_int_equal(e.kind, ERR_USAGE);
	for (size_t i = 0; i < d.n; i++)
		text_printf(&got, "%s%d:%d %s", i > 0 ? "\n" : "", d.at[i].line, d.at[i].column, d.at[i].message);
	diags_done(&d);
	assert_string_equal(text_str(&got), expected);
}

static void an_empty_file_gives_the_defaults(void **state)
{
	struct config *c = read_good("");

	(void)state;
	assert_string_equal(c->state, "/var/lib/iosweep");
	assert_string_equal(c->socket, "/run/iosweep/iosweep.sock");
	assert_string_equal(c->group, "iosweep");
	assert_string_equal(c->user, "iosweep");
	assert_null(c->workloads[0]);
	assert_int_equal(c->n_devices, 0);
	assert_null(c->images_path);
	assert_int_equal(c->n_directories, 0);
	config_free(c);
}

static void every_key_is_read(void **state)
{
	struct config *c = read_good("state: /srv/s\nsocket: /run/x.sock\ngroup: disk\nuser: bench\n"
	                             "workloads: [/etc/a, /etc/b]\n"
	                             "devices:\n"
	                             "  md1120: {wwn: '0x600605b0', size: 4TiB}\n"
	                             "  spare: {by-id: /dev/disk/by-id/ata-X_1}\n"
	                             "  loop: {backing-file: /var/tmp/d.img, serial: s1}\n"
	                             "images: {path: /srv/images, max: 8GiB, keep-free: 512MiB}\n"
	                             "directories: {scratch: /srv/scratch}\n");

	(void)state;
	assert_string_equal(c->state, "/srv/s");
	assert_string_equal(c->socket, "/run/x.sock");
	assert_string_equal(c->group, "disk");
	assert_string_equal(c->user, "bench");
	assert_string_equal(c->workloads[1], "/etc/b");
	assert_null(c->workloads[2]);
	assert_int_equal(c->n_devices, 3);
	assert_string_equal(config_find_device(c, "md1120")->wwn, "0x600605b0");
	assert_int_equal(config_find_device(c, "md1120")->size_bytes, (int64_t)4 << 40);
	assert_string_equal(config_find_device(c, "spare")->by_id, "ata-X_1");
	assert_string_equal(config_find_device(c, "loop")->backing_file, "/var/tmp/d.img");
	assert_string_equal(config_find_device(c, "loop")->serial, "s1");
	assert_null(config_find_device(c, "sda"));
	assert_string_equal(c->images_path, "/srv/images");
	assert_int_equal(c->images_max_bytes, (int64_t)8 << 30);
	assert_int_equal(c->images_keep_free_bytes, (int64_t)512 << 20);
	assert_string_equal(config_find_directory(c, "scratch")->path, "/srv/scratch");
	assert_null(config_find_directory(c, "other"));
	config_free(c);
}

static void programs_that_print_facts_are_read(void **state)
{
	struct config *c = read_good("facts:\n  perc: [/usr/sbin/perc-state, '0']\n"
	                             "  jbod: {run: [/usr/sbin/ses], identity: [firmware], volatile: [temperature, fans]}\n");

	(void)state;
	assert_int_equal(c->n_facts, 2);
	assert_string_equal(c->facts[0].name, "perc");
	assert_string_equal(c->facts[0].argv[1], "0");
	assert_null(c->facts[0].argv[2]);
	assert_null(c->facts[0].identity[0]);
	assert_string_equal(c->facts[1].argv[0], "/usr/sbin/ses");
	assert_string_equal(c->facts[1].identity[0], "firmware");
	assert_string_equal(c->facts[1].is_volatile[1], "fans");
	config_free(c);
	assert_faults("facts:\n  kernel: [/bin/a]\n  b: [perccli64]\n  c: {identity: x}\n  d: {run: [], colour: red}\n  e: /bin/e\n",
	              "2:3 'kernel' cannot name a program: facts of that name are iosweep's own\n"
	              "3:6 'perccli64' must be the absolute path of a program\n"
	              "4:6 'c' needs a program: [/PATH/PROGRAM, WORD, ...]\n"
	              "4:17 'identity' takes a list of words, this is a scalar\n"
	              "5:6 'd' needs a program: [/PATH/PROGRAM, WORD, ...]\n"
	              "5:16 unknown key 'colour' in facts: known are run identity volatile\n"
	              "6:6 'run' takes a list of words, this is a scalar");
}

static void images_keep_one_gib_free_unless_told_otherwise(void **state)
{
	struct config *c = read_good("images: {path: /srv/images}\n");

	(void)state;
	assert_int_equal(c->images_max_bytes, 0);
	assert_int_equal(c->images_keep_free_bytes, (int64_t)1 << 30);
	config_free(c);
}

static void all_faults_are_told_at_once_with_their_place(void **state)
{
	(void)state;
	assert_faults("state: relative\n"
	              "socket: []\n"
	              "group: 'no name'\n"
	              "user: root\n"
	              "devices:\n"
	              "  d1: {size: 4GiB}\n"
	              "  d2: 5\n"
	              "  d3: {wwn: x, size: 17}\n"
	              "images: {max: 1GiB}\n"
	              "directories: {s: ../x, t: /a/../b, root: /}\n",
	              "1:8 'state' must be an absolute path, not 'relative'\n"
	              "2:9 'socket' takes text, this is a list\n"
	              "3:8 'group' is no name of a group: 'no name'\n"
	              "4:7 'user' may not be root: tools never run as root\n"
	              "6:3 device 'd1' needs an identity: 'wwn', 'serial', 'by-id' or 'backing-file' ('iosweep devices' prints them)\n"
	              "7:7 device 'd2' takes a map of identities, this is a scalar\n"
	              "8:22 'size': '17' has no unit (write 17B, 17KiB, 17MiB or 17GiB)\n"
	              "9:9 'images' needs 'path', the directory for image files\n"
	              "10:18 's' must be an absolute path, not '../x'\n"
	              "10:27 't' must be a path without '..', not '/a/../b'\n"
	              "10:42 'root' may not be the root directory");
}

static void unknown_keys_are_refused_with_the_nearest_one(void **state)
{
	(void)state;
	assert_faults("sockt: /run/x\n", "1:1 unknown key 'sockt' in the configuration: did you mean 'socket'?");
	assert_faults("devices: {d: {backing_file: /x}}\n",
	              "1:15 unknown key 'backing_file' in a device: did you mean 'backing-file'?");
	assert_faults("images: {paht: /x}\n", "1:10 unknown key 'paht' in images: did you mean 'path'?");
	assert_faults("devices: {d: {wnn: 1, wwn: 2}}\n", "1:15 unknown key 'wnn' in a device: did you mean 'wwn'?");
}

static void names_of_devices_are_bounded(void **state)
{
	(void)state;
	assert_faults("devices: {'a/b': {wwn: x}}\n",
	              "1:11 'a/b' is no name: use up to 64 letters, digits, '_', '.' and '-'");
	assert_faults("devices: {'-a': {wwn: x}}\n",
	              "1:11 '-a' is no name: use up to 64 letters, digits, '_', '.' and '-'");
	assert_faults("devices: [a]\n", "1:10 'devices' takes a map of names, this is a list");
}

static void two_names_for_one_device_are_refused(void **state)
{
	(void)state;
	assert_faults("devices:\n  a: {wwn: '1'}\n  b: {wwn: '1'}\n", "3:3 devices 'a' and 'b' have the same 'wwn'");
	assert_faults("devices:\n  a: {backing-file: /x}\n  b: {backing-file: /x}\n",
	              "3:3 devices 'a' and 'b' have the same 'backing-file'");
}

static void a_socket_path_must_fit_the_kernel(void **state)
{
	char yaml[256] = "socket: /";

	(void)state;
	memset(yaml + strlen(yaml), 'x', 107);
	assert_faults(yaml, "1:9 'socket' is longer than the 107 characters that the kernel takes");
	yaml[strlen(yaml) - 1] = '\0';
	config_free(read_good(yaml));
}

static void a_list_instead_of_a_map_is_refused(void **state)
{
	(void)state;
	assert_faults("- a\n", "1:1 the configuration is a map of keys, this is a list");
}

/* ---- who may have written it ---- */

/* before and after surround the file's name in the text; the hint is a command on it, or NULL. */
static void assert_unreadable(enum err_kind kind, const char *before, const char *after, const char *command)
{
	AUTO_TEXT struct text text = { 0 }, hint = { 0 };
	struct config *c = NULL;
	struct err e = { 0 };
	struct diags d;

	diags_init(&d, file);
	assert_int_equal(config_read(file, &d, &c, &e), -1);
	diags_done(&d);
	assert_int_equal(e.kind, kind);
	text_printf(&text, "%s'%s'%s", before, file, after);
	assert_string_equal(e.text, text.s);
	if (command != NULL)
		text_printf(&hint, "%s '%s'", command, file);
	assert_string_equal(e.hint, text_str(&hint));
}

static void a_missing_file_is_named(void **state)
{
	(void)state;
	unlink(file);
	assert_unreadable(ERR_SYSTEM, "open the configuration ", ": No such file or directory", NULL);
}

static void a_file_that_others_can_write_is_refused(void **state)
{
	(void)state;
	file_write("");
	chmod(file, 0664);
	assert_unreadable(ERR_REFUSED, "", " can be written by others than its owner", "chmod go-w");
}

static void a_file_of_another_user_is_refused(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	file_write("");
	assert_int_equal(chown(file, 65534, 65534), 0);
	assert_unreadable(ERR_REFUSED, "", " belongs to uid 65534, who could change the configuration", "chown root");
	unlink(file);
}

static void a_directory_that_others_can_write_is_refused_for_root(void **state)
{
	struct config *c = NULL;
	struct err e = { 0 };
	struct diags d;

	(void)state;
	if (geteuid() != 0)
		skip();
	file_write("");
	chmod(dir, 0777);
	diags_init(&d, file);
	assert_int_equal(config_read(file, &d, &c, &e), -1);
	assert_int_equal(e.kind, ERR_REFUSED);
	chmod(dir, 01777); /* sticky: what root owns in it nobody else can replace */
	assert_int_equal(config_read(file, &d, &c, &e), 0);
	config_free(c);
	chmod(dir, 0700);
	diags_done(&d);
}

static void a_link_counts_as_the_file_it_leads_to(void **state)
{
	char link[128];
	struct config *c = NULL;
	struct err e = { 0 };
	struct diags d;

	(void)state;
	file_write("");
	snprintf(link, sizeof(link), "%s/link", dir);
	assert_int_equal(symlink(file, link), 0);
	diags_init(&d, link);
	assert_int_equal(config_read(link, &d, &c, &e), 0);
	assert_string_equal(c->file, file);
	config_free(c);
	chmod(file, 0666);
	assert_int_equal(config_read(link, &d, &c, &e), -1);
	assert_int_equal(e.kind, ERR_REFUSED);
	diags_done(&d);
	unlink(link);
}

static void the_environment_moves_socket_and_store(void **state)
{
	(void)state;
	setenv("IOSWEEP_SOCKET", "/x/s", 1);
	setenv("IOSWEEP_DB", "", 1);
	assert_string_equal(config_default_socket(), "/x/s");
	assert_string_equal(config_default_db(), "/var/lib/iosweep/iosweep.db");
	unsetenv("IOSWEEP_SOCKET");
	unsetenv("IOSWEEP_DB");
	assert_string_equal(config_default_socket(), "/run/iosweep/iosweep.sock");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_file_gives_the_defaults),
		cmocka_unit_test(every_key_is_read),
		cmocka_unit_test(programs_that_print_facts_are_read),
		cmocka_unit_test(images_keep_one_gib_free_unless_told_otherwise),
		cmocka_unit_test(all_faults_are_told_at_once_with_their_place),
		cmocka_unit_test(unknown_keys_are_refused_with_the_nearest_one),
		cmocka_unit_test(names_of_devices_are_bounded),
		cmocka_unit_test(two_names_for_one_device_are_refused),
		cmocka_unit_test(a_socket_path_must_fit_the_kernel),
		cmocka_unit_test(a_list_instead_of_a_map_is_refused),
		cmocka_unit_test(a_missing_file_is_named),
		cmocka_unit_test(a_file_that_others_can_write_is_refused),
		cmocka_unit_test(a_file_of_another_user_is_refused),
		cmocka_unit_test(a_directory_that_others_can_write_is_refused_for_root),
		cmocka_unit_test(a_link_counts_as_the_file_it_leads_to),
		cmocka_unit_test(the_environment_moves_socket_and_store),
	};

	return cmocka_run_group_tests(tests, dir_make, dir_remove);
}
