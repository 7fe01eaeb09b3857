/* SPDX-License-Identifier: MIT
 *
 * Cells: which there are, in which order, under which name, and how often each step runs.  Random plans are held
 * against a second, naive enumeration.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/resource.h>

#include "tests/unit/plan_help.h"

#define HEAD "plan: p\ntarget: {image: 1GiB}\nworkloads: [dd-read]\n"

static struct matrix *matrix_good(const char *yaml, struct plan **p)
{
	AUTO_TEXT struct text faults = { 0 };
	struct matrix *m;

	plan_try(yaml, strlen(yaml), p, &m, &faults);
	assert_string_equal(text_str(&faults), "none");
	return m;
}

/* One cell as "axis=value axis=value", the axes that are not left as found. */
static void cell_print(const struct cell *c, struct text *ret)
{
	for (size_t i = 0, n = 0; i < c->n; i++)
		if (strcmp(c->at[i].value, KERNEL_DEFAULT) != 0)
			text_printf(ret, "%s%s=%s", n++ > 0 ? " " : "", c->at[i].axis, c->at[i].value);
	text_add(ret, "\n");
}

static void assert_cells(const char *yaml, const char *expected)
{
	AUTO_TEXT struct text got = { 0 };
	struct plan *p;
	struct matrix *m = matrix_good(yaml, &p);
	struct matrix_walk *w = matrix_walk_new(m);
	struct cell c;
	uint64_t n = 0;

	for (; matrix_walk_next(w, &c); n++)
		cell_print(&c, &got);
	assert_string_equal(text_str(&got), expected);
	assert_int_equal(n, matrix_count(m));
	matrix_walk_free(w);
	matrix_free(m);
	plan_free(p);
}

static void assert_steps(const char *yaml, const char *expected)
{
	AUTO_TEXT struct text got = { 0 };
	struct step_counts counts;
	struct plan *p;
	struct matrix *m = matrix_good(yaml, &p);

	matrix_count_steps(m, &counts);
	text_printf(&got, "cells %d trials %d", (int)counts.cells, (int)counts.trials);
	for (int i = 0; i < N_STEPS; i++)
		if (counts.steps[i] > 0)
			text_printf(&got, " %s %d", step_name((enum step_id)i), (int)counts.steps[i]);
	assert_string_equal(text_str(&got), expected);
	matrix_free(m);
	plan_free(p);
}

static void slow_steps_vary_slowest(void **state)
{
	(void)state;
	assert_cells(HEAD "matrix: {readahead: [4KiB, 8KiB], filesystem: [xfs, ext4], mount: noatime, scheduler: [none, bfq]}\n",
	             "filesystem=xfs mount=noatime readahead=4096 scheduler=none\n"
	             "filesystem=xfs mount=noatime readahead=8192 scheduler=none\n"
	             "filesystem=ext4 mount=noatime readahead=4096 scheduler=none\n"
	             "filesystem=ext4 mount=noatime readahead=8192 scheduler=none\n"
	             "filesystem=xfs mount=noatime readahead=4096 scheduler=bfq\n"
	             "filesystem=xfs mount=noatime readahead=8192 scheduler=bfq\n"
	             "filesystem=ext4 mount=noatime readahead=4096 scheduler=bfq\n"
	             "filesystem=ext4 mount=noatime readahead=8192 scheduler=bfq\n");
}

static void equal_cells_of_blocks_count_once(void **state)
{
	(void)state;
	assert_cells(HEAD "matrix:\n  - {filesystem: xfs, readahead: [4KiB, 8KiB]}\n  - {filesystem: [xfs, ext4], readahead: [8KiB, 16s]}\n",
	             "filesystem=xfs readahead=4096\nfilesystem=xfs readahead=8192\nfilesystem=ext4 readahead=8192\n");
	/* a named value without options is the bare type; a name with options is the bare type with the axis's */
	assert_cells(HEAD "define: {filesystem: {mine: {type: ext4, mkfs: -b 4096}, bare: {type: xfs}}}\n"
	                  "matrix:\n  - {filesystem: [xfs, bare, mine]}\n  - {filesystem: ext4, mkfs: ['-b 4k', '-b 1k', '-b 4096']}\n",
	             "filesystem=xfs\nfilesystem=ext4 mkfs=-b 4096\nfilesystem=ext4 mkfs=-b 1024\n");
}

/* The cell is excluded under one name and stays under the other. */
static void excluding_a_name_keeps_the_cell_of_another(void **state)
{
	(void)state;
	assert_cells(HEAD "define: {filesystem: {a: {type: xfs}, b: {type: xfs}}}\n"
	                  "matrix: {filesystem: [a, b], readahead: [4KiB, 8KiB]}\nexclude: [{filesystem: a, readahead: 8KiB}]\n",
	             "filesystem=xfs readahead=4096\nfilesystem=xfs readahead=8192\n");
}

static void zipped_values_go_together(void **state)
{
	(void)state;
	assert_cells(HEAD "matrix:\n  zip: [{filesystem: xfs, mkfs: '-b size=1024'}, {filesystem: ext4, mkfs: [-b, 1024]}]\n"
	                  "  readahead: [4KiB, 8KiB]\n",
	             "filesystem=xfs mkfs=-b size=1024 readahead=4096\nfilesystem=xfs mkfs=-b size=1024 readahead=8192\n"
	             "filesystem=ext4 mkfs=-b 1024 readahead=4096\nfilesystem=ext4 mkfs=-b 1024 readahead=8192\n");
}

static void one_at_a_time_is_a_star_around_the_first_values(void **state)
{
	(void)state;
	assert_cells(HEAD "matrix: {one-at-a-time: yes, filesystem: [xfs, ext4], readahead: [4KiB, 8KiB, 16KiB], scheduler: [none, bfq]}\n",
	             "filesystem=xfs readahead=4096 scheduler=none\n"
	             "filesystem=xfs readahead=8192 scheduler=none\n"
	             "filesystem=xfs readahead=16384 scheduler=none\n"
	             "filesystem=ext4 readahead=4096 scheduler=none\n"
	             "filesystem=xfs readahead=4096 scheduler=bfq\n");
}

static void options_of_filesystem_and_axes_are_merged(void **state)
{
	struct plan *p;
	struct matrix *m = matrix_good("plan: p\ntarget: {image: 1GiB}\nworkloads: [dd-read]\ngeometry: {stripe_unit: 64KiB, data_disks: 4}\n"
	                               "define: {filesystem: {e: {type: ext4, mkfs: [-b, 1024, -m, 1], mount: noatime}}}\n"
	                               "matrix: {filesystem: e, mkfs: '-m 0 -E stride=${stride}', mount: ['', 'relatime data=ordered']}\n", &p);
	struct matrix_walk *w = matrix_walk_new(m);
	AUTO_ARENA struct arena *a = arena_new();
	struct format f;
	struct cell c;
	struct err e;

	(void)state;
	assert_true(matrix_walk_next(w, &c));
	assert_string_equal(cell_get(&c, "filesystem")->requested, "e");
	assert_string_equal(cell_get(&c, "filesystem")->value, "ext4");
	assert_string_equal(cell_get(&c, "mkfs")->requested, "-b 1024 -m 1 -m 0 -E stride=64");
	assert_string_equal(cell_get(&c, "mkfs")->value, "-b 1024 -m 0 -E stride=64");
	assert_string_equal(cell_get(&c, "mount")->value, "noatime");
	assert_int_equal(cell_format(m, &c, a, &f, &e), 0);
	assert_string_equal(f.type, "ext4");
	assert_string_equal(f.mkfs[5], "stride=64");
	assert_null(f.mkfs[6]);
	assert_true(matrix_walk_next(w, &c));
	assert_int_equal(cell_format(m, &c, a, &f, &e), 0);
	assert_string_equal(f.mount[0], "data=ordered");
	assert_string_equal(f.mount[1], "relatime");
	assert_null(f.mount[2]);
	matrix_walk_free(w);
	matrix_free(m);
	plan_free(p);
}

static void a_config_names_what_is_set_and_nothing_else(void **state)
{
	AUTO_TEXT struct text canonical = { 0 };
	char hex[DIGEST_TEXT];
	struct plan *p;
	struct matrix *m = matrix_good(HEAD "matrix: {scheduler: deadline, readahead: kernel-default, label.hw: raid10, filesystem: xfs}\n", &p);
	struct matrix_walk *w = matrix_walk_new(m);
	uint8_t digest[32];
	struct cell c;

	(void)state;
	assert_true(matrix_walk_next(w, &c));
	cell_config(&c, &canonical, digest);
	assert_string_equal(text_str(&canonical), "filesystem=xfs\nlabel.hw=raid10\nscheduler=mq-deadline\n");
	assert_string_equal(digest_format(digest, hex),
	                    "de9d17d32757c8a1ac36121cf4f031dc1ea3c6b31596e93a10fe7b4f48931514");
	assert_string_equal(cell_get(&c, "scheduler")->requested, "deadline");
	assert_string_equal(cell_get(&c, "readahead")->value, KERNEL_DEFAULT);
	assert_null(cell_get(&c, "queue.nr_requests"));
	assert_false(matrix_walk_next(w, &c));
	matrix_walk_free(w);
	matrix_free(m);
	plan_free(p);
}

static void steps_run_as_often_as_the_order_needs(void **state)
{
	(void)state;
#define CELLS "matrix: {filesystem: [xfs, ext4], scheduler: [none, bfq], readahead: [4KiB, 8KiB, 16KiB]}\n"
	assert_steps(HEAD CELLS "fresh: filesystem\n", "cells 12 trials 36 claim 1 queue 2 format 4 mount 4 tune 12");
	assert_steps(HEAD CELLS, "cells 12 trials 36 claim 1 queue 2 format 12 mount 12 tune 12");
	assert_steps(HEAD CELLS "fresh: trial\n", "cells 12 trials 36 claim 1 queue 2 format 36 mount 36 tune 36");
	/* three passes; each begins where the last one ended */
	assert_steps(HEAD CELLS "fresh: filesystem\norder: rounds\n",
	             "cells 12 trials 36 claim 1 queue 6 format 12 mount 12 tune 36");
	assert_steps(HEAD "matrix: {filesystem: xfs}\norder: rounds\nfresh: filesystem\n",
	             "cells 1 trials 3 claim 1 queue 1 format 1 mount 1 tune 1");
	assert_steps(HEAD "matrix: {filesystem: xfs}\norder: rounds\n",
	             "cells 1 trials 3 claim 1 queue 1 format 3 mount 3 tune 3");
	assert_steps(HEAD "matrix: {filesystem: xfs, label.x: [a, b]}\nfresh: filesystem\n",
	             "cells 2 trials 6 claim 1 queue 1 format 1 mount 1 tune 1");
	assert_steps(HEAD "matrix: {filesystem: [none, xfs], readahead: 4KiB}\nfresh: filesystem\n",
	             "cells 2 trials 6 claim 1 queue 1 format 1 mount 1 tune 2");
	assert_steps("plan: p\ntarget: {directory: d}\nworkloads: [dd-read]\nmatrix: {vm.dirty_ratio: [5, 6], label.x: [a, b]}\n",
	             "cells 4 trials 12 claim 1 tune 4");
	assert_steps(HEAD "matrix: {filesystem: xfs, memory: [1GiB, 2GiB]}\nfresh: filesystem\n",
	             "cells 2 trials 6 claim 1 queue 1 format 1 mount 1 tune 1 confine 2");
}

static void the_first_difference_is_the_lowest_step(void **state)
{
	struct plan *p;
	struct matrix *m = matrix_good(HEAD "matrix: {filesystem: [xfs, ext4], mount: ['', noatime], scheduler: [none, bfq], readahead: [4KiB, 8KiB], "
	                                    "label.x: [a, b]}\n", &p);
	struct matrix_walk *w = matrix_walk_new(m);
	struct cell cells[32];
	size_t n = 0;

	(void)state;
	while (matrix_walk_next(w, &cells[n]))
		n++;
	assert_int_equal(n, 32);
	assert_int_equal(cell_first_difference(NULL, &cells[0]), STEP_CLAIM);
	assert_int_equal(cell_first_difference(&cells[0], &cells[0]), N_STEPS);
	assert_int_equal(cell_first_difference(&cells[0], &cells[1]), N_STEPS); /* the label */
	assert_int_equal(cell_first_difference(&cells[1], &cells[2]), STEP_TUNE);
	assert_int_equal(cell_first_difference(&cells[3], &cells[4]), STEP_MOUNT);
	assert_int_equal(cell_first_difference(&cells[7], &cells[8]), STEP_FORMAT);
	assert_int_equal(cell_first_difference(&cells[15], &cells[16]), STEP_QUEUE);
	assert_int_equal(cell_first_step(p->fresh, &cells[1], &cells[2]), STEP_FORMAT); /* fresh: cell */
	matrix_walk_free(w);
	matrix_free(m);
	plan_free(p);
}

/* ---- order: random ---- */

static void positions_collect(const char *yaml, uint64_t *at, size_t max, size_t *n)
{
	struct plan *p;
	struct matrix *m = matrix_good(yaml, &p);
	struct matrix_walk *w = matrix_walk_new(m);
	struct cell c;

	for (*n = 0; matrix_walk_next(w, &c); ++*n) {
		assert_true(*n < max);
		at[*n] = c.position;
	}
	assert_int_equal(*n, matrix_count(m));
	matrix_walk_free(w);
	matrix_free(m);
	plan_free(p);
}

static void a_random_order_is_a_permutation_by_its_seed(void **state)
{
#define THOUSAND "matrix: {filesystem: xfs, vm.swappiness: [0,1,2,3,4,5,6,7,8,9], vm.dirty_ratio: [0,1,2,3,4,5,6,7,8,9], " \
	"vm.dirty_background_ratio: [0,1,2,3,4,5,6,7,8,9]}\norder: random\n"
	static uint64_t one[1000], same[1000], other[1000];
	size_t n, in_place = 0, equal = 0;
	bool seen[1000] = { false };

	(void)state;
	positions_collect(HEAD THOUSAND, one, 1000, &n);
	positions_collect(HEAD THOUSAND, same, 1000, &n);
	positions_collect(HEAD THOUSAND "random-seed: 2\n", other, 1000, &n);
	assert_int_equal(n, 1000);
	assert_memory_equal(one, same, sizeof(one));
	for (size_t i = 0; i < 1000; i++) {
		assert_true(one[i] < 1000 && !seen[one[i]]);
		seen[one[i]] = true;
		in_place += one[i] == i;
		equal += one[i] == other[i];
	}
	assert_true(in_place < 10 && equal < 10);
}

/* ---- limits ---- */

#define TEN "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"

static void a_workload_may_be_for_some_cells_only(void **state)
{
	const char *yaml = "plan: p\ntarget: {image: 1GiB}\ndefine: {filesystem: {small: {type: xfs, mkfs: -K}}}\nworkloads:\n"
	                   "  - dd-read\n  - dd-write: {only: {filesystem: small, scheduler: [deadline, kernel-default]}}\n"
	                   "matrix: [{filesystem: [small, xfs], scheduler: [none, mq-deadline]}, {filesystem: small}]\n";
	AUTO_TEXT struct text got = { 0 };
	struct step_counts counts;
	struct matrix_walk *w;
	struct plan *p;
	struct matrix *m = matrix_good(yaml, &p);
	struct cell c;

	(void)state;
	w = matrix_walk_new(m);
	while (matrix_walk_next(w, &c))
		if (cell_has_workload(p, &c, 1))
			text_printf(&got, "%s/%s ", cell_get(&c, "filesystem")->requested,
			            cell_get(&c, "scheduler")->value);
	matrix_walk_free(w);
	assert_string_equal(text_str(&got), "small/mq-deadline small/kernel-default ");
	matrix_count_steps(m, &counts);
	assert_int_equal(counts.cells_of[0], 5);
	assert_int_equal(counts.cells_of[1], 2);
	assert_int_equal(counts.trials, 21);
	matrix_free(m);
	plan_free(p);
}

static void too_many_cells_or_axes_are_refused(void **state)
{
	AUTO_TEXT struct text yaml = { 0 }, faults = { 0 };
	struct plan *p;
	struct matrix *m;

	(void)state;
	text_add(&yaml, HEAD "matrix:\n  filesystem: xfs\n");
	for (int i = 0; i < 9; i++)
		text_printf(&yaml, "  label.x%d: " TEN "\n", i);
	plan_try(text_str(&yaml), yaml.n, &p, &m, &faults);
	assert_string_equal(text_str(&faults), "5:3 more than 100000000 cells");
	plan_free(p);
	text_clear(&yaml);
	text_clear(&faults);
	text_add(&yaml, HEAD "matrix:\n  filesystem: xfs\n");
	for (int i = 0; i < 62; i++)
		text_printf(&yaml, "  label.x%d: 1\n", i);
	plan_try(text_str(&yaml), yaml.n, &p, &m, &faults);
	assert_string_equal(text_str(&faults), "67:3 more than 64 axes in one plan");
	plan_free(p);
}

static void a_million_cells_take_no_memory(void **state)
{
	static const char yaml[] = HEAD
	        "matrix:\n  - &b {filesystem: [xfs, ext4], label.a: " TEN ", label.b: " TEN ", label.c: " TEN ", label.d: " TEN
	        ", vm.swappiness: " TEN ", vm.dirty_ratio: [1, 2, 3, 4, 5]}\n  - {<<: *b, filesystem: xfs}\n";
	struct rusage before, after;
	struct step_counts counts;
	struct plan *p;
	struct matrix *m;

	(void)state;
	getrusage(RUSAGE_SELF, &before);
	m = matrix_good(yaml, &p);
	matrix_count_steps(m, &counts);
	getrusage(RUSAGE_SELF, &after);
	assert_int_equal(matrix_count(m), 1000000);
	assert_int_equal(counts.steps[STEP_TUNE], 1000000);
	assert_true(after.ru_maxrss - before.ru_maxrss < 16 * 1024); /* KiB; what a set of the cells would take is far above */
	matrix_free(m);
	plan_free(p);
}

/* ---- random plans ---- */

static uint64_t random_state;

static unsigned random_below(unsigned n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(random_state >> 33) % n;
}

struct trial_axis {
	const char *name, *values[4];
};
static const struct trial_axis trial_axes[] = {
	{ "filesystem", { "xfs", "ext4", "small", "same" } },
	{ "mkfs", { "''", "'-m 0'", "'-m 0.0'", "'-m 1'" } },
	{ "mount", { "''", "noatime", "'noatime relatime'", "relatime" } },
	{ "readahead", { "4KiB", "8s", "8KiB", "16KiB" } },
	{ "scheduler", { "none", "noop", "bfq", "deadline" } },
	{ "label.x", { "a", "b", "c", "d" } },
};

static void values_write(const struct trial_axis *axis, bool is_list, struct text *ret)
{
	unsigned first = random_below(4), n = is_list ? 1 + random_below(4 - first) : 1;

	/* only ext takes these mkfs words: xfs cells with them are left out by an exclude of the plan */
	text_printf(ret, "%s: %s", axis->name, is_list ? "[" : "");
	for (unsigned i = first; i < first + n; i++)
		text_printf(ret, "%s%s", i > first ? ", " : "", axis->values[i]);
	text_add(ret, is_list ? "]" : "");
}

static void block_write(bool with_mkfs, struct text *ret)
{
	static const char *const types[] = { "[ext4, small, same]", "[small, same]", "[same, ext4]", "small" };
	bool has_zip = random_below(3) == 0;

	text_printf(ret, "  - {filesystem: %s", with_mkfs ? types[random_below(4)] : "[xfs, ext4, small, same]");
	if (random_below(3) == 0)
		text_add(ret, ", one-at-a-time: yes");
	if (has_zip)
		text_add(ret, ", zip: [{readahead: 4KiB, label.x: a}, {readahead: 8KiB, label.x: b}, {readahead: 4KiB, label.x: c}]");
	for (size_t i = 1; i < ARRAY_SIZE(trial_axes); i++) {
		if (random_below(3) == 0 || (i == 1 && !with_mkfs) || (has_zip && (i == 3 || i == 5)))
			continue;
		text_add(ret, ", ");
		values_write(&trial_axes[i], random_below(3) > 0, ret);
	}
	text_add(ret, "}\n");
}

static void plan_write(struct text *ret)
{
	static const char *const orders[] = { "nested", "rounds", "random" }, *const freshes[] = { "cell", "filesystem", "trial" };

	text_clear(ret);
	text_printf(ret, HEAD "define: {filesystem: {small: {type: ext4, mkfs: -b 1024}, same: {type: ext4, mkfs: '-b 1k', mount: relatime}}}\n"
	                 "order: %s\nfresh: %s\nrandom-seed: %u\ntrials: %u\nmatrix:\n",
	            orders[random_below(3)], freshes[random_below(3)], random_below(1000), 1 + random_below(4));
	for (unsigned n = 1 + random_below(3); n > 0; n--)
		block_write(random_below(2) == 0, ret);
}

/* What the walk gives, checked cell by cell; the transitions are counted by the shared rules alone. */
static void walk_check(const struct plan *p, const struct matrix *m)
{
	struct step_counts counts, naive = { 0 };
	int passes = p->order == ORDER_ROUNDS ? p->trials : 1;
	uint64_t per_visit = (uint64_t)(p->order == ORDER_ROUNDS ? 1 : p->trials) * p->n_workloads, n = 0;
	static char configs[4096][32];
	struct cell c, prev;
	bool has_prev = false;

	for (int pass = 0; pass < passes; pass++) {
		struct matrix_walk *w = matrix_walk_new(m);

		for (n = 0; matrix_walk_next(w, &c); n++) {
			AUTO_TEXT struct text canonical = { 0 };

			assert_true(n < ARRAY_SIZE(configs));
			cell_config(&c, &canonical, (uint8_t *)configs[n]);
			for (uint64_t i = 0; pass == 0 && i < n; i++)
				assert_memory_not_equal(configs[i], configs[n], 32);
			for (int s = (int)cell_first_step(p->fresh, has_prev ? &prev : NULL, &c); s < N_STEPS; s++)
				naive.steps[s] += cell_needs_step(p, &c, (enum step_id)s);
			for (uint64_t t = 1; p->fresh == FRESH_TRIAL && t < per_visit; t++)
				for (int s = STEP_FORMAT; s < N_STEPS; s++)
					naive.steps[s] += cell_needs_step(p, &c, (enum step_id)s);
			prev = c;
			has_prev = true;
		}
		matrix_walk_free(w);
		assert_int_equal(n, matrix_count(m));
	}
	matrix_count_steps(m, &counts);
	assert_memory_equal(counts.steps, naive.steps, sizeof(naive.steps));
}

/* The distinct configs of the same plan without the dedupe's help: each block as a plan of its own. */
static size_t union_count(const char *yaml)
{
	static uint8_t all[8192][32];
	const char *matrix = strstr(yaml, "matrix:\n") + 8;
	size_t n = 0;

	while (*matrix == ' ') {
		size_t len = strcspn(matrix, "\n") + 1;
		AUTO_TEXT struct text one = { 0 };
		AUTO_TEXT struct text canonical = { 0 };
		struct plan *p;
		struct matrix *m;
		struct matrix_walk *w;
		struct cell c;

		text_add_n(&one, yaml, (size_t)(strstr(yaml, "matrix:\n") + 8 - yaml));
		text_add_n(&one, matrix, len);
		m = matrix_good(text_str(&one), &p);
		w = matrix_walk_new(m);
		while (matrix_walk_next(w, &c)) {
			size_t i = 0;

			cell_config(&c, &canonical, all[n]);
			while (memcmp(all[i], all[n], 32) != 0)
				i++;
			n += i == n;
		}
		matrix_walk_free(w);
		matrix_free(m);
		plan_free(p);
		matrix += len;
	}
	return n;
}

static void random_plans_are_walked_without_gap_or_repeat(void **state)
{
	AUTO_TEXT struct text yaml = { 0 };

	(void)state;
	for (random_state = 1; random_state < 150;) {
		uint64_t seed = random_state;
		struct plan *p;
		struct matrix *m;

		plan_write(&yaml);
		m = matrix_good(text_str(&yaml), &p);
		walk_check(p, m);
		assert_int_equal(matrix_count(m), union_count(text_str(&yaml)));
		matrix_free(m);
		plan_free(p);
		random_state = seed + 1;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_steps_vary_slowest),
		cmocka_unit_test(equal_cells_of_blocks_count_once),
		cmocka_unit_test(excluding_a_name_keeps_the_cell_of_another),
		cmocka_unit_test(zipped_values_go_together),
		cmocka_unit_test(one_at_a_time_is_a_star_around_the_first_values),
		cmocka_unit_test(options_of_filesystem_and_axes_are_merged),
		cmocka_unit_test(a_config_names_what_is_set_and_nothing_else),
		cmocka_unit_test(steps_run_as_often_as_the_order_needs),
		cmocka_unit_test(the_first_difference_is_the_lowest_step),
		cmocka_unit_test(a_random_order_is_a_permutation_by_its_seed),
		cmocka_unit_test(a_workload_may_be_for_some_cells_only),
		cmocka_unit_test(too_many_cells_or_axes_are_refused),
		cmocka_unit_test(a_million_cells_take_no_memory),
		cmocka_unit_test(random_plans_are_walked_without_gap_or_repeat),
	};

	return cmocka_run_group_tests(tests, definitions_load, definitions_free);
}
