/* SPDX-License-Identifier: MIT
 *
 * Which host this is: an id that stays, and the name it has today.  Daemon and worker must agree on it.
 */
#ifndef IOSWEEP_HOST_H
#define IOSWEEP_HOST_H

#include <stdint.h>

#include "schema/base/err.h"

/* ret_uuid: made of /etc/machine-id by a hash, since that id itself should not be shown to others (machine-id(5)); on a
 * host without one (a container image), a random one kept in STATE/host-id.  ret_name: uname(2) nodename, owned. */
int host_identity(const char *state_dir, uint8_t ret_uuid[16], char **ret_name, struct err *e);

#endif
