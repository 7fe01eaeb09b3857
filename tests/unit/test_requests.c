/* SPDX-License-Identifier: MIT
 *
 * The requests, on a real store and a real queue; socket, workers and children are stand-ins that note what is asked of
 * them.  Who may do what is the table at the end.
 */
// LINK: daemon/requests.c daemon/queue.c
#include "tests/unit/store_fixture.h"

#include "daemon/child.h"
#include "daemon/daemon.h"
#include "daemon/requests.h"
#include "daemon/server.h"
#include "daemon/submit.h"
#include "daemon/supervisor.h"
#include "schema/message.h"

/* ---- stand-ins ---- */

struct client {
	struct peer peer;
	struct text reply; /* what was sent, one line each */
	bool is_dropped;
	int64_t watched;   /* -1: does not watch */
};

static struct client client;
static struct {
	int64_t running;   /* sweep of the worker that runs */
	const char *hangs; /* why its device hangs, or NULL */
	int64_t told;      /* of the last supervisor_tell */
	enum wanted wanted;
	char by[64];
	int n_go;
	int64_t undone[4];
	size_t n_undone;
	supervisor_cb quiet;
	void *quiet_data;
	struct text asked; /* of children */
	child_cb answer;
	void *answer_data;
} noted;

const struct peer *client_peer(const struct client *c)
{
	return &c->peer;
}

uint64_t client_id(const struct client *c)
{
	(void)c;
	return 1;
}

struct client *server_client(struct daemon *d, uint64_t id)
{
	(void)d;
	return id == 1 ? &client : NULL;
}

void client_reply(struct client *c, struct json_object *m)
{
	message_encode(m, &c->reply);
	json_object_put(m);
}

void client_fail(struct client *c, const struct err *e, const struct diags *diags)
{
	client_reply(c, message_error(e, diags));
}

void client_drop(struct client *c, const struct err *e)
{
	client_fail(c, e, NULL);
	c->is_dropped = true;
}

void client_watch(struct client *c, int64_t sweep_id)
{
	c->watched = sweep_id;
}

void server_event(struct daemon *d, const char *kind, int64_t sweep_id, const char *text)
{
	(void)d, (void)kind, (void)sweep_id, (void)text;
}

int64_t supervisor_sweep(const struct supervisor *s)
{
	(void)s;
	return noted.running;
}

const char *supervisor_hangs(const struct supervisor *s, int64_t sweep_id)
{
	(void)s;
	return sweep_id == 0 || sweep_id == noted.running ? noted.hangs : NULL;
}

void supervisor_go(struct supervisor *s)
{
	(void)s;
	noted.n_go++;
}

void supervisor_tell(struct supervisor *s, int64_t sweep_id, enum wanted wanted, const char *by)
{
	(void)s;
	noted.told = sweep_id;
	noted.wanted = wanted;
	snprintf(noted.by, sizeof(noted.by), "%s", by);
}

void supervisor_undo(struct supervisor *s, int64_t sweep_id)
{
	(void)s;
	noted.undone[noted.n_undone++] = sweep_id;
}

void supervisor_when_quiet(struct supervisor *s, supervisor_cb cb, void *data)
{
	(void)s;
	noted.quiet = cb;
	noted.quiet_data = data;
}

int submit(struct daemon *d, struct client *c, struct json_object *request, struct err *e)
{
	(void)d, (void)c, (void)request;
	return err_set(e, ERR_USAGE, "submit was asked");
}

int child_start(struct daemon *d, const char *what, const char *const *args, const char *input, size_t n_input,
                uint64_t deadline_ms, child_cb cb, void *data, struct err *e)
{
	(void)d, (void)what, (void)input, (void)n_input, (void)deadline_ms, (void)e;
	for (size_t i = 0; args[i] != NULL; i++)
		text_printf(&noted.asked, "%s%s", i > 0 ? " " : "", args[i]);
	noted.answer = cb;
	noted.answer_data = data;
	return 0;
}

/* ---- the fixture ---- */

static struct daemon daemon_here;
static struct config config_here = { .state = "/var/lib/iosweep", .socket = "/run/s", .file = "/etc/c", .group = "iosweep" };

static struct daemon *start(struct fixture *f)
{
	daemon_here.config = &config_here;
	daemon_here.store = f->s;
	queue_done(&daemon_here.queue);
	text_done(&noted.asked);
	memset(&noted, 0, sizeof(noted));
	queue_add(&daemon_here.queue, f->sweep, 0, "device 'md1120'", QUEUE_WAITING, NULL);
	return &daemon_here;
}

static void end(void)
{
	queue_done(&daemon_here.queue);
	text_done(&noted.asked);
	text_done(&client.reply);
}

/* One request of a user; the reply is in client.reply. */
static const char *ask(struct daemon *d, uid_t uid, const char *line)
{
	text_done(&client.reply);
	client = (struct client){ .peer = { .uid = uid, .is_member = true }, .watched = -1 };
	request_serve(d, &client, line, strlen(line));
	return text_str(&client.reply);
}

static const char *state_of(struct fixture *f, int64_t id)
{
	AUTO_FREE char *sql = xasprintf("SELECT state || ':' || wanted || ':' || reason FROM sweep WHERE id = %lld",
	                                (long long)id);

	return fixture_sql(f, sql);
}

/* As the supervisor does when a worker starts. */
static void run(struct fixture *f, struct daemon *d)
{
	OK(store_sweep_set_state(f->s, f->sweep, SWEEP_RUNNING, "", &f->e));
	queue_find(&d->queue, f->sweep)->state = QUEUE_RUNNING;
	noted.running = f->sweep;
}

/* ---- tests ---- */

static void hello_tells_where_the_store_is(void **state)
{
	struct daemon *d = start(*state);
	AUTO_FREE char *expected = NULL;

	noted.running = 7;
	expected = xasprintf("{\"ok\":true,\"version\":1,\"program\":\"iosweepd " IOSWEEP_VERSION
	                     "\",\"pid\":%d,\"state\":"
	                     "\"/var/lib/iosweep\",\"db\":\"/var/lib/iosweep/iosweep.db\",\"running\":7}\n",
	                     (int)getpid());
	assert_string_equal(ask(d, 1000, "{\"version\":1,\"request\":\"hello\"}"), expected);
	assert_false(client.is_dropped);
	end();
}

static void what_is_no_request_is_dropped(void **state)
{
	struct daemon *d = start(*state);
	static const char *const lines[] = {
		"", "x", "[]", "{}", "{\"version\":1}", "{\"request\":\"hello\"}", "{\"version\":9,\"request\":\"hello\"}",
		"{\"version\":1,\"request\":\"\"}", "{\"version\":1,\"request\":\"HELLO\"}", "{\"version\":\"1\",\"request\":\"hello\"}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		assert_non_null(strstr(ask(d, 0, lines[i]), "\"kind\":\"protocol\""));
		assert_true(client.is_dropped);
	}
	end();
}

static void a_waiting_sweep_is_cancelled_at_once(void **state)
{
	struct fixture *f = *state;
	struct daemon *d = start(f);

	assert_string_equal(ask(d, 1000, "{\"version\":1,\"request\":\"cancel\",\"sweep\":1}"),
	                    "{\"ok\":true,\"sweep\":1,\"state\":\"cancelled\"}\n");
	assert_string_equal(state_of(f, 1), "cancelled::by ann");
	assert_null(queue_find(&d->queue, 1));
	assert_int_equal(noted.n_go, 1);
	assert_non_null(strstr(ask(d, 0, "{\"version\":1,\"request\":\"cancel\",\"sweep\":1}"), "sweep 1 is over: cancelled"));
	assert_non_null(strstr(ask(d, 0, "{\"version\":1,\"request\":\"pause\",\"sweep\":1}"), "sweep 1 is over: cancelled"));
	assert_non_null(strstr(ask(d, 0, "{\"version\":1,\"request\":\"resume\",\"sweep\":1}"), "sweep 1 is over: cancelled"));
	end();
}

static void a_running_sweep_is_told_and_changes_later(void **state)
{
	struct fixture *f = *state;
	struct daemon *d = start(f);

	run(f, d);
	assert_string_equal(ask(d, 0, "{\"version\":1,\"request\":\"pause\",\"sweep\":\"last\"}"),
	                    "{\"ok\":true,\"sweep\":1,\"state\":\"running\"}\n");
	assert_string_equal(state_of(f, 1), "running:pause:");
	assert_int_equal(noted.wanted, WANT_PAUSE);
	assert_string_equal(noted.by, "by root");
	ask(d, 1000, "{\"version\":1,\"request\":\"resume\",\"sweep\":1}");
	assert_string_equal(state_of(f, 1), "running::");
	ask(d, 1000, "{\"version\":1,\"request\":\"cancel\",\"sweep\":1}");
	assert_string_equal(state_of(f, 1), "running:cancel:");
	assert_int_equal(noted.wanted, WANT_CANCEL);
	assert_string_equal(noted.by, "by ann");
	assert_non_null(strstr(ask(d, 1000, "{\"version\":1,\"request\":\"resume\",\"sweep\":1}"), "\"kind\":\"busy\""));
	end();
}

static void a_sweep_whose_device_hangs_is_told_although_it_is_paused(void **state)
{
	struct fixture *f = *state;
	struct daemon *d = start(f);
	const char *reply;

	run(f, d);
	OK(store_sweep_set_state(f->s, f->sweep, SWEEP_PAUSED, REASON_HANGS "x", &f->e));
	noted.hangs = "'/dev/x' does not answer";
	reply = ask(d, 1000, "{\"version\":1,\"request\":\"resume\",\"sweep\":1}");
	assert_non_null(strstr(reply, "'/dev/x' does not answer"));
	ask(d, 1000, "{\"version\":1,\"request\":\"pause\",\"sweep\":1}");
	assert_string_equal(state_of(f, 1), "paused:pause:device hangs: x");
	assert_non_null(strstr(ask(d, 0, "{\"version\":1,\"request\":\"stop\"}"), "does not answer"));
	assert_int_equal(noted.wanted, WANT_STOP);
	ask(d, 1000, "{\"version\":1,\"request\":\"cancel\",\"sweep\":1}");
	assert_string_equal(state_of(f, 1), "paused:cancel:device hangs: x");
	assert_int_equal(noted.wanted, WANT_CANCEL);
	end();
}

static void a_sweep_that_lost_its_device_is_held_or_queued_at_once(void **state)
{
	struct fixture *f = *state;
	struct daemon *d = start(f);

	OK(store_sweep_set_state(f->s, f->sweep, SWEEP_PAUSED, REASON_LOST "x", &f->e));
	queue_hold(queue_find(&d->queue, f->sweep), true);
	ask(d, 1000, "{\"version\":1,\"request\":\"pause\",\"sweep\":1}");
	assert_string_equal(state_of(f, 1), "paused::by ann");
	assert_false(queue_find(&d->queue, f->sweep)->awaits_device);
	OK(store_sweep_set_state(f->s, f->sweep, SWEEP_PAUSED, REASON_LOST "x", &f->e));
	queue_hold(queue_find(&d->queue, f->sweep), true);
	assert_string_equal(ask(d, 0, "{\"version\":1,\"request\":\"stop\"}"), "");
	noted.quiet(d, noted.quiet_data);
	assert_non_null(strstr(text_str(&client.reply), "\"paused\":[1]"));
	assert_string_equal(state_of(f, 1), "paused::by root");
	assert_false(queue_find(&d->queue, f->sweep)->awaits_device);
	end();
}

static void a_paused_sweep_waits_again_after_resume(void **state)
{
	struct fixture *f = *state;
	struct daemon *d = start(f);

	ask(d, 1000, "{\"version\":1,\"request\":\"pause\",\"sweep\":1}");
	assert_string_equal(state_of(f, 1), "paused::by ann");
	assert_null(queue_next(&d->queue));
	queue_find(&d->queue, 1)->crashes = 4;
	assert_string_equal(ask(d, 1000, "{\"version\":1,\"request\":\"resume\",\"sweep\":1}"),
	                    "{\"ok\":true,\"sweep\":1,\"state\":\"queued\"}\n");
	assert_int_equal(queue_next(&d->queue)->sweep_id, 1);
	assert_int_equal(queue_find(&d->queue, 1)->crashes, 0);
	end();
}

static void a_sweep_resumed_while_its_worker_still_ends_stays_resumed(void **state)
{
	struct fixture *f = *state;
	struct daemon *d = start(f);

	run(f, d);
	ask(d, 1000, "{\"version\":1,\"request\":\"pause\",\"sweep\":1}");
	OK(store_sweep_set_state(f->s, 1, SWEEP_PAUSED, "paused by request", &f->e)); /* by the worker, which has not exited */
	ask(d, 1000, "{\"version\":1,\"request\":\"resume\",\"sweep\":1}");
	assert_string_equal(state_of(f, 1), "queued::");
	end();
}

static void a_sweep_on_a_target_put_aside_is_not_resumed(void **state)
{
	struct fixture *f = *state;
	struct daemon *d = start(f);

	ask(d, 0, "{\"version\":1,\"request\":\"pause\",\"sweep\":1}");
	queue_put_aside(&d->queue, "device 'md1120'");
	assert_string_equal(ask(d, 0, "{\"version\":1,\"request\":\"resume\",\"sweep\":1}"),
	                    "{\"ok\":false,\"error\":{\"kind\":\"refused\",\"text\":\"device 'md1120' is put aside: what an earlier "
	                    "sweep changed could not be put back\",\"hint\":\"'iosweep restore' tries again and says what stands in "
	                    "the way\"}}\n");
	assert_string_equal(state_of(f, 1), "paused::by root");
	end();
}

static void stop_ends_what_runs_and_holds_what_waits(void **state)
{
	struct fixture *f = *state;
	struct daemon *d = start(f);

	queue_add(&d->queue, fixture_submit(f, 0), 0, "image", QUEUE_WAITING, NULL);
	run(f, d);
	assert_string_equal(ask(d, 1000, "{\"version\":1,\"request\":\"stop\"}"), ""); /* not before all is undone */
	assert_string_equal(state_of(f, 1), "running:stop:");
	assert_string_equal(state_of(f, 2), "paused::by ann");
	assert_int_equal(noted.wanted, WANT_STOP);
	noted.quiet(d, noted.quiet_data);
	assert_string_equal(text_str(&client.reply), "{\"ok\":true,\"sweep\":1,\"paused\":[1,2]}\n");
	end();
}

static void stop_leaves_what_waits_for_others(void **state)
{
	struct fixture *f = *state;
	struct daemon *d = start(f);

	ask(d, 2000, "{\"version\":1,\"request\":\"stop\"}");
	assert_string_equal(state_of(f, 1), "queued::");
	noted.quiet(d, noted.quiet_data);
	assert_string_equal(text_str(&client.reply), "{\"ok\":true,\"sweep\":0,\"paused\":[]}\n");
	end();
}

static void restore_replays_what_is_pending_and_says_what_is_left(void **state)
{
	struct fixture *f = *state;
	struct daemon *d = start(f);
	const struct undo_entry u = {
		.boot_id = "b", .step = "queue", .kind = "sysfs", .object = "/sys/x", .identity = "", .original = "none",
	};
	int64_t id;

	OK(store_undo_add(f->s, f->sweep, &u, &id, &f->e));
	assert_string_equal(ask(d, 1000, "{\"version\":1,\"request\":\"restore\",\"dry-run\":true}"),
	                    "{\"ok\":true,\"entries\":[{\"id\":1,\"sweep\":1,\"kind\":\"sysfs\",\"object\":\"/sys/x\",\"original\":"
	                    "\"none\",\"state\":\"pending\"}]}\n");
	assert_int_equal(noted.n_undone, 0);
	assert_string_equal(ask(d, 0, "{\"version\":1,\"request\":\"restore\"}"), "");
	assert_int_equal(noted.n_undone, 1);
	assert_int_equal(noted.undone[0], 1);
	OK(store_undo_finish(f->s, id, "done", "", &f->e));
	noted.quiet(d, noted.quiet_data);
	assert_non_null(strstr(text_str(&client.reply), "\"state\":\"done\",\"reason\":\"\""));
	OK(store_undo_add(f->s, f->sweep, &u, &id, &f->e));
	ask(d, 0, "{\"version\":1,\"request\":\"restore\"}");
	noted.quiet(d, noted.quiet_data);
	assert_non_null(strstr(text_str(&client.reply), "\"state\":\"failed\",\"reason\":\"see the sweep's events"));
	end();
}

static void restore_leaves_a_running_sweep_alone(void **state)
{
	struct fixture *f = *state;
	struct daemon *d = start(f);

	run(f, d);
	assert_non_null(strstr(ask(d, 0, "{\"version\":1,\"request\":\"restore\"}"),
	                       "sweep 1 is running, and puts its own changes back"));
	assert_int_equal(noted.n_undone, 0);
	end();
}

static void the_report_of_a_child_is_handed_on(void **state)
{
	struct daemon *d = start(*state);
	struct json_object *answer = json_object_new_object();
	struct err e = { 0 };

	json_object_object_add(answer, "ok", json_object_new_boolean(1)); /* a child's refusal is one of the daemon's, too */
	json_object_object_add(answer, "checks", json_object_new_array());
	assert_string_equal(ask(d, 1000, "{\"version\":1,\"request\":\"doctor\"}"), "");
	assert_string_equal(text_str(&noted.asked), "--describe doctor");
	noted.answer(d, answer, NULL, noted.answer_data);
	assert_string_equal(text_str(&client.reply), "{\"ok\":true,\"report\":{\"ok\":true,\"checks\":[]}}\n");
	ask(d, 1000, "{\"version\":1,\"request\":\"devices\"}");
	err_set_(&e, ERR_TIMEOUT, "the look at this host took longer than 30 s");
	noted.answer(d, NULL, &e, noted.answer_data);
	assert_non_null(strstr(text_str(&client.reply), "\"kind\":\"timeout\""));
	json_object_put(answer);
	end();
}

static void watch_is_for_one_sweep_or_all(void **state)
{
	struct daemon *d = start(*state);

	assert_string_equal(ask(d, 1000, "{\"version\":1,\"request\":\"watch\"}"), "{\"ok\":true}\n");
	assert_int_equal(client.watched, 0);
	ask(d, 1000, "{\"version\":1,\"request\":\"watch\",\"sweep\":\"last\"}");
	assert_int_equal(client.watched, 1);
	assert_non_null(strstr(ask(d, 1000, "{\"version\":1,\"request\":\"watch\",\"sweep\":\"last~3\"}"), "not-found"));
	assert_int_equal(client.watched, -1);
	end();
}

/* Sweep 1 belongs to uid 1000. */
static const struct right {
	const char *request;
	uid_t uid;
	bool is_running, may;
} rights[] = {
	{ "cancel", 0, false, true },     { "cancel", 1000, false, true },   { "cancel", 2000, false, false },
	{ "cancel", 2000, true, false },  { "pause", 1000, true, true },     { "pause", 2000, true, false },
	{ "resume", 2000, false, false }, { "stop", 0, true, true },         { "stop", 1000, true, true },
	{ "stop", 2000, true, false },    { "restore", 0, false, true },     { "restore", 1000, false, false },
	{ "hello", 2000, true, true },    { "devices", 2000, true, true },   { "doctor", 2000, true, true },
	{ "watch", 2000, true, true },
};

static void only_root_and_the_submitter_steer_a_sweep(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rights); i++) {
		struct fixture *f = *state;
		struct daemon *d = start(f);
		AUTO_FREE char *line = xasprintf("{\"version\":1,\"request\":\"%s\"%s}", rights[i].request,
		                                 strchr("cpr", rights[i].request[0]) != NULL &&
		                                 strcmp(rights[i].request, "restore") != 0 ? ",\"sweep\":1" : "");
		bool is_refused;

		OK(store_sweep_set_state(f->s, 1, SWEEP_QUEUED, "", &f->e));
		OK(store_sweep_set_wanted(f->s, 1, WANT_NOTHING, &f->e));
		if (rights[i].is_running)
			run(f, d);
		is_refused = strstr(ask(d, rights[i].uid, line), "\"kind\":\"refused\"") != NULL;
		if (is_refused == rights[i].may)
			fail_msg("%s by %u: %s", rights[i].request, (unsigned)rights[i].uid, text_str(&client.reply));
		if (noted.quiet != NULL)
			noted.quiet(d, noted.quiet_data);
		if (noted.answer != NULL)
			noted.answer(d, NULL, &f->e, noted.answer_data);
		end();
	}
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		ROW(hello_tells_where_the_store_is),
		ROW(what_is_no_request_is_dropped),
		ROW(a_waiting_sweep_is_cancelled_at_once),
		ROW(a_running_sweep_is_told_and_changes_later),
		ROW(a_sweep_whose_device_hangs_is_told_although_it_is_paused),
		ROW(a_sweep_that_lost_its_device_is_held_or_queued_at_once),
		ROW(a_paused_sweep_waits_again_after_resume),
		ROW(a_sweep_resumed_while_its_worker_still_ends_stays_resumed),
		ROW(a_sweep_on_a_target_put_aside_is_not_resumed),
		ROW(stop_ends_what_runs_and_holds_what_waits),
		ROW(stop_leaves_what_waits_for_others),
		ROW(restore_replays_what_is_pending_and_says_what_is_left),
		ROW(restore_leaves_a_running_sweep_alone),
		ROW(the_report_of_a_child_is_handed_on),
		ROW(watch_is_for_one_sweep_or_all),
		ROW(only_root_and_the_submitter_steer_a_sweep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
