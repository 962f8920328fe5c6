// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "base/guess.h"
#include "base/macro.h"
#include "base/say.h"
#include "quiet/freq-pin/freq-pin.h"
#include "quiet/freq-pin/limit.h"

static int parse_what(const char *what, void *state)
{
	static const char *const words[] = { "base", "min", "max", "apply", "status", "restore" };
	struct guess guess = { .word = what };
	char meant[GUESS_TEXT_SIZE];
	struct freq_pin *pin = state;

	if (wanted_parse(what, &pin->request) == 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		guess_offer(&guess, words[i]);
	say("'%s' is no frequency%s: base, min, max, 2.7GHz, 2700MHz, or a number of kHz", what,
		guess_text(&guess, "", meant));
	return -EINVAL;
}

static bool is_by_name(const void *state)
{
	return ((const struct freq_pin *)state)->request.kind != WANTED_BASE;
}

static int is_moved(const struct journal_entry *entry, const char *now)
{
	int r = limit_is_clamped(entry->path, entry->new, now);

	return r != 0 ? r : limit_is_throttled(entry->path);
}

static bool may_stay(const char *path, int error)
{
	return error == EAGAIN && limit_is_throttled(path) > 0;
}

static const char *explain(const char *path, int error)
{
	return may_stay(path, error) ? "a cooling device limits it; `freq-pin restore` looks again "
				       "when the CPU is cool"
				     : NULL;
}

int main(int argc, char *argv[])
{
	struct freq_pin pin = { 0 };
	struct setter setter = {
		.engine = {
			.tool = "freq-pin",
			.rank = plan_rank,
			.may_stay = may_stay,
			.at_limit = limit_is_none,
			/* FREQ_QOS_MAX_DEFAULT_VALUE (include/linux/pm_qos.h): what the kernel itself asks
			 * for where nobody has. Kernels before 5.3 clamp it. */
			.no_limit = "2147483647",
			.is_moved = is_moved,
		},
		.summary = "Holds CPUs at one frequency: boost off, governor performance, "
			   "minimum = maximum.",
		.what = "[base|min|max|FREQ]",
		.help = "  base                      the highest that can be held without boost;\n"
			"                            the default\n"
			"  min, max                  the hardware's minimum; its maximum, with boost\n"
			"  FREQ                      2.7GHz, 2700MHz or 2700000 (kHz)\n",
		.explain = explain,
		.parse_what = parse_what,
		.is_by_name = is_by_name,
		.plan = plan_make,
		.verify = verify_shown,
		.shows_more = plan_shows_more,
		.state = &pin,
	};
	int status;

	status = setter_main(&setter, argc, argv);
	policies_free(pin.policies);
	return status;
}
