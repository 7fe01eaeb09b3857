/* SPDX-License-Identifier: MIT
 *
 * Runs a command with its output thrown away and prints its peak resident size (wait4(2), ru_maxrss).
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage usage;
	int status, null;
	pid_t pid;

	if (argc < 2)
		return 2;
	pid = fork();
	if (pid == 0) {
		null = open("/dev/null", O_WRONLY);
		dup2(null, STDOUT_FILENO);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (wait4(pid, &status, 0, &usage) < 0)
		return 1;
	printf("peak resident size: %ld KiB (status %d)\n", usage.ru_maxrss, status);
	return status != 0;
}
