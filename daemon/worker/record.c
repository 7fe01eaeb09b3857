/* SPDX-License-Identifier: MIT
 *
 * Shared commits and hints; see record.h.
 */
#include "daemon/worker/record.h"

#include <string.h>
#include <sys/socket.h>

int record_batch(struct worker *w, bool is_lazy, struct err *e)
{
	if (w->has_batch)
		return 0;
	store_lazy(w->store, is_lazy);
	if (store_begin(w->store, e) < 0) {
		store_lazy(w->store, false);
		return -1;
	}
	w->has_batch = true;
	return 0;
}

static void hints_send(struct worker *w)
{
	if (w->line_fd >= 0 && w->held_hints.n > 0)
		send(w->line_fd, w->held_hints.s, w->held_hints.n, MSG_DONTWAIT | MSG_NOSIGNAL);
	text_clear(&w->held_hints);
}

int record_commit(struct worker *w, struct err *e)
{
	int rc = 0;

	if (w->has_batch) {
		rc = store_commit(w->store, e);
		store_lazy(w->store, false);
	}
	w->has_batch = false;
	if (rc < 0)
		text_clear(&w->held_hints); /* what they tell of has not come true */
	hints_send(w);
	return rc;
}

void record_hint(struct worker *w, const char *kind, const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	text[strcspn(text, "\n")] = '\0';
	text_printf(&w->held_hints, "%s %s\n", kind, text);
	free(text);
	if (!w->has_batch)
		hints_send(w);
}

void record_line(const struct worker *w, const char *kind, const char *text)
{
	AUTO_TEXT struct text line = { 0 };

	text_printf(&line, "%s %s\n", kind, text);
	if (w->line_fd >= 0)
		send(w->line_fd, line.s, line.n, MSG_DONTWAIT | MSG_NOSIGNAL);
}
