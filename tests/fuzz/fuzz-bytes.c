// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What reads bytes that others hand over, under libFuzzer: an archive of a recorded machine, a
 * result that is merged or appended to, what a measured program says of itself, and what the
 * launcher writes. FUZZ_TARGET names one of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "judge/harness/benchfmt.h"
#include "judge/harness/extract.h"
#include "judge/harness/harness.h"
#include "judge/import/import.h"
#include "judge/result/document.h"
#include "judge/result/metric.h"
#include "look/recording/tarball.h"
#include "measure/progvalues.h"
#include "measure/runlog.h"
#include "measure/serve/httpanswer.h"
#include "measure/tree.h"
#include "measure/window.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool is)
{
	if (!is)
		abort();
}

/* A file in memory. */
static int hold(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	must(fd >= 0 && write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

/* --- An archive --- */

static char scratch[] = "/dev/shm/quiesce-fuzz-XXXXXX";

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)type;
	must(S_ISDIR(st->st_mode) || S_ISREG(st->st_mode) || S_ISLNK(st->st_mode));
	must((st->st_mode & (S_ISUID | S_ISGID)) == 0);
	return where->level == 0 ? 0 : remove(path);
}

static void fuzz_tarball(const uint8_t *data, size_t size)
{
	int fd = hold(data, size), directory = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *why = NULL;
	int r;

	must(directory >= 0);
	r = tarball_unpack(fd, directory, &why);
	must(r == 0 ? !why : r == -EBADMSG ? !!why : true);
	/* Each input begins with an empty directory. */
	must(nftw(scratch, remove_entry, 8, FTW_DEPTH | FTW_PHYS) == 0);
	free(why);
	close(directory);
	close(fd);
}

/* --- A result that is written again --- */

static bool is_result(const char *text, size_t size)
{
	struct suite *suite = NULL;
	struct input *input;
	char *why = NULL;

	input = input_open_memory(text, size);
	(void)suite_read_kept(input, &suite, &why);
	input_free(input);
	free(why);
	suite_free(suite);
	return !why;
}

static int add(struct merge *merge, const char *path, char **ret_why)
{
	struct input *input = NULL;
	int r = input_open(path, &input);

	if (r == 0)
		r = merge_add(merge, path, input, ret_why);
	input_free(input);
	return r;
}

static void fuzz_document(const uint8_t *data, size_t size)
{
	int fd = hold(data, size);
	struct merge *merge = NULL;
	char path[64], *why = NULL, *text = NULL;
	size_t text_size;
	FILE *stream;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	merge = merge_new();
	if (add(merge, path, &why) == 0) {
		must(!why);
		(void)add(merge, path, &why);
		stream = open_memstream(&text, &text_size);
		must(stream != NULL);
		if (!why)
			(void)merge_write(merge, stream);
		must(fclose(stream) == 0);
		/* What goes to a terminal, if nobody says where else to. */
		for (size_t i = 0; i < text_size; i++)
			must(((unsigned char)text[i] >= 0x20 || text[i] == '\n') &&
				text[i] != 0x7f);
		must(text_size == 0 || is_result(text, text_size));
		free(text);
	}
	must(!why || !strchr(why, '\n'));
	free(why);
	merge_free(merge);
	close(fd);
}

/* --- Of a run --- */

static void fuzz_values(const uint8_t *data, size_t size)
{
	struct progvalues *progvalues = progvalues_new();
	char *copy = malloc(size + 1), *why = NULL;
	int r;

	must(copy);
	memcpy(copy, data, size);
	copy[size] = '\0';
	r = progvalues_take(progvalues, 0, size % 2 == 0, copy, size, &why);
	must(r == 0 || r == -ENOMEM || (r == -EBADMSG && why));
	free(why);
	progvalues_free(progvalues);
	free(copy);
}

/* Takes the next bytes of the input; when there are not enough, the rest is zero. */
static void take(const uint8_t **data, size_t *size, void *ret, size_t wanted)
{
	size_t n = MIN(*size, wanted);

	memset(ret, 0, wanted);
	memcpy(ret, *data, n);
	*data += n;
	*size -= n;
}

static void put(int fd, const void *bytes, size_t size)
{
	must(write(fd, bytes, size) == (ssize_t)size);
}

/* The run log of a launcher that writes wrong data: records of any kind in any order. The input
 * gives the kinds, the sizes of the texts and some of the bytes. */
static void fuzz_runlog(const uint8_t *data, size_t size)
{
	uint8_t n_files;
	struct runlog *runlog = NULL;
	struct runlog_run run;
	int fd = runlog_fd_create();
	struct stat st;

	take(&data, &size, &n_files, 1);
	n_files %= 4;
	must(fd >= 0 && runlog_new(fd, n_files, &runlog) == 0);
	while (size > 0) {
		struct launch_report report = { 0 };
		uint8_t choice, text[64];
		uint32_t kind;
		int16_t length;

		take(&data, &size, &choice, 1);
		kind = choice % 5;
		put(fd, &kind, sizeof(kind));
		if (kind == RUNLOG_REPORT) {
			take(&data, &size, &report, MIN((size_t)choice, sizeof(report)));
			put(fd, &report, sizeof(report));
			continue;
		}
		for (unsigned i = 0; i < n_files; i++) {
			take(&data, &size, &length, sizeof(length));
			put(fd, &(int32_t){ length }, sizeof(int32_t));
		}
		take(&data, &size, &choice, 1);
		take(&data, &size, text, choice % sizeof(text));
		put(fd, text, choice % sizeof(text));
	}
	must(fstat(fd, &st) == 0);
	if (runlog_load(runlog, (size_t)st.st_size) == 0) {
		while (runlog_next(runlog, &run) == 1) {
			for (size_t i = 0; run.after && i < n_files; i++) {
				const struct runlog_text *reading = &run.after->texts[i];

				must(reading->size < 0 || reading->data[reading->size] == '\0');
			}
		}
	}
	runlog_free(runlog);
	close(fd);
}

enum {
	RING_SIZE = 4096,
	RINGS_MAX = 3
};

/* Writes a record into the ring, as far as there is room: of a kind, a task, a moment and a CPU
 * that the input chooses among a few, so that records have to do with each other; or bytes of the
 * input as they are. */
static size_t put_record(uint8_t *ring, size_t at, const uint8_t **data, size_t *size)
{
	static const uint32_t kinds[] = { PERF_RECORD_COMM, PERF_RECORD_FORK, PERF_RECORD_EXIT,
		PERF_RECORD_SWITCH, PERF_RECORD_LOST, PERF_RECORD_SWITCH, 12345 };
	static const uint16_t miscs[] = { 0, PERF_RECORD_MISC_SWITCH_OUT,
		PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
		PERF_RECORD_MISC_COMM_EXEC };
	struct {
		struct perf_event_header header;
		uint32_t task[4];
		uint64_t task_time;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
	} record = { 0 };
	uint8_t choice, tasks, raw[64];
	int16_t time;

	_Static_assert(sizeof(record) == 56, "without padding");
	take(data, size, &choice, 1);
	if (choice % 16 == 15) {
		size_t n = MIN(sizeof(raw), RING_SIZE - at);

		take(data, size, raw, n);
		memcpy(ring + at, raw, n);
		return at + n;
	}
	if (at + sizeof(record) > RING_SIZE)
		return at;
	take(data, size, &tasks, 1);
	take(data, size, &time, sizeof(time));
	record.header = (struct perf_event_header){
		.type = kinds[choice % ARRAY_SIZE(kinds)],
		.misc = miscs[choice / 64],
		.size = sizeof(record),
	};
	for (size_t i = 0; i < 4; i++)
		record.task[i] = 100 + (tasks >> i) % 8;
	record.pid = 100 + tasks % 4;
	record.tid = 100 + tasks / 4 % 8;
	record.time = (uint64_t)(int64_t)time;
	record.cpu = tasks / 32;
	memcpy(ring + at, &record, sizeof(record));
	return at + sizeof(record);
}

/* The records of perf events on up to three CPUs. The kernel writes them, in an order and with
 * gaps that nobody chooses. */
static void fuzz_records(const uint8_t *data, size_t size)
{
	static uint8_t rings[RINGS_MAX][RING_SIZE];
	struct records records[RINGS_MAX];
	struct window window = { 0 };
	struct tree tree = { 0 };
	uint8_t n;

	take(&data, &size, &n, 1);
	n = n % RINGS_MAX + 1;
	for (size_t i = 0; i < n; i++) {
		size_t at = 0, before = SIZE_MAX;
		uint16_t share;

		take(&data, &size, &share, sizeof(share));
		memset(rings[i], 0, sizeof(rings[i]));
		while (size > 0 && at != before && at < share % RING_SIZE) {
			before = at;
			at = put_record(rings[i], at, &data, &size);
		}
		records[i] = (struct records){ .ring = rings[i], .size = RING_SIZE, .head = at };
	}
	window_parse(records, n, 100, &window);
	must(window.n_lost > 0 || window.exec_ns == 0 || window.n_exec > 0);
	tree_parse(records, n, 100, &window, &tree);
	must(tree.waited_ns >= 0 && tree.leader_waited_ns >= 0);
}

/* --- What programs print, and the files that say what is looked for in it --- */

/* A harness up to the first NUL, and an output behind it. Patterns are of whoever calls the tool:
 * those for which regcomp(3) wants gigabytes are not what is looked for. */
/* A file of another tool, from standard input: what is beside one is not looked for. What is taken
 * is a result, and what is refused has a reason of one line. */
static void fuzz_import(const uint8_t *data, size_t size)
{
	struct import import = { 0 };
	struct suite *suite = NULL;
	char *why = NULL;
	int r = import_open_input(input_open_memory(data, size), "-", NULL, &import, &why);

	must(r == 0 ? !why : (r == -EINVAL || r == -ENODATA) && why && !strchr(why, '\n'));
	if (r == 0 && import.is_imported) {
		r = suite_read_input(import.input, true, &suite, &why);
		must(r == 0 ? !why : r == -EINVAL && why);
		for (size_t i = 0; r == 0 && i < suite->n; i++) {
			struct benchmark **beside = benchmark_split_values(suite->benchmarks[i]);

			for (size_t k = 0; beside && beside[k]; k++)
				benchmark_free(beside[k]);
			free(beside);
		}
		suite_free(suite);
	}
	free(why);
	import_clear(&import);
}

static void fuzz_harness(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size > 0 ? memchr(data, 0, size) : NULL;
	size_t n = nul ? (size_t)(nul - data) : size;
	char *text = strndup((const char *)data, n), *why = NULL;
	struct harness *harness = NULL;

	must(text != NULL);
	for (char *p = text; *p; p++)
		if (*p == '{' || (strchr("*+?", *p) && p > text && strchr("*+?", p[-1])))
			*p = 'x';
	if (harness_parse("fuzz", text, &harness, &why) < 0) {
		must(why != NULL);
	} else {
		struct output output = { nul ? (const char *)nul + 1 : "", nul ? size - n - 1 : 0 };
		struct figures figures = { 0 };

		for (size_t i = 0; i < harness->n_rules; i++) {
			free(why);
			why = NULL;
			must(extract_figures(&harness->rules[i], &output, &figures, &why) >= 0 ||
				why);
		}
		for (size_t i = 0; i < figures.n; i++)
			must(isfinite(figures.items[i].value) && *figures.items[i].name);
		figures_clear(&figures);
	}
	harness_free(harness);
	free(why);
	free(text);
}

/* What a program says itself. */
static void fuzz_benchfmt(const uint8_t *data, size_t size)
{
	struct figures figures = { 0 };
	char *why = NULL;
	int r = benchfmt_read(&(struct output){ (const char *)data, size }, &figures, &why);

	must(r >= 0 ? !why : why && *why);
	for (size_t i = 0; i < figures.n; i++)
		must(isfinite(figures.items[i].value) && *figures.items[i].name &&
			figures.items[i].better != BETTER_UNKNOWN);
	figures_clear(&figures);
	free(why);
}

/* --- An answer of a web server --- */

/* In how many bytes it ends, -1 where it is none or does not end. */
static ssize_t find_answer_end(const uint8_t *data, size_t size, size_t piece, int *ret_status)
{
	struct httpanswer answer = { 0 };
	size_t at = 0;
	int r = 0;

	while (r == 0 && at < size) {
		size_t n = piece < size - at ? piece : size - at, used = 0;
		char *copy = malloc(n);

		must(copy != NULL);
		memcpy(copy, data + at, n);
		r = httpanswer_feed(&answer, copy, n, &used);
		free(copy);
		must(r < 0 || (used <= n && (used == n || r == 1)));
		at += used;
	}
	if (r == 0)
		r = httpanswer_end(&answer);
	*ret_status = answer.status;
	return r < 0 ? -1 : (ssize_t)at;
}

/* An answer is the same in whatever pieces it comes. */
static void fuzz_httpanswer(const uint8_t *data, size_t size)
{
	int status, other;
	ssize_t end = find_answer_end(data, size, size > 0 ? size : 1, &status);

	must(find_answer_end(data, size, 3, &other) == end);
	must(end < 0 || (status == other && status >= 200 && status <= 999));
}

/* --- */

static const struct target {
	const char *name;
	void (*run)(const uint8_t *data, size_t size);
} targets[] = {
	{ "benchfmt", fuzz_benchfmt },
	{ "document", fuzz_document },
	{ "harness", fuzz_harness },
	{ "httpanswer", fuzz_httpanswer },
	{ "import", fuzz_import },
	{ "records", fuzz_records },
	{ "runlog", fuzz_runlog },
	{ "tarball", fuzz_tarball },
	{ "values", fuzz_values },
};

static const struct target *target;

static void remove_scratch(void)
{
	(void)rmdir(scratch);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = getenv("FUZZ_TARGET");

	(void)argc;
	(void)argv;
	for (size_t i = 0; name && i < ARRAY_SIZE(targets); i++)
		if (strcmp(targets[i].name, name) == 0)
			target = &targets[i];
	if (!target) {
		fprintf(stderr, "fuzz-bytes: FUZZ_TARGET is none of:");
		for (size_t i = 0; i < ARRAY_SIZE(targets); i++)
			fprintf(stderr, " %s", targets[i].name);
		fprintf(stderr, "\n");
		exit(2);
	}
	must(mkdtemp(scratch) != NULL);
	atexit(remove_scratch);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	target->run(data, size);
	return 0;
}
