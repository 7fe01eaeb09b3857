/* SPDX-License-Identifier: MIT
 *
 * The rows of the table of axes, and nothing else; axis.c reads them.  Ranges are the kernel's where it states one,
 * else what a person could mean.  Left out on purpose: attributes that do not bear on speed, that can make a host
 * unusable (vm.min_free_kbytes), or whose writes current kernels ignore (queue/io_poll).
 *
 * Sources: Documentation/ABI/stable/sysfs-block, Documentation/ABI/testing/sysfs-class-bdi,
 * Documentation/block/{bfq,deadline,kyber}-iosched.rst, Documentation/admin-guide/sysctl/vm.rst,
 * Documentation/admin-guide/{md,cgroup-v2}.rst of Linux 6.18.
 */
#include "schema/axis.h"

#define KIB INT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define TIB (1024 * GIB)
#define PAGE (4 * KIB)
#define INT_LIMIT INT64_C(2147483647) /* the kernel keeps it in an int */

#define QUEUE_INTEGER(attr_, min_, max_, unit_, about_) \
	{ .name = "queue." attr_, .kind = AXIS_INTEGER, .place = AXIS_QUEUE, .step = STEP_QUEUE, .attr = attr_, \
	  .unit = unit_, .min = min_, .max = max_, .about = about_ " (ABI/stable/sysfs-block, queue/" attr_ ")" }
#define IOSCHED(attr_, min_, max_, unit_, scheduler_, about_) \
	{ .name = "iosched." attr_, .kind = AXIS_INTEGER, .place = AXIS_IOSCHED, .step = STEP_QUEUE, .attr = attr_, \
	  .unit = unit_, .min = min_, .max = max_, .about = scheduler_ ": " about_ " (block/" scheduler_ "-iosched.rst)" }
#define VM_INTEGER(attr_, max_, unit_, about_) \
	{ .name = "vm." attr_, .kind = AXIS_INTEGER, .place = AXIS_VM, .step = STEP_TUNE, .attr = attr_, \
	  .unit = unit_, .min = 0, .max = max_, .about = about_ " (admin-guide/sysctl/vm.rst, " attr_ ")" }
#define VM_SIZE(attr_, min_, about_) \
	{ .name = "vm." attr_, .kind = AXIS_SIZE, .place = AXIS_VM, .step = STEP_TUNE, .attr = attr_, .unit = "bytes", \
	  .min = min_, .max = TIB, .granule = PAGE, .about = about_ " (admin-guide/sysctl/vm.rst, " attr_ ")" }
#define MD(attr_, min_, max_, unit_, about_) \
	{ .name = "md." attr_, .kind = AXIS_INTEGER, .place = AXIS_MD, .step = STEP_LAYOUT, .attr = attr_, \
	  .unit = unit_, .min = min_, .max = max_, .about = about_ " (admin-guide/md.rst, " attr_ ")", \
	  .not_yet = "it belongs to a software array, and iosweep builds none yet: only 'layout: plain' is known" }

static const char *const layouts[] = { "plain", NULL };
static const char *const write_caches[] = { "write back", "write through", NULL };

/* Rows of one step in the order in which a person would look for them. */
const struct axis axis_table[] = {
	{ .name = "layout", .kind = AXIS_CHOICE, .place = AXIS_NOWHERE, .step = STEP_LAYOUT, .unit = "", .choices = layouts,
	  .about = "what is built on the target before anything else; only a plain device so far" },
	MD("stripe_cache_size", 17, 32768, "entries", "stripes that RAID 4, 5 and 6 keep in memory"),
	MD("preread_bypass_threshold", 0, 32768, "stripes", "full stripes that may pass a partial one"),
	MD("group_thread_cnt", 0, 8192, "threads", "threads for RAID 5 and 6 parity"),
	MD("sync_speed_min", 1, INT_LIMIT, "KiB/s", "resync rate that is kept even under load"),
	MD("sync_speed_max", 1, INT_LIMIT, "KiB/s", "resync rate of an idle array"),

	{ .name = "scheduler", .kind = AXIS_NAME, .place = AXIS_QUEUE, .step = STEP_QUEUE, .attr = "scheduler", .unit = "",
	  .about = "I/O scheduler: none, mq-deadline, bfq, kyber (ABI/stable/sysfs-block, queue/scheduler)" },
	QUEUE_INTEGER("nr_requests", 4, 10240, "requests", "requests that may be allocated for reads and for writes"),
	{ .name = "queue.max_sectors_kb", .kind = AXIS_SIZE, .place = AXIS_QUEUE, .step = STEP_QUEUE, .attr = "max_sectors_kb",
	  .unit = "KiB", .min = PAGE, .max = GIB, .granule = KIB,
	  .about = "largest request the block layer makes (ABI/stable/sysfs-block, queue/max_sectors_kb)" },
	QUEUE_INTEGER("rq_affinity", 0, 2, "", "where completions run: 0 anywhere, 1 the submitter's group, 2 its very CPU"),
	QUEUE_INTEGER("nomerges", 0, 2, "", "requests are merged: 0 always, 1 only the simple way, 2 never"),
	QUEUE_INTEGER("rotational", 0, 1, "", "the disk counts as rotating; btrfs decides at mount from it"),
	{ .name = "queue.write_cache", .kind = AXIS_CHOICE, .place = AXIS_QUEUE, .step = STEP_QUEUE, .attr = "write_cache",
	  .unit = "", .choices = write_caches,
	  .about = "whether flushes are sent; 'write through' sends none (ABI/stable/sysfs-block, queue/write_cache)" },
	QUEUE_INTEGER("wbt_lat_usec", 0, 10000000, "us", "read latency that throttles write-back; 0 turns it off"),
	QUEUE_INTEGER("add_random", 0, 1, "", "completions feed the entropy pool"),
	QUEUE_INTEGER("iostats", 0, 1, "", "the disk's I/O is counted; 0 takes the byte counters from the trials"),

	IOSCHED("read_expire", 1, INT_LIMIT, "ms", "deadline", "time within which a read is served"),
	IOSCHED("write_expire", 1, INT_LIMIT, "ms", "deadline", "time within which a write is served"),
	IOSCHED("writes_starved", 0, INT_LIMIT, "batches", "deadline", "batches of reads before one of writes"),
	IOSCHED("front_merges", 0, 1, "", "deadline", "look for front merges"),
	IOSCHED("fifo_batch", 0, INT_LIMIT, "requests", "deadline", "requests in a batch"),
	IOSCHED("async_depth", 1, 10240, "requests", "deadline", "requests that asynchronous I/O may hold"),
	IOSCHED("prio_aging_expire", 1, INT_LIMIT, "ms", "deadline", "wait of a low priority before it is served"),
	IOSCHED("low_latency", 0, 1, "", "bfq", "favour interactive and soft real-time processes"),
	IOSCHED("slice_idle", 0, 1000, "ms", "bfq", "wait for the next request of the same process"),
	IOSCHED("slice_idle_us", 0, 1000000, "us", "bfq", "the same, finer"),
	IOSCHED("strict_guarantees", 0, 1, "", "bfq", "dispatch one request at a time"),
	IOSCHED("max_budget", 0, INT_LIMIT, "sectors", "bfq", "largest service of a process in a turn; 0: tuned by bfq"),
	IOSCHED("timeout_sync", 1, INT_LIMIT, "ms", "bfq", "longest turn of a process"),
	IOSCHED("fifo_expire_sync", 1, INT_LIMIT, "ms", "bfq", "deadline of synchronous requests"),
	IOSCHED("fifo_expire_async", 1, INT_LIMIT, "ms", "bfq", "deadline of asynchronous requests"),
	IOSCHED("back_seek_max", 0, INT_LIMIT, "KiB", "bfq", "longest seek backwards"),
	IOSCHED("back_seek_penalty", 1, INT_LIMIT, "", "bfq", "cost of a seek backwards against one forwards"),
	IOSCHED("read_lat_nsec", 1, INT64_C(1000000000000), "ns", "kyber", "latency aimed at for reads"),
	IOSCHED("write_lat_nsec", 1, INT64_C(1000000000000), "ns", "kyber", "latency aimed at for synchronous writes"),

	{ .name = "filesystem", .kind = AXIS_FILESYSTEM, .place = AXIS_NOWHERE, .step = STEP_FORMAT, .unit = "",
	  .about = "ext2 ext3 ext4 xfs btrfs, none for the bare device, or a name under define:" },
	{ .name = "mkfs", .kind = AXIS_WORDS, .place = AXIS_NOWHERE, .step = STEP_FORMAT, .unit = "",
	  .about = "mkfs options, added to the filesystem's own (mkfs.TYPE(8))" },
	{ .name = "mount", .kind = AXIS_WORDS, .place = AXIS_NOWHERE, .step = STEP_MOUNT, .unit = "",
	  .about = "mount options, added to the filesystem's own (mount(8), ext4(5), xfs(5), btrfs(5))" },

	{ .name = "readahead", .kind = AXIS_SIZE, .place = AXIS_BDI, .step = STEP_TUNE, .attr = "read_ahead_kb", .unit = "KiB",
	  .min = 0, .max = GIB, .granule = PAGE,
	  .about = "read-ahead of the backing device that the filesystem uses (ABI/testing/sysfs-class-bdi, read_ahead_kb)" },
	VM_INTEGER("dirty_ratio", 100, "percent", "dirty memory at which a writer itself writes back"),
	VM_INTEGER("dirty_background_ratio", 100, "percent", "dirty memory at which write-back starts"),
	VM_SIZE("dirty_bytes", 2 * PAGE, "the same as dirty_ratio, as a size"),
	VM_SIZE("dirty_background_bytes", PAGE, "the same as dirty_background_ratio, as a size"),
	VM_INTEGER("dirty_expire_centisecs", INT_LIMIT, "centiseconds", "age at which dirty data is written back"),
	VM_INTEGER("dirty_writeback_centisecs", INT_LIMIT, "centiseconds", "how often the flushers wake up; 0: never"),
	VM_INTEGER("dirtytime_expire_seconds", INT_LIMIT, "s", "age at which lazytime inodes are written back"),
	VM_INTEGER("swappiness", 200, "", "weight of anonymous memory against the page cache in reclaim"),
	VM_INTEGER("vfs_cache_pressure", 10000, "percent", "how eagerly inodes and dentries are reclaimed"),

	{ .name = "memory", .kind = AXIS_SIZE, .place = AXIS_CGROUP, .step = STEP_CONFINE, .attr = "memory.max", .unit = "bytes",
	  .min = 16 * MIB, .max = 64 * TIB, .granule = PAGE,
	  .about = "memory of the workload, its page cache included (admin-guide/cgroup-v2.rst, memory.max)" },

	{ .name = "label.", .kind = AXIS_TEXT, .place = AXIS_NOWHERE, .step = N_STEPS, .unit = "",
	  .about = "stated, not set: what somebody did by hand, such as the controller's layout" },
};
const size_t axis_table_n = ARRAY_SIZE(axis_table);

const struct axis axis_workload = {
	.name = "workload.", .kind = AXIS_TEXT, .place = AXIS_NOWHERE, .step = N_STEPS, .unit = "",
	.about = "a parameter of a workload of the plan"
};
