// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/say.h"
#include "measure/serve/loads.h"

/* Those who say themselves where their figures are need only the numbers of requests and of bytes,
 * and what says that the load has failed. */
static void keep_requests(struct harness *harness, bool is_known)
{
	size_t n = 0;

	for (size_t i = 0; i < harness->n_rules; i++) {
		struct rule *rule = &harness->rules[i];

		if (strcmp(rule->name, LOAD_BYTES) != 0 &&
			(is_known || strcmp(rule->name, LOAD_REQUESTS) != 0))
			rule_clear(rule);
		else
			harness->rules[n++] = *rule;
	}
	harness->n_rules = n;
}

int loads_add_figures(const char *word, struct figure_rules *rules)
{
	const char *slash = strrchr(word, '/'), *name = slash ? slash + 1 : word;
	_cleanup_(harness) struct harness *harness = NULL;
	_cleanup_free_ char *why = NULL;
	int r = rules->harness ? 0 : harness_read(name, &harness, &why);

	if (r < 0 && r != -ENOENT) {
		say("the harness of %s: %s", name, why);
		return -EINVAL;
	}
	if (rules->harness)
		(void)harness_choose(rules->harness, WHEN_SERVED);
	if (!harness || harness_choose(harness, WHEN_SERVED) < 0)
		return 0;
	if (figure_rules_are_there(rules))
		keep_requests(harness, figure_rules_have(rules, LOAD_REQUESTS));
	rules->harness = TAKE_PTR(harness);
	return 0;
}
