// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/result/series.h"

enum {
	SERIES_FIRST_CAPACITY = 64,
	IRQ_NAMES_MAX = UINT16_MAX,
};

static const char *const flag_names[SAMPLE_N_FLAGS] = {
	"preempted",
	"migrated",
	"irq",
	"steal",
	"throttled",
	"freq",
	"hot",
	"window",
	"failed",
	"leftover",
	"shared",
	"clock",
	"quota",
};

static const char *const clock_names[] = {
	[WINDOW_KERNEL] = "kernel",
	[WINDOW_USER] = "user",
};

const char *window_clock_name(enum window_clock clock)
{
	return clock_names[clock];
}

int window_clock_parse(const char *name, enum window_clock *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(clock_names); i++) {
		if (strcmp(name, clock_names[i]) == 0) {
			*ret = (enum window_clock)i;
			return 0;
		}
	}
	return -ENOENT;
}

/* Length of a mapping for n elements, a multiple of the page; 0 when it does not fit. */
static size_t array_length(size_t n, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t length;

	if (__builtin_mul_overflow(n, size, &length) ||
		__builtin_add_overflow(length, page - 1, &length))
		return 0;
	return length / page * page;
}

/* Mappings instead of malloc: mremap(2) moves pages, not bytes, so growing never holds two copies,
 * and pages that were not written yet cost nothing. realloc(3) does the same for a block that
 * malloc(3) keeps in a mapping. But once a large block was freed, malloc(3) puts further blocks of
 * up to 32 MiB on the heap (M_MMAP_THRESHOLD in mallopt(3)), where growing copies: 70 bytes a run
 * instead of 40. */
static int array_grow(void **array, size_t size, size_t old_n, size_t new_n)
{
	size_t old_length = array_length(old_n, size);
	size_t new_length = array_length(new_n, size);
	void *p;

	if (new_length == 0)
		return -ENOMEM;
	if (!*array)
		p = mmap(NULL, new_length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
	else if (new_length == old_length)
		return 0;
	else
		p = mremap(*array, old_length, new_length, MREMAP_MAYMOVE);
	if (p == MAP_FAILED)
		return -ENOMEM;
	*array = p;
	return 0;
}

static void array_free(void *array, size_t size, size_t n)
{
	if (array)
		munmap(array, array_length(n, size));
}

/* All arrays have the length of one capacity. When one array cannot grow, those that grew before it
 * are shrunk again: otherwise the next attempt and series_free() would unmap too little. */
static int series_grow(struct series *series)
{
	struct {
		void **array;
		size_t size;
	} arrays[] = {
		{ (void **)&series->samples, sizeof(*series->samples) },
		{ (void **)&series->evidence,
			series->with_evidence ? sizeof(*series->evidence) : 0 },
		{ (void **)&series->counters, series->n_events * sizeof(*series->counters) },
	};
	size_t old = series->capacity;
	size_t new = old == 0 ? SERIES_FIRST_CAPACITY : old + MAX(old / 8, 1);

	if (new <= old)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(arrays); i++) {
		int r;

		if (arrays[i].size == 0)
			continue;
		r = array_grow(arrays[i].array, arrays[i].size, old, new);
		if (r >= 0)
			continue;
		while (i-- > 0) {
			if (arrays[i].size == 0)
				continue;
			if (old == 0) {
				array_free(*arrays[i].array, arrays[i].size, new);
				*arrays[i].array = NULL;
			} else {
				/* Shrinking in place does not fail. */
				(void)array_grow(arrays[i].array, arrays[i].size, new, old);
			}
		}
		return r;
	}
	series->capacity = new;
	return 0;
}

static void names_free(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

struct series *series_new(bool with_evidence, const char *const *event_names)
{
	struct series *series = xptr(calloc(1, sizeof(*series)));

	series->with_evidence = with_evidence;
	while (event_names && event_names[series->n_events])
		series_add_event(series, event_names[series->n_events]);
	return series;
}

struct series *series_share(struct series *series)
{
	series->n_others++;
	return series;
}

void series_free(struct series *series)
{
	if (!series || series->n_others-- > 0)
		return;
	array_free(series->samples, sizeof(*series->samples), series->capacity);
	array_free(series->evidence, sizeof(*series->evidence), series->capacity);
	array_free(
		series->counters, series->n_events * sizeof(*series->counters), series->capacity);
	for (size_t i = 0; i < series->n_events && series->event_kinds; i++)
		free(series->event_kinds[i].own);
	free(series->event_kinds);
	names_free(series->event_names, series->n_events);
	names_free(series->irq_names, series->n_irq_names);
	names_free(series->texts, series->n_texts);
	free(series->sittings);
	free(series);
}

void evidence_clear(struct evidence *evidence)
{
	/* All bits set are -1 in an integer, and no number in a float. */
	memset(evidence, 0xff, sizeof(*evidence));
	evidence->n_irq_lines = 0;
}

int32_t evidence_count_moves(const struct evidence *evidence)
{
	bool moved = evidence->elsewhere > 0 ||
		(evidence->cpu_first >= 0 && evidence->cpu_last >= 0 &&
			evidence->cpu_first != evidence->cpu_last);

	return MAX(evidence->migrations, moved ? 1 : -1);
}

double evidence_core_share(const struct evidence *evidence)
{
	double sum = 0;
	int n = 0;

	for (size_t i = 0; i < EVIDENCE_N_MOMENTS; i++) {
		if (evidence->core_shares[i] < 0)
			continue;
		sum += evidence->core_shares[i];
		n++;
	}
	return n > 0 ? sum / n / EVIDENCE_SHARE_PER : NAN;
}

bool evidence_is_shared(const struct evidence *evidence)
{
	return evidence_core_share(evidence) < EVIDENCE_SHARED_BELOW;
}

char *series_irq_text(const struct series *series, size_t index)
{
	struct text t = { 0 };

	if (series->with_evidence) {
		const struct evidence *evidence = &series->evidence[index];

		for (size_t i = 0; i < evidence->n_irq_lines; i++)
			text_appendf(&t, "%s%s x%" PRId32, i > 0 ? ", " : "",
				series->irq_names[evidence->irq_line[i]], evidence->irq_count[i]);
	}
	return xptr(text_steal(&t));
}

const char *series_softirq_name(size_t kind)
{
	static const char *const names[EVIDENCE_N_SOFTIRQS] = { "HI", "TIMER", "NET_TX", "NET_RX",
		"BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU" };

	return names[kind];
}

char *series_softirq_text(const struct series *series, size_t index)
{
	struct text t = { 0 };

	for (size_t i = 0; series->with_evidence && i < EVIDENCE_N_SOFTIRQS; i++) {
		int32_t n = series->evidence[index].softirqs[i];

		if (n > 0)
			text_appendf(&t, "%s%s x%" PRId32, t.length > 0 ? ", " : "",
				series_softirq_name(i), n);
	}
	return xptr(text_steal(&t));
}

int series_append(struct series *series, const struct sample *sample,
	const struct evidence *evidence, const double *counters)
{
	size_t at = series->n_samples;
	int r;

	if (series->with_evidence && evidence) {
		if (evidence->n_irq_lines > EVIDENCE_N_IRQ_LINES)
			return -EINVAL;
		for (size_t i = 0; i < evidence->n_irq_lines; i++)
			if (evidence->irq_line[i] >= series->n_irq_names)
				return -EINVAL;
	}
	if (at == series->capacity) {
		r = series_grow(series);
		if (r < 0)
			return r;
	}
	series->samples[at] = *sample;
	if (series->with_evidence) {
		if (evidence)
			series->evidence[at] = *evidence;
		else
			evidence_clear(&series->evidence[at]);
	}
	for (size_t i = 0; i < series->n_events; i++)
		series->counters[at * series->n_events + i] = counters ? counters[i] : NAN;
	series->n_counted += sample_counts(sample);
	series->n_samples++;
	return 0;
}

void series_leave_out(struct series *series, size_t index)
{
	series->n_counted -= sample_counts(&series->samples[index]);
	series->samples[index].left_out = !series->samples[index].warmup;
}

void series_add_event(struct series *series, const char *name)
{
	size_t old = series->n_events, new = old + 1;
	double *counters = NULL;

	series->event_names =
		xptr(reallocarray(series->event_names, new, sizeof(*series->event_names)));
	series->event_names[old] = xptr(strdup(name));
	series->event_kinds =
		xptr(reallocarray(series->event_kinds, new, sizeof(*series->event_kinds)));
	series->event_kinds[old] = (struct event_kind){ .unit = &unit_integer };
	if (series->capacity > 0) {
		xcheck(array_grow(
			(void **)&counters, new * sizeof(*counters), 0, series->capacity));
		for (size_t i = 0; i < series->n_samples; i++) {
			for (size_t k = 0; k < old; k++)
				counters[i * new + k] = series->counters[i * old + k];
			counters[i * new + old] = NAN;
		}
		array_free(series->counters, old * sizeof(*counters), series->capacity);
		series->counters = counters;
	}
	series->n_events = new;
}

void series_remove_event(struct series *series, size_t event)
{
	size_t old = series->n_events, new = old - 1;
	double *counters = NULL;

	free(series->event_names[event]);
	free(series->event_kinds[event].own);
	for (size_t k = event; k < new; k++) {
		series->event_names[k] = series->event_names[k + 1];
		series->event_kinds[k] = series->event_kinds[k + 1];
	}
	if (series->capacity > 0) {
		if (new > 0)
			xcheck(array_grow(
				(void **)&counters, new * sizeof(*counters), 0, series->capacity));
		for (size_t i = 0; i < series->n_samples; i++)
			for (size_t k = 0; k < new; k++)
				counters[i * new + k] =
					series->counters[i * old + k + (k >= event)];
		array_free(series->counters, old * sizeof(*counters), series->capacity);
		series->counters = counters;
	}
	series->n_events = new;
}

size_t series_find_event(const struct series *series, const char *name)
{
	size_t i = 0;

	while (i < series->n_events && strcmp(series->event_names[i], name) != 0)
		i++;
	return i;
}

struct event_kind figure_kind(const char *unit, enum better better, double step, bool is_exact)
{
	size_t size = strlen(unit) + 1;
	/* One piece of memory, which stays where it is when there are more events. */
	struct unit *own = xptr(malloc(sizeof(*own) + size));
	struct event_kind kind = {
		.better = better, .own = own, .step = step, .is_exact = is_exact
	};

	*own = (struct unit){ .name = memcpy(own + 1, unit, size), .kind = UNIT_IS_OTHER };
	if (!unit_find(unit, &kind.unit))
		kind.unit = own;
	return kind;
}

int series_declare_figure(
	struct series *series, size_t event, const char *unit, enum better better, double step)
{
	struct event_kind *kind = &series->event_kinds[event];

	if (kind->own) {
		if (kind->better != better || strcmp(kind->own->name, unit) != 0)
			return -EINVAL;
		kind->step = MAX(kind->step, step);
		return 0;
	}
	*kind = figure_kind(unit, better, step, kind->is_exact);
	return 0;
}

void series_add_within(struct series *series, size_t event, double mean, size_t n, double squares)
{
	struct event_kind *kind = &series->event_kinds[event];
	double spread = squares / mean / mean;

	if (n < 2)
		return;
	kind->n_within = MAX(kind->n_within, n);
	if (!isfinite(spread))
		return;
	kind->spread += spread;
	kind->n_spread += (double)(n - 1);
}

double event_deviation_within(const struct event_kind *kind)
{
	return kind->n_spread > 0 ? sqrt(kind->spread / kind->n_spread) : NAN;
}

#define FIGURE_STEP ", step " /* before the last part of a figure's text */

static const char *const better_names[] = {
	[BETTER_UNKNOWN] = "unknown",
	[BETTER_LOWER] = "lower",
	[BETTER_HIGHER] = "higher",
};

const char *better_name(enum better better)
{
	return better == BETTER_UNKNOWN ? NULL : better_names[better];
}

enum better better_parse(const char *word)
{
	for (size_t i = BETTER_LOWER; i < ARRAY_SIZE(better_names); i++)
		if (strcmp(word, better_names[i]) == 0)
			return (enum better)i;
	return BETTER_UNKNOWN;
}

char *figure_text(const struct event_kind *kind)
{
	_cleanup_text_ struct text t = { 0 };
	char step[TEXT_REAL_SIZE];

	if (!kind->own)
		return NULL;
	text_append(&t, better_names[kind->better]);
	if (kind->is_exact)
		text_append(&t, ", exact");
	if (*kind->own->name)
		text_appendf(&t, ", %s", kind->own->name);
	if (kind->step > 0)
		text_appendf(&t, FIGURE_STEP "%s", text_format_real(kind->step, step));
	return xptr(text_steal(&t));
}

/* The step that a text ends with; 0 where there is none. *ret_length is that of what is before. */
static double find_step(const char *text, size_t *ret_length)
{
	const char *at = strstr(text, FIGURE_STEP);
	double step = 0;

	*ret_length = at ? (size_t)(at - text) : strlen(text);
	return at && parse_real(at + strlen(FIGURE_STEP), &step) >= 0 ? step : 0;
}

const char *figure_text_join(const char *a, const char *b)
{
	size_t n_a, n_b;
	double step_a = find_step(a, &n_a), step_b = find_step(b, &n_b);

	if (n_a != n_b || strncmp(a, b, n_a) != 0)
		return NULL;
	return step_a >= step_b ? a : b;
}

int figure_parse(const char *text, struct event_kind *ret)
{
	_cleanup_free_ char *copy = xptr(strdup(text));
	const char *unit = "", *first;
	char *rest = copy, *word;
	enum better better;
	bool is_exact = false;
	double step = 0;

	first = strsep(&rest, ",");
	better = better_parse(first);
	if (better == BETTER_UNKNOWN && strcmp(first, better_names[BETTER_UNKNOWN]) != 0)
		return -EINVAL;
	while ((word = strsep(&rest, ","))) {
		if (*word++ != ' ' || !*word)
			return -EINVAL;
		if (strcmp(word, "exact") == 0)
			is_exact = true;
		else if (!text_starts_with(word, "step "))
			unit = word;
		else if (parse_real(word + 5, &step) < 0 || !(step > 0))
			return -EINVAL;
	}
	*ret = figure_kind(unit, better, step, is_exact);
	return 0;
}

int series_parse_figure(struct series *series, size_t event, const char *text)
{
	struct event_kind kind;
	int r = figure_parse(text, &kind);

	if (r < 0)
		return r;
	r = kind.better == BETTER_UNKNOWN
		? -EINVAL
		: series_declare_figure(series, event, kind.own->name, kind.better, kind.step);
	if (r >= 0)
		series->event_kinds[event].is_exact = kind.is_exact;
	free(kind.own);
	return r;
}

int series_intern_irq(struct series *series, const char *name, uint16_t *ret)
{
	char **names, *copy;

	for (size_t i = 0; i < series->n_irq_names; i++) {
		if (strcmp(series->irq_names[i], name) == 0) {
			*ret = (uint16_t)i;
			return 0;
		}
	}
	if (series->n_irq_names >= IRQ_NAMES_MAX)
		return -ENOSPC;
	names = reallocarray(series->irq_names, series->n_irq_names + 1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	series->irq_names = names;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	names[series->n_irq_names] = copy;
	*ret = (uint16_t)series->n_irq_names++;
	return 0;
}

const char *series_keep_text(struct series *series, enum sitting_text kind, const char *text)
{
	const char *last = series->n_sittings > 0
		? series->sittings[series->n_sittings - 1].provenance.texts[kind]
		: NULL;

	if (last && strcmp(last, text) == 0)
		return last;
	series->texts =
		xptr(reallocarray(series->texts, series->n_texts + 1, sizeof(*series->texts)));
	series->texts[series->n_texts] = xptr(strdup(text));
	return series->texts[series->n_texts++];
}

static bool is_same_provenance(const struct provenance *a, const struct provenance *b)
{
	for (size_t i = 0; i < SITTING_N_TEXTS; i++)
		if (a->texts[i] != b->texts[i])
			return false;
	return a->has_order_seed == b->has_order_seed && a->order_seed == b->order_seed;
}

void series_set_provenance(struct series *series, const struct provenance *provenance)
{
	size_t n = series->n_sittings;

	if (n == 0 || !is_same_provenance(&series->sittings[n - 1].provenance, provenance)) {
		series->sittings =
			xptr(reallocarray(series->sittings, n + 1, sizeof(*series->sittings)));
		series->sittings[n] = (struct sitting){ .provenance = *provenance };
		series->n_sittings = ++n;
	}
	series->sittings[n - 1].end = series->n_samples;
}

double series_value(const struct series *series, size_t index)
{
	const struct sample *sample = &series->samples[index];

	return (double)(series->clock == WINDOW_KERNEL ? sample->kernel_ns : sample->user_ns) /
		(double)NSEC_PER_SEC;
}

int series_values(const struct series *series, double **ret, size_t *ret_n)
{
	size_t n = series->n_counted;
	double *values;
	size_t k = 0;

	if (n == 0)
		return -ENODATA;
	values = xptr(reallocarray(NULL, n, sizeof(*values)));
	for (size_t i = 0; i < series->n_samples; i++)
		if (sample_counts(&series->samples[i]))
			values[k++] = series_value(series, i);
	*ret = values;
	*ret_n = n;
	return 0;
}

void series_settle_clock(struct series *series)
{
	size_t n_doubtful = 0;

	series->clock = WINDOW_USER;
	for (size_t i = 0; i < series->n_samples; i++) {
		const struct sample *sample = &series->samples[i];

		if (sample->kernel_ns <= 0)
			return;
		if (sample->flags & SAMPLE_WINDOW)
			n_doubtful++;
	}
	if (series->n_samples == 0 || 2 * n_doubtful < series->n_samples)
		series->clock = WINDOW_KERNEL;
}

const char *sample_flag_name(enum sample_flag flag)
{
	for (size_t i = 0; i < SAMPLE_N_FLAGS; i++)
		if (flag == 1u << i)
			return flag_names[i];
	return NULL;
}

char *sample_flags_text(uint32_t flags)
{
	struct text t = { 0 };

	for (size_t i = 0; i < SAMPLE_N_FLAGS; i++) {
		if (!(flags & 1u << i))
			continue;
		if (t.length > 0)
			text_append(&t, ",");
		text_append(&t, flag_names[i]);
	}
	return xptr(text_steal(&t));
}

uint32_t sample_flags_parse(const char *text)
{
	uint32_t flags = 0;

	while (*text) {
		size_t n = strcspn(text, ",");

		for (size_t i = 0; i < SAMPLE_N_FLAGS; i++)
			if (strlen(flag_names[i]) == n && memcmp(text, flag_names[i], n) == 0)
				flags |= 1u << i;
		text += n + (text[n] == ',');
	}
	return flags;
}
