// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "quiet/engine/cleared.h"

const struct journal_entry *cleared_find(const struct journal *journal, const char **ret_list)
{
	for (size_t i = 0; i < journal->n; i++) {
		const struct journal_entry *entry = &journal->entries[i];

		if (text_starts_with(entry->path, CLEARED_SCHEME ":")) {
			*ret_list = entry->path + strlen(CLEARED_SCHEME ":");
			return entry;
		}
	}
	return NULL;
}

int cleared_read(struct cpumask **ret)
{
	_cleanup_(journal) struct journal *journal = NULL;
	_cleanup_free_ char *why = NULL;
	const char *list;
	int r = journal_load(CLEARED_TOOL, &journal, &why);

	if (r < 0)
		return r;
	return cleared_find(journal, &list) ? cpumask_from_list(list, ret) : -ENOENT;
}
