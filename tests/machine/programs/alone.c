// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fails (1) when another launcher of the runpinned that runs it wants a CPU while it runs. 77: the
 * kernel does not say who runpinned's children are.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_text(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return -1;
	buf[n] = '\0';
	return 0;
}

/* State and parent of a process, from its stat file. */
static int read_stat(long pid, char *ret_state, long *ret_parent)
{
	char path[64], buf[1024], *after;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	if (read_text(path, buf, sizeof(buf)) < 0)
		return -1;
	/* "PID (NAME) STATE PARENT ...", and a name may have any character. */
	after = strrchr(buf, ')');
	if (!after || strlen(after) < sizeof(") R 1") - 1)
		return -1;
	*ret_state = after[2];
	*ret_parent = strtol(after + 4, NULL, 10);
	return 0;
}

int main(void)
{
	char path[64], children[4096], *cursor = children, *end, state;
	long runpinned, other, parent;

	if (read_stat(getppid(), &state, &runpinned) < 0)
		return 77;
	snprintf(path, sizeof(path), "/proc/%ld/task/%ld/children", runpinned, runpinned);
	if (read_text(path, children, sizeof(children)) < 0)
		return 77;
	while ((other = strtol(cursor, &end, 10)) > 0) {
		cursor = end;
		if (other != getppid() && read_stat(other, &state, &parent) == 0 && state == 'R')
			return 1;
	}
	return 0;
}
