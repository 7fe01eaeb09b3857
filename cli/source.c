/* SPDX-License-Identifier: MIT
 *
 * The text of a plan; see source.h.
 */
#include "cli/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "schema/base/mem.h"
#include "schema/yaml.h"

static bool is_stdin(const char *file)
{
	return strcmp(file, "-") == 0;
}

const char *source_name(const char *file)
{
	return is_stdin(file) ? "standard input" : file;
}

int source_read(const char *file, struct text *ret, struct err *e)
{
	AUTO_CLOSE int opened = is_stdin(file) ? -1 : open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int fd = is_stdin(file) ? STDIN_FILENO : opened;
	char buf[65536];
	ssize_t n = 0;

	if (fd < 0)
		return err_set(e, ERR_USAGE, "open '%s': %s", file, strerror(errno));
	while (ret->n <= YAML_MAX_BYTES && ((n = read(fd, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR)))
		text_add_n(ret, buf, n > 0 ? (size_t)n : 0);
	if (n < 0)
		return err_set(e, ERR_USAGE, "read %s%s%s: %s", is_stdin(file) ? "" : "'", source_name(file),
		               is_stdin(file) ? "" : "'", strerror(errno));
	text_add_n(ret, "", 0);
	return 0;
}
