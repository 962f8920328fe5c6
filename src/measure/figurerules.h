/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The figures that programs give themselves (--figure, --figure-json, --harness): which are looked
 * for. */
#ifndef QUIESCE_MEASURE_FIGURERULES_H
#define QUIESCE_MEASURE_FIGURERULES_H

#include <stdbool.h>
#include <stddef.h>

#include "judge/harness/harness.h"

/* What is looked for, in all programs alike. */
struct figure_rules {
	struct rule *own; /* of --figure and --figure-json */
	size_t n_own;
	struct harness *harness; /* NULL without --harness */
};

/* Take what an option says. Each says what is wrong and returns -EINVAL. */
int figure_rules_add(struct figure_rules *rules, const char *text, bool is_json);
int figure_rules_add_harness(struct figure_rules *rules, const char *name);
bool figure_rules_are_there(const struct figure_rules *rules);
/* Whether something is looked for there. */
bool figure_rules_read(const struct figure_rules *rules, enum figure_source source);
void figure_rules_clear(struct figure_rules *rules);
/* Whether a result has something else of that name, or bench-report's --metric. */
bool figure_name_is_taken(const char *name);
/* How many, and each of them. */
size_t figure_rules_count(const struct figure_rules *rules);
const struct rule *figure_rules_get(const struct figure_rules *rules, size_t i);
/* Whether one of them is called so. */
bool figure_rules_have(const struct figure_rules *rules, const char *name);

#endif
