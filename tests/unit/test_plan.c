/* SPDX-License-Identifier: MIT
 *
 * Plans: what a good one says, and for every kind of fault the message and where it points.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <glob.h>
#include <string.h>

#include "tests/unit/plan_help.h"

static struct plan *read_good(const char *yaml)
{
	AUTO_TEXT struct text faults = { 0 };
	struct plan *p;
	struct matrix *m;

	plan_try(yaml, strlen(yaml), &p, &m, &faults);
	assert_string_equal(text_str(&faults), "none");
	matrix_free(m);
	return p;
}

static void assert_faults_n(const char *yaml, size_t n, const char *expected)
{
	AUTO_TEXT struct text faults = { 0 };
	struct plan *p;
	struct matrix *m;

	plan_try(yaml, n, &p, &m, &faults);
	matrix_free(m);
	plan_free(p);
	assert_string_equal(text_str(&faults), expected);
}

static void assert_faults(const char *yaml, const char *expected)
{
	assert_faults_n(yaml, strlen(yaml), expected);
}

/* A plan of three lines, to which a test adds its own from line 4 on. */
#define HEAD "plan: p\ntarget: {image: 1GiB}\nworkloads: [dd-read]\n"
#define MATRIX "matrix: {filesystem: xfs}\n"

static void a_plan_has_defaults(void **state)
{
	struct plan *p = read_good(HEAD MATRIX);

	(void)state;
	assert_string_equal(p->name, "p");
	assert_string_equal(p->about, "");
	assert_int_equal(p->target.kind, TARGET_IMAGE);
	assert_int_equal(p->target.image_bytes, INT64_C(1) << 30);
	assert_true(p->target.direct);
	assert_int_equal(p->trials, 3);
	assert_int_equal(p->keep, KEEP_MEDIAN);
	assert_int_equal(p->order, ORDER_NESTED);
	assert_int_equal(p->fresh, FRESH_CELL);
	assert_int_equal(p->random_seed, 1);
	assert_int_equal(p->timeout_ns, 3600 * INT64_C(1000000000));
	assert_int_equal(p->settle_ns, 300 * INT64_C(1000000000));
	assert_false(p->stop_on_failure);
	assert_int_equal(p->priority, 0);
	plan_free(p);
}

static void every_setting_is_read(void **state)
{
	struct plan *p = read_good("plan: p\nabout: Text\ntarget: {device: md1120, erase: yes, keep-filesystem: on}\n"
	                           "geometry: {stripe_unit: 64KiB, data_disks: 12}\ntrials: 5\nkeep: mean\norder: random\n"
	                           "random-seed: 42\nfresh: trial\ntimeout: 2h\nsettle: 0\non-failure: stop\npriority: -7\n"
	                           "memory: 2GiB\n" MATRIX "workloads:\n  - dd-read\n  - dd-write: {bs: 64KiB}\n"
	                           "  - dd-read: {as: again, size: 2x ram}\n  - fio: {iodepth: 32, rw: randread}\n");

	(void)state;
	assert_int_equal(p->target.kind, TARGET_DEVICE);
	assert_string_equal(p->target.name, "md1120");
	assert_true(p->target.erase && p->target.keep_filesystem);
	assert_int_equal(p->stripe_unit_bytes, 65536);
	assert_int_equal(p->data_disks, 12);
	assert_int_equal(p->trials, 5);
	assert_int_equal(p->keep, KEEP_MEAN);
	assert_int_equal(p->order, ORDER_RANDOM);
	assert_int_equal(p->random_seed, 42);
	assert_int_equal(p->fresh, FRESH_TRIAL);
	assert_int_equal(p->timeout_ns, 7200 * INT64_C(1000000000));
	assert_int_equal(p->settle_ns, 0);
	assert_true(p->stop_on_failure);
	assert_int_equal(p->priority, -7);
	assert_int_equal(p->n_workloads, 4);
	assert_string_equal(p->workloads[2].name, "again");
	assert_string_equal(p->workloads[2].definition->name, "dd-read");
	assert_string_equal(p->blocks[0].axes[1].name, "memory");
	assert_string_equal(p->blocks[0].axes[1].values[0].value, "2147483648");
	plan_free(p);
}

static void parameters_are_the_definitions_with_the_plans_values_in(void **state)
{
	struct plan *p = read_good("plan: p\ntarget: {image: 1GiB}\nworkloads:\n  - dd-read: {bs: 64KiB}\n"
	                           "  - fio: {iodepth: 32}\n" MATRIX);
	const struct plan_workload *dd = &p->workloads[0], *fio = &p->workloads[1];
	bool has_bs = false;

	(void)state;
	assert_int_equal(dd->n_params, dd->definition->n_params);
	for (size_t i = 0; i < dd->n_params; i++)
		if (strcmp(dd->params[i].name, "bs") == 0)
			has_bs = strcmp(dd->params[i].value, "64KiB") == 0;
	assert_true(has_bs);
	assert_int_equal(fio->n_params, fio->definition->n_params + 1);
	assert_string_equal(fio->params[fio->n_params - 1].name, "iodepth");
	plan_free(p);
}

static void both_spellings_of_a_value_are_kept(void **state)
{
	struct plan *p = read_good(HEAD "matrix: {filesystem: xfs, readahead: [4096sectors, 2048KiB, 4MiB], "
	                                "scheduler: [deadline, mq-deadline, none]}\n");
	const struct plan_axis *ra = &p->blocks[0].axes[1], *scheduler = &p->blocks[0].axes[2];

	(void)state;
	assert_int_equal(ra->n, 2);
	assert_string_equal(ra->values[0].requested, "4096sectors, 2048KiB");
	assert_string_equal(ra->values[0].value, "2097152");
	assert_int_equal(scheduler->n, 2);
	assert_string_equal(scheduler->values[0].requested, "deadline, mq-deadline");
	assert_string_equal(scheduler->values[0].value, "mq-deadline");
	plan_free(p);
}

static void option_lists_of_an_axis_are_values_and_of_a_definition_words(void **state)
{
	struct plan *p = read_good(HEAD "define:\n  filesystem:\n    e: {type: ext4, mkfs: [-b, 4096], mount: 'noatime,data=ordered'}\n"
	                                "matrix: {filesystem: e, mkfs: ['-m 0', [-m, 1], ''], mount: lazytime}\n");
	const struct plan_axis *mkfs = &p->blocks[0].axes[1];

	(void)state;
	assert_string_equal(p->blocks[0].axes[0].values[0].filesystem->mkfs[1], "4096");
	assert_string_equal(p->blocks[0].axes[0].values[0].filesystem->mount[0], "noatime,data=ordered");
	assert_int_equal(mkfs->n, 3);
	assert_string_equal(mkfs->values[0].words[1], "0");
	assert_string_equal(mkfs->values[1].words[1], "1");
	assert_string_equal(mkfs->values[2].value, KERNEL_DEFAULT);
	plan_free(p);
}

static void geometry_expands_in_options(void **state)
{
	struct plan *p = read_good("plan: p\ntarget: {image: 1GiB}\nworkloads: [dd-read]\n"
	                           "geometry: {stripe_unit: 64KiB, data_disks: 12}\n" MATRIX);
	AUTO_ARENA struct arena *a = arena_new();
	char *words[] = { (char *)"-b", (char *)"2048", (char *)"${stripe_unit}|${stripe_unit:KiB}k|${stripe_unit:B}|${data_disks}",
		          (char *)"${stride},${stripe_width}$", NULL };
	char **out;
	size_t n;
	struct err e;

	(void)state;
	assert_int_equal(plan_expand(p, words, a, &out, &n, &e), 0);
	assert_int_equal(n, 4);
	assert_string_equal(out[2], "65536|64k|65536|12");
	assert_string_equal(out[3], "32,384$"); /* 64 KiB in blocks of 2 KiB */
	words[0] = (char *)"-x";
	assert_int_equal(plan_expand(p, words, a, &out, &n, &e), 0);
	assert_string_equal(out[3], "16,192$");
	words[0] = (char *)"-b131072";
	assert_int_equal(plan_expand(p, words, a, &out, &n, &e), -1);
	assert_string_equal(e.text, "'${stride}' is no whole number of blocks of 131072 bytes");
	plan_free(p);
}

static void aliases_and_merge_keys_work_in_plans(void **state)
{
	struct plan *p = read_good(HEAD "matrix:\n  - &base {filesystem: xfs, readahead: 2MiB, scheduler: none}\n"
	                                "  - {<<: *base, readahead: [4MiB, 8MiB]}\n");

	(void)state;
	assert_int_equal(p->n_blocks, 2);
	assert_int_equal(p->blocks[1].n, 3);
	plan_free(p);
}

static void a_directory_needs_no_axis(void **state)
{
	struct plan *p = read_good("plan: p\ntarget: {directory: scratch}\nworkloads: [dd-read]\nmatrix: {label.x: [a, b]}\n");

	(void)state;
	assert_int_equal(p->target.kind, TARGET_DIRECTORY);
	plan_free(p);
	p = read_good("plan: p\ntarget: {directory: scratch}\nworkloads: [dd-read]\nmatrix: {}\n");
	plan_free(p);
	assert_faults("plan: p\ntarget: {directory: scratch}\nworkloads: [dd-read]\nmatrix: {filesystem: xfs, scheduler: none}\n",
	              "4:10 'filesystem' needs a device or an image: the disk below a directory is left as it is\n"
	              "4:27 'scheduler' needs a device or an image: the disk below a directory is left as it is");
}

/* ---- bad input ---- */

static void a_bare_number_is_refused_with_both_readings(void **state)
{
	(void)state;
	assert_faults(HEAD "matrix: {filesystem: xfs, readahead: 256}\n",
	              "4:38 readahead: '256' has no unit: it could be 256 sectors of 512 bytes (as blockdev --setra takes, = "
	              "128KiB) or 256KiB: write 256sectors or 256KiB");
	assert_faults("plan: p\ntarget: {image: 4}\nworkloads:\n  - dd-read: {size: 4}\n" MATRIX,
	              "2:17 image: '4' has no unit: write 4B, 4KiB, 4MiB or 4GiB\n"
	              "4:21 size: '4' has no unit: write 4B, 4KiB, 4MiB or 4GiB");
}

static void unknown_keys_and_axes_are_named(void **state)
{
	(void)state;
	assert_faults(HEAD MATRIX "trails: 3\n", "5:1 unknown key 'trails' in the plan: did you mean 'trials'?");
	assert_faults(HEAD "matrix: {filesystem: xfs, readahed: 4KiB, sysctl.kernel.core_pattern: x, nr_requests: 3, md.sync_speed_max: 5}\n",
	              "4:27 unknown axis 'readahed': did you mean 'readahead'?\n"
	              "4:43 unknown axis 'sysctl.kernel.core_pattern': only those that iosweep-plan(5) lists can be set, such as "
	              "filesystem, readahead, scheduler, queue.nr_requests, vm.dirty_ratio\n"
	              "4:74 unknown axis 'nr_requests': did you mean 'queue.nr_requests'?\n"
	              "4:90 'md.sync_speed_max' is not to be had yet: it belongs to a software array, and iosweep builds none yet: "
	              "only 'layout: plain' is known");
	assert_faults(HEAD "matrix: {filesystem: xfs, queue/../x: 1, vm.x/y: 1, ..: 1}\n",
	              "4:27 unknown axis 'queue/../x': only those that iosweep-plan(5) lists can be set, such as filesystem, "
	              "readahead, scheduler, queue.nr_requests, vm.dirty_ratio\n"
	              "4:42 unknown axis 'vm.x/y': only those that iosweep-plan(5) lists can be set, such as filesystem, "
	              "readahead, scheduler, queue.nr_requests, vm.dirty_ratio\n"
	              "4:53 unknown axis '..': only those that iosweep-plan(5) lists can be set, such as filesystem, readahead, "
	              "scheduler, queue.nr_requests, vm.dirty_ratio");
}

#define COMMAND(words) \
	"plan: p\ntarget: {image: 1GiB}\nmatrix: {filesystem: xfs}\nworkloads:\n  - command: {run: [" words \
	"], metrics: {x: {value: ':elapsed', unit: s, better: lower}}}\n"

/* What would fail in the first trial of the night is said before. */
static void words_that_cannot_be_made_are_refused(void **state)
{
	(void)state;
	assert_faults(COMMAND("echo, '${nope}', '${dir'"),
	              "5:27 '${nope}' stands for nothing: write 'dir', 'device', 'copy', 'copies', 'repetition' or one of 'params:', "
	              "which has none\n5:38 '${dir': '${' is not closed: write '${NAME}'");
	assert_faults(COMMAND("echo, '${dir/copies}'"), "5:5 command: run: word 2 of the argument list: "
	              "'${dir}': there is no parameter 'dir'");
	assert_faults("plan: p\ntarget: {image: 1GiB}\nworkloads:\n  - dd-read: {size: '${nope}'}\n" MATRIX,
	              "4:5 dd-read: prepare: word 5 of the argument list: parameter 'size': '${nope}' is not a size");
	assert_faults("plan: p\ntarget: {image: 1GiB}\nworkloads: [dd-read]\n"
	              "matrix: {filesystem: xfs, dd-read.streams: [1, kernel-default, 0, 2]}\n",
	              "4:64 dd-read: prepare: copies is '0'; it must be a whole number from 1 to 1024");
}

static void a_label_with_a_capital_is_told_its_letters(void **state)
{
	(void)state;
	assert_faults(HEAD "matrix: {filesystem: xfs, label.HW: a, label.x/../y: b}\n",
	              "4:27 'label.HW' is no name of a label: after 'label.' come lower-case letters, digits and '_', as in "
	              "'label.hw'\n"
	              "4:40 'label.x/../y' is no name of a label: after 'label.' come lower-case letters, digits and '_', as in "
	              "'label.hw'");
}

static void duplicates_are_named(void **state)
{
	(void)state;
	assert_faults(HEAD MATRIX "trials: 1\ntrials: 2\n", "6:1 'trials' stands here a second time (first in line 5)");
	assert_faults(HEAD "matrix: {filesystem: [xfs, ext4, xfs]}\n",
	              "4:34 filesystem: 'xfs' stands here a second time");
	assert_faults("plan: p\ntarget: {image: 1GiB}\nworkloads: [dd-read, dd-read]\n" MATRIX,
	              "3:22 a second workload is called 'dd-read' (the first in line 3): give it a name of its own with 'as:'");
	assert_faults(HEAD "matrix:\n  filesystem: xfs\n  zip: [{readahead: 4KiB, scheduler: none}, {readahead: 4KiB, scheduler: noop}]\n",
	              "6:45 zip: this row stands here a second time");
}

static void a_matrix_without_a_cell_is_refused(void **state)
{
	(void)state;
	assert_faults(HEAD "matrix: {filesystem: [xfs, ext4]}\nexclude: [{filesystem: [xfs, ext4]}]\n",
	              "4:9 no cell is left: 'exclude' takes all 2 away");
	assert_faults(HEAD "matrix: {filesystem: []}\n",
	              "4:22 'filesystem' has an empty list: name a value, or leave the axis out");
	assert_faults(HEAD "matrix: []\n", "4:9 'matrix' takes a map of axes, or a list of such maps");
	assert_faults(HEAD "matrix: {}\n",
	              "4:9 this block names no filesystem: add 'filesystem: xfs', or 'filesystem: none' for the "
	              "bare device");
	assert_faults(HEAD, "1:1 the plan has no 'matrix': add 'matrix:' with the axes to vary");
}

static void texts_that_are_no_plan_are_refused(void **state)
{
	static char deep[10001];

	(void)state;
	memset(deep, '[', sizeof(deep) - 1);
	assert_faults(deep, "1:33 nested more than 32 levels deep");
	assert_faults("plan: &a [*a]\n", "1:11 the alias '*a' is inside what it stands for: a cycle");
	assert_faults_n("plan: a\0b\n", 10, "1:8 a NUL byte: this is not text");
	assert_faults("plan: \xff\n", "1:7 not UTF-8: save the file in that encoding");
	assert_faults("- plan\n", "1:1 a plan is a map that begins with 'plan: NAME', not a list");
	assert_faults("", "1:1 the plan has no 'plan': add 'plan: NAME'\n"
	                  "1:1 the plan has no 'target': add 'target: {image: 1GiB}' or {device: NAME} or {directory: NAME}\n"
	                  "1:1 the plan has no 'workloads': add 'workloads:' with a list such as [dd-write, dd-read]\n"
	                  "1:1 the plan has no 'matrix': add 'matrix:' with the axes to vary");
}

static void window_has_its_own_message(void **state)
{
	(void)state;
	assert_faults(HEAD MATRIX "window: 22:00-06:00\n",
	              "5:9 'window' is not to be had yet: a sweep starts when its turn comes; leave it out");
}

static void options_that_are_not_allowed_are_refused_where_they_stand(void **state)
{
	(void)state;
	assert_faults(HEAD "define: {filesystem: {x: {type: xfs, mkfs: -p /etc/shadow}, b: {type: btrfs, mkfs: [-d, single, /dev/sdb]}}}\n"
	                   "matrix: {filesystem: [x, b]}\n",
	              "4:44 mkfs: '-p' is not allowed for xfs: allowed are -b -d -i -l -m -n -s -K\n"
	              "4:84 mkfs: '/dev/sdb' is no option of mkfs.btrfs: a bare word could name a file or another device: allowed "
	              "are -n -s -m -d -O -K");
	assert_faults(HEAD "matrix: {filesystem: [xfs, ext4], mkfs: '-b size=4096', mount: errors=remount-ro}\n",
	              "4:41 mkfs with filesystem 'ext4': '-b' for ext4: 'size=4096' is not a size: write a number and a unit, as in "
	              "64KiB, 2MiB, 4GiB\n"
	              "4:64 mount with filesystem 'xfs': the mount option 'errors' is not allowed for xfs: iosweep-plan(5) lists the "
	              "mount options of each filesystem");
	assert_faults(HEAD "matrix: {filesystem: ext4, mkfs: '-E stride=${stride}', mount: 'x${'}\n",
	              "4:34 mkfs: '${stride}' needs the stripe unit: add 'geometry: {stripe_unit: 64KiB, data_disks: 12}' with the "
	              "layout's numbers\n"
	              "4:64 mount: '${' is not closed with '}'");
	/* case 34: the kernel refuses it, and that is a result */
	assert_faults(HEAD "matrix: {filesystem: xfs, mount: [noatime, 'noatime,nobarrier']}\n", "none");
}

static void variables_are_explained(void **state)
{
	(void)state;
	assert_faults("plan: p\ntarget: {image: 1GiB}\nworkloads: [dd-read]\ngeometry: {stripe_unit: 64KiB}\n"
	              "matrix: {filesystem: ext4, mkfs: ['-E stride=${strid}', '-E stripe_width=${stripe_width}', '-N ${data_disks:KiB}', "
	              "'-b ${stripe_unit:sectors}', '-b ${stripe_unit:MiB}']}\n",
	              "5:35 mkfs: '${strid}' is not known: there are ${stripe_unit} ${stripe_unit:KiB} ${data_disks} ${stride} "
	              "${stripe_width}\n"
	              "5:57 mkfs: '${stripe_width}' needs the number of data disks: add 'data_disks: 12' with the layout's number to "
	              "'geometry'\n"
	              "5:92 mkfs: '${data_disks}' needs the number of data disks: add 'data_disks: 12' with the layout's number to "
	              "'geometry'\n"
	              "5:116 mkfs: '${stripe_unit:sectors}' has an unknown unit: the units are B KiB MiB GiB\n"
	              "5:145 mkfs: '${stripe_unit:MiB}' is no whole number");
}

static void targets_are_names_and_sizes(void **state)
{
	(void)state;
	assert_faults("plan: p\ntarget: {device: /dev/sdb}\nworkloads: [dd-read]\n" MATRIX,
	              "2:18 '/dev/sdb' is a path: a device is named as this host's configuration lists it (iosweep devices)");
	assert_faults("plan: p\ntarget: {device: a, image: 1GiB}\nworkloads: [dd-read]\n" MATRIX,
	              "2:9 'target' takes exactly one of 'device', 'image' and 'directory'");
	assert_faults("plan: p\ntarget: {image: 1000000B, erase: yes, direct: maybe, keep-filesystem: no}\nworkloads: [dd-read]\n" MATRIX,
	              "2:17 image: '1000000B' is not a size of at least 1MiB and a multiple of 4KiB\n"
	              "2:34 'erase' is about a device: nothing else is erased\n"
	              "2:47 'direct' takes yes or no\n"
	              "2:71 'keep-filesystem' is about a device");
	assert_faults("plan: p\ntarget: sdb\nworkloads: [dd-read]\n" MATRIX,
	              "2:9 'target' takes one of {device: NAME}, {image: SIZE}, {directory: NAME}, not a scalar");
	assert_faults("plan: a b\ntarget: {directory: ../etc}\nworkloads: [dd-read]\nmatrix: {}\n",
	              "1:7 'a b' is not a name: letters, digits, '.', '_' and '-', 64 at the most, the first a letter or digit\n"
	              "2:21 '../etc' is a path: a directory is named as this host's configuration lists it (iosweep devices)");
}

static void settings_are_checked(void **state)
{
	(void)state;
	assert_faults(HEAD MATRIX "trials: 0\nkeep: middle\norder: [nested]\nfresh: ''\ntimeout: 10\nsettle: 3 fortnights\npriority: 101\n"
	                          "random-seed: -1\non-failure: panic\nmemory: [1GiB]\n",
	              "5:9 '0' is not a value of 'trials': write a whole number of 1 to 1000\n"
	              "6:7 'middle' is not a value of 'keep': write one of median, mean\n"
	              "7:8 'order' takes one word, not a list\n"
	              "8:8 'fresh' has no value: it takes one word\n"
	              "9:10 timeout: '10' is not a duration: write a number and a unit, as in 500ms, 30s, 5min, 2h\n"
	              "10:9 settle: '3 fortnights' is not a duration: write a number and a unit, as in 500ms, 30s, 5min, 2h\n"
	              "11:11 '101' is not a value of 'priority': write a whole number of -100 to 100\n"
	              "12:14 '-1' is not a value of 'random-seed': write a whole number of 0 to 9223372036854775807\n"
	              "13:13 'panic' is not a value of 'on-failure': write one of continue, stop\n"
	              "14:9 'memory' takes a size (to sweep it, put it into the matrix), not a list");
}

static void workloads_are_checked(void **state)
{
	(void)state;
	assert_faults("plan: p\ntarget: {image: 1GiB}\nworkloads:\n  - dd-raed\n  - dd-read: {sise: 1GiB}\n  - dd-write: {bs: [4KiB, 8KiB]}\n"
	              "  - [dd-read]\n  - command\n  - dd-read: {as: queue}\n" MATRIX,
	              "4:5 no workload 'dd-raed' is defined: did you mean 'dd-read'?\n"
	              "5:15 the workload 'dd-read' has no parameter 'sise': did you mean 'size'?\n"
	              "6:20 a parameter is a text or number, not a list: to sweep it, write 'dd-write.bs: [...]' in the matrix\n"
	              "7:5 a workload is a name, or a name with its parameters: '- dd-read: {size: 4GiB}'\n"
	              "8:5 'command' needs the command: add 'run: [PROGRAM, WORD, ...]' and 'metrics:' below it\n"
	              "9:19 'queue' cannot be a workload's name: axes are called 'queue.X'");
	assert_faults("plan: p\ntarget: {image: 1GiB}\nworkloads: []\n" MATRIX,
	              "3:12 'workloads' takes a list with at least one workload, such as [dd-write, dd-read]");
}

static void parameters_of_workloads_are_axes(void **state)
{
	struct plan *p = read_good(HEAD "matrix: {filesystem: xfs, dd-read.bs: [4KiB, 64KiB]}\n");

	(void)state;
	assert_ptr_equal(p->blocks[0].axes[1].def, &axis_workload);
	assert_string_equal(p->blocks[0].axes[1].values[1].value, "64KiB");
	plan_free(p);
	assert_faults(HEAD "matrix: {filesystem: xfs, dd-read.colour: red, dd-read.bs: [4, 8KiB], dd-write.bs: 4KiB}\n",
	              "4:27 the workload 'dd-read' has no parameter 'colour' to vary\n"
	              "4:61 dd-read.bs: '4' has no unit: write 4B, 4KiB, 4MiB or 4GiB\n"
	              "4:71 unknown axis 'dd-write.bs': only those that iosweep-plan(5) lists can be set, such as filesystem, "
	              "readahead, scheduler, queue.nr_requests, vm.dirty_ratio");
}

static void blocks_are_checked(void **state)
{
	(void)state;
	assert_faults(HEAD "matrix:\n  - {filesystem: xfs, one-at-a-time: perhaps, vm.dirty_ratio: 5, vm.dirty_bytes: 1GiB}\n  - word\n"
	                   "  - {filesystem: xfs, zip: 5}\n  - {filesystem: xfs, zip: [{readahead: 4KiB}, {scheduler: none}, 7], readahead: 8KiB}\n"
	                   "  - {filesystem: xfs, mkfs: {a: b}, mount: [[a, [b]]], scheduler: {a: b}, readahead: ''}\n",
	              "5:38 'one-at-a-time' takes yes or no\n"
	              "5:66 'vm.dirty_ratio' and 'vm.dirty_bytes' are one setting of the kernel: keep one in a block\n"
	              "6:5 a block of the matrix is a map of axes, not a scalar\n"
	              "7:28 'zip' takes a list of maps: values of one row go together\n"
	              "8:48 zip: this row has no 'readahead', and the first has\n"
	              "8:49 zip: 'scheduler' is not in the first row\n"
	              "8:67 zip: a row is a map of axes, not a scalar\n"
	              "8:71 'readahead' is in the block's zip already\n"
	              "9:29 'mkfs' takes option words, as a string or a list, not a map\n"
	              "9:49 a word of 'mount' is a text, not a list\n"
	              "9:67 'scheduler' takes a value or a list of values, not a map\n"
	              "9:86 'readahead' has no value: it takes a value or a list of values");
}

static void excludes_must_name_what_is_there(void **state)
{
	(void)state;
	assert_faults(HEAD "matrix: {filesystem: [xfs, ext4], readahead: [4KiB, 8KiB]}\n"
	                   "exclude: [{filesystem: ext4, readahead: [8KiB, 16KiB]}, {scheduler: none}, {}, {filesystem: zfs}]\n",
	              "5:48 exclude: no block of the matrix has '16KiB' as a value of 'readahead'\n"
	              "5:58 exclude: no block of the matrix has the axis 'scheduler'\n"
	              "5:76 an entry of 'exclude' is a map of axes and values\n"
	              "5:93 unknown filesystem 'zfs': did you mean 'xfs'?");
}

static void definitions_are_checked(void **state)
{
	(void)state;
	assert_faults(HEAD "define:\n  filesystem:\n    a: xfs\n    b: {type: zfs}\n    c: {type: xfs, mkfs: {a: b}, label: x}\n"
	                   "    d: {mkfs: '-b 4096'}\n    e: {typ: xfs}\n  other: 1\n" MATRIX,
	              "6:8 a filesystem is a map with 'type', and 'mkfs' and 'mount' where needed\n"
	              "7:15 the type 'zfs' is not known: write one of ext2 ext3 ext4 xfs btrfs none\n"
	              "8:26 'mkfs' takes option words, as a string or a list, not a map\n"
	              "8:34 unknown key 'label' in a filesystem: known are type mkfs mount\n"
	              "9:8 a filesystem needs 'type': one of ext2 ext3 ext4 xfs btrfs none\n"
	              "10:9 unknown key 'typ' in a filesystem: did you mean 'type'?\n"
	              "11:3 unknown key 'other' in define: known are filesystem");
}

/* Not also said to be missing. */
static void a_misspelt_key_is_one_fault(void **state)
{
	(void)state;
	assert_faults("plna: a\ntarget: {devise: spare, erase: yes}\nworkload: [w]\nmatrix: {filesystem: none}\n",
	              "1:1 unknown key 'plna' in the plan: did you mean 'plan'?\n"
	              "2:10 unknown key 'devise' in the target: did you mean 'device'?\n"
	              "3:1 unknown key 'workload' in the plan: did you mean 'workloads'?");
}

static void at_most_a_hundred_faults_are_kept(void **state)
{
	AUTO_TEXT struct text yaml = { 0 };
	struct diags d;
	struct plan *p;

	(void)state;
	text_add(&yaml, HEAD "matrix:\n  filesystem: xfs\n");
	for (int i = 0; i < 300; i++)
		text_printf(&yaml, "  nonsense%d: 1\n", i);
	diags_init(&d, "t");
	assert_int_equal(plan_read(text_str(&yaml), yaml.n, definitions, &d, &p), -1);
	assert_int_equal(d.n, DIAGS_MAX);
	assert_int_equal(d.n_lost, 200);
	diags_done(&d);
}

static void a_device_may_be_written_over_first(void **state)
{
	struct plan *p = read_good(HEAD MATRIX "precondition: yes\n");

	(void)state;
	assert_true(p->precondition);
	plan_free(p);
	assert_faults("plan: p\ntarget: {directory: d}\nworkloads: [dd-read]\nprecondition: yes\nmatrix: {vm.dirty_ratio: 5}\n",
	              "4:15 'precondition' writes a device over: a directory has none of its own");
	assert_faults(HEAD MATRIX "precondition: twice\n", "5:15 'precondition' takes yes or no");
}

static void only_names_cells_of_the_matrix(void **state)
{
	(void)state;
	assert_faults("plan: p\ntarget: {image: 1GiB}\nworkloads:\n  - dd-read: {only: {readahead: [4KiB, 16KiB], scheduler: none}}\n"
	              "  - dd-write: {only: {mkfs: -K}}\n  - cat-read: {only: 4KiB}\n"
	              "matrix: {filesystem: xfs, readahead: [4KiB, 8KiB], mkfs: -K}\n",
	              "4:40 only: no block of the matrix has '16KiB' as a value of 'readahead'\n"
	              "4:48 only: no block of the matrix has the axis 'scheduler'\n"
	              "5:23 only: 'mkfs' cannot be asked for: give its filesystem a name under 'define' and ask for that\n"
	              "6:22 an entry of 'only' is a map of axes and values");
}

static const char *param_of(const struct plan *p, size_t workload, const char *name)
{
	for (size_t i = 0; i < p->workloads[workload].n_params; i++)
		if (strcmp(p->workloads[workload].params[i].name, name) == 0)
			return p->workloads[workload].params[i].value;
	return "";
}

#define REHEARSED "plan: p\ntarget: {device: d, erase: yes}\nsettle: 0\nmatrix: {filesystem: xfs, memory: [1GiB, 64MiB]}\nworkloads:\n" \
	"  - dd-read: {size: 2x ram}\n  - dd-write: {size: 4MiB}\n" \
	"  - pgbench: {as: small, scale: 100}\n  - pgbench: {as: large, scale: 1000, duration: 10min}\n" \
	"  - command: {run: [dd, '${n}'], params: {n: 900}, rehearse: {at-most: {n: 9}}, " \
	"metrics: {m: {value: ':elapsed', unit: s, better: lower}}}\n"

static void a_rehearsal_has_the_cells_and_tools_of_the_plan_and_small_sizes(void **state)
{
	struct plan *p = read_good(REHEARSED "rehearse: {image: 3GiB, trials: 2, workloads: {large: {scale: 7, set_work_mem: 1MB}}}\n");
	uint8_t real[32], rehearsed[32], other[32];

	(void)state;
	plan_workload_digest(p, &p->workloads[1], real);
	plan_rehearse(p);
	plan_workload_digest(p, &p->workloads[1], rehearsed);
	assert_true(p->is_rehearsal);
	assert_int_equal(p->target.kind, TARGET_IMAGE);
	assert_int_equal(p->target.image_bytes, INT64_C(3) << 30);
	assert_true(p->target.direct);
	assert_int_equal(p->trials, 2);
	assert_int_equal(p->settle_ns, 0);
	assert_true(p->memory_max_bytes > 0);
	assert_string_equal(param_of(p, 0, "size"), "64MiB");  /* relative to memory: larger than any */
	assert_string_equal(param_of(p, 1, "size"), "4MiB");   /* small as it is */
	assert_string_equal(param_of(p, 2, "scale"), "1");
	assert_string_equal(param_of(p, 2, "duration"), "");   /* none stays none */
	assert_string_equal(param_of(p, 3, "duration"), "1s");
	assert_string_equal(param_of(p, 3, "scale"), "7");     /* as the plan says */
	assert_string_equal(param_of(p, 3, "set_work_mem"), "1MB");
	assert_string_equal(param_of(p, 4, "n"), "9");
	/* Figures of a rehearsal meet no others, even where nothing was made smaller; nor do two that became alike. */
	assert_memory_not_equal(real, rehearsed, 32);
	plan_workload_digest(p, &p->workloads[2], rehearsed);
	p->workloads[2].name = "another";
	plan_workload_digest(p, &p->workloads[2], other);
	assert_memory_not_equal(rehearsed, other, 32);
	plan_free(p);
	p = read_good(REHEARSED);
	plan_rehearse(p);
	assert_int_equal(p->trials, 1);
	assert_true(p->target.image_bytes >= INT64_C(1) << 30);
	plan_free(p);
	p = read_good("plan: p\ntarget: {directory: d}\nworkloads: [dd-read]\nmatrix: {vm.dirty_ratio: 5}\n");
	plan_rehearse(p);
	assert_int_equal(p->target.kind, TARGET_DIRECTORY);
	assert_string_equal(param_of(p, 0, "size"), "64MiB");
	plan_free(p);
}

static void what_a_plan_says_of_its_rehearsal_is_checked(void **state)
{
	(void)state;
	assert_faults(HEAD MATRIX "rehearse: {image: 5, trials: 0, workloads: {dd-read: {colour: red, bs: [1]}, dd-reed: {}}, x: 1}\n",
	              "5:19 image: '5' has no unit: write 5B, 5KiB, 5MiB or 5GiB\n"
	              "5:30 '0' is not a value of 'trials': write a whole number of 1 to 1000\n"
	              "5:55 rehearse: the workload 'dd-read' has no parameter 'colour'\n"
	              "5:72 rehearse: 'bs' takes one value\n"
	              "5:78 rehearse: the plan has no workload called 'dd-reed'\n"
	              "5:92 unknown key 'x' in rehearse: known are image trials workloads");
	assert_faults(HEAD MATRIX "rehearse: yes\n",
	              "5:11 'rehearse' takes a map with 'image', 'trials' and 'workloads', not a scalar");
}

static void every_plan_that_is_shipped_is_good(void **state)
{
	glob_t found;

	(void)state;
	assert_int_equal(glob("sweeps/*.yaml", 0, NULL, &found), 0);
	assert_true(found.gl_pathc >= 5);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		AUTO_TEXT struct text yaml = { 0 };

		assert_int_equal(file_read(AT_FDCWD, found.gl_pathv[i], YAML_MAX_BYTES, &yaml, NULL), 0);
		plan_free(read_good(text_str(&yaml)));
	}
	globfree(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_has_defaults),
		cmocka_unit_test(every_setting_is_read),
		cmocka_unit_test(parameters_are_the_definitions_with_the_plans_values_in),
		cmocka_unit_test(both_spellings_of_a_value_are_kept),
		cmocka_unit_test(option_lists_of_an_axis_are_values_and_of_a_definition_words),
		cmocka_unit_test(geometry_expands_in_options),
		cmocka_unit_test(aliases_and_merge_keys_work_in_plans),
		cmocka_unit_test(a_directory_needs_no_axis),
		cmocka_unit_test(a_bare_number_is_refused_with_both_readings),
		cmocka_unit_test(unknown_keys_and_axes_are_named),
		cmocka_unit_test(words_that_cannot_be_made_are_refused),
		cmocka_unit_test(a_label_with_a_capital_is_told_its_letters),
		cmocka_unit_test(duplicates_are_named),
		cmocka_unit_test(a_matrix_without_a_cell_is_refused),
		cmocka_unit_test(texts_that_are_no_plan_are_refused),
		cmocka_unit_test(window_has_its_own_message),
		cmocka_unit_test(options_that_are_not_allowed_are_refused_where_they_stand),
		cmocka_unit_test(variables_are_explained),
		cmocka_unit_test(targets_are_names_and_sizes),
		cmocka_unit_test(settings_are_checked),
		cmocka_unit_test(workloads_are_checked),
		cmocka_unit_test(parameters_of_workloads_are_axes),
		cmocka_unit_test(blocks_are_checked),
		cmocka_unit_test(excludes_must_name_what_is_there),
		cmocka_unit_test(definitions_are_checked),
		cmocka_unit_test(a_misspelt_key_is_one_fault),
		cmocka_unit_test(at_most_a_hundred_faults_are_kept),
		cmocka_unit_test(a_device_may_be_written_over_first),
		cmocka_unit_test(only_names_cells_of_the_matrix),
		cmocka_unit_test(a_rehearsal_has_the_cells_and_tools_of_the_plan_and_small_sizes),
		cmocka_unit_test(what_a_plan_says_of_its_rehearsal_is_checked),
		cmocka_unit_test(every_plan_that_is_shipped_is_good),
	};

	return cmocka_run_group_tests(tests, definitions_load, definitions_free);
}
