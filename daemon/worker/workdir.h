/* SPDX-License-Identifier: MIT
 *
 * Work directories: made and removed by the helper, as the submitter and inside the room, so that nothing planted
 * below the target can lead root anywhere.  Symbolic links are removed and never followed; other devices are never
 * entered.
 */
#ifndef IOSWEEP_WORKDIR_H
#define IOSWEEP_WORKDIR_H

#include "schema/base/err.h"

/* Makes the directory, mode 0700.  One of this user that is there already (a worker that died left it) is emptied
 * first. ERR_REFUSED if the name is taken by somebody else or by something that is no directory. */
int workdir_make(const char *path, struct err *e);

/* Removes the directory and everything below, however deep; nothing there is fine. */
int workdir_remove(const char *path, struct err *e);

#endif
