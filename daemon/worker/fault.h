/* SPDX-License-Identifier: MIT
 *
 * Faults on demand for the crash tests, in builds made with `make TESTING=1` only; in the product these are empty.
 *
 *   IOSWEEP_TEST_FAULT=STEP:PHASE:ACTION   STEP   a name of the step table, or "trial", "prepare", "record"
 *                                          PHASE  before during after, or undo-before undo-during undo-after
 *                                          ACTION kill    as by SIGKILL
 *                                                 term    SIGTERM to itself, then goes on
 *                                                 hang    stands still until somebody kills it
 *                                                 exit    ends at once, undoing nothing
 *                                                 fail    the step fails as if its tool had
 *                                                 wait    goes on when FILE.go is there, or after 30 s
 *                                                 tool-fail tool-hang tool-flood   its next tool is another program:
 *                                                         false; sleep, with a deadline of 1 s; dd printing 64 MiB
 *   IOSWEEP_TEST_FAULT_LOG=FILE            made when the fault is reached, once: a file that is there switches the fault off
 *
 * "during" is the first moment in the step when something is half done: a journal entry committed, or a tool running.
 */
#ifndef IOSWEEP_FAULT_H
#define IOSWEEP_FAULT_H

#include <stdbool.h>

#include "daemon/worker/tool.h"
#include "schema/base/err.h"

#ifdef IOSWEEP_TESTING
/* A step begins and ends; is_undo: its undo.  0, or -1 if the step is to fail. */
int fault_before(const char *step, bool is_undo, struct err *e);
int fault_after(const char *step, bool is_undo, struct err *e);
void fault_during(void);
/* The tools to run in place of n others: themselves, or the one that the fault wants. */
const struct tool *fault_tools(const struct tool *tools, size_t n);
#else
static inline int fault_before(const char *step, bool is_undo, struct err *e)
{
	(void)step;
	(void)is_undo;
	(void)e;
	return 0;
}
static inline int fault_after(const char *step, bool is_undo, struct err *e)
{
	return fault_before(step, is_undo, e);
}
static inline void fault_during(void)
{
}
static inline const struct tool *fault_tools(const struct tool *tools, size_t n)
{
	(void)n;
	return tools;
}
#endif

#endif
