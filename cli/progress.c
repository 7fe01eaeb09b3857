/* SPDX-License-Identifier: MIT
 *
 * The progress line; see progress.h.
 */
#include "cli/progress.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/scale.h"
#include "cli/table.h"
#include "schema/axis.h"
#include "schema/store_watch.h"

#define LOOK_MS  1000 /* longest time between two looks at the store */
#define CROWD_MS 250  /* shortest, while trials follow each other quickly */
#define GATHER_MS 20  /* events are taken this often then, not one by one: the trials need the processor */

struct progress {
	struct store *store;
	int64_t sweep_id;
	const struct progress_wanted *wanted;
	bool is_quiet, is_terminal;
	struct arena *arena;      /* lives as long as the whole */
	const char **axes;        /* that the plan varies */
	size_t n_axes, n_workloads;
	struct pace pace;
	struct client *client;    /* that sends events, or NULL */
	int64_t alone_ns;         /* since when no daemon has answered; 0: one does */
	bool is_met;              /* one has answered */
	enum sweep_state state;   /* last one told */
	char *reason;             /* owned: told with it */
	int64_t told_trial;       /* plain lines: trial of the last line */
	int64_t told_ns;
	bool has_line;            /* terminal: a line is drawn and not ended */
};

/* A dumb terminal shows the sequences instead of obeying them. */
static bool line_can_be_redrawn(void)
{
	const char *terminal = getenv("TERM");

	return isatty(STDERR_FILENO) && terminal != NULL && terminal[0] != '\0' && strcmp(terminal, "dumb") != 0;
}

static void line_wipe(struct progress *p)
{
	if (p->has_line)
		fprintf(stderr, "\r\033[K");
	p->has_line = false;
}

__attribute__((format(printf, 2, 3))) static void remark(struct progress *p, const char *fmt, ...)
{
	AUTO_FREE char *said = NULL, *shown = NULL;
	va_list ap;

	if (p->is_quiet)
		return;
	va_start(ap, fmt);
	said = xvasprintf(fmt, ap);
	va_end(ap);
	shown = text_printable(said);
	line_wipe(p);
	fprintf(stderr, PROGRAM ": %s\n", shown);
}

/* ---- the line ---- */

static void axes_write(const struct progress *p, const struct watched *w, struct text *line)
{
	for (size_t i = 0, n = 0; i < p->n_axes; i++)
		for (size_t v = 0; v < w->n_values; v++) {
			const struct axis *def = axis_find(p->axes[i]);
			const char *value = w->values[v].requested;

			if (strcmp(w->values[v].axis, p->axes[i]) != 0)
				continue;
			text_add(line, n++ > 0 ? ", " : "  ");
			if (def == NULL || (def->kind != AXIS_FILESYSTEM && def->kind != AXIS_NAME) ||
			    strcmp(value, KERNEL_DEFAULT) == 0)
				text_printf(line, "%s ", p->axes[i]);
			text_add(line, value[0] != '\0' ? value : "-");
		}
}

static void trial_write(const struct progress *p, const struct sweep *s, const struct watched *w, struct text *line)
{
	int64_t repetitions = p->n_workloads > 0 ? s->trials_per_cell / (int64_t)p->n_workloads : 0;
	char number[SIZE_TEXT];

	if (w->workload == NULL)
		return;
	text_printf(line, "  %s trial %d", w->workload, w->repetition);
	if (repetitions > 0)
		text_printf(line, " of %" PRId64, repetitions);
	if (w->metric != NULL) {
		struct scale u = scale_choose(w->unit, &w->median, 1, SCALE_DECIMAL);

		text_printf(line, ", %s %s%s%s", s->keep == KEEP_MEAN ? "middle" : "median",
		            scale_format(&u, w->median, number), u.name[0] != '\0' ? " " : "", u.name);
	}
}

/* Of a cell, by those that have ended: a workload may be for some cells only. */
static int64_t trials_of_cell(const struct sweep *s)
{
	int64_t seen = s->cells_ended > 0 ? (s->trials_ok + s->cells_ended - 1) / s->cells_ended : 0;

	return seen > 0 && seen < s->trials_per_cell ? seen : s->trials_per_cell;
}

static int64_t trials_left(const struct sweep *s)
{
	int64_t each = trials_of_cell(s), begun = s->trials_ok - s->cells_ended * each; /* in cells that have not ended */

	return (s->cells - s->cells_ended) * each - (begun > 0 ? begun : 0);
}

static void left_write(const struct progress *p, const struct sweep *s, bool is_running, struct text *line)
{
	int64_t left_ms = pace_left_ms(&p->pace, trials_left(s), is_running, now_ms());
	char buf[SIZE_TEXT];

	if (left_ms >= 0 && (s->cells_ended > 0 || p->pace.n > 2))
		text_printf(line, "  %s left", left_ms < 1000 ? "0s" : duration_format(left_ms * 1000000, buf));
}

/* Cuts at whole characters: a line that wraps cannot be redrawn. */
static size_t line_fit(const char *s, size_t n, size_t columns)
{
	size_t used = 0, i = 0;

	while (i < n && used < columns) {
		i++;
		while (i < n && ((unsigned char)s[i] & 0xc0) == 0x80)
			i++;
		used++;
	}
	return i;
}

static void line_draw(struct progress *p, const struct text *line, const struct watched *w)
{
	if (p->is_terminal) {
		size_t width = table_width(stderr);

		fprintf(stderr, "\r\033[K%.*s", (int)line_fit(line->s, line->n, width > 1 ? width - 1 : 79), line->s);
		p->has_line = true;
	} else if (w->trial_id != p->told_trial && clock_ns() - p->told_ns >= LOOK_MS * INT64_C(1000000)) {
		p->told_trial = w->trial_id;
		p->told_ns = clock_ns();
		fprintf(stderr, "%s\n", line->s);
	}
}

static int progress_draw(struct progress *p, const struct sweep *s, struct arena *a, struct err *e)
{
	AUTO_TEXT struct text line = { 0 };
	struct trial_time *times;
	struct watched w;
	size_t n;

	if (store_watch(p->store, s->id, a, &w, e) < 0)
		return -1;
	if (w.trial_id != p->pace.last_id) {
		if (store_trial_times(p->store, s->id, p->pace.last_id, a, &times, &n, e) < 0)
			return -1;
		for (size_t i = 0; i < n; i++)
			pace_add(&p->pace, times[i].trial_id, times[i].started_ms, times[i].elapsed_ns / 1000000);
	}
	text_printf(&line, "sweep %" PRId64 "  ", s->id);
	if (w.cell_id != 0)
		text_printf(&line, "cell %" PRId64 " of %" PRId64, w.position + 1, s->cells);
	else
		text_printf(&line, "%" PRId64 " of %" PRId64 " cells", s->cells_ended, s->cells);
	axes_write(p, &w, &line);
	trial_write(p, s, &w, &line);
	left_write(p, s, w.is_running, &line);
	line_draw(p, &line, &w);
	return 0;
}

/* ---- states ---- */

static void pause_tell(struct progress *p, const struct sweep *s)
{
	if (sweep_awaits_device(s))
		remark(p, "sweep %" PRId64 " is paused: %s; it goes on by itself when the device is back", s->id, s->reason);
	else
		remark(p, "sweep %" PRId64 " is paused%s%s; '" PROGRAM " resume %" PRId64 "' goes on with it", s->id,
		       s->reason[0] != '\0' ? ": " : "", s->reason, s->id);
}

static void state_tell(struct progress *p, const struct sweep *s)
{
	if (p->reason != NULL && p->state == s->state && strcmp(p->reason, s->reason) == 0)
		return;
	if (s->state == SWEEP_PAUSED)
		pause_tell(p, s);
	else if (s->state == SWEEP_QUEUED)
		remark(p, "sweep %" PRId64 " is queued", s->id);
	else if (p->reason != NULL && p->state != s->state && s->state == SWEEP_RUNNING)
		remark(p, "sweep %" PRId64 " is running", s->id);
	free(p->reason);
	p->reason = xstrdup(s->reason);
	p->state = s->state;
}

static void ending_tell(struct progress *p, const struct sweep *s)
{
	remark(p, "sweep %" PRId64 " %s%s%s", s->id,
	       s->state == SWEEP_DONE ? "is done" : s->state == SWEEP_CANCELLED ? "was cancelled" : "has failed",
	       s->reason[0] != '\0' ? ": " : "", s->reason);
}

/* ---- waiting ---- */

/* Asks for events.  One who may not ask the daemon follows all the same: the store tells. */
static int events_ask(struct progress *p, struct err *e)
{
	struct json_object *request;
	struct err why = { 0 };

	if (client_open(&p->client, &why) == 0) {
		request = client_request("watch");
		json_object_object_add(request, "sweep", json_object_new_int64(p->sweep_id));
		if (client_call(p->client, request, NULL, NULL, &why) < 0) {
			client_close(p->client);
			p->client = NULL;
		}
	}
	if (p->client != NULL || why.kind != ERR_UNREACHABLE) {
		p->is_met = true;
		p->alone_ns = 0;
		return 0;
	}
	*e = why;
	if (!p->is_met && p->wanted->needs_daemon)
		return err_in(e, "sweep %" PRId64 " does not go on", p->sweep_id);
	if (p->alone_ns == 0) {
		p->alone_ns = clock_ns();
		remark(p, "no daemon answers: the sweep goes on when one is started");
	}
	if (clock_ns() - p->alone_ns > PROGRESS_ALONE_MS * INT64_C(1000000))
		return err_in(e, "sweep %" PRId64 " does not go on: for %d s", p->sweep_id, PROGRESS_ALONE_MS / 1000);
	return 0;
}

static void nap(int ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

/* Until something happened or LOOK_MS passed. */
static int events_wait(struct progress *p, struct err *e)
{
	int64_t begin_ns = clock_ns();
	enum client_event rc;

	if (p->client == NULL && events_ask(p, e) < 0)
		return -1;
	if (p->client == NULL) {
		nap(LOOK_MS);
		return 0;
	}
	rc = client_events_wait(p->client, LOOK_MS);
	while (rc == CLIENT_EVENT_SMALL && clock_ns() - begin_ns < CROWD_MS * INT64_C(1000000)) {
		nap(GATHER_MS);
		rc = client_events_wait(p->client, CROWD_MS);
	}
	if (rc == CLIENT_EVENT_LOST) {
		client_close(p->client);
		p->client = NULL;
	}
	return 0;
}

static bool is_over(struct progress *p, const struct sweep *s)
{
	if (s->state == SWEEP_PAUSED && p->wanted->ends_at_pause && !reason_is_wish(s->reason)) {
		if (p->is_quiet) { /* what is not progress is told all the same */
			p->is_quiet = false;
			pause_tell(p, s);
		}
		return true;
	}
	if (s->state == SWEEP_QUEUED || s->state == SWEEP_RUNNING || s->state == SWEEP_PAUSED)
		return false;
	ending_tell(p, s);
	return true;
}

static int progress_loop(struct progress *p, int64_t timeout_ns, struct err *e)
{
	int64_t begin_ns = clock_ns();

	for (;;) {
		AUTO_ARENA struct arena *a = arena_new();
		struct sweep s;

		if (store_sweep_get(p->store, p->sweep_id, a, &s, e) < 0)
			return -1;
		state_tell(p, &s);
		if (is_over(p, &s))
			return 0;
		if (!p->is_quiet && s.state == SWEEP_RUNNING && progress_draw(p, &s, a, e) < 0)
			return -1;
		if (timeout_ns != 0 && clock_ns() - begin_ns > timeout_ns)
			return err_set(e, ERR_TIMEOUT, "sweep %" PRId64 " is still %s", s.id, sweep_state_name(s.state));
		if (events_wait(p, e) < 0)
			return -1;
	}
}

int progress_follow(struct store *s, int64_t sweep_id, const struct progress_wanted *wanted, enum sweep_state *ret,
                    struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct progress p = {
		.store = s, .sweep_id = sweep_id, .wanted = wanted, .is_quiet = wanted->is_quiet, .is_terminal = line_can_be_redrawn(), .arena = a,
	};
	const char *source;
	int rc;

	if (store_sweep_plan(s, sweep_id, a, &source, e) < 0)
		return -1;
	progress_plan(source, a, &p.axes, &p.n_axes, &p.n_workloads); /* without it the line says less */
	rc = progress_loop(&p, wanted->timeout_ns, e);
	line_wipe(&p);
	*ret = p.state;
	client_close(p.client);
	free(p.reason);
	return rc;
}
