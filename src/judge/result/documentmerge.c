// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * merge_add() reads a file, and keeps of it what merge_write() needs: what each benchmark says as
 * it stands there (judge/result/kept.h), and what all files of a benchmark have in common.
 */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/result/document.h"
#include "judge/result/joining.h"
#include "judge/result/metadata.h"

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
	struct facts agreed;  /* metadata of its first file that must be the same in all runs */
	struct facts common;  /* metadata that all runs of all files so far share */
	struct facts members; /* other members of the benchmark, as in struct kept, of all files */
	bool renames[ARRAY_SIZE(machine_keys)];
	bool mixes_stampers; /* some of its runs are stamped in another way than others */
};

/* A file: what is left of its benchmarks. */
struct source {
	char *path;
	struct facts left_out; /* as in struct suite */
	struct part *parts;
	size_t n;
	char sitting[SITTING_SIZE]; /* an identifier, made from the contents of the file */
	char sitting_json[SITTING_SIZE + 2];
};

struct part {
	struct kept *kept;
	size_t merged; /* the index in the merged file */
	bool has_sitting;
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
	struct facts members; /* as in struct suite, of all files */
	void *seen;	      /* a tree of struct seen */
};

struct merge *merge_new(void)
{
	struct merge *merge = xptr(calloc(1, sizeof(*merge)));

	return merge;
}

static void source_clear(struct source *source)
{
	for (size_t i = 0; i < source->n; i++)
		kept_free(source->parts[i].kept);
	free(source->parts);
	facts_clear(&source->left_out);
	free(source->path);
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
		facts_clear(&merge->items[i].members);
	}
	facts_clear(&merge->members);
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

/* Returns true with the earlier entry of this key in *ret, or false after adding an entry. */
static bool note_seen(struct merge *merge, uint64_t key, uint64_t value, struct seen *ret)
{
	struct seen *seen = xptr((struct seen *)malloc(sizeof(*seen)));
	struct seen *const *found;

	*seen = (struct seen){ key, value, merge->n_sources };
	found = xptr((struct seen *const *)tsearch(seen, &merge->seen, compare_seen));
	if (*found == seen)
		return false;
	free(seen);
	*ret = **found;
	return true;
}

/* Runs that are merged twice would count twice. */
static int check_sitting(
	struct merge *merge, const struct merged *merged, const char *sitting, char **ret_why)
{
	size_t index = (size_t)(merged - merge->items);
	_cleanup_free_ char *plain = xptr(text_escape_control(sitting));
	struct seen seen;

	if (!note_seen(merge, hash_text(hash_begin(index, "sitting"), sitting), 0, &seen) ||
		seen.source == merge->n_sources)
		return 0;
	return xrefuse(ret_why, -EINVAL, "benchmark '%s': %s has runs of the same sitting (%s)",
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
		_cleanup_free_ char *text = benchmark_metadata_text(b, machine_keys[i]);
		uint64_t value = hash_text(0, text);
		struct seen seen;

		key = hash_text(key, machine_keys[i]);
		if (note_seen(merge, key, value, &seen) && seen.value != value)
			return xrefuse(ret_why, -EINVAL,
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
	bool differ;

	facts_copy(&now, &b->metadata);
	if (now.failed)
		xalloc_fail();
	allow_machines(merged, &b->metadata, &now);
	differ = document_find_difference(&(struct agreed){ &merged->agreed, merged->clock },
		&(struct agreed){ &now, clock }, &key, &text_a, &text_b);
	facts_clear(&now);
	if (!differ)
		return 0;
	return xrefuse(ret_why, -EINVAL, "benchmark '%s': metadata '%s' differ: %s and %s",
		merged->name, key, text_a, text_b);
}

/* Each tool takes something else for the time of a program. */
static int check_tool(struct merged *merged, const struct benchmark *b, char **ret_why)
{
	const char *tool = benchmark_tool(b);

	if (!tool || (merged->tool && strcmp(merged->tool, tool) == 0))
		return 0;
	if (merged->tool)
		return xrefuse(ret_why, -EINVAL, "benchmark '%s': runs of two tools: %s and %s",
			merged->name, merged->tool, tool);
	merged->tool = xptr(strdup(tool));
	return 0;
}

static void add_merged(struct merge *merge, const struct benchmark *b, int clock)
{
	const char *tool = benchmark_tool(b);
	struct merged *merged;

	merge->items = xptr(reallocarray(merge->items, merge->n + 1, sizeof(*merge->items)));
	merged = &merge->items[merge->n++];
	*merged = (struct merged){
		.name = xptr(strdup(b->name)),
		.tool = tool ? xptr(strdup(tool)) : NULL,
		.clock = clock,
	};
	facts_copy(&merged->agreed, &b->metadata);
	facts_copy(&merged->common, &b->metadata);
	if (merged->agreed.failed || merged->common.failed)
		xalloc_fail();
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
	joined_reduce(&merged->common, &b->metadata);
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

static int add_part(struct merge *merge, struct source *source, struct benchmark *b, char **ret_why)
{
	struct part *part = &source->parts[source->n];
	size_t at = find_merged(merge, b->name, source->n);
	int r = 0;

	part->merged = at == SIZE_MAX ? merge->n : at;
	if (at == SIZE_MAX)
		add_merged(merge, b, b->kept->clock);
	else
		r = join_merged(&merge->items[at], b, b->kept->clock, ret_why);
	if (r >= 0)
		r = check_machine(merge, &merge->items[part->merged], b, ret_why);
	if (r >= 0)
		r = add_sittings(merge, &merge->items[part->merged], b, source->sitting,
			&part->has_sitting, ret_why);
	if (r < 0)
		return r;
	facts_add(&merge->items[part->merged].members, &b->kept->members);
	if (merge->items[part->merged].members.failed)
		xalloc_fail();
	part->kept = TAKE_PTR(b->kept);
	source->n++;
	return 0;
}

static int add_suite(
	struct merge *merge, struct source *source, struct suite *suite, char **ret_why)
{
	int r = 0;

	/* The same file is the same sitting whenever it is merged. */
	snprintf(source->sitting, sizeof(source->sitting), "%016" PRIx64, suite->hash);
	snprintf(source->sitting_json, sizeof(source->sitting_json), "\"%s\"", source->sitting);
	source->parts = xptr(calloc(suite->n, sizeof(*source->parts)));
	for (size_t i = 0; r >= 0 && i < suite->n; i++)
		r = add_part(merge, source, suite->benchmarks[i], ret_why);
	source->left_out = suite->left_out;
	suite->left_out = (struct facts){ 0 };
	facts_add(&merge->members, &suite->members);
	if (merge->members.failed)
		xalloc_fail();
	return r;
}

int merge_add(struct merge *merge, const char *path, struct input *input, char **ret_why)
{
	_cleanup_(suite) struct suite *suite = NULL;
	struct source *source;
	int r;

	xcheck(array_grow(&merge->sources, sizeof(*source), merge->n_sources, &merge->capacity));
	source = &merge->sources[merge->n_sources];
	*source = (struct source){ .path = xptr(strdup(path)) };
	r = document_read(input, &suite, ret_why);
	if (r >= 0)
		r = add_suite(merge, source, suite, ret_why);
	if (r < 0)
		source_clear(source);
	else
		merge->n_sources++;
	return r;
}

const struct facts *merge_left_out(const struct merge *merge)
{
	return &merge->sources[merge->n_sources - 1].left_out;
}

/* --- Writing --- */

static void choose_renamings(
	const struct merged *merged, struct renaming ret[ARRAY_SIZE(machine_keys) + 1])
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
		if (merged->renames[i])
			ret[n++] = (struct renaming){ machine_keys[i], names[i] };
	ret[n] = (struct renaming){ 0 };
}

/* Finds the runs of a merged benchmark, in the order of the files. A benchmark that no other file
 * has gets its sitting as well: another merge would not know its runs again. */
static size_t find_strands(const struct merge *merge, size_t merged, struct strand *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < merge->n_sources; i++) {
		const struct source *source = &merge->sources[i];
		bool needs_sitting = merge->n_sources > 1;

		for (size_t k = 0; k < source->n; k++)
			if (source->parts[k].merged == merged)
				ret[n++] = (struct strand){
					.kept = source->parts[k].kept,
					.sitting = needs_sitting && !source->parts[k].has_sitting
						? source->sitting_json
						: NULL,
				};
	}
	return n;
}

int merge_write(const struct merge *merge, FILE *stream)
{
	struct emit emit = { .stream = stream, .one_line = true };
	_cleanup_free_ struct strand *strands = xptr(calloc(merge->n_sources, sizeof(*strands)));
	int r = 0;

	joined_begin_file(&emit);
	for (size_t i = 0; r >= 0 && i < merge->n; i++) {
		struct renaming renamings[ARRAY_SIZE(machine_keys) + 1];

		choose_renamings(&merge->items[i], renamings);
		joined_separate(&emit, i);
		r = joined_write(&emit,
			&(struct joined){
				.strands = strands,
				.n = find_strands(merge, i, strands),
				.common = &merge->items[i].common,
				.stays = &merge->items[i].common,
				.members = &merge->items[i].members,
				.renamings = renamings,
			});
	}
	return r < 0 ? r : joined_end_file(&emit, &merge->members);
}
