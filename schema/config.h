/* SPDX-License-Identifier: MIT
 *
 * The host's configuration, iosweepd.conf(5): root-owned YAML.  A device becomes a target only here.
 */
#ifndef IOSWEEP_CONFIG_H
#define IOSWEEP_CONFIG_H

#include "schema/base/err.h"
#include "schema/base/mem.h"
#include "schema/workload.h"

/* A listed device: every identity given must match, and exactly one device of the host may match. */
struct config_device {
	const char *name;
	const char *wwn, *serial, *by_id, *backing_file; /* NULL where not given; at least one is */
	int64_t size_bytes;                              /* 0: not given */
	int line, column;
};

struct config_directory {
	const char *name, *path;
};

/* A program of root's that prints facts about the machine which only it can find out (a controller's cache policy,
 * battery, firmware), as lines "key=value".  Run as root before each trial; the facts are called NAME.key. */
struct config_facts {
	const char *name;
	char **argv;                /* NULL-terminated; argv[0] is absolute */
	const char **identity;      /* keys that say what a thing is (firmware): comparisons name them; NULL-terminated */
	const char **is_volatile;   /* keys that change by themselves (temperature): recorded, never compared; likewise */
};

struct config {
	struct arena *arena;
	const char *file;         /* where it was read */
	const char *state;        /* state directory; store is STATE/iosweep.db */
	const char *socket;
	const char *group;        /* may submit and read */
	const char *user;         /* tools run as, if root submitted */
	const char **workloads;   /* directories of definitions, after the built-in one; NULL-terminated */
	struct config_device *devices;
	size_t n_devices;
	const char *images_path;  /* NULL: images are not offered */
	int64_t images_max_bytes; /* largest image; 0: no limit but keep-free */
	int64_t images_keep_free_bytes;
	struct config_directory *directories;
	size_t n_directories;
	struct config_facts *facts;
	size_t n_facts;
};

#define CONFIG_FILE_DEFAULT IOSWEEP_SYSCONFDIR "/iosweepd.yaml"

/* Reads and checks a configuration.  The file (and for root's daemon its directory) must be writable by nobody but
 * root or the caller's own uid; ERR_REFUSED otherwise.  Faults of the text go to d (then -1 with ERR_USAGE). */
int config_read(const char *path, struct diags *d, struct config **ret, struct err *e);
/* The same for those who answer with one error: the first fault of the text, with its position, and how many more. */
int config_read_one(const char *path, struct config **ret, struct err *e);
void config_free(struct config *c);

/* The registry a host offers: IOSWEEP_DATADIR/workloads (or $IOSWEEP_DATA/workloads), then config->workloads. */
int config_registry(const struct config *c, struct diags *d, struct registry **ret, struct err *e);

/* Where the programs look without a configuration: $IOSWEEP_SOCKET, $IOSWEEP_DB, else the built-in defaults. */
const char *config_default_socket(void);
const char *config_default_db(void);
const char *config_data_dir(void); /* $IOSWEEP_DATA or IOSWEEP_DATADIR */

const struct config_device *config_find_device(const struct config *c, const char *name);
const struct config_directory *config_find_directory(const struct config *c, const char *name);

#endif
