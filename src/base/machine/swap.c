// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/machine/swap.h"
#include "base/parse.h"
#include "base/text.h"

enum {
	SWAPS_MAX = 1024 * 1024,
};

void swap_areas_clear(struct swap_areas *areas)
{
	for (size_t i = 0; i < areas->n; i++)
		free(areas->items[i].path);
	free(areas->items);
	*areas = (struct swap_areas){ 0 };
}

/* Splits "/dev/dm-1 partition 8388604 13312 -2"; false for anything else, such as the heading. */
static bool parse_line(char *line, struct swap_area *ret)
{
	enum {
		PATH,
		TYPE,
		SIZE,
		USED,
		PRIORITY,
		N_FIELDS,
	};
	char *fields[N_FIELDS], *save = NULL;

	for (size_t i = 0; i < N_FIELDS; i++) {
		fields[i] = strtok_r(i == 0 ? line : NULL, " \t", &save);
		if (!fields[i])
			return false;
	}
	if (parse_u64(fields[SIZE], 0, UINT64_MAX, &ret->size_kib) < 0 ||
		parse_u64(fields[USED], 0, UINT64_MAX, &ret->used_kib) < 0 ||
		parse_int(fields[PRIORITY], INT_MIN, INT_MAX, &ret->priority) < 0)
		return false;
	text_unescape_octal(fields[PATH]);
	ret->path = fields[PATH];
	return true;
}

static int compare_areas(const void *a, const void *b)
{
	const struct swap_area *x = a, *y = b;

	return (x->priority < y->priority) - (x->priority > y->priority);
}

int swap_areas_parse(char *text, struct swap_areas *ret)
{
	struct swap_areas areas = { 0 };
	char *line, *save = NULL;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct swap_area area, *items;

		if (!parse_line(line, &area))
			continue;
		items = reallocarray(areas.items, areas.n + 1, sizeof(*items));
		if (items) {
			areas.items = items;
			area.path = strdup(area.path);
		}
		if (!items || !area.path) {
			swap_areas_clear(&areas);
			return -ENOMEM;
		}
		areas.items[areas.n++] = area;
	}
	if (areas.n > 0)
		qsort(areas.items, areas.n, sizeof(*areas.items), compare_areas);
	*ret = areas;
	return 0;
}

int swap_areas_read(struct swap_areas *ret)
{
	_cleanup_free_ char *text = NULL;
	int r;

	r = file_read_all("/proc/swaps", SWAPS_MAX, &text, NULL);
	return r < 0 ? r : swap_areas_parse(text, ret);
}

int swap_read(uint64_t *ret_size, uint64_t *ret_used)
{
	_cleanup_free_ char *text = NULL;
	struct swap_areas areas;
	size_t n_lines = 0, length;
	int r;

	r = file_read_all("/proc/swaps", SWAPS_MAX, &text, &length);
	if (r < 0)
		return r;
	if (!text_starts_with(text, "Filename") || text[length - 1] != '\n')
		return -EBADMSG;
	for (const char *end = text; (end = strchr(end, '\n')); end++)
		n_lines++;
	r = swap_areas_parse(text, &areas);
	if (r < 0)
		return r;
	/* The heading is a line, but not an area. */
	if (areas.n + 1 != n_lines) {
		swap_areas_clear(&areas);
		return -EBADMSG;
	}
	*ret_size = *ret_used = 0;
	for (size_t i = 0; i < areas.n; i++) {
		*ret_size += areas.items[i].size_kib;
		*ret_used += areas.items[i].used_kib;
	}
	r = areas.n > 0;
	swap_areas_clear(&areas);
	return r;
}

int swap_parse_available(const char *text, uint64_t *ret_kib)
{
	static const char label[] = "\nMemAvailable:";
	const char *at = strstr(text, label);

	if (!at)
		return -ENODATA;
	at += strlen(label);
	return parse_next_u64(&at, ret_kib);
}

int swap_read_available(uint64_t *ret_kib)
{
	_cleanup_free_ char *text = NULL;
	int r;

	r = file_read_all("/proc/meminfo", SWAPS_MAX, &text, NULL);
	return r < 0 ? r : swap_parse_available(text, ret_kib);
}
