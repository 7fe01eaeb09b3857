/* SPDX-License-Identifier: MIT
 *
 * Opens the store for reading and finds sweeps by the names people give them; see open.h.
 */
#include "cli/open.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "schema/config.h"

int open_store(struct store **ret, struct err *e)
{
	const char *path = config_default_db();

	if (access(path, R_OK) < 0) {
		int errnum = errno;

		err_sys(e, errnum, "open the store '%s'", path);
		if (errnum == EACCES)
			return err_hint(e, "root and the members of the daemon's group may read it: see 'group' in iosweepd.conf(5)");
		return err_hint(e, "it is made when the daemon starts; set IOSWEEP_DB to read another one");
	}
	return store_open(path, STORE_READ, ret, e);
}

int open_sweep(struct store *s, const char *name, int64_t *ret_id, struct err *e)
{
	struct err inner = { 0 };

	if (store_sweep_find(s, name != NULL ? name : "last", ret_id, &inner) == 0)
		return 0;
	if (inner.kind == ERR_NOT_FOUND) {
		inner.kind = ERR_USAGE;
		if (inner.hint[0] == '\0')
			err_hint(&inner, "'iosweep list' shows the sweeps there are");
	}
	*e = inner;
	return -1;
}
