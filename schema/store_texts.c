/* SPDX-License-Identifier: MIT
 *
 * The texts behind ids, each read once; see store_texts.h.
 */
#include "schema/store_texts.h"

#include <string.h>

/* The metric as it is shown, "dd-read.throughput{4KiB}": x is metric, w sweep_workload. */
#define METRIC_KEY "w.name || '.' || x.name || CASE x.label WHEN '' THEN '' ELSE '{' || x.label || '}' END"

static struct id_slot *id_slot_find(const struct id_map *m, int64_t id)
{
	size_t i = (size_t)id * 0x9e3779b97f4a7c15u & (m->cap - 1);

	while (m->at[i].id != 0 && m->at[i].id != id)
		i = (i + 1) & (m->cap - 1);
	return &m->at[i];
}

static const void *id_get(const struct id_map *m, int64_t id)
{
	return m->cap > 0 ? id_slot_find(m, id)->value : NULL;
}

static void id_put(struct id_map *m, int64_t id, const void *value)
{
	if (2 * (m->n + 1) > m->cap) {
		struct id_map old = *m;

		m->cap = old.cap > 0 ? 2 * old.cap : 64;
		m->at = xcalloc(m->cap, sizeof(*m->at));
		for (size_t i = 0; i < old.cap; i++)
			if (old.at[i].id != 0)
				*id_slot_find(m, old.at[i].id) = old.at[i];
		free(old.at);
	}
	*id_slot_find(m, id) = (struct id_slot){ .id = id, .value = value };
	m->n++;
}

void texts_done(struct texts *t)
{
	free(t->spellings.at);
	free(t->metrics.at);
}

int texts_spelling(struct texts *t, int64_t id, const char **ret, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	*ret = id != 0 ? id_get(&t->spellings, id) : NULL;
	if (id == 0 || *ret != NULL)
		return 0;
	if (statement_open(t->s, &st, e, "SELECT text FROM spelling WHERE id = ?", "i", id) < 0)
		return -1;
	rc = statement_next(st, e);
	if (rc <= 0)
		return rc < 0 ? -1 : store_damaged(t->s, e, "spelling %lld is missing", (long long)id);
	*ret = column_text(st, 0, t->a);
	id_put(&t->spellings, id, *ret);
	return 0;
}

static enum better better_of(const char *name)
{
	for (enum better b = BETTER_HIGHER; b < BETTER_NEITHER; b++)
		if (strcmp(better_name(b), name) == 0)
			return b;
	return BETTER_NEITHER;
}

int texts_metrics_read(struct texts *t, int64_t sweep_id, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int64_t order = 0;
	int rc;

	if (statement_open(t->s, &st, e,
	                   "SELECT x.id, " METRIC_KEY ", x.unit, x.better, x.workload_id, x.is_detail FROM sweep_workload w "
	                   "JOIN metric x ON x.workload_id = w.workload_id WHERE w.sweep_id = ? ORDER BY w.position, x.id", "i",
	                   sweep_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		struct shown_metric *m = arena_alloc(t->a, sizeof(*m));

		*m = (struct shown_metric){
			.key = column_text(st, 1, t->a),
			.unit = column_text(st, 2, t->a),
			.better = better_of(column_borrow(st, 3)),
			.workload_id = column_int(st, 4),
			.is_detail = column_int(st, 5) != 0,
			.order = order,
		};
		order++;
		id_put(&t->metrics, column_int(st, 0), m);
	}
	return rc;
}

const struct shown_metric *texts_metric(const struct texts *t, int64_t id)
{
	return id_get(&t->metrics, id);
}
