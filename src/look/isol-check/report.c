// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "base/table.h"
#include "base/terminal.h"
#include "base/xalloc.h"
#include "look/isol-check/report.h"
#include "look/isol-check/subjects.h"

/* These keys are documented: none may be removed, and new ones are appended. */
static const struct table_column json_columns[] = {
	{ "id", 0 },
	{ "subject", 0 },
	{ "verdict", 0 },
	{ "cpus", 0 },
	{ "seen", 0 },
	{ "path", 0 },
	{ "fix", 0 },
};

static const struct table_column columns[] = {
	{ "CHECK", 0 },
	{ "VERDICT", 0 },
	{ "SEEN, AND WHAT TO DO", TABLE_WRAP },
};

static const char *const colors[VERDICT_N] = {
	[VERDICT_OK] = "green",
	[VERDICT_UNKNOWN] = "magenta",
	[VERDICT_RISK] = "yellow",
	[VERDICT_NOISE] = "red",
};

/* Colors only on a terminal that has them, and not if NO_COLOR is set (no-color.org). */
static bool wants_color(void)
{
	const char *no_color = getenv("NO_COLOR");

	return terminal_obeys(STDOUT_FILENO) && !(no_color && *no_color);
}

static void add_json(struct table *table, const struct subject *subject, const struct check *check,
	const struct finding *finding)
{
	const char *const cells[] = { check->id, subject->name,
		finding_verdict_name(finding->verdict), finding->cpus, finding->seen.data,
		finding->path.data, finding->fix.data };

	xcheck(table_add(table, cells));
}

enum {
	/* The width of the first two columns. */
	OTHERS_WIDTH = 28,
};

/* Appends each path in a line of its own; a path that is wider than `width` is broken after a
 * slash. */
static void append_paths(struct text *cell, const char *paths, size_t width)
{
	while (*paths) {
		size_t n = strcspn(paths, ","), first = n;

		if (n > width)
			while (first > 0 && (first > width || paths[first - 1] != '/'))
				first--;
		if (first == 0)
			first = n;
		text_append(cell, "\n");
		text_append_n(cell, paths, first);
		if (first < n) {
			text_append(cell, "\n  ");
			text_append_n(cell, paths + first, n - first);
		}
		paths += n + strspn(paths + n, ", ");
	}
}

/* Adds a row with what was seen, the paths where they are of use, and the fix. */
static void add_row(struct table *table, const struct check *check, const struct finding *finding,
	bool verbose, bool color)
{
	_cleanup_text_ struct text cell = { 0 };
	_cleanup_free_ char *id = NULL;
	const char *cells[3] = { NULL, finding_verdict_name(finding->verdict), NULL };

	text_append(&cell, finding->seen.data);
	if (finding->path.data && (verbose || finding->verdict >= VERDICT_UNKNOWN))
		append_paths(&cell, finding->path.data,
			MAX(terminal_width(STDOUT_FILENO), OTHERS_WIDTH * 2U) - OTHERS_WIDTH);
	if (finding->fix.data)
		text_appendf(&cell, "\n-> %s", finding->fix.data);
	if (cell.failed)
		xalloc_fail();
	xcheck(text_format(&id, "  %s", check->id));
	cells[0] = id;
	cells[2] = cell.data;
	xcheck(table_add(table, cells));
	if (color && colors[finding->verdict])
		xcheck(table_color(table, 1, colors[finding->verdict]));
}

static int print_summary(const struct host *host, const unsigned *counts)
{
	if (xprint(stdout, "CPU %s: ", host_cpus_text(host)) < 0)
		return -EIO;
	for (int verdict = VERDICT_N - 1; verdict >= 0; verdict--)
		if (xprint(stdout, "%u %s%s", counts[verdict],
			    finding_verdict_name((enum verdict)verdict),
			    verdict > 0 ? ", "
					: ".\nisol-check --explain CHECK says more of each.\n") < 0)
			return -EIO;
	return print_finish(stdout);
}

static size_t count_checks(void)
{
	size_t n = 0;

	for (const struct subject *subject = check_subjects; subject->name; subject++)
		for (const struct check *check = subject->checks; check->id; check++)
			n++;
	return n;
}

/* Runs the checks with this value of of_tasks. findings has an entry for every check. */
static void run_some(struct host *host, bool of_tasks, struct finding *findings)
{
	for (const struct subject *subject = check_subjects; subject->name; subject++)
		for (const struct check *check = subject->checks; check->id; check++, findings++)
			if (check->of_tasks == of_tasks)
				check_run(check, host, findings);
}

static void add_all(struct table *table, const struct finding *findings, bool json, bool verbose,
	unsigned *counts)
{
	bool color = !json && wants_color();

	for (const struct subject *subject = check_subjects; subject->name; subject++) {
		const char *const heading[] = { subject->name, NULL, NULL };

		if (!json)
			xcheck(table_add(table, heading));
		for (const struct check *check = subject->checks; check->id; check++, findings++) {
			counts[findings->verdict]++;
			if (json)
				add_json(table, subject, check, findings);
			else
				add_row(table, check, findings, verbose, color);
		}
	}
}

int report_run(struct host *host, bool json, bool verbose, unsigned *counts)
{
	_cleanup_(table) struct table *table = NULL;
	size_t n = count_checks();
	struct finding *findings = xptr(calloc(n, sizeof(*findings)));
	int r;

	host_watch(host);
	run_some(host, false, findings);
	run_some(host, true, findings);
	xcheck(json ? table_new("checks", json_columns, ARRAY_SIZE(json_columns), true, stdout,
			      &table)
		    : table_new("checks", columns, ARRAY_SIZE(columns), false, stdout, &table));
	add_all(table, findings, json, verbose, counts);
	for (size_t i = 0; i < n; i++)
		finding_clear(&findings[i]);
	free(findings);
	r = xcheck(table_print(table));
	return r < 0 || json ? r : print_summary(host, counts);
}
