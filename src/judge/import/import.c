// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "base/xalloc.h"
#include "judge/harness/signs.h"
#include "judge/import/formats.h"
#include "judge/import/import.h"
#include "judge/result/json.h"
#include "judge/result/metadata.h"
#include "judge/result/recognize.h"

enum {
	SIZE_MAX_MIB =
		64, /* of a file: the longest of pytest-benchmark's have some millions of values */
};

/* Results in JSON are told by the first name in them, as those of reader.h are: of the object, or
 * where it is a list, of the first one in it. Others have brought the names into another order
 * where a name comes later that only one tool has. */
static const struct json_format {
	const char *name;
	bool in_list;
	const char *tool;
	import_function *read;
	bool is_everywhere;
} json_formats[] = {
	{ "machine_info", false, "pytest-benchmark", import_pytest, true },
	{ "jmhVersion", true, "JMH", import_jmh, true },
	{ "primaryMetric", true, "JMH", import_jmh, true },
	{ "commit_hash", false, "asv", import_asv },
	{ "result_columns", false, "asv", import_asv, true },
	{ "fio version", false, "fio", import_fio, true },
	{ "sampling_mode", false, "criterion", import_criterion, true },
	{ "group_id", false, "criterion", import_criterion },
	{ "mean", false, "criterion", import_criterion },
	/* Each line is an object. */
	{ "Time", false, "Go", import_go_events },
	{ "Action", false, "Go", import_go_events },
	{ "ImportPath", false, "Go", import_go_events },
	{ "counter-value", false, "perf stat", import_perf_json, true },
	{ "interval", false, "perf stat", import_perf_json },
	{ "cpu", false, "perf stat", import_perf_json },
	{ "name", true, "github-action-benchmark", import_custom },
	{ "unit", true, "github-action-benchmark", import_custom },
	{ "value", true, "github-action-benchmark", import_custom },
	{ "range", true, "github-action-benchmark", import_custom },
	{ "extra", true, "github-action-benchmark", import_custom },
};

/* Other texts, by the lines that they have. */
static const struct text_format {
	bool (*is)(const char *head, size_t size);
	const char *tool;
	import_function *read;
} text_formats[] = {
	{ import_is_go_text, "Go", import_go_text },
	{ import_is_perf_text, "perf stat", import_perf_text },
};

static const char import_formats[] =
	"; what is read: results of runpinned, pyperf, hyperfine, google-benchmark, go test -bench, "
	"criterion, JMH, pytest-benchmark, asv, perf stat -x and -j, fio and github-action-benchmark; "
	"with --harness NAME, what other programs print";

static const struct json_format *find_json_format(const char *head, size_t size)
{
	_cleanup_(input) struct input *input = input_open_memory(head, size);
	_cleanup_(json_reader) struct json_reader *reader = json_reader_new(input);
	struct json_token token;
	bool in_list;
	int r;

	json_allow_nan(reader);
	json_allow_repeats(reader);
	r = json_next(reader, &token);
	in_list = r >= 0 && token.type == JSON_TOKEN_ARRAY;
	if (in_list)
		r = json_next(reader, &token);
	if (r >= 0 && token.type == JSON_TOKEN_OBJECT)
		r = json_next(reader, &token);
	for (bool is_first = true; r >= 0 && token.type == JSON_TOKEN_NAME; is_first = false) {
		for (size_t i = 0; i < ARRAY_SIZE(json_formats); i++)
			if (json_formats[i].in_list == in_list &&
				(is_first || json_formats[i].is_everywhere) &&
				strcmp(json_formats[i].name, token.string) == 0)
				return &json_formats[i];
		r = json_next(reader, &token);
		if (r >= 0)
			r = json_skip(reader, &token);
		if (r >= 0)
			r = json_next(reader, &token);
	}
	return NULL;
}

/* What stands in front of a result: blank lines, "# started on ..." of perf stat -o, and what fio
 * has to say of its job. */
static size_t head_length(const char *head, size_t size)
{
	size_t at = 0;

	while (at < size) {
		if (head[at] == '#' || import_is_fio_note(head + at, size - at))
			while (at < size && head[at] != '\n')
				at++;
		else if (!strchr(" \t\r\n", head[at]) || head[at] == '\0')
			break;
		at += at < size;
	}
	return at;
}

static import_function *find_format(const char *head, size_t size, const char **ret_tool)
{
	size_t skip = head_length(head, size);

	if (skip < size && (head[skip] == '{' || head[skip] == '[')) {
		const struct json_format *format = find_json_format(head + skip, size - skip);

		*ret_tool = format ? format->tool : NULL;
		return format ? format->read : NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(text_formats); i++) {
		*ret_tool = text_formats[i].tool;
		if (text_formats[i].is(head, size))
			return text_formats[i].read;
	}
	return NULL;
}

/* Whether it begins as what reader.h reads. */
static bool begins_as_result(const char *head, size_t size)
{
	static const char *const names[] = { "\"benchmarks\"", "\"version\"", "\"metadata\"",
		"\"context\"", "\"results\"", "\"schema_version\"" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (memmem(head, size, names[i], strlen(names[i])))
			return true;
	return recognize(head, size);
}

/* Reads all that is left. */
static int read_all(struct input *input, const char *tool, struct text *ret, char **ret_why)
{
	const char *piece;
	size_t size;
	int r;

	while ((r = input_read(input, &piece, &size)) >= 0 && size > 0) {
		if (ret->length + size > SIZE_MAX_MIB * 1024 * 1024)
			return xrefuse(ret_why, -EINVAL, " a file of %s of more than %d MiB", tool,
				SIZE_MAX_MIB);
		text_append_n(ret, piece, size);
	}
	text_append(ret, "");
	if (ret->failed)
		xalloc_fail();
	if (r == -EBADMSG)
		return xrefuse(ret_why, -EINVAL, " the compressed data are damaged or cut off");
	return r;
}

/* Makes a result of what was imported. */
static int finish(struct imported *imported, struct import *ret, char **ret_why)
{
	_cleanup_free_ char *why = NULL;
	struct import import = { .is_imported = true };
	int r = imported_write(imported, &import.text, &import.left_out, &why);

	if (r < 0)
		return xrefuse(ret_why, r, " %s", why);
	import.input = input_open_memory(import.text.data, import.text.length);
	*ret = import;
	return 0;
}

static int import_all(struct input *input, const char *path, const struct harness *harness,
	const char *tool, import_function *read, struct import *ret, char **ret_why)
{
	_cleanup_(imported) struct imported *imported = imported_new(tool);
	_cleanup_text_ struct text text = { 0 };
	_cleanup_free_ char *why = NULL;
	struct import_source source = { .path = path };
	int r = read_all(input, tool, &text, ret_why);

	if (r < 0)
		return r;
	source.text = text.data;
	source.size = text.length;
	r = harness ? import_by_harness(&source, harness, imported, &why)
		    : read(&source, imported, &why);
	/* A place stands behind the name of the file without a blank. */
	if (r < 0)
		return xrefuse(ret_why, -EINVAL, "%s%s", parse_is_digit(*why) ? "" : " ", why);
	return finish(imported, ret, ret_why);
}

int import_open_input(struct input *input, const char *path, const struct harness *harness,
	struct import *ret, char **ret_why)
{
	_cleanup_(input) struct input *taken = input;
	import_function *read = NULL;
	const char *head, *tool = harness ? harness->name : NULL;
	size_t size;
	int r = input_peek(taken, &head, &size);

	if (r >= 0 && !harness)
		read = find_format(head, size, &tool);
	/* What cannot be read is told by who reads it. */
	if (r < 0 || (!harness && !read)) {
		*ret = (struct import){
			.is_unknown = r >= 0 && !begins_as_result(head, size),
			.input = TAKE_PTR(taken),
		};
		return 0;
	}
	return import_all(taken, path, harness, tool, read, ret, ret_why);
}

/* What a harness of those that are known prints, before anything is read; malloc'd. */
static char *find_program(struct input *input)
{
	struct output head = { 0 };

	return input_peek(input, &head.text, &head.size) >= 0 ? signs_recognize(&head, &head)
							      : NULL;
}

int import_open(const char *path, const struct harness *harness, struct import *ret, char **ret_why)
{
	struct input *input;
	int r = input_open(path, &input);

	if (r == -EISDIR && !harness) {
		_cleanup_(imported) struct imported *imported = imported_new("criterion");
		_cleanup_free_ char *why = NULL;

		r = import_criterion_folder(path, imported, &why);
		if (r < 0 && why)
			return xrefuse(ret_why, -EINVAL, " %s", why);
		return r < 0 ? -EISDIR : finish(imported, ret, ret_why);
	}
	if (r == -EINVAL)
		return xrefuse(ret_why, r, " neither a file nor a pipe");
	if (r >= 0)
		r = import_open_input(input, path, harness, ret, ret_why);
	if (r >= 0 && ret->is_unknown)
		ret->printed_by = find_program(ret->input);
	return r;
}

char *import_hint(const struct import *import)
{
	return import->printed_by ? xformat("; it is what %s prints, which --harness %s reads",
					    import->printed_by, import->printed_by)
				  : xptr(strdup(import->is_unknown ? import_formats : ""));
}

void import_clear(struct import *import)
{
	input_free(import->input);
	text_clear(&import->text);
	facts_clear(&import->left_out);
	free(import->printed_by);
	*import = (struct import){ 0 };
}
