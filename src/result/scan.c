// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/parse.h"
#include "basic/text.h"
#include "result/metadata.h"
#include "result/scan.h"

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

	if (asprintf(&key, METADATA_PARAMETER "%s", parameter) < 0) {
		key = NULL;
		return -ENOMEM;
	}
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

/* The last place of `text` in `name`. */
static char *find_last(char *name, const char *text)
{
	char *found = NULL;

	for (char *at = name; *text && (at = strstr(at, text)); at++)
		found = at;
	return found;
}

/* "n=1000" in the name, or else the last "1000", becomes "n={n}" or "{n}". */
static int replace_value(char **name, const char *parameter, const char *value)
{
	_cleanup_free_ char *named = NULL, *replaced = NULL;
	char *at;

	if (asprintf(&named, "%s=%s", parameter, value) < 0) {
		named = NULL;
		return -ENOMEM;
	}
	at = find_last(*name, named);
	if (at)
		at += strlen(parameter) + 1;
	else
		at = find_last(*name, value);
	if (!at)
		return 0;
	if (asprintf(&replaced, "%.*s{%s}%s", (int)(at - *name), *name, parameter,
		    at + strlen(value)) < 0) {
		replaced = NULL;
		return -ENOMEM;
	}
	free(*name);
	*name = TAKE_PTR(replaced);
	return 0;
}

int scan_family(const struct benchmark *benchmark, const char *parameter, char **ret)
{
	_cleanup_free_ char *name = strdup(benchmark->name);
	const char *each;
	int r = name ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && (each = scan_parameter(benchmark, i)); i++) {
		_cleanup_free_ char *value = NULL;

		if (parameter && strcmp(each, parameter) != 0)
			continue;
		r = read_value(benchmark, each, &value);
		if (r >= 0)
			r = replace_value(&name, each, value);
	}
	if (r >= 0)
		*ret = TAKE_PTR(name);
	return r;
}

static bool is_of_hyperfine(const struct benchmark *benchmark)
{
	const char *tool = facts_find_string(&benchmark->metadata, METADATA_TOOL);

	return tool && strcmp(tool, METADATA_HYPERFINE) == 0;
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
