/* SPDX-License-Identifier: MIT
 *
 * For tests of plans and matrices: reading a text with the definitions that iosweep ships.
 */
#ifndef IOSWEEP_TESTS_PLAN_HELP_H
#define IOSWEEP_TESTS_PLAN_HELP_H

#include <stdio.h>

#include "schema/base/text.h"
#include "schema/matrix.h"

static struct registry *definitions;

static int definitions_load(void **state)
{
	struct diags d;
	struct err e;
	int rc;

	(void)state;
	diags_init(&d, "sweeps/workloads");
	definitions = registry_new();
	rc = registry_load(definitions, "sweeps/workloads", false, &d, &e);
	diags_print(stderr, &d);
	diags_done(&d);
	return rc;
}

static int definitions_free(void **state)
{
	(void)state;
	registry_free(definitions);
	return 0;
}

/* Reads a plan and its matrix; all faults as "LINE:COLUMN message" lines, or "none".  m NULL: the plan alone. */
static inline void plan_try(const char *yaml, size_t n, struct plan **p, struct matrix **m, struct text *ret_faults)
{
	struct diags d;

	*p = NULL;
	*m = NULL;
	diags_init(&d, "t");
	if (plan_read(yaml, n, definitions, &d, p) == 0 && matrix_new(*p, &d, m) == 0)
		text_add(ret_faults, "none");
	for (size_t i = 0; i < d.n; i++)
		text_printf(ret_faults, "%s%d:%d %s", i > 0 ? "\n" : "", d.at[i].line, d.at[i].column, d.at[i].message);
	diags_done(&d);
}

#endif
