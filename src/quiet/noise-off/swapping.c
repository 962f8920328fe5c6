// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/swap.h>

#include "base/cleanup.h"
#include "base/machine/swap.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "quiet/noise-off/swapping.h"

enum {
	LINE_MAX_SIZE = 4096,
	/* From include/linux/swap.h; <sys/swap.h> has only the first. */
	FLAG_DISCARD = 0x10000,
	FLAG_DISCARD_ONCE = 0x20000,
	FLAG_DISCARD_PAGES = 0x40000,
};

/* --- How an area discards. --- */

static const struct {
	const char *option; /* of fstab(5), see swapon(8) */
	int flags;
} discards[] = {
	{ "discard=once", FLAG_DISCARD | FLAG_DISCARD_ONCE },
	{ "discard=pages", FLAG_DISCARD | FLAG_DISCARD_PAGES },
	{ "discard", FLAG_DISCARD },
};

/* Whether the first field of a line in fstab names this path. */
static bool is_spec_of(const char *spec, const char *path)
{
	static const struct {
		const char *tag, *directory;
	} tags[] = {
		{ "UUID=", "/dev/disk/by-uuid/" },
		{ "LABEL=", "/dev/disk/by-label/" },
		{ "PARTUUID=", "/dev/disk/by-partuuid/" },
		{ "PARTLABEL=", "/dev/disk/by-partlabel/" },
	};
	char buf[PATH_MAX];
	_cleanup_free_ char *real = NULL, *wanted = realpath(path, NULL);

	for (size_t i = 0; i < ARRAY_SIZE(tags); i++) {
		if (!text_starts_with(spec, tags[i].tag))
			continue;
		snprintf(buf, sizeof(buf), "%s%s", tags[i].directory, spec + strlen(tags[i].tag));
		spec = buf;
		break;
	}
	real = realpath(spec, NULL);
	return real && wanted && strcmp(real, wanted) == 0;
}

/* *ret: the discard option in fstab; NULL for none, also if there is no fstab. */
static int find_discard(const char *path, const char **ret)
{
	FILE *stream = setmntent("/etc/fstab", "re");
	const char *found = NULL;
	struct mntent entry;
	char buf[LINE_MAX_SIZE];
	int r = 0;

	if (!stream && errno != ENOENT)
		return -errno;
	while (stream && !found && getmntent_r(stream, &entry, buf, sizeof(buf))) {
		if (strcmp(entry.mnt_type, "swap") != 0 || !is_spec_of(entry.mnt_fsname, path))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(discards) && !found; i++) {
			if (text_has_word(entry.mnt_opts, discards[i].option, ", "))
				found = discards[i].option;
		}
	}
	if (stream) {
		/* After an error, errno is still set by getmntent_r(). */
		r = ferror(stream) ? -errno : 0;
		(void)endmntent(stream);
	}
	if (r == 0)
		*ret = found;
	return r;
}

/* --- The knob. --- */

static int format_area(const struct swap_area *area, char **ret)
{
	_cleanup_text_ struct text t = { 0 };
	const char *discard;
	int r;

	r = find_discard(area->path, &discard);
	if (r < 0)
		return r;
	text_append(&t, "on");
	if (area->priority >= 0)
		text_appendf(&t, " pri=%d", area->priority);
	if (discard)
		text_appendf(&t, " %s", discard);
	*ret = text_steal(&t);
	return *ret ? 0 : -ENOMEM;
}

int swapping_read(const char *path, char **ret)
{
	struct swap_areas areas;
	char *text = NULL;
	bool on = false;
	int r;

	r = swap_areas_read(&areas);
	if (r < 0)
		return r;
	for (size_t i = 0; i < areas.n && !on; i++) {
		on = strcmp(areas.items[i].path, path) == 0;
		if (on)
			r = format_area(&areas.items[i], &text);
	}
	swap_areas_clear(&areas);
	if (r < 0)
		return r;
	if (!on)
		text = strdup("off");
	if (!text)
		return -ENOMEM;
	*ret = text;
	return 0;
}

/* The flags of swapon(2) for "on pri=5 discard". */
static int parse_flags(const char *text, int *ret)
{
	const char *pri = strstr(text, " pri=");
	uint64_t priority;
	int flags = 0;

	if (!text_has_word(text, "on", ", "))
		return -EINVAL;
	if (pri) {
		pri += strlen(" pri=");
		if (parse_next_u64(&pri, &priority) < 0 || priority > SWAP_FLAG_PRIO_MASK)
			return -EINVAL;
		flags |= SWAP_FLAG_PREFER | (int)priority << SWAP_FLAG_PRIO_SHIFT;
	}
	for (size_t i = 0; i < ARRAY_SIZE(discards); i++) {
		if (text_has_word(text, discards[i].option, ", "))
			flags |= discards[i].flags;
	}
	*ret = flags;
	return 0;
}

int swapping_write(const char *path, const char *text)
{
	int flags, r;

	if (strcmp(text, "off") == 0)
		return swapoff(path) < 0 ? -errno : 0;
	r = parse_flags(text, &flags);
	if (r < 0)
		return r;
	return swapon(path, flags) < 0 ? -errno : 0;
}
