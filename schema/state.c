/* SPDX-License-Identifier: MIT
 *
 * Kinds of state texts, and the search they share; see state.h.
 */
#include "schema/state.h"

#include <string.h>

#include "schema/definition.h"

const char *const state_kinds[] = { "mdstat", "blkid", "mkfs", "xfs-info", "mounts", "blockdev", NULL };

static int (*const readers[])(struct state_reader *r, struct err *e) = {
	state_read_mdstat, state_read_blkid, state_read_mkfs, state_read_mkfs, state_read_mounts, state_read_blockdev,
};

const char *state_verdict_name(enum state_verdict v)
{
	static const char *const names[] = { "ok", "suspect", "failed", "idle", "busy", "degraded", "broken", "unparsable" };

	return names[v];
}

static void fact_add(struct state_reader *r, struct state_fact fact)
{
	struct state *s = r->state;

	if (s->n == s->cap) {
		struct state_fact *more = arena_array(r->arena, s->cap = s->cap ? 2 * s->cap : 16, sizeof(*more));

		if (s->n > 0)
			memcpy(more, s->at, s->n * sizeof(*more));
		s->at = more;
	}
	s->at[s->n++] = fact;
}

void state_number(struct state_reader *r, const char *name, const char *label, double value, const char *unit)
{
	fact_add(r, (struct state_fact){ .name = name, .label = label, .value = value, .unit = unit });
}

void state_text(struct state_reader *r, const char *name, const char *label, const char *text)
{
	fact_add(r, (struct state_fact){ .name = name, .label = label, .text = text, .unit = "" });
}

int state_find(struct state_reader *r, const char *pattern, const char *s, size_t n, size_t *at, const char **ret,
               struct err *e)
{
	const pcre2_code *re;
	pcre2_match_data *data;
	const PCRE2_SIZE *groups;
	int found;

	if (pattern_compile(r->arena, pattern, &re, e) < 0)
		return -1;
	data = pattern_match_data(re);
	found = pattern_search(re, s, n, *at, data, e);
	groups = pcre2_get_ovector_pointer(data);
	for (uint32_t i = 0; found > 0 && i < STATE_GROUPS; i++) {
		bool is_set = i < pcre2_get_ovector_count(data) && groups[2 * i] != PCRE2_UNSET;

		ret[i] = is_set ? arena_strndup(r->arena, s + groups[2 * i], groups[2 * i + 1] - groups[2 * i]) : "";
	}
	if (found > 0)
		*at = groups[1] > groups[0] ? groups[1] : groups[1] + 1;
	pcre2_match_data_free(data);
	return found;
}

int state_parse(const char *kind, const char *text, size_t n, int exit_status, char *const *asked, struct arena *a,
                struct state *ret, struct err *e)
{
	*ret = (struct state){ .verdict = STATE_UNPARSABLE, .reason = "nothing of it was recognised" };
	for (size_t i = 0; state_kinds[i] != NULL; i++) {
		struct state_reader r = { .arena = a, .text = text, .n = n, .exit_status = exit_status, .asked = asked, .state = ret };

		if (strcmp(state_kinds[i], kind) == 0)
			return readers[i](&r, e);
	}
	return err_set(e, ERR_USAGE, "'%s' is no kind of state", kind);
}
