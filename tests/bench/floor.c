/* SPDX-License-Identifier: MIT
 *
 * The floors that the benchmarks compare with: the same work in bare C, without any care.
 *
 *   floor spawn N PROGRAM          N times posix_spawn + waitpid; prints ms a trial
 *   floor cell N DEVICE DIR        N times: scheduler, mkfs.ext4, mount, readahead, drop of caches,
 *                                  umount, wipe; prints ms a cell
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "schema/base/text.h"

extern char **environ;

static void must(int rc, const char *what)
{
	if (rc < 0) {
		fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
		exit(1);
	}
}

static void program_run(char *const *argv)
{
	int status;
	pid_t pid;

	if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) != 0)
		must(-1, argv[0]);
	waitpid(pid, &status, 0);
	if (status != 0) {
		fprintf(stderr, "floor: %s: status %d\n", argv[0], status);
		exit(1);
	}
}

static void file_write(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	must(fd, path);
	must((int)write(fd, value, strlen(value)), path);
	close(fd);
}

static double spawn_floor(int n, char *program)
{
	char *argv[] = { program, NULL };
	int64_t start = clock_ns();

	for (int i = 0; i < n; i++)
		program_run(argv);
	return (double)(clock_ns() - start) / 1e6 / n;
}

static double cell_floor(int n, char *device, char *dir)
{
	char *mkfs[] = { (char *)"mkfs.ext4", (char *)"-q", (char *)"-F", (char *)"-E",
		         (char *)"lazy_itable_init=0,lazy_journal_init=0", device, NULL };
	static const char *const schedulers[] = { "mq-deadline", "none" };
	char scheduler[128], readahead[128], zero[4096] = { 0 };
	const char *disk = strrchr(device, '/') + 1;
	int64_t start = clock_ns();

	snprintf(scheduler, sizeof(scheduler), "/sys/block/%s/queue/scheduler", disk);
	snprintf(readahead, sizeof(readahead), "/sys/block/%s/queue/read_ahead_kb", disk);
	for (int i = 0; i < n; i++) {
		int fd;

		file_write(scheduler, schedulers[i % 2]);
		program_run(mkfs);
		must(mount(device, dir, "ext4", MS_NOSUID | MS_NODEV, NULL), "mount");
		file_write(readahead, i % 2 ? "256" : "512");
		fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		must(fd, dir);
		must(syncfs(fd), "syncfs");
		close(fd);
		file_write("/proc/sys/vm/drop_caches", "3");
		must(umount2(dir, 0), "umount");
		fd = open(device, O_WRONLY | O_CLOEXEC);
		must(fd, device);
		must((int)pwrite(fd, zero, sizeof(zero), 0), "wipe");
		must(fsync(fd), "fsync");
		close(fd);
	}
	return (double)(clock_ns() - start) / 1e6 / n;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "spawn") == 0)
		printf("%.6f\n", spawn_floor((int)strtol(argv[2], NULL, 10), argv[3]));
	else if (argc == 5 && strcmp(argv[1], "cell") == 0)
		printf("%.6f\n", cell_floor((int)strtol(argv[2], NULL, 10), argv[3], argv[4]));
	else
		return 2;
	return 0;
}
