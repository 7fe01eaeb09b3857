/* SPDX-License-Identifier: MIT
 *
 * Which host this is: an id that stays, and the name it has today.  Daemon and worker must agree on it.
 */
#ifndef IOSWEEP_HOST_H
#define IOSWEEP_HOST_H

#include <pwd.h>
#include <stdint.h>

#include "schema/base/err.h"

/* ret_uuid: kept in STATE/host-id, so that it survives a new name.  Made when there is none: of /etc/machine-id and
 * the name of that day by a hash, since that id itself should not be shown to others (machine-id(5)) and copies of an
 * image often share it; at random on a host without one.  ret_name: uname(2) nodename, owned. */
int host_identity(const char *state_dir, uint8_t ret_uuid[16], char **ret_name, struct err *e);

/* The groups of a user, the primary one included, as the databases say it now; *ret is the caller's (free). */
size_t host_user_groups(const struct passwd *user, gid_t **ret);

/* Whether root or a member of the group, as the databases of users and groups say it now; ERR_REFUSED with a hint if
 * not, or if the group is gone.  May wait for a directory service: nothing for an event loop. */
int host_may_submit(const struct passwd *user, const char *group, struct err *e);

#endif
