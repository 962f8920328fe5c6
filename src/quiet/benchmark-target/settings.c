// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/machine/cpumask.h"
#include "base/parse.h"
#include "base/text.h"
#include "quiet/benchmark-target/settings.h"

enum {
	SETTINGS_MAX = 64 * 1024,
	SETTINGS_N_NAMES = 64,
};

#define CPU_LIST_LETTERS "0123456789,-:/"
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_"

static int parse_cpus(const char *value, struct settings *settings, const char **ret_reason)
{
	unsigned n = 0;

	*ret_reason = "CPUS is auto, auto:NUMBER, or a CPU list such as 2-3,8";
	if (text_starts_with(value, "auto")) {
		if (value[4] &&
			(value[4] != ':' || parse_uint(value + 5, 1, CPUMASK_CAPACITY, &n) < 0))
			return -EINVAL;
		free(TAKE_PTR(settings->cpus));
		settings->n_cpus = n;
		return 0;
	}
	/* Whether the list is valid depends on the machine, see choose_cpus(). */
	if (!*value || value[strspn(value, CPU_LIST_LETTERS)])
		return -EINVAL;
	return text_replace(&settings->cpus, value);
}

static int parse_smt(const char *value, struct settings *settings, const char **ret_reason)
{
	*ret_reason = "SMT is siblings, all or leave";
	if (strcmp(value, "siblings") == 0)
		settings->smt = SETTINGS_SMT_SIBLINGS;
	else if (strcmp(value, "all") == 0)
		settings->smt = SETTINGS_SMT_ALL;
	else if (strcmp(value, "leave") == 0)
		settings->smt = SETTINGS_SMT_LEAVE;
	else
		return -EINVAL;
	return 0;
}

static bool is_frequency(const char *value)
{
	static const char *const units[] = { "", "kHz", "MHz", "GHz" };
	size_t digits = strspn(value, "0123456789.");
	_cleanup_free_ char *number = strndup(value, digits);
	double frequency;

	if (!number || parse_double(number, 0, 1e12, &frequency) < 0 || frequency <= 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcasecmp(value + digits, units[i]) == 0)
			return true;
	}
	return false;
}

static int parse_freq(const char *value, struct settings *settings, const char **ret_reason)
{
	*ret_reason = "FREQ is base, min, max, leave, or a frequency such as 2.7GHz";
	settings->freq_leave = strcmp(value, "leave") == 0;
	if (settings->freq_leave)
		return 0;
	if (strcmp(value, "base") != 0 && strcmp(value, "min") != 0 && strcmp(value, "max") != 0 &&
		!is_frequency(value))
		return -EINVAL;
	return text_replace(&settings->freq, value);
}

static int parse_irq(const char *value, struct settings *settings, const char **ret_reason)
{
	*ret_reason = "IRQ is steer or leave";
	settings->irq_leave = strcmp(value, "leave") == 0;
	return settings->irq_leave || strcmp(value, "steer") == 0 ? 0 : -EINVAL;
}

static int parse_shield(const char *value, struct settings *settings, const char **ret_reason)
{
	*ret_reason = "SHIELD is partition or leave";
	settings->shield_leave = strcmp(value, "leave") == 0;
	return settings->shield_leave || strcmp(value, "partition") == 0 ? 0 : -EINVAL;
}

/* Adds an option of noise-off with all names that have this sign (0: no sign), if there are any. */
static void add_names(struct text *options, const char *option, char sign, char *const *names)
{
	bool first = true;

	for (; *names; names++) {
		const char *name = *names;

		if (sign ? *name != sign : (*name == '+' || *name == '-'))
			continue;
		text_appendf(options, "%s%s%s", first ? option : "", first ? " " : ",",
			sign ? name + 1 : name);
		first = false;
	}
	if (!first)
		text_append(options, " ");
}

static bool is_name(const char *name)
{
	if (*name == '+' || *name == '-')
		name++;
	return *name && !name[strspn(name, NAME_LETTERS)];
}

static int parse_noise(const char *value, struct settings *settings, const char **ret_reason)
{
	_cleanup_free_ char *copy = strdup(value);
	_cleanup_text_ struct text options = { 0 };
	char *names[SETTINGS_N_NAMES + 1] = { NULL }, *cursor = copy;
	size_t n = 0, n_plain = 0;
	char *noise;

	if (!copy)
		return -ENOMEM;
	*ret_reason = "NOISE is default, leave, a list of names (only these), or of -NAME (all but "
		      "these) and +NAME (these as well), with commas between";
	settings->noise_leave = strcmp(value, "leave") == 0;
	if (settings->noise_leave || strcmp(value, "default") == 0) {
		free(TAKE_PTR(settings->noise));
		return 0;
	}
	while (cursor) {
		char *name = strsep(&cursor, ",");

		if (n == SETTINGS_N_NAMES || !is_name(name))
			return -EINVAL;
		/* The kernel keeps the file that swapon(2) has opened, and its mount. The mounts of
		 * a service end with it: then /proc/swaps would show "/sda2" for "/dev/sda2". */
		if (strcmp(name + (*name == '+'), "swap") == 0) {
			*ret_reason = "NOISE takes no swap, which a service could not switch on "
				      "again: run swapoff before the target starts";
			return -EINVAL;
		}
		n_plain += *name != '+' && *name != '-';
		names[n++] = name;
	}
	if (n_plain > 0 && n_plain < n)
		return -EINVAL;
	add_names(&options, "--only", 0, names);
	add_names(&options, "--except", '-', names);
	add_names(&options, "--with", '+', names);
	noise = text_steal(&options);
	if (!noise)
		return -ENOMEM;
	/* add_names() ends each option with a blank. */
	noise[strlen(noise) - 1] = '\0';
	free(settings->noise);
	settings->noise = noise;
	return 0;
}

static int parse_strict(const char *value, struct settings *settings, const char **ret_reason)
{
	*ret_reason = "STRICT is yes or no";
	settings->strict = strcmp(value, "yes") == 0;
	return settings->strict || strcmp(value, "no") == 0 ? 0 : -EINVAL;
}

static const struct key {
	const char *name;
	int (*parse)(const char *value, struct settings *settings, const char **ret_reason);
} keys[] = {
	{ "CPUS", parse_cpus },
	{ "SMT", parse_smt },
	{ "FREQ", parse_freq },
	{ "IRQ", parse_irq },
	{ "SHIELD", parse_shield },
	{ "NOISE", parse_noise },
	{ "STRICT", parse_strict },
};

/* Removes blanks at both ends, in place. */
static char *trim(char *text)
{
	size_t length;

	text += strspn(text, " \t");
	length = strlen(text);
	while (length > 0 && strchr(" \t", text[length - 1]))
		text[--length] = '\0';
	return text;
}

/* seen: a bit for each key that occurred in an earlier line. */
static int parse_line(
	char *line, struct settings *settings, unsigned *seen, const char **ret_reason)
{
	char *value;

	line = trim(line);
	if (!*line || *line == '#')
		return 0;
	value = strchr(line, '=');
	if (!value) {
		*ret_reason = "this is neither KEY=VALUE nor a comment";
		return -EINVAL;
	}
	*value++ = '\0';
	line = trim(line);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strcmp(line, keys[i].name) != 0)
			continue;
		if (*seen & 1u << i) {
			*ret_reason = "this key was set before";
			return -EINVAL;
		}
		*seen |= 1u << i;
		return keys[i].parse(trim(value), settings, ret_reason);
	}
	*ret_reason = "unknown key: there are CPUS, SMT, FREQ, IRQ, SHIELD, NOISE and STRICT";
	return -EINVAL;
}

int settings_parse(const char *text, struct settings *settings, struct settings_error *ret_error)
{
	_cleanup_free_ char *copy = strdup(text);
	struct settings_error error = { 0 };
	char *cursor = copy;
	unsigned seen = 0;
	int r = 0;

	if (!copy)
		return -ENOMEM;
	while (r == 0 && cursor) {
		error.line++;
		r = parse_line(strsep(&cursor, "\n"), settings, &seen, &error.reason);
	}
	if (r == -EINVAL)
		*ret_error = error;
	return r;
}

int settings_read(const char *path, struct settings *settings, struct settings_error *ret_error)
{
	_cleanup_free_ char *text = NULL;
	size_t length;
	int r;

	r = file_read_all(path, SETTINGS_MAX, &text, &length);
	if (r == -EFBIG || (r == 0 && strlen(text) != length)) {
		*ret_error = (struct settings_error){
			.reason = r < 0 ? "it is too large" : "it holds a NUL byte",
		};
		return -EINVAL;
	}
	return r < 0 ? r : settings_parse(text, settings, ret_error);
}

void settings_clear(struct settings *settings)
{
	free(settings->cpus);
	free(settings->freq);
	free(settings->noise);
	*settings = (struct settings){ 0 };
}
