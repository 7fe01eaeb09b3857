/* SPDX-License-Identifier: MIT
 *
 * What the files that read a definition share: workload.c, workload_check.c, workload_metric.c and workload_dialect.c.
 * Private to them.
 */
#ifndef IOSWEEP_WORKLOAD_READ_H
#define IOSWEEP_WORKLOAD_READ_H

#include "schema/definition.h"

struct metric_reader {
	struct workload *w;
	struct evaluator *evaluator;
	struct diags *d;
	const struct node *sources; /* the map of named sources, or NULL */
	struct csv *csvs;
	size_t n_csvs;
	struct grid *grids;
	size_t n_grids;
};

/* A source, the metric around it, the named source that it uses: a key is looked up in this order. */
struct source_chain {
	const struct node *at[3];
};

/* Each returns something to go on with, and adds a diagnostic, if the node is not right. */
const char *reader_text(struct metric_reader *r, const struct node *node, const char *key); /* arena */
const pcre2_code *reader_pattern(struct metric_reader *r, const struct node *node, const char *key);
void reader_path(struct metric_reader *r, const struct node *node, struct json_path *ret);
const struct csv *reader_csv(struct metric_reader *r, const struct node *node);
const struct grid *reader_grid(struct metric_reader *r, const struct node *node);

/* Checks the ${...} of a label or reason. */
void reader_template(struct metric_reader *r, const struct node *node, const char *template, const struct source *s);

/* Is it a field that rows of the source have?  Is it known beside them: fact, parameter, metric read before, copy? */
bool source_has_field(const struct source *s, const char *name);
bool reader_knows(const struct metric_reader *r, const struct source *s, const char *name);
bool phase_is_known(const char *name);

/* A word or list of words: each ${NAME} must be closed and be built in or a parameter that w takes (workload_check.c).
 * is_option: of more-params. */
void workload_check_words(const struct workload *w, const struct node *node, bool is_option, struct diags *d);
/* Does ${name} stand for something without any parameter: dir, device, copy ...? (workload_expand.c) */
bool workload_name_is_builtin(const char *name);

/* A plan's own definition as a document of its own (workload_source.c). */
void workload_source_write(const struct node *body, struct text *ret);

/* rehearse: of a definition; its parameters have been read (workload_rehearse.c). */
void rehearse_read(struct workload *w, const struct node *map, struct diags *d);

/* Neither empty nor "no" (workload_expand.c). */
bool workload_param_is_set(const struct expansion *x, const char *name);
/* The factors of space:, which has been read, as the parameters have (workload_space.c). */
void workload_space_check(const struct workload *w, const struct node *node, struct diags *d);

/* csv: and grids: of a definition. */
void dialects_read(struct metric_reader *r, const struct node *root);

#endif
