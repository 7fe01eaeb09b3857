/* SPDX-License-Identifier: MIT
 *
 * Devices in a sysfs of the test's own making: identities, stacks, and who uses them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/worker/device.h"
#include "daemon/worker/device_use.h"
#include "daemon/worker/sysroot.h"
#include "tests/unit/tree.h"

static char root[64];

static void dirs_make(char *path)
{
	for (char *s = path + 1; *s != '\0'; s++)
		if (*s == '/') {
			*s = '\0';
			assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
			*s = '/';
		}
}

static void put_n(const char *path, const char *text, size_t n)
{
	char full[512];
	FILE *out;

	snprintf(full, sizeof(full), "%s%s", root, path);
	dirs_make(full);
	out = fopen(full, "we");
	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, n, out), n);
	fclose(out);
}

static void put(const char *path, const char *text)
{
	put_n(path, text, strlen(text));
}

static void link_to(const char *path, const char *to)
{
	char full[512], target[512];

	snprintf(full, sizeof(full), "%s%s", root, path);
	snprintf(target, sizeof(target), "%s%s", root, to);
	dirs_make(full);
	assert_int_equal(symlink(target, full), 0);
}

/* A disk below /sys/devices/X/block/NAME with the links that sysfs has. */
static void disk_make(const char *name, int number, long long sectors)
{
	char path[256], link[256], text[64];

	snprintf(path, sizeof(path), "/sys/devices/x/block/%s/size", name);
	snprintf(text, sizeof(text), "%lld\n", sectors);
	put(path, text);
	snprintf(path, sizeof(path), "/sys/devices/x/block/%s/dev", name);
	snprintf(text, sizeof(text), "8:%d\n", number);
	put(path, text);
	snprintf(path, sizeof(path), "/sys/devices/x/block/%s/diskseq", name);
	snprintf(text, sizeof(text), "%d\n", number + 1);
	put(path, text);
	snprintf(path, sizeof(path), "/sys/devices/x/block/%s", name);
	snprintf(link, sizeof(link), "/sys/block/%s", name);
	link_to(link, path);
	snprintf(link, sizeof(link), "/sys/class/block/%s", name);
	link_to(link, path);
	snprintf(link, sizeof(link), "/sys/dev/block/8:%d", number);
	link_to(link, path);
}

static void attr(const char *name, const char *file, const char *text)
{
	char path[400];

	snprintf(path, sizeof(path), "/sys/devices/x/block/%s/%s", name, file);
	put(path, text);
}

static void partition_make(const char *disk, const char *name, int number, long long sectors)
{
	char path[256], link[256], file[128], text[64];

	snprintf(file, sizeof(file), "%s/size", name);
	snprintf(text, sizeof(text), "%lld\n", sectors);
	attr(disk, file, text);
	snprintf(file, sizeof(file), "%s/dev", name);
	snprintf(text, sizeof(text), "8:%d\n", number);
	attr(disk, file, text);
	snprintf(file, sizeof(file), "%s/partition", name);
	attr(disk, file, "1\n");
	snprintf(path, sizeof(path), "/sys/devices/x/block/%s/%s", disk, name);
	snprintf(link, sizeof(link), "/sys/class/block/%s", name);
	link_to(link, path);
	snprintf(link, sizeof(link), "/sys/dev/block/8:%d", number);
	link_to(link, path);
}

static void stack(const char *upper, const char *lower_disk, const char *lower)
{
	char path[256], file[200];

	snprintf(file, sizeof(file), "slaves/%s", lower);
	attr(upper, file, "");
	snprintf(path, sizeof(path), "%s%sholders/%s", strcmp(lower, lower_disk) == 0 ? "" : lower,
	         strcmp(lower, lower_disk) == 0 ? "" : "/", upper);
	attr(lower_disk, path, "");
}

static int setup(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/iosweep-device.XXXXXX");
	assert_non_null(mkdtemp(root));
	sysroot_set(root);
	disk_make("sda", 0, 2048);
	attr("sda", "device/wwid", "naa.5000C500A1B2C3D4\n");
	attr("sda", "device/model", "ST1000NM0008    \n");
	attr("sda", "device/rev", "SN05\n");
	put_n("/sys/devices/x/block/sda/device/vpd_pg80", "\0\x80\0\x0c    ZFA0X1YZ", 16);
	attr("sda", "queue/rotational", "1\n");
	attr("sda", "queue/scheduler", "none [mq-deadline]\n");
	partition_make("sda", "sda1", 1, 1024);
	disk_make("nvme0n1", 16, 4096);
	attr("nvme0n1", "wwid", "eui.0025385A71B00F2C\n");
	attr("nvme0n1", "device/serial", "S4EWNX0N\n");
	attr("nvme0n1", "device/firmware_rev", "2B2QEXM7\n");
	attr("nvme0n1", "ro", "1\n");
	disk_make("loop7", 7, 8192);
	attr("loop7", "loop/backing_file", "/srv/images/a.img\n");
	attr("loop7", "loop/dio", "1\n");
	disk_make("loop8", 40, 0); /* not attached */
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sysroot_set("");
	return tree_remove(root);
}

static void a_sata_disk_is_known_by_wwn_and_serial_number(void **state)
{
	struct device d;
	struct err e;
	char identity[256];

	(void)state;
	assert_int_equal(device_read("sda", &d, &e), 0);
	assert_string_equal(d.path, "/dev/sda");
	assert_string_equal(d.sysfs, "/sys/block/sda");
	assert_int_equal(d.size_bytes, 1 << 20);
	assert_string_equal(d.wwn, "0x5000c500a1b2c3d4");
	assert_string_equal(d.serial, "ZFA0X1YZ");
	assert_string_equal(d.model, "ST1000NM0008");
	assert_string_equal(d.firmware, "SN05");
	assert_true(d.is_rotational);
	assert_false(d.is_partition);
	device_identity(&d, identity, sizeof(identity));
	assert_string_equal(identity, "diskseq=1 wwn=0x5000c500a1b2c3d4 serial=ZFA0X1YZ");
}

static void an_nvme_namespace_keeps_its_eui(void **state)
{
	struct device d;

	(void)state;
	assert_int_equal(device_read("nvme0n1", &d, NULL), 0);
	assert_string_equal(d.wwn, "eui.0025385a71b00f2c");
	assert_string_equal(d.serial, "S4EWNX0N");
	assert_string_equal(d.firmware, "2B2QEXM7");
	assert_true(d.is_read_only);
}

static void a_partition_knows_its_disk(void **state)
{
	struct device d;

	(void)state;
	assert_int_equal(device_read("sda1", &d, NULL), 0);
	assert_true(d.is_partition);
	assert_string_equal(d.disk, "sda");
	assert_string_equal(d.sysfs, "/sys/block/sda/sda1");
	assert_int_equal(d.size_bytes, 512 << 10);
}

static void a_loop_device_is_known_by_its_backing_file(void **state)
{
	struct device d;
	struct config_device c = { .name = "x", .backing_file = "/srv/images/a.img" };

	(void)state;
	assert_int_equal(device_find(&c, &d, NULL, NULL), 0);
	assert_string_equal(d.name, "loop7");
	assert_true(d.is_loop_direct);
}

static void a_device_that_is_not_there_is_an_error(void **state)
{
	struct device d;
	struct err e;

	(void)state;
	assert_int_equal(device_read("sdz", &d, &e), -1);
	assert_string_equal(e.text, "no block device is called 'sdz'");
	assert_int_equal(device_read("../sda", &d, &e), -1);
	assert_string_equal(e.text, "no block device is called '../sda'");
}

static void only_devices_with_a_size_are_listed(void **state)
{
	AUTO_FREE struct device *all = NULL;
	AUTO_TEXT struct text names = { 0 };
	size_t n;

	(void)state;
	assert_int_equal(device_list(&all, &n, NULL), 0);
	for (size_t i = 0; i < n; i++)
		text_printf(&names, "%s ", all[i].name);
	assert_string_equal(text_str(&names), "loop7 nvme0n1 sda sda1 ");
}

static void a_wwn_is_found_in_every_spelling(void **state)
{
	static const char *const spellings[] = { "0x5000c500a1b2c3d4", "naa.5000c500a1b2c3d4", "5000C500A1B2C3D4",
		                                 "wwn-0x5000c500a1b2c3d4" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(spellings); i++) {
		struct config_device c = { .name = "x", .wwn = spellings[i] };
		struct device d;

		assert_int_equal(device_find(&c, &d, NULL, NULL), 0);
		assert_string_equal(d.name, "sda"); /* and not its partition */
	}
}

static void every_identity_given_must_match(void **state)
{
	struct config_device c = { .name = "x", .wwn = "0x5000c500a1b2c3d4", .serial = "ANOTHER" };
	struct device d;
	struct err e;

	(void)state;
	assert_int_equal(device_find(&c, &d, NULL, &e), -1);
	assert_int_equal(e.kind, ERR_DEVICE_LOST);
	assert_string_equal(e.text, "device 'x': no device of this host has its identity; '/dev/sda' has its wwn, but serial number "
	                            "'ZFA0X1YZ'");
	assert_string_equal(e.hint, "`iosweep devices` shows the identities there are");
	c.serial = "ZFA0X1YZ";
	assert_int_equal(device_find(&c, &d, NULL, &e), 0);
}

static void another_size_is_another_device(void **state)
{
	struct config_device c = { .name = "x", .serial = "ZFA0X1YZ", .size_bytes = 2 << 20 };
	struct device d;
	struct err e;

	(void)state;
	assert_int_equal(device_find(&c, &d, NULL, &e), -1);
	assert_string_equal(e.text, "device 'x': no device of this host has its identity; '/dev/sda' has its identity, but its size "
	                            "is 1MiB, the list says 2MiB");
}

static void two_devices_of_one_identity_are_no_choice(void **state)
{
	struct config_device c = { .name = "x", .serial = "ZFA0X1YZ" };
	struct device d;
	struct err e;
	size_t n;

	(void)state;
	disk_make("sdb", 32, 2048);
	attr("sdb", "serial", "ZFA0X1YZ\n");
	assert_int_equal(device_find(&c, &d, &n, &e), -1);
	assert_int_equal(n, 2);
	assert_string_equal(e.text, "device 'x': 2 devices have its identity: '/dev/sda', '/dev/sdb'");
}

static void a_by_id_name_finds_a_partition(void **state)
{
	struct config_device c = { .name = "x", .by_id = "ata-ST1000NM0008_ZFA0X1YZ-part1" };
	struct device d;

	(void)state;
	put("/dev/sda1", "");
	link_to("/dev/disk/by-id/ata-ST1000NM0008_ZFA0X1YZ-part1", "/dev/sda1");
	assert_int_equal(device_find(&c, &d, NULL, NULL), 0);
	assert_string_equal(d.name, "sda1");
}

static void the_line_that_lists_a_device_names_what_is_stable(void **state)
{
	AUTO_TEXT struct text line = { 0 }, none = { 0 }, quoted = { 0 };
	struct device d;

	(void)state;
	assert_int_equal(device_read("sda", &d, NULL), 0);
	device_config_line(&d, &line);
	assert_string_equal(text_str(&line), "sda: {wwn: \"0x5000c500a1b2c3d4\", serial: \"ZFA0X1YZ\", size: 1MiB}");
	path_format(d.wwn, sizeof(d.wwn), "%s", "");
	path_format(d.serial, sizeof(d.serial), "%s", "a\"b\\c\td");
	device_config_line(&d, &quoted);
	assert_string_equal(text_str(&quoted), "sda: {serial: \"a\\\"b\\\\c\\x09d\", size: 1MiB}");
	assert_int_equal(device_read("sda1", &d, NULL), 0);
	device_config_line(&d, &none);
	assert_string_equal(text_str(&none), "");
}

static void the_disks_at_the_bottom_of_a_nested_array_are_found(void **state)
{
	char names[8][DEVICE_NAME];
	struct device d;

	(void)state;
	disk_make("sdb", 32, 2048);
	disk_make("md1", 48, 2048);
	disk_make("md2", 49, 2048);
	disk_make("md10", 50, 4096);
	stack("md1", "sda", "sda1");
	stack("md1", "sdb", "sdb");
	stack("md2", "nvme0n1", "nvme0n1");
	stack("md10", "md1", "md1");
	stack("md10", "md2", "md2");
	assert_int_equal(device_read("md10", &d, NULL), 0);
	assert_int_equal(device_bottoms(&d, names, 8), 3);
	assert_string_equal(names[0], "sda");
	assert_string_equal(names[1], "sdb");
	assert_string_equal(names[2], "nvme0n1");
	assert_int_equal(device_read("sda1", &d, NULL), 0);
	assert_int_equal(device_bottoms(&d, names, 8), 1);
	assert_string_equal(names[0], "sda");
}

static void a_holder_of_a_partition_is_told(void **state)
{
	struct device_use use;
	struct device d;

	(void)state;
	disk_make("dm-3", 60, 1024);
	attr("dm-3", "dm/name", "vg-lv\n");
	stack("dm-3", "sda", "sda1");
	assert_int_equal(device_read("sda", &d, NULL), 0);
	assert_int_equal(device_use_read(&d, -1, &use, NULL), 0);
	assert_string_equal(use.holder, "'/dev/dm-3' (vg-lv), which stands on '/dev/sda1'");
	assert_int_equal(device_read("nvme0n1", &d, NULL), 0);
	assert_int_equal(device_use_read(&d, -1, &use, NULL), 0);
	assert_string_equal(use.holder, "");
}

static void a_member_of_a_mounted_btrfs_is_told(void **state)
{
	struct device_use use;
	struct device d;

	(void)state;
	put("/sys/fs/btrfs/0e0e-77/devices/nvme0n1", "");
	assert_int_equal(device_read("nvme0n1", &d, NULL), 0);
	assert_int_equal(device_use_read(&d, -1, &use, NULL), 0);
	assert_string_equal(use.pool, "0e0e-77");
}

/* A loop device over the other half of the file, mounted; and the file as swap. */
static void who_uses_the_file_below_a_loop_device_is_told(void **state)
{
	struct device_use use;
	struct device d;
	char proc[80];
	int fd;

	(void)state;
	disk_make("loop9", 9, 4096);
	attr("loop9", "loop/backing_file", "/srv/images/a.img\n");
	put("/proc/swaps", "Filename Type Size Used Priority\n");
	put("/proc/1/mountinfo", "30 1 8:9 / /srv/db rw - ext4 /dev/loop9 rw\n");
	snprintf(proc, sizeof(proc), "%s/proc", root);
	link_to("/proc/1/ns/mnt", "/proc/1/mountinfo");
	fd = open(proc, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(device_read("loop7", &d, NULL), 0);
	assert_int_equal(device_use_read(&d, fd, &use, NULL), 0);
	assert_string_equal(use.mounted, "on '/srv/db' ('/dev/loop9', seen by process 1)");
	assert_string_equal(use.swap, "");
	assert_string_equal(use.loop, "");
	put("/proc/swaps", "Filename Type Size Used Priority\n/srv/images/a.img file 1020 0 -2\n");
	put("/proc/1/mountinfo", "30 1 8:200 / /srv/db rw - ext4 /dev/sdz rw\n");
	assert_int_equal(device_use_read(&d, fd, &use, NULL), 0);
	assert_string_equal(use.mounted, "");
	assert_string_equal(use.swap, "'/srv/images/a.img'");
	close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_sata_disk_is_known_by_wwn_and_serial_number),
		TEST(an_nvme_namespace_keeps_its_eui),
		TEST(a_partition_knows_its_disk),
		TEST(a_loop_device_is_known_by_its_backing_file),
		TEST(a_device_that_is_not_there_is_an_error),
		TEST(only_devices_with_a_size_are_listed),
		TEST(a_wwn_is_found_in_every_spelling),
		TEST(every_identity_given_must_match),
		TEST(another_size_is_another_device),
		TEST(two_devices_of_one_identity_are_no_choice),
		TEST(a_by_id_name_finds_a_partition),
		TEST(the_line_that_lists_a_device_names_what_is_stable),
		TEST(the_disks_at_the_bottom_of_a_nested_array_are_found),
		TEST(a_holder_of_a_partition_is_told),
		TEST(a_member_of_a_mounted_btrfs_is_told),
		TEST(who_uses_the_file_below_a_loop_device_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
