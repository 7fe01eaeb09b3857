/* SPDX-License-Identifier: MIT
 *
 * Definitions: any text gives a workload or diagnostics; one that is read expands, is stored and is read back with
 * the same digest.
 */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "schema/extract.h"

static void steps_expand(const struct workload *w)
{
	AUTO_ARENA struct arena *a = arena_new();
	const struct expansion x = { .dir = "/target/x", .ram_bytes = 1 << 30, .copy = 1, .copies = 2, .repetition = 1,
		                     .params = w->params, .n_params = w->n_params };

	for (int phase = 0; phase < N_PHASES; phase++)
		for (size_t i = 0; i < w->n_steps[phase]; i++) {
			char **argv;
			bool is_wanted;
			int copies;

			workload_step_wanted(&w->steps[phase][i], &x, &is_wanted, NULL);
			if (workload_copies(&w->steps[phase][i], &x, &copies, NULL) == 0 &&
			    (copies < 1 || copies > 1024))
				abort();
			if (workload_expand(&w->steps[phase][i], &x, a, &argv, NULL) == 0 && argv[0] == NULL)
				abort();
		}
}

static void output_extract(const struct workload *w)
{
	static const char text[] = "1+0 records in\n1+0 records out\n8192 bytes (8 kB) copied, 0.5 s, 16 kB/s\n{\"a\": [1, {\"b\": 2}]}\n1,2,3\n";
	AUTO_ARENA struct arena *a = arena_new();
	const struct capture c = { .step = "run", .stream = "stdout", .data = text, .n = sizeof(text) - 1 };
	struct outcome o;

	if (extract(w, w->params, w->n_params, &c, 1, NULL, 0, 0, a, &o, NULL) == 0 && o.state != EXTRACT_OK && o.n > 0)
		abort(); /* numbers to store, of a trial that is not good */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct workload *w = NULL, *back = NULL;
	struct diags d;

	diags_init(&d, "fuzz");
	if (workload_read((const char *)data, n, &d, &w) < 0) {
		if (d.n == 0)
			abort();
		diags_done(&d);
		return 0;
	}
	steps_expand(w);
	output_extract(w);
	if (workload_read(w->source, strlen(w->source), &d, &back) == 0 &&
	    memcmp(w->digest, back->digest, sizeof(w->digest)) != 0)
		abort();
	diags_done(&d);
	workload_free(w);
	workload_free(back);
	return 0;
}
