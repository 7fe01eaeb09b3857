/* SPDX-License-Identifier: MIT
 *
 * The table of rules; see guard.h.  Nothing here looks at the machine.
 */
#include "daemon/worker/guard.h"

#include <string.h>

static bool is_unlisted(const struct guard_facts *f, struct text *why)
{
	if (f->n_matching == 0)
		text_add(why, "no device of this host has its identity");
	return f->n_matching == 0;
}

static bool is_ambiguous(const struct guard_facts *f, struct text *why)
{
	if (f->n_matching > 1)
		text_printf(why, "%zu devices have its identity: %s", f->n_matching, f->other_match);
	return f->n_matching > 1;
}

static bool is_gone(const struct guard_facts *f, struct text *why)
{
	if (f->is_gone)
		text_add(why, "the device is gone");
	return f->is_gone;
}

static bool is_changed(const struct guard_facts *f, struct text *why)
{
	if (f->changed[0] != '\0')
		text_printf(why, "it is another device now: %s", f->changed);
	return f->changed[0] != '\0';
}

static bool is_read_only(const struct guard_facts *f, struct text *why)
{
	if (f->is_read_only)
		text_add(why, "the device is read-only");
	return f->is_read_only;
}

static bool is_under_root(const struct guard_facts *f, struct text *why)
{
	if (f->root[0] != '\0')
		text_printf(why, "the root filesystem is on it: %s", f->root);
	return f->root[0] != '\0';
}

static bool is_mounted(const struct guard_facts *f, struct text *why)
{
	if (f->mounted[0] != '\0')
		text_printf(why, "mounted %s", f->mounted);
	return f->mounted[0] != '\0';
}

static bool is_swap(const struct guard_facts *f, struct text *why)
{
	if (f->swap[0] != '\0')
		text_printf(why, "in use as swap: %s", f->swap);
	return f->swap[0] != '\0';
}

static bool is_held(const struct guard_facts *f, struct text *why)
{
	if (f->holder[0] != '\0')
		text_printf(why, "held by %s", f->holder);
	return f->holder[0] != '\0';
}

static bool is_behind_loop(const struct guard_facts *f, struct text *why)
{
	if (f->loop[0] != '\0')
		text_printf(why, "the loop device %s stands on it", f->loop);
	return f->loop[0] != '\0';
}

static bool is_in_pool(const struct guard_facts *f, struct text *why)
{
	if (f->pool[0] != '\0')
		text_printf(why, "part of the mounted btrfs %s", f->pool);
	return f->pool[0] != '\0';
}

static bool is_busy(const struct guard_facts *f, struct text *why)
{
	if (f->is_busy)
		text_add(why, "in use: another program or the kernel has it open exclusively");
	return f->is_busy;
}

/* A physical volume holds logical ones even while its group is not active; an inactive md member is left to `erase`. */
static bool is_volume(const struct guard_facts *f, struct text *why)
{
	bool yes = strcmp(f->signature.type, "LVM2_member") == 0 || strcmp(f->signature.type, "zfs_member") == 0;

	if (yes)
		text_printf(why, "'%s' is a member of a volume group or pool (%s)", f->signature_path,
		            f->signature.type);
	return yes;
}

static bool is_signed(const struct guard_facts *f, struct text *why)
{
	bool yes = f->signature.type[0] != '\0' && !f->may_erase && !f->is_ours;

	if (yes)
		text_printf(why, "'%s' carries a signature: %s%s%s", f->signature_path, f->signature.type,
		            f->signature.uuid[0] ? " " : "", f->signature.uuid);
	return yes;
}

static const struct guard_rule {
	bool (*refuses)(const struct guard_facts *f, struct text *why); /* adds the reason if it does */
	enum err_kind kind;
	const char *hint;
} rules[] = {
	{ is_unlisted, ERR_REFUSED, "`iosweep devices` shows the identities there are" },
	{ is_ambiguous, ERR_REFUSED, "list one more identity (serial, wwn, by-id, backing-file, size) that tells them apart" },
	{ is_gone, ERR_DEVICE_LOST, "" },
	{ is_changed, ERR_DEVICE_LOST, "" },
	{ is_read_only, ERR_REFUSED, "" },
	{ is_under_root, ERR_REFUSED, "" },
	{ is_mounted, ERR_REFUSED, "unmount it if nobody needs it" },
	{ is_swap, ERR_REFUSED, "swapoff(8) takes it out of use" },
	{ is_held, ERR_REFUSED, "stop the array or mapping above it if nobody needs it" },
	{ is_behind_loop, ERR_REFUSED, "detach the loop device if nobody needs it" },
	{ is_in_pool, ERR_REFUSED, "" },
	{ is_busy, ERR_REFUSED, "" },
	{ is_volume, ERR_REFUSED, "remove it there first: pvremove(8), zpool-labelclear(8)" },
	{ is_signed, ERR_REFUSED, "if what is on it may be destroyed, say `erase: yes` in the plan's target" },
};

bool guard_refuses(const struct guard_facts *f, struct text *ret_reasons)
{
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		AUTO_TEXT struct text why = { 0 };

		if (rules[i].refuses(f, &why)) {
			text_printf(ret_reasons, "%s%s", any ? "\n" : "", text_str(&why));
			any = true;
		}
	}
	return any;
}

int guard_judge(const struct guard_facts *f, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		AUTO_TEXT struct text why = { 0 };

		if (rules[i].refuses(f, &why)) {
			err_set(e, rules[i].kind, "%s: %s", f->what, text_str(&why));
			return err_hint(e, "%s", rules[i].hint);
		}
	}
	return 0;
}
