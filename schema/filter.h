/* SPDX-License-Identifier: MIT
 *
 * The one filter language, the same in every command:
 *
 *     filesystem=xfs,ext4 readahead>=2MiB host=db* since=2026-01-01 label.total_raid!=0 metric=dd-read.* state=ok
 *
 * A filter is terms that must all hold.  A term is KEY OPERATOR VALUE without blanks around the operator, which is
 * one of = != > >= < <= .  After = and != the value may be a list (any of them), and each may hold * and ?.  'quotes'
 * or "quotes" keep blanks and commas.  Keys:
 *     an axis             readahead, queue.nr_requests, label.hw, dd-write.bs ...   (label.X: also a sweep's label)
 *     host plan sweep     name; sweep also takes ids, last, last~1
 *     workload metric     metric is WORKLOAD.METRIC or METRIC
 *     state flag          ok partial failed infeasible, or a sweep's state; flag=drift
 *     since until         2026, 2026-01, 2026-01-31, 2026-01-31T21:00, all UTC, or 30d for that long ago
 *     tool.X kernel.X ... an environment fact; env.KEY for any
 *     WORKLOAD.METRIC     the result itself, with a unit: dd-read.throughput>=500MB/s
 * This file knows texts only: whether an axis exists is for the store to say (store_select.c).
 */
#ifndef IOSWEEP_FILTER_H
#define IOSWEEP_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/base/err.h"
#include "schema/base/mem.h"

enum filter_op { FILTER_EQ, FILTER_NE, FILTER_GE, FILTER_GT, FILTER_LE, FILTER_LT };

enum filter_kind {
	FILTER_NAMED, /* an axis, an environment fact, or a metric's value: the store knows which */
	FILTER_HOST,
	FILTER_PLAN,
	FILTER_SWEEP,
	FILTER_WORKLOAD,
	FILTER_METRIC,
	FILTER_STATE,
	FILTER_FLAG,
	FILTER_SINCE,
	FILTER_UNTIL
};

struct filter_term { /* strings live in the arena given to filter_parse */
	enum filter_kind kind;
	enum filter_op op;
	const char *key;
	const char **values; /* alternatives; canonical for a known axis (sizes in bytes, noop -> none) */
	size_t n_values;
	bool has_number;     /* the (first) value is a number or a size: `number` in bytes, for < and > */
	double number;
	int64_t at_ms;       /* FILTER_SINCE: from this on; FILTER_UNTIL: before this */
	const char *text;    /* the argument it stands in, and its column there from 1: for messages; NULL if nobody wrote it */
	int column;
};

struct filter {
	struct filter_term *at;
	size_t n;
	bool no_details; /* metrics that are details take part only where a term names metrics; false after filter_parse */
};

/* Each word is an argument of the command line and may hold several terms.  Faults are ERR_USAGE; the text shows the
 * argument and marks the column in lines of their own. */
int filter_parse(const char *const *words, size_t n, struct arena *a, struct filter *ret, struct err *e);

/* Whether a canonical value meets a term of = != < <= > >= ; numbers and sizes are compared as such, and only they by
 * < and >. "kernel-default" and texts meet no < or >. */
bool filter_matches(const struct filter_term *t, const char *value);
/* * and ? only; the whole text. */
bool filter_glob(const char *pattern, const char *text);
/* The number in a canonical value: digits, a number with a fraction, or a size with unit.  -1 if it is none. */
int filter_number(const char *value, double *ret);

/* An error about a term, with the argument and the column marked, if there is one.  Value -1. */
int filter_fault(const struct filter_term *t, struct err *e, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* "2026-01-31" and friends, UTC: the first ms of it and the first ms after it. */
int filter_date(const char *s, int64_t *ret_from_ms, int64_t *ret_to_ms);

#endif
