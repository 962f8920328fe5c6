// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Merging reads each file twice. merge_add() validates a file and keeps where its runs stand and
 * what all files of a benchmark have in common; merge_write() goes benchmark by benchmark through
 * the files, with the text of one benchmark of one file in memory at a time. Only of the first
 * file, and of files that cannot be read twice (pipes, compressed files, results of other tools),
 * the whole text is kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/array.h"
#include "basic/file.h"
#include "basic/hash.h"
#include "basic/macro.h"
#include "basic/text.h"
#include "result/document.h"
#include "result/metadata.h"
#include "result/splice.h"

/* Metadata that pyperf demands to be the same in all runs of a benchmark, but that differ between
 * machines: then runs have them as quiesce_NAME, which pyperf ignores. The first two distinguish
 * machines. */
static const char *const machine_keys[] = {
	"hostname",
	"cpu_model_name",
	"cpu_count",
	"platform",
};
#define MACHINE_N_TELLING 2
#define OWN_PREFIX "quiesce_"

#define SITTING_SIZE (16 + 1)

/* A benchmark of the merged file. */
struct merged {
	char *name;
	char *tool; /* which measured it (benchmark_tool()); NULL as long as no file told */
	int clock;  /* an enum window_clock, or -1 as long as no file has told a clock */
	struct facts agreed; /* metadata of its first file that must be the same in all runs */
	struct facts common; /* metadata that all runs of all files so far share */
	bool renames[ARRAY_SIZE(machine_keys)];
	bool mixes_stampers; /* some of its runs are stamped in another way than others */
};

struct source {
	struct document document; /* without `suite`; without text where the file can be read
				   * again */
	char *path;
	struct stat st;
	size_t *merged; /* for each of its benchmarks: the index in the merged file */
	bool *has_sitting;
	char sitting[SITTING_SIZE]; /* an identifier, made from the contents of the file */
};

/* Hashes of what an earlier file said about a sitting or a machine. */
struct seen {
	uint64_t key;
	uint64_t value;
	size_t source;
};

struct merge {
	struct source *sources;
	size_t n_sources;
	size_t capacity;
	struct merged *items;
	size_t n;
	void *seen; /* a tree of struct seen */
};

int merge_new(struct merge **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

static void source_clear(struct source *source)
{
	document_clear(&source->document);
	free(source->path);
	free(source->merged);
	free(source->has_sitting);
}

const char *merge_next_mixed(const struct merge *merge, size_t *index)
{
	while (*index < merge->n) {
		const struct merged *merged = &merge->items[(*index)++];

		if (merged->mixes_stampers)
			return merged->name;
	}
	return NULL;
}

void merge_free(struct merge *merge)
{
	if (!merge)
		return;
	for (size_t i = 0; i < merge->n_sources; i++)
		source_clear(&merge->sources[i]);
	for (size_t i = 0; i < merge->n; i++) {
		free(merge->items[i].name);
		free(merge->items[i].tool);
		facts_clear(&merge->items[i].agreed);
		facts_clear(&merge->items[i].common);
	}
	tdestroy(merge->seen, free);
	free(merge->sources);
	free(merge->items);
	free(merge);
}

/* --- A file is added --- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return hash_bytes(hash, text ? text : "", text ? strlen(text) + 1 : 1);
}

/* The start of a hash about a benchmark of the merged file; `what` distinguishes kinds of
 * hashes. */
static uint64_t hash_begin(size_t merged, const char *what)
{
	return hash_text(hash_bytes(HASH_START, &merged, sizeof(merged)), what);
}

static int compare_seen(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/* Returns 1 with the earlier entry of this key in *ret, or 0 after adding an entry. -ENOMEM. */
static int note_seen(struct merge *merge, uint64_t key, uint64_t value, struct seen *ret)
{
	struct seen *seen = malloc(sizeof(*seen));
	struct seen *const *found;

	if (!seen)
		return -ENOMEM;
	*seen = (struct seen){ key, value, merge->n_sources };
	found = tsearch(seen, &merge->seen, compare_seen);
	if (found && *found == seen)
		return 0;
	free(seen);
	if (!found)
		return -ENOMEM;
	*ret = **found;
	return 1;
}

/* Runs that are merged twice would count twice. */
static int check_sitting(
	struct merge *merge, const struct merged *merged, const char *sitting, char **ret_why)
{
	size_t index = (size_t)(merged - merge->items);
	_cleanup_free_ char *plain = text_escape_control(sitting);
	struct seen seen;
	int r;

	if (!plain)
		return -ENOMEM;
	r = note_seen(merge, hash_text(hash_begin(index, "sitting"), sitting), 0, &seen);
	if (r <= 0 || seen.source == merge->n_sources)
		return MIN(r, 0);
	return text_refuse(ret_why, -EINVAL, "benchmark '%s': %s has runs of the same sitting (%s)",
		merged->name, merge->sources[seen.source].path, plain);
}

/* Each of several machines must have the same kernel and number of CPUs in all files: pyperf
 * demands this of all runs, but cannot check it when these metadata have other names. */
static int check_machine(
	struct merge *merge, const struct merged *merged, const struct benchmark *b, char **ret_why)
{
	uint64_t key = hash_begin((size_t)(merged - merge->items), "machine");

	if (!facts_find(&b->metadata, machine_keys[0]))
		return 0;
	for (size_t i = 0; i < MACHINE_N_TELLING; i++)
		key = hash_text(key, facts_find_string(&b->metadata, machine_keys[i]));
	for (size_t i = MACHINE_N_TELLING; i < ARRAY_SIZE(machine_keys); i++) {
		_cleanup_free_ char *text = NULL;
		struct seen seen;
		uint64_t value;
		int r = benchmark_metadata_text(b, machine_keys[i], &text);

		if (r < 0)
			return r;
		value = hash_text(0, text);
		key = hash_text(key, machine_keys[i]);
		r = note_seen(merge, key, value, &seen);
		if (r < 0)
			return r;
		if (r > 0 && seen.value != value)
			return text_refuse(ret_why, -EINVAL,
				"benchmark '%s': %s has runs of the same machine with other "
				"metadata '%s'",
				merged->name, merge->sources[seen.source].path, machine_keys[i]);
	}
	return 0;
}

/* Most often, files have the same benchmarks in the same order. SIZE_MAX for a new benchmark. */
static size_t find_merged(const struct merge *merge, const char *name, size_t guess)
{
	if (guess < merge->n && metadata_equal_strings(merge->items[guess].name, name))
		return guess;
	for (size_t i = 0; i < merge->n; i++)
		if (metadata_equal_strings(merge->items[i].name, name))
			return i;
	return SIZE_MAX;
}

static bool is_equal(const struct facts *a, const struct facts *b, const char *key)
{
	const struct fact *x = facts_find(a, key), *y = facts_find(b, key);

	return x && y ? metadata_equal_facts(x, y) : x == y;
}

/* Metadata that differ between machines do not prevent merging: they get another name, and are
 * removed from the metadata that have to agree. */
static void allow_machines(struct merged *merged, const struct facts *now, struct facts *agreed_now)
{
	bool is_another = false;

	for (size_t i = 0; i < ARRAY_SIZE(machine_keys); i++) {
		bool differs =
			merged->renames[i] || !is_equal(&merged->agreed, now, machine_keys[i]);

		is_another = is_another || (i < MACHINE_N_TELLING && differs);
		if (is_another && differs) {
			merged->renames[i] = true;
			facts_remove(&merged->agreed, machine_keys[i]);
			facts_remove(agreed_now, machine_keys[i]);
		}
	}
}

/* Refuses runs that do not agree with the runs of the files before. */
static int check_agreement(
	struct merged *merged, const struct benchmark *b, int clock, char **ret_why)
{
	_cleanup_free_ char *text_a = NULL, *text_b = NULL;
	struct facts now = { 0 };
	const char *key;
	int r;

	facts_copy(&now, &b->metadata);
	if (now.failed) {
		facts_clear(&now);
		return -ENOMEM;
	}
	allow_machines(merged, &b->metadata, &now);
	r = document_find_difference(&(struct agreed){ &merged->agreed, merged->clock },
		&(struct agreed){ &now, clock }, &key, &text_a, &text_b);
	facts_clear(&now);
	if (r <= 0)
		return r;
	return text_refuse(ret_why, -EINVAL, "benchmark '%s': metadata '%s' differ: %s and %s",
		merged->name, key, text_a, text_b);
}

/* Each tool takes something else for the time of a program. */
static int check_tool(struct merged *merged, const struct benchmark *b, char **ret_why)
{
	const char *tool = benchmark_tool(b);

	if (!tool || (merged->tool && strcmp(merged->tool, tool) == 0))
		return 0;
	if (merged->tool)
		return text_refuse(ret_why, -EINVAL, "benchmark '%s': runs of two tools: %s and %s",
			merged->name, merged->tool, tool);
	merged->tool = strdup(tool);
	return merged->tool ? 0 : -ENOMEM;
}

static int add_merged(struct merge *merge, const struct benchmark *b, int clock)
{
	struct merged *items = reallocarray(merge->items, merge->n + 1, sizeof(*items));
	struct merged *merged;

	if (!items)
		return -ENOMEM;
	merge->items = items;
	merged = &items[merge->n];
	*merged = (struct merged){ .name = strdup(b->name), .clock = clock };
	facts_copy(&merged->agreed, &b->metadata);
	facts_copy(&merged->common, &b->metadata);
	merge->n++;
	if (check_tool(merged, b, NULL) < 0)
		return -ENOMEM;
	return !merged->name || merged->agreed.failed || merged->common.failed ? -ENOMEM : 0;
}

static int join_merged(struct merged *merged, const struct benchmark *b, int clock, char **ret_why)
{
	const char *stamper, *other;
	int r = check_agreement(merged, b, clock, ret_why);

	if (r >= 0)
		r = check_tool(merged, b, ret_why);
	if (r < 0)
		return r;
	if (merged->clock < 0)
		merged->clock = clock;
	stamper = metadata_get_stamper(&merged->agreed);
	other = metadata_get_stamper(&b->metadata);
	if (stamper && other && strcmp(stamper, other) != 0)
		merged->mixes_stampers = true;
	for (size_t i = merged->common.n; i-- > 0;)
		if (!is_equal(&merged->common, &b->metadata, merged->common.items[i].name))
			facts_remove(&merged->common, merged->common.items[i].name);
	return 0;
}

/* Checks the sittings of a benchmark; `own` is the sitting of a file that names none. */
static int add_sittings(struct merge *merge, const struct merged *merged, const struct benchmark *b,
	const char *own, bool *ret_any, char **ret_why)
{
	int r = 0;

	*ret_any = false;
	for (size_t i = 0; r >= 0 && i < b->series->n_sittings; i++) {
		const char *id = b->series->sittings[i].provenance.texts[SITTING_ID];

		*ret_any = *ret_any || id;
		if (id)
			r = check_sitting(merge, merged, id, ret_why);
	}
	return *ret_any || r < 0 ? r : check_sitting(merge, merged, own, ret_why);
}

static int add_benchmarks(struct merge *merge, struct source *source, char **ret_why)
{
	const struct suite *suite = source->document.suite;

	source->merged = calloc(suite->n, sizeof(*source->merged));
	source->has_sitting = calloc(suite->n, sizeof(*source->has_sitting));
	if (!source->merged || !source->has_sitting)
		return -ENOMEM;
	for (size_t i = 0; i < suite->n; i++) {
		const struct benchmark *b = suite->benchmarks[i];
		int clock = source->document.outline.benchmarks[i].clock;
		size_t at = find_merged(merge, b->name, i);
		int r;

		source->merged[i] = at == SIZE_MAX ? merge->n : at;
		r = at == SIZE_MAX ? add_merged(merge, b, clock)
				   : join_merged(&merge->items[at], b, clock, ret_why);
		if (r >= 0)
			r = check_machine(merge, &merge->items[source->merged[i]], b, ret_why);
		if (r >= 0)
			r = add_sittings(merge, &merge->items[source->merged[i]], b,
				source->sitting, &source->has_sitting[i], ret_why);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The same file is the same sitting whenever it is merged. */
static void make_sitting(struct source *source)
{
	snprintf(source->sitting, sizeof(source->sitting), "%016" PRIx64,
		hash_bytes(HASH_START, source->document.text, source->document.outline.whole.end));
}

/* Frees what was needed only to decide what to write, and the text where the file can be read
 * again. */
static void forget(struct source *source, bool is_first)
{
	struct document *document = &source->document;

	suite_free(TAKE_PTR(document->suite));
	document_clear_members(document);
	if (!is_first && S_ISREG(source->st.st_mode) && !document->compressed &&
		!document->converted && source->st.st_size == (off_t)document->size)
		free(TAKE_PTR(document->text));
}

int merge_add(struct merge *merge, const char *path, char **ret_why)
{
	struct document *document;
	struct source *source;
	int r;

	r = array_grow(&merge->sources, sizeof(*source), merge->n_sources, &merge->capacity);
	if (r < 0)
		return r;
	source = &merge->sources[merge->n_sources];
	*source = (struct source){ .path = strdup(path) };
	if (!source->path)
		return -ENOMEM;
	/* check_unchanged() finds a change of the file from here on. */
	if (strcmp(path, "-") != 0)
		(void)stat(path, &source->st);
	r = document_read(path, &document, ret_why);
	if (r >= 0) {
		source->document = *document;
		free(document);
		make_sitting(source);
		r = add_benchmarks(merge, source, ret_why);
	}
	if (r < 0) {
		source_clear(source);
		return r;
	}
	forget(source, merge->n_sources == 0);
	merge->n_sources++;
	return 0;
}

const struct facts *merge_left_out(const struct merge *merge)
{
	return &merge->sources[merge->n_sources - 1].document.left_out;
}

/* --- The text of a file, for the second time --- */

/* A mapping as long as the text of a file, of which only the loaded parts are filled in. */
struct window {
	char *text;
	size_t size;
};

static void window_close(struct window *window)
{
	if (window->text)
		munmap(window->text, window->size);
}

static int check_unchanged(const struct source *source, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	return st.st_dev == source->st.st_dev && st.st_ino == source->st.st_ino &&
			st.st_size == source->st.st_size &&
			st.st_mtim.tv_sec == source->st.st_mtim.tv_sec &&
			st.st_mtim.tv_nsec == source->st.st_mtim.tv_nsec
		? 0
		: -ESTALE;
}

static int load_span(int fd, char *text, struct span span)
{
	size_t at = span.begin;

	while (at < span.end) {
		ssize_t n = pread(fd, text + at, span.end - at, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ESTALE;
		at += (size_t)n;
	}
	return 0;
}

static inline void cleanup_window(struct window *window)
{
	window_close(window);
}
#define _cleanup_window_ __attribute__((cleanup(cleanup_window)))

static int window_open(const struct source *source, size_t index, struct window *ret)
{
	const struct outline *outline = &source->document.outline;
	_cleanup_close_ int fd = -EBADF;
	struct window window = { .size = source->document.size + 1 };
	int r;

	fd = open(source->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	r = check_unchanged(source, fd);
	if (r < 0)
		return r;
	window.text = mmap(NULL, window.size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (window.text == MAP_FAILED)
		return -errno;
	r = load_span(fd, window.text, outline->metadata);
	if (r >= 0)
		r = load_span(fd, window.text, outline->benchmarks[index].whole);
	if (r < 0) {
		window_close(&window);
		return r;
	}
	*ret = window;
	return 0;
}

/* The document of a source, with the text of one of its benchmarks: a view, to be dropped. */
static int source_load(const struct source *source, size_t index, struct window *window,
	struct document *ret, char **ret_why)
{
	int r = 0;

	if (!source->document.text)
		r = window_open(source, index, window);
	if (r == -ESTALE)
		return text_refuse(ret_why, r, "%s has changed while it was merged", source->path);
	if (r < 0)
		return text_refuse(
			ret_why, r, "cannot read %s again: %s", source->path, strerror(-r));
	*ret = source->document;
	if (!ret->text)
		ret->text = window->text;
	return 0;
}

static size_t find_index(const struct source *source, size_t merged)
{
	for (size_t i = 0; i < source->document.outline.n_benchmarks; i++)
		if (source->merged[i] == merged)
			return i;
	return SIZE_MAX;
}

/* --- One benchmark of one file --- */

/* What is written for one benchmark of one file, and how its metadata change. */
struct part {
	const struct merged *merged;
	const struct source *source;
	size_t index;
	struct members suite;
	struct members benchmark;
	struct selection moved;
	char sitting[SITTING_SIZE + 2]; /* in JSON */
	struct renaming renamings[ARRAY_SIZE(machine_keys) + 1];
};

static void part_clear(struct part *part)
{
	members_clear(&part->suite);
	members_clear(&part->benchmark);
	selection_clear(&part->moved);
}

static inline void cleanup_part(struct part *part)
{
	part_clear(part);
}
#define _cleanup_part_ __attribute__((cleanup(cleanup_part)))

static void choose_renamings(struct part *part)
{
	static const char *const names[] = {
		OWN_PREFIX "hostname",
		OWN_PREFIX "cpu_model_name",
		OWN_PREFIX "cpu_count",
		OWN_PREFIX "platform",
	};
	size_t n = 0;

	_Static_assert(ARRAY_SIZE(names) == ARRAY_SIZE(machine_keys), "a name for each key");
	for (size_t i = 0; i < ARRAY_SIZE(machine_keys); i++)
		if (part->merged->renames[i])
			part->renamings[n++] = (struct renaming){ machine_keys[i], names[i] };
}

/* Chooses the metadata that stand above the runs in this file, but do not hold for all runs of all
 * files. A benchmark that no other file has gets its sitting as well: another merge would not know
 * its runs again. */
static int choose_moved(const struct merge *merge, struct part *part)
{
	static const char name[] = METADATA_SITTING;
	const struct members *layers[] = { &part->suite, &part->benchmark };
	const struct selection_item sitting = {
		.name = name,
		.value = { part->sitting, sizeof(part->sitting) - 1 },
	};
	int r = 0;

	snprintf(part->sitting, sizeof(part->sitting), "\"%s\"", part->source->sitting);
	for (size_t i = 0; i < ARRAY_SIZE(layers); i++)
		for (size_t k = 0; r >= 0 && k < layers[i]->facts.n; k++)
			if (!facts_find(&part->merged->common, layers[i]->facts.items[k].name))
				r = selection_add(&part->moved, layers[i], k);
	if (r >= 0 && merge->n_sources > 1 && !part->source->has_sitting[part->index])
		r = selection_add_item(&part->moved, &sitting);
	return r;
}

static int part_fill(const struct merge *merge, const struct source *source, size_t index,
	const char *text, struct part *ret)
{
	const struct outline *outline = &source->document.outline;
	int r;

	*ret = (struct part){
		.merged = &merge->items[source->merged[index]],
		.source = source,
		.index = index,
	};
	choose_renamings(ret);
	r = members_read(text, outline->metadata, &ret->suite);
	if (r >= 0)
		r = members_read(text, outline->benchmarks[index].metadata, &ret->benchmark);
	if (r >= 0)
		r = choose_moved(merge, ret);
	return r;
}

/* Writes further runs behind the runs of the files before. */
static int write_further_runs(struct emit *emit, const struct part *part,
	const struct document *document, const struct selection *common)
{
	const struct benchmark_change change = {
		.moved = &part->moved,
		.hoisted = common,
		.renamings = part->renamings,
	};

	splice_further_runs(emit, document, part->index, &change);
	return emit->error;
}

/* Writes the runs of this benchmark, file by file, from the file behind `first` on. */
static int write_others(const struct merge *merge, struct emit *emit, size_t first, size_t merged,
	const struct selection *common, char **ret_why)
{
	int r = 0;

	for (size_t i = first + 1; r >= 0 && i < merge->n_sources; i++) {
		const struct source *source = &merge->sources[i];
		size_t index = find_index(source, merged);
		_cleanup_window_ struct window window = { 0 };
		_cleanup_part_ struct part part = { 0 };
		struct document document;

		if (index == SIZE_MAX)
			continue;
		r = source_load(source, index, &window, &document, ret_why);
		if (r >= 0)
			r = part_fill(merge, source, index, document.text, &part);
		if (r >= 0)
			r = write_further_runs(emit, &part, &document, common);
	}
	return r;
}

/* Chooses the metadata that all runs share, from the suite, the benchmark or the first run of the
 * first file. */
static int choose_common(
	const struct part *part, const struct members *run, struct selection *common)
{
	const struct members *layers[] = { &part->suite, &part->benchmark, run };
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(layers); i++)
		for (size_t k = 0; r >= 0 && k < layers[i]->facts.n; k++) {
			const struct fact *fact = &layers[i]->facts.items[k];
			const struct fact *shared = facts_find(&part->merged->common, fact->name);

			if (shared && metadata_equal_facts(shared, fact))
				r = selection_add(common, layers[i], k);
		}
	return r;
}

/* Writes the benchmark from its first file, followed by the runs from the other files. */
static int write_merged(const struct merge *merge, struct splice *splice,
	const struct source *source, size_t index, char **ret_why)
{
	const char *text = splice->document->text;
	_cleanup_selection_ struct selection common = { 0 };
	_cleanup_members_ struct members run = { 0 };
	_cleanup_part_ struct part part = { 0 };
	const struct benchmark_change change = {
		.metadata = &common,
		.moved = &part.moved,
		.hoisted = &common,
		.renamings = part.renamings,
	};
	int r;

	r = part_fill(merge, source, index, text, &part);
	if (r >= 0)
		r = members_read(
			text, source->document.outline.benchmarks[index].runs[0].metadata, &run);
	if (r >= 0)
		r = choose_common(&part, &run, &common);
	if (r < 0)
		return r;
	splice_runs(splice, index, &change);
	r = write_others(merge, splice->emit, (size_t)(source - merge->sources),
		source->merged[index], &common, ret_why);
	if (r >= 0)
		splice_end_benchmark(splice, index, &change);
	return r;
}

/* --- The whole --- */

/* Writes the benchmarks of this file whose names no earlier file has. */
static int write_further_benchmarks(
	const struct merge *merge, struct emit *emit, size_t at, size_t *written, char **ret_why)
{
	const struct source *source = &merge->sources[at];
	int r = 0;

	for (size_t i = 0; r >= 0 && i < source->document.outline.n_benchmarks; i++) {
		_cleanup_window_ struct window window = { 0 };
		struct splice splice = { .emit = emit };
		struct document document;

		/* The indices are in the order of the first files of the benchmarks. */
		if (source->merged[i] < *written)
			continue;
		++*written;
		emit_verbatim(emit, ", ", 2);
		r = source_load(source, i, &window, &document, ret_why);
		if (r < 0)
			return r;
		splice.document = &document;
		splice.at = document.outline.benchmarks[i].whole.begin;
		r = write_merged(merge, &splice, source, i, ret_why);
	}
	return r;
}

int merge_write(const struct merge *merge, FILE *stream, char **ret_why)
{
	struct emit emit = { .stream = stream, .one_line = true };
	const struct document *document = &merge->sources[0].document;
	const struct outline *outline = &document->outline;
	bool metadata_first = outline->metadata.begin < outline->benchmarks[0].whole.begin;
	struct splice splice = { &emit, document, outline->whole.begin };
	/* The metadata of the suites move to the benchmarks. */
	const struct selection none = { 0 };
	size_t written = outline->n_benchmarks;
	int r = 0;

	if (metadata_first)
		splice_metadata(&splice, outline->whole, outline->metadata, &none);
	for (size_t i = 0; r >= 0 && i < outline->n_benchmarks; i++)
		r = write_merged(merge, &splice, &merge->sources[0], i, ret_why);
	for (size_t i = 1; r >= 0 && i < merge->n_sources; i++)
		r = write_further_benchmarks(merge, &emit, i, &written, ret_why);
	if (r < 0)
		return r;
	if (!metadata_first)
		splice_metadata(&splice, outline->whole, outline->metadata, &none);
	splice_copy(&splice, outline->whole.end);
	return emit_finish(&emit);
}
