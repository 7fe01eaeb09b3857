/* SPDX-License-Identifier: MIT
 *
 * The host's identity; see host.h.
 */
#include "schema/host.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/utsname.h>

#include "schema/base/text.h"

#define MACHINE_ID_DIGITS 32

static void uuid_from_machine_id(const char *digits, const char *name, uint8_t ret[16])
{
	AUTO_FREE char *salted = xasprintf("iosweep host %s %s", digits, name);
	uint8_t digest[DIGEST_SIZE];

	digest_of(salted, strlen(salted), digest);
	memcpy(ret, digest, 16);
	ret[6] = (uint8_t)((ret[6] & 0x0f) | 0x80); /* version 8: made by a rule of our own (RFC 9562, 5.8) */
	ret[8] = (uint8_t)((ret[8] & 0x3f) | 0x80);
}

/* 1: the kept one was read; 0: there is none; -1. */
static int uuid_read(const char *path, uint8_t ret[16], struct err *e)
{
	AUTO_TEXT struct text t = { 0 };

	if (file_read(AT_FDCWD, path, 64, &t, NULL) < 0 || t.n < UUID_TEXT - 1)
		return 0;
	t.s[UUID_TEXT - 1] = '\0';
	return uuid_parse(t.s, ret) == 0 ? 1 : err_set(e, ERR_SYSTEM, "'%s' holds no UUID", path);
}

static int uuid_keep(const char *path, const uint8_t uuid[16], struct err *e)
{
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	char digits[UUID_TEXT];

	if (fd < 0)
		return err_sys(e, errno, "make '%s'", path);
	if (write(fd, uuid_format(uuid, digits), UUID_TEXT - 1) < 0 || write(fd, "\n", 1) < 0 || fsync(fd) < 0)
		return err_sys(e, errno, "write '%s'", path);
	return 0;
}

int host_identity(const char *state_dir, uint8_t ret_uuid[16], char **ret_name, struct err *e)
{
	AUTO_FREE char *path = xasprintf("%s/host-id", state_dir);
	AUTO_TEXT struct text t = { 0 };
	struct utsname u;
	int kept = uuid_read(path, ret_uuid, e);

	if (kept < 0)
		return -1;
	uname(&u); /* fails only on a bad pointer */
	if (kept == 0) {
		if (file_read(AT_FDCWD, "/etc/machine-id", 256, &t, NULL) == 0 &&
		    strspn(text_str(&t), "0123456789abcdef") == MACHINE_ID_DIGITS) {
			t.s[MACHINE_ID_DIGITS] = '\0';
			uuid_from_machine_id(t.s, u.nodename, ret_uuid);
		} else {
			uuid_make(ret_uuid);
		}
		if (uuid_keep(path, ret_uuid, e) < 0)
			return -1;
	}
	*ret_name = xstrdup(u.nodename);
	return 0;
}

size_t host_user_groups(const struct passwd *user, gid_t **ret)
{
	int n = 64;

	*ret = xmalloc((size_t)n * sizeof(**ret));
	if (getgrouplist(user->pw_name, user->pw_gid, *ret, &n) >= 0)
		return (size_t)n;
	free(*ret);
	*ret = xmalloc((size_t)n * sizeof(**ret)); /* n has become what it takes: getgrouplist(3) */
	return getgrouplist(user->pw_name, user->pw_gid, *ret, &n) < 0 ? 0 : (size_t)n;
}

static bool user_has_group(const struct passwd *user, gid_t gid)
{
	AUTO_FREE gid_t *list = NULL;
	size_t n = host_user_groups(user, &list);

	for (size_t i = 0; i < n; i++)
		if (list[i] == gid)
			return true;
	return false;
}

int host_may_submit(const struct passwd *user, const char *group, struct err *e)
{
	const struct group *g = getgrnam(group);

	if (user->pw_uid == 0 || (g != NULL && user_has_group(user, g->gr_gid)))
		return 0;
	err_set_(e, ERR_REFUSED, "user '%s' is not in the group '%s'", user->pw_name, group);
	return err_hint(e, "usermod -aG %s %s", group, user->pw_name);
}
