/* SPDX-License-Identifier: MIT
 *
 * /proc/mdstat of kernels 2.4 to 6.x (drivers/md/md.c, md_seq_show).
 */
#include <string.h>

#include "schema/state.h"

struct array {
	const char *name, *level, *map; /* map: "UU_U" */
	double wanted, working;
	int n_failed;
	bool is_active, is_busy;
};

static int number_fact(struct state_reader *r, const struct array *md, const char *fact, const char *text,
                       const char *unit)
{
	double v;

	if (number_parse(text, &v) < 0)
		return -1;
	state_number(r, fact, md->name, v, unit);
	return 0;
}

/* Members with (F): failed and still named. */
static int members_read(struct state_reader *r, struct array *md, const char *members, struct err *e)
{
	const char *g[STATE_GROUPS];
	size_t at = 0;
	int rc;

	while ((rc = state_find(r, "(\\S+)\\[\\d+\\]((?:\\([A-Z]\\))*)", members, strlen(members), &at, g, e)) > 0) {
		if (strstr(g[2], "(F)") == NULL)
			continue;
		md->n_failed++;
		state_text(r, "failed", md->name, g[1]);
	}
	return rc;
}

static int shape_read(struct state_reader *r, struct array *md, const char *s, size_t n, struct err *e)
{
	const char *g[STATE_GROUPS];
	size_t at = 0;
	int rc = state_find(r, "(?i)\\b(\\d+)k (?:chunks?|rounding)", s, n, &at, g, e);

	if (rc > 0)
		number_fact(r, md, "chunk", g[1], "KiB");
	at = 0;
	if (rc >= 0)
		rc = state_find(r, "\\b(\\d+) (near|far|offset)-copies", s, n, &at, g, e);
	if (rc > 0)
		state_text(r, "layout", md->name, arena_printf(r->arena, "%s=%s", g[2], g[1]));
	at = 0;
	if (rc >= 0)
		rc = state_find(r, "\\[(\\d+)/(\\d+)\\] \\[([U_]+)\\]", s, n, &at, g, e);
	if (rc > 0) {
		number_parse(g[1], &md->wanted);
		number_parse(g[2], &md->working);
		md->map = g[3];
	}
	return rc;
}

static int progress_read(struct state_reader *r, struct array *md, const char *s, size_t n, struct err *e)
{
	const char *g[STATE_GROUPS];
	size_t at = 0;
	int rc = state_find(r, "\\b(resync|recovery|reshape|check|repair)\\s*=\\s*([\\d.]+)%(?: \\(\\d+/\\d+\\))?(?:\\s+finish=([\\d.]+)min)?"
	                    "(?:\\s+speed=(\\d+)K/sec)?", s, n, &at, g, e);

	if (rc > 0) {
		md->is_busy = true;
		state_text(r, "action", md->name, g[1]);
		number_fact(r, md, "sync_percent", g[2], "%");
		number_fact(r, md, "sync_finish", g[3], "min");
		number_fact(r, md, "sync_speed", g[4], "KiB/s");
		return 0;
	}
	at = 0;
	if (rc == 0)
		rc = state_find(r, "\\b(?:resync|recovery|recover|reshape|check)\\s*=\\s*(PENDING|DELAYED|REMOTE)", s,
		                n, &at, g, e);
	if (rc > 0) {
		md->is_busy = true;
		state_text(r, "action", md->name,
		           strcmp(g[1], "PENDING") == 0 ? "pending" :
		           strcmp(g[1], "DELAYED") == 0 ? "delayed" :
		                                          "remote");
	}
	return rc;
}

/* How many members may be missing; mirrored pairs are looked at in the map. */
static bool array_is_usable(const struct array *md)
{
	double missing = md->wanted - md->working;

	if (!md->is_active)
		return false;
	if (md->wanted == 0)
		return md->n_failed == 0;
	if (strcmp(md->level, "raid1") == 0)
		return md->working > 0;
	if (strcmp(md->level, "raid6") == 0)
		return missing <= 2;
	if (strcmp(md->level, "raid5") == 0 || strcmp(md->level, "raid4") == 0)
		return missing <= 1;
	if (strcmp(md->level, "raid10") == 0)
		return strstr(md->map, "__") == NULL || (strstr(md->map, "__") - md->map) % 2 == 1;
	return missing == 0;
}

static enum state_verdict array_verdict(const struct array *md)
{
	if (!array_is_usable(md) && !md->is_busy)
		return STATE_BROKEN;
	if (md->is_busy)
		return STATE_BUSY;
	return md->working < md->wanted || md->n_failed > 0 ? STATE_DEGRADED : STATE_IDLE;
}

/* Rank of what one array says for the whole text. */
static int verdict_rank(enum state_verdict v)
{
	return v == STATE_BROKEN ? 3 : v == STATE_BUSY ? 2 : v == STATE_DEGRADED ? 1 : 0;
}

static int array_read(struct state_reader *r, const char *const *head, const char *s, size_t n, struct err *e)
{
	struct array md = { .name = head[1], .level = head[4], .map = "", .is_active = strcmp(head[2], "active") == 0 };
	enum state_verdict v;

	state_text(r, "level", md.name, md.level);
	if (*head[3] != '\0')
		state_text(r, "readonly", md.name, head[3]);
	if (members_read(r, &md, head[5], e) < 0 || shape_read(r, &md, s, n, e) < 0 ||
	    progress_read(r, &md, s, n, e) < 0)
		return -1;
	v = array_verdict(&md);
	if (verdict_rank(v) <= verdict_rank(r->state->verdict) && r->state->verdict != STATE_IDLE)
		return 0;
	r->state->verdict = v;
	r->state->reason = v == STATE_IDLE ? "" : arena_printf(r->arena, "'%s' is %s", md.name, state_verdict_name(v));
	return 0;
}

int state_read_mdstat(struct state_reader *r, struct err *e)
{
	static const char head[] = "^(md\\S*) : (active|inactive)(?: \\(((?:auto-)?read-only)\\))?(?: (linear|raid\\d+|multipath|faulty))?(.*)$";
	const char *g[STATE_GROUPS], *next[STATE_GROUPS];
	size_t at = 0;
	int rc = state_find(r, "^(Personalities|unused devices)", r->text, r->n, &at, g, e);

	if (rc > 0)
		*r->state = (struct state){ .verdict = STATE_IDLE, .reason = "" };
	at = 0;
	if (rc >= 0)
		rc = state_find(r, head, r->text, r->n, &at, g, e);
	while (rc > 0) {
		size_t from = at, end;

		rc = state_find(r, head, r->text, r->n, &at, next, e);
		end = rc > 0 ? at - strlen(next[0]) : r->n;
		if (rc < 0 || array_read(r, g, r->text + from, end - from, e) < 0)
			return -1;
		memcpy(g, next, sizeof(g));
	}
	return rc;
}
