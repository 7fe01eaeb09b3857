/* SPDX-License-Identifier: MIT
 *
 * A double as the shortest text that reads back as the same double.  Reports print hundreds of thousands of them, and
 * the C library's printf and strtod take some microseconds for each: nearly every number of a store is done here in a
 * tenth of that.
 *
 * The number is scaled to 17 digits before the point in the 64 bits of an x87 long double.  Powers of ten up to 10^27
 * are exact there, so the product is off by at most 2^-8.  Every decision (which way to round, whether fewer digits
 * still read back as the same double) is taken only where that cannot matter; whatever is nearer goes the slow way,
 * and so does what printf would give an exponent.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/base/text.h"

#define DIGITS_MAX 17 /* always enough, see DBL_DECIMAL_DIG in float.h */
#define DIGITS_MIN 15 /* survive the way through a double and back, see DBL_DIG */
#define DIGITS_FIXED 6 /* printf's %g: a power of ten with fewer digits than its exponent gets one, from this on */
#define MARGIN 0.015625L /* 2^-6: four times the error of the product */

static char *format_slowly(double v, char buf[SIZE_TEXT])
{
	int digits;

	for (digits = DIGITS_MIN; digits < DIGITS_MAX; digits++) {
		snprintf(buf, SIZE_TEXT, "%.*e", digits - 1, v);
		if (strtod(buf, NULL) == v)
			break;
	}
	/* Fifteen digits that read back as v are its shortest text but for zeros at their end. */
	if (digits == DIGITS_MIN) {
		const char *end = strchr(buf, 'e');

		while (digits > DIGITS_FIXED && end != NULL && end[-1] == '0') {
			digits--;
			end--;
		}
	}
	snprintf(buf, SIZE_TEXT, "%.*g", digits, v);
	return buf;
}

#if LDBL_MANT_DIG >= 64

/* v as digits x 10^(exponent - n + 1); exponent: of the first digit. */
struct decimal {
	uint64_t digits;
	int n, exponent;
};

static const long double tens[] = { 1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L, 1e10L,
	                            1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L };

/* x rounded to tens of `unit` if that is nearer to x than half: 1 done, 0 too far away, -1 too near to say. */
static int round_to(long double x, uint64_t unit, long double half, uint64_t *ret)
{
	uint64_t whole = (uint64_t)x, base = whole / unit;
	long double rest = (long double)(whole % unit) + (x - (long double)whole), middle = (long double)unit / 2;
	long double distance = rest > middle ? (long double)unit - rest : rest;

	if (fabsl(rest - middle) < MARGIN || fabsl(distance - half) < MARGIN)
		return -1;
	*ret = base + (rest > middle);
	return distance < half;
}

/* False where the margin does not allow to say. */
static bool decimal_find(double v, struct decimal *ret)
{
	uint64_t unit = 100, full = UINT64_C(1000000000000000);
	long double x, half;
	int exponent = -4, power, found = 0;

	if (!(v >= 1e-4 && v < 1e15))
		return false;
	while (exponent < 14 && v >= (exponent < -1 ? 1 / tens[-exponent - 1] : tens[exponent + 1]))
		exponent++;
	if (frexp(v, &power) == 0.5) /* the next smaller double is nearer than the next larger one */
		return false;
	x = (long double)v * tens[DIGITS_MAX - 1 - exponent];
	half = ldexpl(tens[DIGITS_MAX - 1 - exponent], power - DBL_MANT_DIG - 1);
	for (ret->n = DIGITS_MIN; found == 0 && unit > 0; ret->n++, unit /= 10, full *= 10)
		found = round_to(x, unit, ret->n == DIGITS_MAX ? 2 : half, &ret->digits);
	ret->n--;
	full /= 10;
	ret->exponent = exponent;
	return found > 0 && ret->digits < full && ret->digits >= full / 10;
}

static char *decimal_print(const struct decimal *d, bool is_negative, char buf[SIZE_TEXT])
{
	char digits[DIGITS_MAX], *p = buf;
	uint64_t rest = d->digits;
	int whole = d->exponent + 1;

	for (int i = d->n; i-- > 0; rest /= 10)
		digits[i] = (char)('0' + rest % 10);
	if (is_negative)
		*p++ = '-';
	if (whole <= 0)
		*p++ = '0';
	for (int i = 0; i < whole; i++)
		*p++ = i < d->n ? digits[i] : '0';
	if (d->n > whole)
		*p++ = '.';
	for (int i = whole; i < d->n; i++)
		*p++ = i < 0 ? '0' : digits[i];
	*p = '\0';
	return buf;
}

char *number_format(double v, char buf[SIZE_TEXT])
{
	struct decimal d;

	if (!decimal_find(fabs(v), &d))
		return format_slowly(v, buf);
	while (d.n > 1 && d.digits % 10 == 0) {
		d.digits /= 10;
		d.n--;
	}
	if (d.exponent >= (d.n > DIGITS_FIXED ? d.n : DIGITS_FIXED)) /* 1.2e+08 */
		return format_slowly(v, buf);
	return decimal_print(&d, v < 0, buf);
}

#else

char *number_format(double v, char buf[SIZE_TEXT])
{
	return format_slowly(v, buf);
}

#endif
