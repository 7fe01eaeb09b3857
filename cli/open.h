/* SPDX-License-Identifier: MIT
 *
 * What the reading commands begin with: the store, opened read-only, and the sweep an argument names.
 */
#ifndef IOSWEEP_CLI_OPEN_H
#define IOSWEEP_CLI_OPEN_H

#include <stdint.h>

#include "schema/base/err.h"
#include "schema/store.h"

static inline void auto_store(struct store **s)
{
	store_close(*s);
}
#define AUTO_STORE __attribute__((cleanup(auto_store)))

/* Opens config_default_db() read-only; needs no daemon and no write access.  Hints at IOSWEEP_DB if there is none. */
int open_store(struct store **ret, struct err *e);
/* The sweep that an ID names ("12", "last", "last~1", start of a UUID; NULL: "last").  An unknown one is ERR_USAGE:
 * exit 2. */
int open_sweep(struct store *s, const char *name, int64_t *ret_id, struct err *e);

#endif
