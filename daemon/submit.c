/* SPDX-License-Identifier: MIT
 *
 * The request `submit`; see submit.h.
 *
 *   submit ─▶ child --check ─▶ checked ──(a device)──▶ child --describe guard ─▶ guarded ─▶ accept
 *                                 └──(image, directory, device of the running sweep)───────▶┘
 *
 * A client that leaves in between takes its plan with it: nobody would know the sweep's number.
 */
#include "daemon/submit.h"

#include <inttypes.h>
#include <malloc.h>
#include <string.h>

#include "daemon/child.h"
#include "daemon/daemon.h"
#include "daemon/server.h"
#include "daemon/supervisor.h"
#include "schema/base/log.h"
#include "schema/message.h"
#include "schema/plan.h"

#define CHECK_DEADLINE_MS 60000
#define GUARD_DEADLINE_MS 30000
#define PRIORITY_MAX      100

/* One plan on its way. */
struct submission {
	uint64_t client_id;
	struct peer peer;
	char *plan;        /* owned */
	bool strict;
	bool is_rehearsal;
	bool has_priority;
	int priority;
	char *options;     /* owned: JSON */
	/* by the check: */
	int64_t cells;
	char *submitter;   /* owned */
	char *name;        /* owned: of the device */
	bool erase;
};

static void submission_free(struct submission *sub)
{
	free(sub->plan);
	free(sub->options);
	free(sub->submitter);
	free(sub->name);
	free(sub);
	malloc_trim(0); /* a plan may be some MiB, and the next one may be days off */
}

static void submission_fail(struct daemon *d, struct submission *sub, const struct err *e, const struct diags *diags)
{
	struct client *c = server_client(d, sub->client_id);

	log_err(LOG_LEVEL_INFO, e, "a plan of uid %u is refused", (unsigned)sub->peer.uid);
	if (c != NULL)
		client_fail(c, e, diags);
	submission_free(sub);
}

/* ---- the last step: into the store ---- */

static int sweep_store(struct daemon *d, const struct submission *sub, const struct plan *plan, int64_t *ret_id,
                       struct err *e)
{
	AUTO_TEXT struct text target = { 0 };
	char size[SIZE_TEXT];
	const char *name = plan->target.kind == TARGET_IMAGE ? size_format(plan->target.image_bytes, size) :
	                                                       plan->target.name;
	int priority = sub->has_priority ? sub->priority : plan->priority;
	const struct sweep_new new = {
		.plan_source = sub->plan, .plan = plan, .host_id = d->host_id, .target = name, .cells = (uint64_t)sub->cells,
		.uid = sub->peer.uid, .gid = sub->peer.gid, .submitter = sub->submitter, .priority = priority,
		.strict = sub->strict, .options = sub->options,
	};

	if (d->queue.n >= QUEUE_MAX) {
		err_set_(e, ERR_BUSY, "the queue is full: %d sweeps have not ended", QUEUE_MAX);
		return err_hint(e, "cancel some of them");
	}
	if (store_sweep_submit(d->store, &new, ret_id, e) < 0)
		return -1;
	queue_target(plan->target.kind, name, &target);
	return queue_add(&d->queue, *ret_id, priority, target.s, QUEUE_WAITING, e);
}

/* The plan is read once more, now that it is known to be sound: the store takes its workloads from it. */
static int sweep_make(struct daemon *d, const struct submission *sub, struct diags *diags, int64_t *ret_id,
                      struct err *e)
{
	struct registry *registry = NULL;
	struct plan *plan = NULL;
	struct diags ignored;
	int status;

	diags_init(&ignored, "workloads");
	status = config_registry(d->config, &ignored, &registry, e);
	diags_done(&ignored);
	if (status < 0)
		return -1;
	if (plan_read(sub->plan, strlen(sub->plan), registry, diags, &plan) < 0) {
		status = err_set(e, ERR_USAGE, "the plan has errors");
	} else {
		if (sub->is_rehearsal)
			plan_rehearse(plan);
		status = sweep_store(d, sub, plan, ret_id, e);
	}
	plan_free(plan);
	registry_free(registry);
	return status;
}

static int reply_accepted(struct daemon *d, struct client *c, const struct submission *sub, int64_t id, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct json_object *m;
	struct sweep sweep;
	char uuid[UUID_TEXT];

	if (store_sweep_get(d->store, id, a, &sweep, e) < 0)
		return -1;
	log_info("sweep %" PRId64 ": '%s' by %s, %" PRId64 " cells on %s", id, sweep.plan_name, sweep.submitter, sub->cells,
	         sweep.target);
	server_event(d, "submitted", id, sweep.plan_name);
	m = json_object_new_object();
	json_object_object_add(m, "ok", json_object_new_boolean(1));
	json_object_object_add(m, "sweep", json_object_new_int64(id));
	json_object_object_add(m, "uuid", json_object_new_string(uuid_format(sweep.uuid, uuid)));
	json_object_object_add(m, "cells", json_object_new_int64(sub->cells));
	client_reply(c, m);
	return 0;
}

static void accept_plan(struct daemon *d, struct submission *sub)
{
	struct client *c = server_client(d, sub->client_id);
	struct diags diags;
	struct err e = { 0 };
	int64_t id;

	diags_init(&diags, "plan");
	if (c == NULL) {
		log_info("uid %u left before its plan was accepted: dropped", (unsigned)sub->peer.uid);
		submission_free(sub);
	} else if (d->is_stopping) {
		err_set_(&e, ERR_BUSY, "the daemon is stopping");
		submission_fail(d, sub, &e, NULL);
	} else if (sweep_make(d, sub, &diags, &id, &e) < 0 || reply_accepted(d, c, sub, id, &e) < 0) {
		submission_fail(d, sub, &e, &diags);
	} else {
		submission_free(sub);
		supervisor_go(d->supervisor);
	}
	diags_done(&diags);
}

/* ---- the children's answers ---- */

/* An answer that is an error is one for the client; true if it was. */
static bool answer_refuses(struct daemon *d, struct submission *sub, struct json_object *answer,
                           const struct err *failed)
{
	struct diags diags;
	struct err e = { 0 };
	bool is_refused;

	if (failed != NULL) {
		submission_fail(d, sub, failed, NULL);
		return true;
	}
	diags_init(&diags, "plan");
	is_refused = message_reply_check(answer, &diags, &e) < 0;
	if (is_refused)
		submission_fail(d, sub, &e, &diags);
	diags_done(&diags);
	return is_refused;
}

/* What a sweep that runs has made of its device (a mount, a filesystem) is no objection: it will be gone when this
 * one's turn comes, and the guard asks again then. */
static bool is_device_of_running(const struct daemon *d, const struct submission *sub)
{
	const struct queue_entry *running = queue_running(&d->queue);
	AUTO_TEXT struct text target = { 0 };

	queue_target(TARGET_DEVICE, sub->name, &target);
	return running != NULL && strcmp(running->target, target.s) == 0;
}

static void guarded(struct daemon *d, struct json_object *answer, const struct err *failed, void *data)
{
	struct submission *sub = data;

	if (is_device_of_running(d, sub)) /* its turn came while the guard looked */
		accept_plan(d, sub);
	else if (!answer_refuses(d, sub, answer, failed))
		accept_plan(d, sub);
}

static void guard_ask(struct daemon *d, struct submission *sub)
{
	const char *const args[] = { "--describe", "guard", sub->name, sub->erase ? "erase" : NULL, NULL };
	struct err e;

	if (child_start(d, "the look at the device", args, NULL, 0, GUARD_DEADLINE_MS, guarded, sub, &e) < 0)
		submission_fail(d, sub, &e, NULL);
}

static void checked(struct daemon *d, struct json_object *answer, const struct err *failed, void *data)
{
	struct submission *sub = data;

	if (answer_refuses(d, sub, answer, failed))
		return;
	sub->cells = message_integer_or(answer, "cells", 0);
	sub->submitter = xstrdup(message_string_or(answer, "submitter", ""));
	sub->name = xstrdup(message_string_or(answer, "name", ""));
	sub->erase = message_bool_or(answer, "erase", false);
	if (strcmp(message_string_or(answer, "kind", ""), "device") == 0 && !is_device_of_running(d, sub))
		guard_ask(d, sub);
	else
		accept_plan(d, sub);
}

/* ---- the request ---- */

static int options_read(struct json_object *request, struct submission *sub, struct err *e)
{
	struct json_object *options;
	int64_t priority;

	if (!json_object_object_get_ex(request, "options", &options)) {
		sub->options = xstrdup("{}");
		return 0;
	}
	if (!json_object_is_type(options, json_type_object))
		return err_set(e, ERR_PROTOCOL, "'options' in the message is not an object");
	sub->options = xstrdup(json_object_to_json_string_ext(options, JSON_C_TO_STRING_PLAIN));
	sub->strict = message_bool_or(options, "strict", false);
	sub->is_rehearsal = message_bool_or(options, "rehearse", false);
	sub->has_priority = json_object_object_get_ex(options, "priority", NULL);
	if (!sub->has_priority)
		return 0;
	if (message_integer(options, "priority", &priority, e) < 0)
		return -1;
	if (priority < -PRIORITY_MAX || priority > PRIORITY_MAX)
		return err_set(e, ERR_USAGE, "the priority %" PRId64 " is not within -%d and %d", priority, PRIORITY_MAX, PRIORITY_MAX);
	sub->priority = (int)priority;
	return 0;
}

static int check_ask(struct daemon *d, struct submission *sub, struct json_object *plan, struct err *e)
{
	char uid[16];
	const char *const args[] = { "--check", uid, sub->is_rehearsal ? "rehearse" : NULL, NULL };

	snprintf(uid, sizeof(uid), "%u", (unsigned)sub->peer.uid);
	return child_start(d, "the check of the plan", args, json_object_get_string(plan),
	                   (size_t)json_object_get_string_len(plan), CHECK_DEADLINE_MS, checked, sub, e);
}

int submit(struct daemon *d, struct client *c, struct json_object *request, struct err *e)
{
	struct json_object *plan;
	struct submission *sub;

	if (!json_object_object_get_ex(request, "plan", &plan) || !json_object_is_type(plan, json_type_string))
		return err_set(e, ERR_PROTOCOL, "the message has no text 'plan'");
	if (d->is_stopping)
		return err_set(e, ERR_BUSY, "the daemon is stopping");
	sub = xcalloc(1, sizeof(*sub));
	sub->client_id = client_id(c);
	sub->peer = *client_peer(c);
	sub->plan = xstrdup(json_object_get_string(plan));
	if (options_read(request, sub, e) == 0 && check_ask(d, sub, plan, e) == 0)
		return 0;
	submission_free(sub);
	return -1;
}
