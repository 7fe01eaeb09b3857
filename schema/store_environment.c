/* SPDX-License-Identifier: MIT
 *
 * Hosts, and the environments that trials ran under.  An environment is told from another by its identity and context
 * facts; a sweep usually has one.
 */
#include "schema/store_internal.h"

#include <string.h>

static const char *const fact_classes[] = {
	[FACT_IDENTITY] = "identity",
	[FACT_CONTEXT] = "context",
	[FACT_VOLATILE] = "volatile",
};

/* A nodename may be any bytes (sethostname(2)), but is printed in every line. */
static int host_write(struct store *s, const uint8_t uuid[16], const char *nodename, int64_t *ret_id, struct err *e)
{
	AUTO_FREE char *name = text_printable(nodename);

	if (statement_run(s, e,
	                  "INSERT INTO host (uuid, name) VALUES (?, ?) ON CONFLICT (uuid) DO UPDATE SET name = excluded.name "
	                  "WHERE name <> excluded.name", "ut", uuid, name) < 0)
		return -1;
	return statement_int(s, ret_id, e, "SELECT id FROM host WHERE uuid = ?", "u", uuid) < 0 ? -1 : 0;
}

int store_host(struct store *s, const uint8_t uuid[16], const char *name, int64_t *ret_id, struct err *e)
{
	if (store_begin(s, e) < 0)
		return -1;
	return store_finish(s, host_write(s, uuid, name, ret_id, e), e);
}

static int fact_compare(const void *a, const void *b)
{
	const struct environment_fact *x = a, *y = b;

	return strcmp(x->key, y->key);
}

static void environment_digest(const struct environment_fact *sorted, size_t n, uint8_t ret[DIGEST_SIZE])
{
	AUTO_TEXT struct text all = { 0 };

	for (size_t i = 0; i < n; i++)
		if (sorted[i].class != FACT_VOLATILE)
			text_printf(&all, "%s=%zu:%s\n", sorted[i].key, strlen(sorted[i].value), sorted[i].value);
	digest_of(text_str(&all), all.n, ret);
}

/* The facts as they will stand in the store, sorted: a DMI string may be any bytes.  The digest is of what can be
 * read again. */
static struct environment_fact *facts_clean(const struct environment_fact *facts, size_t n, struct arena *a)
{
	struct environment_fact *sorted = rows_keep(a, facts, n, sizeof(*facts));

	for (size_t i = 0; i < n; i++) {
		AUTO_TEXT struct text value = { 0 };

		if (text_is_clean(facts[i].value, strlen(facts[i].value)))
			continue;
		text_add_clean(&value, facts[i].value, strlen(facts[i].value));
		sorted[i].value = arena_strdup(a, text_str(&value));
	}
	if (n > 0)
		qsort(sorted, n, sizeof(*sorted), fact_compare);
	return sorted;
}

static int environment_insert(struct store *s, const uint8_t digest[DIGEST_SIZE], const struct environment_fact *facts,
                              size_t n, int64_t *ret_id, struct err *e)
{
	int64_t id;

	if (statement_insert(s, &id, e, "INSERT INTO environment (digest) VALUES (?)", "d", digest) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (statement_run(s, e,
		                  "INSERT OR REPLACE INTO environment_fact (environment_id, key, value, class) VALUES (?, ?, ?, ?)",
		                  "itst", id, facts[i].key, facts[i].value, fact_classes[facts[i].class]) < 0)
			return -1;
	*ret_id = id;
	return 0;
}

int store_environment(struct store *s, const struct environment_fact *facts, size_t n, int64_t *ret_id, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct environment_fact *sorted = facts_clean(facts, n, a);
	uint8_t digest[DIGEST_SIZE];
	int found;

	environment_digest(sorted, n, digest);
	if (store_begin(s, e) < 0)
		return -1;
	found = statement_int(s, ret_id, e, "SELECT id FROM environment WHERE digest = ?", "d", digest);
	if (found == 0)
		found = environment_insert(s, digest, sorted, n, ret_id, e);
	return store_finish(s, found, e);
}
