// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the table of the facts of a run as quiesce-result(5) has it, for check-result-page:
 *
 *	*user_cpu*, *system_cpu*
 *		CPU time of the program [...] In seconds. A metric.
 */
#include <stdio.h>
#include <string.h>

#include "judge/result/runfact.h"

enum {
	WIDTH = 112,
};

static void print_name(const struct run_fact *fact)
{
	static const char prefix[] = "quiesce_";
	size_t n = strlen(prefix);
	const char *name = fact->csv ? fact->csv : fact->name;

	printf("*%s%s*", name ? name : fact->key, fact->kind == KIND_EVENT ? "NAME" : "");
	if (name && (strncmp(fact->key, prefix, n) != 0 || strcmp(fact->key + n, name) != 0))
		printf(" (in a result *%s*)", fact->key);
}

static const char *unit_text(const struct run_fact *fact)
{
	switch (fact->unit) {
	case RUN_NS:
		return " In seconds.";
	case RUN_KHZ:
		return " In kHz.";
	case RUN_SHARE:
		return " 1 is a whole core.";
	case RUN_KIB:
	case RUN_BYTES:
		return " In bytes.";
	case RUN_CELSIUS:
		return " In degrees Celsius.";
	default:
		return "";
	}
}

static void print_wrapped(const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (column > 0 && column + 1 + n > WIDTH) {
			putchar('\n');
			column = 0;
		}
		putchar(column == 0 ? '\t' : ' ');
		printf("%.*s", (int)n, text);
		column += n + (column > 0);
		text += n + (text[n] == ' ');
	}
	putchar('\n');
}

int main(void)
{
	bool begun = false;

	for (size_t i = 0; i < run_n_facts; i++) {
		const struct run_fact *fact = &run_facts[i];
		char metric[64], text[2048];

		if (!fact->key)
			continue;
		printf("%s", begun ? ", " : "");
		print_name(fact);
		begun = !fact->means;
		if (begun)
			continue;
		putchar('\n');
		snprintf(metric, sizeof(metric), " A metric%s%s.", fact->csv ? ": " : "",
			fact->csv ? fact->name : "");
		snprintf(text, sizeof(text), "%s%s%s", fact->means, unit_text(fact),
			fact->is_cost ? metric : "");
		print_wrapped(text);
		putchar('\n');
	}
	return 0;
}
