/* SPDX-License-Identifier: MIT
 *
 * The list of workers that wait for a device; see parked.h.  One a device at most, and hardly ever one at all.
 */
#include "daemon/parked.h"

#include <string.h>
#include <sys/wait.h>

#include "daemon/daemon.h"
#include "daemon/process.h"
#include "daemon/server.h"
#include "daemon/supervisor.h"
#include "schema/base/log.h"

struct parked {
	struct parked *next;
	struct daemon *daemon;   /* borrowed */
	struct process *process; /* its callbacks are ours */
	int64_t sweep_id;
	char *target, *why;      /* owned */
};

static struct parked *list;

static void parked_free(struct parked *x)
{
	struct parked **slot = &list;

	while (*slot != x)
		slot = &(*slot)->next;
	*slot = x->next;
	free(x->target);
	free(x->why);
	free(x);
}

static void parked_said(void *data, char *line)
{
	struct parked *x = data;
	char *rest = line + strcspn(line, " ");

	if (*rest != '\0')
		*rest++ = '\0';
	if (strcmp(line, "answers") == 0)
		log_notice("sweep %lld: its device answers again", (long long)x->sweep_id);
	server_event(x->daemon, line, x->sweep_id, rest);
}

static void parked_exited(void *data, int status)
{
	struct parked *x = data;
	struct daemon *d = x->daemon;
	int64_t sweep_id = x->sweep_id;

	log_info("sweep %lld: the worker that waited for its device ended: %s %d", (long long)sweep_id,
	         WIFSIGNALED(status) ? "signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	queue_readmit(&d->queue, x->target);
	parked_free(x);
	supervisor_parked_ended(d->supervisor, sweep_id, status);
}

void parked_take(struct daemon *d, struct process *p, int64_t sweep_id, const char *target, const char *why)
{
	struct parked *x = xcalloc(1, sizeof(*x));

	*x = (struct parked){
		.next = list, .daemon = d, .process = p, .sweep_id = sweep_id, .target = xstrdup(target), .why = xstrdup(why),
	};
	list = x;
	process_hand_on(p, parked_said, parked_exited, x);
}

const char *parked_why(int64_t sweep_id)
{
	for (const struct parked *x = list; x != NULL; x = x->next)
		if (sweep_id == 0 || x->sweep_id == sweep_id)
			return x->why;
	return NULL;
}

void parked_let_go(void)
{
	while (list != NULL) {
		process_let_go(list->process);
		parked_free(list);
	}
}
