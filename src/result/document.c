// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "basic/macro.h"
#include "basic/text.h"
#include "result/document.h"
#include "result/input.h"
#include "result/metadata.h"
#include "result/splice.h"

#define DOCUMENT_SIZE_MAX (4LL * 1024 * 1024 * 1024)

/* --- Reading --- */

/* Opens a plain file; a FIFO or a device would block or never end. */
static int open_plain(const char *path, struct input **ret, char **ret_why)
{
	_cleanup_close_ int fd = -EBADF;
	unsigned char magic[2];
	struct stat st;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return text_refuse(ret_why, -EINVAL, "not a regular file");
	if (st.st_size > DOCUMENT_SIZE_MAX)
		return -EFBIG;
	if (pread(fd, magic, sizeof(magic), 0) == sizeof(magic) && magic[0] == 0x1f &&
		magic[1] == 0x8b)
		return text_refuse(ret_why, -EINVAL, "compressed by gzip: decompress it first");
	return input_adopt(TAKE_FD(fd), ret);
}

static int read_text(struct input *input, struct text *text)
{
	for (;;) {
		const char *piece;
		size_t size;
		int r;

		r = input_read(input, &piece, &size);
		if (r < 0 || size == 0)
			return r;
		if ((uint64_t)text->length + size > DOCUMENT_SIZE_MAX)
			return -EFBIG;
		text_append_n(text, piece, size);
		if (text->failed)
			return -ENOMEM;
	}
}

static int read_all_members(struct document *document)
{
	const struct outline *outline = &document->outline;
	int r;

	document->benchmarks = calloc(outline->n_benchmarks, sizeof(struct members));
	if (!document->benchmarks)
		return -ENOMEM;
	r = members_read(document->text, outline->metadata, &document->metadata);
	for (size_t i = 0; r >= 0 && i < outline->n_benchmarks; i++)
		r = members_read(
			document->text, outline->benchmarks[i].metadata, &document->benchmarks[i]);
	return r;
}

/* bench-report shows such a file, but pyperf does not load it. */
static int check_disputes(const struct document *document, char **ret_why)
{
	for (size_t i = 0; i < document->outline.n_benchmarks; i++) {
		const char *key = document->outline.benchmarks[i].disputed;

		if (key)
			return text_refuse(ret_why, -EINVAL,
				"no pyperf result: the runs of benchmark '%s' differ in metadata "
				"'%s'",
				document->suite->benchmarks[i]->name, key);
	}
	return 0;
}

/* Dates without a zone are local times, which the reader takes for UTC and the writer writes as
 * local times: the moment at which the clock on the wall showed that. A date that all runs share
 * stays in the metadata, with its zone. */
static void set_start(struct benchmark *b)
{
	time_t seconds = (time_t)(b->series->start_realtime_ns / NSEC_PER_SEC);
	int64_t fraction = b->series->start_realtime_ns % NSEC_PER_SEC;
	struct tm tm;

	b->series->start_realtime_ns = 0;
	if (!b->has_dates || facts_find(&b->metadata, "date") || !gmtime_r(&seconds, &tm))
		return;
	tm.tm_isdst = -1;
	b->series->start_realtime_ns = (int64_t)mktime(&tm) * NSEC_PER_SEC + fraction;
}

/* Writes what was read of another tool's result as one of format 1.0. */
static int write_converted(FILE *stream, const struct suite *suite)
{
	_cleanup_free_ struct document_part *parts = calloc(suite->n, sizeof(*parts));

	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i < suite->n; i++) {
		struct benchmark *b = suite->benchmarks[i];

		set_start(b);
		parts[i] = (struct document_part){ b->series, &b->metadata, b };
	}
	return document_write(stream, NULL, parts, suite->n);
}

/* Reads the text, which is of another tool or format, and makes it one of format 1.0. */
static int convert(struct document *document, char **ret_why)
{
	_cleanup_(suite) struct suite *suite = NULL;
	_cleanup_(input) struct input *input = NULL;
	_cleanup_free_ char *text = NULL;
	FILE *stream;
	size_t size;
	int r;

	r = input_open_memory(document->text, document->size, &input);
	if (r >= 0)
		r = suite_read_input(input, true, &suite, ret_why);
	if (r < 0)
		return r;
	stream = open_memstream(&text, &size);
	if (!stream)
		return -ENOMEM;
	r = write_converted(stream, suite);
	if (fclose(stream) != 0 && r >= 0)
		r = -ENOMEM;
	if (r < 0)
		return r;
	document->left_out = suite->left_out;
	suite->left_out = (struct facts){ 0 };
	free(document->text);
	document->text = TAKE_PTR(text);
	document->size = size;
	document->converted = true;
	return 0;
}

static int read_document(
	struct input *input, bool may_convert, struct document **ret, char **ret_why)
{
	_cleanup_(document) struct document *document = calloc(1, sizeof(*document));
	_cleanup_text_ struct text text = { 0 };
	int r;

	if (!document)
		return -ENOMEM;
	r = read_text(input, &text);
	if (r == -EBADMSG)
		return text_refuse(ret_why, -EINVAL, "the compressed data are damaged or cut off");
	if (r < 0)
		return r;
	/* Makes the text "" for an empty file. */
	text_append(&text, "");
	document->size = text.length;
	document->compressed = input_is_compressed(input);
	document->text = text_steal(&text);
	if (!document->text)
		return -ENOMEM;
	r = suite_read_text(
		document->text, document->size, &document->suite, &document->outline, ret_why);
	if (r == -EMEDIUMTYPE && may_convert) {
		r = convert(document, ret_why);
		if (r >= 0)
			r = suite_read_text(document->text, document->size, &document->suite,
				&document->outline, ret_why);
	} else if (r == -EMEDIUMTYPE) {
		return text_refuse(ret_why, -EINVAL,
			"a result of another tool or format can be looked at and merged, but not "
			"be appended to");
	}
	if (r >= 0)
		r = check_disputes(document, ret_why);
	if (r >= 0)
		r = read_all_members(document);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(document);
	return 0;
}

int document_read(const char *path, struct document **ret, char **ret_why)
{
	_cleanup_(input) struct input *input = NULL;
	int r;

	r = input_open(path, &input);
	if (r == -EINVAL)
		return text_refuse(ret_why, r, "neither a file nor a pipe");
	return r < 0 ? r : read_document(input, true, ret, ret_why);
}

int document_load(const char *path, struct document **ret, char **ret_why)
{
	_cleanup_(input) struct input *input = NULL;
	int r;

	r = open_plain(path, &input, ret_why);
	return r < 0 ? r : read_document(input, false, ret, ret_why);
}

void document_clear_members(struct document *document)
{
	for (size_t i = 0; document->benchmarks && i < document->outline.n_benchmarks; i++)
		members_clear(&document->benchmarks[i]);
	free(TAKE_PTR(document->benchmarks));
	members_clear(&document->metadata);
}

void document_clear(struct document *document)
{
	document_clear_members(document);
	outline_clear(&document->outline);
	suite_free(TAKE_PTR(document->suite));
	facts_clear(&document->left_out);
	free(TAKE_PTR(document->text));
}

void document_free(struct document *document)
{
	if (!document)
		return;
	document_clear(document);
	free(document);
}

/* --- Do runs agree? --- */

static char *describe_fact(const struct fact *fact)
{
	_cleanup_text_ struct text t = { 0 };
	char buffer[TEXT_REAL_SIZE];

	if (!fact)
		text_append(&t, "none");
	else if (fact->type == FACT_STRING)
		text_appendf(&t, "\"%s\"", fact->string);
	else if (fact->type == FACT_INTEGER)
		text_appendf(&t, "%" PRId64, fact->integer);
	else if (fact->type == FACT_BOOLEAN)
		text_append(&t, fact->integer ? "true" : "false");
	else
		text_append(&t, text_format_real(fact->real, buffer));
	return text_steal(&t);
}

static int describe_both(const struct fact *a, const struct fact *b, char **ret_a, char **ret_b)
{
	_cleanup_free_ char *text_a = describe_fact(a), *text_b = describe_fact(b);

	if (!text_a || !text_b)
		return -ENOMEM;
	*ret_a = TAKE_PTR(text_a);
	*ret_b = TAKE_PTR(text_b);
	return 1;
}

static struct fact make_clock_fact(int clock)
{
	/* The string is only read, never freed. */
	return (struct fact){
		.type = FACT_STRING,
		.string = (char *)window_clock_name((enum window_clock)clock),
	};
}

int document_find_difference(const struct agreed *a, const struct agreed *b, const char **ret_key,
	char **ret_a, char **ret_b)
{
	for (size_t i = 0; i < METADATA_N_AGREED; i++) {
		const char *key = metadata_agreed_keys[i];
		const struct fact *fact_a = facts_find(a->metadata, key);
		const struct fact *fact_b = facts_find(b->metadata, key);

		if ((!fact_a && !fact_b) ||
			(fact_a && fact_b && metadata_equal_facts(fact_a, fact_b)))
			continue;
		*ret_key = key;
		return describe_both(fact_a, fact_b, ret_a, ret_b);
	}
	if (a->clock >= 0 && b->clock >= 0 && a->clock != b->clock) {
		const struct fact clock_a = make_clock_fact(a->clock);
		const struct fact clock_b = make_clock_fact(b->clock);

		*ret_key = METADATA_CLOCK;
		return describe_both(&clock_a, &clock_b, ret_a, ret_b);
	}
	return 0;
}

static struct agreed get_agreed(const struct document *document, size_t index)
{
	return (struct agreed){
		.metadata = &document->suite->benchmarks[index]->metadata,
		.clock = document->outline.benchmarks[index].clock,
	};
}

int document_judge_append(
	const struct document *existing, const struct facts *metadata, char **ret_why)
{
	size_t index = suite_find_index(existing->suite, facts_find(metadata, "name")->string);
	const struct fact *clock = facts_find(metadata, METADATA_CLOCK);
	const struct agreed now = {
		.metadata = metadata,
		.clock = clock ? metadata_get_clock(clock) : -1,
	};
	_cleanup_free_ char *old_text = NULL, *new_text = NULL;
	struct agreed old;
	const char *key;
	int r;

	if (index == SIZE_MAX)
		return 0;
	old = get_agreed(existing, index);
	r = document_find_difference(&old, &now, &key, &old_text, &new_text);
	if (r <= 0)
		return r;
	return text_refuse(ret_why, -EINVAL, "metadata '%s' differ: %s in the file, %s now", key,
		old_text, new_text);
}

int document_check_append(
	const struct document *existing, const struct facts *metadata, char **ret_why)
{
	struct facts made;
	int r;

	r = metadata_make(metadata, &made);
	if (r == -EINVAL)
		return text_refuse(
			ret_why, -EINVAL, "the metadata of the new runs are no pyperf metadata");
	if (r < 0)
		return r;
	r = document_judge_append(existing, &made, ret_why);
	facts_clear(&made);
	return r;
}

/* The index of the benchmark with that name, as the file has it; SIZE_MAX where there is none. */
static int find_index(const struct document *existing, const char *name, size_t *ret)
{
	struct facts valid = { 0 };
	bool failed;

	metadata_set_string(&valid, "name", name);
	failed = valid.failed;
	*ret = valid.n > 0 ? suite_find_index(existing->suite, valid.items[0].string) : SIZE_MAX;
	facts_clear(&valid);
	return failed ? -ENOMEM : 0;
}

int document_find_clock(const struct document *existing, const char *name, enum window_clock *ret)
{
	size_t index;
	int r = find_index(existing, name, &index);

	if (r < 0)
		return r;
	if (index == SIZE_MAX || existing->outline.benchmarks[index].clock < 0)
		return -ENOENT;
	*ret = (enum window_clock)existing->outline.benchmarks[index].clock;
	return 0;
}

int document_find_string(
	const struct document *existing, const char *name, const char *key, char **ret)
{
	const char *value = NULL;
	char *copy = NULL;
	size_t index;
	int r = find_index(existing, name, &index);

	if (r < 0)
		return r;
	if (index != SIZE_MAX)
		value = facts_find_string(&existing->suite->benchmarks[index]->metadata, key);
	if (value && !(copy = strdup(value)))
		return -ENOMEM;
	*ret = copy;
	return 0;
}
