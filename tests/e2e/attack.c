/* SPDX-License-Identifier: MIT
 *
 * What a hostile workload tries, from where a workload runs.  Each attempt prints one line: "NAME refused: WHY" or
 * "NAME SUCCEEDED".   usage: attack all DIR DEVICE-OF-ANOTHER-DISK-MAJOR:MINOR | pass PATH NAME | take NAME HOW |
 *        loop NODE | move NODE | keyed PROGRAM [ARG]...
 *
 *   pass  sends a descriptor of PATH over the abstract socket NAME (SCM_RIGHTS) and waits until it was taken
 *   take  listens there, prints "taken", and holds what it got until it is killed, HOW:
 *           open     as a descriptor
 *           mapped   as a mapping, without a descriptor
 *           thread   in a thread with descriptors of its own, of a process whose first thread has ended
 *           ring     registered with an io_uring, without a descriptor
 *           unread   in the socket, where it came
 *   keyed runs PROGRAM with a session keyring that holds a secret
 *   loop  changes what it can of a loop device that it may write to
 *   move  only where in its file it begins
 */
#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/loop.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
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
	struct stat own = { 0 };
	struct dirent *d;
	int n = 0;

	stat("/dev/target", &own);
	errno = ENOENT;
	while (dev != NULL && (d = readdir(dev)) != NULL) {
		struct stat st;
		char path[300];

		snprintf(path, sizeof(path), "/dev/%s", d->d_name);
		n += stat(path, &st) == 0 && S_ISBLK(st.st_mode) && st.st_rdev != own.st_rdev;
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

/* A copy of id(1), setuid root, that root has left in an offered directory; it prints the effective user. */
static int is_root_by_such_a_file(void)
{
	FILE *f = popen("/target/setuid-id -u 2>/dev/null", "r");
	char line[32] = "";
	int said = f != NULL && fgets(line, sizeof(line), f) != NULL;

	if (f != NULL)
		pclose(f);
	errno = EPERM;
	return said && strtol(line, NULL, 10) == 0;
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

/* Session keyrings are handed down, whoever a process becomes; possessing one opens its keys: keyrings(7). */
static int reads_a_key_of_the_daemon(void)
{
	long key = syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, "user", "iosweep-attack", 0);
	char secret[16];

	return key > 0 && syscall(SYS_keyctl, KEYCTL_READ, key, secret, sizeof(secret)) > 0;
}

static int run_keyed(char **argv)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 ||
	    syscall(SYS_add_key, "user", "iosweep-attack", "secret", 6, KEY_SPEC_SESSION_KEYRING) < 0)
		return 1;
	execv(argv[0], argv);
	return 1;
}

static void try_all(const char *dir, unsigned major_no, unsigned minor_no)
{
	result("setuid root", setuid(0) == 0);
	result("setgroups", syscall(SYS_setgroups, 0, NULL) == 0);
	result("capabilities", has_capability());
	result("keys of the daemon", reads_a_key_of_the_daemon());
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
	result("run a setuid file of root's", is_root_by_such_a_file());
	result("environment of the daemon", getenv("IOSWEEP_ATTACK") != NULL);
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

/* Sends fd (returns 0), or receives one and returns it. */
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

	if (!sends) {
		if (recvmsg(s, &m, 0) != 1 || CMSG_FIRSTHDR(&m) == NULL)
			return -1;
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
		return fd;
	}
	h = CMSG_FIRSTHDR(&m);
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &fd, sizeof(int));
	return sendmsg(s, &m, 0) == 1 ? 0 : -1;
}

static int open_best(const char *path)
{
	int fd = open(path, O_RDWR);

	return fd >= 0 ? fd : open(path, O_RDONLY);
}

static int pass(const char *path, const char *name)
{
	struct sockaddr_un address;
	socklen_t n;
	char c;
	int s = dial(name, &address, &n), fd = open_best(path);

	if (connect(s, (struct sockaddr *)&address, n) < 0 || transfer(s, fd, 1) < 0 || read(s, &c, 1) != 1) {
		perror("pass");
		return 1;
	}
	return 0;
}

static void say(const char *word)
{
	puts(word);
	fflush(stdout);
}

static void *keep_apart(void *taken)
{
	unshare(CLONE_FILES);
	*(int *)taken = 1;
	for (;;)
		pause();
	return NULL;
}

/* A thread has its own copy before this one closes its own and ends. */
static void hold_in_thread(int fd)
{
	static volatile int taken;
	pthread_t thread;

	if (pthread_create(&thread, NULL, keep_apart, (void *)(size_t)&taken) != 0)
		exit(1);
	while (!taken)
		usleep(1000);
	close(fd);
	pthread_exit(NULL);
}

static void hold(int fd, const char *how)
{
	struct io_uring_params params = { 0 };
	int ring;

	if (strcmp(how, "mapped") == 0) {
		if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
			exit(1);
		close(fd);
	} else if (strcmp(how, "ring") == 0) {
		ring = (int)syscall(SYS_io_uring_setup, 2, &params);
		if (ring < 0 || syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, &fd, 1) < 0)
			exit(1);
		close(fd);
	} else if (strcmp(how, "thread") == 0) {
		hold_in_thread(fd);
	}
}

static int take(const char *name, const char *how)
{
	struct sockaddr_un address;
	socklen_t n;
	int s = dial(name, &address, &n), c, fd;

	prctl(PR_SET_DUMPABLE, 0); /* not to be looked into by its own user */
	if (bind(s, (struct sockaddr *)&address, n) < 0 || listen(s, 1) < 0)
		return 1;
	say("listening");
	c = accept(s, NULL, NULL);
	fd = strcmp(how, "unread") == 0 ? -1 : transfer(c, -1, 0);
	if (fd < -1 || (fd == -1 && strcmp(how, "unread") != 0) || write(c, "k", 1) != 1)
		return 1;
	say("taken");
	hold(fd, how);
	for (;;)
		pause();
}

/* Nothing of this takes a privilege, so none of it need be refused; it is to be undone. */
static int loop_change(const char *node, int all)
{
	int fd = open(node, O_RDWR);
	struct loop_info64 info;

	if (fd < 0 || ioctl(fd, LOOP_GET_STATUS64, &info) < 0)
		return 1;
	info.lo_offset = 1 << 20;
	info.lo_sizelimit = 2 << 20;
	if (all)
		info.lo_flags ^= LO_FLAGS_AUTOCLEAR;
	if (ioctl(fd, LOOP_SET_STATUS64, &info) < 0 || (all && ioctl(fd, LOOP_SET_BLOCK_SIZE, 4096L) < 0))
		return 1;
	ioctl(fd, LOOP_SET_DIRECT_IO, !(info.lo_flags & LO_FLAGS_DIRECT_IO));
	return 0;
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
	if (argc >= 3 && strcmp(argv[1], "keyed") == 0)
		return run_keyed(argv + 2);
	if (argc == 3 && (strcmp(argv[1], "loop") == 0 || strcmp(argv[1], "move") == 0))
		return loop_change(argv[2], strcmp(argv[1], "loop") == 0);
	if (argc == 4 && strcmp(argv[1], "take") == 0)
		return take(argv[2], argv[3]);
	return 2;
}
