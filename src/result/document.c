// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "basic/macro.h"
#include "basic/text.h"
#include "result/document.h"
#include "result/metadata.h"

#define DOCUMENT_SIZE_MAX (4LL * 1024 * 1024 * 1024)
#define CLOCK_KEY "quiesce_clock"

struct document {
	json_t *root;
};

static inline void cleanup_json(json_t **json)
{
	json_decref(*json);
}
#define _cleanup_json_ __attribute__((cleanup(cleanup_json)))

/* _bench.py: _CHECKED_METADATA. */
static const char *const agreed_keys[] = {
	"aslr",
	"cpu_count",
	"cpu_model_name",
	"hostname",
	"inner_loops",
	"name",
	"platform",
	"python_executable",
	"python_implementation",
	"python_unicode",
	"python_version",
	"unit",
};

/* Python's ==: 1 and 1.0 are equal. NULL is None. */
static bool equal_values(const json_t *a, const json_t *b)
{
	if (!a || !b)
		return a == b;
	if (json_is_string(a) && json_is_string(b))
		return metadata_equal_strings(json_string_value(a), json_string_value(b));
	if (json_is_integer(a) && json_is_integer(b))
		return json_integer_value(a) == json_integer_value(b);
	if (json_is_number(a) && json_is_number(b))
		return json_number_value(a) == json_number_value(b);
	return json_equal(a, b);
}

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

/* The value for one run: its own, else the benchmark's, else the suite's. */
static json_t *find_metadata(
	const json_t *root, const json_t *benchmark, const json_t *run, const char *key)
{
	const json_t *owners[] = { run, benchmark, root };

	for (size_t i = 0; i < ARRAY_SIZE(owners); i++) {
		json_t *value = json_object_get(json_object_get(owners[i], "metadata"), key);

		if (value)
			return value;
	}
	return NULL;
}

static const char *find_name(const json_t *root, const json_t *benchmark)
{
	const json_t *first = json_array_get(json_object_get(benchmark, "runs"), 0);

	return json_string_value(find_metadata(root, benchmark, first, "name"));
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
	name = find_name(root, benchmark);
	if (!name)
		return text_refuse(
			ret_why, -EINVAL, "no pyperf result: benchmark %zu has no name", at + 1);
	for (i = 0; i < at; i++)
		if (metadata_equal_strings(find_name(root, json_array_get(benchmarks, i)), name))
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

static int load_stream(FILE *stream, struct document **ret, char **ret_why)
{
	_cleanup_(document) struct document *document = NULL;
	struct reader reader = { .stream = stream };
	json_error_t error;
	int r;

	document = calloc(1, sizeof(*document));
	if (!document)
		return -ENOMEM;
	document->root = json_load_callback(reader_fill, &reader, JSON_REJECT_DUPLICATES, &error);
	if (!document->root) {
		if (reader.error < 0)
			return reader.error;
		if (json_error_code(&error) == json_error_out_of_memory)
			return -ENOMEM;
		return text_refuse(
			ret_why, -EINVAL, "not JSON: %s at line %d", error.text, error.line);
	}
	r = check_root(document->root, ret_why);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(document);
	return 0;
}

int document_load(const char *path, struct document **ret, char **ret_why)
{
	_cleanup_fclose_ FILE *stream = NULL;
	int r;

	r = open_file(path, &stream, ret_why);
	if (r < 0)
		return r;
	return load_stream(stream, ret, ret_why);
}

void document_free(struct document *document)
{
	if (!document)
		return;
	json_decref(document->root);
	free(document);
}

/* --- Metadata of the new series --- */

/* Text that pyperf loads, or NULL in *ret for one of blanks only. */
static int make_string(const char *s, json_t **ret)
{
	_cleanup_free_ char *plain = NULL, *valid = NULL;

	plain = text_escape_control(s);
	if (!plain)
		return -ENOMEM;
	valid = text_escape_utf8(plain);
	if (!valid)
		return -ENOMEM;
	*ret = NULL;
	if (metadata_is_blank(valid))
		return 0;
	*ret = json_string(valid);
	return *ret ? 0 : -ENOMEM;
}

/* Takes the value, which may be NULL when memory was short. */
static int set_new(json_t *object, const char *key, json_t *value)
{
	_cleanup_free_ char *valid = NULL;

	if (!value)
		return -ENOMEM;
	valid = text_escape_utf8(key);
	if (!valid) {
		json_decref(value);
		return -ENOMEM;
	}
	return json_object_set_new(object, valid, value) < 0 ? -ENOMEM : 0;
}

static int set_string(json_t *object, const char *key, const char *s)
{
	json_t *value;
	int r;

	r = make_string(s, &value);
	if (r < 0)
		return r;
	return value ? set_new(object, key, value) : 0;
}

static int make_fact(const struct fact *fact, json_t **ret)
{
	switch (fact->type) {
	case FACT_STRING:
		return make_string(fact->string, ret);
	case FACT_INTEGER:
		*ret = json_integer(fact->integer);
		break;
	case FACT_REAL:
		*ret = json_real(fact->real);
		break;
	}
	return *ret ? 0 : -ENOMEM;
}

/* The metadata as an object; -EINVAL where pyperf would not load them. */
static int make_metadata(const struct facts *facts, json_t **ret)
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
		r = set_new(metadata, fact->name, value);
		if (r < 0)
			return r;
	}
	if (!json_is_string(json_object_get(metadata, "name")))
		return -EINVAL;
	if (!json_object_get(metadata, "unit")) {
		r = set_string(metadata, "unit", "second");
		if (r < 0)
			return r;
	}
	*ret = TAKE_PTR(metadata);
	return 0;
}

static const char *clock_name(enum window_clock clock)
{
	return clock == WINDOW_KERNEL ? "kernel" : "user";
}

/* --- May it be appended? --- */

/* The benchmark that has this name; NULL when there is none. */
static json_t *find_benchmark(const struct document *document, const char *name, size_t *ret_at)
{
	json_t *benchmark;
	size_t i;

	json_array_foreach(json_object_get(document->root, "benchmarks"), i, benchmark)
	{
		if (metadata_equal_strings(find_name(document->root, benchmark), name)) {
			if (ret_at)
				*ret_at = i;
			return benchmark;
		}
	}
	return NULL;
}

/* What all runs of a benchmark have in common under that key; NULL when they have not. */
static json_t *find_common(
	const struct document *document, const json_t *benchmark, const char *key)
{
	json_t *runs = json_object_get(benchmark, "runs"), *run, *common = NULL;
	size_t i;

	json_array_foreach(runs, i, run)
	{
		json_t *value = find_metadata(document->root, benchmark, run, key);

		if (i == 0)
			common = value;
		else if (!equal_values(common, value))
			return NULL;
	}
	return common;
}

static char *describe_value(const json_t *value)
{
	if (!value)
		return strdup("none");
	return json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
}

static int check_append(const struct document *existing, const json_t *metadata, char **ret_why)
{
	json_t *benchmark;

	benchmark = find_benchmark(
		existing, json_string_value(json_object_get(metadata, "name")), NULL);
	if (!benchmark)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(agreed_keys) + 1; i++) {
		bool is_clock = i == ARRAY_SIZE(agreed_keys);
		const char *key = is_clock ? CLOCK_KEY : agreed_keys[i];
		json_t *old = find_common(existing, benchmark, key);
		json_t *new = json_object_get(metadata, key);
		_cleanup_free_ char *old_text = NULL, *new_text = NULL;

		/* A file of pyperf itself has no clock of ours, and none is known before the first
		 * run. */
		if (is_clock && (!old || !new))
			continue;
		if (equal_values(old, new))
			continue;
		old_text = describe_value(old);
		new_text = describe_value(new);
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

	r = make_metadata(metadata, &object);
	if (r == -EINVAL)
		return text_refuse(
			ret_why, -EINVAL, "the metadata of the new runs are no pyperf metadata");
	if (r < 0)
		return r;
	return check_append(existing, object, ret_why);
}

int document_find_clock(const struct document *existing, const char *name, enum window_clock *ret)
{
	_cleanup_json_ json_t *valid = NULL;
	json_t *benchmark, *value;
	int r;

	r = make_string(name, &valid);
	if (r < 0)
		return r;
	benchmark = valid ? find_benchmark(existing, json_string_value(valid), NULL) : NULL;
	if (!benchmark)
		return -ENOENT;
	value = find_common(existing, benchmark, CLOCK_KEY);
	for (int clock = WINDOW_KERNEL; clock <= WINDOW_USER; clock++) {
		if (json_is_string(value) &&
			strcmp(json_string_value(value), clock_name((enum window_clock)clock)) ==
				0) {
			*ret = (enum window_clock)clock;
			return 0;
		}
	}
	return -ENOENT;
}

/* --- Writing --- */

/* The first error sticks. */
struct out {
	FILE *stream;
	int error;
};

static int out_bytes(const char *buffer, size_t size, void *data)
{
	struct out *out = data;

	if (out->error < 0)
		return -1;
	errno = 0;
	if (fwrite(buffer, 1, size, out->stream) == size)
		return 0;
	out->error = errno > 0 ? -errno : -EIO;
	return -1;
}

static void out_text(struct out *out, const char *s)
{
	(void)out_bytes(s, strlen(s), out);
}

/*
 * Is the number one of at most 15 digits? Most are, and read better than 17 digits, which every
 * double needs for the way back in general. A mantissa below 2^53 divided by a power of ten up to
 * 22 is rounded once, hence right, and so equal to what any reader makes of those 15 digits.
 */
static bool is_short(double value)
{
	double power, mantissa;
	int digits;

	if (value == 0)
		return true;
	digits = 14 - (int)floor(log10(fabs(value)));
	if (digits < 0 || digits > 22)
		return false;
	power = pow(10, digits);
	mantissa = nearbyint(fabs(value) * power);
	return mantissa < 1e15 && mantissa / power == fabs(value);
}

static bool all_short(const json_t *json)
{
	const char *key;
	json_t *value;
	size_t i;

	if (json_is_real(json))
		return is_short(json_real_value(json));
	if (json_is_array(json)) {
		json_array_foreach(json, i, value)
		{
			if (!all_short(value))
				return false;
		}
	}
	if (json_is_object(json)) {
		json_object_foreach((json_t *)json, key, value)
		{
			if (!all_short(value))
				return false;
		}
	}
	return true;
}

static void out_json(struct out *out, const json_t *json)
{
	size_t digits = all_short(json) ? 15 : 17;

	if (out->error < 0)
		return;
	if (!json ||
		json_dump_callback(
			json, out_bytes, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits)) < 0) {
		/* Not the stream: it is memory, then. */
		if (out->error == 0)
			out->error = -ENOMEM;
	}
}

/* "key": with a comma before it, but for the first. */
static void out_key(struct out *out, const char *key, bool *first)
{
	_cleanup_json_ json_t *name = json_string(key);

	if (!*first)
		out_text(out, ", ");
	*first = false;
	out_json(out, name);
	out_text(out, ": ");
}

/* A copy of `over` below whose keys those of `under` lie: the keys of `over` win. */
static json_t *make_merged(json_t *under, json_t *over)
{
	_cleanup_json_ json_t *merged = json_copy(under);

	if (!merged || (over && json_object_update(merged, over) < 0))
		return NULL;
	return TAKE_PTR(merged);
}

/* What is in metadata and has no key in `keys` (or has one, if has is true), as a new object. */
static json_t *make_part(json_t *metadata, const json_t *keys, bool has)
{
	_cleanup_json_ json_t *part = json_object();
	const char *key;
	json_t *value;

	if (!part)
		return NULL;
	json_object_foreach(metadata, key, value)
	{
		if ((json_object_get(keys, key) != NULL) == has &&
			json_object_set(part, key, value) < 0)
			return NULL;
	}
	return TAKE_PTR(part);
}

/* An object of the file that exists, with other metadata. Written over by the callers are those
 * keys that hold lists of further objects; `each` writes the list. */
static void out_object(struct out *out, json_t *object, json_t *metadata, const char *list_key,
	void (*out_list)(struct out *out, json_t *list, void *context), void *context)
{
	bool first = true, has_metadata = false;
	const char *key;
	json_t *value;

	out_text(out, "{");
	json_object_foreach(object, key, value)
	{
		out_key(out, key, &first);
		if (strcmp(key, "metadata") == 0) {
			has_metadata = true;
			out_json(out, metadata);
		} else if (list_key && strcmp(key, list_key) == 0) {
			out_list(out, value, context);
		} else {
			out_json(out, value);
		}
	}
	if (!has_metadata && json_object_size(metadata) > 0) {
		out_key(out, "metadata", &first);
		out_json(out, metadata);
	}
	out_text(out, "}");
}

/* Everything that the lists below need. */
struct plan {
	const struct series *series;
	bool with_env_pad;
	json_t *metadata;		/* of the new runs */
	const struct benchmark *inside; /* whose values are written; NULL: the series' own */
	json_t *run_metadata;		/* the part of it that each new run has to carry itself */
	size_t target;	      /* benchmark that takes the runs, or SIZE_MAX for a new one */
	json_t *suite_moved;  /* of the existing suite: what does not hold for the new runs */
	json_t *target_moved; /* the same for the target benchmark, with suite_moved below it */
};

/* Nanoseconds as a number of seconds. */
static json_t *make_seconds(int64_t ns)
{
	return json_real((double)ns / (double)NSEC_PER_SEC);
}

/* Local time, as pyperf has it: datetime.isoformat(' '). */
static int set_date(json_t *metadata, const struct series *series, const struct sample *sample)
{
	int64_t ns = series->start_realtime_ns + sample->start_ns;
	time_t seconds = (time_t)(ns / NSEC_PER_SEC);
	struct tm tm;
	char date[64];
	size_t n;

	if (series->start_realtime_ns <= 0 || ns <= 0 || !localtime_r(&seconds, &tm))
		return 0;
	n = strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
	if (n == 0)
		return 0;
	snprintf(date + n, sizeof(date) - n, ".%06lld", (long long)(ns % NSEC_PER_SEC / 1000));
	return set_new(metadata, "date", json_string(date));
}

static int set_evidence(json_t *metadata, const struct series *series, size_t index)
{
	const struct evidence *evidence = &series->evidence[index];
	_cleanup_free_ char *lines = series_irq_text(series, index);
	_cleanup_free_ char *softirqs = series_softirq_text(series, index);
	const struct {
		const char *key;
		float celsius;
	} temperatures[] = {
		{ "quiesce_temperature_before", evidence->temperature_before },
		{ "quiesce_temperature_after", evidence->temperature_after },
	};
	char text[64];
	int r = 0;

	if (!lines || !softirqs)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < evidence_n_fields; i++) {
		const struct evidence_field *field = &evidence_fields[i];
		int64_t value;

		if (!evidence_get(evidence, field, &value))
			continue;
		snprintf(text, sizeof(text), "quiesce_%s", field->name);
		r = set_new(
			metadata, text, field->seconds ? make_seconds(value) : json_integer(value));
	}
	if (r >= 0)
		r = set_string(metadata, "quiesce_irq_lines", lines);
	if (r >= 0)
		r = set_string(metadata, "quiesce_softirqs", softirqs);
	if (r >= 0 && evidence->runnable >= 0)
		r = set_new(metadata, "runnable_threads", json_integer(evidence->runnable));
	/* A float has 7 digits: rounded to what the kernel shows, it stays what it was. */
	if (r >= 0 && isfinite(evidence->load1) && evidence->load1 >= 0)
		r = set_new(metadata, "load_avg_1min",
			json_real(round((double)evidence->load1 * 100) / 100));
	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(temperatures); i++) {
		if (!isfinite(temperatures[i].celsius))
			continue;
		r = set_new(metadata, temperatures[i].key,
			json_real(round((double)temperatures[i].celsius * 100) / 100));
	}
	if (r >= 0 && isfinite(evidence->temperature_after)) {
		snprintf(text, sizeof(text), "package=%.0f C", (double)evidence->temperature_after);
		r = set_new(metadata, "cpu_temp", json_string(text));
	}
	return r;
}

static int set_counters(json_t *metadata, const struct series *series, size_t index)
{
	for (size_t i = 0; i < series->n_events; i++) {
		double value = series->counters[index * series->n_events + i];
		_cleanup_free_ char *key = NULL;
		int r;

		/* Scaled counts are estimates: a fraction of an event says nothing. */
		if (!isfinite(value) || fabs(value) >= 9e18)
			continue;
		if (asprintf(&key, "quiesce_event_%s", series->event_names[i]) < 0) {
			key = NULL;
			return -ENOMEM;
		}
		r = set_new(metadata, key, json_integer(llround(value)));
		if (r < 0)
			return r;
	}
	return 0;
}

static int set_run_metadata(json_t *metadata, const struct plan *plan, size_t index)
{
	const struct series *series = plan->series;
	const struct sample *sample = &series->samples[index];
	_cleanup_free_ char *flags = sample_flags_text(sample->flags);
	int r;

	if (!flags)
		return -ENOMEM;
	r = set_date(metadata, series, sample);
	if (r >= 0 && sample->warmup)
		r = set_new(
			metadata, "calibrate_warmups", json_integer((json_int_t)series->n_warmups));
	if (r >= 0 && sample->user_ns > 0)
		r = set_new(metadata, "duration", make_seconds(sample->user_ns));
	if (r >= 0 && sample->max_rss_kib > 0)
		r = set_new(metadata, "command_max_rss",
			json_integer((json_int_t)sample->max_rss_kib * 1024));
	if (r >= 0)
		r = set_new(metadata, "quiesce_start", make_seconds(sample->start_ns));
	if (r >= 0 && sample->kernel_ns > 0)
		r = set_new(metadata, "quiesce_window_kernel", make_seconds(sample->kernel_ns));
	if (r >= 0 && sample->user_ns > 0)
		r = set_new(metadata, "quiesce_window_user", make_seconds(sample->user_ns));
	if (r >= 0)
		r = set_string(metadata, "quiesce_flags", flags);
	if (r >= 0 && sample->status != 0)
		r = set_new(metadata, "quiesce_status", json_integer(sample->status));
	if (r >= 0 && plan->with_env_pad)
		r = set_new(metadata, "quiesce_env_pad", json_integer(sample->env_pad));
	if (r >= 0 && series->with_evidence)
		r = set_evidence(metadata, series, index);
	if (r >= 0)
		r = set_counters(metadata, series, index);
	return r;
}

/* The window as the one value, or the one warm-up. */
static int set_window_value(json_t *run, const struct plan *plan, size_t index)
{
	json_t *value = json_real(series_value(plan->series, index));

	if (!value)
		return -ENOMEM;
	if (plan->series->samples[index].warmup)
		return set_new(run, "warmups", json_pack("[[i,o]]", 1, value));
	return set_new(run, "values", json_pack("[o]", value));
}

/* Where the warm-ups of a run begin that was measured inside. */
static size_t first_warmup(const struct benchmark *inside, size_t index)
{
	return index > 0 ? inside->runs[index - 1].warmup_end : 0;
}

/* A run without a value is worth a line only as a warm-up: that is what pyperf knows. */
static bool has_inside(const struct benchmark *inside, size_t index)
{
	size_t first, n;

	benchmark_run_values(inside, index, &first, &n);
	if (inside->series->samples[index].warmup)
		return inside->runs[index].warmup_end > first_warmup(inside, index);
	return n > 0;
}

static int set_inside_values(json_t *run, const struct benchmark *inside, size_t index)
{
	size_t first, n, warmup = first_warmup(inside, index);
	json_t *list;
	int r = 0;

	benchmark_run_values(inside, index, &first, &n);
	if (inside->runs[index].warmup_end > warmup) {
		list = json_array();
		r = set_new(run, "warmups", list);
		for (; r >= 0 && warmup < inside->runs[index].warmup_end; warmup++)
			r = json_array_append_new(list,
				    json_pack("[I,f]", (json_int_t)inside->warmups[warmup].loops,
					    inside->warmups[warmup].value)) < 0
				? -ENOMEM
				: 0;
	}
	if (r >= 0 && n > 0) {
		list = json_array();
		r = set_new(run, "values", list);
		for (size_t i = first; r >= 0 && i < first + n; i++)
			r = json_array_append_new(list, json_real(inside->values[i])) < 0 ? -ENOMEM
											  : 0;
	}
	return r;
}

static json_t *make_run(const struct plan *plan, size_t index)
{
	_cleanup_json_ json_t *run = json_object();
	json_t *metadata;
	int r;

	if (!run)
		return NULL;
	r = plan->inside ? set_inside_values(run, plan->inside, index)
			 : set_window_value(run, plan, index);
	if (r < 0)
		return NULL;
	metadata = json_copy(plan->run_metadata);
	if (set_new(run, "metadata", metadata) < 0 || set_run_metadata(metadata, plan, index) < 0)
		return NULL;
	if (plan->inside &&
		set_new(metadata, "loops",
			json_integer((json_int_t)plan->inside->runs[index].loops)) < 0)
		return NULL;
	return TAKE_PTR(run);
}

/* The runs of the series, each on its line, as elements of a list. */
static void out_series(struct out *out, const struct plan *plan, bool first)
{
	for (size_t i = 0; i < plan->series->n_samples && out->error == 0; i++) {
		_cleanup_json_ json_t *run = NULL;

		if (plan->inside && !has_inside(plan->inside, i))
			continue;
		run = make_run(plan, i);
		out_text(out, first ? "\n" : ",\n");
		first = false;
		out_json(out, run);
	}
}

struct benchmark_context {
	const struct plan *plan;
	bool is_target;
};

static void out_runs(struct out *out, json_t *runs, void *context)
{
	const struct benchmark_context *benchmark = context;
	const struct plan *plan = benchmark->plan;
	bool moved = benchmark->is_target && json_object_size(plan->target_moved) > 0;
	json_t *run;
	size_t i;

	out_text(out, "[");
	json_array_foreach(runs, i, run)
	{
		_cleanup_json_ json_t *metadata = NULL;

		out_text(out, i == 0 ? "\n" : ",\n");
		if (!moved) {
			out_json(out, run);
			continue;
		}
		metadata = make_merged(plan->target_moved, json_object_get(run, "metadata"));
		out_object(out, run, metadata, NULL, NULL, NULL);
	}
	if (benchmark->is_target)
		out_series(out, plan, false);
	out_text(out, "]");
}

static void out_new_benchmark(struct out *out, const struct plan *plan)
{
	out_text(out, "{\"metadata\": ");
	out_json(out, plan->metadata);
	out_text(out, ", \"runs\": [");
	out_series(out, plan, true);
	out_text(out, "]}");
}

static void out_benchmarks(struct out *out, json_t *benchmarks, void *context)
{
	const struct plan *plan = context;
	json_t *benchmark;
	size_t i;

	out_text(out, "[");
	json_array_foreach(benchmarks, i, benchmark)
	{
		struct benchmark_context own = { plan, i == plan->target };
		json_t *old = json_object_get(benchmark, "metadata");
		_cleanup_json_ json_t *metadata = own.is_target
			? make_part(old, plan->metadata, true)
			: make_merged(plan->suite_moved, old);

		if (i > 0)
			out_text(out, ", ");
		out_object(out, benchmark, metadata, "runs", out_runs, &own);
	}
	if (plan->target == SIZE_MAX) {
		out_text(out, ", ");
		out_new_benchmark(out, plan);
	}
	out_text(out, "]");
}

/* What of the existing metadata has to move, and what the new runs have to carry. */
static int make_plan(const struct document *existing, struct plan *plan, json_t **ret_suite_kept)
{
	json_t *suite = json_object_get(existing->root, "metadata");
	json_t *target = NULL, *target_metadata = NULL, *value;
	_cleanup_json_ json_t *kept = NULL, *part = NULL;
	const char *key;

	target = find_benchmark(existing,
		json_string_value(json_object_get(plan->metadata, "name")), &plan->target);
	target_metadata = json_object_get(target, "metadata");
	kept = make_part(suite, plan->metadata, true);
	plan->suite_moved = make_part(suite, plan->metadata, false);
	part = make_part(target_metadata, plan->metadata, false);
	if (!kept || !plan->suite_moved || !part)
		return -ENOMEM;
	if (target) {
		plan->target_moved = make_merged(plan->suite_moved, part);
		if (!plan->target_moved)
			return -ENOMEM;
		json_object_foreach(plan->metadata, key, value)
		{
			json_t *inherited = json_object_get(target_metadata, key);

			if (!inherited)
				inherited = json_object_get(kept, key);
			if (!equal_values(inherited, value) &&
				json_object_set(plan->run_metadata, key, value) < 0)
				return -ENOMEM;
		}
	}
	*ret_suite_kept = TAKE_PTR(kept);
	return 0;
}

/* Before the first byte: what would make a file that cannot be loaded? */
static int check_series(const struct series *series, const struct benchmark *inside)
{
	if (series->n_samples == 0 || (inside && inside->n_values == 0))
		return -ENODATA;
	for (size_t i = 0; inside && i < inside->n_values; i++)
		if (!(inside->values[i] > 0))
			return -EDOM;
	if (inside)
		return 0;
	for (size_t i = 0; i < series->n_samples; i++)
		if (!(series_value(series, i) > 0))
			return -EDOM;
	return 0;
}

static int finish_stream(FILE *stream)
{
	errno = 0;
	if (fflush(stream) != 0 || ferror(stream))
		return errno > 0 ? -errno : -EIO;
	return 0;
}

/* Makes what a part needs to be written. */
static int prepare(const struct document_part *part, struct plan *plan)
{
	const struct series *series = part->series;
	int r;

	*plan = (struct plan){ .series = series, .inside = part->inside, .target = SIZE_MAX };
	r = check_series(series, part->inside);
	if (r < 0)
		return r;
	for (size_t i = 0; i < series->n_samples; i++)
		plan->with_env_pad = plan->with_env_pad || series->samples[i].env_pad > 0;
	r = make_metadata(part->metadata, &plan->metadata);
	if (r < 0)
		return r;
	plan->run_metadata = json_object();
	if (!plan->run_metadata)
		return -ENOMEM;
	/* The clock of the window. What was measured inside has its own (quiesce_stamps). */
	if (part->inside)
		return 0;
	return set_string(plan->metadata, CLOCK_KEY, clock_name(series->clock));
}

static void plan_clear(struct plan *plan)
{
	json_decref(plan->metadata);
	json_decref(plan->run_metadata);
	json_decref(plan->suite_moved);
	json_decref(plan->target_moved);
}

static int write_appended(
	FILE *stream, const struct document *existing, const struct document_part *part)
{
	_cleanup_json_ json_t *suite_kept = NULL;
	_cleanup_free_ char *why = NULL;
	struct out out = { .stream = stream };
	struct plan plan;
	int r;

	r = prepare(part, &plan);
	if (r >= 0)
		r = check_append(existing, plan.metadata, &why);
	if (r >= 0)
		r = make_plan(existing, &plan, &suite_kept);
	if (r >= 0) {
		out_object(&out, existing->root, suite_kept, "benchmarks", out_benchmarks, &plan);
		out_text(&out, "\n");
		r = out.error;
	}
	plan_clear(&plan);
	return r < 0 ? r : finish_stream(stream);
}

/* One after the other, each to what the last one made. */
static int append_all(
	FILE *stream, const struct document *existing, const struct document_part *parts, size_t n)
{
	_cleanup_(document) struct document *grown = NULL;

	for (size_t i = 0; i + 1 < n; i++) {
		_cleanup_free_ char *why = NULL;
		_cleanup_fclose_ FILE *memory = NULL;
		_cleanup_(document) struct document *next = NULL;
		int fd, r;

		fd = memfd_create("result", MFD_CLOEXEC);
		if (fd < 0)
			return -errno;
		memory = fdopen(fd, "w+");
		if (!memory) {
			r = -errno;
			close(fd);
			return r;
		}
		r = write_appended(memory, existing, &parts[i]);
		if (r < 0)
			return r;
		rewind(memory);
		r = load_stream(memory, &next, &why);
		if (r < 0)
			return r;
		document_free(grown);
		existing = grown = TAKE_PTR(next);
	}
	return write_appended(stream, existing, &parts[n - 1]);
}

static int write_new(FILE *stream, const struct document_part *parts, size_t n)
{
	_cleanup_free_ struct plan *plans = calloc(n, sizeof(*plans));
	struct out out = { .stream = stream };
	int r = plans ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = prepare(&parts[i], &plans[i]);
	if (r >= 0) {
		out_text(&out, "{\"version\": \"1.0\", \"benchmarks\": [");
		for (size_t i = 0; i < n; i++) {
			if (i > 0)
				out_text(&out, ", ");
			out_new_benchmark(&out, &plans[i]);
		}
		out_text(&out, "]}\n");
		r = out.error;
	}
	for (size_t i = 0; plans && i < n; i++)
		plan_clear(&plans[i]);
	return r < 0 ? r : finish_stream(stream);
}

/* A file with one name twice is refused by pyperf. */
static bool names_differ(const struct document_part *parts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < i; j++) {
			const struct fact *a = facts_find(parts[i].metadata, "name");
			const struct fact *b = facts_find(parts[j].metadata, "name");

			if (a && b && a->type == FACT_STRING && b->type == FACT_STRING &&
				metadata_equal_strings(a->string, b->string))
				return false;
		}
	}
	return true;
}

int document_write_all(
	FILE *stream, const struct document *existing, const struct document_part *parts, size_t n)
{
	if (n == 0 || !names_differ(parts, n))
		return -EINVAL;
	if (existing)
		return append_all(stream, existing, parts, n);
	return write_new(stream, parts, n);
}

int document_write(FILE *stream, const struct document *existing, const struct series *series,
	const struct facts *metadata)
{
	const struct document_part part = { .series = series, .metadata = metadata };

	return document_write_all(stream, existing, &part, 1);
}

/* --- Merging --- */

/* A run with all that is said of it, wherever that stood. NULL when memory is short. */
static json_t *make_whole_run(json_t *root, json_t *benchmark, json_t *run)
{
	json_t *layers[] = { root, benchmark, run };
	_cleanup_json_ json_t *whole = json_copy(run);
	json_t *metadata = json_object();

	if (!whole || set_new(whole, "metadata", metadata) < 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(layers); i++) {
		json_t *own = json_object_get(layers[i], "metadata");

		if (own && json_object_update(metadata, own) < 0)
			return NULL;
	}
	return TAKE_PTR(whole);
}

/* What pyperf asks of the runs of one benchmark, and our clock. */
static int check_agreement(const char *name, json_t *old, json_t *new, char **ret_why)
{
	for (size_t i = 0; i < ARRAY_SIZE(agreed_keys) + 1; i++) {
		bool is_clock = i == ARRAY_SIZE(agreed_keys);
		const char *key = is_clock ? CLOCK_KEY : agreed_keys[i];
		json_t *a = json_object_get(json_object_get(old, "metadata"), key);
		json_t *b = json_object_get(json_object_get(new, "metadata"), key);
		_cleanup_free_ char *old_text = NULL, *new_text = NULL;

		if (equal_values(a, b) || (is_clock && (!a || !b)))
			continue;
		old_text = describe_value(a);
		new_text = describe_value(b);
		if (!old_text || !new_text)
			return -ENOMEM;
		return text_refuse(ret_why, -EINVAL,
			"benchmark '%s': metadata '%s' differ: %s and %s", name, key, old_text,
			new_text);
	}
	return 0;
}

/* Appends the benchmarks of one document to those of `merged`. */
static int merge_one(json_t *merged, const struct document *document, char **ret_why)
{
	json_t *benchmarks = json_object_get(document->root, "benchmarks"), *benchmark, *run;
	struct document target = { .root = merged };
	size_t i, k;
	int r;

	json_array_foreach(benchmarks, i, benchmark)
	{
		const char *name = find_name(document->root, benchmark);
		json_t *into = find_benchmark(&target, name, NULL);

		json_array_foreach(json_object_get(benchmark, "runs"), k, run)
		{
			json_t *whole = make_whole_run(document->root, benchmark, run);

			if (!whole)
				return -ENOMEM;
			if (into) {
				r = check_agreement(name,
					json_array_get(json_object_get(into, "runs"), 0), whole,
					ret_why);
				if (r < 0) {
					json_decref(whole);
					return r;
				}
			} else {
				into = json_pack("{s:[]}", "runs");
				if (json_array_append_new(
					    json_object_get(merged, "benchmarks"), into) < 0) {
					json_decref(whole);
					return -ENOMEM;
				}
			}
			if (json_array_append_new(json_object_get(into, "runs"), whole) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

/* Moves what all runs of a benchmark have in common to the benchmark. */
static int hoist_metadata(json_t *benchmark)
{
	json_t *runs = json_object_get(benchmark, "runs"), *run, *value;
	json_t *first = json_object_get(json_array_get(runs, 0), "metadata");
	_cleanup_json_ json_t *common = json_copy(first);
	const char *key;
	void *next;
	size_t i;

	if (!common)
		return -ENOMEM;
	json_array_foreach(runs, i, run)
	{
		json_object_foreach_safe(common, next, key, value)
		{
			if (!equal_values(
				    value, json_object_get(json_object_get(run, "metadata"), key)))
				(void)json_object_del(common, key);
		}
	}
	json_array_foreach(runs, i, run)
	{
		json_object_foreach(common, key, value)
		{
			(void)json_object_del(json_object_get(run, "metadata"), key);
		}
		if (json_object_size(json_object_get(run, "metadata")) == 0)
			(void)json_object_del(run, "metadata");
	}
	return json_object_set(benchmark, "metadata", common) < 0 ? -ENOMEM : 0;
}

int document_merge(FILE *stream, struct document *const *documents, size_t n, char **ret_why)
{
	_cleanup_json_ json_t *merged = json_pack("{s:s, s:[]}", "version", "1.0", "benchmarks");
	struct out out = { .stream = stream };
	json_t *benchmark;
	size_t i;
	int r;

	if (!merged)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		r = merge_one(merged, documents[i], ret_why);
		if (r < 0)
			return r;
	}
	json_array_foreach(json_object_get(merged, "benchmarks"), i, benchmark)
	{
		r = hoist_metadata(benchmark);
		if (r < 0)
			return r;
	}
	out_json(&out, merged);
	out_text(&out, "\n");
	return out.error < 0 ? out.error : finish_stream(stream);
}
