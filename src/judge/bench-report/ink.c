// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "judge/bench-report/ink.h"

static const struct {
	uint32_t light, dark;
} inks[INK_N] = {
	[INK_PAPER] = { 0xffffff, 0x14171c },
	[INK_SHADE] = { 0xf6f6f6, 0x1d2128 },
	[INK_GRID] = { 0xe6e6e6, 0x363c46 },
	[INK_LABEL] = { 0x666666, 0xa3aab5 },
	[INK_TEXT] = { 0x222222, 0xe6e9ee },
	/* Okabe and Ito's palette (2008): its red for what is disturbed, and without its yellow,
	 * which is hard to see on white. The last four are not theirs. On dark paper the same hues
	 * are lighter. */
	[INK_ALARM] = { 0xd64000, 0xff6e40 },
	[INK_SERIES] = { 0x0073b3, 0x3f9fe0 },
	[INK_SERIES + 1] = { 0xe69e00, 0xf2b233 },
	[INK_SERIES + 2] = { 0x009e73, 0x27bd93 },
	[INK_SERIES + 3] = { 0xcc78a6, 0xe59cc5 },
	[INK_SERIES + 4] = { 0x57b5e8, 0x9adcff },
	[INK_SERIES + 5] = { 0x735933, 0xbf9a63 },
	[INK_SERIES + 6] = { 0x5959bf, 0x9a9af2 },
	[INK_SERIES + 7] = { 0x666666, 0xb3b3b3 },
	[INK_SERIES + 8] = { 0x9a9a00, 0xd6d64a },
	[INK_SERIES + 9] = { 0x8c1a7d, 0xd75fc8 },
};

uint32_t ink_light(enum ink ink)
{
	return inks[ink].light;
}

uint32_t ink_dark(enum ink ink)
{
	return inks[ink].dark;
}

const char *ink_text(uint32_t rgb, char buf[static INK_TEXT_SIZE])
{
	snprintf(buf, INK_TEXT_SIZE, "#%06x", (unsigned)(rgb & 0xffffff));
	return buf;
}
