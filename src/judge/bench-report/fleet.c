// SPDX-License-Identifier: GPL-2.0-or-later
/* fleet: the machines of many results beside each other, and which of them differ from the
 * others. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/bench-report/bench-report.h"
#include "judge/bench-report/column.h"
#include "judge/bench-report/files.h"
#include "judge/report/machines.h"
#include "judge/stats/esd.h"

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
	struct text t = { 0 };

	for (int i = 0; i < N_ODDITIES; i++)
		if (odd & (1U << i))
			text_appendf(&t, "%s%s", t.length > 0 ? ", " : "",
				oddity_name((enum oddity)(1U << i)));
	return xptr(text_steal(&t));
}

static void emit_odd(struct emit *emit, unsigned odd)
{
	emit_array(emit, "odd");
	for (int i = 0; i < N_ODDITIES; i++)
		if (odd & (1U << i))
			emit_string(emit, NULL, oddity_name((enum oddity)(1U << i)));
	emit_close(emit, ']');
}

/* Whether two machines have the same name, so that the processor has to tell them apart. */
static bool have_models(const struct machines *machines, size_t i)
{
	for (size_t k = 0; k < machines->n; k++)
		if (k != i && strcmp(machines->items[i].node, machines->items[k].node) == 0)
			return true;
	return !*machines->items[i].node;
}

/* "node", "node, model" or "model", malloc'd. */
static char *make_name(const struct machines *machines, size_t at)
{
	const struct machine_figures *m = &machines->items[at];
	bool with_model = have_models(machines, at);
	_cleanup_free_ char *name = xformat(
		"%s%s%s", m->node, *m->node && with_model ? ", " : "", with_model ? m->model : "");

	return xptr(text_escape_control(*name ? name : "unknown"));
}

static const char *format_clock(double hz, char buf[static UNITS_TEXT_SIZE])
{
	snprintf(buf, UNITS_TEXT_SIZE, "%.2f GHz", hz / 1e9);
	return buf;
}

static const char *format_heat(double celsius, char buf[static UNITS_TEXT_SIZE])
{
	snprintf(buf, UNITS_TEXT_SIZE, "%.0f C", celsius);
	return buf;
}

static int add_machine(struct sheet *sheet, const struct machines *machines, size_t at)
{
	const struct machine_figures *m = &machines->items[at];
	_cleanup_free_ char *name = NULL, *odd = make_odd_text(m->odd);

	if (!sheet->emit)
		name = make_name(machines, at);
	sheet_begin(sheet);
	put_cell(sheet, name, "MACHINE", TABLE_WRAP | TABLE_BREAK);
	put_text(sheet, *m->node ? m->node : NULL, "node");
	put_text(sheet, *m->model ? m->model : NULL, "model");
	put_integer(sheet, m->n_sittings, "sittings");
	put_integer(sheet, m->n_runs, "runs", .heading = "RUNS");
	put_real(sheet, m->level, "level", .heading = "LEVEL", .show = units_format_change);
	put_real(sheet, m->noise, "noise", .heading = "NOISE", .show = units_format_percent);
	put_real(sheet, m->shared, "shared", .heading = "SHARED", .show = units_format_percent);
	put_real(sheet, m->clock_hz, "clock", .heading = "CLOCK", .show = format_clock);
	put_real(sheet, m->temperature, "temperature", .heading = "HEAT", .show = format_heat);
	put_cell(sheet, odd, "ODD", TABLE_WRAP);
	if (sheet->emit)
		emit_odd(sheet->emit, m->odd);
	return sheet_end_row(sheet);
}

static void print_count(const struct machines *machines, size_t n_odd)
{
	xprint(stdout, "%zu machine%s, %zu benchmark%s: ", machines->n, machines->n == 1 ? "" : "s",
		machines->n_benchmarks, machines->n_benchmarks == 1 ? "" : "s");
	if (machines->n < ESD_MIN)
		xprint(stdout, "too few to tell an odd one, which takes %d\n", ESD_MIN);
	else if (n_odd == 0)
		xprint(stdout, "none is odd\n");
	else
		xprint(stdout, "%zu odd\n", n_odd);
}

static int print_machines(const struct machines *machines, size_t most, bool json)
{
	struct emit emit = { .stream = stdout };
	struct sheet sheet = { .emit = json ? &emit : NULL };
	size_t n_odd = count_odd(machines);
	int r = 0;

	if (!json)
		print_count(machines, n_odd);
	sheet_begin(&sheet);
	put_integer(&sheet, machines->n_benchmarks, "benchmarks");
	put_bool(&sheet, machines->n >= ESD_MIN, "enough");
	put_integer(&sheet, n_odd, "odd");
	sheet_begin_rows(&sheet, "machines");
	for (size_t i = 0; r >= 0 && i < MIN(machines->n, most); i++)
		r = add_machine(&sheet, machines, i);
	return sheet_end(&sheet, r);
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
	if (machines->n > 0) {
		machines_settle(machines);
		return 0;
	}
	if (request->benchmark)
		say("no benchmark is named '%s'", request->benchmark);
	else
		say("the files have no values");
	return -ENOENT;
}

enum exit_status verb_fleet(const struct request *request)
{
	_cleanup_(machines) struct machines *machines = machines_new();
	size_t most = request->count > 0 ? request->count : SIZE_MAX;
	enum exit_status status;
	int r = read_machines(request, machines);

	if (r >= 0) {
		qsort(machines->items, machines->n, sizeof(*machines->items), compare_machines);
		r = print_machines(machines, most, request->json);
	}
	status = request_conclude(request, r);
	return status == EXIT_DONE && count_odd(machines) > 0 ? EXIT_FINDING : status;
}
