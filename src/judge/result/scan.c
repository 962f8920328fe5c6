// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/text.h"
#include "base/xalloc.h"
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

/* The value as it stands in the metadata; malloc'd, NULL when there is none. */
static char *read_value(const struct benchmark *benchmark, const char *parameter)
{
	_cleanup_free_ char *key = xformat(METADATA_PARAMETER "%s", parameter);

	return benchmark_metadata_text(benchmark, key);
}

int scan_number(const struct benchmark *benchmark, const char *parameter, double *ret)
{
	_cleanup_free_ char *text = read_value(benchmark, parameter);

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
static bool replace_value(char **name, const char *parameter, const char *value)
{
	char *at = find_value(*name, parameter, value), *replaced;

	if (!at)
		return false;
	replaced = xformat("%.*s{%s}%s", (int)(at - *name), *name, parameter, at + strlen(value));
	free(*name);
	*name = replaced;
	return true;
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

char *scan_family(const struct benchmark *benchmark, const char *parameter)
{
	const char *number = find_number(benchmark), *each;
	_cleanup_free_ char *name =
		xptr(strndup(benchmark->name, strlen(benchmark->name) - strlen(number)));
	bool has_value = false;

	for (size_t i = 0; (each = scan_parameter(benchmark, i)); i++) {
		_cleanup_free_ char *value = NULL;

		if (parameter && strcmp(each, parameter) != 0)
			continue;
		value = read_value(benchmark, each);
		if (replace_value(&name, each, value))
			has_value = true;
	}
	/* Commands of a scan that do not contain the value are all equal, so their numbers are
	 * dropped. */
	if (!has_value && scan_parameter(benchmark, 0))
		number = "";
	return xformat("%s%s", name, number);
}

bool scan_is_common(const struct benchmark *a, const struct benchmark *b)
{
	_cleanup_free_ char *first = NULL, *second = NULL;

	if (is_of_hyperfine(a) && is_of_hyperfine(b))
		return true;
	if (!scan_parameter(a, 0) || !scan_parameter(b, 0))
		return false;
	first = scan_family(a, NULL);
	second = scan_family(b, NULL);
	return strcmp(first, second) == 0;
}
