// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/harness/benchfmt.h"

#define refuse(ret_why, ...) xcheck(text_refuse(ret_why, -EBADMSG, __VA_ARGS__))

static const char blanks[] = " \t";

/* What lines "Unit" say of a unit, which is called as it was written. */
struct unit_note {
	const char *unit; /* in the text that is read */
	enum better better;
	bool is_exact;
};

struct reading {
	struct unit_note *notes;
	size_t n_notes, notes_capacity;
	struct figures *figures;
	size_t first; /* of the figures that are ours */
};

enum better benchfmt_find_better(const char *base)
{
	if (quantity_is_cost(base) || text_ends_with(base, "/op"))
		return BETTER_LOWER;
	return text_ends_with(base, "/s") ? BETTER_HIGHER : BETTER_UNKNOWN;
}

char *benchfmt_next_word(char **rest)
{
	char *word;

	do
		word = strsep(rest, blanks);
	while (word && !*word);
	return word;
}

static struct unit_note *find_note(const struct reading *reading, const char *unit)
{
	for (size_t i = 0; i < reading->n_notes; i++)
		if (strcmp(reading->notes[i].unit, unit) == 0)
			return &reading->notes[i];
	return NULL;
}

static struct unit_note *add_note(struct reading *reading, const char *unit)
{
	xcheck(array_grow(&reading->notes, sizeof(*reading->notes), reading->n_notes,
		&reading->notes_capacity));
	reading->notes[reading->n_notes] = (struct unit_note){ .unit = unit };
	return &reading->notes[reading->n_notes++];
}

/* "Unit U better=lower assume=exact": the words that others have are left alone. */
static int take_unit(struct reading *reading, char *rest, char **ret_why)
{
	const char *unit = benchfmt_next_word(&rest), *word;
	struct unit_note *note;

	if (!unit)
		return refuse(ret_why, "'Unit' is followed by a unit");
	note = find_note(reading, unit);
	if (!note)
		note = add_note(reading, unit);
	while ((word = benchfmt_next_word(&rest))) {
		enum better better;

		note->is_exact |= strcmp(word, "assume=exact") == 0;
		if (!text_starts_with(word, "better="))
			continue;
		better = better_parse(word + strlen("better="));
		if (better == BETTER_UNKNOWN)
			return refuse(ret_why, "better is lower or higher");
		if (note->better != BETTER_UNKNOWN && note->better != better)
			return refuse(
				ret_why, "two lines say which way %s is better, and differ", unit);
		note->better = better;
	}
	return 0;
}

/* Adds a value, or makes it a part of the mean. Takes the name. */
static int add_figure(struct reading *reading, struct figure *figure, char **ret_why)
{
	struct figures *figures = reading->figures;
	int at = figures_add(figures, reading->first, TAKE_MEAN, figure, ret_why);

	if (at < 0)
		return at;
	if (figures->n > EXTRACT_FIGURES_MAX)
		return refuse(ret_why, "more than %d figures", EXTRACT_FIGURES_MAX);
	return isfinite(figures->items[at].squares)
		? 0
		: refuse(ret_why, "%s: its values are too large", figures->items[at].name);
}

/* A value and its unit; the first ones of a line have its name alone. */
static int take_value(struct reading *reading, const char *name, bool is_first, const char *number,
	const char *unit, char **ret_why)
{
	_cleanup_free_ char *raw = is_first ? xptr(strdup(name)) : xformat("%s %s", name, unit);
	_cleanup_free_ char *called = xptr(text_escape_control(raw));
	const struct unit_note *note = find_note(reading, unit);
	struct figure figure = { .n = 1, .is_exact = note && note->is_exact };
	struct quantity_unit parsed;

	if (strlen(called) > RULE_NAME_MAX)
		return refuse(ret_why, "the name of a figure is too long");
	if (quantity_parse_number(number, false, &figure.value, &figure.step) < 0)
		return refuse(ret_why, "%s: '%s' is not a number", name, number);
	if (quantity_parse_unit(unit, &parsed) < 0)
		return refuse(ret_why, "%s: '%s' is no unit", name, unit);
	figure.better = note && note->better != BETTER_UNKNOWN ? note->better
							       : benchfmt_find_better(parsed.base);
	/* What is to stay the same is most often a cost. */
	if (figure.better == BETTER_UNKNOWN && figure.is_exact)
		figure.better = BETTER_LOWER;
	if (figure.better == BETTER_UNKNOWN)
		return refuse(ret_why,
			"which way is %s better? A line 'Unit %s better=higher', or lower, says "
			"it",
			unit, unit);
	memcpy(figure.unit, parsed.base, sizeof(figure.unit));
	figure.value = quantity_to_base(figure.value, &parsed);
	figure.step = quantity_to_base(figure.step, &parsed);
	if (!isfinite(figure.value))
		return refuse(ret_why, "%s: '%s' is too large", name, number);
	figure.name = TAKE_PTR(called);
	return add_figure(reading, &figure, ret_why);
}

/* "BenchmarkNAME N VALUE UNIT [VALUE UNIT]..." */
static int take_benchmark(struct reading *reading, char *line, char **ret_why)
{
	const char *name = benchfmt_next_word(&line) + strlen(BENCHFMT_PREFIX);
	const char *iterations = benchfmt_next_word(&line), *number;
	uint64_t n;

	/* `go test -v` prints it alone, before the benchmark runs. */
	if (!iterations)
		return 0;
	if (!*name)
		return refuse(ret_why, "a figure without a name");
	if (parse_u64(iterations, 1, INT64_MAX, &n) < 0)
		return refuse(ret_why, "%s: '%s' is no number of iterations", name, iterations);
	number = benchfmt_next_word(&line);
	if (!number)
		return refuse(ret_why, "%s: no value", name);
	for (bool is_first = true; number; is_first = false) {
		const char *unit = benchfmt_next_word(&line);
		int r;

		if (!unit)
			return refuse(ret_why, "%s: %s has no unit", name, number);
		r = take_value(reading, name, is_first, number, unit, ret_why);
		if (r < 0)
			return r;
		number = benchfmt_next_word(&line);
	}
	return 0;
}

/* "key: value": no blank and no capital letter in the key. */
static bool is_setting(const char *line)
{
	size_t n = strcspn(line, ": \tABCDEFGHIJKLMNOPQRSTUVWXYZ");

	return *line >= 'a' && *line <= 'z' && line[n] == ':' &&
		(line[n + 1] == '\0' || strchr(blanks, line[n + 1]));
}

static bool begins_with_word(const char *line, const char *word)
{
	size_t n = strlen(word);

	return strncmp(line, word, n) == 0 && (line[n] == '\0' || strchr(blanks, line[n]));
}

/* Lines "Unit" are taken before all others. */
static int take_line(struct reading *reading, char *line, bool units, char **ret_why)
{
	size_t length = strlen(line);

	if (length > 0 && line[length - 1] == '\r')
		line[length - 1] = '\0';
	if (begins_with_word(line, "Unit"))
		return units ? take_unit(reading, line + strlen("Unit"), ret_why) : 0;
	if (units)
		return 0;
	if (text_starts_with(line, BENCHFMT_PREFIX))
		return take_benchmark(reading, line, ret_why);
	if (!line[strspn(line, blanks)] || is_setting(line) || begins_with_word(line, "PASS") ||
		begins_with_word(line, "ok"))
		return 0;
	return refuse(ret_why, "'%.80s' is no line of Go's benchmark format", line);
}

static int take_lines(struct reading *reading, char *text, bool units, char **ret_why)
{
	size_t number = 0;

	for (char *line; (line = strsep(&text, "\n"));) {
		_cleanup_free_ char *why = NULL;

		number++;
		if (take_line(reading, line, units, &why) < 0)
			return refuse(ret_why, "line %zu: %s", number, why);
	}
	return 0;
}

int benchfmt_read(const struct output *output, struct figures *figures, char **ret_why)
{
	_cleanup_free_ char *text = NULL, *again = NULL;
	struct reading reading = { .figures = figures, .first = figures->n };
	int r;

	if (output->size == 0)
		return 0;
	if (memchr(output->text, '\0', output->size))
		return refuse(ret_why, "not a text");
	if (output->text[output->size - 1] != '\n')
		return refuse(ret_why, "its last line has no end, so it was not written whole");
	text = xptr(strndup(output->text, output->size));
	again = xptr(strdup(text));
	r = take_lines(&reading, text, true, ret_why);
	if (r >= 0)
		r = take_lines(&reading, again, false, ret_why);
	free(reading.notes);
	return r;
}
