// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "quiet/engine/irqs.h"
#include "quiet/engine/journal.h"
#include "quiet/engine/knob.h"
#include "quiet/engine/layers.h"

#define SUFFIX ".journal"

void layers_free(struct layers *layers)
{
	if (!layers)
		return;
	for (size_t i = 0; i < layers->n; i++)
		journal_free(layers->items[i].journal);
	free(layers->items);
	free(layers);
}

static int add_journal(struct layers *layers, const char *tool, struct irqlines *lines)
{
	_cleanup_(journal) struct journal *journal = NULL;
	_cleanup_free_ char *why = NULL;
	struct layer *items;
	int r;

	r = journal_load(tool, &journal, &why);
	if (r < 0)
		return journal_error_counts(r) ? r : 0;
	r = lines ? irqs_follow(journal, lines) : 0;
	if (r < 0)
		return r;
	items = reallocarray(layers->items, layers->n + 1, sizeof(*items));
	if (!items)
		return -ENOMEM;
	layers->items = items;
	items[layers->n++] = (struct layer){ .journal = TAKE_PTR(journal) };
	return 0;
}

/* The name of the tool, malloc'd: "smt-off" for "smt-off.journal". NULL for any other file, and for
 * temporary files, whose names begin with a dot. */
static int parse_name(const char *name, char **ret)
{
	size_t length = strlen(name);
	char *tool = NULL;

	if (name[0] != '.' && length > strlen(SUFFIX) &&
		strcmp(name + length - strlen(SUFFIX), SUFFIX) == 0) {
		tool = strndup(name, length - strlen(SUFFIX));
		if (!tool)
			return -ENOMEM;
	}
	*ret = tool;
	return 0;
}

int layers_read(const char *tool, struct irqlines *lines, struct layers **ret)
{
	_cleanup_(layers) struct layers *layers = calloc(1, sizeof(*layers));
	_cleanup_closedir_ DIR *directory = NULL;
	const struct dirent *entry;
	int r = 0;

	if (!layers)
		return -ENOMEM;
	directory = opendir(journal_directory());
	if (!directory && errno != ENOENT)
		return -errno;
	while (errno = 0, r == 0 && directory && (entry = readdir(directory))) {
		_cleanup_free_ char *other = NULL;

		r = parse_name(entry->d_name, &other);
		if (r == 0 && other && strcmp(other, tool) != 0)
			r = add_journal(layers, other, lines);
	}
	if (r == 0)
		r = -errno;
	if (r == 0)
		*ret = TAKE_PTR(layers);
	return r;
}

/* The entry of the lowest layer above this entry, and that layer. */
static struct journal_entry *find_above(
	const struct layers *layers, const struct journal_entry *entry, struct layer **ret_layer)
{
	struct journal_entry *above = NULL;

	for (size_t i = 0; i < layers->n; i++) {
		struct layer *layer = &layers->items[i];
		struct journal_entry *other = journal_find(layer->journal, entry->path);

		if (!other || other->kind != entry->kind || other->since <= entry->since ||
			(above && other->since > above->since))
			continue;
		above = other;
		*ret_layer = layer;
	}
	return above;
}

struct journal_entry *layers_find_above(
	const struct layers *layers, const struct journal_entry *entry)
{
	struct layer *layer;

	return find_above(layers, entry, &layer);
}

int layers_hand_over(struct layers *layers, const struct journal_entry *entry)
{
	struct layer *layer;
	struct journal_entry *above = find_above(layers, entry, &layer);
	int r = above ? text_replace(&above->old, entry->old) : -ENOENT;

	if (r == 0)
		layer->is_changed = true;
	return r;
}

/* Whether the path is that of a policy's own switch of boost. */
static bool is_policy_boost(const char *path)
{
	return knob_find_policy(path) >= 0 && text_ends_with(path, "/boost");
}

int layers_add_side_effect(struct layers *layers, const struct journal_entry *entry)
{
	if (!is_policy_boost(entry->path) || layers_find_above(layers, entry))
		return 0;
	for (size_t i = 0; i < layers->n; i++) {
		struct journal *journal = layers->items[i].journal;
		const struct journal_entry *all = journal_find(journal, KNOB_GLOBAL_BOOST);
		struct journal_entry copy = *entry;

		if (!all || all->since <= entry->since || journal_find(journal, entry->path))
			continue;
		copy.group = all->group;
		copy.since = all->since;
		copy.role = JOURNAL_KEPT;
		copy.new = all->new;
		layers->items[i].is_changed = true;
		return journal_add_copy(journal, &copy);
	}
	return 0;
}

bool layers_are_changed(const struct layers *layers)
{
	for (size_t i = 0; i < layers->n; i++) {
		if (layers->items[i].is_changed)
			return true;
	}
	return false;
}

static int save(const struct layers *layers, bool all)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < layers->n; i++) {
		if (all || layers->items[i].is_changed)
			r = journal_save(layers->items[i].journal);
	}
	return r;
}

int layers_save(const struct layers *layers)
{
	return save(layers, false);
}

int layers_save_all(const struct layers *layers)
{
	return save(layers, true);
}
