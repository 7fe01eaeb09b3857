/* SPDX-License-Identifier: MIT
 *
 * Plans: the top level of the file, its settings, target and geometry.  The rest is read by plan_define.c,
 * plan_workload.c, plan_rehearse.c, plan_axis.c and plan_block.c, in the order of the table below, since later parts
 * refer to earlier ones.  Cells are made of it in matrix.c.
 */
#include "schema/plan.h"

#include <string.h>

#include "schema/base/text.h"
#include "schema/plan_private.h"

#define NAME_MAX_BYTES 64

const char *order_name(enum order order)
{
	static const char *const names[] = { [ORDER_NESTED] = "nested", [ORDER_ROUNDS] = "rounds", [ORDER_RANDOM] = "random" };

	return names[order];
}

const char *fresh_name(enum fresh fresh)
{
	static const char *const names[] = {
		[FRESH_CELL] = "cell", [FRESH_FILESYSTEM] = "filesystem", [FRESH_TRIAL] = "trial"
	};

	return names[fresh];
}

void plan_fault_err(struct plan_reader *r, const struct node *node, const char *context, const struct err *e)
{
	PLAN_FAULT(r, node, "%s%s%s%s%s", context, context[0] != '\0' ? ": " : "", e->text, e->hint[0] != '\0' ? ": " : "",
	           e->hint);
}

const char *plan_scalar(struct plan_reader *r, const struct node *node, const char *key, const char *what)
{
	if (node->kind != NODE_SCALAR) {
		PLAN_FAULT(r, node, "'%s' takes %s, not %s", key, what, node_kind_name(node));
		return NULL;
	}
	if (node->text[0] == '\0') {
		PLAN_FAULT(r, node, "'%s' has no value: it takes %s", key, what);
		return NULL;
	}
	return node->text;
}

const char *plan_name(struct plan_reader *r, const struct node *node, const char *key)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
	const char *name = plan_scalar(r, node, key, "a name");
	size_t n;

	if (name == NULL)
		return NULL;
	n = strlen(name);
	if (n <= NAME_MAX_BYTES && strspn(name, letters) == n && strchr("._-", name[0]) == NULL)
		return name;
	PLAN_FAULT(r, node, "'%s' is not a name: letters, digits, '.', '_' and '-', %d at the most, the first a letter or digit",
	           name, NAME_MAX_BYTES);
	return NULL;
}

/* ---- settings ---- */

static void name_read(struct plan_reader *r, const struct node *node)
{
	r->p->name = plan_name(r, node, "plan");
}

static void about_read(struct plan_reader *r, const struct node *node)
{
	const char *text = plan_scalar(r, node, "about", "a text");

	if (text == NULL)
		return;
	text = arena_strndup(r->a, text, strlen(text) - (text_ends(text, "\n") ? 1 : 0)); /* "about: >" ends in one */
	if (!text_is_printable(text))
		PLAN_FAULT(r, node, "'about' is one line for people: write it without line breaks and control characters");
	r->p->about = text;
}

static void integer_read(struct plan_reader *r, const struct node *node, const char *key, int64_t min, int64_t max,
                         int64_t *ret)
{
	const char *text = plan_scalar(r, node, key, "a number");

	if (text != NULL && integer_parse(text, min, max, ret) < 0)
		PLAN_FAULT(r, node, "'%s' is not a value of '%s': write a whole number of %lld to %lld", text, key,
		           (long long)min, (long long)max);
}

void plan_trials(struct plan_reader *r, const struct node *node, int *ret)
{
	int64_t v = *ret;

	integer_read(r, node, "trials", 1, 1000, &v);
	*ret = (int)v;
}

static void trials_read(struct plan_reader *r, const struct node *node)
{
	plan_trials(r, node, &r->p->trials);
}

static void priority_read(struct plan_reader *r, const struct node *node)
{
	int64_t v = 0;

	integer_read(r, node, "priority", -100, 100, &v);
	r->p->priority = (int)v;
}

static void seed_read(struct plan_reader *r, const struct node *node)
{
	int64_t v = 1;

	integer_read(r, node, "random-seed", 0, INT64_MAX, &v);
	r->p->random_seed = (uint64_t)v;
}

/* Index of a scalar's text in words, or -1 after a fault. */
static int choice_read(struct plan_reader *r, const struct node *node, const char *key, const char *const *words)
{
	const char *text = plan_scalar(r, node, key, "one word");
	AUTO_TEXT struct text list = { 0 };

	for (int i = 0; text != NULL && words[i] != NULL; i++) {
		if (strcmp(words[i], text) == 0)
			return i;
		text_printf(&list, "%s%s", i > 0 ? ", " : "", words[i]);
	}
	if (text != NULL)
		PLAN_FAULT(r, node, "'%s' is not a value of '%s': write one of %s", text, key, text_str(&list));
	return -1;
}

static void keep_read(struct plan_reader *r, const struct node *node)
{
	static const char *const words[] = { "median", "mean", NULL };

	r->p->keep = choice_read(r, node, "keep", words) == 1 ? KEEP_MEAN : KEEP_MEDIAN;
}

static void order_read(struct plan_reader *r, const struct node *node)
{
	static const char *const words[] = { "nested", "rounds", "random", NULL };
	int i = choice_read(r, node, "order", words);

	r->p->order = i > 0 ? (enum order)i : ORDER_NESTED;
}

static void fresh_read(struct plan_reader *r, const struct node *node)
{
	static const char *const words[] = { "cell", "filesystem", "trial", NULL };
	int i = choice_read(r, node, "fresh", words);

	r->p->fresh = i > 0 ? (enum fresh)i : FRESH_CELL;
}

static void on_failure_read(struct plan_reader *r, const struct node *node)
{
	static const char *const words[] = { "continue", "stop", NULL };

	r->p->stop_on_failure = choice_read(r, node, "on-failure", words) == 1;
}

static void duration_read(struct plan_reader *r, const struct node *node, const char *key, int64_t min_ns,
                          int64_t *ret_ns)
{
	const char *text = plan_scalar(r, node, key, "a duration");
	struct err e;
	int64_t ns;

	if (text == NULL)
		return;
	if (duration_parse(text, &ns, &e) < 0)
		plan_fault_err(r, node, key, &e);
	else if (ns < min_ns)
		PLAN_FAULT(r, node, "%s: '%s' is too short: a second is the least", key, text);
	else
		*ret_ns = ns;
}

static void timeout_read(struct plan_reader *r, const struct node *node)
{
	duration_read(r, node, "timeout", INT64_C(1000000000), &r->p->timeout_ns);
}

static void settle_read(struct plan_reader *r, const struct node *node)
{
	duration_read(r, node, "settle", 0, &r->p->settle_ns);
}

static void precondition_read(struct plan_reader *r, const struct node *node)
{
	if (node_bool(node, &r->p->precondition) < 0)
		PLAN_FAULT(r, node, "'precondition' takes yes or no");
	else if (r->p->precondition && r->p->target.kind == TARGET_DIRECTORY)
		PLAN_FAULT(r, node, "'precondition' writes a device over: a directory has none of its own");
}

static void memory_read(struct plan_reader *r, const struct node *node)
{
	if (plan_scalar(r, node, "memory", "a size (to sweep it, put it into the matrix)") != NULL)
		r->memory = node;
}

static void window_read(struct plan_reader *r, const struct node *node)
{
	PLAN_FAULT(r, node, "'window' is not to be had yet: a sweep starts when its turn comes; leave it out");
}

/* ---- target and geometry ---- */

static void bool_read(struct plan_reader *r, const struct node *map, const char *key, bool *ret)
{
	const struct node *node = node_get(map, key);

	if (node != NULL && node_bool(node, ret) < 0)
		PLAN_FAULT(r, node, "'%s' takes yes or no", key);
}

/* A device or directory is meant by its name in the host's configuration, never by a path. */
static void target_name_read(struct plan_reader *r, const struct node *node, const char *key)
{
	if (node->kind == NODE_SCALAR && strchr(node->text, '/') != NULL)
		PLAN_FAULT(r, node, "'%s' is a path: a %s is named as this host's configuration lists it (iosweep devices)",
		           node->text, key);
	else
		r->p->target.name = plan_name(r, node, key);
}

#define IMAGE_MIN_BYTES (INT64_C(1) << 20)

void plan_image_size(struct plan_reader *r, const struct node *node, int64_t *ret_bytes)
{
	const char *text = plan_scalar(r, node, "image", "a size");
	struct err e;

	if (text == NULL)
		return;
	if (size_parse(text, 0, ret_bytes, &e) < 0)
		plan_fault_err(r, node, "image", &e);
	else if (*ret_bytes < IMAGE_MIN_BYTES || *ret_bytes % 4096 != 0)
		PLAN_FAULT(r, node, "image: '%s' is not a size of at least 1MiB and a multiple of 4KiB", text);
}

static bool target_is_misspelt(const struct node *node, const char *const *known)
{
	return node_misspells(node, known, "device") || node_misspells(node, known, "image") ||
	       node_misspells(node, known, "directory");
}

/* What is about another kind of target. */
static void target_extras_check(struct plan_reader *r, const struct node *node)
{
	static const struct {
		const char *key, *kind, *fault;
	} extras[] = {
		{ "direct", "image", "'direct' is about an image's loop device" },
		{ "erase", "device", "'erase' is about a device: nothing else is erased" },
		{ "keep-filesystem", "device", "'keep-filesystem' is about a device" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(extras); i++)
		if (node_get(node, extras[i].key) != NULL && node_get(node, extras[i].kind) == NULL)
			PLAN_FAULT(r, node_get(node, extras[i].key), "%s", extras[i].fault);
}

static void target_read(struct plan_reader *r, const struct node *node)
{
	static const char *const known[] = { "device", "image", "directory", "direct", "erase", "keep-filesystem", NULL };
	const struct node *device = node_get(node, "device"), *image = node_get(node, "image");
	const struct node *directory = node_get(node, "directory");
	struct target *t = &r->p->target;

	if (node->kind != NODE_MAP) {
		PLAN_FAULT(r, node, "'target' takes one of {device: NAME}, {image: SIZE}, {directory: NAME}, not %s",
		           node_kind_name(node));
		return;
	}
	node_check_keys(node, known, "the target", r->d);
	if (device == NULL && image == NULL && directory == NULL && target_is_misspelt(node, known))
		return;
	if ((device != NULL) + (image != NULL) + (directory != NULL) != 1)
		PLAN_FAULT(r, node, "'target' takes exactly one of 'device', 'image' and 'directory'");
	t->kind = directory != NULL ? TARGET_DIRECTORY : image != NULL ? TARGET_IMAGE : TARGET_DEVICE;
	if (device != NULL)
		target_name_read(r, device, "device");
	if (image != NULL)
		plan_image_size(r, image, &t->image_bytes);
	if (directory != NULL)
		target_name_read(r, directory, "directory");
	bool_read(r, node, "direct", &t->direct);
	bool_read(r, node, "erase", &t->erase);
	bool_read(r, node, "keep-filesystem", &t->keep_filesystem);
	target_extras_check(r, node);
}

static void geometry_read(struct plan_reader *r, const struct node *node)
{
	static const char *const known[] = { "stripe_unit", "data_disks", NULL };
	const struct node *unit = node_get(node, "stripe_unit"), *disks = node_get(node, "data_disks");
	const char *text;
	struct err e;

	if (node->kind != NODE_MAP) {
		PLAN_FAULT(r, node, "'geometry' takes a map such as {stripe_unit: 64KiB, data_disks: 12}, not %s",
		           node_kind_name(node));
		return;
	}
	node_check_keys(node, known, "the geometry", r->d);
	text = unit != NULL ? plan_scalar(r, unit, "stripe_unit", "a size") : NULL;
	if (text != NULL && size_parse(text, 0, &r->p->stripe_unit_bytes, &e) < 0)
		plan_fault_err(r, unit, "stripe_unit", &e);
	else if (text != NULL && (r->p->stripe_unit_bytes < 512 || r->p->stripe_unit_bytes % 512 != 0))
		PLAN_FAULT(r, unit, "stripe_unit: '%s' is not a multiple of 512B", text);
	if (disks != NULL)
		integer_read(r, disks, "data_disks", 1, 10000, &r->p->data_disks);
}

/* ---- the whole ---- */

/* In the order in which they are read. */
static const struct {
	const char *key;
	void (*read)(struct plan_reader *r, const struct node *node);
	const char *need; /* a plan must have it: what to write */
} plan_keys[] = {
	{ "plan", name_read, "'plan: NAME'" },
	{ "about", about_read, NULL },
	{ "target", target_read, "'target: {image: 1GiB}' or {device: NAME} or {directory: NAME}" },
	{ "geometry", geometry_read, NULL },
	{ "trials", trials_read, NULL },
	{ "keep", keep_read, NULL },
	{ "order", order_read, NULL },
	{ "random-seed", seed_read, NULL },
	{ "fresh", fresh_read, NULL },
	{ "timeout", timeout_read, NULL },
	{ "settle", settle_read, NULL },
	{ "on-failure", on_failure_read, NULL },
	{ "priority", priority_read, NULL },
	{ "memory", memory_read, NULL },
	{ "precondition", precondition_read, NULL },
	{ "window", window_read, NULL },
	{ "define", plan_read_define, NULL },
	{ "workloads", plan_read_workloads, "'workloads:' with a list such as [dd-write, dd-read]" },
	{ "rehearse", plan_read_rehearse, NULL },
	{ "matrix", plan_read_matrix, "'matrix:' with the axes to vary" },
	{ "exclude", plan_read_exclude, NULL },
};

static void top_read(struct plan_reader *r, const struct node *root)
{
	const char *known[ARRAY_SIZE(plan_keys) + 1] = { NULL };

	if (root->kind != NODE_MAP) {
		PLAN_FAULT(r, root, "a plan is a map that begins with 'plan: NAME', not %s", node_kind_name(root));
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(plan_keys); i++)
		known[i] = plan_keys[i].key;
	node_check_keys(root, known, "the plan", r->d);
	plan_read_define(r, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(plan_keys); i++) {
		const struct node *node = node_get(root, plan_keys[i].key);

		if (node != NULL)
			plan_keys[i].read(r, node);
		else if (plan_keys[i].need != NULL && !node_misspells(root, known, plan_keys[i].key))
			PLAN_FAULT(r, root, "the plan has no '%s': add %s", plan_keys[i].key, plan_keys[i].need);
	}
	plan_read_only(r);
}

int plan_read(const char *data, size_t n, const struct registry *workloads, struct diags *d, struct plan **ret)
{
	struct arena *a = arena_new();
	struct plan *p = arena_alloc(a, sizeof(*p));
	struct plan_reader r = { .p = p, .a = a, .d = d, .registry = workloads, .data = data, .n_data = n };
	size_t n_before = d->n + d->n_lost;
	struct node *root;

	*p = (struct plan){
		.arena = a, .name = "", .about = "", .trials = 3, .keep = KEEP_MEDIAN, .random_seed = 1,
		.timeout_ns = 3600 * INT64_C(1000000000), .settle_ns = 300 * INT64_C(1000000000),
		.target = { .name = "", .direct = true },
	};
	if (yaml_read(a, data, n, d, &root) == 0)
		top_read(&r, root);
	if (d->n + d->n_lost == n_before)
		plan_check_expansion(&r);
	diags_sort(d);
	if (d->n + d->n_lost > n_before) {
		plan_free(p);
		return -1;
	}
	*ret = p;
	return 0;
}

void plan_free(struct plan *p)
{
	if (p == NULL)
		return;
	for (size_t i = 0; i < p->n_own; i++)
		workload_free(p->own[i]);
	free(p->own);
	arena_free(p->arena); /* p itself is in it */
}
