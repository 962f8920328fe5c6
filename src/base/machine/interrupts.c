// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/machine/cputable.h"
#include "base/machine/interrupts.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"

enum {
	/* Longer names (dozens of handlers on one line) are truncated: they are for people. */
	NAME_MAX_LENGTH = 120,
};

/* A line that has been seen. Lines are never forgotten, so that their numbers stay valid. */
struct line {
	char *label; /* without the colon; `tail` follows it in the same allocation */
	size_t label_length;
	char *tail; /* the text after the columns, as the kernel wrote it */
	size_t tail_length;
	char *name;
	enum interrupt_class class;
	bool numbered; /* the label is a number, which alone identifies the line */
	bool per_cpu;  /* has a column for each CPU */
	bool counted;  /* false for rows that interrupts_diff() leaves out */
	bool fixed;    /* the columns are CPUTABLE_WIDTH wide */
};

struct count {
	uint32_t value;
	bool present;
};

struct interrupts {
	struct cpumask *mask;
	struct cputable table;

	struct line *lines;
	size_t n_lines;
	size_t capacity; /* of lines and of both readings */
	/* A hash table with open addressing: number of the line + 1, 0 for a free slot. It has
	 * twice `capacity` slots, a power of two. */
	uint32_t *slots;

	/* The number of the line in each row of the last reading. */
	uint32_t *rows;
	size_t n_rows;
	size_t rows_capacity;

	/* Indexed by the number of the line. */
	struct count *current;
	struct count *previous;
	unsigned n_readings; /* comparable readings in `current` and `previous`: 0, 1, 2 */
};

/* --- Names and classes of rows. */

/* The actions: the last part of a tail after two blanks (kernel/irq/proc.c), or the whole tail when
 * there are no two blanks. Outer blanks are dropped. */
static void find_action(const char *tail, size_t length, const char **ret, size_t *ret_length)
{
	size_t start = 0;

	while (length > 0 && parse_is_blank(tail[length - 1]))
		length--;
	for (size_t i = length; i >= 2; i--) {
		if (tail[i - 1] == ' ' && tail[i - 2] == ' ') {
			start = i;
			break;
		}
	}
	while (start < length && parse_is_blank(tail[start]))
		start++;
	*ret = tail + start;
	*ret_length = length - start;
}

static bool ends_with(const char *text, size_t length, const char *end)
{
	size_t n = strlen(end);

	return length >= n && memcmp(text + length - n, end, n) == 0;
}

static bool starts_with(const char *text, size_t length, const char *start)
{
	size_t n = strlen(start);

	return length >= n && memcmp(text, start, n) == 0;
}

static bool equals(const char *text, size_t length, const char *other)
{
	return length == strlen(other) && memcmp(text, other, length) == 0;
}

/* Names under which clock event devices register their interrupt, besides those that end in
 * "timer": drivers/clocksource/, arch/x86/kernel/hpet.c, arch/arm/kernel/smp_twd.c. */
static bool is_timer_action(const char *action, size_t length)
{
	/* "hpet3", "mct_tick0", "mct_comp_irq" */
	return ends_with(action, length, "timer") || equals(action, length, "twd") ||
		starts_with(action, length, "hpet") || starts_with(action, length, "mct_");
}

static enum interrupt_class classify(
	const char *label, size_t label_length, const char *action, size_t action_length)
{
	static const struct {
		const char *label;
		enum interrupt_class class;
	} labels[] = {
		{ "LOC", INTERRUPT_TIMER },
		{ "BCT", INTERRUPT_TIMER },
		{ "HVS", INTERRUPT_TIMER },
		{ "RES", INTERRUPT_IPI },
		{ "CAL", INTERRUPT_IPI },
		{ "TLB", INTERRUPT_IPI },
		{ "DBL", INTERRUPT_IPI },
		{ "TRM", INTERRUPT_THERMAL },
		{ "TAU", INTERRUPT_THERMAL },
	};
	/* s390 has one row per kind. Other [I/O] and [AIO] rows are devices; the remaining rows,
	 * such as the CPU-measurement facilities, are INTERRUPT_OTHER. */
	static const struct {
		const char *action;
		enum interrupt_class class;
	} s390[] = {
		{ "[EXT] Clock Comparator", INTERRUPT_TIMER },
		{ "[EXT] CPU Timer", INTERRUPT_TIMER },
		{ "[EXT] External Call", INTERRUPT_IPI },
		{ "[EXT] Emergency Signal", INTERRUPT_IPI },
		{ "[EXT] DASD Diag", INTERRUPT_DEVICE },
		{ "[EXT] Virtio", INTERRUPT_DEVICE },
		{ "[EXT] Service Call", INTERRUPT_DEVICE },
		{ "[EXT] IUCV", INTERRUPT_DEVICE },
		{ "[EXT] HMC FTP Service", INTERRUPT_DEVICE },
	};

	if (parse_is_digit(label[0])) {
		if (is_timer_action(action, action_length))
			return INTERRUPT_TIMER;
		/* powerpc: "16: ... XICS 2 Edge IPI", XIVE has "IPI-0" for node 0. */
		if (equals(action, action_length, "IPI") ||
			starts_with(action, action_length, "IPI-"))
			return INTERRUPT_IPI;
		return INTERRUPT_DEVICE;
	}
	for (size_t i = 0; i < ARRAY_SIZE(labels); i++)
		if (equals(label, label_length, labels[i].label))
			return labels[i].class;
	if (label_length > 3 && memcmp(label, "IPI", 3) == 0 && parse_is_digit(label[3]))
		return INTERRUPT_IPI;
	for (size_t i = 0; i < ARRAY_SIZE(s390); i++)
		if (equals(action, action_length, s390[i].action))
			return s390[i].class;
	if (starts_with(action, action_length, "[I/O]") ||
		starts_with(action, action_length, "[AIO]"))
		return INTERRUPT_DEVICE;
	return INTERRUPT_OTHER;
}

enum interrupt_class interrupts_classify(
	const char *label, size_t label_length, const char *tail, size_t tail_length)
{
	const char *action;
	size_t action_length;

	find_action(tail, tail_length, &action, &action_length);
	return classify(label, label_length, action, action_length);
}

/* s390's rows that are sums of the rows below them; these have no text after the columns. */
static bool is_sum(const char *label, size_t label_length, size_t action_length)
{
	return action_length == 0 &&
		(equals(label, label_length, "EXT") || equals(label, label_length, "I/O") ||
			equals(label, label_length, "AIO"));
}

static char *make_name(
	const char *label, size_t label_length, const char *action, size_t action_length)
{
	_cleanup_text_ struct text name = { 0 };

	text_append_n(&name, label, MIN(label_length, (size_t)NAME_MAX_LENGTH));
	if (action_length > 0) {
		text_append(&name, ": ");
		text_append_n(&name, action, MIN(action_length, (size_t)NAME_MAX_LENGTH));
	}
	return text_steal(&name);
}

/* --- The lines that have been seen. */

static size_t row_tail_length(const struct cputable_row *row)
{
	return row->tail ? (size_t)(row->end - row->tail) : 0;
}

/* A numbered line is identified by its number. The other lines are identified by label and text:
 * powerpc has two rows called LOC. */
static uint32_t hash_line(
	const char *label, size_t label_length, const char *tail, size_t tail_length)
{
	uint64_t hash = hash_bytes(HASH_START, label, label_length);

	return parse_is_digit(label[0]) ? hash : hash_bytes(hash, tail, tail_length);
}

static bool line_has_label(const struct line *line, const struct cputable_row *row)
{
	return line->label_length == row->label_length &&
		memcmp(line->label, row->label, row->label_length) == 0;
}

static bool line_has_tail(const struct line *line, const struct cputable_row *row)
{
	if (line->per_cpu != (row->tail != NULL))
		return false;
	return !row->tail ||
		(line->tail_length == row_tail_length(row) &&
			memcmp(line->tail, row->tail, line->tail_length) == 0);
}

/* The slot of the row's line, or the free slot for it. The slot of a number holds the latest line
 * with this number, which has replaced the former line. */
static size_t find_slot(const struct interrupts *in, const struct cputable_row *row)
{
	size_t mask = in->capacity * 2 - 1;
	size_t slot;

	slot = hash_line(row->label, row->label_length, row->tail, row_tail_length(row)) & mask;
	for (; in->slots[slot] != 0; slot = (slot + 1) & mask) {
		const struct line *line = &in->lines[in->slots[slot] - 1];

		if (line_has_label(line, row) && (line->numbered || line_has_tail(line, row)))
			break;
	}
	return slot;
}

/* realloc() for arrays, the new part zeroed. */
static bool grow(void *array, size_t old, size_t new, size_t size)
{
	char **data = array;
	char *grown = reallocarray(*data, new, size);

	if (!grown)
		return false;
	memset(grown + old * size, 0, (new - old) * size);
	*data = grown;
	return true;
}

static int grow_lines(struct interrupts *in)
{
	size_t capacity = in->capacity > 0 ? in->capacity * 2 : 64;
	uint32_t *slots;

	if (!grow(&in->lines, in->capacity, capacity, sizeof(*in->lines)) ||
		!grow(&in->current, in->capacity, capacity, sizeof(*in->current)) ||
		!grow(&in->previous, in->capacity, capacity, sizeof(*in->previous)))
		return -ENOMEM;
	slots = calloc(capacity * 2, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(in->slots);
	in->slots = slots;
	in->capacity = capacity;
	/* If two lines have the same label, the later one replaces the earlier one in the table. */
	for (size_t i = 0; i < in->n_lines; i++) {
		struct line *line = &in->lines[i];
		struct cputable_row row = { .label = line->label,
			.label_length = line->label_length,
			.tail = line->per_cpu ? line->tail : NULL,
			.end = line->tail + line->tail_length };
		size_t slot = find_slot(in, &row);

		in->slots[slot] = (uint32_t)i + 1;
	}
	return 0;
}

/* Adds a line for a new row, or for a row whose text has changed. */
static int add_line(struct interrupts *in, const struct cputable_row *row, uint32_t *ret)
{
	size_t tail_length = row_tail_length(row), action_length = 0;
	const char *action = "";
	struct line line;
	size_t slot;

	if (in->n_lines == in->capacity) {
		int r = grow_lines(in);

		if (r < 0)
			return r;
	}
	if (row->tail)
		find_action(row->tail, tail_length, &action, &action_length);
	line = (struct line){
		.label = malloc(row->label_length + tail_length + 1),
		.label_length = row->label_length,
		.tail_length = tail_length,
		.name = make_name(row->label, row->label_length, action, action_length),
		.class = classify(row->label, row->label_length, action, action_length),
		.numbered = parse_is_digit(row->label[0]),
		.per_cpu = row->tail != NULL,
		.counted = row->tail && !is_sum(row->label, row->label_length, action_length),
		.fixed = row->fixed,
	};
	if (!line.label || !line.name) {
		free(line.label);
		free(line.name);
		return -ENOMEM;
	}
	memcpy(line.label, row->label, row->label_length);
	line.tail = line.label + row->label_length;
	if (row->tail)
		memcpy(line.tail, row->tail, tail_length);
	*ret = (uint32_t)in->n_lines;
	slot = find_slot(in, row);
	/* The same interrupt with a new text: its earlier counts must not count as new. */
	if (in->slots[slot] != 0)
		in->previous[*ret] = in->previous[in->slots[slot] - 1];
	in->slots[slot] = *ret + 1;
	in->lines[in->n_lines++] = line;
	return 0;
}

/* --- Reading. */

/* Whether the row is unchanged from `line`; sums the columns of the row as well. */
static bool match_row(
	const struct interrupts *in, const struct line *line, struct cputable_row *row)
{
	if (!line_has_label(line, row))
		return false;
	if (!line->fixed || !cputable_sum_fixed(&in->table, row))
		(void)cputable_sum(&in->table, row);
	return line_has_tail(line, row);
}

static int read_row(struct interrupts *in, struct cputable_row *row, size_t position)
{
	uint32_t number;
	size_t slot;
	int r;

	if (position < in->n_rows) {
		number = in->rows[position];
		if (match_row(in, &in->lines[number], row))
			goto found;
	}

	(void)cputable_sum(&in->table, row);
	if (in->capacity == 0) {
		r = grow_lines(in);
		if (r < 0)
			return r;
	}
	slot = find_slot(in, row);
	if (in->slots[slot] != 0 && line_has_tail(&in->lines[in->slots[slot] - 1], row)) {
		number = in->slots[slot] - 1;
	} else {
		r = add_line(in, row, &number);
		if (r < 0)
			return r;
	}
	if (position == in->rows_capacity) {
		size_t capacity = in->capacity + position;

		if (!grow(&in->rows, position, capacity, sizeof(*in->rows)))
			return -ENOMEM;
		in->rows_capacity = capacity;
	}
	in->rows[position] = number;
found:
	if (in->lines[number].counted)
		in->current[number] = (struct count){ .value = row->value, .present = true };
	return 0;
}

int interrupts_new(const struct cpumask *mask, struct interrupts **ret)
{
	_cleanup_(interrupts) struct interrupts *in = NULL;
	int r;

	in = calloc(1, sizeof(*in));
	if (!in)
		return -ENOMEM;
	r = cpumask_copy(mask, &in->mask);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(in);
	return 0;
}

void interrupts_free(struct interrupts *in)
{
	if (!in)
		return;
	for (size_t i = 0; i < in->n_lines; i++) {
		free(in->lines[i].label);
		free(in->lines[i].name);
	}
	free(in->lines);
	free(in->slots);
	free(in->rows);
	free(in->current);
	free(in->previous);
	cputable_clear(&in->table);
	cpumask_free(in->mask);
	free(in);
}

int interrupts_read_text(struct interrupts *in, const char *text, size_t length)
{
	const char *at = text, *end = text + length;
	struct cputable_row row;
	struct count *oldest;
	size_t position = 0;
	int changed;

	changed = cputable_take_header(&in->table, in->mask, &at, end);
	if (changed < 0)
		return changed;
	/* The sums are now over other CPUs than before. */
	if (changed > 0)
		in->n_readings = 0;
	if (in->table.n_wanted == 0)
		return -ENODEV;

	oldest = in->previous;
	in->previous = in->current;
	in->current = oldest;
	if (in->capacity > 0)
		memset(in->current, 0, in->capacity * sizeof(*in->current));

	while (cputable_next_row(&at, end, &row)) {
		int r = read_row(in, &row, position++);

		if (r < 0) {
			in->n_readings = 0;
			return r;
		}
	}
	in->n_rows = position;
	if (in->n_readings < 2)
		in->n_readings++;
	return 0;
}

int interrupts_repeat(struct interrupts *in)
{
	if (in->n_readings == 0)
		return -ENODATA;
	memcpy(in->previous, in->current, in->n_lines * sizeof(*in->current));
	in->n_readings = 2;
	return 0;
}

/* What each CPU of the table has taken since boot, without timers: an array of table->n_wanted.
 * Returns whether the CPUs that have columns are not those of the text before, or a negative
 * errno. */
static int sum_per_cpu(
	struct cputable *table, const struct cpumask *mask, const char *text, uint32_t **ret)
{
	_cleanup_free_ uint32_t *sums = NULL;
	const char *at = text, *end = text + strlen(text);
	struct cputable_row row;
	int changed;

	changed = cputable_take_header(table, mask, &at, end);
	if (changed < 0)
		return changed;
	if (table->n_wanted == 0)
		return -ENODEV;
	sums = calloc(table->n_wanted, sizeof(*sums));
	if (!sums)
		return -ENOMEM;
	while (cputable_next_row(&at, end, &row)) {
		const char *action;
		size_t length;

		if (!cputable_sum(table, &row))
			continue;
		find_action(row.tail, row_tail_length(&row), &action, &length);
		if (!is_sum(row.label, row.label_length, length) &&
			classify(row.label, row.label_length, action, length) != INTERRUPT_TIMER)
			cputable_add(table, &row, sums);
	}
	*ret = TAKE_PTR(sums);
	return changed;
}

static int compare_per_cpu(struct cputable *table, const struct cpumask *mask, const char *before,
	const char *after, int *ret_cpu)
{
	_cleanup_free_ uint32_t *first = NULL, *second = NULL;
	uint32_t most = 0;
	size_t found = 0;
	int r;

	r = sum_per_cpu(table, mask, before, &first);
	if (r >= 0)
		r = sum_per_cpu(table, mask, after, &second);
	if (r != 0)
		return r < 0 ? r : -ESTALE;
	for (size_t i = 0; i < table->n_wanted; i++) {
		uint32_t delta = second[i] - first[i];

		/* Less than before: a line was removed. */
		if (delta < UINT32_MAX / 2 && delta > most) {
			most = delta;
			found = i;
		}
	}
	*ret_cpu = table->cpus[found];
	return 0;
}

int interrupts_find_busiest(
	const struct cpumask *mask, const char *before, const char *after, int *ret_cpu)
{
	struct cputable table = { 0 };
	int r = compare_per_cpu(&table, mask, before, after, ret_cpu);

	cputable_clear(&table);
	return r;
}

bool interrupts_have_total(void)
{
#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)
	return true;
#else
	return false;
#endif
}

bool interrupts_comparable(const struct interrupts *in)
{
	return in->n_readings == 2;
}

bool interrupts_diff(const struct interrupts *in, size_t *cursor, struct interrupt_delta *ret)
{
	if (!interrupts_comparable(in))
		return false;
	for (size_t i = *cursor; i < in->n_lines; i++) {
		uint32_t before, delta;

		if (!in->current[i].present)
			continue;
		before = in->previous[i].present ? in->previous[i].value : 0;
		delta = in->current[i].value - before;
		if (delta >= UINT32_MAX / 2 + 1)
			delta = in->current[i].value;
		if (delta == 0)
			continue;
		*cursor = i + 1;
		*ret = (struct interrupt_delta){ .line = (uint32_t)i,
			.name = in->lines[i].name,
			.class = in->lines[i].class,
			.delta = delta };
		return true;
	}
	*cursor = in->n_lines;
	return false;
}
