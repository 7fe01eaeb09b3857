/* SPDX-License-Identifier: MIT
 *
 * Weak stand-ins for what plan and workload readers provide; the library's own definitions win.
 */
#ifndef STORE_STUBS_H
#define STORE_STUBS_H
#define WEAK __attribute__((weak))
WEAK const char *step_name(enum step_id step)
{
	static const char *const n[] = { "claim", "layout", "queue", "format", "mount", "tune", "confine" };
	return n[step];
}
WEAK void cell_config(const struct cell *c, struct text *t, uint8_t d[32])
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->at[i].value, KERNEL_DEFAULT) != 0)
			text_printf(t, "%s=%s\n", c->at[i].axis, c->at[i].value);
	digest_of(text_str(t), t->n, d);
}
WEAK void workload_digest(const struct workload *w, const struct workload_param *p, size_t n, uint8_t ret[32])
{
	(void)p, (void)n;
	digest_of(w->source, strlen(w->source), ret);
}
WEAK void workload_params_json(const struct workload_param *p, size_t n, struct text *ret)
{
	(void)p, (void)n;
	text_add(ret, "{}");
}
WEAK int workload_params_from_json(const char *j, struct arena *a, struct workload_param **r, size_t *n, struct err *e)
{
	(void)j, (void)a, (void)e;
	*r = NULL, *n = 0;
	return 0;
}
WEAK int workload_read(const char *d, size_t n, struct diags *g, struct workload **ret)
{
	(void)d, (void)n, (void)g;
	*ret = xcalloc(1, sizeof(**ret));
	return 0;
}
WEAK void workload_free(struct workload *w)
{
	free(w);
}
#endif
