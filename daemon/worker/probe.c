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

/* utime and stime of "PID (COMM) S PPID ..." in ticks, if it is such a thread; proc(5).  Kernel threads are children of
 * kthreadd, process 2. */
static double thread_ticks(const char *stat)
{
	const char *open = strchr(stat, '('), *close = strrchr(stat, ')');
	unsigned long long user, system;
	int parent;

	if (open == NULL || close == NULL || !thread_serves_io(open + 1))
		return 0;
	if (sscanf(close + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &parent, &user, &system) != 3 || parent != 2)
		return 0;
	return (double)(user + system);
}

static double kernel_read(int proc)
{
	int fd = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	double ticks = 0;

	if (dir == NULL) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while ((entry = readdir(dir)) != NULL) {
		AUTO_TEXT struct text t = { 0 };
		char path[300];

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "%s/stat", entry->d_name);
		if (file_read(proc, path, 4096, &t, NULL) == 0)
			ticks += thread_ticks(text_str(&t));
	}
	closedir(dir);
	return ticks / (double)sysconf(_SC_CLK_TCK);
}

void probe_take(const struct worker *w, const struct workload *def, struct probe *ret)
{
	*ret = (struct probe){ -1, -1, -1 };
	if (workload_uses(def, "io_stall"))
		ret->io_stall = stall_read(w->host_proc_fd);
	if (workload_uses(def, "cached_before") || workload_uses(def, "cached_after"))
		ret->cached = cached_read(w->host_proc_fd);
	if (workload_uses(def, "kernel"))
		ret->kernel = kernel_read(w->host_proc_fd);
}

size_t probe_facts(const struct probe *before, const struct probe *after, struct fact *facts)
{
	size_t n = 0;

	if (before->io_stall >= 0 && after->io_stall >= 0)
		facts[n++] = (struct fact){ "io_stall", after->io_stall - before->io_stall };
	if (before->kernel >= 0 && after->kernel >= 0)
		facts[n++] = (struct fact){ "kernel", after->kernel - before->kernel };
	if (before->cached >= 0 && after->cached >= 0) {
		facts[n++] = (struct fact){ "cached_before", before->cached };
		facts[n++] = (struct fact){ "cached_after", after->cached };
	}
	return n;
}
