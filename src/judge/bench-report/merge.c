// SPDX-License-Identifier: GPL-2.0-or-later
/* merge: several files as one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/bench-report/bench-report.h"
#include "judge/bench-report/export.h"
#include "judge/bench-report/files.h"
#include "judge/import/import.h"
#include "judge/result/document.h"

static int add_all(const struct request *request, struct merge *merge)
{
	_cleanup_folders_ struct file_names files = { 0 };
	int r = folders_expand(request, &files);

	if (r < 0)
		return r;
	for (size_t i = 0; i < files.n; i++) {
		_cleanup_import_ struct import import = { 0 };
		_cleanup_free_ char *why = NULL;

		r = import_open(files.items[i], request->harness, &import, &why);
		if (r >= 0)
			r = merge_add(merge, files.items[i], import.input, &why);
		if (r < 0 && why) {
			_cleanup_free_ char *hint = import_hint(&import);

			say("cannot merge %s: %s%s", file_label(files.items[i]),
				why + (*why == ' '), hint);
		} else if (r < 0)
			say_errno(r, "cannot merge %s", file_label(files.items[i]));
		if (r < 0)
			return r;
		say_left_out(files.items[i], &import.left_out);
		say_left_out(files.items[i], merge_left_out(merge));
	}
	return 0;
}

static int write_merged(const struct request *request, const struct merge *merge)
{
	struct file_replace *file = NULL;
	FILE *stream = stdout;
	int r = 0;

	if (request->output) {
		r = xcheck(file_replace_begin(request->output, &file));
		if (r >= 0)
			stream = file_replace_stream(file);
	}
	if (r >= 0)
		r = merge_write(merge, stream);
	if (r >= 0 && file)
		r = xcheck(file_replace_commit(TAKE_PTR(file)));
	file_replace_abort(file);
	if (r < 0)
		say("cannot write %s: %s", request->output ? request->output : "to standard output",
			file_replace_explain(r));
	return r;
}

/* Reads the file that was written, and tells what it holds. */
static int emit_written(const char *path)
{
	_cleanup_(suite) struct suite *suite = NULL;
	_cleanup_free_ char *why = NULL;
	struct emit emit = { .stream = stdout };
	int r;

	r = suite_read(path, false, &suite, &why);
	if (r < 0) {
		say("cannot read %s again: %s", path, why ? why : strerror(-r));
		return -EINVAL;
	}
	emit_object(&emit, NULL);
	emit_string(&emit, "output", path);
	emit_array(&emit, "benchmarks");
	for (size_t i = 0; i < suite->n; i++) {
		emit_object(&emit, NULL);
		emit_string(&emit, "name", suite->benchmarks[i]->name);
		emit_counts(&emit, suite->benchmarks[i]);
		emit_close(&emit, '}');
	}
	emit_close(&emit, ']');
	emit_close(&emit, '}');
	r = emit_finish(&emit);
	if (r < 0)
		say_errno(r, "cannot write to standard output");
	return r;
}

/* Ways of stamping differ by what they take of the program's time. */
static void say_mixed(const struct merge *merge)
{
	const char *name;
	size_t index = 0;

	while ((name = merge_next_mixed(merge, &index)))
		say("note: %s: some of its runs are stamped in another way than others "
		    "(quiesce_stamped_by): they may differ by that",
			name);
}

enum exit_status verb_merge(const struct request *request)
{
	_cleanup_(merge) struct merge *merge = merge_new();
	int r = add_all(request, merge);

	if (r >= 0)
		r = write_merged(request, merge);
	if (r >= 0)
		say_mixed(merge);
	/* Without -o the result itself is the JSON. */
	if (r >= 0 && request->json && request->output)
		r = emit_written(request->output);
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}
