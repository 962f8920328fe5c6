// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/tell.h"
#include "base/text.h"

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

/* path: of a socket; '@' at the beginning means the abstract namespace (unix(7)). */
static void send_lines(const char *path, const char *lines)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = -EBADF;
	size_t length = strlen(path);

	if (length == 0 || length >= sizeof(address.sun_path))
		return;
	memcpy(address.sun_path, path, length);
	if (*path == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	(void)sendto(fd, lines, strlen(lines), MSG_NOSIGNAL, (struct sockaddr *)&address,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
}

void tell_status(const char *text)
{
	const char *path = getenv("NOTIFY_SOCKET");
	_cleanup_text_ struct text lines = { 0 };
	_cleanup_free_ char *clean = path && text ? text_escape_control(text) : NULL;

	if (!clean)
		return;
	text_appendf(&lines, "STATUS=%s\n", clean);
	if (!lines.failed)
		send_lines(path, lines.data);
}

void tell_unit(const char *unit, const char *text)
{
	_cleanup_text_ struct text lines = { 0 };
	_cleanup_free_ char *clean = text_escape_control(text);

	if (!clean)
		return;
	text_appendf(&lines, "MESSAGE=%s\nPRIORITY=%d\nSYSLOG_IDENTIFIER=%s\n", clean, LOG_NOTICE,
		program_invocation_short_name);
	text_appendf(&lines, "OBJECT_SYSTEMD_UNIT=%s\n", unit);
	if (!lines.failed)
		send_lines(JOURNAL_SOCKET, lines.data);
}
