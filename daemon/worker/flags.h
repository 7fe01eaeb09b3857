/* SPDX-License-Identifier: MIT
 *
 * What makes a good trial doubtful: pure rules over what was counted.  ('drift' and 'spread' need several trials and
 * are the store's.)
 */
#ifndef IOSWEEP_FLAGS_H
#define IOSWEEP_FLAGS_H

#include "daemon/worker/extents.h"
#include "daemon/worker/iostat.h"
#include "schema/extract.h"
#include "schema/store.h"

#define FLAGS_MAX 10

struct flags {
	struct trial_flag at[FLAGS_MAX]; /* flags are static, reasons in the arena; one of each, reasons joined */
	size_t n;
};

void flag_add(struct flags *f, struct arena *a, const char *flag, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Counted around a trial. */
struct trial_io {
	struct io_count before_settle, before_run, after_run;
	int64_t tools_read_bytes; /* getrusage(2) */
	bool is_shared;           /* a directory target: others may use the device */
};

/* 'disturbed': bytes that are not ours moved, on the target while nothing of ours ran, on the rest of its disk, or
 * read from the target beyond what the tools had read. */
void flags_foreign(struct flags *f, struct arena *a, const struct trial_io *io);

/* 'unwritten': what a read found was never written, holes or preallocated. */
void flags_unwritten(struct flags *f, struct arena *a, const struct extents *x);
/* 'small': the files that are read are smaller than the memory (the cell's limit, where there is one): read a second
 * time, they would not come from the device. */
void flags_small(struct flags *f, struct arena *a, int64_t working_set_bytes, int64_t ram_bytes);
/* 'compressible': the filesystem stored a good part of the data compressed, as no real data would be. */
void flags_compressible(struct flags *f, struct arena *a, const struct extents *x);

/* 'cached': reads says that the workload's rates (B/s) are of reads; the device moved less than half of what they
 * claim. */
void flags_cached(struct flags *f, struct arena *a, const struct trial_io *io, bool reads, const struct measured *m,
                  size_t n, int64_t elapsed_ns);

#endif
