/* SPDX-License-Identifier: MIT
 *
 * A workload's phases; see bench.h.
 */
#include "daemon/worker/bench.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "daemon/worker/fault.h"
#include "daemon/worker/workplace.h"

#define RETRY_MS 100
#define SERVER_GRACE_NS (30 * INT64_C(1000000000)) /* a database writes its checkpoint */

/* What a cell sets is small in a rehearsal, too. */
static const char *param_value(const struct bench *b, const char *name, const char *value)
{
	const struct plan *p = b->w->plan;

	for (size_t i = 0; p->is_rehearsal && i < p->n_workloads; i++)
		if (strcmp(p->workloads[i].name, b->def->name) == 0)
			return plan_rehearsed(&p->workloads[i], name, value);
	return value;
}

static void param_set(struct bench *b, const char *name, const char *value)
{
	for (size_t i = 0; i < b->n_params; i++)
		if (strcmp(b->params[i].name, name) == 0) {
			b->params[i].value = value;
			return;
		}
	b->params[b->n_params++] = (struct workload_param){ name, value }; /* one that only more-params takes */
}

void bench_init(struct bench *b, struct worker *w, size_t workload, struct arena *a)
{
	const struct sweep_workload *def = &w->workloads[workload];

	*b = (struct bench){ .w = w, .workload = workload, .def = def, .n_params = def->n_params };
	b->params = arena_array(a, def->n_params + w->cell->n, sizeof(*b->params));
	if (def->n_params > 0)
		memcpy(b->params, def->params, def->n_params * sizeof(*b->params));
	for (size_t i = 0; i < w->cell->n; i++) {
		const struct setting *s = &w->cell->at[i];
		const char *name = axis_parameter(s->def, s->axis, def->name);

		if (name != NULL && strcmp(s->value, KERNEL_DEFAULT) != 0)
			param_set(b, name, param_value(b, name, s->value));
	}
}

static void expansion_fill(const struct bench *b, int repetition, char dir[WORKPLACE_PATH], struct expansion *ret)
{
	const char *node = strrchr(b->w->claimed.private_node, '/');
	static char device[80];

	workplace_path(b->w, dir);
	snprintf(device, sizeof(device), "/dev%.60s", node != NULL ? node : "");
	*ret = (struct expansion){
		.dir = dir, .device = node != NULL ? device : NULL, .ram_bytes = b->w->ram_bytes, .copy = 1, .copies = 1,
		.repetition = repetition, .params = b->params, .n_params = b->n_params,
	};
}

/* Names of captures: "run", then "run.2" for the next program of the phase. */
static void capture_add(struct phase_end *p, enum workload_phase phase, struct tool_end *end, struct arena *a)
{
	size_t nth = p->n_captures / 2 + 1;
	const char *step = nth == 1 ? phase_name(phase) : arena_printf(a, "%s.%zu", phase_name(phase), nth);
	struct capture *grown = arena_array(a, p->n_captures + 2, sizeof(*grown));

	if (p->n_captures > 0)
		memcpy(grown, p->captures, p->n_captures * sizeof(*grown));
	for (int i = 0; i < 2; i++) {
		const struct text *t = i == 0 ? &end->out : &end->err;
		size_t n_printed = i == 0 ? end->out_bytes : end->err_bytes;
		char *data = arena_alloc(a, t->n + 1);

		if (t->n > 0)
			memcpy(data, t->s, t->n);
		grown[p->n_captures++] = (struct capture){
			.step = step, .stream = i == 0 ? "stdout" : "stderr", .data = data, .n = t->n,
			.is_cut = n_printed > t->n, .n_printed = n_printed,
		};
	}
	p->captures = grown;
}

static void end_add(struct phase_end *p, const struct tool_end *end)
{
	p->user_ns += end->user_ns;
	p->system_ns += end->system_ns;
	p->tools_read_bytes += end->read_bytes;
	if (p->exit_status == 0 && p->exit_signal == 0) {
		p->exit_status = end->exit_status;
		p->exit_signal = end->exit_signal;
	}
}

static int server_start(struct bench *b, enum workload_phase phase, const struct tool *tool, struct err *e)
{
	if (b->n_servers == SERVERS_MAX)
		return err_set(e, ERR_USAGE, "a workload can have %d servers", SERVERS_MAX);
	if (tool_server_start(&b->w->tools, &b->w->submitter, tool, &b->servers[b->n_servers].at, e) < 0)
		return -1;
	b->servers[b->n_servers++].phase = phase;
	return 0;
}

/* All copies of one step, at once. */
static int step_tools_run(struct bench *b, enum workload_phase phase, const struct tool *tools, int copies,
                          struct arena *a, struct phase_end *p, struct err *e)
{
	struct tool_end *ends = arena_array(a, (size_t)copies, sizeof(*ends));
	int64_t elapsed_ns = 0;
	int rc = tools_run(&b->w->tools, &b->w->submitter, tools, (size_t)copies, ends, e);

	p->copies = copies > p->copies ? copies : p->copies;
	for (int i = 0; i < copies; i++) {
		elapsed_ns = ends[i].elapsed_ns > elapsed_ns ? ends[i].elapsed_ns : elapsed_ns;
		capture_add(p, phase, &ends[i], a);
		end_add(p, &ends[i]);
	}
	p->elapsed_ns += elapsed_ns;
	for (int i = 0; i < copies && rc == 0; i++) {
		AUTO_TEXT struct text what = { 0 };

		if (ends[i].exit_status == 0 || phase == PHASE_RUN)
			continue;
		tool_end_describe(&ends[i], tools[i].argv[0], &what);
		rc = err_set(e, ERR_TOOL, "%s: %s", phase_name(phase), text_str(&what));
	}
	for (int i = 0; i < copies; i++)
		tool_end_done(&ends[i]);
	return rc;
}

static void end_merge(struct phase_end *p, const struct phase_end *own)
{
	p->elapsed_ns += own->elapsed_ns;
	p->user_ns += own->user_ns;
	p->system_ns += own->system_ns;
	p->tools_read_bytes += own->tools_read_bytes;
}

/* A server that has ended by itself is a failure, with its last words. */
static int servers_check(struct bench *b, struct err *e)
{
	for (size_t i = 0; i < b->n_servers; i++) {
		AUTO_TEXT struct text what = { 0 };
		struct tool_end end;

		if (tool_server_is_running(b->servers[i].at))
			continue;
		tool_server_stop(b->servers[i].at, SERVER_GRACE_NS, &end);
		b->servers[i] = b->servers[--b->n_servers];
		tool_end_describe(&end, "the server", &what);
		tool_end_done(&end);
		return err_set(e, ERR_TOOL, "%s", text_str(&what));
	}
	return 0;
}

/* is_told: e holds what became of the last attempt. */
static int retry_given_up(const char *program, bool is_told, struct err *e)
{
	if (!is_told)
		return err_set(e, ERR_TIMEOUT, "'%s' did not end well within its time-out", program);
	e->kind = ERR_TIMEOUT;
	return err_in(e, "did not end well within its time-out");
}

/* Again and again until it ends well: how a definition waits for its server. */
static int step_retry(struct bench *b, enum workload_phase phase, const struct tool *tools, int copies, struct arena *a,
                      struct phase_end *p, struct err *e)
{
	int64_t deadline_ns = clock_ns() + tools[0].timeout_ns;
	struct pollfd cancel = { .fd = b->w->tools.cancel_fd, .events = POLLIN };

	for (;;) {
		struct phase_end own = { 0 };
		int rc = step_tools_run(b, phase, tools, copies, a, &own, e);

		if (rc == 0 && own.exit_status == 0 && own.exit_signal == 0) {
			end_merge(p, &own);
			return 0;
		}
		if ((rc < 0 && e->kind != ERR_TOOL) || servers_check(b, e) < 0)
			return -1;
		if (clock_ns() > deadline_ns)
			return retry_given_up(tools[0].argv[0], rc < 0, e);
		if (poll(&cancel, 1, RETRY_MS) > 0)
			return err_set(e, ERR_CANCELLED, "asked to stop");
	}
}

static int step_run(struct bench *b, enum workload_phase phase, const struct workload_step *step, int repetition,
                    struct arena *a, struct phase_end *p, struct err *e)
{
	char dir[WORKPLACE_PATH];
	struct expansion x;
	struct tool *tools;
	char **argv;
	bool is_wanted;
	int copies;

	expansion_fill(b, repetition, dir, &x);
	if (workload_step_wanted(step, &x, &is_wanted, e) < 0 || workload_copies(step, &x, &copies, e) < 0)
		return -1;
	if (!is_wanted)
		return 0;
	tools = arena_array(a, (size_t)copies, sizeof(*tools));
	x.copies = copies;
	for (int i = 0; i < copies; i++) {
		x.copy = i + 1;
		if (workload_expand(step, &x, a, &argv, e) < 0)
			return -1;
		tools[i] = (struct tool){
			.argv = argv,
			.dir = dir,
			.timeout_ns = step->timeout_ns > 0 ? step->timeout_ns : b->w->plan->timeout_ns,
			.discard = step->discard,
			.stop_signal = step->stop_signal,
		};
	}
	if (step->background)
		return server_start(b, phase, &tools[0], e);
	if (step->retry)
		return step_retry(b, phase, tools, copies, a, p, e);
	return step_tools_run(b, phase, tools, copies, a, p, e);
}

int bench_phase(struct bench *b, enum workload_phase phase, int repetition, struct arena *a, struct phase_end *ret,
                struct err *e)
{
	const struct workload *def = b->def->definition;

	if (servers_check(b, e) < 0)
		return -1;
	for (size_t i = 0; i < def->n_steps[phase]; i++) {
		const struct workload_step *step = &def->steps[phase][i];
		struct err own = { 0 };

		if (step_run(b, phase, step, repetition, a, ret, &own) < 0) {
			if (step->may_fail && own.kind == ERR_TOOL)
				continue;
			*e = own;
			return -1;
		}
		if (phase == PHASE_RUN && (ret->exit_status != 0 || ret->exit_signal != 0) && !step->may_fail)
			break;
	}
	return 0;
}

void bench_servers_stop(struct bench *b, enum workload_phase phase)
{
	for (size_t i = b->n_servers; i-- > 0;) {
		struct tool_end end;

		if (b->servers[i].phase != phase)
			continue;
		tool_server_stop(b->servers[i].at, SERVER_GRACE_NS, &end);
		tool_end_done(&end);
		b->servers[i] = b->servers[--b->n_servers];
	}
}

/* Before anything is written: hours of preparation are not to end in a full filesystem. */
static int space_check(struct bench *b, struct err *e)
{
	char dir[WORKPLACE_PATH];
	AUTO_TEXT struct text what = { 0 };
	struct expansion x;
	int64_t bytes;

	expansion_fill(b, 1, dir, &x);
	bytes = workload_space(b->def->definition, &x, &what);
	return bytes > 0 ? workplace_check_space(b->w, bytes, text_str(&what), e) : 0;
}

int bench_open(struct bench *b, struct arena *a, struct phase_end *ret, struct err *e)
{
	if (fault_before("prepare", false, e) < 0)
		return -1;
	b->is_open = true;
	if (workplace_open(b->w, e) < 0 || workplace_check(b->w, e) < 0 || space_check(b, e) < 0)
		return -1;
	if (bench_phase(b, PHASE_PREPARE, 1, a, ret, e) < 0)
		return -1;
	return fault_after("prepare", false, e);
}

/* A sweep that is to end at once does not first empty a filesystem that is wiped next. */
static bool files_go_anyway(const struct worker *w)
{
	return w->claimed.kind != TARGET_DIRECTORY && !w->plan->target.keep_filesystem;
}

int bench_close(struct bench *b, bool is_end, struct err *e)
{
	bool should_clean = !is_end || !files_go_anyway(b->w);
	AUTO_ARENA struct arena *a = arena_new();
	struct phase_end end = { 0 };
	int cancel_fd = b->w->tools.cancel_fd, rc = 0;

	if (!b->is_open)
		return 0;
	b->is_open = false;
	b->w->tools.cancel_fd = -1;
	bench_servers_stop(b, PHASE_BEFORE);
	bench_servers_stop(b, PHASE_RUN);
	if (should_clean)
		rc = bench_phase(b, PHASE_CLEANUP, 1, a, &end, e);
	bench_servers_stop(b, PHASE_PREPARE);
	b->w->tools.cancel_fd = cancel_fd;
	if (should_clean && workplace_close(b->w, rc == 0 ? e : NULL) < 0)
		rc = -1;
	return rc;
}
