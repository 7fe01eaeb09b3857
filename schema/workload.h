/* SPDX-License-Identifier: MIT
 *
 * Workload definitions: the YAML of iosweep-workload(5) as structs, the registry of those a host offers, and the
 * expansion of argument lists.  Nothing here runs anything or goes through a shell.
 */
#ifndef IOSWEEP_WORKLOAD_H
#define IOSWEEP_WORKLOAD_H

#include "schema/base/err.h"
#include "schema/base/mem.h"
#include "schema/base/text.h"
#include "schema/model.h"
#include "schema/yaml.h"

/* A parameter: name and text as written.  "2x ram" stays as it is until expansion. */
struct workload_param {
	const char *name;
	const char *value;
};

/* prepare and cleanup once per cell; before, run and after for every trial.  before comes ahead of the sync and the
 * dropping of caches; only run is measured.  All steps start in ${dir}. */
enum workload_phase { PHASE_PREPARE, PHASE_BEFORE, PHASE_RUN, PHASE_AFTER, PHASE_CLEANUP, N_PHASES };
const char *phase_name(enum workload_phase phase);

/* One argument list of a phase; words may hold ${...}. */
struct workload_step {
	char **words;
	size_t n;
	const char *copies;    /* number of concurrent streams, as text with ${...}; NULL: one.  ${copy} is 1..N in words */
	int64_t timeout_ns;    /* 0: the phase's default (run: the trial's time-out) */
	bool background;       /* a server: started, not waited for.  One started in prepare is ended after the steps of
	                        * cleanup, one of before or run after the last step of run; if it ends by itself earlier, the
	                        * next phase fails with its last words */
	int stop_signal;       /* background: the signal that asks it to end; SIGTERM unless the definition says otherwise */
	bool discard;          /* standard output goes to /dev/null, not into a pipe (cat) */
	bool retry;            /* run again, every 100 ms, until it exits 0 or its time-out passes (is the server up?) */
	bool may_fail;         /* an exit status other than 0 is no failure (cleanup) */
	const char *only_if;   /* text with ${...}: the step is left out if it expands to "" or "no"; NULL: always */
	const struct workload *workload; /* whose step it is */
	int line, column;
};

struct workload_metric; /* extract.h: private to workload.c and extract.c */

struct workload {
	const char *name, *about;
	const char *package;     /* that brings what it needs, for people; "" if not said */
	const char *source;      /* the YAML text, as stored */
	const char *file;        /* where it was read from, for messages */
	int line, column;        /* of its name in there */
	char **needs;            /* programs; NULL-terminated */
	char **path;             /* directories (with * in them) to look for programs in, before TOOL_PATH; NULL-terminated */
	char **version;          /* argument list that prints the tool's version; NULL-terminated, may be empty */
	char ***space;           /* products, of which the first whose conditions hold is the bytes its files take: each of
	                          * parameters, quantities and "if NAME", "unless NAME"; all NULL-terminated, may be empty */
	struct workload_param *params; /* with their defaults */
	size_t n_params;
	bool any_param;          /* takes parameters that it does not name (fio) */
	const char *more_prefix; /* any_param: only those that begin so ("" : any); pgbench's set_ */
	char **more_words;       /* any_param: what each becomes where "${@options}" stands; NULL-terminated */
	struct workload_param *rehearse_at_most; /* in a rehearsal: the largest value of a parameter ... */
	size_t n_rehearse_at_most;
	struct workload_param *rehearse_set;     /* ... and those that are replaced whatever the plan says */
	size_t n_rehearse_set;
	bool warm;               /* caches are not dropped before a trial */
	bool reads;              /* its throughput metrics are reads: for the 'cached' flag */
	struct workload_step *steps[N_PHASES];
	size_t n_steps[N_PHASES];
	struct workload_metric *metrics; /* owned by the arena */
	size_t n_metrics;
	const void *rules;       /* complete-if, fail-if, suspect-if: private to extract.c */
	struct evaluator **evaluator; /* in the arena; *evaluator is owned: its compiled expressions, made by the first extraction */
	const char *uses[16];    /* the facts (extract.h) that its expressions name; NULL-terminated */
	bool is_body;            /* made by workload_from_plan */
	uint8_t digest[32];      /* of what it says, without about, package, rehearse, space and comments */
	struct arena *arena;     /* owns all of it */
};

/* Does an expression of it name this fact?  The others need not be gathered. */
bool workload_uses(const struct workload *w, const char *fact);
/* May a plan give this parameter?  By name, or by more-params. */
bool workload_takes(const struct workload *w, const char *param);

/* A parameter's value in a rehearsal, given the plan's (submit --rehearse). */
const char *workload_rehearsed(const struct workload *w, const char *name, const char *value);

/* The absolute path of a program: the definition's `path` first (the highest version of a "*" first), then TOOL_PATH's
 * directories.  NULL if it is in none. */
#define WORKLOAD_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
char *workload_program(const struct workload *w, const char *name, struct arena *a);
/* The first of `needs` that is not installed, or NULL. */
const char *workload_missing(const struct workload *w);
/* 0 if there is none; else ERR_INFEASIBLE: "needs 'iozone', which is not installed: package iozone3". */
int workload_installed(const struct workload *w, struct err *e);

/* Reads one definition.  Faults: unknown key, a pattern that does not compile, a JSON path that is not one, a value
 * expression that reads a table, an undefined variable, a metric without unit or direction ... with line and column. */
int workload_read(const char *data, size_t n, struct diags *d, struct workload **ret);
void workload_free(struct workload *w);

/* `command` in a plan: run:, metrics: ... given in the plan itself.  body: the map under the workload's name. */
int workload_from_plan(const struct node *body, const char *data, size_t n, struct diags *d, struct workload **ret);

struct registry;
struct registry *registry_new(void);
void registry_free(struct registry *r);
/* Loads every *.yaml of a directory; later directories override earlier ones.  A bad definition is reported in d and
 * left out; the others stay usable.  must_be_root_owned: a directory or file that somebody but root can write is
 * refused as a whole (ERR_REFUSED).  -1 only if the directory cannot be read or is refused. */
int registry_load(struct registry *r, const char *dir, bool must_be_root_owned, struct diags *d, struct err *e);
/* Adds a definition, or puts it in the place of one of the same name.  The registry owns it from now on. */
void registry_put(struct registry *r, struct workload *w);
const struct workload *registry_find(const struct registry *r, const char *name); /* or NULL */
size_t registry_count(const struct registry *r);
const struct workload *registry_at(const struct registry *r, size_t i); /* sorted by name */

/* SHA-256 over definition and parameters (sorted, relative sizes kept relative, equal spellings of a size equal). */
void workload_digest(const struct workload *w, const struct workload_param *params, size_t n, uint8_t ret[32]);
/* The parameters as a JSON object, for the store; and back (arena). */
void workload_params_json(const struct workload_param *params, size_t n, struct text *ret);
int workload_params_from_json(const char *json, struct arena *a, struct workload_param **ret, size_t *ret_n,
                              struct err *e);

/* What ${...} stands for while a trial runs. */
struct expansion {
	const char *dir;        /* ${dir}: the work directory, absolute as the tools see it */
	const char *device;     /* ${device}: the target's node as the tools see it; NULL on a directory target */
	int64_t ram_bytes;      /* "2x ram"; the memory limit where there is one */
	int copy, copies;       /* ${copy}, ${copies} */
	int repetition;         /* ${repetition} */
	bool is_root;           /* the program will run as root: ${?root:WORD} (never in the worker; `workloads try` may) */
	const struct workload_param *params;
	size_t n_params;
};

/* One argument list, ready for exec: NULL-terminated, arena; argv[0] with its directory if the program was found.
 * ${size} is the parameter as given (a relative size in bytes); ${size:B} ${size:KiB} ${size:MiB} ${size:GiB} a whole
 * number of that unit (a relative size is rounded up, any other must fit); ${size:plain} bytes if it is relative or
 * ends with "iB", else the text as it is; ${size/bs} how many of one fit into the other, rounded up; ${time:s} a
 * duration in seconds; ${fresh-data=trial} "yes" or "no".  Values of parameters may hold ${...} themselves.  Whole
 * words: "${@options}" becomes the words of more-params for each parameter under it; "${@name}" the words of the
 * parameter's value, split at blanks with quotes honoured; "${?name:WORD}" WORD if the parameter is neither empty nor
 * "no", else no word; "${!name:WORD}" the opposite. */
int workload_expand(const struct workload_step *step, const struct expansion *x, struct arena *a, char ***ret_argv,
                    struct err *e);
/* Value of one text with ${...}, and of one size parameter in bytes. */
int workload_expand_text(const char *text, const struct expansion *x, struct arena *a, const char **ret, struct err *e);
/* Is the step to be run at all (only-if)? */
int workload_step_wanted(const struct workload_step *step, const struct expansion *x, bool *ret, struct err *e);
/* How many streams of the step run at once: at least 1, at most 1024. */
int workload_copies(const struct workload_step *step, const struct expansion *x, int *ret, struct err *e);
/* The space its files take, in bytes, and by what: "size x streams".  0 if the definition does not say, or not with
 * these parameters. */
int64_t workload_space(const struct workload *w, const struct expansion *x, struct text *ret_factors);
int workload_size(const char *value, int64_t ram_bytes, int64_t *ret_bytes, struct err *e);

#endif
