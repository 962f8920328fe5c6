// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What go test -bench prints, and other files of that form: golang.org/x/perf/benchfmt describes
 * it. A line is "NAME ITERATIONS VALUE UNIT [VALUE UNIT]...", a number being the mean of that many
 * iterations. Lines of one name are repeats within a process (-count); a process ends with PASS,
 * FAIL or "ok", and the next one begins with its goos and pkg, so that the outputs of several may
 * stand in one file. What a benchmark prints itself stands between its name and its numbers.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/harness/benchfmt.h"
#include "judge/harness/quantity.h"
#include "judge/import/formats.h"
#include "judge/import/jsontree.h"
#include "judge/import/shared.h"
#include "judge/result/metadata.h"

static const char blanks[] = " \t";

/* A line "Unit NAME better=higher assume=exact". */
struct unit_line {
	char *name;
	enum better better;
	bool is_exact;
};

struct reading {
	char *package;	   /* the first one */
	bool has_packages; /* more than one */
	/* The "-2" behind all names, which is GOMAXPROCS; it is "" where they have none, or
	 * several. */
	char *suffix;
	struct unit_line *units;
	size_t n_units, capacity;
	/* Of the line that is read. */
	size_t process;
	bool has_results; /* of this process */
	char *current;	  /* its package */
	char *begun;	  /* the benchmark whose numbers come in a line behind its name */
	struct imported *imported;
};

static void reading_clear(struct reading *reading)
{
	for (size_t i = 0; i < reading->n_units; i++)
		free(reading->units[i].name);
	free(reading->units);
	free(reading->package);
	free(reading->suffix);
	free(reading->current);
	free(reading->begun);
}

/* Whether it is a line of results: a name, and a number of iterations behind it. The rest of the
 * line is *ret_rest then. */
static bool take_head(char *line, char **ret_name, double *ret_iterations, char **ret_rest)
{
	char *rest = line, *name, *number;
	uint64_t iterations;

	if (!text_starts_with(line, BENCHFMT_PREFIX) ||
		(line[strlen(BENCHFMT_PREFIX)] >= 'a' && line[strlen(BENCHFMT_PREFIX)] <= 'z'))
		return false;
	name = benchfmt_next_word(&rest);
	number = benchfmt_next_word(&rest);
	if (!number || !rest || parse_u64(number, 1, INT64_MAX, &iterations) < 0)
		return false;
	*ret_name = name;
	*ret_iterations = (double)iterations;
	*ret_rest = rest;
	return true;
}

bool import_is_go_text(const char *head, size_t size)
{
	_cleanup_free_ char *copy = xptr(strndup(head, size));
	const char *rest = copy;
	bool found = false;
	char *line;

	while (!found && (line = import_next_line(&rest))) {
		double iterations;
		char *name, *values;

		found = text_starts_with(line, "goos: ") ||
			take_head(line, &name, &iterations, &values);
		free(line);
	}
	return found;
}

/* The name with which Go begins a line, "BenchmarkSum-2   \t", also where the program has not ended
 * its own line before; malloc'd, with what is behind it as *ret_behind. NULL where there is none.
 */
static char *find_name(const char *line, const char **ret_behind)
{
	const char *at = line;

	for (; (at = strstr(at, BENCHFMT_PREFIX)); at++) {
		size_t n = strcspn(at, blanks), end = n + strspn(at + n, " ");

		if (at[end] != '\t')
			continue;
		*ret_behind = at + end;
		return xptr(strndup(at, n));
	}
	return NULL;
}

/* Where Go's numbers begin, "100\t 475.0 ns/op"; NULL where there are none. */
static const char *find_numbers(const char *line)
{
	for (const char *tab = strchr(line, '\t'); tab; tab = strchr(tab + 1, '\t')) {
		const char *value = tab + 1 + strspn(tab + 1, " "), *number = tab;
		size_t n = strspn(value, "0123456789.");

		while (number > line && parse_is_digit(number[-1]))
			number--;
		if (number < tab && n > 0 && text_starts_with(value + n, " ns/op"))
			return number;
	}
	return NULL;
}

/* No numbers have come for the name. */
static void lose_begun(struct reading *reading)
{
	if (reading->begun)
		imported_leave_out(reading->imported, reading->begun, "has no result");
	free(TAKE_PTR(reading->begun));
}

/* The line, or what it and those before it are without the words of the program. malloc'd. */
static char *complete_line(struct reading *reading, const char *line)
{
	_cleanup_free_ char *plain = xptr(strdup(line));
	const char *behind = line, *numbers;
	char *name, *rest, *whole;
	double iterations;

	if (take_head(plain, &name, &iterations, &rest)) {
		lose_begun(reading);
		return xptr(strdup(line));
	}
	name = find_name(line, &behind);
	if (name) {
		lose_begun(reading);
		reading->begun = name;
	}
	numbers = reading->begun ? find_numbers(behind) : NULL;
	if (!numbers)
		return xptr(strdup(line));
	whole = xformat("%s %s", reading->begun, numbers);
	free(TAKE_PTR(reading->begun));
	return whole;
}

/* The "-2" of "BenchmarkSum-2"; "" where there is none. */
static const char *find_suffix(const char *name)
{
	const char *minus = strrchr(name, '-');
	unsigned n;

	return minus && parse_uint(minus + 1, 1, 100000, &n) == 0 ? minus : "";
}

/* The value of "pkg: tiny" for "pkg"; NULL for another line. */
static const char *config_value(const char *line, const char *key)
{
	size_t n = strlen(key);

	return strncmp(line, key, n) == 0 && text_starts_with(line + n, ": ") ? line + n + 2 : NULL;
}

/* "Unit ns/op assume=exact better=lower" */
static void take_unit(struct reading *reading, char *rest)
{
	struct unit_line unit = { .name = strsep(&rest, blanks) };
	char *word;

	while ((word = strsep(&rest, blanks))) {
		if (text_starts_with(word, "better="))
			unit.better = better_parse(word + strlen("better="));
		unit.is_exact |= strcmp(word, "assume=exact") == 0;
	}
	unit.name = xptr(strdup(unit.name));
	xcheck(array_grow(&reading->units, sizeof(unit), reading->n_units, &reading->capacity));
	reading->units[reading->n_units++] = unit;
}

/* What has to be known of all lines before the first one is taken. */
static int look_ahead(void *context, char *line, char **ret_why _unused_)
{
	struct reading *reading = context;
	_cleanup_free_ char *whole = complete_line(reading, line);
	const char *package = config_value(line, "pkg"), *suffix;
	char *name, *rest;
	double iterations;

	if (package && !reading->package)
		reading->package = xptr(strdup(package));
	else if (package && strcmp(package, reading->package) != 0)
		reading->has_packages = true;
	if (text_starts_with(line, "Unit ") && line[5])
		take_unit(reading, line + 5);
	if (!take_head(whole, &name, &iterations, &rest))
		return 0;
	suffix = find_suffix(name);
	if (!reading->suffix)
		reading->suffix = xptr(strdup(suffix));
	else if (strcmp(reading->suffix, suffix) != 0)
		*reading->suffix = '\0';
	return 0;
}

static int refuse_line(char **ret_why, const char *what, const char *word)
{
	return xrefuse(ret_why, -EINVAL, "no result of Go: %s%s", what, word);
}

/* What the last line about it says; NULL where there is none. */
static const struct unit_line *find_unit(const struct reading *reading, const char *unit)
{
	for (size_t i = reading->n_units; i-- > 0;)
		if (strcmp(reading->units[i].name, unit) == 0)
			return &reading->units[i];
	return NULL;
}

static int take_number(struct reading *reading, const char *value, const char *unit, char **ret_why)
{
	const struct unit_line *line = find_unit(reading, unit);
	struct imported_number number = {
		.unit = unit,
		.better = line ? line->better : BETTER_UNKNOWN,
		.is_exact = line && line->is_exact,
	};
	_cleanup_free_ char *why = NULL;
	double step;

	/* Go's words for what JSON has no number for; a metric may be one. */
	if (strcmp(value, "NaN") == 0 || strcmp(value, "+Inf") == 0 || strcmp(value, "-Inf") == 0)
		number.value = NAN;
	else if (quantity_parse_number(value, false, &number.value, &step) < 0)
		return refuse_line(ret_why, "not a number: ", value);
	if (imported_put(reading->imported, &number, &why) < 0)
		return refuse_line(ret_why, why, "");
	return 0;
}

static int take_result(
	struct reading *reading, char *name, double iterations, char *rest, char **ret_why)
{
	_cleanup_free_ char *whole = NULL, *why = NULL;
	struct facts *facts;
	char *word;
	int r;

	name[strlen(name) - strlen(reading->suffix)] = '\0';
	whole = reading->has_packages && reading->current ? xformat("%s.%s", reading->current, name)
							  : xptr(strdup(name));
	r = imported_begin(reading->imported, whole, reading->process, iterations, &why);
	if (r < 0)
		return refuse_line(ret_why, why, "");
	facts = imported_benchmark_facts(reading->imported);
	if (*reading->suffix)
		import_set_parameter(facts, "gomaxprocs", reading->suffix + 1);
	import_set_text(facts, "go_package", reading->current);
	reading->has_results = true;
	while (r >= 0 && (word = benchfmt_next_word(&rest))) {
		const char *unit = benchfmt_next_word(&rest);

		r = unit ? take_number(reading, word, unit, ret_why)
			 : refuse_line(ret_why, "a number without a unit: ", word);
	}
	return r;
}

static bool ends_process(const char *line)
{
	static const char *const begins[] = { "PASS", "FAIL", "ok  \t", "exit status ",
		"goos: ", "pkg: " };

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (text_starts_with(line, begins[i]))
			return true;
	return false;
}

static int take_line(void *context, char *line, char **ret_why)
{
	static const struct {
		const char *key, *name;
	} kept[] = {
		{ "goos", "go_os" },
		{ "goarch", "cpu_machine" },
		{ "cpu", "cpu_model_name" },
	};
	struct reading *reading = context;
	_cleanup_free_ char *whole = complete_line(reading, line);
	struct facts *facts = imported_facts(reading->imported);
	const char *package = config_value(line, "pkg");
	double iterations;
	char *name, *rest;

	if (reading->has_results && ends_process(line)) {
		reading->process++;
		reading->has_results = false;
	}
	if (ends_process(line))
		lose_begun(reading);
	if (package)
		xcheck(text_replace(&reading->current, package));
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		import_set_text(facts, kept[i].name, config_value(line, kept[i].key));
	if (text_starts_with(line, "--- FAIL: ")) {
		char *failed = line + strlen("--- FAIL: ");

		failed[strcspn(failed, blanks)] = '\0';
		imported_leave_out(reading->imported, failed, "failed");
	}
	return take_head(whole, &name, &iterations, &rest)
		? take_result(reading, name, iterations, rest, ret_why)
		: 0;
}

/* All text but a last line that ends within a number or a unit, malloc'd; NULL where there is no
 * such line. Go ends each line, and others may forget that for the last one. */
static char *cut_last_line(struct imported *imported, const char *text)
{
	const char *newline = strrchr(text, '\n'), *last = newline ? newline + 1 : text;
	_cleanup_free_ char *line = xptr(strdup(last));
	double iterations;
	char *name, *rest;

	if (text_ends_with(last, "/op") || text_ends_with(last, "/s") ||
		!take_head(line, &name, &iterations, &rest))
		return NULL;
	imported_leave_out(imported, name, "is cut off at the end of the file");
	return xptr(strndup(text, (size_t)(last - text)));
}

int import_go_text(const struct import_source *source, struct imported *imported, char **ret_why)
{
	_cleanup_free_ char *cut = cut_last_line(imported, source->text);
	const char *text = cut ? cut : source->text;
	struct reading reading = { .imported = imported };
	int r = import_each_line(text, look_ahead, &reading, ret_why);

	lose_begun(&reading);
	if (r >= 0)
		r = import_each_line(text, take_line, &reading, ret_why);
	lose_begun(&reading);
	reading_clear(&reading);
	return r;
}

/* --- go test -json --- */

/* What the tests of a package have printed. */
struct package {
	char *name;
	struct text text;
};

struct packages {
	char *date; /* of the first event; NULL: none has one */
	struct package *items;
	size_t n, capacity;
};

static struct text *find_package(struct packages *packages, const char *name)
{
	for (size_t i = packages->n; i-- > 0;)
		if (strcmp(packages->items[i].name, name) == 0)
			return &packages->items[i].text;
	xcheck(array_grow(
		&packages->items, sizeof(*packages->items), packages->n, &packages->capacity));
	packages->items[packages->n] = (struct package){ .name = xptr(strdup(name)) };
	return &packages->items[packages->n++].text;
}

/* An event of go tool test2json: {"Action":"output","Package":"tiny","Output":"PASS\n"}. */
static int take_event(struct packages *packages, const char *line, size_t number, char **ret_why)
{
	_cleanup_(json_node) struct json_node *event = NULL;
	_cleanup_free_ char *why = NULL;
	const char *output, *package, *action;

	if (json_tree_read(line, strlen(line), &event, &why) < 0)
		return xrefuse(ret_why, -EINVAL, "%zu%s", number, strchr(why, ':'));
	action = json_string(json_member(event, "Action"));
	if (!action)
		return xrefuse(ret_why, -EINVAL,
			"%zu: no event of go test -json: it has no 'Action'", number);
	if (!packages->date && json_string(json_member(event, "Time")))
		packages->date = xptr(strdup(json_string(json_member(event, "Time"))));
	output = json_string(json_member(event, "Output"));
	package = json_string(json_member(event, "Package"));
	if (output && strcmp(action, "output") == 0)
		text_append(find_package(packages, package ? package : ""), output);
	return 0;
}

int import_go_events(const struct import_source *source, struct imported *imported, char **ret_why)
{
	struct packages packages = { 0 };
	_cleanup_text_ struct text all = { 0 };
	const char *rest = source->text;
	size_t number = 0;
	int r = 0;
	char *line;

	while (r >= 0 && (line = import_next_line(&rest))) {
		number++;
		if (line[strspn(line, blanks)])
			r = take_event(&packages, line, number, ret_why);
		free(line);
	}
	for (size_t i = 0; i < packages.n; i++) {
		/* Each package is a process, also if it was ended before it said so. */
		if (packages.items[i].text.data)
			text_appendf(&all, "%s\nPASS\n", packages.items[i].text.data);
		if (packages.items[i].text.failed)
			xalloc_fail();
		text_clear(&packages.items[i].text);
		free(packages.items[i].name);
	}
	import_set_text(imported_facts(imported), "date", packages.date);
	free(packages.date);
	free(packages.items);
	text_append(&all, "");
	if (all.failed)
		xalloc_fail();
	if (r < 0)
		return r;
	return import_go_text(
		&(struct import_source){ all.data, all.length, source->path }, imported, ret_why);
}
