/* SPDX-License-Identifier: MIT
 *
 * YAML text -> nodes; see yaml.h.  libyaml's events are built into a tree by recursion, which is safe because the
 * depth is bounded.  libyaml knows nothing of aliases, merge keys or duplicate keys at this level: they are done here.
 *
 * A tree is some hundred nodes; the bounds are for hostile input.  An alias is a second pointer to the same node, so
 * memory grows with the text alone, but every node carries the size that it would have written out, and that is what
 * YAML_MAX_NODES limits: whoever walks the tree has no more than that to walk.
 */
#include "schema/yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

#include "schema/base/text.h"

struct sized_node {
	struct node node;
	size_t size; /* nodes in it, aliases written out */
};

struct anchor {
	const char *name;  /* arena */
	struct node *node; /* NULL while it is being read: an alias to it would be a cycle */
};

struct reader {
	yaml_parser_t parser;
	struct arena *arena;
	struct diags *d;
	struct anchor *anchors; /* owned; a later one of the same name wins */
	size_t n_anchors, cap_anchors;
	bool has_faults; /* a diagnostic was added */
	int depth;
};

static size_t node_size(const struct node *node)
{
	return ((const struct sized_node *)node)->size;
}

#define READER_FAULT(r, mark, ...) \
	((r)->has_faults = true, diags_add((r)->d, (int)(mark).line + 1, (int)(mark).column + 1, __VA_ARGS__))

static struct node *node_new(struct reader *r, enum node_kind kind, yaml_mark_t mark)
{
	struct sized_node *s = arena_alloc(r->arena, sizeof(*s));

	s->size = 1;
	s->node = (struct node){ .kind = kind, .line = (int)mark.line + 1, .column = (int)mark.column + 1, .text = "" };
	return &s->node;
}

/* Adds a child's size.  False, with a diagnostic, when the whole became too large. */
static bool node_grow(struct reader *r, struct node *node, size_t more, yaml_mark_t mark)
{
	struct sized_node *s = (struct sized_node *)node;

	s->size += more;
	if (s->size <= YAML_MAX_NODES)
		return true;
	READER_FAULT(r, mark, "more than %d values once the aliases are written out", YAML_MAX_NODES);
	return false;
}

static struct node *node_read(struct reader *r, const yaml_event_t *event);

/* The next event, to be deleted by the caller; false after a fatal fault. */
static bool event_next(struct reader *r, yaml_event_t *event)
{
	return yaml_parser_parse(&r->parser, event) != 0;
}

static size_t anchor_open(struct reader *r, const yaml_char_t *name)
{
	if (name == NULL)
		return SIZE_MAX;
	ARRAY_GROW(r->anchors, r->n_anchors, r->cap_anchors);
	r->anchors[r->n_anchors] = (struct anchor){ .name = arena_strdup(r->arena, (const char *)name) };
	return r->n_anchors++;
}

static void anchor_close(struct reader *r, size_t i, struct node *node)
{
	if (i != SIZE_MAX)
		r->anchors[i].node = node;
}

static struct node *alias_read(struct reader *r, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.alias.anchor;

	for (size_t i = r->n_anchors; i-- > 0;) {
		if (strcmp(r->anchors[i].name, name) != 0)
			continue;
		if (r->anchors[i].node != NULL)
			return r->anchors[i].node;
		READER_FAULT(r, event->start_mark, "the alias '*%s' is inside what it stands for: a cycle", name);
		return node_new(r, NODE_SCALAR, event->start_mark);
	}
	READER_FAULT(r, event->start_mark, "no anchor '&%s' before the alias '*%s'", name, name);
	return node_new(r, NODE_SCALAR, event->start_mark);
}

static void tag_check(struct reader *r, const yaml_char_t *tag, yaml_mark_t mark)
{
	if (tag != NULL && strcmp((const char *)tag, "!") != 0)
		READER_FAULT(r, mark, "a tag ('%s') means nothing here: leave it out", (const char *)tag);
}

static struct node *scalar_read(struct reader *r, const yaml_event_t *event)
{
	struct node *node = node_new(r, NODE_SCALAR, event->start_mark);
	const char *value = (const char *)event->data.scalar.value;
	size_t n = event->data.scalar.length;

	tag_check(r, event->data.scalar.tag, event->start_mark);
	if (strlen(value) != n)
		READER_FAULT(r, event->start_mark, "a NUL character in a text");
	node->text = arena_strndup(r->arena, value, n);
	node->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	return node;
}

/* What a list or map collects while it is read.  key NULL: an item of a list. */
struct entry {
	struct node *key, *value;
	size_t order;
	bool is_merged, is_dropped;
};

struct entries {
	struct entry *at; /* owned */
	size_t n, cap;
};

static void entries_add(struct entries *list, struct node *key, struct node *value, bool is_merged)
{
	ARRAY_GROW(list->at, list->n, list->cap);
	list->at[list->n] = (struct entry){ .key = key, .value = value, .order = list->n, .is_merged = is_merged };
	list->n++;
}

/* One item.  0 at the end of the list, -1 after a fatal fault. */
static int item_read(struct reader *r, struct node *node, struct entries *items)
{
	yaml_event_t event;
	yaml_mark_t mark;
	struct node *item;
	bool is_end;

	if (!event_next(r, &event))
		return -1;
	is_end = event.type == YAML_SEQUENCE_END_EVENT;
	mark = event.start_mark;
	item = is_end ? NULL : node_read(r, &event);
	yaml_event_delete(&event);
	if (is_end)
		return 0;
	if (item == NULL || !node_grow(r, node, node_size(item), mark))
		return -1;
	entries_add(items, NULL, item, false);
	return 1;
}

static struct node *list_read(struct reader *r, const yaml_event_t *start)
{
	struct node *node = node_new(r, NODE_LIST, start->start_mark);
	struct entries items = { 0 };
	int more;

	tag_check(r, start->data.sequence_start.tag, start->start_mark);
	while ((more = item_read(r, node, &items)) > 0)
		;
	node->at = arena_array(r->arena, items.n + 1, sizeof(struct node *));
	for (; node->n < items.n; node->n++)
		node->at[node->n] = items.at[node->n].value;
	free(items.at);
	return more == 0 ? node : NULL;
}

/* "<<: *map" or "<<: [*map, *map]": entries that the map does not have itself; an earlier map of the list wins. */
static bool entries_merge(struct reader *r, struct entries *merged, struct node *into, struct node *from,
                          yaml_mark_t mark)
{
	if (from->kind == NODE_LIST) {
		for (size_t i = 0; i < from->n; i++)
			if (from->at[i]->kind == NODE_LIST)
				READER_FAULT(r, mark, "'<<' takes a map or a list of maps");
			else if (!entries_merge(r, merged, into, from->at[i], mark))
				return false;
		return true;
	}
	if (from->kind == NODE_SCALAR) {
		READER_FAULT(r, mark, "'<<' takes a map or a list of maps");
		return true;
	}
	for (size_t i = 0; i < from->n; i++) {
		if (!node_grow(r, into, 1 + node_size(from->at[i]), mark))
			return false;
		entries_add(merged, from->keys[i], from->at[i], true);
	}
	return true;
}

static int entry_by_key(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int c = strcmp(x->key->text, y->key->text);

	return c != 0 ? c : (x->order > y->order) - (x->order < y->order);
}

static int entry_by_order(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->order > y->order) - (x->order < y->order);
}

/* Of equal keys the first stays; sorting keeps this cheap for a map of 100,000 keys. */
static void entries_settle(struct reader *r, struct entries *list)
{
	struct entry *at = list->at;

	if (list->n == 0)
		return;
	qsort(at, list->n, sizeof(*at), entry_by_key);
	for (size_t i = 1, first = 0; i < list->n; i++) {
		if (strcmp(at[i].key->text, at[first].key->text) != 0) {
			first = i;
			continue;
		}
		at[i].is_dropped = true;
		if (at[i].is_merged)
			continue;
		r->has_faults = true;
		diags_add(r->d, at[i].key->line, at[i].key->column, "'%s' stands here a second time (first in line %d)",
		          at[i].key->text, at[first].key->line);
	}
	qsort(at, list->n, sizeof(*at), entry_by_order);
}

static void map_fill(struct reader *r, struct node *node, struct entries *own, const struct entries *merged)
{
	for (size_t i = 0; i < merged->n; i++)
		entries_add(own, merged->at[i].key, merged->at[i].value, true);
	entries_settle(r, own);
	node->at = arena_array(r->arena, own->n + 1, sizeof(struct node *));
	node->keys = arena_array(r->arena, own->n + 1, sizeof(struct node *));
	for (size_t i = 0; i < own->n; i++) {
		if (own->at[i].is_dropped)
			continue;
		node->keys[node->n] = own->at[i].key;
		node->at[node->n++] = own->at[i].value;
	}
}

/* One "key: value".  0 at the end of the map, -1 after a fatal fault. */
static int pair_read(struct reader *r, struct node *node, struct entries *own, struct entries *merged)
{
	yaml_event_t event;
	yaml_mark_t mark;
	struct node *key, *value;

	if (!event_next(r, &event))
		return -1;
	mark = event.start_mark;
	key = event.type == YAML_MAPPING_END_EVENT ? NULL : node_read(r, &event);
	if (event.type == YAML_MAPPING_END_EVENT) {
		yaml_event_delete(&event);
		return 0;
	}
	yaml_event_delete(&event);
	if (key == NULL || !event_next(r, &event))
		return -1;
	value = node_read(r, &event);
	yaml_event_delete(&event);
	if (value == NULL)
		return -1;
	if (key->kind != NODE_SCALAR) {
		READER_FAULT(r, mark, "a key is a word, not %s", node_kind_name(key));
		return 1;
	}
	if (key->is_plain && strcmp(key->text, "<<") == 0)
		return entries_merge(r, merged, node, value, mark) ? 1 : -1;
	entries_add(own, key, value, false);
	return node_grow(r, node, 1 + node_size(value), mark) ? 1 : -1;
}

static struct node *map_read(struct reader *r, const yaml_event_t *start)
{
	struct node *node = node_new(r, NODE_MAP, start->start_mark);
	struct entries own = { 0 }, merged = { 0 };
	int more;

	tag_check(r, start->data.mapping_start.tag, start->start_mark);
	while ((more = pair_read(r, node, &own, &merged)) > 0)
		;
	if (more == 0)
		map_fill(r, node, &own, &merged);
	free(own.at);
	free(merged.at);
	return more == 0 ? node : NULL;
}

/* The node that begins with this event, or NULL after a fatal fault (libyaml's is still to be reported). */
static struct node *node_read(struct reader *r, const yaml_event_t *event)
{
	struct node *node = NULL;
	size_t anchor;

	if (event->type == YAML_ALIAS_EVENT)
		return alias_read(r, event);
	if (event->type == YAML_SCALAR_EVENT) {
		anchor = anchor_open(r, event->data.scalar.anchor);
		node = scalar_read(r, event);
		anchor_close(r, anchor, node);
		return node;
	}
	if (r->depth == YAML_MAX_DEPTH) {
		READER_FAULT(r, event->start_mark, "nested more than %d levels deep", YAML_MAX_DEPTH);
		return NULL;
	}
	r->depth++;
	if (event->type == YAML_SEQUENCE_START_EVENT) {
		anchor = anchor_open(r, event->data.sequence_start.anchor);
		node = list_read(r, event);
	} else {
		anchor = anchor_open(r, event->data.mapping_start.anchor);
		node = map_read(r, event);
	}
	anchor_close(r, anchor, node);
	r->depth--;
	return node;
}

static void offset_position(const char *data, size_t offset, int *ret_line, int *ret_column)
{
	*ret_line = *ret_column = 1;
	for (size_t i = 0; i < offset; i++) {
		if (data[i] == '\n') {
			++*ret_line;
			*ret_column = 1;
		} else if (((unsigned char)data[i] & 0xc0) != 0x80) {
			++*ret_column;
		}
	}
}

/* What to write instead, by what libyaml says; those of its texts that leave people at a loss. */
static const char *parser_hint(const char *problem)
{
	static const struct {
		const char *problem, *hint;
	} hints[] = {
		{ "did not find expected key", ": indent the line like its neighbours, and close what stands before it" },
		{ "did not find expected '-' indicator", ": indent the line like its neighbours" },
		{ "did not find expected <document start>", ": indent the line like its neighbours" },
		{ "mapping values are not allowed", ": write one 'key: value' a line, and a map inside of a line in braces" },
		{ "could not find expected ':'", ": write 'key: value'" },
		{ "found unexpected end of stream", ": close what was begun" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(hints); i++)
		if (text_starts(problem, hints[i].problem))
			return hints[i].hint;
	return "";
}

/* The byte at a position of the text; NUL at its end. */
static char byte_at(const char *data, size_t n, int line, int column)
{
	size_t i = 0;

	for (; i < n && line > 1; i++)
		line -= data[i] == '\n';
	for (; i < n && column > 1; column--)
		do
			i++;
		while (i < n && ((unsigned char)data[i] & 0xc0) == 0x80);
	return i < n ? data[i] : '\0';
}

/* A fault that libyaml places by a mark.  A tab has several names there, none of which says what it is. */
static void parser_fault_at(struct reader *r, int line, int column, char at)
{
	const yaml_parser_t *p = &r->parser;
	bool is_bad_start = strstr(p->problem, "cannot start any token") != NULL;

	if (strstr(p->problem, "tab character") != NULL || (is_bad_start && at == '\t'))
		diags_add(r->d, line, column, "not YAML: a tab: lines are indented with blanks");
	else if (is_bad_start)
		diags_add(r->d, line, column, "not YAML: '%c' cannot begin a value: put the value in quotes", at);
	else if (p->context != NULL)
		diags_add(r->d, line, column, "not YAML: %s, %s (begun in line %d)%s", p->problem, p->context,
		          (int)p->context_mark.line + 1, parser_hint(p->problem));
	else
		diags_add(r->d, line, column, "not YAML: %s%s", p->problem, parser_hint(p->problem));
}

static void parser_fault(struct reader *r, const char *data, size_t n)
{
	const yaml_parser_t *p = &r->parser;
	int line, column;

	if (p->error == YAML_NO_ERROR)
		return;
	r->has_faults = true;
	if (p->error == YAML_READER_ERROR) { /* has an offset instead of a mark */
		offset_position(data, p->problem_offset < n ? p->problem_offset : n, &line, &column);
		diags_add(r->d, line, column, "not YAML: %s", p->problem);
		return;
	}
	line = (int)p->problem_mark.line + 1;
	column = (int)p->problem_mark.column + 1;
	parser_fault_at(r, line, column, byte_at(data, n, line, column));
}

static size_t utf8_valid_prefix(const char *data, size_t n)
{
	size_t i = 0;

	while (i < n) {
		size_t len = 1;

		while (i + len < n && len < 4 && ((unsigned char)data[i + len] & 0xc0) == 0x80)
			len++;
		if (!utf8_is_valid(data + i, len))
			break;
		i += len;
	}
	return i;
}

static int size_check(size_t n, struct diags *d)
{
	if (n <= YAML_MAX_BYTES)
		return 0;
	diags_add(d, 0, 0, "larger than %zuMiB: not a file of this kind", YAML_MAX_BYTES >> 20);
	return -1;
}

/* Faults of the text as such, which libyaml would report without a useful position or not at all. */
static int text_check(const char *data, size_t n, struct diags *d)
{
	const char *nul = memchr(data, '\0', n);
	int line, column;

	if (nul != NULL) {
		offset_position(data, (size_t)(nul - data), &line, &column);
		diags_add(d, line, column, "a NUL byte: this is not text");
		return -1;
	}
	if (!utf8_is_valid(data, n)) {
		offset_position(data, utf8_valid_prefix(data, n), &line, &column);
		diags_add(d, line, column, "not UTF-8: save the file in that encoding");
		return -1;
	}
	return 0;
}

/* The document's node; an empty stream gives an empty map.  NULL after a fatal fault. */
static struct node *document_read(struct reader *r)
{
	struct node *root = NULL;
	bool at_end = false;

	while (!at_end) {
		yaml_event_t event;
		bool is_good = true;

		if (!event_next(r, &event))
			return NULL;
		if (event.type == YAML_STREAM_END_EVENT) {
			at_end = true;
		} else if (event.type == YAML_DOCUMENT_START_EVENT && root != NULL) {
			READER_FAULT(r, event.start_mark, "a second document: one file holds one");
			is_good = false;
		} else if (event.type != YAML_STREAM_START_EVENT && event.type != YAML_DOCUMENT_START_EVENT &&
		           event.type != YAML_DOCUMENT_END_EVENT) {
			root = node_read(r, &event);
			is_good = root != NULL;
		}
		yaml_event_delete(&event);
		if (!is_good)
			return NULL;
	}
	if (root == NULL)
		root = node_new(r, NODE_MAP, (yaml_mark_t){ 0 });
	return root;
}

/* Editors of other systems begin a file so; libyaml would take it for a column of indentation. */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

int yaml_read(struct arena *a, const char *data, size_t n, struct diags *d, struct node **ret)
{
	struct reader r = { .arena = a, .d = d };
	struct node *root;

	if (size_check(n, d) < 0 || text_check(data, n, d) < 0)
		return -1;
	if (n >= strlen(BYTE_ORDER_MARK) && memcmp(data, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0) {
		data += strlen(BYTE_ORDER_MARK);
		n -= strlen(BYTE_ORDER_MARK);
	}
	if (!yaml_parser_initialize(&r.parser))
		abort(); /* out of memory */
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)data, n);
	root = document_read(&r);
	if (root == NULL)
		parser_fault(&r, data, n);
	yaml_parser_delete(&r.parser);
	free(r.anchors);
	if (root == NULL || r.has_faults) {
		diags_sort(d);
		return -1;
	}
	*ret = root;
	return 0;
}

int yaml_read_file(struct arena *a, const char *path, struct diags *d, struct node **ret)
{
	AUTO_TEXT struct text data = { 0 };
	struct err e;
	struct stat st;

	if (stat(path, &st) < 0) {
		diags_add(d, 0, 0, "%s", strerror(errno));
		return -1;
	}
	if (!S_ISREG(st.st_mode)) {
		diags_add(d, 0, 0, "not a regular file");
		return -1;
	}
	if (size_check((size_t)st.st_size, d) < 0)
		return -1;
	if (file_read(AT_FDCWD, path, YAML_MAX_BYTES, &data, &e) < 0) {
		diags_add(d, 0, 0, "%s", e.text);
		return -1;
	}
	return yaml_read(a, text_str(&data), data.n, d, ret);
}
