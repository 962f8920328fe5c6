// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "library/values.h"
#include "quiesce/benchmark.h"

#define HEAD "quiesce-values 1\nname a/b\nclock tsc\nempty 9000\nresolution 300\ninner 4\n"

static int parse(const char *text, size_t size, struct qs_values **ret, size_t *ret_line)
{
	size_t offset = 0;

	return values_parse(text, size, &offset, ret, ret_line);
}

static void test_parse(void **state)
{
	static const char text[] = HEAD "counter 0 instructions\ncounter 2 r1a2\n"
					"shared 0\nchanged 1\n"
					"c 1 100\n"
					"c 2 200\n"
					"w 2 210\n"
					"r 3 - 45000\n"
					"p 2 -\n"
					"v 2 220 0 4095 77 0\n"
					"p 3 1250\n"
					"k 42731 2993000\n"
					"f 1 4609434218613702656 my bytes\n"
					"end 4\n" HEAD "v 1 1 0 0\nend 1\n";
	struct qs_values *values;
	size_t offset = 0, line = 0;

	(void)state;
	assert_int_equal(values_parse(text, sizeof(text), &offset, &values, &line), 0);
	assert_string_equal(values->name, "a/b");
	assert_string_equal(values->facts.clock_name, "tsc");
	assert_int_equal(values->inner_loops, 4);
	assert_int_equal(values->loops, 2);
	assert_int_equal(values->facts.n_counters, 2);
	assert_string_equal(values->facts.counters[1].name, "r1a2");
	assert_int_equal(values->facts.counters[1].error, 2);
	assert_int_equal(values->facts.counters[0].shared, 1);
	assert_int_equal(values->facts.counters[1].shared, 0);
	assert_int_equal(values->facts.clock_changed, 1);
	assert_int_equal(values->n_figures, 1);
	assert_string_equal(values->figures[0].name, "my bytes");
	assert_int_equal(values->figures[0].kind, QS_FIGURE_AMOUNT);
	assert_true(values->figures[0].value == 1.5);
	assert_int_equal(values->n_values, 4);
	assert_int_equal(values->values[0].kind, QS_VALUE_CALIBRATION);
	assert_int_equal(values->values[2].kind, QS_VALUE_WARMUP);
	assert_int_equal(values->values[2].interrupts, 3);
	assert_int_equal(values->values[2].frequency_khz, -1);
	assert_int_equal(values->values[2].temperature_mc, 45000);
	assert_true(values->values[2].core_adds == 0 && values->values[2].core_hertz == 0);
	assert_int_equal(values->values[1].regions, 1);
	assert_int_equal(values->values[2].regions, 2);
	assert_true(values->values[2].waiting == -1);
	assert_int_equal(values->values[3].regions, 3);
	assert_true(values->values[3].waiting == 0.125);
	assert_true(values->values[3].core_adds == 4.2731);
	assert_true(values->values[3].core_hertz == 2993e6);
	assert_int_equal(values->values[3].kind, QS_VALUE_COUNTED);
	assert_int_equal(values->values[3].cpu_begin, 0);
	assert_int_equal(values->values[3].cpu_end, QS_CPU_UNKNOWN);
	assert_int_equal(values->values[3].counts[0], 77);
	assert_true(qs_value_seconds(values, 3) == 220e-12 / 2 / 4);
	qs_values_free(values);

	assert_int_equal(values_parse(text, sizeof(text), &offset, &values, &line), 0);
	assert_int_equal(values->n_values, 1);
	assert_int_equal(values->facts.clock_changed, 0);
	qs_values_free(values);
	assert_int_equal(values_parse(text, sizeof(text), &offset, &values, &line), 1);
}

/* A program may write whatever it likes. */
static void test_refused(void **state)
{
	static const struct {
		const char *text;
		size_t line;
	} wrong[] = {
		{ "x", 1 },
		{ "\n", 1 },
		{ "quiesce-values 2\n", 1 },
		{ "quiesce-values 1\n", 2 },
		{ "quiesce-values 1\nname \n", 2 },
		{ "quiesce-values 1\nname  a\n", 2 },
		{ "quiesce-values 1\nname a\tb\n", 2 },
		{ "quiesce-values 1\nname a\033[2Jb\n", 2 },
		{ "quiesce-values 1\nname \xff\n", 2 },
		{ "quiesce-values 1\nname a\nclock sundial\n", 3 },
		{ "quiesce-values 1\nname a\nclock tsc\nempty -1\n", 4 },
		{ "quiesce-values 1\nname a\nclock tsc\nempty 1 \n", 4 },
		{ "quiesce-values 1\nname a\nclock tsc\nempty 1\nresolution 0x1\n", 5 },
		{ "quiesce-values 1\nname a\nclock tsc\nempty 1\nresolution 1\ninner 0\n", 6 },
		{ "quiesce-values 1\nname a\nclock tsc\nempty 1\nresolution 1\ninner 4294967296\n",
			6 },
		{ HEAD, 7 },
		{ HEAD "end 0\n", 7 },
		{ HEAD "v 1 1 0 0\n", 8 },
		{ HEAD "v 1 1 0 0\nend 2\n", 8 },
		{ HEAD "v 1 1 0 0\nend 1", 8 },
		{ HEAD "v 1 1 0\nend 1\n", 7 },
		{ HEAD "v 1 1 0 0 5\nend 1\n", 7 },
		{ HEAD "v 0 1 0 0\nend 1\n", 7 },
		{ HEAD "v 1 0 0 0\nend 1\n", 7 },
		{ HEAD "v 1 1 0 4096\nend 1\n", 7 },
		{ HEAD "v 9007199254740993 1 0 0\nend 1\n", 7 },
		{ HEAD "v 1 9223372036854775808 0 0\nend 1\n", 7 },
		{ HEAD "v 1  1 0 0\nend 1\n", 7 },
		{ HEAD "V 1 1 0 0\nend 1\n", 7 },
		{ HEAD "v\nend 1\n", 7 },
		{ HEAD "c 1 1 1\nend 1\n", 7 },
		{ HEAD "r 1 2 3\nend 1\n", 7 },
		{ HEAD "v 1 1 0 0\nr 1 2\nend 1\n", 8 },
		{ HEAD "v 1 1 0 0\nr 1 2 --\nend 1\n", 8 },
		{ HEAD "p 1 1\nend 1\n", 7 },
		{ HEAD "v 1 1 0 0\np 0 1\nend 1\n", 8 },
		{ HEAD "v 1 1 0 0\np 1\nend 1\n", 8 },
		{ HEAD "v 1 1 0 0\np 1 --\nend 1\n", 8 },
		{ HEAD "v 1 1 0 0\np 1 10001\nend 1\n", 8 },
		{ HEAD "v 1 1 0 0\np 1 1 1\nend 1\n", 8 },
		{ HEAD "f 2 0 a\nv 1 1 0 0\nend 1\n", 7 },
		{ HEAD "f 0 0 a\tb\nv 1 1 0 0\nend 1\n", 7 },
		{ HEAD "f 0 0\nv 1 1 0 0\nend 1\n", 7 },
		{ HEAD "f 0 -1 a\nv 1 1 0 0\nend 1\n", 7 },
		{ HEAD "f 0 9218868437227405312 infinite\nv 1 1 0 0\nend 1\n", 7 },
		{ HEAD "f 0 0 a name of forty bytes, which is too long\nend 1\n", 7 },
		{ HEAD "f 0 0 a\nf 0 0 b\nf 0 0 c\nf 0 0 d\nf 0 0 e\nf 0 0 f\nf 0 0 g\nf 0 0 h\n"
		       "f 0 0 i\n",
			15 },
		{ HEAD "k 1 1\nend 1\n", 7 },
		{ HEAD "v 1 1 0 0\nk 1\nend 1\n", 8 },
		{ HEAD "v 1 1 0 0\nk 0 1\nend 1\n", 8 },
		{ HEAD "v 1 1 0 0\nk 1 0\nend 1\n", 8 },
		{ HEAD "v 1 1 0 0\nk 160001 1\nend 1\n", 8 },
		{ HEAD "v 1 1 0 0\nk 1 100000001\nend 1\n", 8 },
		{ HEAD "v 1 1 0 0\nk 1 1 1\nend 1\n", 8 },
		{ HEAD "counter 0 flux\n", 7 },
		{ HEAD "counter 0 r1\ncounter 0 r2\ncounter 0 r3\ncounter 0 r4\ncounter 0 r5\n"
		       "counter 0 r6\n",
			12 },
		{ HEAD "v 1 1 0 0\ncounter 0 r1\nend 1\n", 8 },
		{ HEAD "counter 5000 r1\n", 7 },
		{ HEAD "shared 0\n", 7 },
		{ HEAD "counter 0 r1\nshared 1\n", 8 },
		{ HEAD "counter 0 r1\nshared\n", 8 },
		{ HEAD "changed 0\n", 7 },
		{ HEAD "changed 11\n", 7 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct qs_values *values = (struct qs_values *)1;
		size_t line = 0;

		print_message("# %zu\n", i);
		assert_int_equal(
			parse(wrong[i].text, strlen(wrong[i].text), &values, &line), -EBADMSG);
		assert_int_equal(line, wrong[i].line);
		assert_true(values == (struct qs_values *)1);
	}
}

/* Cut anywhere, and with any byte changed: refused, or taken, but never beyond its end. */
static void test_mutilated(void **state)
{
	static const char text[] = HEAD "counter 0 r1\nc 1 5\nw 1 9\nr 1 2 3\nv 1 7 0 0 3\nend 3\n";
	size_t size = sizeof(text) - 1, line, taken = 0;
	struct qs_values *values;
	char *copy;

	(void)state;
	for (size_t cut = 1; cut < size; cut++) {
		/* Exactly as large: an address sanitizer sees the first byte too far. */
		copy = malloc(cut);
		assert_non_null(copy);
		memcpy(copy, text, cut);
		assert_int_equal(parse(copy, cut, &values, &line), -EBADMSG);
		free(copy);
	}
	for (size_t at = 0; at < size; at++) {
		for (int byte = 0; byte < 256; byte++) {
			int r;

			copy = malloc(size);
			assert_non_null(copy);
			memcpy(copy, text, size);
			copy[at] = (char)byte;
			r = parse(copy, size, &values, &line);
			assert_true(r == 0 || r == -EBADMSG || (r == 1 && at == 0 && byte == 0));
			if (r == 0) {
				taken++;
				assert_int_equal(values->n_values, 3);
				qs_values_free(values);
			}
			free(copy);
		}
	}
	assert_true(taken >= size);
}

static void test_names(void **state)
{
	char longest[VALUES_MAX_NAME + 2];

	(void)state;
	memset(longest, 'x', sizeof(longest));
	longest[VALUES_MAX_NAME + 1] = '\0';
	assert_false(values_is_name(longest));
	longest[VALUES_MAX_NAME] = '\0';
	assert_true(values_is_name(longest));
	assert_true(values_is_name("copy/64 bytes"));
	assert_true(values_is_name("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"));
	assert_false(values_is_name(NULL));
	assert_false(values_is_name(""));
	assert_false(values_is_name(" a"));
	assert_false(values_is_name("a "));
	assert_false(values_is_name("a\nb"));
	assert_false(values_is_name("a\x7f"));
	assert_false(values_is_name("\xc2\x9b"));
	assert_false(values_is_name("\xc0\xaf"));
	assert_false(values_is_name("\xed\xa0\x80"));
	assert_false(values_is_name("\xf4\x90\x80\x80"));
	assert_false(values_is_name("\xe2\x82"));
}

static void spin(struct qs_run *run)
{
	uint64_t began = qs_begin(run->sampler), sum = 0;

	for (uint64_t i = 0; i < run->loops; i++) {
		qs_hide(sum);
		sum += i;
	}
	qs_keep(sum);
	qs_end(run->sampler, began);
}

/* Through a descriptor as runpinned makes it, in a locale with another decimal point. */
static void test_hand_over(void **state)
{
	static const struct qs_benchmark benchmark = {
		.name = "spin", .run = spin, .inner_loops = 3
	};
	const struct qs_plan plan = { .loops = 100, .warmups = 1, .values = 2, .look_at_core = 1 };
	struct qs_options options = { .samples = 4 };
	struct qs_sampler *sampler;
	struct qs_values *values, *back;
	size_t size, offset = 0, line;
	char number[16], *text;
	int fd;

	(void)state;
	(void)setlocale(LC_ALL, "de_DE.UTF-8");
	assert_int_equal(qs_open(&options, &sampler), 0);
	assert_int_equal(qs_measure(sampler, &benchmark, &plan, &values), 0);
	unsetenv(VALUES_FD_VARIABLE);
	assert_int_equal(qs_hand_over(values), -ENOENT);
	setenv(VALUES_FD_VARIABLE, "1", 1);
	assert_int_equal(qs_hand_over(values), -EBADF);
	setenv(VALUES_FD_VARIABLE, "one", 1);
	assert_int_equal(qs_hand_over(values), -EBADF);

	fd = values_fd_create();
	assert_true(fd >= 0);
	snprintf(number, sizeof(number), "%d", fd);
	setenv(VALUES_FD_VARIABLE, number, 1);
	values->facts.clock_changed = 1;
	assert_int_equal(qs_hand_over(values), 0);
	qs_reset(sampler);
	qs_end(sampler, qs_begin(sampler));
	qs_end(sampler, qs_begin(sampler));
	assert_int_equal(qs_hand_over_samples(sampler, "bad\n"), -EINVAL);
	assert_int_equal(qs_hand_over_samples(sampler, "mine"), 0);

	assert_int_equal(values_fd_read(fd, &text, &size), 0);
	assert_int_equal(values_parse(text, size, &offset, &back, &line), 0);
	assert_string_equal(back->name, "spin");
	assert_int_equal(back->inner_loops, 3);
	assert_int_equal(back->facts.clock_changed, 1);
	assert_int_equal(back->n_values, 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(qs_value_seconds(back, i) == qs_value_seconds(values, i));
	/* The core is looked at around the values that count, where that is possible. */
	assert_true(back->values[0].kind == QS_VALUE_WARMUP && back->values[0].core_adds == 0);
	for (size_t i = 0; i < 3; i++) {
		const struct qs_value *sent = &values->values[i], *got = &back->values[i];

		assert_true((got->core_adds > 0) == (sent->core_adds > 0));
		assert_true(got->core_adds < sent->core_adds + 1e-4 &&
			got->core_adds > sent->core_adds - 1e-4);
		assert_int_equal(got->regions, sent->regions);
		assert_true(
			got->waiting < sent->waiting + 1e-4 && got->waiting > sent->waiting - 1e-4);
		assert_true(got->core_hertz < sent->core_hertz + 1e3 &&
			got->core_hertz > sent->core_hertz - 1e3);
	}
	qs_values_free(back);
	assert_int_equal(values_parse(text, size, &offset, &back, &line), 0);
	assert_string_equal(back->name, "mine");
	assert_int_equal(back->n_values, 2);
	qs_values_free(back);
	assert_int_equal(values_parse(text, size, &offset, &back, &line), 1);
	free(text);

	/* The next program finds it empty. */
	assert_int_equal(values_fd_clear(fd), 0);
	assert_int_equal(values_fd_read(fd, &text, &size), 0);
	assert_int_equal(size, 0);
	free(text);
	qs_values_free(values);
	qs_close(sampler);
	close(fd);
	unsetenv(VALUES_FD_VARIABLE);
	setlocale(LC_ALL, "C");
}

static int succeed_by_count(const struct qs_benchmark *benchmark, void **ret_state)
{
	(void)benchmark;
	(void)ret_state;
	return 3;
}

static void test_invalid_plans(void **state)
{
	static const double never[] = { -1, -INFINITY, INFINITY, NAN };
	const struct qs_benchmark good = { .name = "spin", .run = spin },
				  bad = { .name = "spin", .run = spin, .setup = succeed_by_count };
	struct qs_plan plan = { .loops = 10, .values = 1 };
	struct qs_options options = { .samples = 1 };
	struct qs_values *values = NULL;
	struct qs_sampler *sampler;

	(void)state;
	assert_int_equal(qs_open(&options, &sampler), 0);
	assert_int_equal(qs_measure(sampler, &bad, &plan, &values), -EINVAL);
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
		plan.warmup_time = never[i];
		assert_int_equal(qs_measure(sampler, &good, &plan, &values), -EINVAL);
	}
	assert_null(values);
	/* A plan of nothing. */
	plan = (struct qs_plan){ .loops = 10 };
	assert_int_equal(qs_measure(sampler, &good, &plan, &values), 0);
	assert_int_equal(values->n_values, 0);
	qs_values_free(values);
	qs_close(sampler);
}

/* The second thread does not come, or comes less often. */
static void stay_away(struct qs_run *run)
{
	for (unsigned i = 0; i < 2 + run->benchmark->argument; i++)
		if (run->thread == 0 || i < run->benchmark->argument)
			qs_start_together(run);
	spin(run);
}

static void test_threads_that_stay_away(void **state)
{
	const struct qs_plan plan = { .loops = 10, .values = 3 };
	struct qs_options options = { .samples = 1 };
	struct qs_sampler *sampler;
	struct qs_values *values;

	(void)state;
	assert_int_equal(qs_open(&options, &sampler), 0);
	for (unsigned times = 0; times < 3; times++) {
		const struct qs_benchmark benchmark = {
			.name = "away", .run = stay_away, .threads = 3, .argument = times
		};

		assert_int_equal(qs_measure(sampler, &benchmark, &plan, &values), -EDEADLK);
	}
	qs_close(sampler);
}

/* Has perf_event_open(2) fail from here on, also in threads that are started. */
static int forbid_counters(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EMFILE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = 4, .filter = filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}

/* One counts in the first thread alone: that is said, because the others' counts are 0. */
static void test_counter_of_a_thread(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		static const char *const names[] = { "task-clock", NULL };
		const struct qs_benchmark benchmark = { .name = "spin", .run = spin, .threads = 2 };
		const struct qs_options options = { .samples = 1, .counters = names };
		const struct qs_plan plan = { .loops = 10, .values = 1 };
		struct qs_sampler *sampler;
		struct qs_values *values;
		struct qs_facts facts;

		if (qs_open(&options, &sampler) < 0)
			_exit(1);
		qs_get_facts(sampler, &facts);
		if (facts.counters[0].error || forbid_counters() < 0)
			_exit(77);
		if (qs_measure(sampler, &benchmark, &plan, &values) < 0)
			_exit(2);
		_exit(values->facts.counters[0].error == EMFILE ? 0 : 3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* What a program can do with the descriptor: fill it, and no more. */
static void test_descriptor(void **state)
{
	struct qs_options options = { .samples = 100000 };
	struct qs_sampler *sampler;
	char number[16], *text;
	size_t size, before;
	struct stat st;
	int fd = values_fd_create(), r;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, VALUES_FD_SIZE);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(ftruncate(fd, 2 * VALUES_FD_SIZE), -1);
	/* Sealed against writing it could not be cleared. */
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
	assert_true(pwrite(fd, "x", 1, VALUES_FD_SIZE) < 0);

	snprintf(number, sizeof(number), "%d", fd);
	setenv(VALUES_FD_VARIABLE, number, 1);
	assert_int_equal(qs_open(&options, &sampler), 0);
	for (int i = 0; i < 30000; i++)
		qs_end(sampler, qs_begin(sampler));
	/* Nobody knows before how long they are. */
	if (qs_nanoseconds(sampler, 1000) <= 0)
		assert_int_equal(qs_hand_over_samples(sampler, "many"), -EINVAL);
	assert_int_equal(qs_settle(sampler), 0);
	assert_int_equal(qs_hand_over_samples(sampler, "many"), 0);
	assert_int_equal(values_fd_read(fd, &text, &before), 0);
	free(text);
	for (r = 0; r == 0;)
		r = qs_hand_over_samples(sampler, "many");
	assert_int_equal(r, -ENOSPC);
	/* Whole blocks, or nothing. */
	assert_int_equal(values_fd_read(fd, &text, &size), 0);
	assert_int_equal(size % before, 0);
	free(text);
	unsetenv(VALUES_FD_VARIABLE);
	qs_close(sampler);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_mutilated),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_hand_over),
		cmocka_unit_test(test_invalid_plans),
		cmocka_unit_test(test_threads_that_stay_away),
		cmocka_unit_test(test_counter_of_a_thread),
		cmocka_unit_test(test_descriptor),
	};

	return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
