/* SPDX-License-Identifier: MIT
 *
 * Arithmetic in workload definitions: one expression, worked out by SQLite in a connection that can do nothing else
 * (memory only; an authorizer that knows one SELECT and a few functions; a limit on the steps of its machine).
 * Beside store*.c the only file that knows SQLite.
 */
#ifndef IOSWEEP_EVALUATE_H
#define IOSWEEP_EVALUATE_H

#include "schema/base/err.h"

struct evaluator;
struct expression;

/* Opens a connection.  Not for more than one thread or process at a time: a child made by fork(2) opens its own. */
int evaluator_new(struct evaluator **ret, struct err *e);
void evaluator_free(struct evaluator *ev); /* NULL is fine; frees its expressions too */
static inline void auto_evaluator(struct evaluator **ev)
{
	evaluator_free(*ev);
}
#define AUTO_EVALUATOR __attribute__((cleanup(auto_evaluator)))

/* Compiles "100.0 * (:user + :system) / :elapsed".  Numbers (all of them REAL, also those written without a point, so
 * that 1 / 2 is a half), :variables, + - * / % comparisons, and or not, case when, between, in, is null, and the
 * functions abs coalesce ifnull iif max min nullif round.  Fails with ERR_USAGE for anything else: a quote, a column,
 * a table, a second statement or expression, more than 64 variables or 4000 characters.  The same text gives the same
 * expression again. */
int expression_compile(struct evaluator *ev, const char *text, struct expression **ret, struct err *e);

/* Its variables, without the colon, each once. */
size_t expression_variables(const struct expression *x);
const char *expression_variable(const struct expression *x, size_t i);

/* Value of a variable: 0 and a finite number, or -1: absent (NULL in the expression). */
typedef int (*expression_lookup_cb)(void *arg, const char *name, double *ret);

/* 1 and the value; 0 if it is absent (NULL, or not finite: a division by zero is NULL in SQLite).
 * Fails with ERR_TOOL at the limit of steps. */
int expression_value(struct expression *x, expression_lookup_cb lookup, void *arg, double *ret, struct err *e);

#endif
