// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/machine/power.h"
#include "base/text.h"

enum {
	WORD_SIZE = 64,
};

/* The length of the word; 0 for an empty file. */
static int read_word(int dirfd, const char *supply, const char *name, char word[WORD_SIZE])
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", supply, name);
	return file_read_attr(dirfd, path, word, WORD_SIZE);
}

/* The supplies taken together. */
struct supplies {
	bool seen;
	bool online;
	bool discharging;
	bool unread; /* a decisive file could not be read */
};

static void read_supply(int dirfd, const char *supply, struct supplies *supplies)
{
	char word[WORD_SIZE], path[512];
	uint64_t value;
	int r;

	if (read_word(dirfd, supply, "scope", word) > 0 && strcmp(word, "Device") == 0)
		return;
	r = read_word(dirfd, supply, "type", word);
	if (r <= 0) {
		/* Every supply has a type; -ENOENT means that the supply was removed meanwhile. */
		supplies->unread = supplies->unread || r != -ENOENT;
		return;
	}
	supplies->seen = true;
	if (strcmp(word, "Battery") == 0 || strcmp(word, "UPS") == 0) {
		bool told = read_word(dirfd, supply, "status", word) > 0 &&
			text_has_word("Charging,Discharging,Not charging,Full", word, ",");

		supplies->unread = supplies->unread || !told;
		supplies->discharging =
			supplies->discharging || (told && strcmp(word, "Discharging") == 0);
		return;
	}
	/* power_supply_type_text[] in drivers/power/supply/power_supply_sysfs.c. */
	if (!text_starts_with(word, "USB") &&
		!text_has_word("Mains,Wireless,BrickID,Unknown", word, ",")) {
		supplies->unread = true;
		return;
	}
	snprintf(path, sizeof(path), "%s/online", supply);
	r = file_read_attr_u64(dirfd, path, &value);
	/* Supplies that are charged themselves have no `online` file. */
	supplies->unread = supplies->unread || (r < 0 && r != -ENOENT);
	supplies->online = supplies->online || (r == 0 && value > 0);
}

enum power_source power_read_source(void)
{
	_cleanup_closedir_ DIR *dir = opendir("/sys/class/power_supply");
	struct supplies supplies = { 0 };
	struct dirent *entry;

	if (!dir)
		return errno == ENOENT ? POWER_NONE : POWER_UNKNOWN;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			read_supply(dirfd(dir), entry->d_name, &supplies);
	}
	if (supplies.online)
		return POWER_AC;
	if (supplies.unread)
		return POWER_UNKNOWN;
	if (!supplies.seen)
		return POWER_NONE;
	return supplies.discharging ? POWER_BATTERY : POWER_AC;
}
