// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/say.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/result/runfact.h"
#include "measure/figurerules.h"

/* A name that a result uses for something else cannot be that of a figure. */
bool figure_name_is_taken(const char *name)
{
	for (size_t i = 0; i < run_n_facts; i++)
		if (run_facts[i].name && strcmp(run_facts[i].name, name) == 0)
			return true;
	return strcmp(name, "time") == 0 || text_starts_with(name, SERIES_LEVEL);
}

int figure_rules_add(struct figure_rules *rules, const char *text, bool is_json)
{
	_cleanup_free_ char *why = NULL;

	rules->own = xptr(
		(struct rule *)reallocarray(rules->own, rules->n_own + 1, sizeof(*rules->own)));
	if (rule_parse(text, is_json, &rules->own[rules->n_own], &why) < 0) {
		say("%s: %s", is_json ? "--figure-json" : "--figure", why);
		return -EINVAL;
	}
	rules->n_own++;
	if (figure_name_is_taken(rules->own[rules->n_own - 1].name)) {
		say("%s: a figure cannot be called %s", is_json ? "--figure-json" : "--figure",
			rules->own[rules->n_own - 1].name);
		return -EINVAL;
	}
	return 0;
}

int figure_rules_add_harness(struct figure_rules *rules, const char *name)
{
	_cleanup_free_ char *why = NULL;
	int r = harness_read(name, &rules->harness, &why);

	if (r == -ENOENT)
		say("--harness: there is no '%s'; those that there are: quiesce-harness(5)", name);
	else if (r < 0)
		say("--harness: %s", why);
	return r < 0 ? -EINVAL : 0;
}

bool figure_rules_are_there(const struct figure_rules *rules)
{
	return rules->n_own > 0 || rules->harness;
}

size_t figure_rules_count(const struct figure_rules *rules)
{
	return rules->n_own + (rules->harness ? rules->harness->n_rules : 0);
}

const struct rule *figure_rules_get(const struct figure_rules *rules, size_t i)
{
	return i < rules->n_own ? &rules->own[i] : &rules->harness->rules[i - rules->n_own];
}

bool figure_rules_have(const struct figure_rules *rules, const char *name)
{
	for (size_t i = 0; i < figure_rules_count(rules); i++)
		if (strcmp(figure_rules_get(rules, i)->name, name) == 0)
			return true;
	return false;
}

bool figure_rules_read(const struct figure_rules *rules, enum figure_source source)
{
	/* What says that a run has failed may be on both streams. */
	if (rules->harness && rules->harness->n_fails > 0 && source != FIGURE_FILE)
		return true;
	for (size_t i = 0; i < figure_rules_count(rules); i++)
		if (figure_rules_get(rules, i)->source == source)
			return true;
	return false;
}

void figure_rules_clear(struct figure_rules *rules)
{
	for (size_t i = 0; i < rules->n_own; i++)
		rule_clear(&rules->own[i]);
	free(rules->own);
	harness_free(rules->harness);
	*rules = (struct figure_rules){ 0 };
}
