/* SPDX-License-Identifier: MIT
 *
 * What on this host is missing or in the way, and how to mend it: the checks of `iosweep doctor`.  Reads only.
 */
#ifndef IOSWEEP_DOCTOR_H
#define IOSWEEP_DOCTOR_H

#include "schema/config.h"

enum doctor_state { DOCTOR_OK, DOCTOR_WARNING, DOCTOR_PROBLEM };
const char *doctor_state_name(enum doctor_state state);

/* Called once a check; hint is "" where all is well. */
typedef void (*doctor_cb)(void *data, const char *name, enum doctor_state state, const char *text, const char *hint);
void doctor_examine(const struct config *c, doctor_cb report, void *data);

#endif
