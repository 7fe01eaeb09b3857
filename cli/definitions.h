/* SPDX-License-Identifier: MIT
 *
 * The workload definitions as the host's daemon would see them: built in, and from the directories of its
 * configuration.
 */
#ifndef IOSWEEP_CLI_DEFINITIONS_H
#define IOSWEEP_CLI_DEFINITIONS_H

#include "schema/workload.h"

struct definitions {
	struct registry *registry;
	size_t n_bad; /* left out; each was named on stderr */
};
int definitions_open(struct definitions *d, struct err *e);
void definitions_close(struct definitions *d);
#define AUTO_DEFINITIONS __attribute__((cleanup(definitions_close)))

#endif
