/* SPDX-License-Identifier: MIT
 *
 * YAML text -> nodes that know their line and column.  The only file that includes libyaml.
 *
 * Aliases and merge keys ("<<") are resolved here.  Bounded: text of YAML_MAX_BYTES, nesting of YAML_MAX_DEPTH, and
 * YAML_MAX_NODES after alias expansion (shared subtrees are counted each time they are reached).  A NUL, invalid
 * UTF-8, a second document, a duplicate key, a cyclic alias are diagnostics like any other.
 */
#ifndef IOSWEEP_YAML_H
#define IOSWEEP_YAML_H

#include <stdbool.h>

#include "schema/base/err.h"
#include "schema/base/mem.h"

#define YAML_MAX_BYTES ((size_t)4 << 20)
#define YAML_MAX_DEPTH 32
#define YAML_MAX_NODES 200000

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node {
	enum node_kind kind;
	int line, column; /* from 1 */
	const char *text; /* scalar: its value; "" for an empty one */
	bool is_plain;    /* scalar: written without quotes */
	size_t n;         /* list, map */
	struct node **at; /* list items; map values */
	struct node **keys; /* map: the key scalars, in the order written (merged keys last) */
};

/* Reads one document.  Everything lives in the arena.  Returns 0 and the root, or -1 with at least one diagnostic.
 * An empty document gives an empty map. */
int yaml_read(struct arena *a, const char *data, size_t n, struct diags *d, struct node **ret);
/* The same for a file of at most YAML_MAX_BYTES, which is a regular file; d->file names it. */
int yaml_read_file(struct arena *a, const char *path, struct diags *d, struct node **ret);

/* Value of a key in a map, or NULL. */
struct node *node_get(const struct node *map, const char *key);
/* Adds a diagnostic for each key of the map that is not in known (NULL-terminated), with the nearest known one. */
int node_check_keys(const struct node *map, const char *const *known, const char *where, struct diags *d);
/* A key of the map is not in known and means this one, as node_check_keys has said: it need not be said, too, that
 * this one is missing. */
bool node_misspells(const struct node *map, const char *const *known, const char *key);
/* "a scalar", "a list", "a map": for messages. */
const char *node_kind_name(const struct node *node);
/* yes/no/true/false/on/off of a scalar. */
int node_bool(const struct node *node, bool *ret);

#endif
