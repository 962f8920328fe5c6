// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf stat -x (perf-stat(1), CSV FORMAT) and -j: a line for each event,
 * "VALUE,UNIT,EVENT,[SPREAD,] TIME,PERCENT,...", of one run, or the mean of several (-r), whose
 * number the file does not say.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/harness/quantity.h"
#include "judge/import/formats.h"
#include "judge/import/jsontree.h"
#include "judge/import/shared.h"
#include "judge/result/metadata.h"

enum {
	FIELDS_MAX = 16,
};

/* Cuts a line; returns the number of fields. The point of a number is that of the user's locale,
 * but where it would separate fields. */
static size_t split(char *line, char separator, char *fields[static FIELDS_MAX])
{
	const char separators[] = { separator, '\0' };
	size_t n = 0;

	while (line && n < FIELDS_MAX) {
		char *field = fields[n++] = strsep(&line, separators);

		/* The third one is a name. */
		while (n != 3 && (field = strchr(field, ',')))
			*field = '.';
	}
	return n;
}

/* "<not counted>", "<not supported>" */
static bool is_missing(const char *value)
{
	return text_starts_with(value, "<not ");
}

static bool is_count(const char *value)
{
	double number, step;

	return is_missing(value) || quantity_parse_number(value, false, &number, &step) == 0;
}

static bool is_percent(const char *word)
{
	_cleanup_free_ char *number = xptr(strdup(word));
	double value;

	if (!text_ends_with(word, "%"))
		return false;
	number[strlen(word) - 1] = '\0';
	return parse_double(number, 0, 1e9, &value) == 0;
}

/* Where the time that the event was counted stands: behind the event, or behind the spread of
 * several runs; 0 where the line is none of these. `first` fields say of which interval, CPU or
 * core it is. */
static size_t find_time(size_t n, char *const fields[static FIELDS_MAX], size_t first)
{
	size_t at = first + (n > first + 3 && is_percent(fields[first + 3]) ? 4 : 3);
	double percent;
	uint64_t ns;

	return n >= at + 2 && *fields[first + 2] && is_count(fields[first]) &&
			parse_u64(fields[at], 0, UINT64_MAX, &ns) == 0 &&
			parse_double(fields[at + 1], 0, 1000, &percent) == 0
		? at
		: 0;
}

/* Whether it is a line of perf stat -I, -A or --per-core, of which there are several for an event.
 */
static bool is_of_part(size_t n, char *const fields[static FIELDS_MAX])
{
	return find_time(n, fields, 1) > 0 || find_time(n, fields, 2) > 0;
}

/* The character that separates the fields of this line, 0 where it is no line of perf's. */
static char find_separator(const char *line)
{
	for (const char *p = ",;\t|:"; *p; p++) {
		_cleanup_free_ char *copy = xptr(strdup(line));
		char *fields[FIELDS_MAX];
		size_t n = split(copy, *p, fields);

		if (find_time(n, fields, 0) > 0 || is_of_part(n, fields))
			return *p;
	}
	return '\0';
}

static bool is_blank_or_comment(const char *line)
{
	return *line == '#' || !line[strspn(line, " \t")];
}

/* The first line that is neither blank nor a comment, malloc'd. */
static char *find_first(const char *text)
{
	char *line;

	while ((line = import_next_line(&text))) {
		if (!is_blank_or_comment(line))
			return line;
		free(line);
	}
	return NULL;
}

bool import_is_perf_text(const char *head, size_t size)
{
	_cleanup_free_ char *copy = xptr(strndup(head, size)), *line = find_first(copy);

	return line && find_separator(line);
}

static int take(struct imported *imported, const char *event, const char *value, const char *unit,
	bool is_mean, char **ret_why)
{
	/* Fewer are not better of each event, so that nothing is claimed. */
	struct imported_number number = { .unit = unit, .name = "count", .is_unknown = true };
	double step;
	int r;

	if (is_missing(value)) {
		_cleanup_free_ char *why = xptr(strndup(value + 1, strcspn(value + 1, ">")));

		imported_leave_out(imported, event, why);
		return 0;
	}
	if (quantity_parse_number(value, false, &number.value, &step) < 0)
		return xrefuse(ret_why, -EINVAL,
			"no result of perf stat: the count of %s is no number", event);
	if (strcmp(unit, "msec") == 0 || strcmp(unit, "ns") == 0) {
		number.unit = *unit == 'n' ? unit : "ms";
		number.is_unknown = false;
	}
	r = import_put_first(imported, event, 0, 0, &number, ret_why);
	if (r >= 0 && is_mean)
		facts_set_string(imported_benchmark_facts(imported), METADATA_AGGREGATE,
			"the mean of several processes");
	if (r >= 0 && !imported_is_new(imported))
		return xrefuse(ret_why, -EINVAL,
			"two counts of %s: of perf stat without -I and -A is one read", event);
	return r;
}

struct reading {
	struct imported *imported;
	char separator;
};

static int take_fields(void *context, char *line, char **ret_why)
{
	struct reading *reading = context;
	_cleanup_free_ char *safe = NULL;
	char *fields[FIELDS_MAX];
	size_t n, at;

	if (is_blank_or_comment(line))
		return 0;
	n = split(line, reading->separator, fields);
	at = find_time(n, fields, 0);
	if (at == 0 && is_of_part(n, fields))
		return xrefuse(ret_why, -EINVAL,
			"of an interval, a CPU or a core: of perf stat without -I, -A and --per-... "
			"is one read");
	/* Further metrics of the event before have neither a count nor a name. */
	if (at == 0)
		return n > 2 && (*fields[0] || *fields[2])
			? xrefuse(ret_why, -EINVAL, "no line of perf stat -x")
			: 0;
	safe = xptr(text_escape_control(fields[2]));
	return take(reading->imported, safe, fields[0], fields[1], at == 4, ret_why);
}

int import_perf_text(const struct import_source *source, struct imported *imported, char **ret_why)
{
	_cleanup_free_ char *first = find_first(source->text);
	struct reading reading = {
		.imported = imported,
		.separator = first ? find_separator(first) : '\0',
	};

	return import_each_line(source->text, take_fields, &reading, ret_why);
}

/* {"counter-value" : "48.000000", "unit" : "", "event" : "page-faults", "variance" : 1.2, ...} */
static int take_object(void *context, char *line, char **ret_why)
{
	_cleanup_(json_node) struct json_node *object = NULL;
	_cleanup_free_ char *why = NULL, *safe = NULL;
	const char *event, *value, *unit;

	if (is_blank_or_comment(line))
		return 0;
	if (json_tree_read(line, strlen(line), &object, &why) < 0)
		return xrefuse(ret_why, -EINVAL, "%s", strchr(why, ' ') + 1);
	event = json_string(json_member(object, "event"));
	value = json_string(json_member(object, "counter-value"));
	unit = json_string(json_member(object, "unit"));
	/* Further metrics of the event before have none. */
	if (!event && !value)
		return 0;
	if (json_member(object, "interval"))
		return xrefuse(ret_why, -EINVAL, "of perf stat -I, which is not read");
	if (!event || !value)
		return xrefuse(ret_why, -EINVAL, "no line of perf stat -j");
	safe = xptr(text_escape_control(event));
	return take(
		context, safe, value, unit ? unit : "", json_member(object, "variance"), ret_why);
}

int import_perf_json(const struct import_source *source, struct imported *imported, char **ret_why)
{
	return import_each_line(source->text, take_object, imported, ret_why);
}
