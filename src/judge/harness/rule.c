// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/harness/quantity.h"
#include "judge/harness/rule.h"

#define refuse(ret_why, ...) xcheck(text_refuse(ret_why, -EINVAL, __VA_ARGS__))

/* The words of the enum, by its values. */
static const char *const takes[] = { "one", "last", "each", "sum", "mean", "values" };

static const char *const whens[] = { "always", "hosted", "as-is", "served" };

static int find_word(const char *const words[], size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++)
		if (*word && strcmp(words[i], word) == 0)
			return (int)i;
	return -1;
}

/* Outside of brackets a backslash has the next character stand for itself; \d, \t and \1 of other
 * kinds of expressions match a letter or a digit then, which is never meant. Inside of brackets it
 * is a backslash. */
static const char *find_foreign(const char *pattern)
{
	bool in_brackets = false;

	for (const char *p = pattern; *p; p++) {
		if (!in_brackets && *p == '[') {
			in_brackets = true;
			p += p[1] == '^';
			p += p[1] == ']';
		} else if (in_brackets && *p == '[' &&
			(p[1] == ':' || p[1] == '.' || p[1] == '=')) {
			const char closing[] = { p[1], ']', '\0' }, *end = strstr(p + 2, closing);

			if (end)
				p = end + 1;
		} else if (in_brackets && *p == ']') {
			in_brackets = false;
		} else if (*p == '\\' && p[1]) {
			if ((p[1] >= 'a' && p[1] <= 'z') || (p[1] >= 'A' && p[1] <= 'Z') ||
				parse_is_digit(p[1]))
				return p;
			p += !in_brackets;
		}
	}
	return NULL;
}

/* The C locale until leave_locale(), for what regcomp(3) and regexec(3) take for a character. */
static locale_t enter_locale(locale_t *ret_before)
{
	locale_t plain = xptr(newlocale(LC_ALL_MASK, "C", NULL));

	*ret_before = uselocale(plain);
	return plain;
}

static void leave_locale(locale_t plain, locale_t before)
{
	uselocale(before);
	freelocale(plain);
}

bool rule_matches(const regex_t *regex, const char *line, size_t n, regmatch_t groups[])
{
	locale_t before, plain = enter_locale(&before);
	bool matches = regexec(regex, line, n, groups, 0) == 0;

	leave_locale(plain, before);
	return matches;
}

int rule_compile(const char *pattern, regex_t *ret, char **ret_why)
{
	const char *foreign = find_foreign(pattern);
	locale_t plain, before;
	char error[128];
	int r;

	if (foreign)
		return refuse(ret_why,
			"'%.2s' has no meaning in an extended regular expression: write [0-9] for \\d, "
			"[[:space:]] for \\s",
			foreign);
	plain = enter_locale(&before);
	r = regcomp(ret, pattern, REG_EXTENDED);
	if (r != 0)
		regerror(r, ret, error, sizeof(error));
	leave_locale(plain, before);
	if (r == REG_ESPACE)
		xalloc_fail();
	return r == 0
		? 0
		: refuse(ret_why, "'%s' is no extended regular expression: %s", pattern, error);
}

static int set_path(struct jsonpath **path, const char *text, char **ret_why)
{
	const char *why;

	jsonpath_free(TAKE_PTR(*path));
	if (jsonpath_parse(text, path, &why) < 0)
		return refuse(ret_why, "'%s' is no path into JSON: %s", text, why);
	return 0;
}

static int set_pattern(struct rule *rule, const char *pattern, bool is_json, char **ret_why)
{
	int r;

	if (rule->pattern)
		return refuse(ret_why, "it has two patterns");
	rule->pattern = xptr(strdup(pattern));
	if (is_json)
		return set_path(&rule->path, pattern, ret_why);
	r = rule_compile(pattern, &rule->regex, ret_why);
	rule->has_regex = r == 0;
	return r;
}

static int set_source(struct rule *rule, const char *name)
{
	rule->source = strcmp(name, "stdout") == 0 ? FIGURE_STDOUT
		: strcmp(name, "stderr") == 0	   ? FIGURE_STDERR
						   : FIGURE_FILE;
	if (rule->source == FIGURE_FILE)
		xcheck(text_replace(&rule->file, name));
	return 0;
}

static int set_yes_or_no(bool *flag, const char *key, const char *value, char **ret_why)
{
	if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
		return refuse(ret_why, "%s is yes or no", key);
	*flag = *value == 'y';
	return 0;
}

static int set_skip(struct rule *rule, const char *pattern, char **ret_why)
{
	int r;

	if (rule->has_skip)
		return refuse(ret_why, "Skip is there twice");
	r = rule_compile(pattern, &rule->skip, ret_why);
	rule->has_skip = r == 0;
	return r;
}

static int set_line(struct line_before *line, const char *key, const char *value, char **ret_why)
{
	int r;

	if (line->is_there)
		return refuse(ret_why, "%s is there twice", key);
	r = rule_compile(value, &line->regex, ret_why);
	if (r < 0)
		return r;
	line->is_there = true;
	return line->regex.re_nsub > 0
		? 0
		: refuse(ret_why, "'%s' has no ( ) around what it is about", value);
}

int rule_set(struct rule *rule, const char *key, const char *value, char **ret_why)
{
	unsigned group;
	int word;

	if (strcmp(key, "Match") == 0 || strcmp(key, "Path") == 0)
		return set_pattern(rule, value, *key == 'P', ret_why);
	if (strcmp(key, "Name") == 0)
		return xcheck(text_replace(&rule->name, value));
	if (strcmp(key, "Unit") == 0)
		return xcheck(text_replace(&rule->unit, value));
	if (strcmp(key, "From") == 0)
		return set_source(rule, value);
	if (strcmp(key, "NamePath") == 0)
		return set_path(&rule->name_path, value, ret_why);
	if (strcmp(key, "UnitPath") == 0)
		return set_path(&rule->unit_path, value, ret_why);
	if (strcmp(key, "NameLine") == 0)
		return set_line(&rule->name_line, key, value, ret_why);
	if (strcmp(key, "UnitLine") == 0)
		return set_line(&rule->unit_line, key, value, ret_why);
	if (strcmp(key, "Better") == 0) {
		rule->better = better_parse(value);
		return rule->better != BETTER_UNKNOWN
			? 0
			: refuse(ret_why, "Better is lower or higher");
	}
	if (strcmp(key, "Take") == 0) {
		word = find_word(takes, ARRAY_SIZE(takes), value);
		if (word < 0)
			return refuse(ret_why, "Take is one, last, each, sum, mean or values");
		rule->take = (enum figure_take)word;
		return 0;
	}
	if (strcmp(key, "When") == 0) {
		word = find_word(whens, ARRAY_SIZE(whens), value);
		if (word < 0)
			return refuse(ret_why, "When is always, hosted, as-is or served");
		rule->when = (enum figure_when)word;
		return 0;
	}
	if (strcmp(key, "Value") == 0) {
		if (*value != '\\' || parse_uint(value + 1, 1, RULE_MAX_GROUPS, &group) < 0)
			return refuse(ret_why, "Value is a group, \\1 to \\%d", RULE_MAX_GROUPS);
		rule->value_group = group;
		return 0;
	}
	if (strcmp(key, "Exact") == 0)
		return set_yes_or_no(&rule->is_exact, key, value, ret_why);
	if (strcmp(key, "Skip") == 0)
		return set_skip(rule, value, ret_why);
	if (strcmp(key, "Commas") == 0)
		return set_yes_or_no(&rule->commas, key, value, ret_why);
	if (strcmp(key, "Optional") == 0)
		return set_yes_or_no(&rule->optional, key, value, ret_why);
	return -ENOENT;
}

/* The largest group that a text names, as \N; 0 for none. */
static unsigned largest_group(const char *text)
{
	unsigned largest = 0;

	for (const char *p = text; p && *p; p++)
		if (*p == '\\' && parse_is_digit(p[1]))
			largest = MAX(largest, (unsigned)(p[1] - '0'));
	return largest;
}

static int check_groups(const struct rule *rule, char **ret_why)
{
	unsigned wanted = MAX(largest_group(rule->name), largest_group(rule->unit));

	if (rule->path && (rule->name_line.is_there || rule->unit_line.is_there))
		return refuse(ret_why, "JSON has no lines before: use NamePath and UnitPath");
	if (rule->path)
		return wanted > 0
			? refuse(ret_why, "a path has no groups: use NamePath and UnitPath")
			: 0;
	if (rule->name_path || rule->unit_path)
		return refuse(ret_why, "NamePath and UnitPath belong to a path into JSON");
	if (rule->regex.re_nsub == 0)
		return refuse(ret_why, "'%s' has no ( ) around the number", rule->pattern);
	wanted = MAX(wanted, rule->value_group);
	if (wanted > rule->regex.re_nsub)
		return refuse(ret_why, "'%s' has no group \\%u", rule->pattern, wanted);
	return 0;
}

int rule_complete(struct rule *rule, char **ret_why)
{
	bool own_unit = rule->unit && largest_group(rule->unit) == 0 && !rule->unit_path &&
		!rule->unit_line.is_there;
	struct quantity_unit unit = { 0 };
	int r;

	if (!rule->pattern)
		return refuse(ret_why, "'%s' says nowhere what to look for", rule->label);
	if (rule->value_group == 0)
		rule->value_group = 1;
	r = check_groups(rule, ret_why);
	if (r < 0)
		return r;
	if (own_unit && quantity_parse_unit(rule->unit, &unit) < 0)
		return refuse(ret_why, "'%s' is no unit", rule->unit);
	/* What is to stay the same is most often a cost. */
	if (rule->better == BETTER_UNKNOWN &&
		(rule->is_exact || (own_unit && quantity_is_cost(unit.base))))
		rule->better = BETTER_LOWER;
	if (rule->better == BETTER_UNKNOWN)
		return refuse(ret_why, "which way is '%s' better? lower or higher", rule->label);
	if (rule->take == TAKE_EACH && largest_group(rule->name) == 0 && !rule->name_path &&
		!rule->name_line.is_there)
		return refuse(ret_why, "'%s' is the name of each", rule->label);
	return 0;
}

/* One word of the option. */
static int take_word(struct rule *rule, const char *word, char **ret_why)
{
	if (better_parse(word) != BETTER_UNKNOWN)
		return rule_set(rule, "Better", word, ret_why);
	if (find_word(takes, ARRAY_SIZE(takes), word) >= 0)
		return rule_set(rule, "Take", word, ret_why);
	if (strcmp(word, "stdout") == 0 || strcmp(word, "stderr") == 0)
		return set_source(rule, word);
	if (*word == '@' && word[1])
		return set_source(rule, word + 1);
	if (strcmp(word, "exact") == 0)
		return rule_set(rule, "Exact", "yes", ret_why);
	if (strcmp(word, "commas") == 0)
		return rule_set(rule, "Commas", "yes", ret_why);
	if (!*word)
		return refuse(ret_why, "a word between commas is empty");
	if (rule->unit)
		return refuse(ret_why, "'%s' is a second unit", word);
	return rule_set(rule, "Unit", word, ret_why);
}

int rule_parse(const char *text, bool is_json, struct rule *ret, char **ret_why)
{
	const char *pattern = strchr(text, '=');
	_cleanup_free_ char *head = NULL;
	struct rule rule = { 0 };
	char *next;
	int r = 0;

	if (!pattern || pattern == text || *text == ',' || !pattern[1])
		return refuse(ret_why, "'%s' is not NAME=%s", text, is_json ? ".PATH" : "PATTERN");
	next = head = xptr(strndup(text, (size_t)(pattern - text)));
	rule.name = xptr(strdup(strsep(&next, ",")));
	rule.label = xptr(strdup(rule.name));
	while (r >= 0 && next)
		r = take_word(&rule, strsep(&next, ","), ret_why);
	if (r >= 0)
		r = set_pattern(&rule, pattern + 1, is_json, ret_why);
	if (r >= 0)
		r = rule_complete(&rule, ret_why);
	if (r < 0)
		rule_clear(&rule);
	else
		*ret = rule;
	return r;
}

void rule_clear(struct rule *rule)
{
	free(rule->label);
	free(rule->name);
	free(rule->unit);
	free(rule->pattern);
	free(rule->file);
	jsonpath_free(rule->name_path);
	jsonpath_free(rule->unit_path);
	jsonpath_free(rule->path);
	if (rule->has_regex)
		regfree(&rule->regex);
	if (rule->has_skip)
		regfree(&rule->skip);
	if (rule->name_line.is_there)
		regfree(&rule->name_line.regex);
	if (rule->unit_line.is_there)
		regfree(&rule->unit_line.regex);
	*rule = (struct rule){ 0 };
}
