// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/machine/netqueue.h"
#include "base/text.h"

#define CARDS "/sys/class/net/"
#define QUEUES "/queues/"

/* For glob(3): whether it is to give up, because there may be queues that it cannot find. A card
 * may go while they are looked for. */
static int gives_up(const char *path, int error)
{
	(void)path;
	return error != ENOENT && error != ENODEV && error != ENOTDIR;
}

/* From a path such as "/sys/class/net/eth0/queues/rx-0/rps_cpus". */
static int add_queue(struct netqueues *queues, const char *path)
{
	struct netqueue *item = &queues->items[queues->n++];
	const char *card = path + strlen(CARDS), *queue = strstr(card, QUEUES) + strlen(QUEUES);

	item->path = strdup(path);
	if (!item->path)
		return -ENOMEM;
	return text_format(&item->name, "%.*s of %.*s", (int)strcspn(queue, "/"), queue,
		(int)strcspn(card, "/"), card);
}

int netqueues_read(const char *queues, const char *file, struct netqueues *ret)
{
	_cleanup_free_ char *pattern = NULL;
	struct netqueues found = { 0 };
	glob_t paths = { 0 };
	int r;

	if (text_format(&pattern, CARDS "*" QUEUES "%s/%s", queues, file) < 0)
		return -ENOMEM;
	r = glob(pattern, 0, gives_up, &paths);
	if (r == GLOB_NOMATCH)
		r = 0;
	else if (r != 0)
		r = r == GLOB_NOSPACE ? -ENOMEM : -EIO;
	if (r == 0) {
		found.items = calloc(paths.gl_pathc + 1, sizeof(*found.items));
		r = found.items ? 0 : -ENOMEM;
	}
	for (size_t i = 0; r == 0 && i < paths.gl_pathc; i++)
		r = add_queue(&found, paths.gl_pathv[i]);
	globfree(&paths);
	if (r < 0)
		netqueues_clear(&found);
	else
		*ret = found;
	return r;
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
