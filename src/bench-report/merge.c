// SPDX-License-Identifier: GPL-2.0-or-later
/* merge: several files as one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/file.h"
#include "basic/macro.h"
#include "bench-report/bench-report.h"
#include "result/document.h"

struct inputs {
	struct document **documents;
	size_t n;
};

static int load_all(const struct request *request, struct inputs *inputs)
{
	inputs->documents = calloc(request->n_files, sizeof(struct document *));
	if (!inputs->documents)
		return -ENOMEM;
	for (size_t i = 0; i < request->n_files; i++) {
		_cleanup_free_ char *why = NULL;
		int r = document_load(request->files[i], &inputs->documents[i], &why);

		if (r < 0 && why)
			say("cannot read %s: %s", request->files[i], why);
		else if (r < 0)
			say_errno(r, "cannot read %s", request->files[i]);
		if (r < 0)
			return r;
		inputs->n++;
	}
	return 0;
}

static int write_merged(const struct request *request, const struct inputs *inputs)
{
	struct file_replace *file = NULL;
	_cleanup_free_ char *why = NULL;
	FILE *stream = stdout;
	int r = 0;

	if (request->output) {
		r = file_replace_begin(request->output, &file);
		if (r >= 0)
			stream = file_replace_stream(file);
	}
	if (r >= 0)
		r = document_merge(stream, inputs->documents, inputs->n, &why);
	if (r >= 0 && file)
		r = file_replace_commit(TAKE_PTR(file));
	file_replace_abort(file);
	if (r < 0 && why)
		say("cannot merge: %s", why);
	else if (r < 0)
		say_errno(r, "cannot write %s",
			request->output ? request->output : "to standard output");
	return r;
}

enum exit_status verb_merge(const struct request *request)
{
	struct inputs inputs = { 0 };
	int r;

	r = load_all(request, &inputs);
	if (r >= 0)
		r = write_merged(request, &inputs);
	for (size_t i = 0; i < inputs.n; i++)
		document_free(inputs.documents[i]);
	free(inputs.documents);
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}
