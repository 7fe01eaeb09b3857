/* SPDX-License-Identifier: MIT
 *
 * See probe.h.  Everything is read below the host's /proc: the worker's own shows only its tools.
 */
#include "daemon/worker/probe.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "daemon/worker/device.h"
#include "daemon/worker/sysroot.h"

static double stall_read(int proc)
{
	AUTO_TEXT struct text t = { 0 };
	unsigned long long us;
	const char *total;

	if (file_read(proc, "pressure/io", 4096, &t, NULL) < 0)
		return -1;
	total = strstr(text_str(&t), "total="); /* the first line is "some" */
	return total != NULL && sscanf(total, "total=%llu", &us) == 1 ? (double)us / 1e6 : -1;
}

static double meminfo_read(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	unsigned long long kib;

	return at != NULL && sscanf(at + strlen(key), " %llu kB", &kib) == 1 ? (double)kib * 1024 : 0;
}

static double cached_read(int proc)
{
	AUTO_TEXT struct text t = { 0 };

	if (file_read(proc, "meminfo", 65536, &t, NULL) < 0)
		return -1;
	return meminfo_read(text_str(&t), "\nCached:") + meminfo_read(text_str(&t), "\nBuffers:");
}

/* Kernel threads that work for block devices and file systems; their names are in kernel/workqueue.c, drivers/md,
 * fs/jbd2, fs/xfs, fs/btrfs. */
static bool thread_serves_io(const char *comm)
{
	static const char *const names[] = { "kworker/", "md", "jbd2/", "xfs", "btrfs-", "loop", "kcryptd", "dm", "kswapd", "flush-" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (text_starts(comm, names[i]))
			return true;
	return false;
}

/* The device in "md127_raid5", "loop3", "jbd2/sda1-8" or "xfsaild/dm-0"; of others, and of kworkers, whose names
 * change with what they did last, "" stands for any. */
static void thread_device(const char *comm, size_t n, char ret[32])
{
	const char *slash = memchr(comm, '/', n), *from = comm, *end = comm + n;

	ret[0] = '\0';
	if (text_starts(comm, "kworker/"))
		return;
	if (slash != NULL) {
		from = slash + 1;
		end = text_starts(comm, "jbd2/") ? memrchr(from, '-', (size_t)(comm + n - from)) : end;
	} else if (text_starts(comm, "md")) {
		end = memchr(comm, '_', n);
	} else if (!text_starts(comm, "loop")) {
		return;
	}
	if (end != NULL && isdigit((unsigned char)end[-1]))
		snprintf(ret, 32, "%.*s", (int)(end - from), from);
}

/* Whether a thread works for one of the devices, as far as its name says. */
bool probe_thread_serves(const char *comm, size_t n, const struct probe_stack *stack)
{
	char device[32];

	thread_device(comm, n, device);
	if (device[0] == '\0' || stack->n == 0)
		return true;
	for (size_t i = 0; i < stack->n; i++)
		if (strcmp(stack->names[i], device) == 0)
			return true;
	return false;
}

static int stack_add(const char *name, void *data)
{
	struct probe_stack *stack = data;
	struct device d;
	char dir[96];

	if (stack->n == PROBE_STACK_MAX)
		return 0;
	snprintf(stack->names[stack->n++], sizeof(stack->names[0]), "%.31s", name);
	snprintf(dir, sizeof(dir), "/sys/class/block/%.31s/slaves", name);
	if (device_read(name, &d, NULL) == 0 && d.is_partition)
		stack_add(d.disk, stack);
	return sysroot_each(dir, stack_add, stack);
}

/* Below a loop device and a directory lies what nobody can list: then every device counts. */
static void stack_read(const struct worker *w, struct probe_stack *ret)
{
	const char *name = strrchr(w->claimed.sysfs, '/');

	ret->n = 0;
	if (name != NULL && !text_starts(name, "/loop"))
		stack_add(name + 1, ret);
	for (size_t i = 0; ret->n > 0 && i < w->claimed.n_queues; i++)
		stack_add(strrchr(w->claimed.queues[i], '/') + 1, ret);
}

/* "PID (COMM) S PPID ...", if it is such a thread; utime, stime and starttime are fields 14, 15 and 22: proc(5).
 * Kernel threads are children of kthreadd, process 2. */
static bool thread_read(const char *stat, const struct probe_stack *stack, struct probe_thread *ret)
{
	const char *open = strchr(stat, '('), *close = strrchr(stat, ')');
	unsigned long long user, system;
	int parent;

	if (open == NULL || close == NULL || !thread_serves_io(open + 1) || sscanf(stat, "%d", &ret->pid) != 1)
		return false;
	if (sscanf(close + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d %llu",
	           &parent, &user, &system, &ret->started) != 4 ||
	    parent != 2)
		return false;
	ret->ticks = user + system;
	return probe_thread_serves(open + 1, (size_t)(close - open - 1), stack);
}

static int thread_compare(const void *a, const void *b)
{
	int x = ((const struct probe_thread *)a)->pid, y = ((const struct probe_thread *)b)->pid;

	return (x > y) - (x < y);
}

/* Sorted by pid; true if proc could be read. */
static bool threads_read(int proc, const struct probe_stack *stack, struct arena *a, struct probe_thread **ret,
                         size_t *ret_n)
{
	int fd = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	AUTO_FREE struct probe_thread *found = NULL;
	const struct dirent *entry;
	size_t n = 0, cap = 0;

	if (dir == NULL) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while ((entry = readdir(dir)) != NULL) {
		AUTO_TEXT struct text t = { 0 };
		char path[300];

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		ARRAY_GROW(found, n, cap);
		snprintf(path, sizeof(path), "%s/stat", entry->d_name);
		n += file_read(proc, path, 4096, &t, NULL) == 0 && thread_read(text_str(&t), stack, &found[n]);
	}
	closedir(dir);
	*ret = arena_array(a, n + 1, sizeof(**ret));
	if (n > 0)
		memcpy(*ret, found, n * sizeof(*found));
	qsort(*ret, n, sizeof(**ret), thread_compare);
	*ret_n = n;
	return true;
}

double probe_kernel(const struct probe *before, const struct probe *after)
{
	unsigned long long ticks = 0;

	for (size_t i = 0; i < after->n_threads; i++) {
		const struct probe_thread *now = &after->threads[i], *then = NULL;

		if (before->n_threads > 0)
			then = bsearch(now, before->threads, before->n_threads, sizeof(*now), thread_compare);
		ticks += now->ticks - (then != NULL && then->started == now->started ? then->ticks : 0);
	}
	return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

void probe_take(const struct worker *w, const struct workload *def, struct arena *a, struct probe *ret)
{
	struct probe_stack stack;

	*ret = (struct probe){ .io_stall = -1, .cached = -1 };
	if (workload_uses(def, "io_stall"))
		ret->io_stall = stall_read(w->host_proc_fd);
	if (workload_uses(def, "cached_before") || workload_uses(def, "cached_after"))
		ret->cached = cached_read(w->host_proc_fd);
	if (!workload_uses(def, "kernel"))
		return;
	stack_read(w, &stack);
	ret->has_threads = threads_read(w->host_proc_fd, &stack, a, &ret->threads, &ret->n_threads);
}

size_t probe_facts(const struct probe *before, const struct probe *after, struct fact *facts)
{
	size_t n = 0;

	if (before->io_stall >= 0 && after->io_stall >= 0)
		facts[n++] = (struct fact){ "io_stall", after->io_stall - before->io_stall };
	if (before->has_threads && after->has_threads)
		facts[n++] = (struct fact){ "kernel", probe_kernel(before, after) };
	if (before->cached >= 0 && after->cached >= 0) {
		facts[n++] = (struct fact){ "cached_before", before->cached };
		facts[n++] = (struct fact){ "cached_after", after->cached };
	}
	return n;
}
