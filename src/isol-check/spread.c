// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "basic/text.h"
#include "isol-check/spread.h"

static bool add_value(struct spread *spread, const char *value)
{
	char *copy = strdup(value);

	if (!copy || cpumask_new(&spread->items[spread->n].cpus) < 0) {
		free(copy);
		return false;
	}
	spread->items[spread->n++].value = copy;
	return true;
}

void spread_add(struct spread *spread, int cpu, const char *value)
{
	size_t i = 0;

	while (i < spread->n && strcmp(spread->items[i].value, value) != 0)
		i++;
	if (i == SPREAD_MAX) {
		spread->n_more++;
		return;
	}
	if (i == spread->n && !add_value(spread, value)) {
		spread->failed = true;
		return;
	}
	(void)cpumask_set(spread->items[i].cpus, cpu);
}

char *spread_format(const struct spread *spread)
{
	struct text text = { 0 };

	if (spread->n == 1 && !spread->failed)
		return strdup(spread->items[0].value);
	for (size_t i = 0; i < spread->n; i++) {
		_cleanup_free_ char *list = cpumask_format_list(spread->items[i].cpus);

		text_appendf(&text, "%sCPU %s: %s", i > 0 ? ", " : "", list ? list : "?",
			spread->items[i].value);
		text.failed = text.failed || !list;
	}
	if (spread->n_more > 0)
		text_appendf(&text, ", others: %zu CPUs", spread->n_more);
	text.failed = text.failed || spread->failed;
	return text_steal(&text);
}

void spread_clear(struct spread *spread)
{
	for (size_t i = 0; i < spread->n; i++) {
		free(spread->items[i].value);
		cpumask_free(spread->items[i].cpus);
	}
	*spread = (struct spread){ 0 };
}
