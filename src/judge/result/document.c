// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/result/document.h"
#include "judge/result/input.h"
#include "judge/result/joining.h"
#include "judge/result/metadata.h"

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
		return xrefuse(ret_why, -EINVAL, "not a regular file");
	if (st.st_size > DOCUMENT_SIZE_MAX)
		return -EFBIG;
	if (pread(fd, magic, sizeof(magic), 0) == sizeof(magic) && magic[0] == 0x1f &&
		magic[1] == 0x8b)
		return xrefuse(ret_why, -EINVAL, "compressed by gzip: decompress it first");
	*ret = input_adopt(TAKE_FD(fd));
	return 0;
}

/* bench-report shows such a file, but pyperf does not load it. */
static int check_disputes(const struct suite *suite, char **ret_why)
{
	for (size_t i = 0; i < suite->n; i++)
		if (suite->benchmarks[i]->kept->disputed)
			return xrefuse(ret_why, -EINVAL,
				"no pyperf result: the runs of benchmark '%s' differ in metadata "
				"'%s'",
				suite->benchmarks[i]->name, suite->benchmarks[i]->kept->disputed);
	return 0;
}

/* Writes a benchmark of another tool, or of an old format of pyperf's, as one of format 1.0. Its
 * runs have no dates of their own, or have them in the metadata that are kept. */
static int write_converted(struct emit *emit, struct benchmark *b)
{
	struct facts made = { 0 };
	const struct strand strand = {
		.kept = b->kept,
		.series = b->series,
		.metadata = &made,
		.inside = b,
	};
	const struct joined joined = {
		.strands = &strand,
		.n = 1,
		.members = b->kept ? &b->kept->members : NULL,
	};
	int r = b->kept ? 0 : metadata_make(&b->metadata, &made);

	b->series->start_realtime_ns = 0;
	if (r >= 0)
		r = joined_write(emit, &joined);
	facts_clear(&made);
	return r;
}

static int write_all_converted(FILE *stream, const struct suite *suite)
{
	struct emit emit = { .stream = stream, .one_line = true };
	int r = 0;

	joined_begin_file(&emit);
	for (size_t i = 0; r >= 0 && i < suite->n; i++) {
		joined_separate(&emit, i);
		r = write_converted(&emit, suite->benchmarks[i]);
	}
	return r < 0 ? r : joined_end_file(&emit, &suite->members);
}

/* Makes a suite of another tool or format one that can be written again: writes and reads it. */
static int convert(struct suite **suite, char **ret_why)
{
	_cleanup_(suite) struct suite *converted = NULL, *old = TAKE_PTR(*suite);
	_cleanup_(input) struct input *input = NULL;
	_cleanup_free_ char *text = NULL;
	FILE *stream;
	size_t size;
	int r;

	/* A stream in memory fails for nothing but memory. */
	stream = xptr(open_memstream(&text, &size));
	r = write_all_converted(stream, old);
	if (fclose(stream) != 0 || !text)
		xalloc_fail();
	if (r < 0)
		return r;
	input = input_open_memory(text, size);
	r = suite_read_kept(input, &converted, ret_why);
	if (r < 0)
		return r;
	converted->hash = old->hash;
	converted->left_out = old->left_out;
	old->left_out = (struct facts){ 0 };
	*suite = TAKE_PTR(converted);
	return 0;
}

static int read_document(struct input *input, bool may_convert, struct suite **ret, char **ret_why)
{
	_cleanup_(suite) struct suite *suite = NULL;
	int r;

	r = suite_read_kept(input, &suite, ret_why);
	if (r == -EBADMSG || r == -ENODATA)
		r = -EINVAL;
	if (r >= 0 && suite->foreign && !may_convert)
		return xrefuse(ret_why, -EINVAL,
			"a result of another tool or format can be looked at and merged, but not "
			"be appended to");
	if (r >= 0 && suite->foreign)
		r = convert(&suite, ret_why);
	if (r >= 0)
		r = check_disputes(suite, ret_why);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(suite);
	return 0;
}

int document_read(struct input *input, struct suite **ret, char **ret_why)
{
	return read_document(input, true, ret, ret_why);
}

int document_load(const char *path, struct suite **ret, char **ret_why)
{
	_cleanup_(input) struct input *input = NULL;
	int r;

	r = open_plain(path, &input, ret_why);
	return r < 0 ? r : read_document(input, false, ret, ret_why);
}

/* --- Do runs agree? --- */

static char *describe_fact(const struct fact *fact)
{
	struct text t = { 0 };
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
	return xptr(text_steal(&t));
}

static struct fact make_clock_fact(int clock)
{
	/* The string is only read, never freed. */
	return (struct fact){
		.type = FACT_STRING,
		.string = (char *)window_clock_name((enum window_clock)clock),
	};
}

bool document_find_difference(const struct agreed *a, const struct agreed *b, const char **ret_key,
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
		*ret_a = describe_fact(fact_a);
		*ret_b = describe_fact(fact_b);
		return true;
	}
	if (a->clock >= 0 && b->clock >= 0 && a->clock != b->clock) {
		const struct fact clock_a = make_clock_fact(a->clock);
		const struct fact clock_b = make_clock_fact(b->clock);

		*ret_key = METADATA_CLOCK;
		*ret_a = describe_fact(&clock_a);
		*ret_b = describe_fact(&clock_b);
		return true;
	}
	return false;
}

int document_judge_append(
	const struct suite *existing, const struct facts *metadata, char **ret_why)
{
	const struct benchmark *b = suite_find(existing, facts_find(metadata, "name")->string);
	const struct fact *clock = facts_find(metadata, METADATA_CLOCK);
	const struct agreed now = {
		.metadata = metadata,
		.clock = clock ? metadata_get_clock(clock) : -1,
	};
	_cleanup_free_ char *old_text = NULL, *new_text = NULL;
	const char *key;

	if (!b ||
		!document_find_difference(&(struct agreed){ &b->metadata, b->kept->clock }, &now,
			&key, &old_text, &new_text))
		return 0;
	return xrefuse(ret_why, -EINVAL, "metadata '%s' differ: %s in the file, %s now", key,
		old_text, new_text);
}

int document_check_append(
	const struct suite *existing, const struct facts *metadata, char **ret_why)
{
	struct facts made;
	int r;

	r = metadata_make(metadata, &made);
	if (r == -EINVAL)
		return xrefuse(
			ret_why, -EINVAL, "the metadata of the new runs are no pyperf metadata");
	if (r < 0)
		return r;
	r = document_judge_append(existing, &made, ret_why);
	facts_clear(&made);
	return r;
}

/* The benchmark with that name, as the file has it; NULL where there is none. */
static const struct benchmark *find_benchmark(const struct suite *existing, const char *name)
{
	const struct benchmark *found;
	struct facts valid = { 0 };

	metadata_set_string(&valid, "name", name);
	if (valid.failed)
		xalloc_fail();
	found = valid.n > 0 ? suite_find(existing, valid.items[0].string) : NULL;
	facts_clear(&valid);
	return found;
}

int document_find_clock(const struct suite *existing, const char *name, enum window_clock *ret)
{
	const struct benchmark *b = find_benchmark(existing, name);

	if (!b || b->kept->clock < 0)
		return -ENOENT;
	*ret = (enum window_clock)b->kept->clock;
	return 0;
}

char *document_find_string(const struct suite *existing, const char *name, const char *key)
{
	const struct benchmark *b = find_benchmark(existing, name);
	const char *value = b ? facts_find_string(&b->metadata, key) : NULL;

	return value ? xptr(strdup(value)) : NULL;
}
