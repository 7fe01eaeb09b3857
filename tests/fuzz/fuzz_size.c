/* SPDX-License-Identifier: MIT
 *
 * The quantities that people and tools write: what is read and printed reads back as the same; words; values of axes.
 */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "schema/axis.h"
#include "schema/base/text.h"
#include "schema/option.h"

static void sizes_read(const char *s)
{
	for (unsigned flags = 0; flags <= (SIZE_SECTORS | SIZE_BARE); flags++) {
		char buf[SIZE_TEXT];
		int64_t bytes, again;

		if (size_parse(s, flags, &bytes, NULL) < 0)
			continue;
		if (bytes < 0 || size_parse(size_format(bytes, buf), 0, &again, NULL) < 0 || again != bytes)
			abort();
	}
}

static void numbers_read(const char *s, size_t n)
{
	char buf[SIZE_TEXT];
	int64_t ns, v;
	double d, again;

	if (number_parse(s, &d) == 0 && (number_parse(number_format(d, buf), &again) < 0 || again != d))
		abort();
	number_parse_n(s, n, &d);
	if (duration_parse(s, &ns, NULL) == 0)
		duration_format(ns, buf);
	if (integer_parse(s, -5, 5, &v) == 0 && (v < -5 || v > 5))
		abort();
}

/* A canonical value is its own canonical value, where its spelling needs no unit. */
static void axes_read(const char *s)
{
	AUTO_ARENA struct arena *a = arena_new();

	for (size_t i = 0; i < axis_table_n; i++) {
		const struct axis *axis = &axis_table[i];
		const char *value, *again;

		if (axis->kind == AXIS_FILESYSTEM || axis->kind == AXIS_WORDS ||
		    axis_canonical(axis, s, a, &value, NULL) < 0)
			continue;
		if ((axis->kind == AXIS_NAME || axis->kind == AXIS_TEXT || axis->kind == AXIS_CHOICE) &&
		    (axis_canonical(axis, value, a, &again, NULL) < 0 || strcmp(again, value) != 0))
			abort();
	}
	axis_find(s);
	axis_nearest(s);
}

/* No allowed word is a path, and the canonical form is a fixed point. */
static void options_read(const char *s)
{
	static const char *const families[] = { "ext2", "ext3", "ext4", "xfs", "btrfs", "none" };
	AUTO_ARENA struct arena *a = arena_new();
	const char *canonical, *again;
	char **words, **out;
	size_t n, n_again;

	if (words_split(a, s, &words, &n, NULL) < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		if (option_mkfs(families[i], (const char *const *)words, n, a, &canonical, &out, NULL) == 0) {
			char **canonical_words;

			if (strchr(canonical, '/') != NULL ||
			    words_split(a, canonical, &canonical_words, &n_again, NULL) < 0 ||
			    option_mkfs(families[i], (const char *const *)canonical_words, n_again, a, &again, &out,
			                NULL) < 0 ||
			    strcmp(canonical, again) != 0)
				abort();
		}
		if (option_mount(families[i], (const char *const *)words, n, a, &canonical, &out, NULL) == 0 &&
		    (strchr(canonical, '/') != NULL || strstr(canonical, "panic") != NULL ||
		     (canonical[0] != '\0' && (option_mount(families[i], &canonical, 1, a, &again, &out, NULL) < 0 ||
		                               strcmp(canonical, again) != 0))))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	AUTO_FREE char *s = xmalloc(n + 1);

	if (n > 0)
		memcpy(s, data, n);
	s[n] = '\0';
	sizes_read(s);
	numbers_read(s, n);
	axes_read(s);
	options_read(s);
	return 0;
}
