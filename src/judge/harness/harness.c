// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/install.h"
#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "config.h"
#include "judge/harness/harness.h"
#include "judge/harness/template.h"

#define refuse(ret_why, ...) xcheck(text_refuse(ret_why, -EINVAL, __VA_ARGS__))

static void fail_clear(struct fail *fail)
{
	regfree(&fail->regex);
	free(fail->because);
}

void harness_free(struct harness *harness)
{
	if (!harness)
		return;
	for (size_t i = 0; i < harness->n_rules; i++)
		rule_clear(&harness->rules[i]);
	for (size_t i = 0; i < harness->n_fails; i++)
		fail_clear(&harness->fails[i]);
	for (size_t i = 0; i < harness->hosting.n_runs; i++)
		free(harness->hosting.runs[i]);
	for (size_t i = 0; i < harness->hosting.n_variables; i++)
		free(harness->hosting.variables[i]);
	free(harness->hosting.list);
	free(harness->hosting.calibrate);
	free(harness->hosting.level);
	free(harness->hosting.one_cpu);
	rule_clear(&harness->hosting.names);
	rule_clear(&harness->hosting.loops);
	free(harness->rules);
	free(harness->fails);
	free(harness->name);
	free(harness);
}

/* "[name]": the rule that the next lines are about. The one before is whole now. */
static int begin_rule(struct harness *harness, char *section, char **ret_why)
{
	size_t n = strlen(section);

	if (n < 3 || section[n - 1] != ']')
		return refuse(ret_why, "a figure begins with its name in [ ]");
	if (harness->n_rules == HARNESS_MAX_RULES)
		return refuse(ret_why, "more than %d figures", HARNESS_MAX_RULES);
	section[n - 1] = '\0';
	harness->rules = xptr((struct rule *)reallocarray(
		harness->rules, harness->n_rules + 1, sizeof(*harness->rules)));
	harness->rules[harness->n_rules++] = (struct rule){
		.label = xptr(strdup(section + 1)),
		.name = xptr(strdup(section + 1)),
	};
	return 0;
}

static int add_fail(struct harness *harness, const char *pattern, char **ret_why)
{
	size_t n = harness->n_fails;
	int r;

	if (n == HARNESS_MAX_FAILS)
		return refuse(ret_why, "more than %d of Fail", HARNESS_MAX_FAILS);
	harness->fails =
		xptr((struct fail *)reallocarray(harness->fails, n + 1, sizeof(*harness->fails)));
	harness->fails[n] = (struct fail){ 0 };
	r = rule_compile(pattern, &harness->fails[n].regex, ret_why);
	harness->n_fails += r >= 0;
	return r;
}

static int add_text(
	char **texts, size_t *n, size_t max, const char *key, const char *value, char **ret_why)
{
	if (*n == max)
		return refuse(ret_why, "more than %zu of %s", max, key);
	texts[(*n)++] = xptr(strdup(value));
	return 0;
}

static int set_text(char **text, const char *key, const char *value, char **ret_why)
{
	if (*text || !*value)
		return refuse(ret_why, "%s %s", key, *text ? "is there twice" : "is empty");
	*text = xptr(strdup(value));
	return 0;
}

/* The keys of a harness that can be hosted. */
static int set_hosting(struct hosting *hosting, const char *key, const char *value, char **ret_why)
{
	bool is_run = strcmp(key, "Run") == 0, is_list = strcmp(key, "List") == 0;
	bool is_path = text_ends_with(key, "Path");
	int r;

	if (is_run || is_list || strcmp(key, "Calibrate") == 0) {
		r = template_check(value, ret_why);
		if (r < 0)
			return r;
		return is_run ? add_text(hosting->runs, &hosting->n_runs, HARNESS_MAX_RUNS, key,
					value, ret_why)
			      : set_text(is_list ? &hosting->list : &hosting->calibrate, key, value,
					ret_why);
	}
	if (strcmp(key, "Names") == 0 || strcmp(key, "NamesPath") == 0)
		return rule_set(&hosting->names, is_path ? "Path" : "Match", value, ret_why);
	if (strcmp(key, "Loops") == 0 || strcmp(key, "LoopsPath") == 0)
		return rule_set(&hosting->loops, is_path ? "Path" : "Match", value, ret_why);
	if (strcmp(key, "Env") == 0 && strchr(value, '=') > value)
		return add_text(hosting->variables, &hosting->n_variables, HARNESS_MAX_VARIABLES,
			key, value, ret_why);
	if (strcmp(key, "Env") == 0)
		return refuse(ret_why, "Env is NAME=VALUE");
	if (strcmp(key, "Level") == 0)
		return set_text(&hosting->level, key, value, ret_why);
	return strcmp(key, "OneCpu") == 0 ? set_text(&hosting->one_cpu, key, value, ret_why)
					  : -ENOENT;
}

/* A line KEY=VALUE in front of the first figure. */
static int set_of_all(struct harness *harness, const char *key, const char *value, char **ret_why)
{
	if (strcmp(key, "Fail") == 0)
		return add_fail(harness, value, ret_why);
	if (strcmp(key, "Because") == 0 && harness->n_fails == 0)
		return refuse(ret_why, "Because follows the Fail that it is about");
	if (strcmp(key, "Because") == 0)
		return set_text(&harness->fails[harness->n_fails - 1].because, key, value, ret_why);
	return set_hosting(&harness->hosting, key, value, ret_why);
}

/* What a template asks for is found by the rule beside it. */
static int complete_search(const char *template, const char *key, const char *found_by,
	struct rule *rule, char **ret_why)
{
	if (!template != !rule->pattern)
		return refuse(ret_why, "%s and %s belong together", key, found_by);
	if (rule->has_regex && rule->regex.re_nsub == 0)
		return refuse(ret_why, "'%s' has no ( ) around what it finds", rule->pattern);
	if (!template)
		return 0;
	xcheck(text_replace(&rule->label, found_by));
	xcheck(text_replace(&rule->name, found_by));
	if (template_has(template, "{file}"))
		return rule_set(rule, "From", "{file}", ret_why);
	return 0;
}

static int complete_hosting(struct hosting *hosting, char **ret_why)
{
	int r = complete_search(hosting->list, "List", "Names", &hosting->names, ret_why);

	if (r >= 0)
		r = complete_search(
			hosting->calibrate, "Calibrate", "Loops", &hosting->loops, ret_why);
	if (r >= 0 && hosting->n_runs == 0 &&
		(hosting->list || hosting->calibrate || hosting->n_variables > 0 ||
			hosting->level || hosting->one_cpu))
		return refuse(ret_why, "no Run, for which the other keys are");
	for (size_t i = 0; r >= 0 && i < hosting->n_runs; i++) {
		if (template_has(hosting->runs[i], "{loops}") && !hosting->calibrate)
			return refuse(ret_why, "{loops} in Run needs Calibrate");
		if (template_has(hosting->runs[i], "{index}") &&
			!template_has(hosting->list, "{index}"))
			return refuse(ret_why, "{index} in Run needs a List that has it");
	}
	return r;
}

static int take_line(struct harness *harness, char *line, char **ret_why)
{
	struct rule *rule = harness->n_rules > 0 ? &harness->rules[harness->n_rules - 1] : NULL;
	char *value = strchr(line, '=');
	int r;

	if (*line == '\0' || *line == '#')
		return 0;
	if (*line == '[') {
		r = rule ? rule_complete(rule, ret_why) : 0;
		return r < 0 ? r : begin_rule(harness, line, ret_why);
	}
	if (!value || value == line)
		return refuse(ret_why, "neither KEY=VALUE, nor [FIGURE], nor a comment");
	*value++ = '\0';
	if (!rule && strcmp(line, HARNESS_SIGN) == 0)
		return *value ? 0 : refuse(ret_why, HARNESS_SIGN " is empty");
	r = rule ? rule_set(rule, line, value, ret_why) : set_of_all(harness, line, value, ret_why);
	return r == -ENOENT ? refuse(ret_why, "unknown key %s", line) : r;
}

int harness_parse(const char *name, const char *text, struct harness **ret, char **ret_why)
{
	_cleanup_(harness) struct harness *harness = xptr(calloc(1, sizeof(*harness)));
	_cleanup_free_ char *copy = xptr(strdup(text)), *why = NULL;
	char *next = copy;
	size_t line = 0;
	int r = 0;

	harness->name = xptr(strdup(name));
	while (r >= 0 && next) {
		line++;
		r = take_line(harness, strsep(&next, "\n"), &why);
	}
	if (r >= 0 && harness->n_rules == 0)
		r = refuse(&why, "no figure");
	else if (r >= 0)
		r = rule_complete(&harness->rules[harness->n_rules - 1], &why);
	if (r >= 0)
		r = complete_hosting(&harness->hosting, &why);
	if (r < 0)
		return refuse(ret_why, "line %zu: %s", line, why);
	*ret = TAKE_PTR(harness);
	return 0;
}

int harness_choose(struct harness *harness, enum figure_when how)
{
	bool had_any = harness->n_rules > 0;
	size_t n = 0;

	for (size_t i = 0; i < harness->n_rules; i++) {
		struct rule *rule = &harness->rules[i];

		if (rule->when != WHEN_ALWAYS && rule->when != how) {
			rule_clear(rule);
			continue;
		}
		rule->when = WHEN_ALWAYS;
		if (how == WHEN_HOSTED && rule->take == TAKE_EACH)
			rule->take = TAKE_VALUES;
		harness->rules[n++] = *rule;
	}
	harness->n_rules = n;
	return n > 0 || !had_any ? 0 : -ENODATA;
}

/* The user's own folder, malloc'd; NULL where there is none that is the user's. */
static char *find_own_folder(void)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	_cleanup_free_ char *folder = NULL;
	struct stat st;

	/* The specification of XDG has relative paths ignored. */
	if (config && *config == '/')
		xcheck(text_format(&folder, "%s/quiesce/harnesses", config));
	else if (home && *home == '/')
		xcheck(text_format(&folder, "%s/.config/quiesce/harnesses", home));
	return folder && stat(folder, &st) == 0 && st.st_uid == geteuid() ? TAKE_PTR(folder) : NULL;
}

char **harness_folders(void)
{
	char **folders = xptr(calloc(3, sizeof(*folders))), *own = find_own_folder();
	size_t n = 0;

	if (own)
		folders[n++] = own;
	folders[n] = xptr(install_find_data("harnesses"));
	return folders;
}

void harness_folders_free(char **folders)
{
	for (size_t i = 0; folders && folders[i]; i++)
		free(folders[i]);
	free(folders);
}

/* A file, called as its harness. */
static int read_file(const char *path, struct harness **ret, char **ret_why)
{
	_cleanup_free_ char *text = NULL, *name = NULL, *why = NULL;
	const char *base = strrchr(path, '/');
	size_t n, length;
	int r = xcheck(file_read_all(path, HARNESS_MAX_SIZE, &text, &length));

	if (r == -ENOENT)
		return r;
	if (r < 0)
		return xcheck(text_refuse(ret_why, r, "%s: %s", path, strerror(-r)));
	if (strlen(text) != length)
		return refuse(ret_why, "%s: not a text", path);
	base = base ? base + 1 : path;
	n = strlen(base);
	if (text_ends_with(base, HARNESS_SUFFIX))
		n -= strlen(HARNESS_SUFFIX);
	name = xptr(strndup(base, n));
	r = harness_parse(name, text, ret, &why);
	return r < 0 ? refuse(ret_why, "%s: %s", path, why) : 0;
}

int harness_read(const char *name, struct harness **ret, char **ret_why)
{
	char **folders;
	int r = -ENOENT;

	if (strchr(name, '/') || text_ends_with(name, HARNESS_SUFFIX))
		return read_file(name, ret, ret_why);
	folders = harness_folders();
	for (size_t i = 0; r == -ENOENT && folders[i]; i++) {
		_cleanup_free_ char *path = NULL;

		xcheck(text_format(&path, "%s/%s" HARNESS_SUFFIX, folders[i], name));
		r = read_file(path, ret, ret_why);
	}
	harness_folders_free(folders);
	return r;
}
