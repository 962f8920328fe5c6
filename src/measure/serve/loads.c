// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/say.h"
#include "base/xalloc.h"
#include "measure/serve/loads.h"

/* How they print how many requests were answered: "  20415 requests in 2.10s, 16.72MB read";
 * "Complete requests:      2000"; our own, in JSON. redis-benchmark prints it nowhere beside
 * --csv. And how many bytes, "Total transferred:      268000 bytes". */
static const struct {
	const char *name;
	const char *figure;
	const char *rule;
	bool is_json;
} counts[] = {
	{ "wrk", LOAD_REQUESTS, LOAD_REQUESTS ",higher=^ *([0-9]+) requests in ", false },
	{ "ab", LOAD_REQUESTS, LOAD_REQUESTS ",higher=^Complete requests: +([0-9]+)$", false },
	{ "ab", LOAD_BYTES, LOAD_BYTES ",B,lower=^Total transferred: +([0-9]+) bytes$", false },
	{ "httpload", LOAD_REQUESTS, LOAD_REQUESTS ",higher=.requests", true },
	{ "httpload", LOAD_BYTES, LOAD_BYTES ",B,lower=.bytes", true },
};

int loads_add_figures(const char *word, struct figure_rules *rules)
{
	_cleanup_(harness) struct harness *harness = NULL;
	_cleanup_free_ char *why = NULL;
	const char *slash = strrchr(word, '/'), *name = slash ? slash + 1 : word;
	int r = figure_rules_are_there(rules) ? -ENOENT : harness_read(name, &harness, &why);

	if (r < 0 && r != -ENOENT) {
		say("the harness of %s: %s", name, why);
		return -EINVAL;
	}
	if (r == 0)
		rules->harness = TAKE_PTR(harness);
	r = 0;
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(counts); i++)
		if (strcmp(counts[i].name, name) == 0 &&
			!figure_rules_have(rules, counts[i].figure))
			r = figure_rules_add(rules, counts[i].rule, counts[i].is_json);
	return r;
}
