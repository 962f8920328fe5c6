// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "basic/macro.h"
#include "runpinned/ledger.h"

enum {
	MAX_FILES = 100,
	PATH_SIZE = 64,
	LARGE = 300 * 1000,
};

/* What the launcher gets in one piece. */
struct memory {
	struct launch_plan plan;
	struct launch_file files[MAX_FILES];
	char paths[MAX_FILES][PATH_SIZE];
};

/* A plan with some files in a directory of their own, and both ends of the ledger. */
struct desk {
	char directory[32];
	struct memory *memory;
	size_t n_files;
	int fd;
	struct ledger_writer *writer;
	struct ledger *ledger;
};

static void file_set(const struct desk *desk, size_t index, const char *text, size_t size)
{
	int fd = open(desk->memory->paths[index], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), size);
	close(fd);
}

static void file_say(const struct desk *desk, size_t index, const char *text)
{
	file_set(desk, index, text, strlen(text));
}

/* The files are there, and empty. */
static void desk_open(struct desk *desk, const struct launch_file *files, size_t n_files)
{
	*desk = (struct desk){ .directory = "/tmp/ledger.XXXXXX", .n_files = n_files };
	assert_non_null(mkdtemp(desk->directory));
	desk->memory = calloc(1, sizeof(*desk->memory));
	assert_non_null(desk->memory);
	desk->memory->plan.n_files = (uint32_t)n_files;
	desk->memory->plan.files = offsetof(struct memory, files);
	for (size_t i = 0; i < n_files; i++) {
		struct launch_file *file = &desk->memory->files[i];

		*file = files ? files[i] : (struct launch_file){ .cpu = -1 };
		file->path = (uint32_t)(desk->memory->paths[i] - (char *)desk->memory);
		snprintf(desk->memory->paths[i], PATH_SIZE, "%s/%zu", desk->directory, i);
		file_say(desk, i, "");
	}
	desk->fd = ledger_fd_create();
	assert_true(desk->fd >= 0);
	assert_int_equal(ledger_new(desk->fd, n_files, &desk->ledger), 0);
}

/* Opens the files. */
static void desk_begin(struct desk *desk)
{
	assert_int_equal(ledger_writer_new(&desk->memory->plan, desk->fd, &desk->writer), 0);
}

static void desk_close(struct desk *desk)
{
	for (size_t i = 0; i < desk->n_files; i++)
		unlink(desk->memory->paths[i]);
	rmdir(desk->directory);
	ledger_writer_free(desk->writer);
	ledger_free(desk->ledger);
	close(desk->fd);
	free(desk->memory);
}

static void put_run(struct desk *desk, int status, int cpu)
{
	struct launch_report report = { .status = status };

	assert_int_equal(ledger_write_report(desk->writer, &report), 0);
	assert_int_equal(ledger_write_reading(desk->writer, LEDGER_AFTER, cpu), 0);
}

static void hand_over(struct desk *desk)
{
	assert_int_equal(ledger_flush(desk->writer), 0);
	assert_int_equal(ledger_load(desk->ledger, ledger_size(desk->writer)), 0);
}

static void assert_run(struct desk *desk, int status, struct ledger_run *ret)
{
	assert_int_equal(ledger_next(desk->ledger, ret), 1);
	assert_int_equal(ret->report.status, status);
}

static void assert_text(const struct ledger_reading *reading, size_t index, const char *text)
{
	assert_non_null(reading);
	assert_int_equal(reading->texts[index].size, strlen(text));
	assert_string_equal(reading->texts[index].data, text);
}

static void assert_none(const struct ledger_reading *reading, size_t index, int error)
{
	assert_non_null(reading);
	assert_int_equal(reading->texts[index].size, error);
	assert_null(reading->texts[index].data);
}

static void test_runs_and_readings(_unused_ void **state)
{
	struct ledger_run run;
	struct desk desk;

	desk_open(&desk, NULL, 2);
	file_say(&desk, 0, "a 1\n");
	desk_begin(&desk);
	for (int round = 0; round < 3; round++) {
		ledger_rewind(desk.writer);
		file_say(&desk, 0, "a 1\n");
		assert_int_equal(ledger_write_reading(desk.writer, LEDGER_BEFORE, -1), 0);
		file_say(&desk, 0, "a 22\n");
		file_say(&desk, 1, "b");
		put_run(&desk, 7, 0);
		file_say(&desk, 0, "");
		put_run(&desk, 8, 0);
		assert_int_equal(ledger_write_report(
					 desk.writer, &(struct launch_report){ .error = ENOENT }),
			0);
		file_say(&desk, 1, "");
		hand_over(&desk);

		assert_run(&desk, 7, &run);
		assert_text(run.before, 0, "a 1\n");
		assert_text(run.before, 1, "");
		assert_text(run.after, 0, "a 22\n");
		assert_text(run.after, 1, "b");
		assert_false(run.is_last);
		assert_run(&desk, 8, &run);
		assert_false(run.is_last);
		assert_null(run.before);
		assert_text(run.after, 0, "");
		assert_run(&desk, 0, &run);
		assert_int_equal(run.report.error, ENOENT);
		assert_null(run.after);
		assert_true(run.is_last);
		assert_int_equal(ledger_next(desk.ledger, &run), 0);
		assert_int_equal(ledger_next(desk.ledger, &run), 0);
	}
	desk_close(&desk);
}

static void test_files_that_are_not_read(_unused_ void **state)
{
	static const struct launch_file files[] = { { .cpu = -1 }, { .cpu = 3 }, { .cpu = 4 } };
	struct ledger_run run;
	struct desk desk;

	desk_open(&desk, files, ARRAY_SIZE(files));
	unlink(desk.memory->paths[0]);
	file_say(&desk, 1, "three");
	file_say(&desk, 2, "four");
	desk_begin(&desk);
	assert_int_equal(ledger_write_reading(desk.writer, LEDGER_BEFORE, -1), 0);
	put_run(&desk, 0, 4);
	hand_over(&desk);
	assert_run(&desk, 0, &run);
	assert_none(run.before, 0, -ENOENT);
	assert_none(run.before, 1, -ENODATA);
	assert_none(run.before, 2, -ENODATA);
	assert_none(run.after, 0, -ENOENT);
	assert_none(run.after, 1, -ENODATA);
	assert_text(run.after, 2, "four");
	desk_close(&desk);

	/* A directory opens, and does not read. */
	desk_open(&desk, NULL, 2);
	unlink(desk.memory->paths[0]);
	snprintf(desk.memory->paths[0], PATH_SIZE, "/tmp");
	file_say(&desk, 1, "it goes on");
	desk_begin(&desk);
	put_run(&desk, 0, 0);
	hand_over(&desk);
	assert_run(&desk, 0, &run);
	assert_none(run.after, 0, -EISDIR);
	assert_text(run.after, 1, "it goes on");
	desk.memory->paths[0][0] = '\0';
	desk_close(&desk);
}

/* Texts that are longer than what the launcher holds of them at once, and more files than it keeps
 * open. */
static void test_large(_unused_ void **state)
{
	char *large = malloc(LARGE + 1);
	struct ledger_run run;
	struct desk desk;

	assert_non_null(large);
	for (size_t i = 0; i < LARGE; i++)
		large[i] = (char)('a' + i % 23);
	large[LARGE] = '\0';
	desk_open(&desk, NULL, MAX_FILES);
	for (size_t i = 0; i < MAX_FILES; i++)
		file_set(&desk, i, large, i == 70 ? LARGE : i * 977);
	desk_begin(&desk);
	for (int i = 0; i < 3; i++)
		put_run(&desk, i, 0);
	hand_over(&desk);
	for (int i = 0; i < 3; i++) {
		assert_run(&desk, i, &run);
		for (size_t j = 0; j < MAX_FILES; j++) {
			const struct ledger_text *text = &run.after->texts[j];

			assert_int_equal(text->size, j == 70 ? LARGE : j * 977);
			assert_memory_equal(text->data, large, (size_t)text->size);
			assert_int_equal(text->data[text->size], '\0');
		}
	}
	assert_int_equal(ledger_next(desk.ledger, &run), 0);
	free(large);
	desk_close(&desk);
}

/* --- Interrupts, one by one, only where their total moved. */

enum {
	TOTAL,
	INTERRUPTS,
	OTHER,
};

static const struct launch_file counted_files[] = {
	[TOTAL] = { .kind = LAUNCH_FILE_TOTAL, .cpu = -1 },
	[INTERRUPTS] = { .kind = LAUNCH_FILE_INTERRUPTS, .cpu = -1 },
	[OTHER] = { .cpu = -1 },
};

static ssize_t read_interrupts(struct desk *desk, const char *total, const char *interrupts)
{
	struct ledger_run run;

	file_say(desk, TOTAL, total);
	file_say(desk, INTERRUPTS, interrupts);
	file_say(desk, OTHER, total);
	ledger_rewind(desk->writer);
	put_run(desk, 0, 0);
	hand_over(desk);
	assert_run(desk, 0, &run);
	assert_text(run.after, TOTAL, total);
	assert_text(run.after, OTHER, total);
	if (run.after->texts[INTERRUPTS].size >= 0)
		assert_text(run.after, INTERRUPTS, interrupts);
	else
		assert_none(run.after, INTERRUPTS, -EALREADY);
	return run.after->texts[INTERRUPTS].size;
}

static void test_total_that_stands_still(_unused_ void **state)
{
	struct timespec longer = { .tv_nsec = 12 * NSEC_PER_MSEC };
	bool left_out = false;
	struct desk desk;

	desk_open(&desk, counted_files, ARRAY_SIZE(counted_files));
	desk_begin(&desk);
	/* Two readings can be further apart than a total is believed, on a busy machine. */
	for (int i = 0; i < 100 && !left_out; i++) {
		assert_int_equal(read_interrupts(&desk, "cpu 1\nintr 10 3 0\n", "one"), 3);
		left_out = read_interrupts(&desk, "cpu 2\nintr 10 3 0\n", "one") == -EALREADY;
		assert_int_equal(read_interrupts(&desk, "cpu 2\nintr 11 3 1\n", "four"), 4);
	}
	assert_true(left_out);

	/* Whoever tells nothing else than the same number for ever has none to tell. */
	assert_int_equal(read_interrupts(&desk, "cpu 1\nintr 10 3 0\n", "one"), 3);
	nanosleep(&longer, NULL);
	assert_int_equal(read_interrupts(&desk, "cpu 1\nintr 10 3 0\n", "three"), 5);
	desk_close(&desk);
}

static void test_no_total(_unused_ void **state)
{
	static const char *const texts[] = {
		"",
		"cpu 1\n",
		"intr 10\n",
		"cpu 1\nintr \n",
		"cpu 1\nintr x\n",
		"cpu 1\nintr 123456789012345678901234567890\n",
		"cpu 1\nsoftintr 10\n",
	};
	struct desk desk;

	desk_open(&desk, counted_files, ARRAY_SIZE(counted_files));
	desk_begin(&desk);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		fprintf(stderr, "case '%s'\n", texts[i]);
		for (int j = 0; j < 3; j++)
			assert_int_equal(read_interrupts(&desk, texts[i], "one"), 3);
	}
	/* A file that is gone tells nothing, either. */
	unlink(desk.memory->paths[TOTAL]);
	ledger_writer_free(desk.writer);
	desk_begin(&desk);
	for (int j = 0; j < 3; j++) {
		struct ledger_run run;

		ledger_rewind(desk.writer);
		put_run(&desk, 0, 0);
		hand_over(&desk);
		assert_run(&desk, 0, &run);
		assert_none(run.after, TOTAL, -ENOENT);
		assert_text(run.after, INTERRUPTS, "one");
	}
	desk_close(&desk);
}

/* --- What no launcher writes. */

/* Reads it to its end or to the first error, touching all there is. */
static int read_through(struct desk *desk, size_t size)
{
	struct ledger_run run;
	size_t sum = 0;
	int r;

	r = ledger_load(desk->ledger, size);
	if (r < 0)
		return r;
	while ((r = ledger_next(desk->ledger, &run)) > 0) {
		const struct ledger_reading *readings[] = { run.before, run.after };

		for (size_t i = 0; i < ARRAY_SIZE(readings); i++)
			for (size_t j = 0; readings[i] && j < desk->n_files; j++)
				if (readings[i]->texts[j].data)
					sum += strlen(readings[i]->texts[j].data);
	}
	assert_true(sum <= size);
	return r;
}

static void test_damaged(_unused_ void **state)
{
	struct desk desk;
	size_t size, n_cut = 0;
	uint32_t random = 1;

	desk_open(&desk, NULL, 2);
	file_say(&desk, 0, "some text");
	desk_begin(&desk);
	assert_int_equal(ledger_write_reading(desk.writer, LEDGER_BEFORE, -1), 0);
	put_run(&desk, 0, 0);
	put_run(&desk, 0, 0);
	assert_int_equal(ledger_flush(desk.writer), 0);
	size = ledger_size(desk.writer);
	assert_int_equal(read_through(&desk, size), 0);
	/* Cut off: an end only where something ends. */
	for (size_t i = 0; i < size; i++)
		n_cut += read_through(&desk, i) == -EBADMSG;
	assert_int_equal(n_cut, size - 4);
	/* The file is shorter than they say. */
	assert_int_equal(read_through(&desk, size + 1), -EBADMSG);
	for (int i = 0; i < 20000; i++) {
		uint8_t good, bad;
		off_t at;

		random = random * 1664525 + 1013904223;
		at = (off_t)((random >> 8) % size);
		bad = (uint8_t)(random >> 3);
		assert_int_equal(pread(desk.fd, &good, 1, at), 1);
		assert_int_equal(pwrite(desk.fd, &bad, 1, at), 1);
		(void)read_through(&desk, size);
		assert_int_equal(pwrite(desk.fd, &good, 1, at), 1);
	}
	assert_int_equal(read_through(&desk, size), 0);
	desk_close(&desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs_and_readings),
		cmocka_unit_test(test_files_that_are_not_read),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_total_that_stands_still),
		cmocka_unit_test(test_no_total),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
