// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/say.h"
#include "base/where/userstate.h"
#include "base/xalloc.h"
#include "judge/result/csv.h"
#include "judge/result/document.h"
#include "judge/result/metadata.h"
#include "measure/ending.h"
#include "measure/save.h"

struct save {
	const char *output; /* the name of the result file for messages */
	struct file_replace *result;
	bool append;
	struct suite *existing; /* to append to; read while its file is locked */
	bool user_clock;
	char *stamper; /* who stamped the runs there, or NULL */
	char *control; /* of the runs there that get more; NULL: none, or not the same for all */
	const char *csv_name;
	struct file_replace *csv;
	bool json;
	char *last; /* path of the file that keeps the newest result */
	/* Why there is no such path, although one is wanted. */
	int last_error;
	char *last_why;
	const struct user *user; /* whose files these are; NULL: ours */
};

/* Refuses other controls, because runs with different controls could not be compared by them. */
static int check_control(const struct save *save, const char *known, const struct facts *metadata)
{
	const char *control = facts_find_string(metadata, BENCHMARK_CONTROL);

	if (!known || !control || strcmp(known, control) == 0)
		return 0;
	say("cannot append to %s: the control of its runs is '%s', and the control of these runs is '%s'",
		save->output, known, control);
	return -EINVAL;
}

static int check_append(
	const struct save *save, const struct suite *existing, const struct facts *metadata)
{
	_cleanup_free_ char *why = NULL;
	int r;

	r = document_check_append(existing, metadata, &why);
	if (r < 0)
		say("cannot append to %s: %s", save->output, why);
	return r;
}

/* The control of the benchmark in the file that gets these runs, malloc'd; NULL where it has none.
 */
static char *find_control(const struct suite *existing, const struct facts *metadata)
{
	const char *name = facts_find_string(metadata, "name");

	return name ? document_find_string(existing, name, BENCHMARK_CONTROL) : NULL;
}

/* Notes the control of the benchmarks in the file that get runs, among them the benchmark of the
 * control itself. */
static int note_control(
	struct save *save, const struct suite *existing, const struct commands *commands)
{
	for (size_t i = 0; i < commands->n; i++) {
		_cleanup_free_ char *control = find_control(existing, &commands->items[i].facts);

		if (control && save->control && strcmp(control, save->control) != 0) {
			say("cannot append to %s: its runs have two controls, '%s' and '%s'",
				save->output, save->control, control);
			return -EINVAL;
		}
		if (control && !save->control)
			save->control = TAKE_PTR(control);
	}
	if (save->control && !commands->items[commands->n - 1].is_control)
		say("warning: the runs in %s have a control (%s), and these runs have none: "
		    "together they cannot be compared by it",
			save->output, save->control);
	return 0;
}

/* Reads the file to append to; *ret is NULL where there is none yet. */
static int load_existing(const struct save *save, struct suite **ret)
{
	_cleanup_free_ char *why = NULL;
	int r;

	r = document_load(save->output, ret, &why);
	if (r == -ENOENT) {
		*ret = NULL;
		return 0;
	}
	if (r < 0 && why)
		say("cannot append to %s: %s", save->output, why);
	else if (r < 0)
		say_errno(r, "cannot append to %s", save->output);
	return r;
}

/* Before the runs: checks whether the commands can be appended to the existing file. */
static int check_existing(struct save *save, const struct commands *commands)
{
	_cleanup_(suite) struct suite *existing = NULL;
	int r;

	r = load_existing(save, &existing);
	for (size_t i = 0; r == 0 && existing && i < commands->n; i++) {
		const struct facts *metadata = &commands->items[i].facts;
		const struct fact *name = facts_find(metadata, "name");
		enum window_clock clock;

		r = check_append(save, existing, metadata);
		if (name && document_find_clock(existing, name->string, &clock) == 0 &&
			clock == WINDOW_USER)
			save->user_clock = true;
		if (r == 0 && name && !save->stamper)
			save->stamper =
				document_find_string(existing, name->string, METADATA_STAMPS);
	}
	return r == 0 && existing ? note_control(save, existing, commands) : r;
}

static int open_one(const char *path, struct file_replace **ret)
{
	int r;

	r = file_replace_begin(path, ret);
	if (r < 0)
		say("cannot write %s: %s", path, file_replace_explain(r));
	return r;
}

static int open_all(
	struct save *save, const struct options *options, const struct commands *commands)
{
	int r;

	save->output = options->output;
	save->csv_name = options->csv;
	save->json = options->json;
	save->append = options->append;
	if (options->append) {
		r = check_existing(save, commands);
		if (r < 0)
			return r;
	}
	if (options->output) {
		r = open_one(options->output, &save->result);
		if (r < 0)
			return r;
	}
	if (options->csv) {
		r = open_one(options->csv, &save->csv);
		if (r < 0)
			return r;
	}
	if (!options->output && !options->csv && !options->json && !options->no_save &&
		!options->dry_run)
		save->last_error = userstate_path("last.json", &save->last, &save->last_why);
	return 0;
}

int save_open(const struct options *options, const struct commands *commands, struct save **ret)
{
	_cleanup_(save) struct save *save = xptr(calloc(1, sizeof(*save)));
	int r;

	save->user = options->user;
	user_enter(save->user);
	r = open_all(save, options, commands);
	user_leave(save->user);
	if (r == 0)
		*ret = TAKE_PTR(save);
	return r;
}

bool save_wants_user_clock(const struct save *save)
{
	return save->user_clock;
}

const char *save_get_stamper(const struct save *save)
{
	return save->stamper;
}

const char *save_get_control(const struct save *save)
{
	return save->control;
}

int save_check_control(const struct save *save, const struct facts *metadata)
{
	return check_control(save, save->control, metadata);
}

/* Writes the new result alone into a temporary folder after its own place failed, and says so. If
 * this fails too, it says that, and does not touch *ret_place. */
static void rescue(const struct document_part *parts, size_t n, char **ret_place)
{
	const char *const folders[] = { getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm" };
	int r = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		_cleanup_free_ char *path = NULL;
		_cleanup_fclose_ FILE *stream = NULL;
		int fd;

		if (!folders[i] || folders[i][0] != '/')
			continue;
		path = xformat("%s/runpinned-XXXXXX.json", folders[i]);
		/* Exclusive and 0600, so that nobody else can have made the file. */
		fd = mkostemps(path, (int)strlen(".json"), O_CLOEXEC);
		r = fd < 0 ? -errno : 0;
		if (r < 0)
			continue;
		ending_set_file(path);
		stream = fdopen(fd, "w");
		if (!stream) {
			r = -errno;
			close(fd);
		} else {
			r = document_write(stream, NULL, parts, n);
		}
		ending_set_file(NULL);
		if (r == 0) {
			say("the result is in %s instead", path);
			*ret_place = TAKE_PTR(path);
			return;
		}
		unlink(path);
	}
	say_errno(r, "the result cannot be written to a temporary folder either");
}

/* Whether the runs in the file are timed by another clock than the new ones, whose clock is known
 * only after the runs. */
static bool clocks_differ(const struct save *save, const struct document_part *part)
{
	const struct fact *name = facts_find(part->metadata, "name");
	enum window_clock clock;

	return save->existing && name &&
		document_find_clock(save->existing, name->string, &clock) == 0 &&
		clock != part->series->clock;
}

/* Locks and reads the file again: other processes may have appended while the runs were made. The
 * lock is held until the result is written. */
static int reload_existing(struct save *save, const struct document_part *parts, size_t n)
{
	int r;

	r = file_replace_lock(save->result);
	if (r == -EAGAIN) {
		say("cannot append to %s: another process keeps its folder locked", save->output);
		return r;
	}
	if (r < 0) {
		say_errno(r, "cannot append to %s: its folder cannot be locked", save->output);
		return r;
	}
	r = load_existing(save, &save->existing);
	for (size_t i = 0; r == 0 && save->existing && i < n; i++) {
		_cleanup_free_ char *control = find_control(save->existing, parts[i].metadata);

		r = check_append(save, save->existing, parts[i].metadata);
		if (r == 0)
			r = check_control(save, control, parts[i].metadata);
		if (r == 0 && clocks_differ(save, &parts[i])) {
			say("cannot append to %s: its runs and these are stamped by different clocks",
				save->output);
			r = -EINVAL;
		}
	}
	return r;
}

static int write_result(struct save *save, const struct document_part *parts, size_t n)
{
	int r;

	r = document_write(file_replace_stream(save->result), save->existing, parts, n);
	if (r == 0)
		r = file_replace_commit(TAKE_PTR(save->result));
	if (r < 0)
		say_errno(r, "cannot write %s", save->output);
	return r;
}

static int commit_result(
	struct save *save, const struct document_part *parts, size_t n, char **ret_place)
{
	int r;

	r = save->append ? reload_existing(save, parts, n) : 0;
	if (r == 0)
		r = write_result(save, parts, n);
	if (r == 0) {
		*ret_place = xptr(strdup(save->output));
		return 0;
	}
	file_replace_abort(TAKE_PTR(save->result));
	rescue(parts, n, ret_place);
	return r;
}

static int write_csv(FILE *stream, const struct document_part *parts, size_t n)
{
	_cleanup_free_ struct csv_part *tables = NULL;

	if (n == 1 && !parts[0].inside)
		return csv_write(stream, parts[0].series);
	tables = xptr(calloc(n, sizeof(*tables)));
	for (size_t i = 0; i < n; i++) {
		const struct fact *name = facts_find(parts[i].metadata, "name");

		tables[i] = (struct csv_part){ name ? name->string : "", parts[i].series,
			parts[i].inside };
	}
	return csv_write_all(stream, tables, n);
}

static int commit_csv(struct save *save, const struct document_part *parts, size_t n)
{
	int r;

	r = write_csv(file_replace_stream(save->csv), parts, n);
	if (r < 0)
		file_replace_abort(TAKE_PTR(save->csv));
	else
		r = file_replace_commit(TAKE_PTR(save->csv));
	if (r < 0)
		say_errno(r, "cannot write %s", save->csv_name);
	return r;
}

static int write_last(const struct save *save, const struct document_part *parts, size_t n)
{
	struct file_replace *file;
	int r;

	if (!save->last)
		return save->last_error;
	r = file_replace_begin(save->last, &file);
	if (r < 0)
		return r;
	r = document_write(file_replace_stream(file), NULL, parts, n);
	if (r == 0)
		return file_replace_commit(file);
	file_replace_abort(file);
	return r;
}

/* The user did not ask for this file: an error while writing it is not a failure of the
 * measurement. */
static void commit_last(
	struct save *save, const struct document_part *parts, size_t n, char **ret_place)
{
	int r = write_last(save, parts, n);

	if (r < 0 && save->last_why)
		say("warning: the result is not kept, and -o FILE would keep it: %s",
			save->last_why);
	else if (r < 0)
		say_errno(r,
			"warning: the result is not kept, and -o FILE would keep it: cannot write %s",
			save->last ? save->last : "last.json");
	else
		*ret_place = TAKE_PTR(save->last);
}

static int commit_all(
	struct save *save, const struct document_part *parts, size_t n, char **ret_place)
{
	_cleanup_free_ char *place = NULL;
	int result = 0, r;

	if (save->result)
		result = commit_result(save, parts, n, &place);
	if (save->csv) {
		r = commit_csv(save, parts, n);
		if (result == 0)
			result = r;
		if (r == 0 && !place)
			place = xptr(strdup(save->csv_name));
		else if (r < 0 && !save->output && !save->json)
			rescue(parts, n, &place);
	}
	if (save->json) {
		r = document_write(stdout, NULL, parts, n);
		if (r < 0)
			say_errno(r, "cannot write to standard output");
		if (result == 0)
			result = r;
	}
	if (save->last || save->last_error)
		commit_last(save, parts, n, &place);
	*ret_place = TAKE_PTR(place);
	return result;
}

int save_commit(struct save *save, const struct document_part *parts, size_t n, char **ret_place)
{
	int r;

	user_enter(save->user);
	r = commit_all(save, parts, n, ret_place);
	user_leave(save->user);
	return r;
}

void save_free(struct save *save)
{
	if (!save)
		return;
	user_enter(save->user);
	file_replace_abort(save->result);
	file_replace_abort(save->csv);
	user_leave(save->user);
	suite_free(save->existing);
	free(save->stamper);
	free(save->control);
	free(save->last);
	free(save->last_why);
	free(save);
}
