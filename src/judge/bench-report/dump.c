// SPDX-License-Identifier: GPL-2.0-or-later
/* dump: every value, warm-ups too, with the flags and the evidence of its run. */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/macro.h"
#include "base/table.h"
#include "base/xalloc.h"
#include "judge/bench-report/bench-report.h"
#include "judge/bench-report/files.h"
#include "judge/result/runfact.h"
#include "judge/result/weight.h"

struct dump {
	const struct request *request;
	struct emit emit;
	bool first;
};

/* The columns that are not a fact of the run. */
enum column {
	COLUMN_FACT,
	COLUMN_RUN,
	COLUMN_KIND,
	COLUMN_VALUE,
	COLUMN_LOOPS,
	COLUMN_FIGURE,
	COLUMN_FLAGS,
};

struct dump_column {
	struct table_column head;
	enum column column;
	const struct run_fact *fact; /* of COLUMN_FACT */
	size_t event;		     /* of COLUMN_FIGURE */
	struct scale scale;	     /* the same */
};

struct columns {
	struct dump_column items[RUN_FACTS_MAX];
	size_t n;
};

#define CELL_SIZE 96

/* A column has one unit: that of its largest value. */
static struct scale choose_wait_scale(const struct series *series, const struct columns *columns)
{
	double largest = 0;

	for (size_t k = 0; k < columns->n; k++) {
		const struct run_fact *fact = columns->items[k].fact;

		for (size_t i = 0; fact && fact->unit == RUN_NS && i < series->n_samples; i++) {
			struct run_place place = run_place_of(series, i, NULL);

			largest = fmax(largest, run_fact_real(fact, &place));
		}
	}
	return scale_choose(largest);
}

/* Formats a fact of a run as its unit asks for; the cell is empty when it is unknown. */
static void format_fact(const struct run_fact *fact, const struct series *series, size_t run,
	struct scale wait_scale, char cell[static CELL_SIZE])
{
	struct run_place place = run_place_of(series, run, NULL);
	double value = run_fact_real(fact, &place);
	char text[UNITS_TEXT_SIZE];

	if (!isfinite(value))
		cell[0] = '\0';
	else if (fact->unit == RUN_NS)
		snprintf(cell, CELL_SIZE, "%s", scale_format(wait_scale, value, text));
	else if (fact->unit == RUN_CELSIUS)
		snprintf(cell, CELL_SIZE, "%.0f C", value);
	else if (fact->unit == RUN_KHZ)
		snprintf(cell, CELL_SIZE, "%.0f", value / 1000);
	else if (fact->unit == RUN_SHARE)
		snprintf(cell, CELL_SIZE, "%.0f %%", value * 100);
	else
		snprintf(cell, CELL_SIZE, "%.*f", fact->kind == KIND_FLOAT ? 2 : 0, value);
}

static bool has_fact(const struct series *series, const struct run_fact *fact)
{
	for (size_t i = 0; i < series->n_samples; i++) {
		struct run_place place = run_place_of(series, i, NULL);

		if (isfinite(run_fact_real(fact, &place)))
			return true;
	}
	return false;
}

static bool has_loops(const struct benchmark *b)
{
	for (size_t i = 0; i < b->series->n_samples; i++)
		if (b->runs[i].loops != 1)
			return true;
	for (size_t i = 0; i < b->n_warmups; i++)
		if (b->warmups[i].loops != 1)
			return true;
	return false;
}

static void add_column(
	struct columns *columns, enum column column, const char *name, unsigned flags)
{
	columns->items[columns->n++] =
		(struct dump_column){ .head = { name, flags }, .column = column };
}

/* The first run that has the figure tells its scale. */
static void add_figure(struct columns *columns, const struct series *series, size_t event)
{
	const struct event_kind *kind = &series->event_kinds[event];
	double value = NAN;

	for (size_t i = 0; !isfinite(value) && i < series->n_samples; i++)
		value = series->counters[i * series->n_events + event];
	if (!isfinite(value))
		return;
	add_column(columns, COLUMN_FIGURE, series->event_names[event], TABLE_RIGHT);
	columns->items[columns->n - 1].event = event;
	columns->items[columns->n - 1].scale =
		scale_refine(scale_choose_unit(kind->unit, value), 2);
}

/* A column is there only where it has anything to show. */
static void find_columns(const struct benchmark *b, struct columns *ret)
{
	const struct run_fact *facts[RUN_FACTS_MAX];
	size_t n = run_facts_list(offsetof(struct run_fact, dump_column), facts);

	ret->n = 0;
	add_column(ret, COLUMN_RUN, "RUN", TABLE_RIGHT);
	add_column(ret, COLUMN_KIND, "KIND", 0);
	add_column(ret, COLUMN_VALUE, "VALUE", TABLE_RIGHT);
	if (has_loops(b))
		add_column(ret, COLUMN_LOOPS, "LOOPS", TABLE_RIGHT);
	/* There is room for the flags. */
	for (size_t i = 0; i < b->series->n_events && ret->n + n + 1 < RUN_FACTS_MAX; i++)
		if (b->series->event_kinds[i].own)
			add_figure(ret, b->series, i);
	for (size_t i = 0; i < n; i++) {
		if (!has_fact(b->series, facts[i]))
			continue;
		add_column(ret, COLUMN_FACT, facts[i]->title, TABLE_RIGHT);
		ret->items[ret->n - 1].fact = facts[i];
	}
	add_column(ret, COLUMN_FLAGS, "FLAGS", TABLE_WRAP);
}

/* The values in a row. */
struct row {
	size_t run;
	size_t number; /* of the run, see number_run() */
	bool warmup;
	double value;
	uint64_t loops;
};

/* Runs that count are numbered from 1, as in check; other runs get 0. *n is how many were numbered
 * before. */
static size_t number_run(const struct benchmark *b, size_t run, size_t *n)
{
	return sample_counts(&b->series->samples[run]) ? ++*n : 0;
}

struct table_context {
	struct table *table;
	const struct benchmark *benchmark;
	struct disturbances disturbances;
	struct columns columns;
	struct scale scale;
	struct scale wait_scale;
};

static void format_cell(const struct table_context *context, const struct dump_column *column,
	const struct row *row, const char *flags, char cell[static CELL_SIZE])
{
	const struct series *series = context->benchmark->series;
	char value[UNITS_TEXT_SIZE];
	double figure;

	cell[0] = '\0';
	switch (column->column) {
	case COLUMN_FACT:
		format_fact(column->fact, series, row->run, context->wait_scale, cell);
		break;
	case COLUMN_FIGURE:
		figure = series->counters[row->run * series->n_events + column->event];
		if (isfinite(figure))
			snprintf(cell, CELL_SIZE, "%s", scale_format(column->scale, figure, value));
		break;
	case COLUMN_RUN:
		if (row->number > 0)
			snprintf(cell, CELL_SIZE, "%zu", row->number);
		break;
	case COLUMN_KIND:
		snprintf(cell, CELL_SIZE, "%s", row->warmup ? "warm-up" : "value");
		break;
	case COLUMN_VALUE:
		snprintf(cell, CELL_SIZE, "%s", scale_format(context->scale, row->value, value));
		break;
	case COLUMN_LOOPS:
		snprintf(cell, CELL_SIZE, "%" PRIu64, row->loops);
		break;
	case COLUMN_FLAGS:
		snprintf(cell, CELL_SIZE, "%s", flags);
		break;
	}
}

static int add_row(const struct table_context *context, const struct row *row)
{
	const struct benchmark *b = context->benchmark;
	const struct columns *columns = &context->columns;
	_cleanup_free_ char *flags = NULL;
	struct weights weights;
	char cells[RUN_FACTS_MAX][CELL_SIZE];
	const char *texts[RUN_FACTS_MAX];

	disturbances_weigh(&context->disturbances, b->series, row->run, &weights);
	flags = weights_text(&b->series->samples[row->run], &weights);
	for (size_t i = 0; i < columns->n; i++) {
		format_cell(context, &columns->items[i], row, flags, cells[i]);
		texts[i] = cells[i];
	}
	return xcheck(table_add(context->table, texts));
}

static void emit_run_fact(
	struct emit *emit, const struct run_fact *fact, const struct run_place *place)
{
	struct fact value;

	if (!run_fact_get(fact, place, &value))
		return;
	value.name = (char *)fact->name;
	emit_fact(emit, &value);
	run_fact_clear(&value);
}

/* The facts of the evidence, the numbers and then the texts. */
struct evidence_facts {
	const struct run_fact *items[RUN_FACTS_MAX];
	size_t n;
};

static void list_evidence(struct evidence_facts *ret)
{
	ret->n = 0;
	for (int is_text = 0; is_text <= 1; is_text++)
		for (size_t i = 0; i < run_n_facts; i++)
			if (run_facts[i].part == PART_EVIDENCE && run_facts[i].name &&
				run_fact_is_text(&run_facts[i]) == is_text)
				ret->items[ret->n++] = &run_facts[i];
}

/* The facts, then the events. */
static void emit_evidence(struct emit *emit, const struct series *series,
	const struct evidence_facts *facts, size_t run)
{
	struct run_place place = run_place_of(series, run, NULL);

	emit_object(emit, "evidence");
	for (size_t i = 0; i < facts->n; i++)
		emit_run_fact(emit, facts->items[i], &place);
	for (size_t i = 0; i < series->n_events; i++) {
		double count = series->counters[run * series->n_events + i];

		if (isfinite(count))
			emit_real(emit, series->event_names[i], count);
	}
	emit_close(emit, '}');
}

/* Written once for each run: what all its values have in common. */
static void emit_run(struct emit *emit, const struct benchmark *b,
	const struct evidence_facts *facts, const struct disturbances *disturbances, size_t run,
	size_t number)
{
	const struct sample *sample = &b->series->samples[run];
	struct weights weights;

	if (number > 0)
		emit_integer(emit, "run", (int64_t)number);
	else
		emit_real(emit, "run", NAN);
	emit_bool(emit, "calibration", sample->warmup);
	emit_real(emit, "start",
		sample->start_ns >= 0 ? (double)sample->start_ns / (double)NSEC_PER_SEC : NAN);
	emit_integer(emit, "loops", (int64_t)b->runs[run].loops);
	emit_integer(emit, "inner_loops", (int64_t)b->runs[run].inner_loops);
	emit_array(emit, "flags");
	for (size_t bit = 0; bit < SAMPLE_N_FLAGS; bit++)
		if (sample->flags & 1u << bit)
			emit_string(emit, NULL, sample_flag_name((enum sample_flag)(1 << bit)));
	emit_close(emit, ']');
	disturbances_weigh(disturbances, b->series, run, &weights);
	emit_bool(emit, "disturbed", disturbances->causes[run] != 0);
	emit_object(emit, "weights");
	for (size_t bit = 0; bit < SAMPLE_N_FLAGS; bit++)
		if (!isnan(weights.of[bit]))
			emit_real(emit, sample_flag_name((enum sample_flag)(1 << bit)),
				weights.of[bit]);
	emit_close(emit, '}');
	emit_evidence(emit, b->series, facts, run);
}

/* Calls `each` for the warm-ups and then for the values of one run. */
static int each_row(const struct benchmark *b, size_t run, size_t number,
	int (*each)(const struct row *row, void *context), void *context)
{
	size_t first, n;
	int r = 0;

	benchmark_run_warmups(b, run, &first, &n);
	for (size_t i = first; r >= 0 && i < first + n; i++)
		r = each(&(struct row){ run, number, true, b->warmups[i].value,
				 b->warmups[i].loops },
			context);
	benchmark_run_values(b, run, &first, &n);
	for (size_t i = first; r >= 0 && i < first + n; i++)
		r = each(&(struct row){ run, number, false, b->values[i], b->runs[run].loops },
			context);
	return r;
}

static int each_table_row(const struct row *row, void *context)
{
	return add_row(context, row);
}

static int print_benchmark(const struct benchmark *b, struct scale scale)
{
	_cleanup_(table) struct table *table = NULL;
	struct table_column heads[RUN_FACTS_MAX];
	struct table_context context = {
		.benchmark = b,
		.scale = scale,
	};
	size_t n_numbered = 0;
	int r;

	find_columns(b, &context.columns);
	context.wait_scale = choose_wait_scale(b->series, &context.columns);
	for (size_t i = 0; i < context.columns.n; i++)
		heads[i] = context.columns.items[i].head;
	disturbances_find(b->series, &context.disturbances);
	r = xcheck(table_new("values", heads, context.columns.n, false, stdout, &table));
	context.table = table;
	for (size_t run = 0; r >= 0 && run < b->series->n_samples; run++)
		r = each_row(b, run, number_run(b, run, &n_numbered), each_table_row, &context);
	disturbances_clear(&context.disturbances);
	return r < 0 ? r : xcheck(table_print(table));
}

struct emit_context {
	struct emit *emit;
	bool warmups;
};

static int each_emit_row(const struct row *row, void *context)
{
	const struct emit_context *c = context;

	if (row->warmup != c->warmups)
		return 0;
	if (!row->warmup) {
		emit_real(c->emit, NULL, row->value);
		return 0;
	}
	emit_object(c->emit, NULL);
	emit_integer(c->emit, "loops", (int64_t)row->loops);
	emit_real(c->emit, "value", row->value);
	emit_close(c->emit, '}');
	return 0;
}

static void emit_benchmark(struct emit *emit, const char *file, const struct benchmark *b)
{
	struct disturbances disturbances;
	struct evidence_facts facts;
	size_t n_numbered = 0;

	list_evidence(&facts);
	disturbances_find(b->series, &disturbances);
	emit_object(emit, NULL);
	emit_string(emit, "file", file);
	emit_string(emit, "name", b->name);
	emit_string(emit, "unit", unit_name(b->unit));
	emit_string(emit, "metric", b->metric);
	emit_array(emit, "runs");
	for (size_t run = 0; run < b->series->n_samples; run++) {
		struct emit_context context = { emit, true };
		size_t number = number_run(b, run, &n_numbered);

		emit_object(emit, NULL);
		emit_run(emit, b, &facts, &disturbances, run, number);
		emit_array(emit, "warmups");
		(void)each_row(b, run, number, each_emit_row, &context);
		emit_close(emit, ']');
		context.warmups = false;
		emit_array(emit, "values");
		(void)each_row(b, run, number, each_emit_row, &context);
		emit_close(emit, ']');
		emit_close(emit, '}');
	}
	emit_close(emit, ']');
	emit_close(emit, '}');
	disturbances_clear(&disturbances);
}

static int dump_one(const char *file, const struct benchmark *benchmark, void *context)
{
	struct dump *dump = context;
	_cleanup_free_ char *title = reports_title(dump->request, file, benchmark);
	double reference;

	if (dump->request->json) {
		emit_benchmark(&dump->emit, file, benchmark);
		return 0;
	}
	reference = benchmark->n_values > 0 ? benchmark->values[0] : benchmark->warmups[0].value;
	xprint(stdout, "%s%s\n", dump->first ? "" : "\n", title);
	dump->first = false;
	/* A column has one unit, and enough digits to tell neighbouring values apart. */
	return print_benchmark(
		benchmark, scale_refine(scale_choose_unit(benchmark->unit, reference), 2));
}

enum exit_status verb_dump(const struct request *request)
{
	_cleanup_reports_ struct reports reports = { 0 };
	struct dump dump = { .request = request, .emit.stream = stdout, .first = true };
	int r;

	if (reports_read(request, true, &reports) < 0)
		return EXIT_FAILED;
	r = reports_each_emit(request, &reports, dump_one, &dump, &dump.emit, "benchmarks");
	return request_conclude(request, r);
}
