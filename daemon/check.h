/* SPDX-License-Identifier: MIT
 *
 * The check role of iosweepd: reads a stranger's plan in a process of its own, without privilege and with limits, so
 * that neither a hostile text nor a matrix of 10^8 cells can harm or hold up the daemon.
 */
#ifndef IOSWEEP_CHECK_H
#define IOSWEEP_CHECK_H

#include <stdint.h>

#include "schema/base/err.h"
#include "schema/config.h"
#include "schema/model.h"

/* Entry of the role: iosweepd --config FILE --check UID [rehearse].  The plan comes on standard input; one JSON
 * object goes to standard output:
 * {"ok":true,"cells":N,"submitter":LOGIN,"kind":"device","name":"md1120","erase":true,"bytes":0}, or an error as in
 * message.h.  Returns the exit status. */
int check_main(const char *config_file, uint32_t uid, bool rehearse);

/* What must be known of the host for a target; gathered before the plan is read. */
struct check_facts {
	int64_t images_free_bytes; /* -1: unknown */
	const bool *is_directory;  /* of config->directories[i] */
};
/* Whether the host offers this target.  Pure.  ERR_NOT_FOUND, ERR_REFUSED or ERR_NO_SPACE with a hint. */
int check_target(const struct target *t, const struct config *c, const struct check_facts *facts, struct err *e);

#endif
