// SPDX-License-Identifier: GPL-2.0-or-later
/* fleet: the machines of many results beside each other, and which of them differ from the
 * others. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/macro.h"
#include "basic/table.h"
#include "basic/text.h"
#include "bench-report/bench-report.h"
#include "bench-report/folders.h"
#include "report/machines.h"
#include "stats/esd.h"

static size_t count_odd(const struct machines *machines)
{
	size_t n = 0;

	for (size_t i = 0; i < machines->n; i++)
		n += machines->items[i].odd != 0;
	return n;
}

static double level_of(const struct machine_figures *machine)
{
	return isnan(machine->level) ? -1 : machine->level;
}

/* Odd ones first, the slowest of them at the top; the others by name. */
static int compare_machines(const void *a, const void *b)
{
	const struct machine_figures *x = a, *y = b;
	int order;

	if ((x->odd != 0) != (y->odd != 0))
		return x->odd ? -1 : 1;
	if (x->odd && level_of(x) != level_of(y))
		return level_of(x) > level_of(y) ? -1 : 1;
	order = strcmp(x->node, y->node);
	return order != 0 ? order : strcmp(x->model, y->model);
}

/* "slower, shared", malloc'd. */
static char *make_odd_text(unsigned odd)
{
	_cleanup_text_ struct text t = { 0 };

	text_append(&t, "");
	for (int i = 0; i < N_ODDITIES; i++)
		if (odd & (1U << i))
			text_appendf(&t, "%s%s", t.length > 0 ? ", " : "",
				oddity_name((enum oddity)(1U << i)));
	return text_steal(&t);
}

/* Whether two machines have the same name, so that the processor has to tell them apart. */
static bool have_models(const struct machines *machines, size_t i)
{
	for (size_t k = 0; k < machines->n; k++)
		if (k != i && strcmp(machines->items[i].node, machines->items[k].node) == 0)
			return true;
	return !*machines->items[i].node;
}

static int add_row(struct table *table, const struct machines *machines, size_t at)
{
	const struct machine_figures *m = &machines->items[at];
	_cleanup_free_ char *odd = make_odd_text(m->odd), *name = NULL, *plain = NULL;
	char level[UNITS_TEXT_SIZE] = "", noise[UNITS_TEXT_SIZE] = "", shared[UNITS_TEXT_SIZE] = "";
	char clock[UNITS_TEXT_SIZE] = "", heat[UNITS_TEXT_SIZE] = "", runs[32];

	if (text_format(&name, "%s%s%s", m->node, *m->node && have_models(machines, at) ? ", " : "",
		    have_models(machines, at) ? m->model : "") < 0)
		return -ENOMEM;
	plain = text_escape_control(*name ? name : "unknown");
	if (!odd || !plain)
		return -ENOMEM;
	snprintf(runs, sizeof(runs), "%zu", m->n_runs);
	if (!isnan(m->level))
		units_format_change(m->level, level);
	if (!isnan(m->noise))
		units_format_percent(m->noise, noise);
	if (!isnan(m->shared))
		units_format_percent(m->shared, shared);
	if (!isnan(m->clock_hz))
		snprintf(clock, sizeof(clock), "%.2f GHz", m->clock_hz / 1e9);
	if (!isnan(m->temperature))
		snprintf(heat, sizeof(heat), "%.0f C", m->temperature);
	return table_add(table,
		(const char *const[]){ plain, runs, level, noise, shared, clock, heat, odd });
}

static int print_machines(const struct machines *machines, size_t most)
{
	static const struct table_column columns[] = {
		{ "MACHINE", TABLE_WRAP | TABLE_BREAK },
		{ "RUNS", TABLE_RIGHT },
		{ "LEVEL", TABLE_RIGHT },
		{ "NOISE", TABLE_RIGHT },
		{ "SHARED", TABLE_RIGHT },
		{ "CLOCK", TABLE_RIGHT },
		{ "HEAT", TABLE_RIGHT },
		{ "ODD", TABLE_WRAP },
	};
	_cleanup_(table) struct table *table = NULL;
	size_t n_odd = count_odd(machines);
	int r;

	print(stdout, "%zu machine%s, %zu benchmark%s: ", machines->n, machines->n == 1 ? "" : "s",
		machines->n_benchmarks, machines->n_benchmarks == 1 ? "" : "s");
	if (machines->n < ESD_MIN)
		print(stdout, "too few to tell an odd one, which takes %d\n", ESD_MIN);
	else if (n_odd == 0)
		print(stdout, "none is odd\n");
	else
		print(stdout, "%zu odd\n", n_odd);
	r = table_new("machines", columns, ARRAY_SIZE(columns), false, stdout, &table);
	for (size_t i = 0; r >= 0 && i < MIN(machines->n, most); i++)
		r = add_row(table, machines, i);
	return r < 0 ? r : table_print(table);
}

static int emit_machine_list(const struct machines *machines, size_t most)
{
	struct emit emit = { .stream = stdout };

	emit_object(&emit, NULL);
	emit_integer(&emit, "benchmarks", (int64_t)machines->n_benchmarks);
	emit_bool(&emit, "enough", machines->n >= ESD_MIN);
	emit_integer(&emit, "odd", (int64_t)count_odd(machines));
	emit_array(&emit, "machines");
	for (size_t i = 0; i < MIN(machines->n, most); i++) {
		const struct machine_figures *m = &machines->items[i];

		emit_object(&emit, NULL);
		emit_string(&emit, "node", *m->node ? m->node : NULL);
		emit_string(&emit, "model", *m->model ? m->model : NULL);
		emit_integer(&emit, "sittings", (int64_t)m->n_sittings);
		emit_integer(&emit, "runs", (int64_t)m->n_runs);
		emit_real(&emit, "level", m->level);
		emit_real(&emit, "noise", m->noise);
		emit_real(&emit, "shared", m->shared);
		emit_real(&emit, "clock", m->clock_hz);
		emit_real(&emit, "temperature", m->temperature);
		emit_array(&emit, "odd");
		for (int k = 0; k < N_ODDITIES; k++)
			if (m->odd & (1U << k))
				emit_string(&emit, NULL, oddity_name((enum oddity)(1U << k)));
		emit_close(&emit, ']');
		emit_close(&emit, '}');
	}
	emit_close(&emit, ']');
	emit_close(&emit, '}');
	return emit_finish(&emit);
}

/* One file after the other, of which only the figures are kept. */
static int read_machines(const struct request *request, struct machines *machines)
{
	_cleanup_folders_ struct file_names files = { 0 };

	if (folders_expand(request, &files) < 0)
		return -ENOENT;
	for (size_t i = 0; i < files.n; i++) {
		_cleanup_(suite) struct suite *suite = NULL;
		int r = report_read(request, files.items[i], true, &suite);

		if (r < 0)
			return -ENOENT;
		r = machines_add(machines, suite, request->benchmark);
		if (r < 0)
			return r;
	}
	if (machines->n > 0)
		return machines_settle(machines);
	if (request->benchmark)
		say("no benchmark is named '%s'", request->benchmark);
	else
		say("the files have no values");
	return -ENOENT;
}

enum exit_status verb_fleet(const struct request *request)
{
	_cleanup_(machines) struct machines *machines = NULL;
	size_t most = request->count > 0 ? request->count : SIZE_MAX;
	enum exit_status status;
	int r = machines_new(&machines);

	if (r >= 0)
		r = read_machines(request, machines);
	if (r >= 0) {
		qsort(machines->items, machines->n, sizeof(*machines->items), compare_machines);
		r = request->json ? emit_machine_list(machines, most)
				  : print_machines(machines, most);
	}
	status = request_conclude(request, r);
	return status == EXIT_DONE && count_odd(machines) > 0 ? EXIT_FINDING : status;
}
