// SPDX-License-Identifier: GPL-2.0-or-later
/* Benchmarks that do what benchmarks do, and some that do not; for test_main.py. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <quiesce/benchmark.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void spin(struct qs_run *run)
{
	uint64_t began = qs_begin(run->sampler);

	qs_repeat (run->loops)
		qs_barrier();
	qs_end(run->sampler, began);
}

static void sleep_long(struct qs_run *run)
{
	uint64_t began = qs_begin(run->sampler);

	for (uint64_t i = 0; i < run->loops; i++)
		usleep(100 * 1000);
	qs_end(run->sampler, began);
}

static void die(struct qs_run *run)
{
	(void)run;
	raise(SIGSEGV);
}

static void leave(struct qs_run *run)
{
	(void)run;
	_exit(3);
}

static void take_nothing(struct qs_run *run)
{
	(void)run;
}

static int fail(const struct qs_benchmark *benchmark, void **ret_state)
{
	(void)benchmark;
	(void)ret_state;
	return -ENOSPC;
}

/* With a value that libquiesce has as well, in another meaning. */
static int forbid(const struct qs_benchmark *benchmark, void **ret_state)
{
	(void)benchmark;
	(void)ret_state;
	return -EPERM;
}

/* A region for each loop, with nearly nothing in it. */
static void spin_in_pairs(struct qs_run *run)
{
	for (uint64_t i = 0; i < run->loops; i++) {
		uint64_t began = qs_begin(run->sampler);

		qs_barrier();
		qs_end(run->sampler, began);
	}
}

/* In all its threads at the same time, with figures. */
static void spin_by_size(struct qs_run *run)
{
	size_t size = run->benchmark->argument;
	uint64_t began;

	qs_start_together(run);
	began = qs_begin(run->sampler);
	for (uint64_t i = 0; i < run->loops; i++)
		for (size_t j = 0; j < size; j++)
			qs_barrier();
	qs_end(run->sampler, began);
	if (qs_set_figure(run, "bytes", QS_FIGURE_AMOUNT, (double)size) < 0 ||
		qs_set_figure(run, "my figure", QS_FIGURE_PLAIN, -1.25) < 0 ||
		qs_set_figure(run, "too large", QS_FIGURE_PLAIN, 1e308) != -EINVAL)
		_exit(1);
}

static void ignore_loops(struct qs_run *run)
{
	uint64_t began = qs_begin(run->sampler);

	qs_barrier();
	qs_end(run->sampler, began);
}

/* Appends to the file PLACES where this process's data lie: another place in each process, if each
 * has a layout of its own. */
static void tell_place(struct qs_run *run)
{
	const char *path = getenv("PLACES");
	FILE *file = path ? fopen(path, "a") : NULL;
	void *place = malloc(1 << 20);

	spin(run);
	if (!file || fprintf(file, "%p\n", place) < 0 || fclose(file) != 0)
		_exit(1);
	free(place);
}

/* Nobody asks the benchmark itself for values, nor the programs that it runs. */
static void find_nobody(struct qs_run *run)
{
	spin(run);
	if (getenv("QUIESCE_VALUES_FD") || qs_hand_over_samples(run->sampler, "mine") != -ENOENT)
		_exit(4);
	for (int fd = STDERR_FILENO + 1; fd < 64; fd++) {
		int flags = fcntl(fd, F_GETFD);

		if (flags >= 0 && !(flags & FD_CLOEXEC))
			_exit(5);
	}
}

static const struct qs_benchmark good[] = {
	{ .name = "spin", .run = spin },
	{ .name = "group/spin \"1\"", .run = spin, .inner_loops = 10 },
	{ .name = "group/2", .run = spin },
	{ .name = "pairs", .run = spin_in_pairs },
	{ .name = "grow/8", .run = spin_by_size, .argument = 8, .family = "grow", .size = 8 },
	{ .name = "grow/64", .run = spin_by_size, .argument = 64, .family = "grow", .size = 64 },
	{ .name = "grow/512", .run = spin_by_size, .argument = 512, .family = "grow", .size = 512 },
	{ .name = "together", .run = spin_by_size, .argument = 64, .threads = 3 },
	{ .name = "bad/die", .run = die },
	{ .name = "bad/leave", .run = leave },
	{ .name = "bad/nothing", .run = take_nothing },
	{ .name = "bad/setup", .run = spin, .setup = fail },
	{ .name = "bad/forbidden", .run = spin, .setup = forbid },
	{ .name = "bad/loops", .run = ignore_loops },
	{ .name = "place", .run = tell_place },
	{ .name = "alone", .run = find_nobody },
	{ .name = "index[0]", .run = spin },
	{ .name = "slow", .run = sleep_long },
	{ 0 },
};

static const struct qs_benchmark twice[] = {
	{ .name = "spin", .run = spin },
	{ .name = "spin", .run = spin },
	{ 0 },
};

static const struct qs_benchmark nameless[] = {
	{ .name = "a\nb", .run = spin },
	{ 0 },
};

/* Samples of main()'s own, which are for runpinned. */
static void hand_over_start(void)
{
	const struct qs_options options = { .samples = 1 };
	struct qs_sampler *sampler;

	if (qs_open(&options, &sampler) < 0)
		_exit(6);
	qs_end(sampler, qs_begin(sampler));
	(void)qs_settle(sampler);
	(void)qs_hand_over_samples(sampler, "start");
	qs_close(sampler);
}

static const struct qs_benchmark endless[] = {
	{ .name = "spin", .run = spin, .family = "spin", .size = INFINITY },
	{ 0 },
};

static const struct qs_benchmark unreadable[] = {
	{ .name = "spin", .run = spin, .family = "\xff", .size = 1 },
	{ 0 },
};

int main(int argc, char *argv[])
{
	const struct qs_benchmark *benchmarks = good;
	const char *list = getenv("LIST");
	char *large;

	if (getenv("START"))
		hand_over_start();
	/* The kernel executes nothing with a text of that size (MAX_ARG_STRLEN). */
	if (getenv("LARGE") && (large = calloc(1, 1 << 20)) != NULL) {
		memset(large, 'x', (1 << 20) - 1);
		setenv("LARGE", large, 1);
	}
	if (getenv("PARSED"))
		optind = argc;
	if (strstr(argv[0], "without-environment"))
		clearenv();
	setlocale(LC_ALL, "");
	if (list && strcmp(list, "twice") == 0)
		benchmarks = twice;
	else if (list && strcmp(list, "nameless") == 0)
		benchmarks = nameless;
	else if (list && strcmp(list, "endless") == 0)
		benchmarks = endless;
	else if (list && strcmp(list, "unreadable") == 0)
		benchmarks = unreadable;
	return qs_main(argc, argv, benchmarks);
}
