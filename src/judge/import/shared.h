/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What several of the formats of other tools need. The functions end the command without memory. */
#ifndef QUIESCE_JUDGE_IMPORT_SHARED_H
#define QUIESCE_JUDGE_IMPORT_SHARED_H

#include "base/facts.h"
#include "judge/import/imported.h"

/* Begins a value, as imported_begin(), and puts its first number. */
int import_put_first(struct imported *imported, const char *name, size_t process, double iterations,
	const struct imported_number *number, char **ret_why);
/* Sets a text unless it is NULL or blank. */
void import_set_text(struct facts *facts, const char *name, const char *value);
/* Sets the value of a parameter, a number where its text is one. */
void import_set_parameter(struct facts *facts, const char *parameter, const char *value);
/* The next line, cut out of *rest, without its end; NULL behind the last one. malloc'd. */
char *import_next_line(const char **rest);
/* Hands over each line of a text, without its end, until one of them is refused: then *ret_why has
 * its number in front, "3: ...". */
int import_each_line(const char *text, int (*take)(void *context, char *line, char **ret_why),
	void *context, char **ret_why);

#endif
