// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/where/running.h"
#include "quiet/benchmark-target/setters.h"

static int make_smt(const struct settings *settings, const struct choice *choice,
	char **ret_options, const char **ret_why)
{
	if (settings->smt == SETTINGS_SMT_LEAVE)
		return 0;
	if (choice->only_siblings) {
		*ret_why = "left as it is: the other CPUs are all threads of the same cores";
		return 0;
	}
	if (settings->smt == SETTINGS_SMT_ALL)
		return text_format(ret_options, "--all");
	return text_format(ret_options, "-c %s", choice->cpus_text);
}

static int make_shield(const struct settings *settings, const struct choice *choice,
	char **ret_options, const char **ret_why)
{
	if (settings->shield_leave)
		return 0;
	if (choice->no_others) {
		*ret_why = "left as it is: there is no other CPU for the rest of the machine";
		return 0;
	}
	return text_format(ret_options, "-c %s", choice->cpus_text);
}

static int make_irq(const struct settings *settings, const struct choice *choice,
	char **ret_options, const char **ret_why)
{
	if (settings->irq_leave)
		return 0;
	if (choice->no_others) {
		*ret_why = "left as it is: there is no other CPU for interrupts";
		return 0;
	}
	return text_format(ret_options, "-c %s", choice->cpus_text);
}

static int make_freq(const struct settings *settings, const struct choice *choice,
	char **ret_options, const char **ret_why)
{
	(void)ret_why;
	if (settings->freq_leave)
		return 0;
	return text_format(ret_options, "-c %s %s", choice->cpus_text,
		settings->freq ? settings->freq : "base");
}

static int make_noise(const struct settings *settings, const struct choice *choice,
	char **ret_options, const char **ret_why)
{
	const char *noise = settings->noise ? settings->noise : "";
	bool no_masks;

	if (settings->noise_leave)
		return 0;
	/* With --only, noise-off itself refuses masks that cannot be set. */
	no_masks = choice->no_others && !text_starts_with(noise, "--only ");
	if (no_masks)
		*ret_why =
			"masks are left as they are: there is no other CPU for the kernel's work";
	return text_format(ret_options, "-c %s%s%s%s", choice->cpus_text, *noise ? " " : "", noise,
		no_masks ? " --except workqueue,writeback,watchdog_cpumask" : "");
}

/*
 * The partition comes first, because interrupts go to the CPUs outside of it, and in newer kernels
 * noise-off's masks depend on it.
 *
 * SMT comes after it, so that siblings are online again before the partition ends. The kernel then
 * gives the programs outside of the partition only the CPUs that are online
 * (kernel/cgroup/cpuset.c), and they would never get the others back. A shield by affinities, which
 * the kernel may forget when siblings go offline, is kept up by smt-off itself.
 *
 * SMT comes before interrupts, because CPU hotplug changes their affinities.
 */
const struct target_setter target_setters[] = {
	{ "cpu-shield", "benchmark-shield.service", "shield", "SHIELD", make_shield },
	{ "smt-off", "benchmark-smt.service", "SMT", "SMT", make_smt },
	{ "irq-steer", "benchmark-irq.service", "interrupts", "IRQ", make_irq },
	{ "freq-pin", "benchmark-freq.service", "frequency", "FREQ", make_freq },
	{ "noise-off", "benchmark-noise.service", "noise", "NOISE", make_noise },
	{ 0 },
};

const struct target_setter *target_find_setter(const char *key)
{
	for (const struct target_setter *s = target_setters; s->program; s++) {
		if (strcmp(s->key, key) == 0)
			return s;
	}
	return NULL;
}

int target_read_options(const struct target_setter *setter, char **ret)
{
	_cleanup_free_ char *name = NULL;

	if (text_format(&name, "%s_OPTIONS", setter->key) < 0)
		return -ENOMEM;
	return running_read_value(name, ret);
}

int target_read_why(const struct target_setter *setter, char **ret)
{
	_cleanup_free_ char *name = NULL;
	int r;

	if (text_format(&name, "%s_WHY", setter->key) < 0)
		return -ENOMEM;
	r = running_read_value(name, ret);
	return r == -ENODATA ? 0 : r;
}

bool target_leaves(const struct target_setter *setter)
{
	_cleanup_free_ char *options = NULL;

	return target_read_options(setter, &options) == -ENODATA;
}

int target_read_words(const struct target_setter *setter, const char *verb, const char *second,
	char **ret_options, char *words[static TARGET_WORDS_MAX])
{
	bool is_apply = strcmp(verb, "apply") == 0;
	char *options, *cursor;
	size_t n = 0;
	int r;

	r = target_read_options(setter, &options);
	if (r < 0)
		return r;
	*ret_options = options;
	words[n++] = (char *)verb;
	if (second)
		words[n++] = (char *)second;
	cursor = options;
	while (cursor && n < TARGET_WORDS_MAX - 1) {
		char *word = strsep(&cursor, " ");

		if (is_apply || strcmp(word, TARGET_STRICT_OPTION) != 0)
			words[n++] = word;
	}
	words[n] = NULL;
	return cursor ? -E2BIG : 0;
}
