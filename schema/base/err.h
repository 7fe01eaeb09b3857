/* SPDX-License-Identifier: MIT
 *
 * The error value that every fallible function fills in, and the list of
 * diagnostics that the readers of YAML produce.
 *
 * A function either returns an error or handles it, never both; only main,
 * request handlers and the supervisor print.  Programming mistakes are
 * assert(3), outside conditions are struct err.
 */
#ifndef IOSWEEP_ERR_H
#define IOSWEEP_ERR_H

#include <stddef.h>
#include <stdio.h>

/* For the program: decides the exit status, the state of a cell or trial, and whether a sweep pauses. */
enum err_kind {
	ERR_NONE,        /* no error: the value of a zeroed struct err */
	ERR_USAGE,       /* the user's command line, plan, definition or configuration is wrong: exit 2 */
	ERR_SYSTEM,      /* a system call failed */
	ERR_TOOL,        /* a program we started failed */
	ERR_TIMEOUT,     /* a deadline passed */
	ERR_CANCELLED,   /* asked to stop */
	ERR_INFEASIBLE,  /* this kernel or tool cannot do it; a result, not a failure */
	ERR_MISMATCH,    /* the machine accepted a setting and kept another value */
	ERR_REFUSED,     /* the guard or a permission said no; nothing was touched */
	ERR_BUSY,        /* somebody else holds the thing; trying again may work */
	ERR_DEVICE_LOST, /* the target vanished or is another device now */
	ERR_NO_SPACE,    /* ENOSPC or EDQUOT below the state directory, or an image that does not fit */
	ERR_STORE,       /* SQLite failed, or the store is not ours to open */
	ERR_PROTOCOL,    /* a malformed message on the socket */
	ERR_NOT_FOUND,   /* no such sweep, device, workload, metric ... */
	ERR_UNREACHABLE, /* no daemon answers: exit 3 */
	ERR_N_KINDS
};

struct err {
	enum err_kind kind;
	char text[1024]; /* for the person: outermost context first, lower case, no full stop */
	char hint[320];  /* what to do about it, or "" */
};

/* Each is an expression of value -1, so that `return err_set(...)` reads well and the compiler sees the failure.
 * e may be NULL: the caller then only wants the -1. */
#define err_set(e, kind, ...)   (err_set_(e, kind, __VA_ARGS__), err_failed())
#define err_sys(e, errnum, ...) (err_sys_(e, errnum, __VA_ARGS__), err_failed()) /* appends strerror(errnum) */
#define err_in(e, ...)          (err_in_(e, __VA_ARGS__), err_failed())          /* puts context in front of e->text */
#define err_hint(e, ...)        (err_hint_(e, __VA_ARGS__), err_failed())        /* sets e->hint */

static inline int err_failed(void)
{
	return -1;
}

void err_set_(struct err *e, enum err_kind kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void err_sys_(struct err *e, int errnum, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void err_in_(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void err_hint_(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The kind that errnum stands for: ENOSPC/EDQUOT NO_SPACE, EBUSY BUSY, ENODEV/ENXIO DEVICE_LOST,
 * ETIMEDOUT TIMEOUT, everything else SYSTEM. */
enum err_kind err_kind_of_errno(int errnum);

/* The kind's name as stored and sent ("refused", "no-space" ...), and back (ERR_SYSTEM for an unknown name). */
const char *err_kind_name(enum err_kind kind);
enum err_kind err_kind_by_name(const char *name);

/* The exit status of a command that ends with this error: 0, 1, 2 or 3 (iosweep(1), EXIT STATUS). */
int err_exit_status(enum err_kind kind);

/* Prints "PROGRAM: text" and, if there is one, a second line "PROGRAM: hint". */
void err_print(FILE *out, const char *program, const struct err *e);

/* What a reader of a file found wrong, all of it.  Owned strings; at most DIAGS_MAX are kept, the rest is counted. */
#define DIAGS_MAX 100
struct diag {
	int line, column; /* from 1; 0: the file as a whole */
	char *message;    /* owned: what is wrong, and what to write instead */
};
struct diags {
	char *file; /* owned: the name shown in front */
	struct diag *at;
	size_t n;      /* kept, in the order found */
	size_t n_lost; /* beyond DIAGS_MAX */
};

void diags_init(struct diags *d, const char *file);
void diags_done(struct diags *d);
void diags_add(struct diags *d, int line, int column, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Sorts by line and column; readers call it once at their end. */
void diags_sort(struct diags *d);
/* One line each: "FILE:LINE:COLUMN: message". */
void diags_print(FILE *out, const struct diags *d);

#endif
