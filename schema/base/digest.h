/* SPDX-License-Identifier: MIT
 *
 * Identities: SHA-256 digests for what is equal on every host (configs, workloads, plans, environments), and UUIDs
 * for what happened once (sweeps, trials).
 */
#ifndef IOSWEEP_DIGEST_H
#define IOSWEEP_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/* SHA-256 of a run of bytes, as 32 bytes and as hexadecimal digits. */
#define DIGEST_SIZE 32
#define DIGEST_TEXT (2 * DIGEST_SIZE + 1)
void digest_of(const void *data, size_t n, uint8_t ret[DIGEST_SIZE]);
char *digest_format(const uint8_t digest[DIGEST_SIZE], char buf[DIGEST_TEXT]);
int digest_parse(const char *s, uint8_t ret[DIGEST_SIZE]); /* exactly 64 digits in lower case, or -1 */

/* UUIDs: version 7 (time-ordered, RFC 9562), as 16 bytes and as text. */
#define UUID_TEXT 37
void uuid_make(uint8_t ret[16]);
char *uuid_format(const uint8_t uuid[16], char buf[UUID_TEXT]);
int uuid_parse(const char *s, uint8_t ret[16]);

#endif
