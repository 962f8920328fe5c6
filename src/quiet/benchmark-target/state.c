// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/say.h"
#include "base/systemd/systemd.h"
#include "base/text.h"
#include "base/where/bootid.h"
#include "base/where/running.h"
#include "quiet/benchmark-target/setters.h"
#include "quiet/benchmark-target/state.h"
#include "quiet/engine/journal.h"

#define TUNERS_FILE TARGET_DIRECTORY "/tuners"

enum {
	TUNERS_MAX = 16 * 1024,
	TUNERS_N_MAX = 256,
};

static int remove_file(const char *path)
{
	if (unlink(path) < 0 && errno != ENOENT) {
		int r = -errno;

		say_errno(r, "cannot remove %s", path);
		return r;
	}
	return 0;
}

static int add_setter(const struct target_setter *setter, const struct settings *settings,
	const struct choice *choice, struct text *text)
{
	_cleanup_free_ char *options = NULL;
	const char *why = NULL;
	int r;

	r = setter->make_options(settings, choice, &options, &why);
	if (r < 0)
		return r;
	if (options)
		text_appendf(text, "%s_OPTIONS=%s%s\n", setter->key,
			settings->strict ? TARGET_STRICT_OPTION " " : "", options);
	if (why) {
		text_appendf(text, "%s_WHY=%s\n", setter->key, why);
		say("%s: %s", setter->key, why);
	}
	return 0;
}

int state_write(const struct settings *settings, const struct choice *choice)
{
	_cleanup_text_ struct text text = { 0 };
	char boot_id[BOOTID_SIZE];
	int r;

	r = bootid_read(boot_id);
	if (r < 0) {
		say_errno(r, "cannot read which boot this is (" BOOTID_FILE ")");
		return r;
	}
	text_append(&text, TARGET_MAGIC "\n");
	text_appendf(&text, "BOOT_ID=%s\n", boot_id);
	text_appendf(&text, "CPUS=%s\n", choice->cpus_text);
	text_appendf(&text, "STRICT=%s\n", settings->strict ? "yes" : "no");
	for (const struct target_setter *s = target_setters; r == 0 && s->program; s++)
		r = add_setter(s, settings, choice, &text);
	if (r == 0 && text.failed)
		r = -ENOMEM;
	if (r == 0)
		r = journal_write_file(TARGET_FILE, text.data);
	if (r < 0)
		say_errno(r, "cannot write %s", TARGET_FILE);
	return r;
}

int state_remove(void)
{
	int held = remove_file(TARGET_DIRECTORY "/" STATE_HELD);
	int target = remove_file(TARGET_FILE);

	return held < 0 ? held : target;
}

/* The letters of unit names are those of systemd.unit(5). A name that begins with "-" would be
 * taken for an option. */
static bool is_unit_name(const char *name)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-_.\\@";

	return *name && *name != '-' && strlen(name) < 256 && !name[strspn(name, letters)];
}

static bool has_name(char *const *names, const char *name)
{
	for (; *names; names++) {
		if (strcmp(*names, name) == 0)
			return true;
	}
	return false;
}

static int parse_tuners(char *text, char ***ret)
{
	char **names = calloc(TUNERS_N_MAX + 1, sizeof(*names));
	size_t n = 0;
	char *line;
	int r = names ? 0 : -ENOMEM;

	while (r == 0 && (line = strsep(&text, "\n")) && (*line || text)) {
		if (n == TUNERS_N_MAX || !is_unit_name(line)) {
			r = -EBADMSG;
			break;
		}
		names[n] = strdup(line);
		if (!names[n++])
			r = -ENOMEM;
	}
	if (r < 0) {
		systemd_names_free(names);
		return r;
	}
	*ret = names;
	return 0;
}

int state_read_tuners(char ***ret)
{
	_cleanup_free_ char *text = NULL;
	char **names;
	int r;

	r = file_read_all(TUNERS_FILE, TUNERS_MAX, &text, NULL);
	if (r == -ENOENT) {
		names = calloc(1, sizeof(*names));
		if (!names)
			return -ENOMEM;
		*ret = names;
		return 0;
	}
	return r < 0 ? r : parse_tuners(text, ret);
}

int state_replace_tuners(const struct text *lines)
{
	if (lines->failed)
		return -ENOMEM;
	if (lines->data)
		return journal_write_file(TUNERS_FILE, lines->data);
	return unlink(TUNERS_FILE) < 0 && errno != ENOENT ? -errno : 0;
}

int state_add_tuners(char *const *names)
{
	_cleanup_text_ struct text text = { 0 };
	char **known;
	int r;

	r = state_read_tuners(&known);
	if (r < 0)
		return r;
	for (size_t i = 0; known[i]; i++)
		text_appendf(&text, "%s\n", known[i]);
	for (; *names; names++) {
		if (!has_name(known, *names))
			text_appendf(&text, "%s\n", *names);
	}
	systemd_names_free(known);
	return state_replace_tuners(&text);
}
