// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/machine/netqueue.h"
#include "base/paths.h"
#include "base/text.h"

#define CARDS "/sys/class/net"
#define QUEUES "/queues"

/* queue: what of the path is below the folder of the card's queues, "rx-0/rps_cpus". */
static int add_queue(
	struct netqueues *queues, const char *card, const char *path, const char *queue)
{
	struct netqueue *items, item = { 0 };
	int r;

	items = reallocarray(queues->items, queues->n + 1, sizeof(*items));
	if (!items)
		return -ENOMEM;
	queues->items = items;
	item.path = strdup(path);
	if (!item.path)
		return -ENOMEM;
	r = text_format(&item.name, "%.*s of %s", (int)strcspn(queue, "/"), queue, card);
	if (r < 0) {
		free(item.path);
		return r;
	}
	queues->items[queues->n++] = item;
	return 0;
}

/* A card may go while its queues are looked for; some have none. */
static int add_card(
	struct netqueues *queues, const char *path, const char *pattern, const char *file)
{
	_cleanup_paths_ struct paths found = { 0 };
	_cleanup_free_ char *folder = NULL;
	int r;

	r = text_format(&folder, "%s" QUEUES, path);
	if (r == 0)
		r = paths_list(folder, pattern, file, &found);
	for (size_t i = 0; r == 0 && i < found.n; i++)
		r = add_queue(queues, strrchr(path, '/') + 1, found.items[i],
			found.items[i] + strlen(folder) + 1);
	return r == -ENOENT ? 0 : r;
}

int netqueues_read(const char *queues, const char *file, struct netqueues *ret)
{
	_cleanup_paths_ struct paths cards = { 0 };
	struct netqueues found = { 0 };
	int r;

	r = paths_list(CARDS, "*", NULL, &cards);
	for (size_t i = 0; r == 0 && i < cards.n; i++)
		r = add_card(&found, cards.items[i], queues, file);
	if (r < 0 && r != -ENOENT)
		netqueues_clear(&found);
	else
		*ret = found;
	return r == -ENOENT ? 0 : r;
}

void netqueues_clear(struct netqueues *queues)
{
	for (size_t i = 0; i < queues->n; i++) {
		free(queues->items[i].path);
		free(queues->items[i].name);
	}
	free(queues->items);
	*queues = (struct netqueues){ 0 };
}
