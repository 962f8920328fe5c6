// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "base/where/bootid.h"
#include "base/where/running.h"

enum {
	TARGET_MAX = 64 * 1024,
};

static bool is_key(const char *text, size_t length)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	return length > 0 && strspn(text, letters) >= length && *text >= 'A';
}

/* Checks every line and finds the key's value, which is not NUL-terminated; NULL when there is
 * none. */
static int find_value(const char *text, const char *key, const char **ret, size_t *ret_length)
{
	const char *found = NULL;
	size_t length = 0;

	for (const char *line = text, *end; *line; line = end + 1) {
		const char *equals;

		end = strchr(line, '\n');
		if (!end)
			return -EBADMSG;
		equals = memchr(line, '=', (size_t)(end - line));
		if (!equals || !is_key(line, (size_t)(equals - line)))
			return -EBADMSG;
		if ((size_t)(equals - line) != strlen(key) || strncmp(line, key, strlen(key)) != 0)
			continue;
		if (found)
			return -EBADMSG;
		found = equals + 1;
		length = (size_t)(end - found);
	}
	*ret = found;
	*ret_length = length;
	return 0;
}

int running_parse_value(const char *text, const char *boot_id, const char *key, char **ret)
{
	const char *boot, *value;
	size_t boot_length, length;
	char *copy;
	int r;

	if (!text_starts_with(text, TARGET_MAGIC "\n"))
		return -EBADMSG;
	r = find_value(text, "BOOT_ID", &boot, &boot_length);
	if (r == 0)
		r = find_value(text, key, &value, &length);
	if (r < 0)
		return r;
	if (!boot)
		return -EBADMSG;
	if (boot_length != strlen(boot_id) || strncmp(boot, boot_id, boot_length) != 0)
		return -ENOENT;
	if (!value)
		return -ENODATA;
	copy = strndup(value, length);
	if (!copy)
		return -ENOMEM;
	*ret = copy;
	return 0;
}

int running_parse_cpus(const char *text, const char *boot_id, struct cpumask **ret)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	_cleanup_free_ char *list = NULL;
	int r;

	r = running_parse_value(text, boot_id, "CPUS", &list);
	if (r < 0)
		return r == -ENODATA ? -EBADMSG : r;
	if (cpumask_new(&cpus) < 0)
		return -ENOMEM;
	if (cpumask_parse_list(list, 0, cpus, NULL) < 0 || cpumask_is_empty(cpus))
		return -EBADMSG;
	*ret = TAKE_PTR(cpus);
	return 0;
}

/* Reads the text of the file, malloc'd, and this boot's id. */
static int read_text(char boot_id[static BOOTID_SIZE], char **ret)
{
	struct file_buffer buffer = { 0 };
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	int r;

	/* O_NONBLOCK: does not hang on a FIFO at this path. */
	fd = open(TARGET_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return errno == ELOOP ? -EPERM : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return -EPERM;
	if (st.st_size > TARGET_MAX)
		return -EBADMSG;
	r = bootid_read(boot_id);
	if (r == 0)
		r = file_reread(fd, &buffer);
	/* A NUL byte would hide the text after it. */
	if (r == 0 && strlen(buffer.data) != buffer.length)
		r = -EBADMSG;
	if (r < 0) {
		file_buffer_clear(&buffer);
		return r;
	}
	*ret = buffer.data;
	return 0;
}

int running_read_cpus(struct cpumask **ret)
{
	char boot_id[BOOTID_SIZE];
	_cleanup_free_ char *text = NULL;
	int r;

	r = read_text(boot_id, &text);
	return r < 0 ? r : running_parse_cpus(text, boot_id, ret);
}

int running_read_value(const char *key, char **ret)
{
	char boot_id[BOOTID_SIZE];
	_cleanup_free_ char *text = NULL;
	int r;

	r = read_text(boot_id, &text);
	return r < 0 ? r : running_parse_value(text, boot_id, key, ret);
}

int running_has_programs(void)
{
	char text[FILE_ATTR_SIZE];
	int r;

	r = file_read_attr(AT_FDCWD, TARGET_EVENTS, text, sizeof(text));
	/* The second one if the cgroup was removed after its file had been opened. */
	if (r == -ENOENT || r == -ENODEV)
		return 0;
	return r < 0 ? r : strstr(text, "populated 1") != NULL;
}
