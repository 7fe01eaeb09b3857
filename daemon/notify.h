/* SPDX-License-Identifier: MIT
 *
 * What systemd is told, if it started us: sd_notify(3).  Without NOTIFY_SOCKET all of this does nothing, and no timer
 * runs.
 */
#ifndef IOSWEEP_NOTIFY_H
#define IOSWEEP_NOTIFY_H

#include <uv.h>

void notify_init(uv_loop_t *loop); /* starts the watchdog's timer where WatchdogSec= is set */
void notify_ready(void);
void notify_status(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void notify_stopping(void);
void notify_done(void);            /* closes the timer; the loop must run once more */

#endif
