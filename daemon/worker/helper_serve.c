/* SPDX-License-Identifier: MIT
 *
 * What the helper does with a request; see helper_serve.h.
 */
#include "daemon/worker/helper_serve.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/worker/extents.h"
#include "daemon/worker/frame.h"
#include "daemon/worker/workdir.h"
#include "schema/extract.h"

#define CPU_LIMIT_S 20                       /* for one request */
#define MEMORY_LIMIT_BYTES ((rlim_t)2 << 30) /* of address space, what it inherited included */
#define FOREVER_NS INT64_MAX

/* CPU time counts from the start of the process, so the limit moves on with each request: setrlimit(2). */
static void limits_renew(void)
{
	struct rusage use;
	struct rlimit cpu = { 0, RLIM_INFINITY };

	getrusage(RUSAGE_SELF, &use);
	cpu.rlim_cur = (rlim_t)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) + CPU_LIMIT_S;
	setrlimit(RLIMIT_CPU, &cpu);
}

static void memory_limit(void)
{
#if !defined(__SANITIZE_ADDRESS__)
	struct rlimit as = { MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES };

	setrlimit(RLIMIT_AS, &as);
#endif
}

static void outcome_write(const struct outcome *o, struct text *answer)
{
	frame_add_number(answer, o->state);
	frame_add_string(answer, o->reason != NULL ? o->reason : "");
	frame_add_number(answer, o->suspect != NULL);
	if (o->suspect != NULL)
		frame_add_string(answer, o->suspect);
	frame_add_number(answer, (int64_t)o->n);
	for (size_t i = 0; i < o->n; i++) {
		const struct measured *m = &o->at[i];

		frame_add_string(answer, m->name);
		frame_add_string(answer, m->label != NULL ? m->label : "");
		frame_add_string(answer, m->unit);
		frame_add_number(answer, m->better);
		frame_add_number(answer, m->is_detail);
		frame_add_real(answer, m->value);
		frame_add_string(answer, m->found_by != NULL ? m->found_by : "");
	}
}

struct extraction {
	size_t workload, n_params, n_captures, n_facts;
	int exit_status;
	struct workload_param *params;
	struct capture *captures;
	struct fact *facts;
};

static void extraction_read(struct frame_reader *r, struct arena *a, struct extraction *x)
{
	x->workload = (size_t)frame_number(r);
	x->exit_status = (int)frame_number(r);
	x->n_params = frame_count(r, 16);
	x->params = arena_array(a, x->n_params, sizeof(*x->params));
	for (size_t i = 0; i < x->n_params; i++) {
		x->params[i].name = frame_string(r, a);
		x->params[i].value = frame_string(r, a);
	}
	x->n_captures = frame_count(r, 32);
	x->captures = arena_array(a, x->n_captures, sizeof(*x->captures));
	for (size_t i = 0; i < x->n_captures; i++) {
		x->captures[i].step = frame_string(r, a);
		x->captures[i].stream = frame_string(r, a);
		x->captures[i].is_cut = frame_number(r) != 0;
		x->captures[i].data = frame_bytes(r, &x->captures[i].n);
	}
	x->n_facts = frame_count(r, 16);
	x->facts = arena_array(a, x->n_facts, sizeof(*x->facts));
	for (size_t i = 0; i < x->n_facts; i++) {
		x->facts[i].name = frame_string(r, a);
		x->facts[i].value = frame_real(r);
	}
}

static int request_extract(struct frame_reader *r, const struct sweep_workload *workloads, size_t n_workloads,
                           struct arena *a, struct text *answer, struct err *e)
{
	struct extraction x;
	struct outcome o = { 0 };

	extraction_read(r, a, &x);
	if (r->is_bad || x.workload >= n_workloads)
		return err_set(e, ERR_PROTOCOL, "malformed request for an extraction");
	if (extract(workloads[x.workload].definition, x.params, x.n_params, x.captures, x.n_captures, x.facts,
	            x.n_facts, x.exit_status, a, &o, e) < 0)
		return -1;
	frame_add_number(answer, ERR_NONE);
	outcome_write(&o, answer);
	return 0;
}

static int request_path(struct frame_reader *r, int (*act)(const char *path, struct err *e), struct arena *a,
                        struct text *answer, struct err *e)
{
	const char *path = frame_string(r, a);

	if (r->is_bad || act(path, e) < 0)
		return -1;
	frame_add_number(answer, ERR_NONE);
	return 0;
}

static int request_extents(struct frame_reader *r, struct arena *a, struct text *answer, struct err *e)
{
	const char *path = frame_string(r, a);
	struct extents x;

	if (r->is_bad || extents_scan(path, &x, e) < 0)
		return -1;
	frame_add_number(answer, ERR_NONE);
	frame_add_number(answer, x.bytes);
	frame_add_number(answer, x.holes);
	frame_add_number(answer, x.unwritten);
	frame_add_number(answer, x.encoded);
	return 0;
}

static int request_answer(struct frame_reader *r, const struct sweep_workload *workloads, size_t n_workloads,
                          struct arena *a, struct text *answer, struct err *e)
{
	int64_t op = frame_number(r);

	if (op == HELPER_EXTRACT)
		return request_extract(r, workloads, n_workloads, a, answer, e);
	if (op == HELPER_MAKE_DIR)
		return request_path(r, workdir_make, a, answer, e);
	if (op == HELPER_REMOVE_DIR)
		return request_path(r, workdir_remove, a, answer, e);
	if (op == HELPER_EXTENTS)
		return request_extents(r, a, answer, e);
	return err_set(e, ERR_PROTOCOL, "unknown request %lld", (long long)op);
}

void helper_serve(int fd, const struct sweep_workload *workloads, size_t n_workloads)
{
	AUTO_TEXT struct text request = { 0 };
	AUTO_TEXT struct text answer = { 0 };
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	memory_limit();
	while (frame_receive(fd, FOREVER_NS, &request, NULL) == 0) {
		AUTO_ARENA struct arena *a = arena_new();
		struct frame_reader r = { .at = request.s, .left = request.n };
		struct err e = { 0 };

		limits_renew();
		text_clear(&answer);
		if (request_answer(&r, workloads, n_workloads, a, &answer, &e) < 0) {
			text_clear(&answer);
			frame_add_number(&answer, e.kind);
			frame_add_string(&answer, e.text);
		}
		if (frame_send(fd, &answer, FOREVER_NS, NULL) < 0)
			return;
	}
}
