// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/systemd/dropin.h"
#include "base/systemd/systemd.h"
#include "base/text.h"

#define RUNTIME_UNITS "/run/systemd/system"
#define NAME "50-quiesce.conf"
/* systemd ignores this file, as it reads only *.conf. */
#define UNFINISHED NAME ".new"
/* The variables of a service stand in the same file, in a section that systemd ignores
 * (systemd.syntax(7)), and from which it reads them as an EnvironmentFile=: by Environment= they
 * would count less than those in a file of the service itself (systemd.exec(5)). */
#define ENVIRONMENT "EnvironmentFile="
#define VARIABLES "[X-Environment]"

enum {
	DROPIN_MAX = 64 * 1024,
};

/* The paths of a unit's drop-in. */
struct dropin {
	char *directory;
	char *file;
	char *unfinished;
};

static void dropin_clear(struct dropin *dropin)
{
	free(dropin->directory);
	free(dropin->file);
	free(dropin->unfinished);
}

static inline void cleanup_dropin_value(struct dropin *dropin)
{
	dropin_clear(dropin);
}

static int name_dropin(const char *unit, struct dropin *ret)
{
	struct dropin dropin = { 0 };

	if (text_format(&dropin.directory, RUNTIME_UNITS "/%s.d", unit) < 0 ||
		text_format(&dropin.file, "%s/" NAME, dropin.directory) < 0 ||
		text_format(&dropin.unfinished, "%s/" UNFINISHED, dropin.directory) < 0) {
		dropin_clear(&dropin);
		return -ENOMEM;
	}
	*ret = dropin;
	return 0;
}

/* The settings in the drop-in, joined to one line, malloc'd; NULL if there is no file. */
static int read_settings(const struct dropin *dropin, char **ret)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_text_ struct text settings = { 0 };
	char *save = NULL;
	int r;

	r = file_read_all(dropin->file, DROPIN_MAX, &text, NULL);
	if (r == -ENOENT) {
		*ret = NULL;
		return 0;
	}
	if (r < 0)
		return r;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (*line == '#' || *line == '[' || text_starts_with(line, ENVIRONMENT))
			continue;
		text_appendf(&settings, "%s%s", settings.length > 0 ? " " : "", line);
	}
	text_append(&settings, "");
	*ret = text_steal(&settings);
	return *ret ? 0 : -ENOMEM;
}

/* Whether systemd knows the present state of the drop-in: its content if it exists, else that it is
 * gone. 1, 0, or an error. */
static int is_loaded(
	struct systemd *manager, const char *unit, const struct dropin *dropin, bool exists)
{
	char **loaded;
	bool known = false;
	int r;

	r = systemd_read_names(manager, unit, "DropInPaths", &loaded);
	if (r < 0)
		return r;
	for (size_t i = 0; loaded[i]; i++)
		known = known || strcmp(loaded[i], dropin->file) == 0;
	systemd_names_free(loaded);
	if (known != exists)
		return 0;
	if (!exists)
		return 1;
	r = systemd_needs_reload(manager, unit);
	return r < 0 ? r : !r;
}

static bool is_empty(const char *directory)
{
	_cleanup_closedir_ DIR *dir = opendir(directory);
	const struct dirent *entry;

	if (!dir)
		return false;
	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			return false;
	}
	return true;
}

int dropin_read(const char *unit, char **ret)
{
	__attribute__((cleanup(cleanup_dropin_value))) struct dropin dropin = { 0 };
	_cleanup_(systemd) struct systemd *manager = NULL;
	_cleanup_free_ char *settings = NULL;
	char *value;
	int r;

	r = name_dropin(unit, &dropin);
	if (r == 0)
		r = read_settings(&dropin, &settings);
	if (r == 0)
		r = systemd_open(&manager);
	if (r == 0)
		r = is_loaded(manager, unit, &dropin, settings != NULL);
	if (r < 0)
		return r;
	if (r == 0 || access(dropin.unfinished, F_OK) == 0 || is_empty(dropin.directory))
		value = strdup(DROPIN_UNFINISHED);
	else
		value = settings ? TAKE_PTR(settings) : strdup(DROPIN_NONE);
	if (!value)
		return -ENOMEM;
	*ret = value;
	return 0;
}

/* Whether it is a variable of the environment: no setting of systemd's has such a name. */
static bool is_variable(const char *setting)
{
	return memchr(setting, '_', strcspn(setting, "="));
}

/* The text of the drop-in: one setting in each line, and the variables last. */
static char *format_dropin(
	const struct dropin *dropin, const char *unit, const char *tool, const char *settings)
{
	_cleanup_free_ char *copy = strdup(settings);
	_cleanup_text_ struct text text = { 0 };
	char *cursor = copy, *setting;
	bool has_variables = false;

	text_appendf(&text, "# Made by %s, and removed by `%s restore`.\n[%s]\n", tool, tool,
		text_ends_with(unit, ".slice") ? "Slice" : "Service");
	while (copy && (setting = strsep(&cursor, " "))) {
		if (is_variable(setting) && !has_variables) {
			text_appendf(&text, ENVIRONMENT "%s\n" VARIABLES "\n", dropin->file);
			has_variables = true;
		}
		text_appendf(&text, "%s\n", setting);
	}
	return copy ? text_steal(&text) : NULL;
}

static int make_dropin(const struct dropin *dropin, const char *content)
{
	_cleanup_close_ int fd = -EBADF;
	size_t length = strlen(content);
	ssize_t n;

	if (mkdir(dropin->directory, 0755) < 0 && errno != EEXIST)
		return -errno;
	fd = open(dropin->unfinished,
		O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0644);
	if (fd < 0)
		return -errno;
	n = write(fd, content, length);
	if (n < 0)
		return -errno;
	if ((size_t)n != length)
		return -EIO;
	/* Readable for all in spite of the umask, as `status` needs no root. */
	if (fchmod(fd, 0644) < 0 || rename(dropin->unfinished, dropin->file) < 0)
		return -errno;
	return 0;
}

static int remove_dropin(const struct dropin *dropin, bool keep_directory)
{
	const char *const files[] = { dropin->file, dropin->unfinished };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (unlink(files[i]) < 0 && errno != ENOENT)
			return -errno;
	}
	/* Somebody else may have put files into the directory. */
	if (!keep_directory && rmdir(dropin->directory) < 0 && errno != ENOENT &&
		errno != ENOTEMPTY && errno != EEXIST)
		return -errno;
	return 0;
}

int dropin_write(const char *unit, const char *tool, const char *text)
{
	__attribute__((cleanup(cleanup_dropin_value))) struct dropin dropin = { 0 };
	_cleanup_(systemd) struct systemd *manager = NULL;
	_cleanup_free_ char *content = NULL;
	int r;

	r = name_dropin(unit, &dropin);
	if (r == 0)
		r = systemd_open(&manager);
	if (r == 0 && strchr(text, '=')) {
		content = format_dropin(&dropin, unit, tool, text);
		r = content ? make_dropin(&dropin, content) : -ENOMEM;
	} else if (r == 0) {
		r = remove_dropin(&dropin, strcmp(text, DROPIN_NONE) != 0);
	}
	return r < 0 ? r : systemd_reload(manager);
}

int dropin_read_time(const char *unit, int64_t *ret)
{
	__attribute__((cleanup(cleanup_dropin_value))) struct dropin dropin = { 0 };
	struct stat st;
	int r;

	r = name_dropin(unit, &dropin);
	if (r == 0 && stat(dropin.file, &st) < 0)
		r = -errno;
	if (r == 0)
		*ret = (int64_t)st.st_mtim.tv_sec * NSEC_PER_SEC + st.st_mtim.tv_nsec;
	return r;
}
