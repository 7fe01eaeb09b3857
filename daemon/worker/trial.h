/* SPDX-License-Identifier: MIT
 *
 * One trial: caches dropped, machine quiet, before / run / after, numbers taken out, flags found, all of it committed.
 */
#ifndef IOSWEEP_TRIAL_H
#define IOSWEEP_TRIAL_H

#include "daemon/worker/bench.h"

enum trial_verdict { TRIAL_OK, TRIAL_FAILED, TRIAL_INFEASIBLE };

/* How a trial ended for the cell that it belongs to. */
struct trial_report {
	enum trial_verdict verdict;
	const char *reason; /* arena of the cell; "" if ok */
};

/* Runs and records repetition `repetition` of an open bench.  is_followed: another trial begins at once, with which
 * this one's record shares a commit (record.h).  0 and a report, or -1 with what ends more than this
 * trial: ERR_CANCELLED, ERR_DEVICE_LOST (the trial is then recorded as interrupted), and what the store fails with. */
int trial_run(struct bench *b, int repetition, bool is_followed, int64_t environment_id, struct trial_report *ret,
              struct err *e);

/* Records a repetition that could not even begin (what `prepare` failed with). */
int trial_record_failure(struct bench *b, int repetition, int64_t environment_id, const struct phase_end *phase,
                         const struct err *why, struct trial_report *ret, struct err *e);

#endif
