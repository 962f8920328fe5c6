// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/harness/jsonpath.h"
#include "judge/result/input.h"
#include "judge/result/json.h"

struct step {
	char *name; /* of a member; NULL: an element */
	bool each;
	uint64_t index;
};

struct jsonpath {
	struct step *steps;
	size_t n;
	size_t capacity;
};

void jsonpath_free(struct jsonpath *path)
{
	if (!path)
		return;
	for (size_t i = 0; i < path->n; i++)
		free(path->steps[i].name);
	free(path->steps);
	free(path);
}

static void add_step(struct jsonpath *path, struct step step)
{
	xcheck(array_grow(&path->steps, sizeof(*path->steps), path->n, &path->capacity));
	path->steps[path->n++] = step;
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || parse_is_digit(c) || c == '_' ||
		c == '-';
}

/* The name behind a point. */
static const char *parse_name(const char *p, struct jsonpath *path, const char **ret_why)
{
	bool quoted = *p == '"';
	const char *begin = p + quoted, *end = begin;

	while (quoted ? *end && *end != '"' : is_plain(*end))
		end++;
	*ret_why = quoted && !*end ? "a name has no second \""
		: end == begin	   ? "a point is followed by no name"
				   : NULL;
	if (*ret_why)
		return NULL;
	add_step(path, (struct step){ .name = xptr(strndup(begin, (size_t)(end - begin))) });
	return end + quoted;
}

/* The element behind a '['. */
static const char *parse_element(const char *p, struct jsonpath *path, const char **ret_why)
{
	struct step step = { .each = *p == '*' };

	if (step.each)
		p++;
	else if (!parse_is_digit(*p) || parse_next_u64(&p, &step.index) < 0)
		p = "";
	if (*p != ']') {
		*ret_why = "[ is followed by a number, or *, and ]";
		return NULL;
	}
	add_step(path, step);
	return p + 1;
}

int jsonpath_parse(const char *text, struct jsonpath **ret, const char **ret_why)
{
	_cleanup_(jsonpath) struct jsonpath *path = xptr(calloc(1, sizeof(*path)));
	const char *p = text;

	while (p && *p) {
		if (*p == '.')
			p = parse_name(p + 1, path, ret_why);
		else if (*p == '[')
			p = parse_element(p + 1, path, ret_why);
		else
			*ret_why = "a name follows a point, and an element stands in [ ]", p = NULL;
	}
	if (!p)
		return -EINVAL;
	if (path->n == 0) {
		*ret_why = "it is empty";
		return -EINVAL;
	}
	*ret = TAKE_PTR(path);
	return 0;
}

struct search {
	const struct jsonpath *path;
	struct json_reader *reader;
	struct jsonpath_values *values;
	size_t capacity;
};

static int keep_value(struct search *search, const struct json_token *token)
{
	struct jsonpath_values *values = search->values;
	bool is_number = token->type == JSON_TOKEN_INTEGER || token->type == JSON_TOKEN_REAL;

	if (!is_number && token->type != JSON_TOKEN_STRING)
		return json_skip(search->reader, token);
	if (values->n == JSONPATH_MAX)
		return -E2BIG;
	xcheck(array_grow(&values->items, sizeof(*values->items), values->n, &search->capacity));
	values->items[values->n++] = (struct jsonpath_value){
		.string = is_number ? NULL : xptr(strdup(token->string)),
		.number = is_number ? token->real : 0,
	};
	return 0;
}

/* The value that begins with this token, to which the first steps of the path have led. */
static int walk(struct search *search, struct json_token *token, size_t depth)
{
	const struct step *step = &search->path->steps[depth];
	bool is_object = token->type == JSON_TOKEN_OBJECT;
	uint64_t index = 0;
	int r = 0;

	if (depth == search->path->n)
		return keep_value(search, token);
	if (is_object ? !step->name : token->type != JSON_TOKEN_ARRAY || step->name)
		return json_skip(search->reader, token);
	while (r >= 0) {
		bool follows = !is_object && (step->each || step->index == index++);

		r = json_next(search->reader, token);
		if (r < 0 || token->type == JSON_TOKEN_OBJECT_END ||
			token->type == JSON_TOKEN_ARRAY_END)
			break;
		if (is_object) {
			follows = strcmp(token->string, step->name) == 0;
			r = json_next(search->reader, token);
		}
		if (r >= 0)
			r = follows ? walk(search, token, depth + 1)
				    : json_skip(search->reader, token);
	}
	return r;
}

int jsonpath_find(const struct jsonpath *path, const char *text, size_t size,
	struct jsonpath_values *ret, char **ret_why)
{
	_cleanup_(json_reader) struct json_reader *reader = NULL;
	_cleanup_(input) struct input *input = NULL;
	struct jsonpath_values values = { 0 };
	struct search search = { .path = path, .values = &values };
	struct json_token token;
	int r;

	input = input_open_memory(text, size);
	search.reader = reader = json_reader_new(input);
	json_allow_nan(reader);
	json_allow_repeats(reader);
	r = json_next(reader, &token);
	if (r >= 0)
		r = walk(&search, &token, 0);
	if (r >= 0)
		r = json_next(reader, &token);
	if (r >= 0) {
		*ret = values;
		return 0;
	}
	jsonpath_values_clear(&values);
	if (r == -E2BIG)
		xcheck(text_refuse(ret_why, r, "more than %d values", JSONPATH_MAX));
	else if (json_why(reader))
		xcheck(text_refuse(ret_why, r, "line %" PRIu64 ": %s", json_place(reader).line,
			json_why(reader)));
	else
		xcheck(text_refuse(ret_why, r, "%s", strerror(-r)));
	return -EINVAL;
}

void jsonpath_values_clear(struct jsonpath_values *values)
{
	for (size_t i = 0; i < values->n; i++)
		free(values->items[i].string);
	free(values->items);
	*values = (struct jsonpath_values){ 0 };
}
