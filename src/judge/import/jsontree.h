/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A JSON text as a tree, for results of other tools, which say what belongs together in other
 * places than next to each other. It is read by judge/result/json.h, strictly; NaN and Infinity are
 * null.
 */
#ifndef QUIESCE_JUDGE_IMPORT_JSONTREE_H
#define QUIESCE_JUDGE_IMPORT_JSONTREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "judge/result/json.h"

struct json_node {
	/* OBJECT, ARRAY, STRING, INTEGER, REAL, TRUE, FALSE or NULL */
	enum json_type type;
	char *name;   /* of a member; NULL elsewhere */
	char *string; /* NULL of what is no string */
	int64_t integer;
	double number; /* of both kinds of numbers */
	struct json_node *first, *next;
};

enum {
	JSON_TREE_MAX = 5 * 1000 * 1000, /* nodes: 320 MB */
};

/* Ends the command without memory. -EINVAL with *ret_why, malloc'd: "3:17: a name was
 * expected". */
int json_tree_read(const char *text, size_t size, struct json_node **ret, char **ret_why);
void json_node_free(struct json_node *tree);
DEFINE_CLEANUP(json_node, json_node_free);

/* The following take NULL for a node as well, and find nothing in it. */

/* The member of that name: of an object, or of the object in it for "stats.data". NULL where there
 * is none. */
const struct json_node *json_member(const struct json_node *object, const char *path);
/* The element of an array; NULL where there is none. */
const struct json_node *json_element(const struct json_node *array, size_t index);
/* NULL where it is no string. */
const char *json_string(const struct json_node *node);
/* NAN where it is no number. */
double json_number(const struct json_node *node);

#define json_each(child, parent)                                                       \
	for (const struct json_node *child = (parent) ? (parent)->first : NULL; child; \
		child = child->next)

#endif
