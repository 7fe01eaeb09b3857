/* SPDX-License-Identifier: MIT
 *
 * Prints the names of the step table that a cell of the crash plan goes through, one a line: the rows of the crash
 * matrix are made from it, so a new step is covered by being there.
 */
#include <stdio.h>

#include "daemon/worker/steps.h"

int main(void)
{
	for (int i = 0; i < N_STEPS; i++)
		if (i != STEP_LAYOUT) /* a plain device has nothing to do there */
			puts(step_table[i].name);
	return 0;
}
