/* SPDX-License-Identifier: MIT
 *
 * Replays the seeds of a fuzz target without libFuzzer: each file of tests/fuzz/corpus/NAME, and each of them cut short
 * at every eighth of its length.  One TAP line.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "schema/base/text.h"
#include "tests/fuzz/fuzz.h"

#define SEED_MAX_BYTES ((size_t)16 << 20)

static void seed_replay(const struct text *t)
{
	for (size_t eighths = 0; eighths <= 8; eighths++) {
		size_t n = t->n * eighths / 8;
		AUTO_FREE uint8_t *exact = xmalloc(n + 1); /* of that size, so that ASan sees a byte too far */

		if (n > 0)
			memcpy(exact, t->s, n);
		LLVMFuzzerTestOneInput(exact, n);
	}
}

int main(int argc, char **argv)
{
	const char *base = strrchr(argv[0], '/') == NULL ? argv[0] : strrchr(argv[0], '/') + 1;
	AUTO_FREE char *path = xasprintf("tests/fuzz/corpus/%s", text_starts(base, "fuzz_") ? base + 5 : base);
	const char *where = argc > 1 ? argv[1] : path;
	DIR *dir = opendir(where);
	struct dirent *entry;
	int n = 0;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		AUTO_TEXT struct text t = { 0 };

		if (entry->d_name[0] == '.')
			continue;
		if (file_read(dirfd(dir), entry->d_name, SEED_MAX_BYTES, &t, NULL) < 0)
			continue;
		seed_replay(&t);
		n++;
	}
	if (dir != NULL)
		closedir(dir);
	printf("%sok 1 - %s: %d seeds of '%s' replayed\n", n > 0 ? "" : "not ", base, n, where);
	return n > 0 ? 0 : 1;
}
