/* SPDX-License-Identifier: MIT
 *
 * What systemd is told; see notify.h.  The watchdog is fed from the loop: a loop that hangs is what it is to find.
 */
#include "daemon/notify.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>

#include "schema/base/mem.h"

static uv_timer_t watchdog;
static bool has_watchdog;

static void watchdog_feed(uv_timer_t *timer)
{
	(void)timer;
	sd_notify(0, "WATCHDOG=1");
}

void notify_init(uv_loop_t *loop)
{
	uint64_t usec;

	if (sd_watchdog_enabled(0, &usec) <= 0)
		return;
	has_watchdog = true;
	uv_timer_init(loop, &watchdog);
	uv_timer_start(&watchdog, watchdog_feed, usec / 2000, usec / 2000); /* half of it: sd_watchdog_enabled(3) */
}

void notify_ready(void)
{
	sd_notify(0, "READY=1");
}

void notify_status(const char *fmt, ...)
{
	AUTO_FREE char *text = NULL;
	va_list ap;

	if (getenv("NOTIFY_SOCKET") == NULL)
		return;
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	sd_notifyf(0, "STATUS=%s", text);
}

void notify_stopping(void)
{
	sd_notify(0, "STOPPING=1");
}

void notify_done(void)
{
	if (has_watchdog)
		uv_close((uv_handle_t *)&watchdog, NULL);
}
