// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"

enum {
	/* Somebody else, for tests that run as root. */
	NOBODY = 65534,
};

static char top[] = "/tmp/test-file.XXXXXX";

/* --- A directory for each test --- */

static void empty_directory(const char *path)
{
	const struct dirent *entry;
	DIR *dir = opendir(path);

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(dirfd(dir), entry->d_name, 0) < 0)
			assert_int_equal(unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR), 0);
	}
	closedir(dir);
}

static int enter_top(void **state)
{
	(void)state;
	memcpy(top + strlen(top) - 6, "XXXXXX", 6);
	umask(022);
	return mkdtemp(top) && chdir(top) == 0 ? 0 : -1;
}

static int leave_top(void **state)
{
	(void)state;
	/* A failed test may have left these behind. */
	if (getuid() == 0 && seteuid(0) < 0)
		return -1;
	umask(022);
	chmod(top, 0700);
	empty_directory(top);
	return chdir("/") == 0 && rmdir(top) == 0 ? 0 : -1;
}

static void put(const char *name, const char *data, size_t size, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void put_text(const char *name, const char *text, mode_t mode)
{
	put(name, text, strlen(text), mode);
}

static void check_file(const char *name, const char *wanted)
{
	char *data;
	size_t length;

	assert_int_equal(file_read_all(name, 1 << 20, &data, &length), 0);
	assert_int_equal(length, strlen(wanted));
	assert_string_equal(data, wanted);
	free(data);
}

static unsigned count_files(const char *path)
{
	DIR *dir = opendir(path);
	unsigned n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

static mode_t mode_of(const char *name)
{
	struct stat st;

	assert_int_equal(lstat(name, &st), 0);
	return st.st_mode;
}

/* --- Attributes --- */

static void test_read_attr(void **state)
{
	static const struct {
		const char *text;
		const char *wanted;
	} rows[] = {
		{ "", "" },
		{ "\n", "" },
		{ "1\n", "1" },
		{ "1", "1" },
		{ " (null)\n", " (null)" },
		{ "a\n\n", "a\n" },
		{ "two\nlines\n", "two\nlines" },
	};
	char buf[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		put_text("attr", rows[i].text, 0644);
		memset(buf, 'x', sizeof(buf));
		assert_int_equal(
			file_read_attr(AT_FDCWD, "attr", buf, sizeof(buf)), strlen(rows[i].wanted));
		assert_string_equal(buf, rows[i].wanted);
	}
}

/* Each size around the buffer's and the page's. What does not fit changes nothing. */
static void test_attr_sizes(void **state)
{
	char data[FILE_ATTR_SIZE + 2], buf[FILE_ATTR_SIZE + 2];

	(void)state;
	memset(data, 'a', sizeof(data));
	put("attr", data, 7, 0644);
	assert_int_equal(file_read_attr(AT_FDCWD, "attr", buf, 8), 7);
	snprintf(buf, sizeof(buf), "untouched");
	assert_int_equal(file_read_attr(AT_FDCWD, "attr", buf, 7), -EFBIG);
	assert_string_equal(buf, "untouched");
	data[6] = '\n';
	put("attr", data, 7, 0644);
	/* The newline takes no room. */
	assert_int_equal(file_read_attr(AT_FDCWD, "attr", buf, 7), 6);
	data[6] = 'a';

	put("attr", data, FILE_ATTR_SIZE, 0644);
	assert_int_equal(file_read_attr(AT_FDCWD, "attr", buf, sizeof(buf)), FILE_ATTR_SIZE);
	assert_int_equal(strlen(buf), FILE_ATTR_SIZE);
	assert_int_equal(file_read_attr(AT_FDCWD, "attr", buf, FILE_ATTR_SIZE), -EFBIG);
	put("attr", data, FILE_ATTR_SIZE + 1, 0644);
	snprintf(buf, sizeof(buf), "untouched");
	assert_int_equal(file_read_attr(AT_FDCWD, "attr", buf, sizeof(buf)), -EFBIG);
	assert_string_equal(buf, "untouched");
}

static void test_attr_errors(void **state)
{
	char buf[16] = "untouched";
	uint64_t value = 5;
	int dir;

	(void)state;
	assert_int_equal(file_read_attr(AT_FDCWD, "none", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(file_read_attr(AT_FDCWD, ".", buf, sizeof(buf)), -EISDIR);
	assert_int_equal(file_reread_attr(-1, buf, sizeof(buf)), -EBADF);
	assert_string_equal(buf, "untouched");

	put_text("attr", "42\n", 0644);
	dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(file_read_attr_u64(dir, "attr", &value), 0);
	assert_int_equal(value, 42);
	close(dir);
	put_text("attr", "on\n", 0644);
	assert_int_equal(file_read_attr_u64(AT_FDCWD, "attr", &value), -EINVAL);
	put_text("attr", "", 0644);
	assert_int_equal(file_read_attr_u64(AT_FDCWD, "attr", &value), -EINVAL);
	assert_int_equal(file_read_attr_u64(AT_FDCWD, "none", &value), -ENOENT);
	assert_int_equal(value, 42);
}

static void test_long_attribute(void **state)
{
	static const size_t sizes[] = { 0, 1, FILE_ATTR_SIZE - 1, FILE_ATTR_SIZE,
		FILE_ATTR_SIZE + 1, 2 * FILE_ATTR_SIZE, 2 * FILE_ATTR_SIZE + 1, 20000,
		FILE_LONG_ATTR_MAX - 1 };
	char *data = malloc(FILE_LONG_ATTR_MAX + 1), *got = NULL;

	(void)state;
	assert_non_null(data);
	memset(data, '7', FILE_LONG_ATTR_MAX + 1);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		data[sizes[i]] = '\n';
		put("attr", data, sizes[i] + 1, 0644);
		data[sizes[i]] = '7';
		assert_int_equal(file_read_long_attr(AT_FDCWD, "attr", &got), sizes[i]);
		assert_int_equal(strlen(got), sizes[i]);
		free(got);
		got = NULL;
		assert_int_equal(file_read_long_line(AT_FDCWD, "attr", &got), sizes[i]);
		free(got);
		got = NULL;
		put("attr", data, sizes[i], 0644);
		assert_int_equal(file_read_long_line(AT_FDCWD, "attr", &got),
			sizes[i] > 0 ? -EBADMSG : -ENODATA);
		assert_int_equal(file_read_long_attr(AT_FDCWD, "attr", &got), sizes[i]);
		free(got);
		got = NULL;
	}
	put("attr", data, FILE_LONG_ATTR_MAX + 1, 0644);
	assert_int_equal(file_read_long_attr(AT_FDCWD, "attr", &got), -EFBIG);
	assert_int_equal(file_read_long_attr(AT_FDCWD, "none", &got), -ENOENT);
	assert_int_equal(file_read_long_attr(AT_FDCWD, ".", &got), -EISDIR);
	assert_null(got);
	free(data);
}

static void test_line(void **state)
{
	char buf[16] = "untouched";

	(void)state;
	put_text("attr", "", 0644);
	assert_int_equal(file_read_line(AT_FDCWD, "attr", buf, sizeof(buf)), -ENODATA);
	put_text("attr", "2-", 0644);
	assert_int_equal(file_read_line(AT_FDCWD, "attr", buf, sizeof(buf)), -EBADMSG);
	assert_int_equal(file_read_line(AT_FDCWD, "none", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(file_read_line(AT_FDCWD, ".", buf, sizeof(buf)), -EISDIR);
	assert_string_equal(buf, "untouched");
	put_text("attr", "2-3\n", 0644);
	assert_int_equal(file_read_line(AT_FDCWD, "attr", buf, 3), -EFBIG);
	assert_int_equal(file_read_line(AT_FDCWD, "attr", buf, sizeof(buf)), 3);
	assert_string_equal(buf, "2-3");
	put_text("attr", "\n", 0644);
	assert_int_equal(file_read_line(AT_FDCWD, "attr", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "");
}

static void test_reread_attr(void **state)
{
	char buf[16];
	int fd;

	(void)state;
	put_text("attr", "first\n", 0644);
	fd = open("attr", O_RDONLY | O_CLOEXEC);
	assert_int_equal(file_reread_attr(fd, buf, sizeof(buf)), 5);
	put_text("attr", "2nd\n", 0644);
	assert_int_equal(file_reread_attr(fd, buf, sizeof(buf)), 3);
	assert_string_equal(buf, "2nd");
	close(fd);
}

static void test_write_attr(void **state)
{
	(void)state;
	put_text("attr", "a longer text\n", 0644);
	assert_int_equal(file_write_attr("attr", "5\n"), 0);
	check_file("attr", "5\n");
	assert_int_equal(file_write_attr("attr", ""), 0);
	check_file("attr", "");
	/* It makes no files, and no room where there is none. */
	assert_int_equal(file_write_attr("absent", "5"), -ENOENT);
	assert_int_equal(count_files("."), 1);
	assert_int_equal(file_write_attr(".", "5"), -EISDIR);
	assert_int_equal(file_write_attr("/dev/full", "5"), -ENOSPC);
}

/* --- Whole files --- */

static void test_read_all_sizes(void **state)
{
	/* Around the sizes at which the buffer grows. */
	static const size_t sizes[] = { 0, 1, 8189, 8190, 8191, 8192, 8193, 16382, 16383, 16384,
		16385, 50000 };
	char *data = malloc(50001);

	(void)state;
	assert_non_null(data);
	for (size_t i = 0; i < 50001; i++)
		data[i] = (char)('a' + i % 23);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		size_t length = 12345;
		char *got = NULL;

		put("file", data, sizes[i], 0644);
		assert_int_equal(file_read_all("file", sizes[i], &got, &length), 0);
		assert_int_equal(length, sizes[i]);
		assert_memory_equal(got, data, sizes[i]);
		assert_int_equal(got[length], '\0');
		free(got);
		got = NULL;
		if (sizes[i] == 0)
			continue;
		assert_int_equal(file_read_all("file", sizes[i] - 1, &got, &length), -EFBIG);
		assert_null(got);
	}
	free(data);
}

static void test_read_all_errors(void **state)
{
	char *data = NULL;

	(void)state;
	assert_int_equal(file_read_all("none", 10, &data, NULL), -ENOENT);
	assert_int_equal(file_read_all(".", 10, &data, NULL), -EISDIR);
	assert_null(data);
	/* A file that says 0 for its size. */
	assert_int_equal(file_read_all("/proc/self/stat", 1 << 20, &data, NULL), 0);
	assert_true(strlen(data) > 20);
	free(data);
}

static void test_reread(void **state)
{
	struct file_buffer buffer = { 0 };
	const char *kept;
	char *data = malloc(100000);
	int fd;

	(void)state;
	assert_non_null(data);
	memset(data, 'x', 100000);
	put("table", data, 100000, 0644);
	fd = open("table", O_RDONLY | O_CLOEXEC);
	assert_int_equal(file_reread(fd, &buffer), 0);
	assert_int_equal(buffer.length, 100000);
	assert_memory_equal(buffer.data, data, 100000);
	assert_int_equal(buffer.data[100000], '\0');
	/* Again from the start, without a new buffer. */
	kept = buffer.data;
	assert_int_equal(file_reread(fd, &buffer), 0);
	assert_int_equal(buffer.length, 100000);
	assert_true(buffer.data == kept);
	put_text("table", "short", 0644);
	assert_int_equal(file_reread(fd, &buffer), 0);
	assert_int_equal(buffer.length, 5);
	assert_string_equal(buffer.data, "short");
	assert_true(buffer.data == kept);
	put_text("table", "", 0644);
	assert_int_equal(file_reread(fd, &buffer), 0);
	assert_string_equal(buffer.data, "");
	close(fd);
	assert_int_equal(file_reread(-1, &buffer), -EBADF);
	file_buffer_clear(&buffer);
	file_buffer_clear(&buffer);
	free(data);
}

/* --- Replacing --- */

static int replace(const char *path, const char *text)
{
	struct file_replace *file;
	int r;

	r = file_replace_begin(path, &file);
	if (r < 0)
		return r;
	fputs(text, file_replace_stream(file));
	return file_replace_commit(file);
}

static void test_replace_new(void **state)
{
	char path[PATH_MAX];

	(void)state;
	umask(027);
	assert_int_equal(replace("new", "text"), 0);
	check_file("new", "text");
	assert_int_equal(mode_of("new"), S_IFREG | 0640);
	snprintf(path, sizeof(path), "%s/absolute", top);
	assert_int_equal(replace(path, ""), 0);
	check_file("absolute", "");
	assert_int_equal(mkdir("sub", 0755), 0);
	assert_int_equal(replace("./sub/../sub/deep", "x"), 0);
	check_file("sub/deep", "x");
	assert_int_equal(unlink("sub/deep"), 0);
	/* Nothing else was left. */
	assert_int_equal(count_files("sub"), 0);
	assert_int_equal(count_files("."), 3);
}

static void test_replace_old(void **state)
{
	struct stat before, after;

	(void)state;
	put_text("file", "a longer old text", 0604);
	umask(077);
	assert_int_equal(stat("file", &before), 0);
	assert_int_equal(replace("file", "new"), 0);
	check_file("file", "new");
	assert_int_equal(mode_of("file"), S_IFREG | 0604);
	assert_int_equal(stat("file", &after), 0);
	assert_true(before.st_ino != after.st_ino);
	assert_int_equal(count_files("."), 1);
}

static void test_replace_keeps_owner(void **state)
{
	struct stat st;

	(void)state;
	put_text("file", "old", 0640);
	if (geteuid() == 0)
		assert_int_equal(chown("file", NOBODY, NOBODY), 0);
	assert_int_equal(replace("file", "new"), 0);
	assert_int_equal(stat("file", &st), 0);
	assert_int_equal(st.st_uid, geteuid() == 0 ? (uid_t)NOBODY : geteuid());
	assert_int_equal(st.st_mode, S_IFREG | 0640);
}

static void test_replace_abort(void **state)
{
	struct file_replace *file;

	(void)state;
	file_replace_abort(NULL);
	put_text("file", "old", 0644);
	assert_int_equal(file_replace_begin("file", &file), 0);
	fputs("new", file_replace_stream(file));
	fflush(file_replace_stream(file));
	/* Until the commit the old file stands. */
	check_file("file", "old");
	file_replace_abort(file);
	check_file("file", "old");
	assert_int_equal(file_replace_begin("new", &file), 0);
	file_replace_abort(file);
	assert_int_equal(count_files("."), 1);
}

/* Two at once do not share a temporary file; the last one wins. */
static void test_replace_twice(void **state)
{
	struct file_replace *a, *b;

	(void)state;
	assert_int_equal(file_replace_begin("file", &a), 0);
	assert_int_equal(file_replace_begin("file", &b), 0);
	fputs("a", file_replace_stream(a));
	fputs("b", file_replace_stream(b));
	assert_int_equal(file_replace_commit(b), 0);
	check_file("file", "b");
	assert_int_equal(file_replace_commit(a), 0);
	check_file("file", "a");
	assert_int_equal(count_files("."), 1);
}

static void test_replace_own_link(void **state)
{
	struct file_replace *file = NULL;

	(void)state;
	assert_int_equal(mkdir("sub", 0755), 0);
	put_text("sub/real", "old", 0600);
	assert_int_equal(symlink("sub/real", "link"), 0);
	assert_int_equal(replace("link", "new"), 0);
	assert_true(S_ISLNK(mode_of("link")));
	assert_int_equal(mode_of("sub/real"), S_IFREG | 0600);
	check_file("sub/real", "new");
	assert_int_equal(count_files("sub"), 1);
	assert_int_equal(unlink("sub/real"), 0);
	/* Where it leads there is nothing yet, by one link or by several. */
	assert_int_equal(symlink("../link", "sub/again"), 0);
	assert_true(file_is_same("sub/again", "sub/real"));
	assert_true(file_is_same("link", "sub/../sub/real"));
	assert_false(file_is_same("link", "real"));
	assert_int_equal(replace("sub/again", "newer"), 0);
	assert_true(S_ISLNK(mode_of("link")) && S_ISLNK(mode_of("sub/again")));
	check_file("sub/real", "newer");
	assert_int_equal(unlink("sub/real"), 0);
	assert_int_equal(unlink("sub/again"), 0);
	assert_int_equal(rmdir("sub"), 0);
	assert_int_equal(file_replace_begin("link", &file), -ENOENT);
	assert_int_equal(mkdir("sub", 0755), 0);
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(file_replace_begin("loop", &file), -ELOOP);
	assert_int_equal(unlink("link"), 0);
	assert_int_equal(symlink("sub", "link"), 0);
	assert_int_equal(file_replace_begin("link", &file), -EISDIR);
	assert_null(file);
}

/* A link that somebody else made. Root makes one, everybody else finds one of root's. */
static void test_replace_foreign_link(void **state)
{
	static const char *const found[] = { "/bin/sh", "/etc/mtab", "/etc/os-release" };
	struct file_replace *file = NULL;
	unsigned tried = 0;

	(void)state;
	if (geteuid() == 0) {
		put_text("file", "old", 0644);
		assert_int_equal(symlink("file", "link"), 0);
		assert_int_equal(lchown("link", NOBODY, NOBODY), 0);
		assert_int_equal(file_replace_begin("link", &file), -ELOOP);
		check_file("file", "old");
		assert_int_equal(rename("file", "other"), 0);
		assert_int_equal(file_replace_begin("link", &file), -ELOOP);
		assert_int_equal(count_files("."), 2);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(found); i++) {
		struct stat st;

		if (lstat(found[i], &st) < 0 || !S_ISLNK(st.st_mode) || st.st_uid == geteuid() ||
			stat(found[i], &st) < 0 || !S_ISREG(st.st_mode))
			continue;
		assert_int_equal(file_replace_begin(found[i], &file), -ELOOP);
		tried++;
	}
	assert_true(tried > 0);
	assert_null(file);
}

static void test_replace_bad_places(void **state)
{
	struct file_replace *file = NULL;
	char name[NAME_MAX + 2];

	(void)state;
	put_text("file", "old", 0644);
	assert_int_equal(file_replace_begin("", &file), -ENOENT);
	assert_int_equal(file_replace_begin(".", &file), -EISDIR);
	assert_int_equal(file_replace_begin("/", &file), -EISDIR);
	assert_int_equal(file_replace_begin("none/file", &file), -ENOENT);
	assert_int_equal(file_replace_begin("none/", &file), -EISDIR);
	assert_int_equal(file_replace_begin("file/new", &file), -ENOTDIR);
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(file_replace_begin(name, &file), -ENAMETOOLONG);
	assert_null(file);
	/* The longest name there is has a temporary one as well. */
	name[NAME_MAX] = '\0';
	assert_int_equal(replace(name, "x"), 0);
	assert_int_equal(unlink(name), 0);
	check_file("file", "old");
	assert_int_equal(count_files("."), 1);
}

static void test_same(void **state)
{
	(void)state;
	assert_int_equal(mkdir("folder", 0755), 0);
	put_text("file", "text", 0644);
	assert_int_equal(symlink("file", "link"), 0);
	assert_int_equal(symlink("folder", "there"), 0);
	assert_true(file_is_same("file", "./file"));
	assert_true(file_is_same("folder/../link", "file"));
	assert_false(file_is_same("file", "new"));
	assert_false(file_is_same("new", "file"));
	assert_false(file_is_same("file", "folder"));
	/* Not there yet. */
	assert_true(file_is_same("new", "./new"));
	assert_true(file_is_same("folder/new", "there/./new"));
	assert_false(file_is_same("folder/new", "new"));
	assert_false(file_is_same("folder/new", "folder/other"));
	assert_false(file_is_same("none/new", "none/new"));

	assert_int_equal(file_check_new("folder/new"), 0);
	assert_int_equal(file_check_new("new"), 0);
	assert_int_equal(file_check_new("none/new"), -ENOENT);
	assert_int_equal(file_check_new("file/new"), -ENOTDIR);
	assert_int_equal(access("folder/new", F_OK), -1);
}

static void test_close_from(_unused_ void **state)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		if (dup2(STDERR_FILENO, 50) != 50 || dup2(STDERR_FILENO, 51) != 51 ||
			dup2(STDERR_FILENO, 60) != 60)
			_exit(1);
		file_close_from(51);
		_exit(fcntl(50, F_GETFD) < 0 || fcntl(51, F_GETFD) >= 0 || fcntl(60, F_GETFD) >= 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* A directory and a file that we may not write to. */
static void test_replace_no_permission(void **state)
{
	struct file_replace *file = NULL;

	(void)state;
	put_text("mine", "old", 0644);
	put_text("read-only", "old", 0444);
	if (geteuid() == 0) {
		assert_int_equal(chown("mine", NOBODY, NOBODY), 0);
		assert_int_equal(chown("read-only", NOBODY, NOBODY), 0);
		assert_int_equal(chown(".", NOBODY, NOBODY), 0);
		assert_int_equal(seteuid(NOBODY), 0);
	}
	/* Its directory would let us. */
	assert_int_equal(file_replace_begin("read-only", &file), -EACCES);
	assert_int_equal(chmod(".", 0555), 0);
	assert_int_equal(file_replace_begin("new", &file), -EACCES);
	assert_int_equal(file_replace_begin("mine", &file), -EACCES);
	assert_null(file);
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	check_file("mine", "old");
	check_file("read-only", "old");
	assert_int_equal(count_files("."), 2);
}

/* What does not fit anywhere leaves the old file as it was. */
static void test_replace_too_large(void **state)
{
	struct file_replace *file;
	struct rlimit former, limit;
	int r;

	(void)state;
	put_text("file", "old", 0644);
	assert_int_equal(file_replace_begin("file", &file), 0);
	for (int i = 0; i < 1000; i++)
		fputs("0123456789", file_replace_stream(file));
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &former), 0);
	limit = former;
	limit.rlim_cur = 100;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int i = 0; i < 1000; i++)
		fputs("0123456789", file_replace_stream(file));
	r = file_replace_commit(file);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &former), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(r, -EFBIG);
	check_file("file", "old");
	assert_int_equal(count_files("."), 1);
}

/* An early write failed, the last flush does not: still a failure. */
static void test_replace_early_error(void **state)
{
	struct file_replace *file;
	struct rlimit former, limit;
	FILE *stream;

	(void)state;
	assert_int_equal(file_replace_begin("file", &file), 0);
	stream = file_replace_stream(file);
	fputs("0123456789", stream);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &former), 0);
	limit = former;
	limit.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_true(fflush(stream) != 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &former), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(file_replace_commit(file), -EIO);
	assert_int_equal(count_files("."), 0);
}

/* As well, and the cause is still there, though stdio has forgotten it. */
static void test_replace_forgotten_error(void **state)
{
	char text[3 * 4096];
	struct file_replace *file;
	struct rlimit former, limit;
	int r;

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_int_equal(file_replace_begin("file", &file), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &former), 0);
	limit = former;
	limit.rlim_cur = 4096;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_true(fwrite(text, 1, sizeof(text), file_replace_stream(file)) < sizeof(text));
	r = file_replace_commit(file);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &former), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(r, -EFBIG);
	assert_int_equal(count_files("."), 0);
}

static void test_replace_devices(void **state)
{
	struct stat st;
	char buf[16];
	int fd;

	(void)state;
	assert_int_equal(replace("/dev/null", "gone"), 0);
	assert_true(S_ISCHR(mode_of("/dev/null")));
	assert_int_equal(symlink("/dev/null", "link"), 0);
	assert_int_equal(replace("link", "gone"), 0);
	assert_true(S_ISLNK(mode_of("link")));
	assert_int_equal(unlink("link"), 0);
	assert_int_equal(replace("/dev/full", "x"), -ENOSPC);

	assert_int_equal(mkfifo("fifo", 0600), 0);
	fd = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(replace("fifo", "through"), 0);
	assert_int_equal(read(fd, buf, sizeof(buf)), 7);
	assert_memory_equal(buf, "through", 7);
	close(fd);
	assert_int_equal(stat("fifo", &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(count_files("."), 1);
}

#define IN_TOP(test) cmocka_unit_test_setup_teardown(test, enter_top, leave_top)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TOP(test_read_attr),
		IN_TOP(test_attr_sizes),
		IN_TOP(test_attr_errors),
		IN_TOP(test_line),
		IN_TOP(test_long_attribute),
		IN_TOP(test_reread_attr),
		IN_TOP(test_write_attr),
		IN_TOP(test_read_all_sizes),
		IN_TOP(test_read_all_errors),
		IN_TOP(test_reread),
		IN_TOP(test_replace_new),
		IN_TOP(test_replace_old),
		IN_TOP(test_replace_keeps_owner),
		IN_TOP(test_replace_abort),
		IN_TOP(test_replace_twice),
		IN_TOP(test_replace_own_link),
		IN_TOP(test_replace_foreign_link),
		IN_TOP(test_replace_bad_places),
		IN_TOP(test_same),
		cmocka_unit_test(test_close_from),
		IN_TOP(test_replace_no_permission),
		IN_TOP(test_replace_too_large),
		IN_TOP(test_replace_early_error),
		IN_TOP(test_replace_forgotten_error),
		IN_TOP(test_replace_devices),
	};

	return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
