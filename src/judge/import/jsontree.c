// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/import/jsontree.h"

struct growth {
	struct json_reader *reader;
	size_t n;
};

static struct json_node *node_new(const struct json_token *token)
{
	struct json_node *node = xptr(calloc(1, sizeof(*node)));

	node->type = token->type;
	node->integer = token->integer;
	node->number = token->real;
	if (token->type == JSON_TOKEN_STRING)
		node->string = xptr(strdup(token->string));
	return node;
}

/* Reads the value that begins with the token. Nesting is bounded by json.h, to 64 levels. */
static int grow(struct growth *growth, const struct json_token *first, struct json_node **ret)
{
	_cleanup_(json_node) struct json_node *node = NULL;
	struct json_node **last;
	struct json_token token;
	int r;

	if (++growth->n > JSON_TREE_MAX)
		return -E2BIG;
	node = node_new(first);
	last = &node->first;
	if (node->type != JSON_TOKEN_OBJECT && node->type != JSON_TOKEN_ARRAY) {
		*ret = TAKE_PTR(node);
		return 0;
	}
	while ((r = json_next(growth->reader, &token)) >= 0 &&
		token.type != JSON_TOKEN_OBJECT_END && token.type != JSON_TOKEN_ARRAY_END) {
		_cleanup_free_ char *name = NULL;

		if (token.type == JSON_TOKEN_NAME) {
			name = xptr(strdup(token.string));
			r = json_next(growth->reader, &token);
		}
		if (r >= 0)
			r = grow(growth, &token, last);
		if (r < 0)
			return r;
		(*last)->name = TAKE_PTR(name);
		last = &(*last)->next;
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(node);
	return 0;
}

int json_tree_read(const char *text, size_t size, struct json_node **ret, char **ret_why)
{
	_cleanup_(input) struct input *input = input_open_memory(text, size);
	_cleanup_(json_reader) struct json_reader *reader = json_reader_new(input);
	_cleanup_(json_node) struct json_node *tree = NULL;
	struct growth growth = { .reader = reader };
	struct json_place place;
	struct json_token token;
	int r;

	json_allow_nan(reader);
	json_allow_repeats(reader);
	r = json_next(reader, &token);
	if (r >= 0)
		r = grow(&growth, &token, &tree);
	if (r >= 0)
		r = json_next(reader, &token);
	if (r >= 0) {
		*ret = TAKE_PTR(tree);
		return 0;
	}
	place = json_place(reader);
	return xrefuse(ret_why, -EINVAL, "%" PRIu64 ":%" PRIu64 ": %s", place.line, place.column,
		r == -E2BIG		   ? "more than 5 million values"
			: json_why(reader) ? json_why(reader)
					   : strerror(-r));
}

void json_node_free(struct json_node *tree)
{
	while (tree) {
		struct json_node *next = tree->next;

		json_node_free(tree->first);
		free(tree->name);
		free(tree->string);
		free(tree);
		tree = next;
	}
}

const struct json_node *json_member(const struct json_node *object, const char *path)
{
	while (object && path) {
		size_t n = strcspn(path, ".");
		const struct json_node *child =
			object->type == JSON_TOKEN_OBJECT ? object->first : NULL;

		while (child && (strncmp(child->name, path, n) != 0 || child->name[n] != '\0'))
			child = child->next;
		object = child;
		path = path[n] ? path + n + 1 : NULL;
	}
	return object;
}

const struct json_node *json_element(const struct json_node *array, size_t index)
{
	const struct json_node *child =
		array && array->type == JSON_TOKEN_ARRAY ? array->first : NULL;

	while (child && index-- > 0)
		child = child->next;
	return child;
}

const char *json_string(const struct json_node *node)
{
	return node ? node->string : NULL;
}

double json_number(const struct json_node *node)
{
	return node && (node->type == JSON_TOKEN_REAL || node->type == JSON_TOKEN_INTEGER)
		? node->number
		: NAN;
}
