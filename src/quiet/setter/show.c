// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/table.h"
#include "base/text.h"
#include "quiet/setter/show.h"

enum {
	VALUES_MAX = 3,
	/* The name, path, CPUs, state and reason of a knob, and its values. */
	CELLS_MAX = VALUES_MAX + 5,
	/* How many knobs of a kind the brief line names. */
	BRIEF_NAMES = 4,
};

/* Which entries share a row. */
enum grouping {
	ALONE,	/* a row for this entry only */
	ALIKE,	/* one row for all entries that differ only in their CPU */
	FOLDED, /* one row for all entries of the same name and state, which counts them */
};

/* What is shown of a knob. Texts are borrowed, and may be NULL. */
struct entry {
	size_t index; /* the position; a row has that of its first entry */
	enum grouping grouping;
	const char *name; /* FOLDED: the name of the fold */
	const char *path;
	int cpu;		    /* -1 for none */
	const struct cpumask *cpus; /* all CPUs, if there are more than one; else NULL */
	enum knob_kind kind;
	const char *values[VALUES_MAX];
	const char *word;
	const char *note;
	int error; /* as in struct knob */
};

/* Entries that share a row; they are consecutive. */
struct row {
	const struct entry *entries;
	size_t n;
};

/* Columns: name, path and CPU for JSON, else name and CPUs; then n_values values; then the rest. */
struct layout {
	const struct table_column *columns;
	size_t n_columns;
	size_t n_values;
};

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_indices(const struct entry *x, const struct entry *y)
{
	return (x->index > y->index) - (x->index < y->index);
}

/* 0 for entries that share a row. */
static int compare_looks(const struct entry *x, const struct entry *y)
{
	int r = (x->grouping > y->grouping) - (x->grouping < y->grouping);

	if (r == 0 && x->grouping == ALONE)
		return compare_indices(x, y);
	if (r == 0)
		r = compare_texts(x->name, y->name);
	for (size_t i = 0; r == 0 && i < VALUES_MAX; i++)
		r = compare_texts(x->values[i], y->values[i]);
	if (r == 0)
		r = compare_texts(x->word, y->word);
	if (r == 0 && x->grouping == ALIKE)
		r = compare_texts(x->note, y->note);
	return r;
}

static int compare_entries(const void *a, const void *b)
{
	int r = compare_looks(a, b);

	return r ? r : compare_indices(a, b);
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return compare_indices(x->entries, y->entries);
}

/* The CPUs of a row, malloc'd; NULL for none. */
static int format_cpus(const struct row *row, char **ret)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	char *list;
	int r;

	if (row->entries->cpu < 0)
		return 0;
	r = cpumask_new(&cpus);
	for (size_t i = 0; r == 0 && i < row->n; i++) {
		const struct entry *entry = &row->entries[i];

		if (entry->cpus)
			cpumask_or(cpus, cpus, entry->cpus);
		else
			r = cpumask_set(cpus, entry->cpu);
	}
	if (r < 0)
		return r;
	list = cpumask_format_list(cpus);
	if (!list)
		return -ENOMEM;
	*ret = list;
	return 0;
}

/* The short form of a value: the chosen word of a choice, and a mask as a list. malloc'd; NULL for
 * NULL. */
static int format_value(enum knob_kind kind, const char *value, char **ret)
{
	_cleanup_(cpumask) struct cpumask *mask = NULL;
	char *shown = NULL;

	if (value && kind == KNOB_MASK) {
		if (cpumask_new(&mask) < 0)
			return -ENOMEM;
		if (cpumask_parse_hex(value, mask) == 0) {
			*ret = cpumask_format_list(mask);
			return *ret ? 0 : -ENOMEM;
		}
	}
	if (value) {
		shown = knob_writable(kind, value);
		if (!shown)
			return -ENOMEM;
	}
	*ret = shown;
	return 0;
}

/* The reason for the state, for a person: the note, or the text of the errno. */
static const char *explain_entry(const struct entry *entry)
{
	if (entry->note)
		return entry->note;
	/* Not "No such file or directory", as the state is already "unavailable". */
	return entry->error && entry->error != ENOENT ? strerror(entry->error) : "";
}

static int add_row(
	struct table *table, const struct row *row, const struct layout *layout, bool json)
{
	const struct entry *entry = row->entries;
	const char *cells[CELLS_MAX], *why = explain_entry(entry);
	_cleanup_free_ char *name = NULL, *cpus = NULL;
	char *shown[VALUES_MAX] = { 0 }, cpu[16];
	size_t n = 0;
	int r = 0;

	if (entry->grouping == FOLDED && asprintf(&name, "%s (%zu)", entry->name, row->n) < 0)
		return -ENOMEM;
	snprintf(cpu, sizeof(cpu), "%d", entry->cpu);
	cells[n++] = entry->grouping == FOLDED ? name : entry->name;
	if (json) {
		cells[n++] = entry->path;
		cells[n++] = entry->cpu >= 0 ? cpu : NULL;
	} else {
		r = format_cpus(row, &cpus);
		cells[n++] = cpus;
	}
	for (size_t i = 0; r == 0 && i < layout->n_values; i++) {
		if (!json)
			r = format_value(entry->kind, entry->values[i], &shown[i]);
		cells[n++] = json ? entry->values[i] : shown[i];
	}
	cells[n++] = entry->word;
	cells[n++] = json && !*why ? NULL : why;
	if (r == 0)
		r = table_add(table, cells);
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		free(shown[i]);
	return r;
}

/* Sorts the entries; the rows, malloc'd, are in the order of their first entries. NULL without
 * memory. */
static struct row *make_rows(struct entry *entries, size_t n, size_t *ret_n)
{
	struct row *rows = calloc(n + 1, sizeof(*rows));
	size_t n_rows = 0;

	if (!rows)
		return NULL;
	qsort(entries, n, sizeof(*entries), compare_entries);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || compare_looks(&entries[i], &entries[i - 1]) != 0)
			rows[n_rows++].entries = &entries[i];
		rows[n_rows - 1].n++;
	}
	qsort(rows, n_rows, sizeof(*rows), compare_rows);
	*ret_n = n_rows;
	return rows;
}

static int show_entries(
	struct entry *entries, size_t n, const struct layout *layout, bool json, FILE *stream)
{
	size_t n_rows = 0;
	_cleanup_free_ struct row *rows = make_rows(entries, n, &n_rows);
	_cleanup_(table) struct table *table = NULL;
	int r;

	if (!rows)
		return -ENOMEM;
	r = table_new("knobs", layout->columns, layout->n_columns, json, stream, &table);
	for (size_t i = 0; r == 0 && i < n_rows; i++)
		r = add_row(table, &rows[i], layout, json);
	return r < 0 ? r : table_print(table);
}

/* --- A plan. --- */

static const struct table_column plan_columns[] = {
	{ "KNOB", TABLE_WRAP },
	{ "CPUS", TABLE_WRAP },
	{ "WANTED", TABLE_WRAP },
	{ "NOW", TABLE_WRAP },
	{ "ORIGINAL", TABLE_WRAP },
	{ "STATE", 0 },
	{ "WHY", TABLE_WRAP },
};

static const struct table_column plan_keys[] = {
	{ "knob", 0 },
	{ "path", 0 },
	{ "cpu", TABLE_NUMBER },
	{ "wanted", 0 },
	{ "now", 0 },
	{ "original", 0 },
	{ "state", 0 },
	{ "why", 0 },
};

/* Whether a knob is not turned, only kept for restore. */
static bool is_only_kept(const struct knob *knob)
{
	return !knob->settled && !knob->wanted;
}

/* What is to be said of a knob besides its state. */
static const char *find_note(const struct knob *knob)
{
	if (knob->note || knob->error)
		return knob->note;
	return knob_went_well(knob) || knob->word == KNOB_NONE ? knob->caveat : NULL;
}

static struct entry make_entry(const struct knob *knob, size_t index, bool json, bool verbose)
{
	bool kept = is_only_kept(knob), apart = json || verbose;
	bool folded = knob->fold && !verbose && (kept || (knob_went_well(knob) && !json));
	struct entry entry = {
		.index = index,
		.grouping = knob->cpu >= 0 && !apart ? ALIKE : ALONE,
		.name = knob->name,
		.path = knob->path,
		.cpu = knob->cpu,
		.cpus = knob->cpus,
		.kind = knob->kind,
		.values = { knob->wanted, knob->now, knob->original },
		.word = json && knob->word == KNOB_NONE ? NULL : knob_word_name(knob->word),
		.note = find_note(knob),
		.error = knob->error,
	};

	if (!folded)
		return entry;
	return (struct entry){
		.index = index,
		.grouping = FOLDED,
		.name = knob->fold,
		.cpu = -1,
		.word = !kept  ? entry.word
			: json ? NULL
			       : knob_word_name(KNOB_NONE),
		.note = kept ? "kept for restore" : knob->note,
		.error = knob->error,
	};
}

int show_plan(const struct knob_plan *plan, bool json, bool verbose, FILE *stream)
{
	const struct layout layout = {
		.columns = json ? plan_keys : plan_columns,
		.n_columns = json ? ARRAY_SIZE(plan_keys) : ARRAY_SIZE(plan_columns),
		.n_values = 3,
	};
	_cleanup_free_ struct entry *entries = calloc(plan->n + 1, sizeof(*entries));
	size_t n = 0;

	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < plan->n; i++) {
		const struct knob *knob = &plan->knobs[i];

		/* The table leaves out knobs that are only kept, unless a row counts them. */
		if (is_only_kept(knob) && !knob->fold && !verbose && !json)
			continue;
		entries[n] = make_entry(knob, i, json, verbose);
		/* JSON has the entries that are counted after all others. */
		if (json && entries[n].grouping == FOLDED)
			entries[n].index += plan->n;
		n++;
	}
	return show_entries(entries, n, &layout, json, stream);
}

/* --- A plan in one line. --- */

/* The parts of the line, in this order; each row belongs to one. */
enum part {
	PART_DONE,
	PART_OPEN,
	PART_REFUSED,
	PART_HOST,
	PART_ABSENT,
	N_PARTS,
};

static enum part find_part(const struct knob *knob)
{
	switch (knob->word) {
	case KNOB_APPLIED:
	case KNOB_ALREADY:
		return PART_DONE;
	case KNOB_DENIED:
		return PART_REFUSED;
	case KNOB_HOST_CONTROLLED:
		return PART_HOST;
	case KNOB_UNAVAILABLE:
		return PART_ABSENT;
	default:
		return PART_OPEN;
	}
}

/* Knobs that differ only in their CPU share an entry, and so do those with the same fold. Knobs
 * that are not as wanted are named, because otherwise nobody would know which ones they are. */
static struct entry make_brief_entry(const struct knob *knob, size_t index)
{
	enum part part = find_part(knob);
	bool folded = knob->fold && part == PART_DONE;
	const char *note = part == PART_DONE ? NULL : knob->note;

	return (struct entry){
		.index = index,
		.grouping = folded ? FOLDED : ALIKE,
		.name = folded ? knob->fold : knob->name,
		.kind = knob->kind,
		.values = { knob->fold ? NULL : knob->wanted },
		.word = part == PART_DONE ? NULL : knob_word_name(knob->word),
		.note = note,
		.error = knob->error,
	};
}

static int append_row(const struct row *row, struct text *line)
{
	const struct entry *entry = row->entries;
	_cleanup_free_ char *value = NULL;
	int r;

	if (entry->grouping == FOLDED) {
		text_appendf(line, "%s (%zu)", entry->name, row->n);
		return 0;
	}
	r = format_value(entry->kind, entry->values[0], &value);
	if (r == 0)
		text_appendf(line, "%s%s%s", entry->name, value ? " " : "", value ? value : "");
	return r;
}

/* Appends the rows of one part; each further part begins with "; ". A reason stands behind the last
 * of the rows in a line that have it. */
static int append_part(const struct knob_plan *plan, const struct row *rows, size_t n_rows,
	enum part part, const char *before, struct text *line)
{
	const char *why = "";
	size_t n = 0;

	for (size_t i = 0; i < n_rows; i++) {
		const struct entry *entry = rows[i].entries;
		const char *next = part == PART_DONE ? "" : explain_entry(entry);
		int r;

		if (find_part(&plan->knobs[entry->index]) != part)
			continue;
		if (n > 0 && strcmp(why, next) != 0 && *why) {
			text_appendf(line, " (%s)", why);
			why = "";
		}
		if (n++ >= BRIEF_NAMES)
			continue;
		if (n == 1)
			text_appendf(line, "%s%s", line->length > 0 ? "; " : "", before);
		else
			text_append(line, ", ");
		r = append_row(&rows[i], line);
		if (r < 0)
			return r;
		why = next;
	}
	text_append_rest(line, n, BRIEF_NAMES);
	if (*why)
		text_appendf(line, " (%s)", why);
	return 0;
}

/* Whether the knob is as wanted, or nobody on this machine can turn it. Interrupts that nobody can
 * move do not count: most machines have some, and isol-check knows whether they occur. */
static bool is_complete(const struct knob *knob)
{
	enum part part = find_part(knob);

	if (is_only_kept(knob) || part == PART_DONE || part == PART_HOST || part == PART_ABSENT)
		return true;
	/* A row that is only for information, such as something that was left on. */
	if (knob->settled && part == PART_OPEN)
		return true;
	return part == PART_REFUSED && text_starts_with(knob->path, "/proc/irq/");
}

int show_brief(const struct knob_plan *plan, const char *headline, FILE *stream,
	enum exit_status *ret_status)
{
	static const char *const before[N_PARTS] = {
		[PART_DONE] = "",
		[PART_OPEN] = "not as wanted: ",
		[PART_REFUSED] = "stays as it is: ",
		[PART_HOST] = "not possible here: ",
		[PART_ABSENT] = "not here: ",
	};
	_cleanup_free_ struct entry *entries = calloc(plan->n + 1, sizeof(*entries));
	_cleanup_free_ struct row *rows = NULL;
	_cleanup_text_ struct text line = { 0 };
	const char *told = "nothing to do"; /* printed when no row has anything else to say */
	size_t n = 0, n_rows = 0, n_seen = 0;
	bool complete = true, hosted = false, any = false;
	int r = 0;

	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < plan->n; i++) {
		const struct knob *knob = &plan->knobs[i];

		hosted = hosted || find_part(knob) == PART_HOST;
		complete = complete && is_complete(knob);
		if (knob->settled && find_part(knob) == PART_OPEN) {
			told = knob->note ? knob->note : told;
			continue;
		}
		if (is_only_kept(knob))
			continue;
		any = true;
		n_seen += find_part(knob) != PART_ABSENT;
		/* The headline replaces the names of all knobs that are done, except for those that
		 * are counted. */
		if (!headline || knob->fold || find_part(knob) != PART_DONE)
			entries[n++] = make_brief_entry(knob, i);
	}
	rows = make_rows(entries, n, &n_rows);
	if (!rows)
		return -ENOMEM;
	if (headline)
		text_append(&line, headline);
	/* Missing knobs are mentioned only where the machine has none of the knobs. */
	for (unsigned part = 0; r == 0 && part < (n_seen > 0 ? PART_ABSENT : N_PARTS); part++)
		r = append_part(plan, rows, n_rows, part, before[part], &line);
	if (r < 0 || line.failed)
		return r < 0 ? r : -ENOMEM;
	print(stream, "%s\n", line.length > 0 ? line.data : told);
	*ret_status = !complete || !any ? EXIT_FINDING : hosted ? EXIT_HOSTED : EXIT_DONE;
	return 0;
}

/* --- The results of restoring. --- */

static const struct table_column restored_columns[] = {
	{ "KNOB", TABLE_WRAP },
	{ "CPUS", TABLE_WRAP },
	{ "ORIGINAL", TABLE_WRAP },
	{ "NOW", TABLE_WRAP },
	{ "RESULT", 0 },
};

static const struct table_column restored_keys[] = {
	{ "knob", 0 },
	{ "path", 0 },
	{ "cpu", TABLE_NUMBER },
	{ "original", 0 },
	{ "now", 0 },
	{ "result", 0 },
};

int show_restored(const struct restore_rows *restored, bool json, FILE *stream)
{
	const struct layout layout = {
		.columns = json ? restored_keys : restored_columns,
		.n_columns = json ? ARRAY_SIZE(restored_keys) : ARRAY_SIZE(restored_columns),
		.n_values = 2,
	};
	_cleanup_free_ struct entry *entries = calloc(restored->n + 1, sizeof(*entries));
	_cleanup_free_ struct cpumask **cpus = calloc(restored->n + 1, sizeof(*cpus));
	int r = entries && cpus ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < restored->n; i++) {
		const struct restore_row *row = &restored->items[i];
		int cpu = -1;

		r = knob_find_cpus(row->path, &cpu, &cpus[i]);
		entries[i] = (struct entry){
			.index = i,
			.grouping = cpu >= 0 && !json ? ALIKE : ALONE,
			.name = row->name,
			.path = row->path,
			.cpu = cpu,
			.cpus = cpus[i],
			.kind = row->kind,
			.values = { row->original, row->now },
			.word = restore_word_name(row->word),
		};
	}
	if (r == 0)
		r = show_entries(entries, restored->n, &layout, json, stream);
	for (size_t i = 0; cpus && i < restored->n; i++)
		cpumask_free(cpus[i]);
	return r;
}
