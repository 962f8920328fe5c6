// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/macro.h"
#include "look/recording/tarball.h"

static void test_links(void **state)
{
	(void)state;
	assert_true(tarball_link_stays_inside("sys/a", "b"));
	assert_true(tarball_link_stays_inside("sys/a", ".."));
	assert_true(tarball_link_stays_inside("sys/a/b", "../../proc/stat"));
	assert_true(tarball_link_stays_inside("sys/a", "./b//c/../../../proc"));
	assert_false(tarball_link_stays_inside("sys/a", "../.."));
	assert_false(tarball_link_stays_inside("sys/a", "b/../../../x"));
	assert_false(tarball_link_stays_inside("a", ".."));
	assert_false(tarball_link_stays_inside("sys/a", "/etc/passwd"));
	assert_false(tarball_link_stays_inside("sys/a", ""));
}

#if HAVE_LIBARCHIVE

struct directory {
	char path[32];
	int fd;
};

static int setup(void **state)
{
	struct directory *directory = calloc(1, sizeof(*directory));

	if (!directory)
		return -1;
	snprintf(directory->path, sizeof(directory->path), "/tmp/quiesce-test-XXXXXX");
	if (!mkdtemp(directory->path))
		return -1;
	directory->fd = open(directory->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*state = directory;
	return directory->fd < 0 ? -1 : 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

static int teardown(void **state)
{
	struct directory *directory = *state;

	close(directory->fd);
	nftw(directory->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	free(directory);
	return 0;
}

static struct tarball_entry an_entry(enum tarball_type type, const char *path, const char *data)
{
	return (struct tarball_entry){
		.type = type,
		.path = (char *)path,
		.data = (char *)data,
		.size = data ? strlen(data) : 0,
	};
}

static char *write_some(bool turned, size_t *ret_size)
{
	struct tarball_entry entries[] = {
		an_entry(TARBALL_DIRECTORY, "proc", NULL),
		an_entry(TARBALL_FILE, "proc/stat", "cpu 1 2 3\n"),
		an_entry(TARBALL_LINK, "sys/a/link", "../b/file"),
		an_entry(TARBALL_FILE, "sys/b/file", "x"),
		an_entry(TARBALL_FILE, "sys/b/empty", ""),
	};
	size_t n = ARRAY_SIZE(entries);
	char *bytes = NULL;
	FILE *stream = open_memstream(&bytes, ret_size);

	assert_non_null(stream);
	for (size_t i = 0; turned && i < n / 2; i++) {
		struct tarball_entry other = entries[i];

		entries[i] = entries[n - 1 - i];
		entries[n - 1 - i] = other;
	}
	assert_int_equal(tarball_write(stream, entries, n), 0);
	assert_int_equal(fclose(stream), 0);
	return bytes;
}

/* The same entries are the same bytes: whatever their order, and whenever. */
static void test_reproducible(void **state)
{
	size_t a_size, b_size;
	char *a = write_some(false, &a_size);
	char *b;

	(void)state;
	/* The time in gzip's header has seconds. */
	usleep(1100 * 1000);
	b = write_some(true, &b_size);
	assert_int_equal(a_size, b_size);
	assert_memory_equal(a, b, a_size);
	free(a);
	free(b);
}

static int unpack(const void *bytes, size_t size, int directory, char **ret_why)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	int r;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	*ret_why = NULL;
	r = tarball_unpack(fd, directory, ret_why);
	close(fd);
	return r;
}

static void test_round_trip(void **state)
{
	const struct directory *directory = *state;
	size_t size;
	char *bytes = write_some(false, &size);
	char text[64], *why;
	struct stat st;

	assert_int_equal(unpack(bytes, size, directory->fd, &why), 0);
	free(bytes);
	assert_int_equal(file_read_attr(directory->fd, "proc/stat", text, sizeof(text)), 9);
	assert_string_equal(text, "cpu 1 2 3");
	assert_int_equal(file_read_attr(directory->fd, "sys/a/link", text, sizeof(text)), 1);
	assert_string_equal(text, "x");
	assert_int_equal(fstatat(directory->fd, "sys/a/link", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(fstatat(directory->fd, "sys/b/empty", &st, 0), 0);
	assert_int_equal(st.st_size, 0);
}

/* A header of POSIX.1-1988 (ustar), and the content behind it. */
struct archive_text {
	char bytes[16384];
	size_t n;
};

static void add(struct archive_text *archive, char type, const char *path, const char *target,
	const char *content)
{
	char *header = archive->bytes + archive->n;
	unsigned sum = 0;

	memset(header, 0, 512);
	strncpy(header, path, 99);
	memcpy(header + 100, "0000644", 8);
	memcpy(header + 108, "0000000", 8);
	memcpy(header + 116, "0000000", 8);
	snprintf(header + 124, 12, "%011o", (unsigned)strlen(content) & 07777);
	memcpy(header + 136, "00000000000", 12);
	memset(header + 148, ' ', 8);
	header[156] = type;
	strncpy(header + 157, target, 99);
	memcpy(header + 257, "ustar\00000", 8);
	for (size_t i = 0; i < 512; i++)
		sum += (unsigned char)header[i];
	snprintf(header + 148, 8, "%06o", sum);
	archive->n += 512;
	memcpy(archive->bytes + archive->n, content, strlen(content));
	archive->n += (strlen(content) + 511) / 512 * 512;
}

static void test_refused(void **state)
{
	static const struct {
		char type;
		const char *path, *target, *why;
	} cases[] = {
		{ '0', "/etc/quiesce-test", "", "/etc/quiesce-test is no path inside of it" },
		{ '0', "../x", "", "../x is no path inside of it" },
		{ '0', "sys/../../x", "", "sys/../../x is no path inside of it" },
		{ '2', "sys/x", "/etc", "sys/x is a link that leads out" },
		{ '2', "sys/x", "../../etc", "sys/x is a link that leads out" },
		{ '1', "sys/x", "proc/stat", "sys/x is a hard link" },
		{ '3', "sys/x", "", "sys/x is neither a file, a directory nor a symbolic link" },
		{ '6', "sys/x", "", "sys/x is neither a file, a directory nor a symbolic link" },
		{ '0', "proc/stat", "", "proc/stat is in it twice" },
		{ '2', "proc/stat", "other", "proc/stat is in it twice" },
	};
	const struct directory *directory = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct archive_text archive = { 0 };
		char *why;

		add(&archive, '0', "proc/stat", "", "cpu\n");
		add(&archive, cases[i].type, cases[i].path, cases[i].target, "");
		archive.n += 1024;
		assert_int_equal(unpack(archive.bytes, archive.n, directory->fd, &why), -EBADMSG);
		assert_string_equal(why, cases[i].why);
		free(why);
		assert_int_equal(unlinkat(directory->fd, "proc/stat", 0), 0);
	}
}

/* A file that would be written through a link of the same archive. */
static void test_through_link(void **state)
{
	const struct directory *directory = *state;
	struct archive_text archive = { 0 };
	char *why = NULL;
	struct stat st;

	add(&archive, '2', "sys/a", "../proc", "");
	add(&archive, '0', "sys/a/b", "", "x");
	archive.n += 1024;
	assert_int_equal(unpack(archive.bytes, archive.n, directory->fd, &why), -EBADMSG);
	assert_string_equal(why, "sys/a is in it twice");
	free(why);
	assert_int_equal(fstatat(directory->fd, "proc", &st, 0), -1);
}

static void test_damaged(void **state)
{
	const struct directory *directory = *state;
	size_t size;
	char *bytes = write_some(false, &size), *why;

	assert_int_equal(unpack("no archive at all", 17, directory->fd, &why), -EBADMSG);
	free(why);
	assert_int_equal(unpack(bytes, size / 2, directory->fd, &why), -EBADMSG);
	free(why);
	free(bytes);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),
#if HAVE_LIBARCHIVE
		cmocka_unit_test(test_reproducible),
		cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_through_link, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
#endif
	};

	return cmocka_run_group_tests_name("tarball", tests, NULL, NULL);
}
