/* SPDX-License-Identifier: MIT
 *
 * The phases of `iosweep workloads try`; see try.h.
 */
#include "cli/try.h"

#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define SERVERS_MAX 8
#define RETRY_MS 100
#define STEP_TIMEOUT_NS (3600 * INT64_C(1000000000))

struct attempt {
	const struct workload *w;
	const struct try_options *o;
	struct expansion x;
	struct arena *arena;
	struct try_program servers[SERVERS_MAX];
	int stop_signals[SERVERS_MAX];
	size_t n_servers;
	struct capture *captures;
	size_t n_captures, captures_cap;
	int64_t elapsed_ns, user_ns, system_ns; /* of the run phase */
	int copies, exit_status;
};

static void argv_say(const struct attempt *t, enum workload_phase phase, char *const *argv)
{
	if (!t->o->is_loud)
		return;
	fprintf(stderr, "%s:", phase_name(phase));
	for (; *argv != NULL; argv++)
		fprintf(stderr, strpbrk(*argv, " \t\n'\"") != NULL || **argv == '\0' ? " '%s'" : " %s", *argv);
	fprintf(stderr, "\n");
}

/* Two captures a program: "run", "run.2" ... as in a sweep. */
static void captures_add(struct attempt *t, enum workload_phase phase, struct try_program *p)
{
	struct capture *c;

	if (t->n_captures + 2 > t->captures_cap) {
		struct capture *more = arena_array(t->arena, t->captures_cap = 2 * t->captures_cap + 8, sizeof(*more));

		if (t->n_captures > 0)
			memcpy(more, t->captures, t->n_captures * sizeof(*more));
		t->captures = more;
	}
	c = &t->captures[t->n_captures];
	c[0].step = t->n_captures == 0 ? phase_name(phase) :
	                                 arena_printf(t->arena, "%s.%zu", phase_name(phase), t->n_captures / 2 + 1);
	c[1].step = c[0].step;
	try_program_output(p, t->arena, &c[0], &c[1]);
	t->n_captures += 2;
}

static int program_failed(struct attempt *t, struct try_program *p, enum workload_phase phase, struct err *e)
{
	struct capture out = { 0 }, err = { 0 };
	AUTO_TEXT struct text why = { 0 };
	const char *words;
	size_t n;

	try_program_output(p, t->arena, &out, &err);
	words = err.n > 0 ? text_last_words(err.data, err.n, &n) : text_last_words(out.data, out.n, &n);
	text_add_printable(&why, words, n);
	return err_set(e, ERR_TOOL, "%s: '%s' ended with status %d: %s", phase_name(phase), p->argv[0],
	               try_exit_status(p), text_str(&why));
}

static int servers_check(struct attempt *t, enum workload_phase phase, struct err *e)
{
	for (size_t i = 0; i < t->n_servers; i++)
		if (!try_program_is_running(&t->servers[i]) && t->servers[i].err_fd >= 0)
			return program_failed(t, &t->servers[i], phase, e);
	return 0;
}

static void program_measured(struct attempt *t, const struct workload_step *step, struct try_program *p)
{
	captures_add(t, PHASE_RUN, p);
	t->user_ns += p->user_ns;
	t->system_ns += p->system_ns;
	if (t->exit_status == 0 && !step->may_fail)
		t->exit_status = try_exit_status(p);
}

static void program_forget(struct try_program *p)
{
	if (p->out_fd > 0)
		close(p->out_fd);
	if (p->err_fd > 0)
		close(p->err_fd);
	p->out_fd = p->err_fd = -1;
}

static int programs_run(struct attempt *t, const struct workload_step *step, enum workload_phase phase,
                        struct try_program *p, size_t n, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = try_program_start(&p[i], e);
	if (try_programs_wait(p, n, step->timeout_ns > 0 ? step->timeout_ns : STEP_TIMEOUT_NS, rc == 0 ? e : NULL) < 0)
		rc = -1;
	for (size_t i = 0; i < n; i++) {
		if (rc == 0 && phase == PHASE_RUN)
			program_measured(t, step, &p[i]);
		else if (rc == 0 && try_exit_status(&p[i]) != 0 && !step->may_fail)
			rc = program_failed(t, &p[i], phase, e);
		program_forget(&p[i]);
	}
	return rc;
}

/* Again and again until it ends well; the kind of failure decides, also where the caller does not ask for the text
 * (NULL). */
static int programs_retry(struct attempt *t, const struct workload_step *step, enum workload_phase phase,
                          struct try_program *p, size_t n, struct err *ret_error)
{
	struct err unasked = { 0 }, *e = ret_error != NULL ? ret_error : &unasked;
	int64_t timeout_ns = step->timeout_ns > 0 ? step->timeout_ns : STEP_TIMEOUT_NS,
		deadline_ns = clock_ns() + timeout_ns;

	for (;;) {
		if (programs_run(t, step, PHASE_PREPARE, p, n, e) == 0)
			return 0;
		if (e->kind != ERR_TOOL || servers_check(t, phase, e) < 0)
			return -1;
		if (clock_ns() > deadline_ns)
			return err_in(e, "not even after many attempts");
		poll(NULL, 0, RETRY_MS);
	}
}

static int server_start(struct attempt *t, const struct workload_step *step, const struct try_program *p, struct err *e)
{
	if (t->n_servers == SERVERS_MAX)
		return err_set(e, ERR_USAGE, "a workload can have %d servers", SERVERS_MAX);
	t->servers[t->n_servers] = *p;
	t->stop_signals[t->n_servers] = step->stop_signal;
	return try_program_start(&t->servers[t->n_servers++], e);
}

static int step_run(struct attempt *t, const struct workload_step *step, enum workload_phase phase, struct err *e)
{
	struct try_program *p;
	bool is_wanted;
	int copies;

	t->x.copy = t->x.copies = 1;
	if (workload_step_wanted(step, &t->x, &is_wanted, e) < 0 || workload_copies(step, &t->x, &copies, e) < 0)
		return -1;
	if (!is_wanted)
		return 0;
	p = arena_array(t->arena, (size_t)copies, sizeof(*p));
	t->x.copies = copies;
	if (phase == PHASE_RUN && copies > t->copies)
		t->copies = copies;
	for (int i = 0; i < copies; i++) {
		p[i] = (struct try_program){ .dir = t->x.dir, .discard = step->discard, .out_fd = -1, .err_fd = -1 };
		t->x.copy = i + 1;
		if (workload_expand(step, &t->x, t->arena, &p[i].argv, e) < 0)
			return -1;
		argv_say(t, phase, p[i].argv);
	}
	if (step->background)
		return server_start(t, step, &p[0], e);
	if (step->retry)
		return programs_retry(t, step, phase, p, (size_t)copies, e);
	return programs_run(t, step, phase, p, (size_t)copies, e);
}

static int phase_run(struct attempt *t, enum workload_phase phase, struct err *e)
{
	int64_t started_ns = clock_ns();

	if (servers_check(t, phase, e) < 0)
		return -1;
	for (size_t i = 0; i < t->w->n_steps[phase]; i++) {
		if (step_run(t, &t->w->steps[phase][i], phase, e) < 0)
			return t->w->steps[phase][i].line > 0 ?
			               err_in(e, "line %d of the definition", t->w->steps[phase][i].line) :
			               -1;
		if (t->exit_status != 0)
			break;
	}
	if (phase == PHASE_RUN)
		t->elapsed_ns = clock_ns() - started_ns;
	return 0;
}

static int outcome_extract(struct attempt *t, struct outcome *ret, struct err *e)
{
	const struct fact facts[] = {
		{ "elapsed", (double)t->elapsed_ns / 1e9 }, { "user", (double)t->user_ns / 1e9 },
		{ "system", (double)t->system_ns / 1e9 },   { "exit_status", t->exit_status },
		{ "ram_bytes", (double)t->o->ram_bytes },   { "copies", t->copies },
		{ "repetition", 1 },
	};

	return extract(t->w, t->x.params, t->x.n_params, t->captures, t->n_captures, facts, ARRAY_SIZE(facts),
	               t->exit_status, t->arena, ret, e);
}

static int entry_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

int try_workload(const struct workload *w, const struct workload_param *params, size_t n, const struct try_options *o,
                 struct arena *a, struct outcome *ret, struct err *e)
{
	struct attempt t = { .w = w, .o = o, .arena = a, .copies = 1 };
	AUTO_FREE char *base = realpath(o->directory, NULL);
	char *dir;
	int rc = 0;

	if (workload_installed(w, e) < 0)
		return -1;
	if (base == NULL)
		return err_sys(e, errno, "directory '%s'", o->directory);
	dir = arena_printf(a, "%s/iosweep-try-XXXXXX", base);
	if (mkdtemp(dir) == NULL)
		return err_sys(e, errno, "make a directory below '%s'", base);
	try_signals_catch();
	t.x = (struct expansion){ .dir = dir, .device = o->device, .ram_bytes = o->ram_bytes, .repetition = 1, .params = params,
		                  .n_params = n, .is_root = geteuid() == 0 };
	for (int phase = PHASE_PREPARE; phase <= PHASE_RUN && rc == 0; phase++)
		rc = phase_run(&t, (enum workload_phase)phase, e);
	if (rc == 0)
		rc = outcome_extract(&t, ret, e);
	t.exit_status = 0;
	for (int phase = PHASE_AFTER; phase <= PHASE_CLEANUP; phase++)
		if (phase_run(&t, (enum workload_phase)phase, rc == 0 ? e : NULL) < 0)
			rc = -1;
	for (size_t i = t.n_servers; i-- > 0;)
		try_program_stop(&t.servers[i], t.stop_signals[i]);
	if (!o->keep && nftw(dir, entry_remove, 16, FTW_DEPTH | FTW_PHYS) < 0 && rc == 0)
		rc = err_sys(e, errno, "remove '%s'", dir);
	return rc;
}
