/* SPDX-License-Identifier: MIT
 *
 * A fuzz target is a file tests/fuzz/fuzz_NAME.c with this one function, and seeds in tests/fuzz/corpus/NAME.
 * `make fuzz TIME=60` runs all of them with libFuzzer; `make check` replays the seeds through replay.c.
 */
#ifndef IOSWEEP_FUZZ_H
#define IOSWEEP_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#endif
