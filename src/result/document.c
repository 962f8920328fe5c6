// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/macro.h"
#include "basic/text.h"
#include "result/document.h"
#include "result/input.h"
#include "result/metadata.h"
#include "result/tree.h"

#define DOCUMENT_SIZE_MAX (4LL * 1024 * 1024 * 1024)

/* --- What pyperf accepts --- */

/* NULL, or what is wrong with a value of metadata. */
static const char *judge_value(const char *key, const json_t *value)
{
	struct fact fact = { 0 };
	const json_t *tag;
	size_t i;

	if (json_is_array(value) && metadata_is_list(key)) {
		json_array_foreach(value, i, tag)
		{
			const char *objection = judge_value("tag", tag);

			if (objection)
				return objection;
		}
		return NULL;
	}
	if (json_is_string(value)) {
		fact.type = FACT_STRING;
		/* Looked at only. */
		fact.string = (char *)json_string_value(value);
	} else if (json_is_integer(value)) {
		fact.type = FACT_INTEGER;
		fact.integer = json_integer_value(value);
	} else if (json_is_real(value)) {
		fact.type = FACT_REAL;
		fact.real = json_real_value(value);
	} else {
		return "is neither a string nor a number";
	}
	return metadata_judge(key, &fact);
}

/* The metadata of a suite, benchmark or run: absent (NULL) or an object of good values. */
static int check_metadata(const char *of, json_t *owner, char **ret_why)
{
	json_t *metadata = json_object_get(owner, "metadata");
	const char *key, *objection;
	json_t *value;

	if (!metadata)
		return 0;
	if (!json_is_object(metadata))
		return text_refuse(
			ret_why, -EINVAL, "no pyperf result: metadata of %s are not an object", of);
	json_object_foreach(metadata, key, value)
	{
		objection = judge_value(key, value);
		if (objection)
			return text_refuse(ret_why, -EINVAL,
				"no pyperf result: metadata '%s' of %s %s", key, of, objection);
	}
	return 0;
}

static int check_run(json_t *run, const char *of, char **ret_why)
{
	json_t *values = json_object_get(run, "values"), *warmups = json_object_get(run, "warmups");
	json_t *value;
	size_t i;

	if (!json_is_object(run))
		return text_refuse(ret_why, -EINVAL, "no pyperf result: %s is not an object", of);
	if ((values && !json_is_array(values)) || (warmups && !json_is_array(warmups)))
		return text_refuse(
			ret_why, -EINVAL, "no pyperf result: values of %s are not a list", of);
	if (json_array_size(values) + json_array_size(warmups) == 0)
		return text_refuse(ret_why, -EINVAL, "no pyperf result: %s has no values", of);
	json_array_foreach(values, i, value)
	{
		if (!json_is_number(value) || !(json_number_value(value) > 0))
			return text_refuse(ret_why, -EINVAL,
				"no pyperf result: a value of %s is not a number "
				"above 0",
				of);
	}
	json_array_foreach(warmups, i, value)
	{
		json_t *loops = json_array_get(value, 0), *time = json_array_get(value, 1);

		if (json_array_size(value) != 2 || !json_is_integer(loops) ||
			json_integer_value(loops) < 1 || !json_is_number(time) ||
			!(json_number_value(time) >= 0))
			return text_refuse(ret_why, -EINVAL,
				"no pyperf result: a warm-up of %s is not [loops, value]", of);
	}
	return check_metadata(of, run, ret_why);
}

static int check_benchmark(json_t *root, size_t at, char **ret_why)
{
	json_t *benchmarks = json_object_get(root, "benchmarks");
	json_t *benchmark = json_array_get(benchmarks, at), *runs, *run;
	char of[80];
	const char *name;
	size_t i;
	int r;

	snprintf(of, sizeof(of), "benchmark %zu", at + 1);
	if (!json_is_object(benchmark))
		return text_refuse(ret_why, -EINVAL, "no pyperf result: %s is not an object", of);
	runs = json_object_get(benchmark, "runs");
	if (!runs)
		return text_refuse(
			ret_why, -EINVAL, "no pyperf result: key 'runs' of %s is missing", of);
	if (!json_is_array(runs) || json_array_size(runs) == 0)
		return text_refuse(
			ret_why, -EINVAL, "no pyperf result: runs of %s are not a filled list", of);
	r = check_metadata(of, benchmark, ret_why);
	if (r < 0)
		return r;
	json_array_foreach(runs, i, run)
	{
		snprintf(of, sizeof(of), "run %zu of benchmark %zu", i + 1, at + 1);
		r = check_run(run, of, ret_why);
		if (r < 0)
			return r;
	}
	name = tree_find_name(root, benchmark);
	if (!name)
		return text_refuse(
			ret_why, -EINVAL, "no pyperf result: benchmark %zu has no name", at + 1);
	for (i = 0; i < at; i++)
		if (metadata_equal_strings(
			    tree_find_name(root, json_array_get(benchmarks, i)), name))
			return text_refuse(ret_why, -EINVAL,
				"no pyperf result: two benchmarks are named '%s'", name);
	return 0;
}

static int check_root(json_t *root, char **ret_why)
{
	json_t *version = json_object_get(root, "version");
	json_t *benchmarks = json_object_get(root, "benchmarks");
	int r;

	if (!json_is_object(root))
		return text_refuse(ret_why, -EINVAL, "no pyperf result: not an object");
	if (!version)
		return text_refuse(ret_why, -EINVAL, "no pyperf result: key 'version' is missing");
	/* Older ones are integers. */
	if (json_is_integer(version))
		return text_refuse(ret_why, -EINVAL,
			"pyperf's format version %" JSON_INTEGER_FORMAT
			" is not 1.0, which is the one that is known here",
			json_integer_value(version));
	if (!json_is_string(version) || strcmp(json_string_value(version), "1.0") != 0)
		return text_refuse(
			ret_why, -EINVAL, "no pyperf result: key 'version' is not \"1.0\"");
	if (!benchmarks)
		return text_refuse(
			ret_why, -EINVAL, "no pyperf result: key 'benchmarks' is missing");
	if (!json_is_array(benchmarks) || json_array_size(benchmarks) == 0)
		return text_refuse(
			ret_why, -EINVAL, "no pyperf result: benchmarks are not a filled list");
	r = check_metadata("the suite", root, ret_why);
	for (size_t i = 0; r >= 0 && i < json_array_size(benchmarks); i++)
		r = check_benchmark(root, i, ret_why);
	return r;
}

/* --- Reading --- */

struct reader {
	FILE *stream;
	int error;
};

static size_t reader_fill(void *buffer, size_t length, void *data)
{
	struct reader *reader = data;
	size_t n;

	errno = 0;
	n = fread(buffer, 1, length, reader->stream);
	if (n == 0 && ferror(reader->stream)) {
		reader->error = errno > 0 ? -errno : -EIO;
		return (size_t)-1;
	}
	return n;
}

/* Opens a plain file; a FIFO or a device would block or never end. */
static int open_file(const char *path, FILE **ret, char **ret_why)
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
	*ret = fdopen(fd, "r");
	if (!*ret)
		return -errno;
	TAKE_FD(fd);
	return 0;
}

/* Whether memory was short since that was set to false: jansson 2.14 takes no notice where it
 * gathers a text (lex_save() in load.c), which then lacks a character. */
static bool was_short;

static void *allocate(size_t size)
{
	void *memory = malloc(size);

	was_short = was_short || !memory;
	return memory;
}

/* *failure: the error that made `fill` end. */
static int load(json_load_callback_t fill, void *data, const int *failure, struct document **ret,
	char **ret_why)
{
	_cleanup_(document) struct document *document = NULL;
	json_error_t error;
	int r;

	document = calloc(1, sizeof(*document));
	if (!document)
		return -ENOMEM;
	json_set_alloc_funcs(allocate, free);
	was_short = false;
	document->root = json_load_callback(fill, data, JSON_REJECT_DUPLICATES, &error);
	if (*failure < 0)
		return *failure;
	if (was_short || (!document->root && json_error_code(&error) == json_error_out_of_memory))
		return -ENOMEM;
	if (!document->root) {
		return text_refuse(
			ret_why, -EINVAL, "not JSON: %s at line %d", error.text, error.line);
	}
	r = check_root(document->root, ret_why);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(document);
	return 0;
}

int document_load_stream(FILE *stream, struct document **ret, char **ret_why)
{
	struct reader reader = { .stream = stream };

	return load(reader_fill, &reader, &reader.error, ret, ret_why);
}

/* An input as jansson wants it: pieces of its own sizes. */
struct unpacker {
	struct input *input;
	const char *piece; /* what is left of the last one */
	size_t left;
	int64_t total;
	int error;
};

static size_t unpacker_fill(void *buffer, size_t length, void *data)
{
	struct unpacker *unpacker = data;
	size_t n;

	if (unpacker->left == 0)
		unpacker->error = input_read(unpacker->input, &unpacker->piece, &unpacker->left);
	if (unpacker->error < 0)
		return (size_t)-1;
	n = MIN(length, unpacker->left);
	memcpy(buffer, unpacker->piece, n);
	unpacker->piece += n;
	unpacker->left -= n;
	unpacker->total += (int64_t)n;
	if (unpacker->total > DOCUMENT_SIZE_MAX) {
		unpacker->error = -EFBIG;
		return (size_t)-1;
	}
	return n;
}

int document_read(const char *path, struct document **ret, char **ret_why)
{
	_cleanup_(input) struct input *input = NULL;
	struct unpacker unpacker = { 0 };
	int r;

	r = input_open(path, &input);
	if (r == -EINVAL)
		return text_refuse(ret_why, r, "neither a file nor a pipe");
	if (r < 0)
		return r;
	unpacker.input = input;
	r = load(unpacker_fill, &unpacker, &unpacker.error, ret, ret_why);
	if (r == -EBADMSG)
		return text_refuse(ret_why, -EINVAL, "the compressed data are damaged or cut off");
	return r;
}

int document_load(const char *path, struct document **ret, char **ret_why)
{
	_cleanup_fclose_ FILE *stream = NULL;
	int r;

	r = open_file(path, &stream, ret_why);
	if (r < 0)
		return r;
	return document_load_stream(stream, ret, ret_why);
}

void document_free(struct document *document)
{
	if (!document)
		return;
	json_decref(document->root);
	free(document);
}

static int make_fact(const struct fact *fact, json_t **ret)
{
	switch (fact->type) {
	case FACT_STRING:
		return tree_make_string(fact->string, ret);
	case FACT_INTEGER:
		*ret = json_integer(fact->integer);
		break;
	case FACT_REAL:
		*ret = json_real(fact->real);
		break;
	}
	return *ret ? 0 : -ENOMEM;
}

int document_make_metadata(const struct facts *facts, json_t **ret)
{
	_cleanup_json_ json_t *metadata = json_object();
	int r;

	if (!metadata || facts->failed)
		return -ENOMEM;
	for (size_t i = 0; i < facts->n; i++) {
		const struct fact *fact = &facts->items[i];
		json_t *value = NULL;

		r = make_fact(fact, &value);
		if (r < 0)
			return r;
		if (!value)
			continue;
		if (judge_value(fact->name, value)) {
			json_decref(value);
			return -EINVAL;
		}
		r = tree_set_new(metadata, fact->name, value);
		if (r < 0)
			return r;
	}
	if (!json_is_string(json_object_get(metadata, "name")))
		return -EINVAL;
	if (!json_object_get(metadata, "unit")) {
		r = tree_set_string(metadata, "unit", "second");
		if (r < 0)
			return r;
	}
	*ret = TAKE_PTR(metadata);
	return 0;
}

/* --- May it be appended? --- */

/* What all runs of a benchmark have in common under that key; NULL when they have not. */
static json_t *find_common(
	const struct document *document, const json_t *benchmark, const char *key)
{
	json_t *runs = json_object_get(benchmark, "runs"), *run, *common = NULL;
	size_t i;

	json_array_foreach(runs, i, run)
	{
		json_t *value = tree_find_metadata(document->root, benchmark, run, key);

		if (i == 0)
			common = value;
		else if (!tree_equal(common, value))
			return NULL;
	}
	return common;
}

int document_judge_append(const struct document *existing, const json_t *metadata, char **ret_why)
{
	json_t *benchmark;

	benchmark = tree_find_benchmark(
		existing->root, json_string_value(json_object_get(metadata, "name")), NULL);
	if (!benchmark)
		return 0;
	for (size_t i = 0; i < TREE_N_AGREED_KEYS + 1; i++) {
		bool is_clock = i == TREE_N_AGREED_KEYS;
		const char *key = is_clock ? TREE_CLOCK_KEY : tree_agreed_keys[i];
		json_t *old = find_common(existing, benchmark, key);
		json_t *new = json_object_get(metadata, key);
		_cleanup_free_ char *old_text = NULL, *new_text = NULL;

		/* A file of pyperf itself has no clock of ours, and none is known before the first
		 * run. */
		if (is_clock && (!old || !new))
			continue;
		if (tree_equal(old, new))
			continue;
		old_text = tree_describe(old);
		new_text = tree_describe(new);
		if (!old_text || !new_text)
			return -ENOMEM;
		return text_refuse(ret_why, -EINVAL, "metadata '%s' differ: %s in the file, %s now",
			key, old_text, new_text);
	}
	return 0;
}

int document_check_append(
	const struct document *existing, const struct facts *metadata, char **ret_why)
{
	_cleanup_json_ json_t *object = NULL;
	int r;

	r = document_make_metadata(metadata, &object);
	if (r == -EINVAL)
		return text_refuse(
			ret_why, -EINVAL, "the metadata of the new runs are no pyperf metadata");
	if (r < 0)
		return r;
	return document_judge_append(existing, object, ret_why);
}

int document_find_clock(const struct document *existing, const char *name, enum window_clock *ret)
{
	_cleanup_json_ json_t *valid = NULL;
	json_t *benchmark, *value;
	int r;

	r = tree_make_string(name, &valid);
	if (r < 0)
		return r;
	benchmark =
		valid ? tree_find_benchmark(existing->root, json_string_value(valid), NULL) : NULL;
	if (!benchmark)
		return -ENOENT;
	value = find_common(existing, benchmark, TREE_CLOCK_KEY);
	for (int clock = WINDOW_KERNEL; clock <= WINDOW_USER; clock++) {
		if (json_is_string(value) &&
			strcmp(json_string_value(value),
				tree_clock_name((enum window_clock)clock)) == 0) {
			*ret = (enum window_clock)clock;
			return 0;
		}
	}
	return -ENOENT;
}
