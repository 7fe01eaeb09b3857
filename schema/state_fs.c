/* SPDX-License-Identifier: MIT
 *
 * Texts about filesystems and block devices: blkid, mkfs and xfs_info, the mount table, blockdev --report.
 */
#include <ctype.h>
#include <string.h>

#include "schema/state.h"

static void verdict_set(struct state_reader *r, enum state_verdict v, const char *reason)
{
	r->state->verdict = v;
	r->state->reason = reason;
}

static const char *device_name(const char *path)
{
	return text_starts(path, "/dev/") ? path + 5 : path;
}

/* The last line with something on it. */
static const char *last_words(const struct state_reader *r)
{
	size_t n = r->n, from;

	while (n > 0 && isspace((unsigned char)r->text[n - 1]))
		n--;
	for (from = n; from > 0 && r->text[from - 1] != '\n'; from--)
		;
	return arena_strndup(r->arena, r->text + from, n - from);
}

/* The word TYPE, not the end of SEC_TYPE or PTTYPE. */
int state_read_blkid(struct state_reader *r, struct err *e)
{
	const char *g[STATE_GROUPS];
	size_t at = 0;
	int rc;

	if (r->exit_status != 0)
		verdict_set(r, STATE_FAILED, last_words(r));
	while ((rc = state_find(r, "^(/\\S+):.*?\\sTYPE=\"([^\"]*)\"", r->text, r->n, &at, g, e)) > 0) {
		if (r->exit_status == 0)
			verdict_set(r, STATE_OK, "");
		state_text(r, "type", device_name(g[1]), g[2]);
	}
	return rc;
}

/* One number of the data section of xfs_info: its own line and those that continue it, up to the next section. */
static int data_number(struct state_reader *r, const char *key, const char *name, const char *unit, struct err *e)
{
	AUTO_FREE char *pattern = xasprintf("^data\\s*=.*(?:\\R\\s+=.*)*?\\b%s=(\\d+)", key);
	const char *g[STATE_GROUPS];
	size_t at = 0;
	int rc = state_find(r, pattern, r->text, r->n, &at, g, e);
	double v;

	if (rc > 0 && number_parse(g[1], &v) == 0)
		state_number(r, name, "", v, unit);
	return rc;
}

static int geometry_read(struct state_reader *r, struct err *e)
{
	const char *g[STATE_GROUPS];
	size_t at = 0;
	double v;
	int rc = data_number(r, "bsize", "block_size", "B", e);

	if (rc <= 0)
		return rc;
	verdict_set(r, STATE_OK, "");
	if (data_number(r, "sunit", "stripe_unit", "blocks", e) < 0 ||
	    data_number(r, "swidth", "stripe_width", "blocks", e) < 0)
		return -1;
	rc = state_find(r, "\\bagcount=(\\d+)", r->text, r->n, &at, g, e);
	if (rc > 0 && number_parse(g[1], &v) == 0)
		state_number(r, "agcount", "", v, "");
	return rc;
}

/* What mkfs went on in spite of; each is exit status 0. */
static int remark_read(struct state_reader *r, struct err *e)
{
	const char *g[STATE_GROUPS];
	size_t at = 0;
	double v;
	int rc = state_find(r, "^.*ignoring .*stripe unit (\\d+)(?: and stripe width (\\d+))?.*$", r->text, r->n, &at,
	                    g, e);

	if (rc > 0) {
		if (number_parse(g[1], &v) == 0)
			state_number(r, "stripe_unit_asked", "", v, "sectors");
		verdict_set(r, STATE_SUSPECT, g[0]);
		return 0;
	}
	at = 0;
	if (rc == 0)
		rc = state_find(r, "(?i)^.*(?:warning[:!]|not the same as the volume|forced anyway|is not a multiple|rounding|reduced).*$", r->text,
		                r->n, &at, g, e);
	if (rc > 0)
		verdict_set(r, STATE_SUSPECT, g[0]);
	return rc;
}

/* Words after which there is no filesystem, for a saved text whose exit status is not known. */
static int refusal_read(struct state_reader *r, struct err *e)
{
	const char *g[STATE_GROUPS];
	size_t at = 0;
	int rc = state_find(r, "^.*(?:will not make a filesystem here|Device or resource busy|to force overwrite|cannot open|Cannot get exclusive access|"
	                    "No space left|Input/output error|appears to contain an existing filesystem).*$", r->text, r->n, &at, g, e);

	if (rc > 0 || r->exit_status != 0)
		verdict_set(r, STATE_FAILED, rc > 0 ? g[0] : last_words(r));
	return rc;
}

int state_read_mkfs(struct state_reader *r, struct err *e)
{
	if (r->exit_status == 0 && r->n > 0)
		verdict_set(r, STATE_OK, "");
	if (geometry_read(r, e) < 0 || remark_read(r, e) < 0 || refusal_read(r, e) < 0)
		return -1;
	return 0;
}

static bool option_is_there(const char *options, const char *option)
{
	size_t n = strlen(option);

	for (const char *s = options; *s != '\0'; s += strcspn(s, ","), s += *s == ',') {
		size_t len = strcspn(s, ",");

		if (len == n && memcmp(s, option, n) == 0)
			return true;
		/* compress=zstd is shown as compress=zstd:3 */
		if (len > n && memcmp(s, option, n) == 0 && s[n] == ':')
			return true;
	}
	return false;
}

static void mount_line(struct state_reader *r, const char *directory, const char *type, const char *options)
{
	const char *missing = NULL;

	state_text(r, "type", directory, type);
	state_text(r, "options", directory, options);
	for (char *const *word = r->asked; word != NULL && *word != NULL; word++) {
		if (option_is_there(options, *word))
			continue;
		state_text(r, "missing", directory, *word);
		missing = *word;
	}
	if (missing != NULL) {
		verdict_set(r, STATE_SUSPECT, arena_printf(r->arena, "'%s' was asked for and is not shown", missing));
	} else if ((strcmp(type, "ext3") == 0 || strcmp(type, "ext4") == 0) && strstr(options, "data=") == NULL) {
		/* a default set by tune2fs is not shown: ext4(5), data=; /proc/fs/ext4/DEVICE/options has it */
		verdict_set(r, STATE_SUSPECT, "the data mode is not shown here; /proc/fs has it");
	} else if (r->state->verdict != STATE_SUSPECT) {
		verdict_set(r, STATE_OK, "");
	}
}

/* /proc/mounts: "DEVICE DIRECTORY TYPE OPTIONS 0 0". */
int state_read_mounts(struct state_reader *r, struct err *e)
{
	const char *g[STATE_GROUPS];
	size_t at = 0;
	int rc;

	while ((rc = state_find(r, "^(\\S+) (/\\S*) (\\S+) (\\S+) \\d+ \\d+\\s*$", r->text, r->n, &at, g, e)) > 0)
		mount_line(r, g[2], g[3], g[4]);
	return rc;
}

int state_read_blockdev(struct state_reader *r, struct err *e)
{
	const char *g[STATE_GROUPS];
	size_t at = 0;
	double v;
	int rc;

	if (refusal_read(r, e) < 0)
		return -1;
	while ((rc = state_find(r, "^(r[wo])\\s+(\\d+)\\s+(\\d+)\\s+(\\d+)\\s+(\\d+)\\s+(\\d+)\\s+(/\\S+)\\s*$",
	                        r->text, r->n, &at, g, e)) > 0) {
		const char *device = device_name(g[7]);

		if (r->exit_status == 0)
			verdict_set(r, STATE_OK, "");
		state_text(r, "access", device, g[1]);
		if (number_parse(g[2], &v) == 0)
			state_number(r, "readahead", device, v, "sectors");
		if (number_parse(g[3], &v) == 0)
			state_number(r, "sector_size", device, v, "B");
		if (number_parse(g[6], &v) == 0)
			state_number(r, "size", device, v, "B");
	}
	return rc;
}
