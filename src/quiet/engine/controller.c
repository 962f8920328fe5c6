// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "quiet/engine/controller.h"
#include "quiet/engine/knob.h"

#define SUBTREE_CONTROL "/sys/fs/cgroup/cgroup.subtree_control"

int controller_read(const char *name, char **ret)
{
	char text[FILE_ATTR_SIZE], *word;
	int r;

	r = file_read_attr(AT_FDCWD, SUBTREE_CONTROL, text, sizeof(text));
	if (r < 0)
		return r;
	word = strdup(text_has_word(text, name, " ") ? CONTROLLER_ENABLED : CONTROLLER_DISABLED);
	if (!word)
		return -ENOMEM;
	*ret = word;
	return 0;
}

int controller_write(const char *name, const char *text)
{
	char change[64];

	snprintf(change, sizeof(change), "%c%s", strcmp(text, CONTROLLER_ENABLED) == 0 ? '+' : '-',
		name);
	return knob_write(NULL, SUBTREE_CONTROL, change);
}

bool controller_is_ours(const char *name)
{
	return strcmp(name, CONTROLLER_NAME) == 0;
}
