/* SPDX-License-Identifier: MIT
 *
 * Which device of the host a name in its configuration means: every identity given must match, and exactly one device.
 * See device.h.
 */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/worker/device.h"
#include "daemon/worker/sysroot.h"

/* "naa.5000", "0x5000", "wwn-0x5000" and "5000" are one number; eui. and nvme. names keep their prefix. */
static const char *wwn_digits(const char *s)
{
	static const char *const prefixes[] = { "wwn-", "naa.", "0x" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (strncasecmp(s, prefixes[i], strlen(prefixes[i])) == 0)
			s += strlen(prefixes[i]);
	return s;
}

static bool serial_equals(const struct device *d, const char *serial)
{
	return serial[0] != '\0' && (strcmp(d->serial, serial) == 0 || strcmp(d->serial_long, serial) == 0);
}

/* Through udev's database, or through the link itself where that is not kept (a static /dev, a recorded tree). */
static bool by_id_equals(const struct device *d, const char *by_id)
{
	const char *name = strrchr(by_id, '/') == NULL ? by_id : strrchr(by_id, '/') + 1;
	char link[512], path[SYSROOT_PATH], real[SYSROOT_PATH];
	struct stat st;

	for (size_t i = 0; i < d->n_by_id; i++)
		if (strcmp(d->by_id[i], name) == 0)
			return true;
	path_format(link, sizeof(link), "/dev/disk/by-id/%s", name);
	if (!sysroot_is_machine())
		return sysroot_resolve(link, real, sizeof(real)) && strcmp(real, d->path) == 0;
	return stat(sysroot_path(path, link), &st) == 0 && S_ISBLK(st.st_mode) && st.st_rdev == d->devno;
}

static bool backing_file_equals(const struct device *d, const char *file)
{
	struct loop_backing on;
	char real[PATH_MAX];
	struct stat st;

	if (d->backing_file[0] == '\0')
		return false;
	if (strcmp(d->backing_file, file) == 0 || (realpath(file, real) != NULL && strcmp(d->backing_file, real) == 0))
		return true;
	return device_loop_backing(d->name, &on) && stat(file, &st) == 0 && on.ino == st.st_ino && on.dev == st.st_dev;
}

static bool identity_matches(const struct device *d, const struct config_device *c)
{
	if (d->is_partition && c->by_id == NULL)
		return false;
	return (c->wwn == NULL || (d->wwn[0] != '\0' && strcasecmp(wwn_digits(d->wwn), wwn_digits(c->wwn)) == 0)) &&
	       (c->serial == NULL || serial_equals(d, c->serial)) &&
	       (c->by_id == NULL || by_id_equals(d, c->by_id)) &&
	       (c->backing_file == NULL || backing_file_equals(d, c->backing_file)) &&
	       (c->wwn != NULL || c->serial != NULL || c->by_id != NULL || c->backing_file != NULL);
}

bool device_matches(const struct device *d, const struct config_device *c, char *ret_why, size_t size)
{
	char is[SIZE_TEXT], listed[SIZE_TEXT];

	path_format(ret_why, size, "%s", "");
	if (!identity_matches(d, c)) {
		path_format(ret_why, size, "its identity is another");
		return false;
	}
	if (c->size_bytes != 0 && c->size_bytes != d->size_bytes) {
		path_format(ret_why, size, "its size is %s, the list says %s", size_format(d->size_bytes, is),
		         size_format(c->size_bytes, listed));
		return false;
	}
	return true;
}

/* One identity right and another wrong is worth a word: a disk was exchanged, or the list has a slip. */
static void near_miss(const struct device *d, const struct config_device *c, struct text *ret)
{
	char why[160];

	if (device_matches(d, c, why, sizeof(why)))
		return;
	if (identity_matches(d, c)) {
		text_printf(ret, "; '%s' has its identity, but %s", d->path, why);
	} else if (!d->is_partition && c->wwn != NULL && d->wwn[0] != '\0' &&
	           strcasecmp(wwn_digits(d->wwn), wwn_digits(c->wwn)) == 0) {
		text_printf(ret, "; '%s' has its wwn, but serial number '%s'", d->path, d->serial);
	} else if (!d->is_partition && c->serial != NULL && serial_equals(d, c->serial)) {
		text_printf(ret, "; '%s' has its serial number, but wwn '%s'", d->path, d->wwn);
	} else if (c->by_id != NULL && by_id_equals(d, c->by_id)) {
		text_printf(ret, "; '%s' has its by-id name, but wwn '%s' and serial number '%s'", d->path, d->wwn,
		            d->serial);
	}
}

int device_find(const struct config_device *c, struct device *ret, size_t *ret_n_matching, struct err *e)
{
	AUTO_FREE struct device *all = NULL;
	AUTO_TEXT struct text found = { 0 }, near = { 0 };
	const struct device *match = NULL;
	size_t n, n_matching = 0;
	char why[160];

	if (device_list(&all, &n, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (device_matches(&all[i], c, why, sizeof(why))) {
			match = &all[i];
			text_printf(&found, "%s'%s'", n_matching++ > 0 ? ", " : "", all[i].path);
		} else {
			near_miss(&all[i], c, &near);
		}
	}
	if (ret_n_matching != NULL)
		*ret_n_matching = n_matching;
	if (n_matching == 1) {
		*ret = *match;
		return 0;
	}
	if (n_matching > 1) {
		err_set(e, ERR_REFUSED, "device '%s': %zu devices have its identity: %s", c->name, n_matching, text_str(&found));
		return err_hint(e, "list one more identity (serial, wwn, by-id, backing-file, size) that tells them apart");
	}
	err_set(e, ERR_DEVICE_LOST, "device '%s': no device of this host has its identity%s", c->name, text_str(&near));
	return err_hint(e, "`iosweep devices` shows the identities there are");
}

/* A double-quoted scalar of YAML. */
static void identity_add(struct text *ret, const char *key, const char *value)
{
	if (value[0] == '\0')
		return;
	text_printf(ret, "%s: \"", key);
	for (; *value != '\0'; value++) {
		if ((unsigned char)*value < ' ')
			text_printf(ret, "\\x%02x", (unsigned char)*value);
		else
			text_printf(ret, "%s%c", *value == '"' || *value == '\\' ? "\\" : "", *value);
	}
	text_add(ret, "\", ");
}

void device_config_line(const struct device *d, struct text *ret)
{
	char size[SIZE_TEXT];
	AUTO_TEXT struct text identities = { 0 };

	if (!d->is_partition) {
		identity_add(&identities, "wwn", d->wwn);
		identity_add(&identities, "serial", d->serial);
	}
	identity_add(&identities, "by-id", d->n_by_id > 0 ? d->by_id[0] : "");
	if (!d->is_partition)
		identity_add(&identities, "backing-file", d->backing_file);
	if (identities.n > 0)
		text_printf(ret, "%s: {%ssize: %s}", d->name, identities.s, size_format(d->size_bytes, size));
}
