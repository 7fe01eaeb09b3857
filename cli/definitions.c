/* SPDX-License-Identifier: MIT
 *
 * See definitions.h.  A configuration that this user may not read, or that is not there, leaves the built-in ones.
 */
#include "cli/definitions.h"

#include <unistd.h>

#include "schema/config.h"

int definitions_open(struct definitions *d, struct err *e)
{
	struct config *config = NULL;
	struct diags faults;
	int rc;

	diags_init(&faults, CONFIG_FILE_DEFAULT);
	if (access(CONFIG_FILE_DEFAULT, R_OK) == 0 && config_read(CONFIG_FILE_DEFAULT, &faults, &config, e) < 0) {
		diags_print(stderr, &faults);
		diags_done(&faults);
		return -1;
	}
	diags_done(&faults);
	diags_init(&faults, "workloads");
	rc = config_registry(config, &faults, &d->registry, e);
	diags_print(stderr, &faults);
	d->n_bad = faults.n + faults.n_lost;
	diags_done(&faults);
	config_free(config);
	return rc;
}

void definitions_close(struct definitions *d)
{
	registry_free(d->registry);
	d->registry = NULL;
}
