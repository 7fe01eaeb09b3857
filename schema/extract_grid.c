/* SPDX-License-Identifier: MIT
 *
 * The source `grid`: a table printed for people.  The words of the heading line are its columns; a value belongs to
 * the heading word whose right edge is nearest to its own, so that empty cells stay empty (splitting at blanks would
 * shift everything behind them).  A row begins with a figure or a name below the heading; the first line that has
 * neither, or a word that is nobody's, ends the table.
 */
#include "schema/extract_cache.h"

#include <ctype.h>
#include <string.h>

#define COLUMNS_MAX 64

struct span {
	const char *s;
	size_t n, right; /* right edge in columns of the line */
};

struct edges {
	size_t right[COLUMNS_MAX];
	size_t n;
};

struct line {
	const char *s, *end;
};

static bool line_next(const char **p, const char *end, struct line *ret)
{
	const char *eol;

	if (*p >= end)
		return false;
	eol = memchr(*p, '\n', (size_t)(end - *p));
	eol = eol != NULL ? eol : end;
	*ret = (struct line){ *p, eol };
	*p = eol + 1;
	return true;
}

/* The words of a line with their right edges; tabs go to the next multiple of eight. */
static size_t line_words(const struct line *line, struct span *words)
{
	size_t n = 0, column = 0;

	for (const char *s = line->s; s < line->end && n < COLUMNS_MAX;) {
		struct span *word = &words[n];

		if (isspace((unsigned char)*s)) {
			column = *s == '\t' ? (column / 8 + 1) * 8 : column + 1;
			s++;
			continue;
		}
		*word = (struct span){ .s = s };
		for (; s < line->end && !isspace((unsigned char)*s); s++)
			column++;
		word->n = (size_t)(s - word->s);
		word->right = column;
		n++;
	}
	return n;
}

static size_t distance(size_t a, size_t b)
{
	return a > b ? a - b : b - a;
}

/* A name stands at the left edge of its column; one that ends exactly where a later name column does is that one's (the
 * name before it is empty). */
static size_t name_column(const struct edges *edges, size_t used, size_t n_named, const struct span *word)
{
	for (size_t k = used + 1; k < n_named && word->right > word->n; k++)
		if (edges->right[k] == word->right)
			return k;
	return used;
}

/* Puts the words of a row into the columns of the heading.  Names at the left go by their place in the line, figures by
 * the nearest edge right of the last one used.  Returns how many figures found a column. */
static size_t words_place(const struct edges *edges, size_t n_named, const struct span *words, size_t n,
                          struct field *fields)
{
	size_t used = 0, n_figures = 0;

	for (size_t i = 0; i < n; i++) {
		size_t best = used;

		if (used >= edges->n)
			return n_figures;
		if (used < n_named) {
			best = name_column(edges, used, n_named, &words[i]);
		} else {
			for (size_t k = used; k < edges->n; k++)
				if (distance(edges->right[k], words[i].right) <
				    distance(edges->right[best], words[i].right))
					best = k;
			n_figures++;
		}
		fields[best] = (struct field){ .s = words[i].s, .n = words[i].n };
		used = best + 1;
	}
	return n_figures;
}

static bool word_is_figure(const struct span *word)
{
	return isdigit((unsigned char)*word->s) || *word->s == '+' || *word->s == '-' || *word->s == '.';
}

static bool words_are_row(const struct grid *grid, const struct span *words, size_t n)
{
	if (n <= grid->n_named && n < grid->n)
		return false; /* a row without a figure */
	for (size_t i = grid->n_named; i < n; i++)
		if (!word_is_figure(&words[i]))
			return false;
	return true;
}

struct builder {
	struct output_cache *cache;
	struct table *table;
	size_t cap;
	struct edges edges;
	bool is_open; /* below a heading */
};

static void heading_open(struct builder *b, const struct span *words, size_t n)
{
	b->is_open = n == b->table->grid->n;
	b->edges.n = n;
	for (size_t i = 0; i < n; i++)
		b->edges.right[i] = words[i].right;
}

static void row_add(struct builder *b, const struct span *words, size_t n)
{
	const struct grid *grid = b->table->grid;
	struct table *t = b->table;

	if (t->n == b->cap) {
		struct table_row *more = arena_array(b->cache->arena, b->cap = b->cap ? 2 * b->cap : 16, sizeof(*more));

		if (t->n > 0)
			memcpy(more, t->rows, t->n * sizeof(*more));
		t->rows = more;
	}
	t->rows[t->n].at = arena_array(b->cache->arena, grid->n * (1 + grid->n_also), sizeof(struct field));
	words_place(&b->edges, grid->n_named, words, n, t->rows[t->n].at);
	t->n++;
}

/* A line that belongs to the row above: 1, or 0 if it does not, -1 at a limit. */
static int also_add(struct builder *b, const struct line *line, const struct span *words, size_t n, struct err *e)
{
	const struct grid *grid = b->table->grid;

	for (size_t i = 0; i < grid->n_also && b->table->n > 0 && n > 0; i++) {
		int found = pattern_occurs(grid->also[i].re, line->s, (size_t)(line->end - line->s), e);

		if (found < 0)
			return -1;
		if (found > 0) {
			words_place(&b->edges, 0, words + 1, n - 1,
			            b->table->rows[b->table->n - 1].at + grid->n * (1 + i));
			return 1;
		}
	}
	return 0;
}

static int table_line(struct builder *b, const struct line *line, struct err *e)
{
	struct span words[COLUMNS_MAX];
	size_t n = line_words(line, words);
	int found = pattern_occurs(b->table->grid->heading, line->s, (size_t)(line->end - line->s), e);

	if (found < 0)
		return -1;
	if (found > 0) {
		heading_open(b, words, n);
		return 0;
	}
	if (!b->is_open)
		return 0;
	found = also_add(b, line, words, n, e);
	if (found != 0)
		return found < 0 ? -1 : 0;
	b->is_open = words_are_row(b->table->grid, words, n);
	if (b->is_open)
		row_add(b, words, n);
	return 0;
}

static const struct table *table_find(struct output_cache *cache, const struct grid *grid, const struct capture *c,
                                      struct err *e)
{
	struct builder b = { .cache = cache };
	const char *p = c->data;
	struct line line;

	for (size_t i = 0; i < cache->n_tables; i++)
		if (cache->tables[i].grid == grid)
			return &cache->tables[i];
	if (cache->n_tables == ARRAY_SIZE(cache->tables))
		return err_set(e, ERR_TOOL, "more than %zu grids in one definition", ARRAY_SIZE(cache->tables)), NULL;
	b.table = &cache->tables[cache->n_tables++];
	*b.table = (struct table){ .grid = grid };
	while (line_next(&p, c->data + c->n, &line))
		if (table_line(&b, &line, e) < 0)
			return NULL;
	return b.table;
}

/* "COLUMN", or "PREFIX_COLUMN" of an `also` line. */
static int grid_get(const struct row *row, const char *name, struct field *ret)
{
	const struct table_row *r = row->data;
	const struct grid *grid = row->source->grid;

	for (size_t k = 0; k <= grid->n_also; k++) {
		const char *column = name;

		if (k > 0) {
			const char *prefix = grid->also[k - 1].prefix;

			if (!text_starts(name, prefix) || name[strlen(prefix)] != '_')
				continue;
			column = name + strlen(prefix) + 1;
		}
		for (size_t i = 0; i < grid->n; i++) {
			if (strcmp(grid->columns[i], column) != 0)
				continue;
			*ret = r->at[k * grid->n + i];
			if (ret->s == NULL)
				ret->s = "";
			return 0;
		}
	}
	return -1;
}

int grid_rows(const struct source *s, const struct capture *c, struct output_cache *cache, struct row *row, row_cb cb,
              void *arg, struct err *e)
{
	const struct table *t = table_find(cache, s->grid, c, e);

	if (t == NULL)
		return -1;
	row->get = grid_get;
	for (size_t i = 0; i < t->n; i++) {
		row->data = &t->rows[i];
		row->match++;
		if (cb(row, arg, e) < 0)
			return -1;
	}
	return 0;
}
