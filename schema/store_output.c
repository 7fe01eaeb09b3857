/* SPDX-License-Identifier: MIT
 *
 * Raw outputs: bounded, compressed, and read back for `iosweep extract`.  A trial prints 200 bytes (dd) to 20 KiB
 * (fio).
 */
#include "schema/store_internal.h"

#include <assert.h>
#include <string.h>
#include <zlib.h>

/* zlib's working memory grows with its window; one that fits the text saves 256 KiB of page faults for the 200 bytes of
 * dd.  The sizes are bits, of deflateInit2 in zlib.h. */
static int window_bits(size_t n)
{
	int bits = 9;

	while (bits < MAX_WBITS && (size_t)1 << bits < n)
		bits++;
	return bits;
}

void text_pack(const char *data, size_t n, struct packed *ret)
{
	size_t kept = n < STORE_OUTPUT_MAX ? n : STORE_OUTPUT_MAX;
	int bits = window_bits(kept), rc;
	z_stream z = { .next_in = (Bytef *)data, .avail_in = (uInt)kept };

	/* Neither call fails but for want of memory, which has its own abort. */
	rc = deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, bits, bits - 7, Z_DEFAULT_STRATEGY);
	assert(rc == Z_OK);
	z.avail_out = (uInt)deflateBound(&z, kept);
	*ret = (struct packed){ .data = xmalloc(z.avail_out), .kept = kept };
	z.next_out = ret->data;
	rc = deflate(&z, Z_FINISH);
	assert(rc == Z_STREAM_END);
	(void)rc;
	ret->n = z.total_out;
	deflateEnd(&z);
}

int text_unpack_any(const void *data, size_t n, struct text *ret)
{
	uLongf size = STORE_OUTPUT_MAX;
	AUTO_FREE Bytef *out = xmalloc(size);

	if (data == NULL || uncompress(out, &size, data, n) != Z_OK)
		return -1;
	text_clear(ret);
	text_add_n(ret, (const char *)out, size);
	return 0;
}

int text_unpack(const void *data, size_t n, size_t kept, struct text *ret)
{
	return text_unpack_any(data, n, ret) < 0 || ret->n != kept ? -1 : 0;
}

static int output_read(struct statement *st, struct arena *a, struct capture *ret, struct err *e)
{
	AUTO_TEXT struct text text = { 0 };
	const void *data;
	size_t n = column_bytes(st, 4, &data);
	int64_t kept = column_int(st, 3);

	if (kept < 0 || text_unpack(data, n, (size_t)kept, &text) < 0)
		return err_set(e, ERR_STORE, "the stored output of step '%s' is damaged", column_borrow(st, 0));
	*ret = (struct capture){
		.step = column_text(st, 0, a),
		.stream = column_text(st, 1, a),
		.data = rows_keep(a, text.s, text.n, 1),
		.n = text.n,
		.is_cut = column_int(st, 2) > kept,
	};
	return 0;
}

int store_output_get(struct store *s, int64_t trial_id, struct arena *a, struct capture **ret, size_t *ret_n,
                     struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_FREE struct capture *at = NULL;
	size_t n = 0, cap = 0;
	int rc;

	if (statement_open(s, &st, e,
	                   "SELECT step, stream, bytes, kept, data FROM output WHERE trial_id = ? ORDER BY rowid", "i", trial_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		ARRAY_GROW(at, n, cap);
		if (output_read(st, a, &at[n++], e) < 0)
			return -1;
	}
	if (rc < 0)
		return -1;
	*ret = rows_keep(a, at, n, sizeof(*at));
	*ret_n = n;
	return 0;
}
