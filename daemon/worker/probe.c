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

/* "PID (COMM) S PPID ...", if it is such a thread; utime, stime and starttime are fields 14, 15 and 22: proc(5).  Kernel
 * threads are children of kthreadd, process 2. */
static bool thread_read(const char *stat, struct probe_thread *ret)
{
	const char *open = strchr(stat, '('), *close = strrchr(stat, ')');
	unsigned long long user, system;
	int parent;

	if (open == NULL || close == NULL || !thread_serves_io(open + 1) || sscanf(stat, "%d", &ret->pid) != 1)
		return false;
	if (sscanf(close + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d %llu", &parent, &user,
	           &system, &ret->started) != 4 || parent != 2)
		return false;
	ret->ticks = user + system;
	return true;
}

static int thread_compare(const void *a, const void *b)
{
	int x = ((const struct probe_thread *)a)->pid, y = ((const struct probe_thread *)b)->pid;

	return (x > y) - (x < y);
}

/* Sorted by pid; true if proc could be read. */
static bool threads_read(int proc, struct arena *a, struct probe_thread **ret, size_t *ret_n)
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
		n += file_read(proc, path, 4096, &t, NULL) == 0 && thread_read(text_str(&t), &found[n]);
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
	*ret = (struct probe){ .io_stall = -1, .cached = -1 };
	if (workload_uses(def, "io_stall"))
		ret->io_stall = stall_read(w->host_proc_fd);
	if (workload_uses(def, "cached_before") || workload_uses(def, "cached_after"))
		ret->cached = cached_read(w->host_proc_fd);
	if (workload_uses(def, "kernel"))
		ret->has_threads = threads_read(w->host_proc_fd, a, &ret->threads, &ret->n_threads);
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
