// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/text.h"
#include "judge/result/metadata.h"
#include "judge/result/scan.h"

const char *scan_parameter(const struct benchmark *benchmark, size_t i)
{
	const struct facts *facts = &benchmark->metadata;

	for (size_t k = 0; k < facts->n; k++)
		if (text_starts_with(facts->items[k].name, METADATA_PARAMETER) && i-- == 0)
			return facts->items[k].name + strlen(METADATA_PARAMETER);
	return NULL;
}

/* The value as it stands in the metadata; malloc'd, NULL in *ret when there is none. */
static int read_value(const struct benchmark *benchmark, const char *parameter, char **ret)
{
	_cleanup_free_ char *key = NULL;

	if (text_format(&key, METADATA_PARAMETER "%s", parameter) < 0)
		return -ENOMEM;
	return benchmark_metadata_text(benchmark, key, ret);
}

int scan_number(const struct benchmark *benchmark, const char *parameter, double *ret)
{
	_cleanup_free_ char *text = NULL;
	int r = read_value(benchmark, parameter, &text);

	if (r < 0)
		return r;
	if (!text)
		return -ENODATA;
	return parse_double(text, -HUGE_VAL, HUGE_VAL, ret) < 0 || !isfinite(*ret) ? -EINVAL : 0;
}

/* Whether the text at this place of the name is no part of a longer word or number. */
static bool is_word(const char *name, const char *at, size_t length)
{
	bool begins = at == name || !(isalnum((unsigned char)at[-1]) || strchr("._", at[-1]));
	bool ends =
		!at[length] || !(isalnum((unsigned char)at[length]) || strchr("._", at[length]));

	return begins && ends;
}

/* "n=" or "n:" stands before it. */
static bool is_named(const char *name, const char *at, const char *parameter)
{
	size_t length = strlen(parameter);

	return (size_t)(at - name) > length && strchr("=:", at[-1]) &&
		memcmp(at - 1 - length, parameter, length) == 0 &&
		is_word(name, at - 1 - length, length);
}

/* The place of the value in the name: behind the parameter, or else the first word that equals the
 * value, or else the last part of a word that does. NULL when the value is not in the name. */
static char *find_value(char *name, const char *parameter, const char *value)
{
	size_t length = strlen(value);
	char *word = NULL, *part = NULL;

	for (char *at = name; *value && (at = strstr(at, value)); at++) {
		bool is_whole = is_word(name, at, length);

		if (is_whole && is_named(name, at, parameter))
			return at;
		if (is_whole && !word)
			word = at;
		part = at;
	}
	return word ? word : part;
}

/* "n=1000" in the name, or else "1000", becomes "n={n}" or "{n}". Returns whether it is there. */
static int replace_value(char **name, const char *parameter, const char *value)
{
	_cleanup_free_ char *replaced = NULL;
	char *at = find_value(*name, parameter, value);

	if (!at)
		return 0;
	if (text_format(&replaced, "%.*s{%s}%s", (int)(at - *name), *name, parameter,
		    at + strlen(value)) < 0)
		return -ENOMEM;
	free(*name);
	*name = TAKE_PTR(replaced);
	return 1;
}

static bool is_of_hyperfine(const struct benchmark *benchmark)
{
	const char *tool = benchmark_tool(benchmark);

	return tool && strcmp(tool, METADATA_HYPERFINE) == 0;
}

/* The text after the command in the name: " #2" for a command of hyperfine that was measured
 * before, else "". */
static const char *find_number(const struct benchmark *benchmark)
{
	const char *command = facts_find_string(&benchmark->metadata, METADATA_COMMAND);

	if (!command || !is_of_hyperfine(benchmark) || !text_starts_with(benchmark->name, command))
		return "";
	return benchmark->name + strlen(command);
}

int scan_family(const struct benchmark *benchmark, const char *parameter, char **ret)
{
	const char *number = find_number(benchmark), *each;
	_cleanup_free_ char *name =
		strndup(benchmark->name, strlen(benchmark->name) - strlen(number));
	bool has_value = false;
	int r = name ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && (each = scan_parameter(benchmark, i)); i++) {
		_cleanup_free_ char *value = NULL;

		if (parameter && strcmp(each, parameter) != 0)
			continue;
		r = read_value(benchmark, each, &value);
		if (r >= 0)
			r = replace_value(&name, each, value);
		has_value = has_value || r > 0;
	}
	if (r < 0)
		return r;
	/* Commands of a scan that do not contain the value are all equal, so their numbers are
	 * dropped. */
	if (!has_value && scan_parameter(benchmark, 0))
		number = "";
	return text_format(ret, "%s%s", name, number);
}

int scan_is_common(const struct benchmark *a, const struct benchmark *b, bool *ret)
{
	_cleanup_free_ char *first = NULL, *second = NULL;
	int r;

	*ret = is_of_hyperfine(a) && is_of_hyperfine(b);
	if (*ret || !scan_parameter(a, 0) || !scan_parameter(b, 0))
		return 0;
	r = scan_family(a, NULL, &first);
	if (r >= 0)
		r = scan_family(b, NULL, &second);
	if (r >= 0)
		*ret = strcmp(first, second) == 0;
	return r;
}
