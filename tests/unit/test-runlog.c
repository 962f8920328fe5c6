// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/macro.h"
#include "fake-machine.h"
#include "measure/runlog.h"

enum {
	MAX_FILES = 100,
	PATH_SIZE = 64,
	LARGE = 300 * 1000,
};

/* The plan, the files and the paths in one piece of memory, as the launcher gets them. */
struct memory {
	struct launch_plan plan;
	struct launch_file files[MAX_FILES];
	char paths[MAX_FILES][PATH_SIZE];
};

/* A plan with some files in a directory of their own, and a writer and a reader of the run log. */
struct fixture {
	char directory[32];
	struct memory *memory;
	size_t n_files;
	int fd;
	struct runlog_writer *writer;
	struct runlog *runlog;
};

static void file_set(const struct fixture *fixture, size_t index, const char *text, size_t size)
{
	int fd =
		open(fixture->memory->paths[index], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), size);
	close(fd);
}

static void file_say(const struct fixture *fixture, size_t index, const char *text)
{
	file_set(fixture, index, text, strlen(text));
}

/* Makes the fixture with empty files. */
static void fixture_open(struct fixture *fixture, const struct launch_file *files, size_t n_files)
{
	*fixture = (struct fixture){ .directory = "/tmp/runlog.XXXXXX", .n_files = n_files };
	assert_non_null(mkdtemp(fixture->directory));
	fixture->memory = calloc(1, sizeof(*fixture->memory));
	assert_non_null(fixture->memory);
	fixture->memory->plan.n_files = (uint32_t)n_files;
	fixture->memory->plan.files = offsetof(struct memory, files);
	for (size_t i = 0; i < n_files; i++) {
		struct launch_file *file = &fixture->memory->files[i];

		*file = files ? files[i] : (struct launch_file){ .cpu = -1 };
		file->path = (uint32_t)(fixture->memory->paths[i] - (char *)fixture->memory);
		snprintf(fixture->memory->paths[i], PATH_SIZE, "%s/%zu", fixture->directory, i);
		file_say(fixture, i, "");
	}
	fixture->fd = runlog_fd_create();
	assert_true(fixture->fd >= 0);
	assert_int_equal(runlog_new(fixture->fd, n_files, &fixture->runlog), 0);
}

/* Starts the writer, which opens the files. */
static void fixture_begin(struct fixture *fixture)
{
	assert_int_equal(
		runlog_writer_new(&fixture->memory->plan, fixture->fd, &fixture->writer), 0);
}

static void fixture_close(struct fixture *fixture)
{
	for (size_t i = 0; i < fixture->n_files; i++)
		unlink(fixture->memory->paths[i]);
	rmdir(fixture->directory);
	runlog_writer_free(fixture->writer);
	runlog_free(fixture->runlog);
	close(fixture->fd);
	free(fixture->memory);
}

static void put_run(struct fixture *fixture, int status, int cpu)
{
	struct launch_report report = { .status = status };

	assert_int_equal(runlog_write_report(fixture->writer, &report), 0);
	assert_int_equal(runlog_write_reading(fixture->writer, RUNLOG_AFTER, cpu), 0);
}

static void hand_over(struct fixture *fixture)
{
	assert_int_equal(runlog_flush(fixture->writer), 0);
	assert_int_equal(runlog_load(fixture->runlog, runlog_size(fixture->writer)), 0);
}

static void assert_run(struct fixture *fixture, int status, struct runlog_run *ret)
{
	assert_int_equal(runlog_next(fixture->runlog, ret), 1);
	assert_int_equal(ret->report.status, status);
}

static void assert_text(const struct runlog_reading *reading, size_t index, const char *text)
{
	assert_non_null(reading);
	assert_int_equal(reading->texts[index].size, strlen(text));
	assert_string_equal(reading->texts[index].data, text);
}

static void assert_none(const struct runlog_reading *reading, size_t index, int error)
{
	assert_non_null(reading);
	assert_int_equal(reading->texts[index].size, error);
	assert_null(reading->texts[index].data);
}

static void test_runs_and_readings(_unused_ void **state)
{
	struct runlog_run run;
	struct fixture fixture;

	fixture_open(&fixture, NULL, 2);
	file_say(&fixture, 0, "a 1\n");
	fixture_begin(&fixture);
	for (int round = 0; round < 3; round++) {
		runlog_rewind(fixture.writer);
		file_say(&fixture, 0, "a 1\n");
		assert_int_equal(runlog_write_reading(fixture.writer, RUNLOG_BEFORE, -1), 0);
		file_say(&fixture, 0, "a 22\n");
		file_say(&fixture, 1, "b");
		put_run(&fixture, 7, 0);
		file_say(&fixture, 0, "");
		put_run(&fixture, 8, 0);
		assert_int_equal(runlog_write_report(fixture.writer,
					 &(struct launch_report){ .error = ENOENT }),
			0);
		file_say(&fixture, 1, "");
		hand_over(&fixture);

		assert_run(&fixture, 7, &run);
		assert_text(run.before, 0, "a 1\n");
		assert_text(run.before, 1, "");
		assert_text(run.after, 0, "a 22\n");
		assert_text(run.after, 1, "b");
		assert_false(run.is_last);
		assert_run(&fixture, 8, &run);
		assert_false(run.is_last);
		assert_null(run.before);
		assert_text(run.after, 0, "");
		assert_run(&fixture, 0, &run);
		assert_int_equal(run.report.error, ENOENT);
		assert_null(run.after);
		assert_true(run.is_last);
		assert_int_equal(runlog_next(fixture.runlog, &run), 0);
		assert_int_equal(runlog_next(fixture.runlog, &run), 0);
	}
	fixture_close(&fixture);
}

static void test_files_that_are_not_read(_unused_ void **state)
{
	static const struct launch_file files[] = { { .cpu = -1 }, { .cpu = 3 }, { .cpu = 4 } };
	struct runlog_run run;
	struct fixture fixture;

	fixture_open(&fixture, files, ARRAY_SIZE(files));
	unlink(fixture.memory->paths[0]);
	file_say(&fixture, 1, "three");
	file_say(&fixture, 2, "four");
	fixture_begin(&fixture);
	assert_int_equal(runlog_write_reading(fixture.writer, RUNLOG_BEFORE, -1), 0);
	put_run(&fixture, 0, 4);
	hand_over(&fixture);
	assert_run(&fixture, 0, &run);
	assert_none(run.before, 0, -ENOENT);
	assert_none(run.before, 1, RUNLOG_NOT_READ);
	assert_none(run.before, 2, RUNLOG_NOT_READ);
	assert_none(run.after, 0, -ENOENT);
	assert_none(run.after, 1, RUNLOG_NOT_READ);
	assert_text(run.after, 2, "four");
	fixture_close(&fixture);

	/* A directory can be opened, but not read. */
	fixture_open(&fixture, NULL, 2);
	unlink(fixture.memory->paths[0]);
	snprintf(fixture.memory->paths[0], PATH_SIZE, "/tmp");
	file_say(&fixture, 1, "it goes on");
	fixture_begin(&fixture);
	put_run(&fixture, 0, 0);
	hand_over(&fixture);
	assert_run(&fixture, 0, &run);
	assert_none(run.after, 0, -EISDIR);
	assert_text(run.after, 1, "it goes on");
	fixture.memory->paths[0][0] = '\0';
	fixture_close(&fixture);
}

/* Texts that are longer than the launcher's buffer, and more files than it keeps open. */
static void test_large(_unused_ void **state)
{
	char *large = malloc(LARGE + 1);
	struct runlog_run run;
	struct fixture fixture;

	assert_non_null(large);
	for (size_t i = 0; i < LARGE; i++)
		large[i] = (char)('a' + i % 23);
	large[LARGE] = '\0';
	fixture_open(&fixture, NULL, MAX_FILES);
	for (size_t i = 0; i < MAX_FILES; i++)
		file_set(&fixture, i, large, i == 70 ? LARGE : i * 977);
	fixture_begin(&fixture);
	for (int i = 0; i < 3; i++)
		put_run(&fixture, i, 0);
	hand_over(&fixture);
	for (int i = 0; i < 3; i++) {
		assert_run(&fixture, i, &run);
		for (size_t j = 0; j < MAX_FILES; j++) {
			const struct runlog_text *text = &run.after->texts[j];

			assert_int_equal(text->size, j == 70 ? LARGE : j * 977);
			assert_memory_equal(text->data, large, (size_t)text->size);
			assert_int_equal(text->data[text->size], '\0');
		}
	}
	assert_int_equal(runlog_next(fixture.runlog, &run), 0);
	free(large);
	fixture_close(&fixture);
}

/* --- Interrupts are read one by one only when their total has changed. --- */

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

static ssize_t read_interrupts(struct fixture *fixture, const char *total, const char *interrupts)
{
	struct runlog_run run;
	ssize_t size;

	file_say(fixture, TOTAL, total);
	file_say(fixture, INTERRUPTS, interrupts);
	file_say(fixture, OTHER, total);
	runlog_rewind(fixture->writer);
	put_run(fixture, 0, 0);
	hand_over(fixture);
	assert_run(fixture, 0, &run);
	assert_text(run.after, TOTAL, total);
	assert_text(run.after, OTHER, total);
	size = run.after->texts[INTERRUPTS].size;
	if (size >= 0)
		assert_text(run.after, INTERRUPTS, interrupts);
	else
		assert_none(run.after, INTERRUPTS,
			size == RUNLOG_NO_DEVICE ? RUNLOG_NO_DEVICE : RUNLOG_UNCHANGED);
	return size;
}

/* The total grows by ticks and interrupts from other CPUs, too, which matter less. */
static void test_devices_that_stand_still(_unused_ void **state)
{
	struct timespec longer = { .tv_nsec = 6 * NSEC_PER_MSEC };
	bool left_out = false;
	struct fixture fixture;

	fixture_open(&fixture, counted_files, ARRAY_SIZE(counted_files));
	fixture_begin(&fixture);
	for (int i = 0; i < 100 && !left_out; i++) {
		assert_int_equal(read_interrupts(&fixture, "cpu 1\nintr 10 3 0\n", "one"), 3);
		left_out = read_interrupts(&fixture, "cpu 2\nintr 12 3 0\n", "two") ==
			RUNLOG_NO_DEVICE;
		assert_int_equal(read_interrupts(&fixture, "cpu 2\nintr 13 3 1\n", "four"), 4);
		/* Numbers are not put together. */
		assert_int_equal(read_interrupts(&fixture, "cpu 2\nintr 14 31\n", "three"), 5);
	}
	assert_true(left_out);
	/* After a run that is long enough, they are read. */
	nanosleep(&longer, NULL);
	assert_int_equal(read_interrupts(&fixture, "cpu 2\nintr 15 31\n", "seven"), 5);
	fixture_close(&fixture);
}

/* Time in states is read before runs, and after those that are long enough. */
static void test_time_in_states(_unused_ void **state)
{
	static const struct launch_file files[] = { { .kind = LAUNCH_FILE_STATE, .cpu = -1 } };
	struct timespec longer = { .tv_nsec = 6 * NSEC_PER_MSEC };
	bool left_out = false;
	struct fixture fixture;
	struct runlog_run run;

	fixture_open(&fixture, files, ARRAY_SIZE(files));
	fixture_begin(&fixture);
	file_say(&fixture, 0, "123\n");
	for (int i = 0; i < 100 && !left_out; i++) {
		runlog_rewind(fixture.writer);
		assert_int_equal(runlog_write_reading(fixture.writer, RUNLOG_BEFORE, -1), 0);
		put_run(&fixture, 0, 0);
		hand_over(&fixture);
		assert_run(&fixture, 0, &run);
		assert_text(run.before, 0, "123\n");
		left_out = run.after->texts[0].size == RUNLOG_NOT_READ;
	}
	assert_true(left_out);
	nanosleep(&longer, NULL);
	runlog_rewind(fixture.writer);
	put_run(&fixture, 0, 0);
	hand_over(&fixture);
	assert_run(&fixture, 0, &run);
	assert_text(run.after, 0, "123\n");
	fixture_close(&fixture);
}

/* What the second file says, or "unchanged" where it is left out. */
static const char *read_second(struct fixture *fixture, const char *first, const char *second)
{
	static char text[64];
	struct runlog_run run;

	file_say(fixture, 0, first);
	file_say(fixture, 1, second);
	runlog_rewind(fixture->writer);
	put_run(fixture, 0, 0);
	hand_over(fixture);
	assert_run(fixture, 0, &run);
	assert_text(run.after, 0, first);
	if (run.after->texts[1].size == RUNLOG_UNCHANGED)
		return "unchanged";
	assert_in_range(run.after->texts[1].size, 0, sizeof(text) - 1);
	snprintf(text, sizeof(text), "%s", run.after->texts[1].data);
	return text;
}

/* Asserts that the second file, after it was read, is left out where the first one says this. On a
 * busy machine the time between two readings can be longer than what was read is believed. */
static void assert_left_out(struct fixture *fixture, const char *first, const char *again)
{
	for (int i = 0; i < 100; i++) {
		runlog_forget(fixture->writer);
		assert_string_equal(read_second(fixture, first, "a"), "a");
		if (strcmp(read_second(fixture, again, "b"), "unchanged") == 0)
			return;
	}
	fail_msg("'%s' is read each time", again);
}

static void test_softirqs(_unused_ void **state)
{
	static const struct launch_file files[] = {
		{ .kind = LAUNCH_FILE_TOTAL, .cpu = -1 },
		{ .kind = LAUNCH_FILE_SOFTIRQS, .cpu = -1 },
	};
	struct timespec longer = { .tv_nsec = 12 * NSEC_PER_MSEC };
	struct fixture fixture;

	fixture_open(&fixture, files, ARRAY_SIZE(files));
	fixture_begin(&fixture);
	assert_left_out(&fixture, "cpu 1\nsoftirq 10 3 7\n", "cpu 2\nintr 5\nsoftirq 10 3 7\n");
	assert_string_equal(read_second(&fixture, "cpu 2\nsoftirq 11 4 7\n", "c"), "c");
	/* What was not taken is read again, and so is a total that has not changed for long, and
	 * softirqs without a total. */
	runlog_forget(fixture.writer);
	assert_string_equal(read_second(&fixture, "cpu 2\nsoftirq 11 4 7\n", "d"), "d");
	nanosleep(&longer, NULL);
	assert_string_equal(read_second(&fixture, "cpu 2\nsoftirq 11 4 7\n", "e"), "e");
	for (int i = 0; i < 3; i++)
		assert_string_equal(read_second(&fixture, "cpu 2\nsoftirq\n", "f"), "f");
	fixture_close(&fixture);
}

static void test_mean(_unused_ void **state)
{
	static const struct launch_file files[] = {
		{ .cpu = -1 },
		{ .kind = LAUNCH_FILE_MEAN, .cpu = -1 },
	};
	struct timespec longer = { .tv_sec = 1, .tv_nsec = 1 };
	struct fixture fixture;

	fixture_open(&fixture, files, ARRAY_SIZE(files));
	fixture_begin(&fixture);
	assert_left_out(&fixture, "x", "x");
	nanosleep(&longer, NULL);
	assert_string_equal(read_second(&fixture, "x", "3.0"), "3.0");
	fixture_close(&fixture);
}

/* --- A device that interrupts other CPUs, which its own file tells. --- */

#define POSSIBLE "/sys/devices/system/cpu/possible"
#define COUNTS(irq) "/sys/kernel/irq/" #irq "/per_cpu_count"

/* The plan has CPUs 1 and 3 of those that are possible. */
static void devices_open(struct fixture *fixture, const char *possible)
{
	cpu_set_t *cpus;

	fixture_open(fixture, counted_files, ARRAY_SIZE(counted_files));
	cpus = (cpu_set_t *)fixture->memory->plan.cpus;
	CPU_SET_S(1, LAUNCH_CPU_BYTES, cpus);
	CPU_SET_S(3, LAUNCH_CPU_BYTES, cpus);
	assert_true(fake_machine_write(POSSIBLE, possible));
	fixture_begin(fixture);
}

/* Whether the interrupts are read one by one when number 2 has come, and its file says this. NULL:
 * there is none. */
static bool is_read(struct fixture *fixture, const char *counts)
{
	static unsigned n;
	char total[64];
	ssize_t size;

	runlog_forget(fixture->writer);
	assert_int_equal(read_interrupts(fixture, "cpu 1\nintr 10 3 0 0 0\n", "one"), 3);
	if (counts)
		assert_true(fake_machine_write(COUNTS(2), counts));
	else
		unlink(COUNTS(2));
	n++;
	snprintf(total, sizeof(total), "cpu 1\nintr %u 3 0 %u 0\n", 100 + n, 10 + n);
	size = read_interrupts(fixture, total, "four");
	assert_true(size == 4 || size == RUNLOG_NO_DEVICE);
	return size == 4;
}

/* A busy machine may take longer than a reading is believed, so that what need not be read is read:
 * it is tried again. */
static void assert_not_read(struct fixture *fixture, const char *counts)
{
	for (int i = 0; i < 100; i++) {
		if (!is_read(fixture, counts))
			return;
	}
	fail_msg("'%s' is read", counts);
}

static void test_devices_of_other_cpus(_unused_ void **state)
{
	struct fixture fixture;

	assert_true(fake_machine_write(COUNTS(2), "5,6,7,8\n"));
	devices_open(&fixture, "0-3\n");
	assert_not_read(&fixture, "9,6,9,8\n");
	assert_not_read(&fixture, "9,6,9999,8\n");
	/* CPU 1, then CPU 3. */
	assert_true(is_read(&fixture, "9,7,9999,8\n"));
	assert_true(is_read(&fixture, "9,7,9999,9\n"));
	assert_not_read(&fixture, "10,7,10000,9\n");
	/* What cannot be understood says nothing. */
	assert_true(is_read(&fixture, "11,7,10000\n"));
	assert_true(is_read(&fixture, "11,7,10000,9"));
	assert_true(is_read(&fixture, ""));
	assert_true(is_read(&fixture, NULL));
	fixture_close(&fixture);
}

static void test_columns_that_are_no_cpus(_unused_ void **state)
{
	static const char *const texts[] = { "0,2-4\n", "1-4\n", "", "0-3" };

	assert_true(fake_machine_write(COUNTS(2), "5,6,7,8\n"));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct fixture fixture;

		devices_open(&fixture, texts[i]);
		for (int j = 0; j < 3; j++)
			assert_true(is_read(&fixture, "5,6,7,8\n"));
		fixture_close(&fixture);
	}
}

/* More devices than are watched at once. */
static void test_many_devices(_unused_ void **state)
{
	char numbers[256], path[64];
	bool left_out = false;
	struct fixture fixture;
	size_t n;

	for (int irq = 0; irq < 20; irq++) {
		snprintf(path, sizeof(path), "/sys/kernel/irq/%d/per_cpu_count", irq);
		assert_true(fake_machine_write(path, "1,2,3,4\n"));
	}
	devices_open(&fixture, "0-3\n");
	for (int i = 0; i < 300; i++) {
		ssize_t size;

		n = (size_t)snprintf(numbers, sizeof(numbers), "cpu 1\nintr %d", 1000 + i);
		for (int irq = 0; irq < 20; irq++)
			n += (size_t)snprintf(numbers + n, sizeof(numbers) - n, " %d",
				irq == (i / 5) % 20 ? i + 1 : 0);
		snprintf(numbers + n, sizeof(numbers) - n, "\n");
		size = read_interrupts(&fixture, numbers, "four");
		assert_true(size == 4 || size == RUNLOG_NO_DEVICE);
		left_out = left_out || size < 0;
	}
	assert_true(left_out);
	fixture_close(&fixture);
}

static void test_total_that_stands_still(_unused_ void **state)
{
	struct timespec longer = { .tv_nsec = 12 * NSEC_PER_MSEC };
	bool left_out = false;
	struct fixture fixture;

	fixture_open(&fixture, counted_files, ARRAY_SIZE(counted_files));
	fixture_begin(&fixture);
	/* On a busy machine the time between two readings can be longer than a total is
	 * believed. */
	for (int i = 0; i < 100 && !left_out; i++) {
		assert_int_equal(read_interrupts(&fixture, "cpu 1\nintr 10 3 0\n", "one"), 3);
		left_out = read_interrupts(&fixture, "cpu 2\nintr 10 3 0\n", "one") ==
			RUNLOG_UNCHANGED;
		assert_int_equal(read_interrupts(&fixture, "cpu 2\nintr 11 3 1\n", "four"), 4);
	}
	assert_true(left_out);

	/* What was not taken is read again, as often as that happens. */
	for (int i = 0; i < 100; i++) {
		runlog_forget(fixture.writer);
		assert_int_equal(read_interrupts(&fixture, "cpu 2\nintr 11 3 1\n", "four"), 4);
	}

	/* A total that never changes is not believed after a while. */
	assert_int_equal(read_interrupts(&fixture, "cpu 1\nintr 10 3 0\n", "one"), 3);
	nanosleep(&longer, NULL);
	assert_int_equal(read_interrupts(&fixture, "cpu 1\nintr 10 3 0\n", "three"), 5);
	fixture_close(&fixture);
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
	struct fixture fixture;

	fixture_open(&fixture, counted_files, ARRAY_SIZE(counted_files));
	fixture_begin(&fixture);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		fprintf(stderr, "case '%s'\n", texts[i]);
		for (int j = 0; j < 3; j++)
			assert_int_equal(read_interrupts(&fixture, texts[i], "one"), 3);
	}
	/* A file that does not exist has no total. */
	unlink(fixture.memory->paths[TOTAL]);
	runlog_writer_free(fixture.writer);
	fixture_begin(&fixture);
	for (int j = 0; j < 3; j++) {
		struct runlog_run run;

		runlog_rewind(fixture.writer);
		put_run(&fixture, 0, 0);
		hand_over(&fixture);
		assert_run(&fixture, 0, &run);
		assert_none(run.after, TOTAL, -ENOENT);
		assert_text(run.after, INTERRUPTS, "one");
	}
	fixture_close(&fixture);
}

/* --- Data that no launcher writes. --- */

/* Reads the run log up to its end or the first error, and looks at all texts. */
static int read_through(struct fixture *fixture, size_t size)
{
	struct runlog_run run;
	size_t sum = 0;
	int r;

	r = runlog_load(fixture->runlog, size);
	if (r < 0)
		return r;
	while ((r = runlog_next(fixture->runlog, &run)) > 0) {
		const struct runlog_reading *readings[] = { run.before, run.after };

		for (size_t i = 0; i < ARRAY_SIZE(readings); i++)
			for (size_t j = 0; readings[i] && j < fixture->n_files; j++)
				if (readings[i]->texts[j].data)
					sum += strlen(readings[i]->texts[j].data);
	}
	assert_true(sum <= size);
	return r;
}

static void test_damaged(_unused_ void **state)
{
	struct fixture fixture;
	size_t size, n_truncated = 0;
	uint32_t random = 1;

	fixture_open(&fixture, NULL, 2);
	file_say(&fixture, 0, "some text");
	fixture_begin(&fixture);
	assert_int_equal(runlog_write_reading(fixture.writer, RUNLOG_BEFORE, -1), 0);
	put_run(&fixture, 0, 0);
	put_run(&fixture, 0, 0);
	assert_int_equal(runlog_flush(fixture.writer), 0);
	size = runlog_size(fixture.writer);
	assert_int_equal(read_through(&fixture, size), 0);
	/* A truncated run log is valid only if it ends after a whole run. */
	for (size_t i = 0; i < size; i++)
		n_truncated += read_through(&fixture, i) == -EBADMSG;
	assert_int_equal(n_truncated, size - 4);
	/* The file is shorter than the size that is given. */
	assert_int_equal(read_through(&fixture, size + 1), -EBADMSG);
	for (int i = 0; i < 20000; i++) {
		uint8_t good, bad;
		off_t at;

		random = random * 1664525 + 1013904223;
		at = (off_t)((random >> 8) % size);
		bad = (uint8_t)(random >> 3);
		assert_int_equal(pread(fixture.fd, &good, 1, at), 1);
		assert_int_equal(pwrite(fixture.fd, &bad, 1, at), 1);
		(void)read_through(&fixture, size);
		assert_int_equal(pwrite(fixture.fd, &good, 1, at), 1);
	}
	assert_int_equal(read_through(&fixture, size), 0);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs_and_readings),
		cmocka_unit_test(test_files_that_are_not_read),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_total_that_stands_still),
		cmocka_unit_test(test_devices_that_stand_still),
		cmocka_unit_test(test_time_in_states),
		cmocka_unit_test(test_softirqs),
		cmocka_unit_test(test_mean),
		cmocka_unit_test_setup(test_devices_of_other_cpus, fake_machine_setup),
		cmocka_unit_test_setup(test_columns_that_are_no_cpus, fake_machine_setup),
		cmocka_unit_test_setup(test_many_devices, fake_machine_setup),
		cmocka_unit_test(test_no_total),
		cmocka_unit_test(test_damaged),
	};

	if (!fake_machine_enter())
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
