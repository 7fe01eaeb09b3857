/* SPDX-License-Identifier: MIT
 *
 * The host's configuration; see config.h.  One table of keys drives reading and the "did you mean"; whether what is
 * named exists on this host (groups, devices, directories) is asked later, by those who use it.
 */
#include "schema/config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "schema/base/text.h"
#include "schema/yaml.h"

#define SOCKET_DEFAULT "/run/iosweep/iosweep.sock"
#define STATE_DEFAULT  "/var/lib/iosweep"
#define STORE_NAME     "iosweep.db"
#define NAME_MAX_CHARS 64
#define KEEP_FREE_DEFAULT ((int64_t)1 << 30) /* so that a forgotten limit does not fill the host's disk */

/* ---- values ---- */

static bool name_is_valid(const char *s)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	size_t n = strlen(s);

	return n > 0 && n <= NAME_MAX_CHARS && strspn(s, allowed) == n && s[0] != '.' && s[0] != '-';
}

static const char *scalar_text(const struct node *node, const char *what, struct diags *d)
{
	if (node->kind != NODE_SCALAR) {
		diags_add(d, node->line, node->column, "'%s' takes text, this is %s", what, node_kind_name(node));
		return NULL;
	}
	if (node->text[0] == '\0') {
		diags_add(d, node->line, node->column, "'%s' is empty", what);
		return NULL;
	}
	return node->text;
}

/* An absolute path without "..", or NULL and a diagnostic. */
static const char *scalar_path(const struct node *node, const char *what, struct diags *d)
{
	const char *s = scalar_text(node, what, d);

	if (s == NULL)
		return NULL;
	if (s[0] != '/')
		diags_add(d, node->line, node->column, "'%s' must be an absolute path, not '%s'", what, s);
	else if (strstr(s, "/../") != NULL || text_ends(s, "/.."))
		diags_add(d, node->line, node->column, "'%s' must be a path without '..', not '%s'", what, s);
	else if (strspn(s, "/") == strlen(s))
		diags_add(d, node->line, node->column, "'%s' may not be the root directory", what);
	else
		return s;
	return NULL;
}

static int64_t scalar_size(const struct node *node, const char *what, struct diags *d)
{
	const char *s = scalar_text(node, what, d);
	struct err e = { 0 };
	int64_t bytes;

	if (s == NULL)
		return 0;
	if (size_parse(s, 0, &bytes, &e) < 0) {
		diags_add(d, node->line, node->column, "'%s': %s%s%s%s", what, e.text, e.hint[0] ? " (" : "", e.hint,
		          e.hint[0] ? ")" : "");
		return 0;
	}
	return bytes;
}

/* The reader's state: what is filled, and where faults go. */
struct reading {
	struct config *c;
	struct diags *d;
};

/* ---- one function a key ---- */

static void read_state(struct reading *r, const struct node *node)
{
	const char *s = scalar_path(node, "state", r->d);

	if (s != NULL)
		r->c->state = s;
}

static void read_socket(struct reading *r, const struct node *node)
{
	const size_t max = sizeof(((struct sockaddr_un *)0)->sun_path) - 1; /* unix(7) */
	const char *s = scalar_path(node, "socket", r->d);

	if (s == NULL)
		return;
	if (strlen(s) > max)
		diags_add(r->d, node->line, node->column,
		          "'socket' is longer than the %zu characters that the kernel takes", max);
	else
		r->c->socket = s;
}

static const char *read_account(struct reading *r, const struct node *node, const char *what)
{
	const char *s = scalar_text(node, what, r->d);

	if (s != NULL && !name_is_valid(s)) {
		diags_add(r->d, node->line, node->column, "'%s' is no name of a %s: '%s'", what, what, s);
		return NULL;
	}
	return s;
}

static void read_group(struct reading *r, const struct node *node)
{
	const char *s = read_account(r, node, "group");

	if (s != NULL)
		r->c->group = s;
}

static void read_user(struct reading *r, const struct node *node)
{
	const char *s = read_account(r, node, "user");

	if (s != NULL && strcmp(s, "root") == 0)
		diags_add(r->d, node->line, node->column, "'user' may not be root: tools never run as root");
	else if (s != NULL)
		r->c->user = s;
}

static void read_workloads(struct reading *r, const struct node *node)
{
	size_t n = node->kind == NODE_LIST ? node->n : 1, used = 0;

	if (node->kind == NODE_MAP) {
		diags_add(r->d, node->line, node->column, "'workloads' takes a list of directories, this is a map");
		return;
	}
	r->c->workloads = arena_array(r->c->arena, n + 1, sizeof(*r->c->workloads));
	for (size_t i = 0; i < n; i++) {
		const char *s = scalar_path(node->kind == NODE_LIST ? node->at[i] : node, "workloads", r->d);

		if (s != NULL)
			r->c->workloads[used++] = s;
	}
}

/* A map of names, or false and a diagnostic. */
static bool is_named_map(struct reading *r, const struct node *node, const char *what)
{
	if (node->kind != NODE_MAP) {
		diags_add(r->d, node->line, node->column, "'%s' takes a map of names, this is %s", what,
		          node_kind_name(node));
		return false;
	}
	for (size_t i = 0; i < node->n; i++)
		if (!name_is_valid(node->keys[i]->text))
			diags_add(r->d, node->keys[i]->line, node->keys[i]->column,
			          "'%s' is no name: use up to %d letters, digits, '_', '.' and '-'", node->keys[i]->text,
			          NAME_MAX_CHARS);
	return true;
}

static const char *device_text(struct reading *r, const struct node *body, const char *key)
{
	const struct node *value = node_get(body, key);

	return value == NULL ? NULL : scalar_text(value, key, r->d);
}

/* Or one that is only misspelt. */
static bool has_identity(const struct node *body, const char *const *known)
{
	static const char *const identities[] = { "wwn", "serial", "by-id", "backing-file" };

	for (size_t i = 0; i < ARRAY_SIZE(identities); i++)
		if (node_get(body, identities[i]) != NULL || node_misspells(body, known, identities[i]))
			return true;
	return false;
}

static void read_device(struct reading *r, const struct node *key, const struct node *body, struct config_device *ret)
{
	static const char *const known[] = { "wwn", "serial", "by-id", "backing-file", "size", NULL };
	static const char by_id_dir[] = "/dev/disk/by-id/";
	const struct node *backing, *size;

	*ret = (struct config_device){ .name = key->text, .line = key->line, .column = key->column };
	if (body->kind != NODE_MAP) {
		diags_add(r->d, body->line, body->column, "device '%s' takes a map of identities, this is %s",
		          key->text, node_kind_name(body));
		return;
	}
	node_check_keys(body, known, "a device", r->d);
	ret->wwn = device_text(r, body, "wwn");
	ret->serial = device_text(r, body, "serial");
	ret->by_id = device_text(r, body, "by-id");
	backing = node_get(body, "backing-file");
	size = node_get(body, "size");
	if (ret->by_id != NULL && text_starts(ret->by_id, by_id_dir))
		ret->by_id += strlen(by_id_dir);
	if (ret->by_id != NULL && strchr(ret->by_id, '/') != NULL)
		diags_add(r->d, node_get(body, "by-id")->line, node_get(body, "by-id")->column,
		          "'by-id' takes a name below '/dev/disk/by-id', not '%s'", ret->by_id);
	if (backing != NULL)
		ret->backing_file = scalar_path(backing, "backing-file", r->d);
	if (size != NULL)
		ret->size_bytes = scalar_size(size, "size", r->d);
	if (!has_identity(body, known))
		diags_add(r->d, key->line, key->column,
		          "device '%s' needs an identity: 'wwn', 'serial', 'by-id' or 'backing-file' ('iosweep devices' prints them)",
		          key->text);
}

static bool is_same(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* Two names for one device would be two targets that the lease of one blocks for the other. */
static void devices_check_twins(struct reading *r)
{
	for (size_t i = 1; i < r->c->n_devices; i++)
		for (size_t j = 0; j < i; j++) {
			const struct config_device *x = &r->c->devices[i], *y = &r->c->devices[j];
			const char *key = is_same(x->wwn, y->wwn)                         ? "wwn" :
			                  is_same(x->serial, y->serial) && x->wwn == NULL ? "serial" :
			                  is_same(x->by_id, y->by_id)                     ? "by-id" :
			                  is_same(x->backing_file, y->backing_file)       ? "backing-file" :
			                                                                    NULL;

			if (key != NULL)
				diags_add(r->d, x->line, x->column, "devices '%s' and '%s' have the same '%s'", y->name,
				          x->name, key);
		}
}

static void read_devices(struct reading *r, const struct node *node)
{
	if (!is_named_map(r, node, "devices"))
		return;
	r->c->n_devices = node->n;
	r->c->devices = arena_array(r->c->arena, node->n, sizeof(*r->c->devices));
	for (size_t i = 0; i < node->n; i++)
		read_device(r, node->keys[i], node->at[i], &r->c->devices[i]);
	devices_check_twins(r);
}

static void read_images(struct reading *r, const struct node *node)
{
	static const char *const known[] = { "path", "max", "keep-free", NULL };
	const struct node *path, *max, *keep;

	if (node->kind != NODE_MAP) {
		diags_add(r->d, node->line, node->column, "'images' takes a map with 'path', this is %s",
		          node_kind_name(node));
		return;
	}
	node_check_keys(node, known, "images", r->d);
	path = node_get(node, "path");
	max = node_get(node, "max");
	keep = node_get(node, "keep-free");
	if (path == NULL && !node_misspells(node, known, "path"))
		diags_add(r->d, node->line, node->column, "'images' needs 'path', the directory for image files");
	else if (path != NULL)
		r->c->images_path = scalar_path(path, "path", r->d);
	if (max != NULL)
		r->c->images_max_bytes = scalar_size(max, "max", r->d);
	r->c->images_keep_free_bytes = keep == NULL ? KEEP_FREE_DEFAULT : scalar_size(keep, "keep-free", r->d);
}

static void read_directories(struct reading *r, const struct node *node)
{
	size_t used = 0;

	if (!is_named_map(r, node, "directories"))
		return;
	r->c->directories = arena_array(r->c->arena, node->n, sizeof(*r->c->directories));
	for (size_t i = 0; i < node->n; i++) {
		const char *path = scalar_path(node->at[i], node->keys[i]->text, r->d);

		if (path != NULL)
			r->c->directories[used++] = (struct config_directory){ .name = node->keys[i]->text, .path = path };
	}
	r->c->n_directories = used;
}

/* A list of words as a NULL-terminated array; faults leave it short. */
static const char **read_words(struct reading *r, const struct node *list, const char *what)
{
	size_t n = list != NULL && list->kind == NODE_LIST ? list->n : 0, used = 0;
	const char **words = arena_array(r->c->arena, n + 1, sizeof(*words));

	if (list != NULL && list->kind != NODE_LIST)
		diags_add(r->d, list->line, list->column, "'%s' takes a list of words, this is %s", what,
		          node_kind_name(list));
	for (size_t i = 0; i < n; i++) {
		const char *word = scalar_text(list->at[i], what, r->d);

		if (word != NULL)
			words[used++] = word;
	}
	return words;
}

/* Facts that iosweep finds itself begin with these. */
static bool is_family_taken(const char *name)
{
	static const char *const families[] = { "kernel", "host", "cpu", "memory", "target", "device", "loop", "tool", "facts" };

	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		if (strcmp(families[i], name) == 0)
			return true;
	return false;
}

static void read_fact_program(struct reading *r, const struct node *key, const struct node *body,
                              struct config_facts *ret)
{
	static const char *const known[] = { "run", "identity", "volatile", NULL };
	bool is_map = body->kind == NODE_MAP;
	const struct node *run = is_map ? node_get(body, "run") : body;

	if (is_map)
		node_check_keys(body, known, "facts", r->d);
	if (is_family_taken(key->text))
		diags_add(r->d, key->line, key->column,
		          "'%s' cannot name a program: facts of that name are iosweep's own", key->text);
	*ret = (struct config_facts){
		.name = key->text, .argv = (char **)read_words(r, run, "run"),
		.identity = read_words(r, is_map ? node_get(body, "identity") : NULL, "identity"),
		.is_volatile = read_words(r, is_map ? node_get(body, "volatile") : NULL, "volatile"),
	};
	if (run == NULL || (run->kind == NODE_LIST && run->n == 0))
		diags_add(r->d, body->line, body->column, "'%s' needs a program: [/PATH/PROGRAM, WORD, ...]",
		          key->text);
	else if (ret->argv[0] != NULL && ret->argv[0][0] != '/')
		diags_add(r->d, run->line, run->column, "'%s' must be the absolute path of a program", ret->argv[0]);
}

static void read_facts(struct reading *r, const struct node *node)
{
	if (!is_named_map(r, node, "facts"))
		return;
	r->c->n_facts = node->n;
	r->c->facts = arena_array(r->c->arena, node->n, sizeof(*r->c->facts));
	for (size_t i = 0; i < node->n; i++)
		read_fact_program(r, node->keys[i], node->at[i], &r->c->facts[i]);
}

static const struct {
	const char *key;
	void (*read)(struct reading *r, const struct node *node);
} keys[] = {
	{ "state", read_state },     { "socket", read_socket },   { "group", read_group },
	{ "user", read_user },       { "workloads", read_workloads }, { "devices", read_devices },
	{ "images", read_images },   { "directories", read_directories }, { "facts", read_facts },
};

static void read_root(struct reading *r, const struct node *root)
{
	const char *known[ARRAY_SIZE(keys) + 1] = { NULL };

	if (root->kind != NODE_MAP) {
		diags_add(r->d, root->line, root->column, "the configuration is a map of keys, this is %s",
		          node_kind_name(root));
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		known[i] = keys[i].key;
	node_check_keys(root, known, "the configuration", r->d);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const struct node *value = node_get(root, keys[i].key);

		if (value != NULL)
			keys[i].read(r, value);
	}
}

/* ---- who may have written it ---- */

static int owner_check(const char *path, bool is_directory, struct err *e)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return err_sys(e, errno, "look at '%s'", path);
	if (!is_directory && !S_ISREG(st.st_mode))
		return err_set(e, ERR_REFUSED, "'%s' is not a regular file", path);
	if (st.st_uid != 0 && st.st_uid != geteuid()) {
		err_set_(e, ERR_REFUSED, "'%s' belongs to uid %u, who could change the configuration", path,
		         (unsigned)st.st_uid);
		return err_hint(e, "chown root '%s'", path);
	}
	/* in a sticky directory nobody can rename or remove what belongs to another */
	if ((st.st_mode & 022) != 0 && !(is_directory && (st.st_mode & S_ISVTX) != 0)) {
		err_set_(e, ERR_REFUSED, "'%s' can be written by others than its owner", path);
		return err_hint(e, "chmod go-w '%s'", path);
	}
	return 0;
}

/* path is resolved: no symbolic link in it.  For root the whole way down to the file counts. */
static int owners_check(const char *path, struct err *e)
{
	AUTO_FREE char *dir = xstrdup(path);
	char *slash;

	if (owner_check(path, false, e) < 0)
		return -1;
	if (geteuid() != 0)
		return 0;
	while ((slash = strrchr(dir, '/')) != NULL) {
		slash[slash == dir ? 1 : 0] = '\0';
		if (owner_check(dir, true, e) < 0)
			return -1;
		if (slash == dir)
			break;
	}
	return 0;
}

int config_read(const char *path, struct diags *d, struct config **ret, struct err *e)
{
	AUTO_FREE char *resolved = realpath(path, NULL);
	AUTO_ARENA struct arena *a = NULL;
	struct reading r = { .d = d };
	struct node *root;
	size_t before = d->n + d->n_lost;

	if (resolved == NULL)
		return err_sys(e, errno, "open the configuration '%s'", path);
	if (owners_check(resolved, e) < 0)
		return -1;
	a = arena_new();
	r.c = arena_alloc(a, sizeof(*r.c));
	*r.c = (struct config){
		.arena = a, .file = arena_strdup(a, resolved), .state = STATE_DEFAULT, .socket = SOCKET_DEFAULT,
		.group = "iosweep", .user = "iosweep", .workloads = arena_array(a, 1, sizeof(char *)),
	};
	if (yaml_read_file(a, resolved, d, &root) == 0)
		read_root(&r, root);
	diags_sort(d);
	if (d->n + d->n_lost > before) {
		size_t n = d->n + d->n_lost - before;

		return err_set(e, ERR_USAGE, "the configuration '%s' has %zu error%s", path, n, n == 1 ? "" : "s");
	}
	*ret = r.c;
	a = NULL;
	return 0;
}

int config_read_one(const char *path, struct config **ret, struct err *e)
{
	struct diags d;
	int rc;

	diags_init(&d, path);
	rc = config_read(path, &d, ret, e);
	if (rc < 0 && d.n > 0) {
		size_t n_more = d.n + d.n_lost - 1;

		err_set(e, ERR_USAGE, "%s:%d:%d: %s", path, d.at[0].line, d.at[0].column, d.at[0].message);
		if (n_more > 0)
			err_hint(e, "and %zu more error%s in the configuration", n_more, n_more == 1 ? "" : "s");
	}
	diags_done(&d);
	return rc;
}

void config_free(struct config *c)
{
	if (c != NULL)
		arena_free(c->arena);
}

/* ---- defaults and look-ups ---- */

static const char *environment_or(const char *name, const char *otherwise)
{
	const char *s = secure_getenv(name);

	return s == NULL || s[0] == '\0' ? otherwise : s;
}

const char *config_default_socket(void)
{
	return environment_or("IOSWEEP_SOCKET", SOCKET_DEFAULT);
}

const char *config_default_db(void)
{
	return environment_or("IOSWEEP_DB", STATE_DEFAULT "/" STORE_NAME);
}

const char *config_data_dir(void)
{
	return environment_or("IOSWEEP_DATA", IOSWEEP_DATADIR);
}

int config_registry(const struct config *c, struct diags *d, struct registry **ret, struct err *e)
{
	AUTO_FREE char *builtin = xasprintf("%s/workloads", config_data_dir());
	struct registry *r = registry_new();
	bool is_root = geteuid() == 0;
	/* who started root's daemon with IOSWEEP_DATA vouches for a source tree that a developer owns */
	bool is_vouched = secure_getenv("IOSWEEP_DATA") != NULL;

	if (registry_load(r, builtin, is_root && !is_vouched, d, e) < 0) {
		registry_free(r);
		return err_in(e, "built-in workloads");
	}
	for (size_t i = 0; c != NULL && c->workloads[i] != NULL; i++)
		if (registry_load(r, c->workloads[i], is_root, d, e) < 0) {
			registry_free(r);
			return err_in(e, "workloads of the configuration");
		}
	*ret = r;
	return 0;
}

const struct config_device *config_find_device(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_devices; i++)
		if (strcmp(c->devices[i].name, name) == 0)
			return &c->devices[i];
	return NULL;
}

const struct config_directory *config_find_directory(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_directories; i++)
		if (strcmp(c->directories[i].name, name) == 0)
			return &c->directories[i];
	return NULL;
}
