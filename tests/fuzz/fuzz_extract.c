/* SPDX-License-Identifier: MIT
 *
 * Outputs: whatever a tool prints, every shipped definition and every state text ends with a verdict, and only a good
 * trial has numbers to store, all of them finite.
 */
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>

#include "schema/extract.h"
#include "schema/state.h"

static struct registry *definitions_load(void)
{
	struct registry *r = registry_new();
	struct diags d;

	diags_init(&d, "sweeps/workloads");
	registry_load(r, "sweeps/workloads", false, &d, NULL);
	diags_done(&d);
	return r;
}

static void outcome_check(const struct outcome *o)
{
	if (o->state != EXTRACT_OK && o->n > 0)
		abort();
	for (size_t i = 0; i < o->n; i++)
		if (!isfinite(o->at[i].value))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct registry *definitions;
	const struct fact facts[] = { { "elapsed", 1 }, { "copies", 1 } };
	struct state s;

	if (definitions == NULL)
		definitions = definitions_load(); /* kept for all inputs */
	for (size_t i = 0; i < registry_count(definitions); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		const struct workload *w = registry_at(definitions, i);
		const struct capture c = { .step = "run", .stream = "", .data = (const char *)data, .n = n };
		struct outcome o;

		if (extract(w, w->params, w->n_params, &c, 1, facts, 2, 0, a, &o, NULL) == 0)
			outcome_check(&o);
	}
	for (size_t i = 0; state_kinds[i] != NULL; i++) {
		AUTO_ARENA struct arena *a = arena_new();

		state_parse(state_kinds[i], (const char *)data, n, 0, NULL, a, &s, NULL);
	}
	return 0;
}
