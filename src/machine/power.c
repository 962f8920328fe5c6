// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/file.h"
#include "machine/power.h"

enum {
	WORD_SIZE = 64,
};

static bool read_word(int dirfd, const char *supply, const char *name, char word[WORD_SIZE])
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", supply, name);
	return file_read_attr(dirfd, path, word, WORD_SIZE) > 0;
}

enum power_source power_read_source(void)
{
	_cleanup_closedir_ DIR *dir = opendir("/sys/class/power_supply");
	bool seen = false, online = false, discharging = false;
	struct dirent *entry;
	char word[WORD_SIZE];

	if (!dir)
		return POWER_NONE;
	while ((entry = readdir(dir))) {
		const char *supply = entry->d_name;
		int fd = dirfd(dir);
		uint64_t value;
		char path[512];

		if (supply[0] == '.')
			continue;
		if (read_word(fd, supply, "scope", word) && strcmp(word, "Device") == 0)
			continue;
		if (!read_word(fd, supply, "type", word))
			continue;
		seen = true;
		if (strcmp(word, "Battery") == 0 || strcmp(word, "UPS") == 0) {
			discharging |= read_word(fd, supply, "status", word) &&
				strcmp(word, "Discharging") == 0;
			continue;
		}
		snprintf(path, sizeof(path), "%s/online", supply);
		online |= file_read_attr_u64(fd, path, &value) == 0 && value > 0;
	}
	if (!seen)
		return POWER_NONE;
	return discharging && !online ? POWER_BATTERY : POWER_AC;
}
