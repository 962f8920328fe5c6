/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What pyperf accepts as metadata (2.10, _metadata.py): the rules for what we write, and for what
 * we read.
 */
#ifndef QUIESCE_RESULT_METADATA_H
#define QUIESCE_RESULT_METADATA_H

#include <stdbool.h>
#include <stddef.h>

#include "basic/facts.h"

/* A text without the blanks around it, as pyperf keeps it (str.strip() of Python: Unicode's blanks
 * too). *ret points into s. */
void metadata_strip(const char *s, const char **ret, size_t *ret_length);
bool metadata_is_blank(const char *s);
/* Equal but for the blanks around them. */
bool metadata_equal_strings(const char *a, const char *b);
/* Python's ==: 1 and 1.0 are equal. */
bool metadata_equal_facts(const struct fact *a, const struct fact *b);

/* NULL, or what is wrong with a value of that name: "is not a string", a static text. Of "tags",
 * which are a list in the file, each element is asked for under the name "tag". */
const char *metadata_judge(const char *name, const struct fact *value);
/* Is its value a list? */
bool metadata_is_list(const char *name);

#endif
