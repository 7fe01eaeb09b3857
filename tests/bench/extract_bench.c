/* SPDX-License-Identifier: MIT
 *
 * How long extraction takes: 30 metrics from a fio report of 1 MB, an iozone grid of 15 file sizes x 13 record sizes
 * x 13 operations.  Prints the median of the rounds and the limit; exit 1 if a limit is missed. usage: extract_bench
 * [ROUNDS]
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/extract.h"

#define ROUNDS 15
#define FIO_BYTES ((size_t)1 << 20)

/* A report with enough jobs for a megabyte, made of one real job under two names: sixteen numbers each. */
static void fio_report(struct text *t)
{
	AUTO_TEXT struct text real = { 0 };
	const char *job, *end;
	struct err e;

	if (file_read(AT_FDCWD, "tests/data/outputs/fio/333-json-two-jobs.txt", 1 << 20, &real, &e) < 0) {
		err_print(stderr, "extract_bench", &e);
		exit(1);
	}
	job = strstr(real.s, "    {\n      \"jobname\" : \"randrw\"");
	end = job != NULL ? strstr(job, "\n    }\n  ]") : NULL;
	if (end == NULL)
		exit(1);
	text_add(t, "note: a line before it\n{\n  \"fio version\" : \"fio-3.33\",\n  \"jobs\" : [\n");
	for (int i = 0; t->n < FIO_BYTES; i++) {
		size_t at = t->n;

		text_add_n(t, job, (size_t)(end + 6 - job));
		if (i % 2 == 1)
			memcpy(strstr(t->s + at, "randrw"), "second", strlen("second"));
		text_add(t, t->n < FIO_BYTES ? ",\n" : "\n");
	}
	text_add(t, "  ]\n}\n");
}

static void iozone_grid(struct text *t)
{
	text_add(t, "\tOutput is in kBytes/sec\n"
	            "              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   fwrite "
	            "frewrite    fread  freread\n");
	for (int file = 0; file < 15; file++)
		for (int record = 0; record < 13; record++) {
			text_printf(t, "%16d%8d", 64 << file, 4 << record);
			for (int op = 0; op < 13; op++)
				text_printf(t, "%9d", 100000 + file * 1000 + record * 10 + op);
			text_add(t, "\n");
		}
	text_add(t, "\niozone test complete.\n");
}

static int double_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool bench(const struct registry *r, const char *workload, const struct text *output, size_t least,
                  double limit_ms, int rounds)
{
	const struct workload *w = registry_find(r, workload);
	struct capture c = { .step = "run", .stream = "stdout", .data = output->s, .n = output->n };
	double ms[101];
	struct outcome o = { .reason = "" };
	struct err e = { 0 };

	for (int i = 0; i < rounds; i++) {
		AUTO_ARENA struct arena *a = arena_new();
		int64_t before_ns = clock_ns();

		if (w == NULL || extract(w, w->params, w->n_params, &c, 1, NULL, 0, 0, a, &o, &e) < 0 || o.n < least) {
			fprintf(stderr, "extract_bench: %s: %s%s, %zu numbers\n", workload, e.text,
			        w != NULL ? o.reason : "no definition", o.n);
			return false;
		}
		ms[i] = (double)(clock_ns() - before_ns) / 1e6;
	}
	qsort(ms, (size_t)rounds, sizeof(*ms), double_compare);
	printf("%-8s %7zu bytes  %5zu numbers  %6.1f ms  (limit %.0f ms)\n", workload, output->n, o.n, ms[rounds / 2],
	       limit_ms);
	return ms[rounds / 2] <= limit_ms;
}

int main(int argc, char **argv)
{
	AUTO_TEXT struct text fio = { 0 };
	AUTO_TEXT struct text iozone = { 0 };
	struct registry *r = registry_new();
	int64_t rounds = ROUNDS;
	struct diags d;
	bool is_good;

	if (argc > 1 && integer_parse(argv[1], 1, 101, &rounds) < 0)
		return 2;
	diags_init(&d, "sweeps/workloads");
	if (registry_load(r, "sweeps/workloads", false, &d, NULL) < 0)
		return 1;
	diags_done(&d);
	fio_report(&fio);
	iozone_grid(&iozone);
	is_good = bench(r, "fio", &fio, 30, 40, (int)rounds);
	is_good &= bench(r, "iozone", &iozone, (size_t)15 * 13 * 13, 50, (int)rounds);
	registry_free(r);
	return is_good ? 0 : 1;
}
