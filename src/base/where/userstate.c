// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/where/userstate.h"

enum {
	WHOLE_CORE_FILE_MAX = 64 * 1024,
	ADDS_PER = 10000,
	ADDS_MAX = 16 * ADDS_PER,
};

static const char whole_core_name[] = "whole-core";

/* Returns the error, and names the folder in *ret_why. */
static int refuse_folder(const char *path, int error, const char *why, char **ret_why)
{
	if (ret_why && error != -ENOMEM)
		(void)text_format(ret_why, "%s: %s", path, why ? why : strerror(-error));
	return error;
}

static int check_folder(const char *path, char **ret_why)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return refuse_folder(path, -errno, NULL, ret_why);
	if (!S_ISDIR(st.st_mode))
		return refuse_folder(path, -ENOENT, "no folder", ret_why);
	if (st.st_uid != geteuid())
		return refuse_folder(path, -ENOENT, "belongs to another user", ret_why);
	return 0;
}

/* Whether the folder is there, or can be made, and belongs to this user. */
static int make_folder(const char *path, char **ret_why)
{
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return refuse_folder(path, -errno, NULL, ret_why);
	return check_folder(path, ret_why);
}

int userstate_path(const char *name, char **ret, char **ret_why)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	const char *const below_home[] = { "/.local", "/.local/state", "/.local/state/quiesce",
		NULL };
	const char *const below_state[] = { "", "/quiesce", NULL };
	const char *const *steps = below_state;
	const char *root = state;
	_cleanup_free_ char *folder = NULL;
	int r = 0;

	/* The XDG base directory specification says to ignore a relative path. */
	if (!state || state[0] != '/') {
		if (!home || home[0] != '/')
			return refuse_folder("HOME", -ENOENT,
				home ? "no absolute path" : "not in the environment", ret_why);
		root = home;
		steps = below_home;
		r = check_folder(home, ret_why);
	}
	for (; r == 0 && *steps; steps++) {
		free(TAKE_PTR(folder));
		if (text_format(&folder, "%s%s", root, *steps) < 0)
			return -ENOMEM;
		r = make_folder(folder, ret_why);
	}
	if (r < 0)
		return r;
	return text_format(ret, "%s/%s", folder, name);
}

/* The next line of the form "42731 NAME", whose name is returned with its length. */
static bool next_line(const char **cursor, uint64_t *ret_adds, const char **ret_name, size_t *ret_n)
{
	while (**cursor) {
		const char *line = *cursor, *end = strchrnul(line, '\n');

		*cursor = *end ? end + 1 : end;
		if (parse_next_u64(&line, ret_adds) < 0 || *line != ' ' || *ret_adds == 0 ||
			*ret_adds > ADDS_MAX)
			continue;
		*ret_name = line + 1;
		*ret_n = (size_t)(end - line - 1);
		return true;
	}
	return false;
}

/* Between the name of the model and that of the kind. */
static const char *separator(enum topology_kind kind)
{
	return kind == TOPOLOGY_KIND_UNIFORM ? "" : ", ";
}

static bool is_named(const char *name, size_t n, const char *model, enum topology_kind kind)
{
	const char *const parts[] = { model, separator(kind), topology_kind_name(kind) };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		size_t length = strlen(parts[i]);

		if (length > n || memcmp(name, parts[i], length) != 0)
			return false;
		name += length;
		n -= length;
	}
	return n == 0;
}

int userstate_parse_whole_core(
	const char *text, const char *model, enum topology_kind kind, double *ret_adds)
{
	const char *name;
	uint64_t adds;
	size_t n;

	while (next_line(&text, &adds, &name, &n)) {
		if (is_named(name, n, model, kind)) {
			*ret_adds = (double)adds / ADDS_PER;
			return 0;
		}
	}
	return -ENODATA;
}

/* The text of the file; "" where there is none yet. */
static int read_whole_core(const char *path, char **ret)
{
	size_t length;
	int r = file_read_all(path, WHOLE_CORE_FILE_MAX, ret, &length);

	if (r != -ENOENT)
		return r;
	*ret = strdup("");
	return *ret ? 0 : -ENOMEM;
}

static int load_whole_core(const char *model, enum topology_kind kind, double *ret_adds)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	int r;

	r = userstate_path(whole_core_name, &path, NULL);
	if (r == 0)
		r = read_whole_core(path, &text);
	return r != 0 ? r : userstate_parse_whole_core(text, model, kind, ret_adds);
}

/* Writes the lines of all other models, and the line of this model. */
static int write_whole_core(
	FILE *stream, const char *text, const char *model, enum topology_kind kind, double adds)
{
	_cleanup_text_ struct text t = { 0 };
	const char *name;
	uint64_t known;
	size_t n;

	while (next_line(&text, &known, &name, &n))
		if (!is_named(name, n, model, kind))
			text_appendf(&t, "%llu %.*s\n", (unsigned long long)known, (int)n, name);
	text_appendf(&t, "%.0f %s%s%s\n", adds * ADDS_PER, model, separator(kind),
		topology_kind_name(kind));
	if (t.failed)
		return -ENOMEM;
	return fputs(t.data, stream) == EOF ? -EIO : 0;
}

static int store_whole_core(const char *model, enum topology_kind kind, double adds)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	struct file_replace *replace = NULL;
	double known = 0;
	int r;

	if (!*model || strchr(model, '\n') || !(adds > 0) || adds > (double)ADDS_MAX / ADDS_PER)
		return -EINVAL;
	r = userstate_path(whole_core_name, &path, NULL);
	if (r == 0)
		r = file_replace_begin(path, &replace);
	if (r < 0)
		return r;
	r = file_replace_lock(replace);
	if (r == 0)
		r = read_whole_core(path, &text);
	if (r == 0)
		(void)userstate_parse_whole_core(text, model, kind, &known);
	if (r == 0 && adds > known)
		r = write_whole_core(file_replace_stream(replace), text, model, kind, adds);
	if (r == 0 && adds > known)
		return file_replace_commit(replace);
	file_replace_abort(replace);
	return r;
}

double userstate_settle_whole_core(
	const char *model, enum topology_kind kind, double best, bool *ret_known)
{
	double known = 0;

	*ret_known = model && load_whole_core(model, kind, &known) == 0;
	if (model && best > known)
		(void)store_whole_core(model, kind, best);
	return MAX(best, known);
}
