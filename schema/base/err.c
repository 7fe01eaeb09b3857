/* SPDX-License-Identifier: MIT
 *
 * Error values and diagnostics; see err.h.  Nothing here allocates for a struct err, so an error can be
 * reported when memory is short and can live on a stack or in shared memory.
 */
#include "schema/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "schema/base/mem.h"
#include "schema/base/text.h"

static const struct {
	const char *name;
	int exit_status;
} kinds[ERR_N_KINDS] = {
	[ERR_NONE]        = { "none", 0 },
	[ERR_USAGE]       = { "usage", 2 },
	[ERR_SYSTEM]      = { "system", 1 },
	[ERR_TOOL]        = { "tool", 1 },
	[ERR_TIMEOUT]     = { "timeout", 1 },
	[ERR_CANCELLED]   = { "cancelled", 1 },
	[ERR_INFEASIBLE]  = { "infeasible", 1 },
	[ERR_MISMATCH]    = { "mismatch", 1 },
	[ERR_REFUSED]     = { "refused", 1 },
	[ERR_BUSY]        = { "busy", 1 },
	[ERR_DEVICE_LOST] = { "device-lost", 1 },
	[ERR_NO_SPACE]    = { "no-space", 1 },
	[ERR_STORE]       = { "store", 1 },
	[ERR_PROTOCOL]    = { "protocol", 1 },
	[ERR_NOT_FOUND]   = { "not-found", 1 },
	[ERR_UNREACHABLE] = { "unreachable", 3 },
};

void err_set_(struct err *e, enum err_kind kind, const char *fmt, ...)
{
	va_list ap;

	if (e == NULL)
		return;
	e->kind = kind;
	e->hint[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
}

void err_sys_(struct err *e, int errnum, const char *fmt, ...)
{
	size_t used;
	va_list ap;

	if (e == NULL)
		return;
	e->kind = err_kind_of_errno(errnum);
	e->hint[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	used = strlen(e->text);
	snprintf(e->text + used, sizeof(e->text) - used, ": %s", strerror(errnum));
}

void err_in_(struct err *e, const char *fmt, ...)
{
	char inner[sizeof(e->text)];
	size_t used;
	va_list ap;

	if (e == NULL)
		return;
	memcpy(inner, e->text, sizeof(inner));
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	used = strlen(e->text);
	snprintf(e->text + used, sizeof(e->text) - used, ": %s", inner);
}

void err_hint_(struct err *e, const char *fmt, ...)
{
	va_list ap;

	if (e == NULL)
		return;
	va_start(ap, fmt);
	vsnprintf(e->hint, sizeof(e->hint), fmt, ap);
	va_end(ap);
}

enum err_kind err_kind_of_errno(int errnum)
{
	if (errnum == ENOSPC || errnum == EDQUOT)
		return ERR_NO_SPACE;
	if (errnum == EBUSY)
		return ERR_BUSY;
	if (errnum == ENODEV || errnum == ENXIO)
		return ERR_DEVICE_LOST;
	if (errnum == ETIMEDOUT)
		return ERR_TIMEOUT;
	return ERR_SYSTEM;
}

const char *err_kind_name(enum err_kind kind)
{
	return kinds[kind].name;
}

enum err_kind err_kind_by_name(const char *name)
{
	for (int i = 0; i < ERR_N_KINDS; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return (enum err_kind)i;
	return ERR_SYSTEM;
}

int err_exit_status(enum err_kind kind)
{
	return kinds[kind].exit_status;
}

/* Messages quote what others wrote; only their own line ends, under which a column is marked, are left. */
static void line_print(FILE *out, const char *program, const char *message)
{
	AUTO_TEXT struct text t = { 0 };

	for (const char *s = message; *s != '\0'; s += *s == '\n') {
		size_t n = strcspn(s, "\n");

		text_add_printable(&t, s, n);
		s += n;
		if (*s == '\n')
			text_add(&t, "\n");
	}
	fprintf(out, "%s: %s\n", program, text_str(&t));
}

void err_print(FILE *out, const char *program, const struct err *e)
{
	line_print(out, program, e->text);
	if (e->hint[0] != '\0')
		line_print(out, program, e->hint);
}

void diags_init(struct diags *d, const char *file)
{
	*d = (struct diags){ .file = xstrdup(file) };
}

void diags_done(struct diags *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->at[i].message);
	free(d->at);
	free(d->file);
	*d = (struct diags){ 0 };
}

void diags_add(struct diags *d, int line, int column, const char *fmt, ...)
{
	struct diag *slot;
	va_list ap;

	if (d->n == DIAGS_MAX) {
		d->n_lost++;
		return;
	}
	d->at = xreallocarray(d->at, d->n + 1, sizeof(*d->at));
	slot = &d->at[d->n++];
	*slot = (struct diag){ .line = line, .column = column };
	va_start(ap, fmt);
	slot->message = xvasprintf(fmt, ap);
	va_end(ap);
}

static int diag_before(const void *a, const void *b)
{
	const struct diag *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->column > y->column) - (x->column < y->column);
}

void diags_sort(struct diags *d)
{
	if (d->n > 1)
		qsort(d->at, d->n, sizeof(*d->at), diag_before);
}

void diags_print(FILE *out, const struct diags *d)
{
	for (size_t i = 0; i < d->n; i++) {
		AUTO_FREE char *message = text_printable(d->at[i].message);

		if (d->at[i].line > 0)
			fprintf(out, "%s:%d:%d: %s\n", d->file, d->at[i].line, d->at[i].column, message);
		else
			fprintf(out, "%s: %s\n", d->file, message);
	}
	if (d->n_lost > 0)
		fprintf(out, "%s: %zu more errors are not shown\n", d->file, d->n_lost);
}
