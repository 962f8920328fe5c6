// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "library/digits.h"
#include "library/ring.h"
#include "library/values.h"

static const char magic[] = "quiesce-values 1";

enum {
	SEALS = F_SEAL_GROW | F_SEAL_SHRINK,
	MAX_LINE = 320,
	ADDS_PER = 10000,
	MAX_ADDS = 16 * ADDS_PER,
	MAX_KHZ = 100 * 1000 * 1000,
	SHARES_PER = 10000,
};

/* So that the sum over any number of values is finite. */
static const double MAX_FIGURE = 1e300;

/* The length of the UTF-8 sequence at p, 0 where it is invalid (RFC 3629: no surrogates, no
 * overlong forms, nothing above U+10FFFF). */
static size_t utf8_length(const unsigned char *p)
{
	size_t n;

	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	n = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
		(p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

int values_is_name(const char *name)
{
	size_t length = name ? strnlen(name, VALUES_MAX_NAME + 1) : 0, n;

	if (length == 0 || length > VALUES_MAX_NAME)
		return 0;
	for (size_t i = 0; i < length; i += n) {
		const unsigned char *p = (const unsigned char *)name + i;

		n = utf8_length(p);
		/* C1 control characters have two bytes. */
		if (n == 0 || p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0))
			return 0;
	}
	/* Blanks at the ends would be invisible. */
	return name[0] != ' ' && name[length - 1] != ' ';
}

int values_is_figure(const char *name, enum qs_figure_kind kind, double value)
{
	return values_is_name(name) && strlen(name) < sizeof(((struct qs_figure *)NULL)->name) &&
		(kind == QS_FIGURE_PLAIN || kind == QS_FIGURE_AMOUNT) && fabs(value) <= MAX_FIGURE;
}

static int is_valid(const struct qs_values *values)
{
	if (!values_is_name(values->name) || values->n_values == 0 || values->inner_loops == 0 ||
		values->facts.n_counters > QS_MAX_COUNTERS)
		return 0;
	for (size_t i = 0; i < values->n_values; i++) {
		const struct qs_value *value = &values->values[i];

		if (value->loops == 0 || value->loops > VALUES_MAX_LOOPS || value->picoseconds == 0)
			return 0;
	}
	return 1;
}

static void write_reading(FILE *stream, int64_t number)
{
	if (number < 0)
		fputs(" -", stream);
	else
		fprintf(stream, " %" PRId64, number);
}

static void write_value(FILE *stream, const struct qs_values *values, const struct qs_value *value)
{
	static const char kinds[] = { 'c', 'w', 'v' };
	uint64_t adds, khz;

	fprintf(stream, "%c %" PRIu64 " %" PRIu64, kinds[value->kind], value->loops,
		value->picoseconds);
	if (value->kind == QS_VALUE_COUNTED) {
		fprintf(stream, " %" PRIu32 " %" PRIu32, value->cpu_begin, value->cpu_end);
		for (size_t i = 0; i < values->facts.n_counters; i++)
			fprintf(stream, " %" PRIu64, value->counts[i]);
	}
	fputc('\n', stream);
	if (value->regions > 1 || value->waiting >= 0) {
		fprintf(stream, "p %" PRIu64, value->regions);
		write_reading(stream,
			value->waiting < 0 ? -1 : (int64_t)(value->waiting * SHARES_PER + 0.5));
		fputc('\n', stream);
	}
	if (value->interrupts >= 0 || value->frequency_khz >= 0 || value->temperature_mc >= 0) {
		fputc('r', stream);
		write_reading(stream, value->interrupts);
		write_reading(stream, value->frequency_khz);
		write_reading(stream, value->temperature_mc);
		fputc('\n', stream);
	}
	adds = (uint64_t)(value->core_adds * ADDS_PER + 0.5);
	khz = (uint64_t)(value->core_hertz / 1000 + 0.5);
	if (adds > 0 && adds <= MAX_ADDS && khz > 0 && khz <= MAX_KHZ)
		fprintf(stream, "k %" PRIu64 " %" PRIu64 "\n", adds, khz);
}

static uint64_t picoseconds(const struct qs_facts *facts, double ticks)
{
	double ps = ticks / facts->ticks_per_second * 1e12;

	return ps > 0 && ps < 1e18 ? (uint64_t)(ps + 0.5) : 0;
}

/* The block as text, malloc'd. -EINVAL for values that a reader would not accept, -ENOMEM. */
static int format_values(const struct qs_values *values, char **ret, size_t *ret_size)
{
	const struct qs_facts *facts = &values->facts;
	char *text = NULL;
	size_t size = 0;
	FILE *stream;
	int failed;

	if (!is_valid(values))
		return -EINVAL;
	stream = open_memstream(&text, &size);
	if (!stream)
		return -ENOMEM;
	fprintf(stream, "%s\nname %s\nclock %s\n", magic, values->name, facts->clock_name);
	fprintf(stream, "empty %" PRIu64 "\nresolution %" PRIu64 "\n",
		picoseconds(facts, facts->empty_mean_ticks),
		picoseconds(facts, (double)facts->resolution_ticks));
	fprintf(stream, "inner %" PRIu32 "\n", values->inner_loops);
	for (size_t i = 0; i < facts->n_counters; i++)
		fprintf(stream, "counter %d %s\n", facts->counters[i].error,
			facts->counters[i].name);
	for (size_t i = 0; i < facts->n_counters; i++)
		if (facts->counters[i].shared)
			fprintf(stream, "shared %zu\n", i);
	if (facts->clock_changed)
		fputs("changed 1\n", stream);
	for (size_t i = 0; i < values->n_values; i++)
		write_value(stream, values, &values->values[i]);
	for (size_t i = 0; i < values->n_figures; i++) {
		uint64_t bits;

		memcpy(&bits, &values->figures[i].value, sizeof(bits));
		fprintf(stream, "f %d %" PRIu64 " %s\n", (int)values->figures[i].kind, bits,
			values->figures[i].name);
	}
	fprintf(stream, "end %zu\n", values->n_values);
	failed = ferror(stream);
	/* When glibc cannot allocate the whole text, it reports this only by a NULL text
	 * (libio/memstream.c). */
	if (fclose(stream) != 0 || failed || !text) {
		free(text);
		return -ENOMEM;
	}
	*ret = text;
	*ret_size = size;
	return 0;
}

/* --- The reader. --- */

struct reader {
	const char *text;
	size_t size;
	size_t offset;
	size_t line;
	char current[MAX_LINE];
};

/* Copies the next line into reader->current. 0 where there is none, or an invalid one. */
static int next_line(struct reader *reader)
{
	const char *begin = reader->text + reader->offset;
	size_t rest = reader->size - reader->offset;
	const char *end = memchr(begin, '\n', rest < MAX_LINE ? rest : MAX_LINE);

	reader->line++;
	if (!end || memchr(begin, '\0', (size_t)(end - begin)))
		return 0;
	memcpy(reader->current, begin, (size_t)(end - begin));
	reader->current[end - begin] = '\0';
	reader->offset += (size_t)(end - begin) + 1;
	return 1;
}

/* The text after "word " in the line; NULL where the line does not begin with the word. */
static const char *after_word(const struct reader *reader, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(reader->current, word, length) != 0 || reader->current[length] != ' ')
		return NULL;
	return reader->current + length + 1;
}

/* Parses exactly n numbers, separated by single blanks. */
static int read_numbers(const char *text, size_t n, uint64_t max, uint64_t *ret)
{
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && *text++ != ' ')
			return 0;
		if (digits_read(&text, 10, max, &ret[i]) < 0)
			return 0;
	}
	return *text == '\0';
}

static int read_number_line(struct reader *reader, const char *word, uint64_t max, uint64_t *ret)
{
	const char *rest;

	if (!next_line(reader))
		return 0;
	rest = after_word(reader, word);
	return rest && read_numbers(rest, 1, max, ret);
}

static int read_clock(struct reader *reader, struct qs_facts *facts)
{
	const char *name;

	if (!next_line(reader))
		return 0;
	name = after_word(reader, "clock");
	for (int kind = 0; name && kind <= QS_CLOCK_MONOTONIC; kind++) {
		if (strcmp(name, clock_name((enum qs_clock)kind)) == 0) {
			facts->clock = (enum qs_clock)kind;
			facts->clock_name = clock_name((enum qs_clock)kind);
			return 1;
		}
	}
	return 0;
}

static int read_head(struct reader *reader, struct qs_values *values)
{
	uint64_t inner;
	const char *name;

	if (!next_line(reader) || strcmp(reader->current, magic) != 0 || !next_line(reader))
		return 0;
	name = after_word(reader, "name");
	if (!name || !values_is_name(name))
		return 0;
	values->name = strdup(name);
	if (!values->name)
		return 0;
	if (!read_clock(reader, &values->facts) ||
		!read_number_line(reader, "empty", INT64_MAX, &values->facts.empty_median_ticks) ||
		!read_number_line(
			reader, "resolution", INT64_MAX, &values->facts.resolution_ticks) ||
		!read_number_line(reader, "inner", UINT32_MAX, &inner) || inner == 0)
		return 0;
	/* The ticks of a parsed block are picoseconds. */
	values->facts.empty_mean_ticks = (double)values->facts.empty_median_ticks;
	values->facts.ticks_per_second = 1e12;
	values->inner_loops = (uint32_t)inner;
	return 1;
}

/* Parses "counter 0 NAME" in reader->current. */
static int read_counter(const struct reader *reader, struct qs_values *values)
{
	const char *rest = after_word(reader, "counter");
	size_t i = values->facts.n_counters;
	uint64_t error, config;
	uint32_t type;

	if (!rest || i == QS_MAX_COUNTERS || values->n_values > 0)
		return 0;
	if (digits_read(&rest, 10, 4095, &error) < 0 || *rest++ != ' ' ||
		strlen(rest) >= sizeof(values->counter_names[i]) ||
		counter_parse(rest, &type, &config) < 0)
		return 0;
	memcpy(values->counter_names[i], rest, strlen(rest) + 1);
	values->facts.counters[i].name = values->counter_names[i];
	values->facts.counters[i].error = (int)error;
	values->facts.n_counters++;
	return 1;
}

/* Parses "shared 0" in reader->current. */
static int read_shared(const struct reader *reader, struct qs_facts *facts)
{
	uint64_t i;

	if (!read_numbers(after_word(reader, "shared"), 1, INT32_MAX, &i) || i >= facts->n_counters)
		return 0;
	facts->counters[i].shared = 1;
	return 1;
}

static int read_value(const struct reader *reader, struct qs_values *values, size_t *room)
{
	uint64_t numbers[4 + QS_MAX_COUNTERS];
	struct qs_value value = {
		.interrupts = -1,
		.frequency_khz = -1,
		.temperature_mc = -1,
		.regions = 1,
		.waiting = -1,
		.cpu_begin = QS_CPU_UNKNOWN,
		.cpu_end = QS_CPU_UNKNOWN,
	};
	size_t n = 2;

	if (reader->current[0] == 'c')
		value.kind = QS_VALUE_CALIBRATION;
	else if (reader->current[0] == 'w')
		value.kind = QS_VALUE_WARMUP;
	else
		value.kind = QS_VALUE_COUNTED;
	if (value.kind == QS_VALUE_COUNTED)
		n += 2 + values->facts.n_counters;
	if (!read_numbers(reader->current + 2, n, INT64_MAX, numbers) || numbers[0] == 0 ||
		numbers[0] > VALUES_MAX_LOOPS || numbers[1] == 0)
		return 0;
	value.loops = numbers[0];
	value.picoseconds = numbers[1];
	if (value.kind == QS_VALUE_COUNTED) {
		if (numbers[2] > QS_CPU_UNKNOWN || numbers[3] > QS_CPU_UNKNOWN)
			return 0;
		value.cpu_begin = (uint32_t)numbers[2];
		value.cpu_end = (uint32_t)numbers[3];
		memcpy(value.counts, numbers + 4,
			values->facts.n_counters * sizeof(value.counts[0]));
	}
	if (values->n_values == *room) {
		size_t more = *room ? 2 * *room : 16;
		struct qs_value *list = reallocarray(values->values, more, sizeof(value));

		if (!list)
			return 0;
		values->values = list;
		*room = more;
	}
	values->values[values->n_values++] = value;
	values->loops = value.loops;
	return 1;
}

static int read_readings(const struct reader *reader, struct qs_values *values)
{
	struct qs_value *value;
	int64_t *to[3];
	const char *p = reader->current + 1;

	if (values->n_values == 0)
		return 0;
	value = &values->values[values->n_values - 1];
	to[0] = &value->interrupts;
	to[1] = &value->frequency_khz;
	to[2] = &value->temperature_mc;
	for (size_t i = 0; i < 3; i++) {
		uint64_t number;

		if (*p++ != ' ')
			return 0;
		if (*p == '-') {
			p++;
			continue;
		}
		if (digits_read(&p, 10, INT64_MAX, &number) < 0)
			return 0;
		*to[i] = (int64_t)number;
	}
	return *p == '\0';
}

static int read_figure(const struct reader *reader, struct qs_values *values)
{
	struct qs_figure figure;
	const char *p = reader->current + 2;
	uint64_t kind, bits;

	if (values->n_figures == QS_MAX_FIGURES ||
		digits_read(&p, 10, QS_FIGURE_AMOUNT, &kind) < 0 || *p++ != ' ' ||
		digits_read(&p, 10, UINT64_MAX, &bits) < 0 || *p++ != ' ')
		return 0;
	figure.kind = (enum qs_figure_kind)kind;
	memcpy(&figure.value, &bits, sizeof(bits));
	if (!values_is_figure(p, figure.kind, figure.value))
		return 0;
	memcpy(figure.name, p, strlen(p) + 1);
	values->figures[values->n_figures++] = figure;
	return 1;
}

static int read_regions(const struct reader *reader, struct qs_values *values)
{
	const char *p = reader->current + 2;
	struct qs_value *value;
	uint64_t regions, share;

	if (values->n_values == 0 || digits_read(&p, 10, INT64_MAX, &regions) < 0 || regions == 0 ||
		*p++ != ' ')
		return 0;
	value = &values->values[values->n_values - 1];
	value->regions = regions;
	if (strcmp(p, "-") == 0)
		return 1;
	if (!read_numbers(p, 1, SHARES_PER, &share))
		return 0;
	value->waiting = (double)share / SHARES_PER;
	return 1;
}

static int read_core(const struct reader *reader, struct qs_values *values)
{
	uint64_t numbers[2];
	struct qs_value *value;

	if (values->n_values == 0 || !read_numbers(reader->current + 2, 2, MAX_KHZ, numbers) ||
		numbers[0] == 0 || numbers[0] > MAX_ADDS || numbers[1] == 0)
		return 0;
	value = &values->values[values->n_values - 1];
	value->core_adds = (double)numbers[0] / ADDS_PER;
	value->core_hertz = (double)numbers[1] * 1000;
	return 1;
}

static int read_block(struct reader *reader, struct qs_values *values)
{
	uint64_t n;
	size_t room = 0;

	if (!read_head(reader, values))
		return 0;
	for (;;) {
		const char *rest;

		if (!next_line(reader))
			return 0;
		if (after_word(reader, "c") || after_word(reader, "w") || after_word(reader, "v")) {
			if (!read_value(reader, values, &room))
				return 0;
		} else if (after_word(reader, "p")) {
			if (!read_regions(reader, values))
				return 0;
		} else if (after_word(reader, "f")) {
			if (!read_figure(reader, values))
				return 0;
		} else if (after_word(reader, "r")) {
			if (!read_readings(reader, values))
				return 0;
		} else if (after_word(reader, "k")) {
			if (!read_core(reader, values))
				return 0;
		} else if (after_word(reader, "shared")) {
			if (!read_shared(reader, &values->facts))
				return 0;
		} else if (strcmp(reader->current, "changed 1") == 0) {
			values->facts.clock_changed = 1;
		} else if ((rest = after_word(reader, "end"))) {
			return read_numbers(rest, 1, INT64_MAX, &n) && n > 0 &&
				n == values->n_values;
		} else if (!read_counter(reader, values)) {
			return 0;
		}
	}
}

int values_parse(
	const char *text, size_t size, size_t *offset, struct qs_values **ret, size_t *ret_line)
{
	struct reader reader = { .text = text, .size = size, .offset = *offset };
	struct qs_values *values;

	if (*offset >= size || text[*offset] == '\0')
		return 1;
	values = calloc(1, sizeof(*values));
	if (!values)
		return -ENOMEM;
	errno = 0;
	if (!read_block(&reader, values)) {
		int r = errno == ENOMEM ? -ENOMEM : -EBADMSG;

		qs_values_free(values);
		if (r == -EBADMSG)
			*ret_line = reader.line;
		return r;
	}
	*offset = reader.offset;
	*ret = values;
	return 0;
}

/* --- The descriptor. --- */

int values_fd_create(void)
{
	int fd = memfd_create("quiesce-values", MFD_CLOEXEC | MFD_ALLOW_SEALING), r;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, VALUES_FD_SIZE) < 0 || fcntl(fd, F_ADD_SEALS, SEALS | F_SEAL_SEAL) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	return fd;
}

int values_fd_clear(int fd)
{
	if (!values_fd_is_untouched(fd) &&
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, VALUES_FD_SIZE) < 0)
		return -errno;
	/* The program shares this file offset. */
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	return 0;
}

int values_fd_read(int fd, char **ret, size_t *ret_size)
{
	/* Most programs do not use the descriptor, and reading a megabyte of zeros takes longer
	 * than such a program runs. */
	size_t wanted = values_fd_is_untouched(fd) ? 0 : VALUES_FD_SIZE, size = 0;
	char *text = malloc(wanted + 1);

	if (!text)
		return -ENOMEM;
	while (size < wanted) {
		ssize_t n = pread(fd, text + size, wanted - size, (off_t)size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int r = -errno;

			free(text);
			return r;
		}
		if (n == 0)
			break;
		size += (size_t)n;
	}
	text[size] = '\0';
	/* Nothing follows the first unwritten byte. */
	*ret_size = strlen(text);
	*ret = text;
	return 0;
}

int values_fd_is_sealed(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS;
}

int values_fd_find(void)
{
	const char *text = secure_getenv(VALUES_FD_VARIABLE);
	uint64_t number;

	if (!text)
		return -ENOENT;
	if (digits_read(&text, 10, INT32_MAX, &number) < 0 || *text != '\0')
		return -EBADF;
	/* Does not write to another file that happens to have this number. */
	return values_fd_is_sealed((int)number) ? (int)number : -EBADF;
}

void values_add_counts(const struct qs_values *values, size_t counter, double *count, double *work)
{
	for (size_t i = 0; i < values->n_values; i++) {
		if (values->values[i].kind != QS_VALUE_COUNTED)
			continue;
		*count += (double)values->values[i].counts[counter];
		*work += (double)values->values[i].loops * values->inner_loops;
	}
}

void values_add_flaws(struct qs_facts *facts, const struct qs_facts *other)
{
	facts->clock_changed |= other->clock_changed;
	for (size_t c = 0; c < facts->n_counters && c < other->n_counters; c++) {
		if (facts->counters[c].error == 0)
			facts->counters[c].error = other->counters[c].error;
		facts->counters[c].shared |= other->counters[c].shared;
	}
}

int values_hand_over(int fd, const struct qs_values *values)
{
	char *text;
	size_t size;
	off_t offset;
	ssize_t n;
	int r;

	r = format_values(values, &text, &size);
	if (r < 0)
		return r;
	offset = lseek(fd, 0, SEEK_CUR);
	if (offset < 0) {
		r = -EBADF;
	} else if (size > (size_t)VALUES_FD_SIZE || offset > VALUES_FD_SIZE - (off_t)size) {
		r = -ENOSPC;
	} else {
		n = write(fd, text, size);
		if (n < 0)
			r = -errno;
		else if ((size_t)n != size)
			r = -ENOSPC;
	}
	free(text);
	return r;
}

int qs_hand_over(const struct qs_values *values)
{
	int fd = values_fd_find();

	return fd < 0 ? fd : values_hand_over(fd, values);
}

int qs_hand_over_samples(const struct qs_sampler *sampler, const char *name)
{
	const struct qs_sample *samples = qs_samples(sampler);
	struct qs_values values = { .inner_loops = 1, .loops = 1, .n_values = qs_count(sampler) };
	int r;

	if (values_fd_find() < 0)
		return values_fd_find();
	if (!values_is_name(name))
		return -EINVAL;
	if (values.n_values == 0)
		return -ENODATA;
	qs_get_facts(sampler, &values.facts);
	if (values.facts.ticks_per_second <= 0)
		return -EINVAL;
	values.name = strdup(name);
	values.values = calloc(values.n_values, sizeof(values.values[0]));
	if (!values.name || !values.values) {
		free(values.name);
		free(values.values);
		return -ENOMEM;
	}
	for (size_t i = 0; i < values.n_values; i++) {
		double ps = qs_nanoseconds(sampler, samples[i].end - samples[i].begin) * 1e3;
		struct qs_value *value = &values.values[i];

		*value = (struct qs_value){
			.kind = QS_VALUE_COUNTED,
			.loops = 1,
			.picoseconds = ps < 1 ? 1 : (uint64_t)(ps + 0.5),
			.cpu_begin = samples[i].cpu_begin,
			.cpu_end = samples[i].cpu_end,
			.interrupts = -1,
			.frequency_khz = -1,
			.temperature_mc = -1,
			.regions = 1,
			.waiting = -1,
		};
		memcpy(value->counts, samples[i].counts, sizeof(value->counts));
	}
	r = qs_hand_over(&values);
	free(values.name);
	free(values.values);
	return r;
}

void qs_values_free(struct qs_values *values)
{
	if (!values)
		return;
	free(values->name);
	free(values->values);
	free(values);
}

double qs_value_empty_share(const struct qs_values *values, size_t index)
{
	const struct qs_value *value = &values->values[index];
	double empty = values->facts.empty_mean_ticks / values->facts.ticks_per_second;

	return (double)value->regions * empty / ((double)value->picoseconds / 1e12);
}

double qs_value_seconds(const struct qs_values *values, size_t index)
{
	const struct qs_value *value = &values->values[index];

	return (double)value->picoseconds / 1e12 / (double)value->loops /
		(double)values->inner_loops;
}
