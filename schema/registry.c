/* SPDX-License-Identifier: MIT
 *
 * The definitions that a host offers: all *.yaml of its directories, the later directory's winning.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "schema/workload.h"

struct registry {
	struct workload **at; /* owned; sorted by name */
	size_t n, cap;
};

struct registry *registry_new(void)
{
	return xcalloc(1, sizeof(struct registry));
}

void registry_free(struct registry *r)
{
	if (r == NULL)
		return;
	for (size_t i = 0; i < r->n; i++)
		workload_free(r->at[i]);
	free(r->at);
	free(r);
}

static int owner_check(int fd, const char *path, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(e, errno, "stat '%s'", path);
	if (st.st_uid == 0 && (st.st_mode & 022) == 0)
		return 0;
	err_set(e, ERR_REFUSED, "'%s' can be written by others than root", path);
	return err_hint(e, "chown root '%s' && chmod go-w '%s'", path, path);
}

void registry_put(struct registry *r, struct workload *w)
{
	size_t i = 0;

	while (i < r->n && strcmp(r->at[i]->name, w->name) < 0)
		i++;
	if (i < r->n && strcmp(r->at[i]->name, w->name) == 0) {
		workload_free(r->at[i]);
		r->at[i] = w;
		return;
	}
	ARRAY_GROW(r->at, r->n, r->cap);
	memmove(&r->at[i + 1], &r->at[i], (r->n - i) * sizeof(struct workload *));
	r->at[i] = w;
	r->n++;
}

/* Appends the faults of one file to the list of the whole load, with the file's name in front. */
static void diags_move(struct diags *from, const char *path, struct diags *to)
{
	for (size_t i = 0; i < from->n; i++)
		diags_add(to, 0, 0, "%s:%d:%d: %s", path, from->at[i].line, from->at[i].column, from->at[i].message);
}

/* A later directory replaces what an earlier one defines; two files of one directory are a slip. */
static bool is_beside(const char *path, const struct workload *other)
{
	const char *slash = strrchr(path, '/'), *other_slash = other != NULL ? strrchr(other->file, '/') : NULL;

	return slash != NULL && other_slash != NULL && strcmp(path, other->file) != 0 &&
	       slash - path == other_slash - other->file && memcmp(path, other->file, (size_t)(slash - path)) == 0;
}

static void file_load(struct registry *r, const char *path, const struct text *data, struct diags *d)
{
	const struct workload *other;
	struct workload *w;
	struct diags found;

	diags_init(&found, path);
	if (workload_read(text_str(data), data->n, &found, &w) < 0) {
		diags_move(&found, path, d);
	} else if (is_beside(path, other = registry_find(r, w->name))) {
		diags_add(d, 0, 0, "%s:%d:%d: '%s' is defined in '%s' as well: name one of them otherwise", path,
		          w->line, w->column, w->name, other->file);
		workload_free(w);
	} else {
		registry_put(r, w);
	}
	diags_done(&found);
}

static int name_is_definition(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && text_ends(entry->d_name, ".yaml");
}

static int entry_load(struct registry *r, int dirfd, const char *dir, const char *name, bool must_be_root_owned,
                      struct diags *d, struct err *e)
{
	AUTO_CLOSE int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	AUTO_FREE char *path = xasprintf("%s/%s", dir, name);
	AUTO_TEXT struct text data = { 0 };
	struct err why;

	if (fd < 0) {
		diags_add(d, 0, 0, "%s: %s", path, strerror(errno));
		return 0;
	}
	if (must_be_root_owned && owner_check(fd, path, e) < 0)
		return -1;
	if (file_read(dirfd, name, YAML_MAX_BYTES, &data, &why) < 0) {
		diags_add(d, 0, 0, "%s: %s", path, why.text);
		return 0;
	}
	file_load(r, path, &data, d);
	return 0;
}

int registry_load(struct registry *r, const char *dir, bool must_be_root_owned, struct diags *d, struct err *e)
{
	AUTO_CLOSE int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent **entries = NULL;
	int n, rc = 0;

	if (fd < 0)
		return err_sys(e, errno, "open '%s'", dir);
	if (must_be_root_owned && owner_check(fd, dir, e) < 0)
		return -1;
	n = scandirat(fd, ".", &entries, name_is_definition, alphasort);
	if (n < 0)
		return err_sys(e, errno, "read '%s'", dir);
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = entry_load(r, fd, dir, entries[i]->d_name, must_be_root_owned, d, e);
		free(entries[i]);
	}
	free(entries);
	return rc;
}

const struct workload *registry_find(const struct registry *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->at[i]->name, name) == 0)
			return r->at[i];
	return NULL;
}

size_t registry_count(const struct registry *r)
{
	return r->n;
}

const struct workload *registry_at(const struct registry *r, size_t i)
{
	return r->at[i];
}
