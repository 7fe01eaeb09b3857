/* SPDX-License-Identifier: MIT
 *
 * Rules for flags; see flags.h.
 */
#include "daemon/worker/flags.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MIB INT64_C(1048576)

/* A mounted filesystem writes a little by itself (journal commit, superblock); below this nothing is said. */
#define IDLE_LIMIT_BYTES (1 * MIB)
/* Metadata and readahead are read on behalf of a tool and counted for it; reads by kernel threads are not. */
#define EXCESS_LIMIT_BYTES (64 * MIB)

/* A table of a database may have a few; below a hundredth they change no figure. */
#define UNWRITTEN_PART 100
/* btrfs tries the first of a file and gives up on data that does not shrink: btrfs(5), COMPRESSION. */
#define ENCODED_PART 10

void flag_add(struct flags *f, struct arena *a, const char *flag, const char *fmt, ...)
{
	const char *reason;
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	reason = arena_strdup(a, text);
	free(text);
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->at[i].flag, flag) == 0) {
			f->at[i].reason = arena_printf(a, "%s; %s", f->at[i].reason, reason);
			return;
		}
	if (f->n < FLAGS_MAX)
		f->at[f->n++] = (struct trial_flag){ .flag = flag, .reason = reason };
}

static int64_t moved(const struct io_bytes *from, const struct io_bytes *to)
{
	return to->read - from->read + to->written - from->written;
}

void flags_foreign(struct flags *f, struct arena *a, const struct trial_io *io)
{
	char size[SIZE_TEXT], size2[SIZE_TEXT];
	int64_t idle, beside, read;

	if (io->is_shared || !io->before_run.is_known || !io->after_run.is_known)
		return;
	idle = io->before_settle.is_known ? moved(&io->before_settle.target, &io->before_run.target) : 0;
	if (idle > IDLE_LIMIT_BYTES)
		flag_add(f, a, "disturbed", "%s moved on the target while nothing of ours ran",
		         size_format(idle, size));
	beside = moved(&io->before_run.disk, &io->after_run.disk) -
	         moved(&io->before_run.target, &io->after_run.target);
	if (beside > IDLE_LIMIT_BYTES)
		flag_add(f, a, "disturbed", "%s moved on the rest of the disk", size_format(beside, size));
	read = io->after_run.target.read - io->before_run.target.read;
	if (read > io->tools_read_bytes + io->tools_read_bytes / 2 + EXCESS_LIMIT_BYTES)
		flag_add(f, a, "disturbed", "%s were read from the target, %s of them by our tools",
		         size_format(read, size), size_format(io->tools_read_bytes, size2));
}

/* What the tool says that it read, in whole MiB: its rate over the time of the run, or less if it says so: one that
 * syncs and sleeps first, as hdparm does, has read for a part of that time.  0: it says nothing, or what nobody can
 * have read. */
static int64_t bytes_claimed(const struct measured *m, size_t n, int64_t elapsed_ns)
{
	double fastest = 0, said = INFINITY, claimed;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(m[i].unit, "B/s") == 0 && m[i].better != BETTER_NEITHER && m[i].value > fastest)
			fastest = m[i].value;
		if (strcmp(m[i].unit, "B") == 0 && m[i].value > 0 && (isinf(said) || m[i].value > said))
			said = m[i].value;
	}
	claimed = fmin(fastest * (double)elapsed_ns / 1e9, said);
	return claimed > (double)(INT64_C(1) << 60) ? 0 : (int64_t)claimed / MIB * MIB;
}

void flags_cached(struct flags *f, struct arena *a, const struct trial_io *io, bool reads, const struct measured *m,
                  size_t n, int64_t elapsed_ns)
{
	char size[SIZE_TEXT], size2[SIZE_TEXT];
	int64_t claimed = bytes_claimed(m, n, elapsed_ns),
		read = io->after_run.target.read - io->before_run.target.read;

	if (!reads || !io->before_run.is_known || !io->after_run.is_known)
		return;
	if (claimed >= MIB && read < claimed / 2)
		flag_add(f, a, "cached", "the device moved %s for about %s read", size_format(read, size),
		         size_format(claimed, size2));
}

void flags_unwritten(struct flags *f, struct arena *a, const struct extents *x)
{
	char all[SIZE_TEXT], holes[SIZE_TEXT], unwritten[SIZE_TEXT];

	if (x->holes + x->unwritten < MIB || x->holes + x->unwritten < x->bytes / UNWRITTEN_PART)
		return;
	flag_add(f, a, "unwritten", "of %s in the work directory %s are holes and %s are preallocated",
	         size_format(x->bytes, all), size_format(x->holes, holes), size_format(x->unwritten, unwritten));
}

void flags_compressible(struct flags *f, struct arena *a, const struct extents *x)
{
	char all[SIZE_TEXT], encoded[SIZE_TEXT];

	if (x->encoded < MIB || x->encoded < x->bytes / ENCODED_PART)
		return;
	flag_add(f, a, "compressible", "compressible data: %s of %s in the work directory are stored compressed",
	         size_format(x->encoded, encoded), size_format(x->bytes, all));
}

void flags_small(struct flags *f, struct arena *a, int64_t working_set_bytes, int64_t ram_bytes)
{
	char set[SIZE_TEXT], ram[SIZE_TEXT];

	if (working_set_bytes < MIB || working_set_bytes >= ram_bytes)
		return;
	flag_add(f, a, "small", "the files are %s, less than the memory of %s", size_format(working_set_bytes, set),
	         size_format(ram_bytes / MIB * MIB, ram));
}
