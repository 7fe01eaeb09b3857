/* SPDX-License-Identifier: MIT
 *
 * An image target: a sparse file in the configured images directory, attached as a loop device that frees itself when
 * the worker dies (loop(4), LO_FLAGS_AUTOCLEAR).
 */
#ifndef IOSWEEP_IMAGE_H
#define IOSWEEP_IMAGE_H

#include "daemon/worker/context.h"
#include "daemon/worker/device.h"

/* Makes and attaches the image of the worker's plan.  The path is in the journal before the file is made.  ret: the
 * loop device; ret_fd: read-only on it, keeps it attached.  Fails with ERR_REFUSED (images are not offered, larger
 * than the configuration allows), ERR_NO_SPACE (would leave less than keep-free). */
int image_attach(struct worker *w, struct device *ret, int *ret_fd, struct err *e);
/* Waits until the loop device is free (its last descriptor was closed before), and removes the file. */
int image_remove(struct worker *w, struct err *e);

#endif
