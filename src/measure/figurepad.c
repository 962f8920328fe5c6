// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/say.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/harness/benchfmt.h"
#include "measure/figurepad.h"
#include "measure/launch.h"

#define refuse(ret_why, ...) \
	xcheck(text_refuse(ret_why, -EBADMSG, "$" LAUNCH_FIGURES_VARIABLE ": " __VA_ARGS__))

enum {
	PAD_MAX = 1024 * 1024, /* bytes */
};

struct figurepad {
	const struct user *user; /* borrowed; NULL: who runs us */
	char *folder;
	char *path; /* of the file in it */
};

/* The first one is in memory. Its name is the same for all users, as $TMPDIR is not: the length of
 * the environment moves the stack of a program. */
static const char *const places[] = { "/dev/shm", "/tmp" };

/* A new file: one that a process of an earlier run still has open is another one. */
static int make_file(const struct figurepad *pad)
{
	_cleanup_close_ int fd = -EBADF;

	if (unlink(pad->path) < 0 && errno != ENOENT)
		return -errno;
	fd = open(pad->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : 0;
}

/* The names of the two end as mkdtemp(3) wants it, and get what it makes of that. */
static int make_folder(const struct figurepad *pad)
{
	int r;

	if (!mkdtemp(pad->folder))
		return -errno;
	memcpy(pad->path, pad->folder, strlen(pad->folder));
	r = make_file(pad);
	if (r < 0)
		rmdir(pad->folder);
	return r;
}

static void forget(struct figurepad *pad)
{
	free(TAKE_PTR(pad->folder));
	free(TAKE_PTR(pad->path));
}

struct figurepad *figurepad_new(const struct user *user)
{
	struct figurepad *pad = xptr(calloc(1, sizeof(*pad)));
	int r = -ENOENT;

	pad->user = user;
	for (size_t i = 0; r < 0 && i < ARRAY_SIZE(places); i++) {
		forget(pad);
		pad->folder = xformat("%s/quiesce-XXXXXX", places[i]);
		pad->path = xformat("%s/figures", pad->folder);
		user_enter(user);
		r = make_folder(pad);
		user_leave(user);
	}
	if (r == 0)
		return pad;
	say_errno(r,
		"note: programs cannot say figures of their own ($" LAUNCH_FIGURES_VARIABLE
		"): no folder can be made in /dev/shm or /tmp");
	forget(pad);
	free(pad);
	return NULL;
}

/* The program may have removed them. */
static int try_remove(const struct figurepad *pad)
{
	int r = 0;

	user_enter(pad->user);
	if (unlink(pad->path) < 0 && errno != ENOENT)
		r = -errno;
	if (rmdir(pad->folder) < 0 && errno != ENOENT && r == 0)
		r = -errno;
	user_leave(pad->user);
	return r;
}

void figurepad_remove(const struct figurepad *pad)
{
	if (pad)
		(void)try_remove(pad);
}

void figurepad_free(struct figurepad *pad)
{
	int r;

	if (!pad)
		return;
	r = try_remove(pad);
	if (r < 0)
		say_errno(r, "note: %s is left", pad->folder);
	forget(pad);
	free(pad);
}

const char *figurepad_get_path(const struct figurepad *pad)
{
	return pad->path;
}

int figurepad_renew(const struct figurepad *pad)
{
	struct stat st;
	int r = 0;

	user_enter(pad->user);
	if (lstat(pad->path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > 0)
		r = make_file(pad);
	user_leave(pad->user);
	return r;
}

int figurepad_read(const struct figurepad *pad, struct figures *figures, char **ret_why)
{
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *why = NULL;
	struct file_buffer text = { 0 };
	struct stat st;
	int r;

	user_enter(pad->user);
	fd = file_open_at_once(pad->path, O_RDONLY | O_NOFOLLOW);
	user_leave(pad->user);
	if (fd < 0)
		return refuse(ret_why, "%s", strerror(-fd));
	if (fstat(fd, &st) < 0)
		return refuse(ret_why, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return refuse(ret_why, "it is not a file any more");
	if (st.st_size > PAD_MAX)
		return refuse(ret_why, "more than %d MiB", PAD_MAX / 1024 / 1024);
	r = xcheck(file_reread(fd, &text));
	if (r < 0)
		return refuse(ret_why, "%s", strerror(-r));
	r = benchfmt_read(&(struct output){ text.data, text.length }, figures, &why);
	file_buffer_clear(&text);
	return r < 0 ? refuse(ret_why, "%s", why) : 0;
}
