// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library/crew.h"
#include "library/digits.h"
#include "library/values.h"

enum {
	/* How often a thread checks whether the others have arrived before it gives up its CPU,
	 * which one of them may need. */
	LOOKS = 1000,
};

struct crew {
	size_t n;
	size_t n_started; /* threads besides the first */
	/* Of the present call. */
	_Atomic uint64_t arrived;
	_Atomic size_t n_ended;
	_Atomic int left_alone; /* a thread waited for one that has ended */

	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t calls;
	size_t n_busy;
	int leaving;
	int error; /* of a thread that could not begin */
	uint64_t loops;
	void *state;

	/* What other threads' samplers are opened with. */
	int stamps;
	const char *counters[QS_MAX_COUNTERS + 1];

	struct seat seats[];
};

size_t crew_count(const struct crew *crew)
{
	return crew->n;
}

const struct seat *crew_seat(const struct crew *crew, size_t i)
{
	return &crew->seats[i];
}

/* How long this thread has been ready to run and did not, since its start; negative where not
 * known. The kernel writes the time that it ran, this, and how often it ran, which is never 0 where
 * it keeps these figures (Documentation/scheduler/sched-stats.rst). */
static int64_t read_delay_ns(int fd)
{
	uint64_t numbers[3];
	char text[80];
	const char *p = text;
	ssize_t n = fd >= 0 ? pread(fd, text, sizeof(text) - 1, 0) : -1;

	if (n <= 0)
		return -1;
	text[n] = '\0';
	for (size_t i = 0; i < 3; i++, p++)
		if (digits_read(&p, 10, INT64_MAX, &numbers[i]) < 0)
			return -1;
	return numbers[2] > 0 ? (int64_t)numbers[1] : -1;
}

static void call_run(struct seat *seat)
{
	int64_t delay = read_delay_ns(seat->delay_fd), delay_after;
	uint64_t ns;

	seat->n_figures = 0;
	ring_begin_sum(seat->run.sampler);
	ns = clock_read_ns(CLOCK_MONOTONIC);
	seat->run.benchmark->run(&seat->run);
	atomic_fetch_add(&seat->crew->n_ended, 1);
	ns = clock_read_ns(CLOCK_MONOTONIC) - ns;
	ring_end_sum(seat->run.sampler, &seat->sum);
	delay_after = read_delay_ns(seat->delay_fd);
	seat->waiting = -1;
	if (delay >= 0 && delay_after >= delay && ns > 0) {
		seat->waiting = (double)(delay_after - delay) / (double)ns;
		seat->waiting = seat->waiting < 1 ? seat->waiting : 1;
	}
}

static int seat_open(struct seat *seat)
{
	const struct qs_options options = { .samples = 1, .counters = seat->crew->counters };
	int r = 0;

	if (!seat->run.sampler)
		r = qs_open_as(seat->crew->stamps, &options, sizeof(options), &seat->run.sampler);
	/* The durations of all threads must be in the same ticks. */
	if (r == 0 &&
		ring_of(seat->run.sampler)->clock.kind !=
			ring_of(seat->crew->seats[0].run.sampler)->clock.kind)
		r = -EAGAIN;
	/* The file is that of the thread that opens it. */
	seat->delay_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	return r;
}

static void seat_close(struct seat *seat)
{
	if (seat->delay_fd >= 0)
		close(seat->delay_fd);
}

/* Another thread's life. */
static void *work(void *argument)
{
	struct seat *seat = argument;
	struct crew *crew = seat->crew;
	uint64_t calls = 0;
	int r = seat_open(seat);

	pthread_mutex_lock(&crew->lock);
	if (r < 0)
		crew->error = r;
	for (;;) {
		crew->n_busy--;
		pthread_cond_broadcast(&crew->changed);
		while (crew->calls == calls && !crew->leaving)
			pthread_cond_wait(&crew->changed, &crew->lock);
		if (crew->leaving)
			break;
		calls = crew->calls;
		seat->run.loops = crew->loops;
		seat->run.state = crew->state;
		pthread_mutex_unlock(&crew->lock);
		call_run(seat);
		pthread_mutex_lock(&crew->lock);
	}
	pthread_mutex_unlock(&crew->lock);
	seat_close(seat);
	qs_close(seat->run.sampler);
	return NULL;
}

static void wait_for_others(struct crew *crew)
{
	while (crew->n_busy > 0)
		pthread_cond_wait(&crew->changed, &crew->lock);
}

static int start_others(struct crew *crew)
{
	int r = 0;

	pthread_mutex_lock(&crew->lock);
	while (r == 0 && crew->n_started + 1 < crew->n) {
		struct seat *seat = &crew->seats[crew->n_started + 1];

		r = -pthread_create(&seat->thread, NULL, work, seat);
		if (r == 0) {
			crew->n_started++;
			crew->n_busy++;
		}
	}
	wait_for_others(crew);
	if (r == 0)
		r = crew->error;
	pthread_mutex_unlock(&crew->lock);
	return r;
}

int crew_open(struct qs_sampler *sampler, const struct qs_benchmark *benchmark, struct crew **ret)
{
	size_t n = benchmark->threads ? benchmark->threads : 1;
	struct qs_facts facts;
	struct crew *crew;
	int r;

	if (n > QS_MAX_THREADS)
		return -EINVAL;
	crew = calloc(1, sizeof(*crew) + n * sizeof(crew->seats[0]));
	if (!crew)
		return -ENOMEM;
	crew->n = n;
	crew->stamps = ring_of(sampler)->stamps;
	qs_get_facts(sampler, &facts);
	for (size_t i = 0; i < facts.n_counters; i++)
		crew->counters[i] = facts.counters[i].name;
	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->changed, NULL);
	for (size_t i = 0; i < n; i++)
		crew->seats[i] = (struct seat){
			.run = { .benchmark = benchmark,
				.thread = (uint32_t)i,
				.threads = (uint32_t)n },
			.crew = crew,
			.delay_fd = -1,
		};
	crew->seats[0].run.sampler = sampler;
	r = seat_open(&crew->seats[0]);
	if (r == 0)
		r = start_others(crew);
	if (r < 0) {
		crew_close(crew);
		return r;
	}
	*ret = crew;
	return 0;
}

void crew_close(struct crew *crew)
{
	if (!crew)
		return;
	pthread_mutex_lock(&crew->lock);
	crew->leaving = 1;
	pthread_cond_broadcast(&crew->changed);
	pthread_mutex_unlock(&crew->lock);
	for (size_t i = 0; i < crew->n_started; i++)
		pthread_join(crew->seats[i + 1].thread, NULL);
	seat_close(&crew->seats[0]);
	pthread_cond_destroy(&crew->changed);
	pthread_mutex_destroy(&crew->lock);
	free(crew);
}

int crew_call(struct crew *crew, uint64_t loops, void *state)
{
	crew->seats[0].run.loops = loops;
	crew->seats[0].run.state = state;
	pthread_mutex_lock(&crew->lock);
	crew->loops = loops;
	crew->state = state;
	crew->n_busy = crew->n_started;
	crew->calls++;
	atomic_store(&crew->arrived, 0);
	atomic_store(&crew->n_ended, 0);
	atomic_store(&crew->left_alone, 0);
	pthread_cond_broadcast(&crew->changed);
	pthread_mutex_unlock(&crew->lock);
	call_run(&crew->seats[0]);
	pthread_mutex_lock(&crew->lock);
	wait_for_others(crew);
	pthread_mutex_unlock(&crew->lock);
	return atomic_load(&crew->left_alone) ? -EDEADLK : 0;
}

void crew_get_facts(struct crew *crew, struct qs_facts *ret)
{
	qs_get_facts(crew->seats[0].run.sampler, ret);
	for (size_t i = 1; i < crew->n; i++) {
		struct qs_sampler *sampler = crew->seats[i].run.sampler;
		struct qs_facts facts;

		counters_settle(&ring_of(sampler)->counters);
		qs_get_facts(sampler, &facts);
		values_add_flaws(ret, &facts);
	}
}

void qs_start_together(struct qs_run *run)
{
	struct crew *crew = ((struct seat *)run)->crew;
	uint64_t arrived, wanted;

	if (crew->n == 1)
		return;
	arrived = atomic_fetch_add(&crew->arrived, 1);
	wanted = (arrived / crew->n + 1) * crew->n;
	for (unsigned looks = 0; atomic_load(&crew->arrived) < wanted; looks++) {
		/* A thread that has ended will not arrive any more; `arrived` is read again after
		 * n_ended, so that its arrival is not missed. */
		if (atomic_load(&crew->n_ended) > 0 && atomic_load(&crew->arrived) < wanted) {
			atomic_store(&crew->left_alone, 1);
			return;
		}
		if (looks % LOOKS == LOOKS - 1)
			sched_yield();
	}
}

int qs_set_figure(struct qs_run *run, const char *name, enum qs_figure_kind kind, double value)
{
	struct seat *seat = (struct seat *)run;
	struct qs_figure figure = { .kind = kind, .value = value };
	size_t i;

	if (!values_is_figure(name, kind, value))
		return -EINVAL;
	memcpy(figure.name, name, strlen(name) + 1);
	for (i = 0; i < seat->n_figures; i++)
		if (strcmp(seat->figures[i].name, name) == 0)
			break;
	if (i == QS_MAX_FIGURES)
		return -E2BIG;
	seat->figures[i] = figure;
	if (i == seat->n_figures)
		seat->n_figures++;
	return 0;
}
