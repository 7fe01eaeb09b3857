/* SPDX-License-Identifier: MIT
 *
 * Hints to the daemon and the commits that they wait for.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/worker/record.h"

struct fixture {
	struct worker w;
	int daemon_fd;
	char dir[64];
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	AUTO_FREE char *path = NULL;
	int ends[2];

	snprintf(f->dir, sizeof(f->dir), "/tmp/iosweep-test.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	path = xasprintf("%s/iosweep.db", f->dir);
	assert_int_equal(store_open(path, STORE_WRITE, &f->w.store, NULL), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	f->daemon_fd = ends[0];
	f->w.line_fd = ends[1];
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *remove = xasprintf("%s/iosweep.db", f->dir);

	store_close(f->w.store);
	text_done(&f->w.held_hints);
	close(f->daemon_fd);
	close(f->w.line_fd);
	unlink(remove);
	for (size_t i = 0; i < 2; i++) {
		AUTO_FREE char *beside = xasprintf("%s%s", remove, i == 0 ? "-wal" : "-shm");

		unlink(beside);
	}
	rmdir(f->dir);
	free(f);
	return 0;
}

static const char *told(const struct fixture *f)
{
	static char buf[200];
	ssize_t n = recv(f->daemon_fd, buf, sizeof(buf) - 1, MSG_DONTWAIT);

	buf[n > 0 ? n : 0] = '\0';
	return buf;
}

static void a_hint_waits_for_the_commit_of_what_it_tells(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(record_batch(&f->w, false, NULL), 0);
	record_hint(&f->w, "trial", "cell %d: ok", 1);
	assert_string_equal(told(f), "");
	assert_int_equal(record_commit(&f->w, NULL), 0);
	assert_string_equal(told(f), "trial cell 1: ok\n");
	record_hint(&f->w, "cell", "1");
	assert_string_equal(told(f), "cell 1\n");
}

/* Whoever saw it would believe in a trial that the next power cut undoes. */
static void a_hint_whose_commit_fails_is_not_sent(void **state)
{
	struct rlimit limit, before;
	struct fixture *f = *state;
	uint8_t uuid[16] = { 1 };
	struct err e;
	int64_t id;
	int rc;

	assert_int_equal(record_batch(&f->w, false, NULL), 0);
	assert_int_equal(store_host(f->w.store, uuid, "here", &id, NULL), 0);
	record_hint(&f->w, "trial", "cell %d: ok", 1);
	/* as on a disk that has gone: the log cannot be written to */
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	limit = (struct rlimit){ 0, before.rlim_max };
	setrlimit(RLIMIT_FSIZE, &limit);
	rc = record_commit(&f->w, &e);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(rc, -1);
	assert_string_equal(told(f), "");
	record_hint(&f->w, "paused", "why");
	assert_string_equal(told(f), "paused why\n");
}

static void a_line_does_not_wait(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(record_batch(&f->w, false, NULL), 0);
	record_line(&f->w, "hangs", "why");
	assert_string_equal(told(f), "hangs why\n");
	assert_int_equal(record_commit(&f->w, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_hint_waits_for_the_commit_of_what_it_tells, setup, teardown),
		cmocka_unit_test_setup_teardown(a_hint_whose_commit_fails_is_not_sent, setup, teardown),
		cmocka_unit_test_setup_teardown(a_line_does_not_wait, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
