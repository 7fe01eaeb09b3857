/* SPDX-License-Identifier: MIT
 *
 * What a hostile workload tries, from where a workload runs.  Each attempt prints one line: "NAME refused: WHY" or
 * "NAME SUCCEEDED".   usage: attack all DIR DEVICE-OF-ANOTHER-DISK-MAJOR:MINOR | pass DIR NAME | take NAME
 *
 *   pass  sends a descriptor of DIR over the abstract socket NAME (SCM_RIGHTS) and waits until it was taken
 *   take  listens there, prints "taken", and holds what it got until it is killed
 */
#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

static void result(const char *name, int succeeded)
{
	if (succeeded)
		printf("%s SUCCEEDED\n", name);
	else
		printf("%s refused: %s\n", name, strerror(errno));
	fflush(stdout);
}

static int can_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int can_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char c;
	int got = fd >= 0 && read(fd, &c, 1) == 1;

	if (fd >= 0)
		close(fd);
	return got;
}

static int can_read_memory(pid_t pid)
{
	char c;
	struct iovec here = { &c, 1 }, there = { (void *)0x400000, 1 };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == 1;
}

static int opens_node(const char *dir, mode_t type, unsigned major_no, unsigned minor_no)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/node", dir);
	unlink(path);
	if (mknod(path, type | 0666, makedev(major_no, minor_no)) < 0)
		return 0;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fd >= 0;
}

/* Block devices below /dev other than the target's own node. */
static int other_block_devices(void)
{
	DIR *dev = opendir("/dev");
	struct dirent *d;
	int n = 0;

	errno = ENOENT;
	while (dev != NULL && (d = readdir(dev)) != NULL) {
		struct stat st;
		char path[300];

		snprintf(path, sizeof(path), "/dev/%s", d->d_name);
		n += stat(path, &st) == 0 && S_ISBLK(st.st_mode) && strcmp(d->d_name, "target") != 0;
	}
	if (dev != NULL)
		closedir(dev);
	errno = ENOENT;
	return n > 0;
}

static int becomes_root_by_setuid_file(const char *dir)
{
	struct statvfs fs;

	errno = EPERM;
	return statvfs(dir, &fs) < 0 || (fs.f_flag & ST_NOSUID) == 0 || (fs.f_flag & ST_NODEV) == 0;
}

static int leaves_the_room(void)
{
	if (chroot("/tmp") < 0)
		return 0;
	for (int i = 0; i < 64; i++)
		if (chdir("..") < 0)
			return 0;
	return chroot(".") == 0 && access("/etc/shadow", F_OK) == 0;
}

static int has_capability(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	int has = 0;

	errno = EPERM;
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, "Cap", 3) == 0 && strncmp(line, "CapInh", 6) != 0)
			has |= strncmp(line, "CapBnd", 6) != 0 && strtoull(strchr(line, ':') + 1, NULL, 16) != 0;
	if (f != NULL)
		fclose(f);
	errno = EPERM;
	return has;
}

static int inherits_descriptors(void)
{
	int n = 0;

	for (int fd = 3; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	errno = EBADF;
	return n > 0;
}

static void try_all(const char *dir, unsigned major_no, unsigned minor_no)
{
	result("setuid root", setuid(0) == 0);
	result("setgroups", syscall(SYS_setgroups, 0, NULL) == 0);
	result("capabilities", has_capability());
	result("inherited descriptors", inherits_descriptors());
	result("kill the worker", kill(1, SIGKILL) == 0);
	result("stop the worker", kill(1, SIGSTOP) == 0);
	result("trace the worker", ptrace(PTRACE_ATTACH, 1, NULL, NULL) == 0);
	result("read the worker's memory", can_read_memory(1));
	result("open the worker's memory", can_write("/proc/1/mem"));
	result("read the worker's environment", can_read("/proc/1/environ"));
	result("enter the worker's root", chdir("/proc/1/root/etc") == 0);
	result("enter the worker's directory", chdir("/proc/1/cwd") == 0);
	result("make a block node", opens_node(dir, S_IFBLK, major_no, minor_no));
	result("make a character node", opens_node(dir, S_IFCHR, 1, 1));
	result("other block devices", other_block_devices());
	result("setuid and device files on the target", becomes_root_by_setuid_file(dir));
	result("mount", mount("x", "/tmp", "tmpfs", 0, NULL) == 0);
	result("unmount the target", umount2("/target", MNT_DETACH) == 0);
	result("a user namespace", unshare(CLONE_NEWUSER) == 0);
	result("a mount namespace", unshare(CLONE_NEWNS) == 0);
	result("leave the room", leaves_the_room());
	result("write core_pattern", can_write("/proc/sys/kernel/core_pattern"));
	result("write sysrq-trigger", can_write("/proc/sysrq-trigger"));
	result("write vm.swappiness", can_write("/proc/sys/vm/swappiness"));
	result("write uevents", can_write("/sys/class/block/loop0/uevent"));
	result("write a scheduler", can_write("/sys/class/block/loop0/queue/scheduler"));
	result("write the worker's oom_score_adj", can_write("/proc/1/oom_score_adj"));
	result("write below /etc", can_write("/etc/passwd"));
	result("read shadow", can_read("/etc/shadow"));
	result("write the kernel log", can_write("/dev/kmsg"));
	result("write memory", can_write("/dev/mem"));
	result("load a program into the kernel", syscall(SYS_bpf, 5, NULL, 0) >= 0);
	result("raise the priority", syscall(SYS_setpriority, 0, 0, -20) == 0);
	result("reboot", syscall(SYS_reboot, 0xfee1dead, 672274793, 0, NULL) == 0);
}

static int dial(const char *name, struct sockaddr_un *address, socklen_t *n)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "%s", name);
	*n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
	return socket(AF_UNIX, SOCK_STREAM, 0);
}

static int transfer(int s, int fd, int sends)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	char c = 'x';
	struct iovec iov = { &c, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *h;

	if (!sends)
		return recvmsg(s, &m, 0) == 1 && CMSG_FIRSTHDR(&m) != NULL ? 0 : -1;
	h = CMSG_FIRSTHDR(&m);
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &fd, sizeof(int));
	return sendmsg(s, &m, 0) == 1 ? 0 : -1;
}

static int pass(const char *dir, const char *name)
{
	struct sockaddr_un address;
	socklen_t n;
	char c;
	int s = dial(name, &address, &n), fd = open(dir, O_RDONLY | O_DIRECTORY);

	if (connect(s, (struct sockaddr *)&address, n) < 0 || transfer(s, fd, 1) < 0 || read(s, &c, 1) != 1) {
		perror("pass");
		return 1;
	}
	return 0;
}

static int take(const char *name)
{
	struct sockaddr_un address;
	socklen_t n;
	int s = dial(name, &address, &n), c;

	if (bind(s, (struct sockaddr *)&address, n) < 0 || listen(s, 1) < 0)
		return 1;
	puts("listening");
	fflush(stdout);
	c = accept(s, NULL, NULL);
	if (transfer(c, -1, 0) < 0 || write(c, "k", 1) != 1)
		return 1;
	puts("taken");
	fflush(stdout);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	unsigned major_no, minor_no;

	if (argc == 4 && strcmp(argv[1], "all") == 0 && sscanf(argv[3], "%u:%u", &major_no, &minor_no) == 2) {
		try_all(argv[2], major_no, minor_no);
		return 0;
	}
	if (argc == 4 && strcmp(argv[1], "pass") == 0)
		return pass(argv[2], argv[3]);
	if (argc == 3 && strcmp(argv[1], "take") == 0)
		return take(argv[2]);
	return 2;
}
