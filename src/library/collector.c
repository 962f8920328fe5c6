// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A thread on another CPU that reads the state of the benchmark's CPU on request. It sleeps
 * otherwise, so that it does not run during a timed region.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library/clock.h"
#include "library/columns.h"
#include "library/digits.h"
#include "quiesce/benchmark.h"

enum {
	/* sched_setaffinity(2) takes masks of any size; no machine has 16384 CPUs. */
	MAX_CPUS = 16384,
	MAX_SENSORS = 64,
	SENSOR_REST_NS = 1000 * 1000 * 1000,
	ATTRIBUTE_SIZE = 4096,
};

enum state {
	STARTING,
	RESTING,
	ASKED,
	LEAVING,
};

struct qs_collector {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum state state;
	int error; /* of the start */
	struct qs_reading reading;

	/* Only used by the thread. */
	int cpu;
	int frequency_fd; /* -1 where there is none */
	int temperature_fd;
	int interrupts_fd;
	char *table; /* the text of /proc/interrupts */
	size_t table_size;
	uint64_t asked_sensor_ns;
};

/* Reads by a single read(2), which sysfs attributes require. */
static ssize_t read_attribute(int fd, char *buffer, size_t size)
{
	ssize_t n = pread(fd, buffer, size - 1, 0);

	if (n < 0)
		return -errno;
	buffer[n] = '\0';
	return n;
}

static int64_t read_number(int fd)
{
	char text[32];
	const char *p = text;
	uint64_t number;

	if (fd < 0 || read_attribute(fd, text, sizeof(text)) < 0 ||
		digits_read(&p, 10, INT64_MAX, &number) < 0 || *p != '\n')
		return -1;
	return (int64_t)number;
}

static int read_text_of(const char *path, char *buffer, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read_attribute(fd, buffer, size);
	close(fd);
	if (n < 0)
		return (int)n;
	buffer[strcspn(buffer, "\n")] = '\0';
	return 0;
}

/* The rank of a sensor for the package's temperature; 0: not usable. Names and labels are those of
 * the kernel's Documentation/hwmon/coretemp.rst and k10temp.rst. */
static int rank_sensor(const char *chip, const char *label, const char *package)
{
	if (strcmp(chip, "coretemp") == 0)
		return strcmp(label, package) == 0 ? 3 : 0;
	if (strcmp(chip, "k10temp") == 0)
		return strcmp(label, "Tdie") == 0 ? 3 : strcmp(label, "Tctl") == 0 ? 2 : 0;
	if (strcmp(chip, "cpu_thermal") == 0 || strcmp(chip, "soc_thermal") == 0)
		return 1;
	return 0;
}

static int open_sensor(int cpu)
{
	char path[128], package[64] = "Package id 0", text[32];
	int best = 0, fd = -1;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/physical_package_id",
		cpu);
	if (read_text_of(path, text, sizeof(text)) == 0)
		snprintf(package, sizeof(package), "Package id %s", text);
	for (int chip = 0; chip < MAX_SENSORS; chip++) {
		char name[64];

		snprintf(path, sizeof(path), "/sys/class/hwmon/hwmon%d/name", chip);
		if (read_text_of(path, name, sizeof(name)) < 0)
			continue;
		for (int i = 1; i < MAX_SENSORS; i++) {
			char label[64] = "";
			int rank, candidate;

			snprintf(path, sizeof(path), "/sys/class/hwmon/hwmon%d/temp%d_label", chip,
				i);
			(void)read_text_of(path, label, sizeof(label));
			rank = rank_sensor(name, label, package);
			if (rank <= best)
				continue;
			snprintf(path, sizeof(path), "/sys/class/hwmon/hwmon%d/temp%d_input", chip,
				i);
			candidate = open(path, O_RDONLY | O_CLOEXEC);
			if (candidate < 0)
				continue;
			if (fd >= 0)
				close(fd);
			fd = candidate;
			best = rank;
		}
	}
	return fd;
}

/* Reads the whole of /proc/interrupts into collector->table. Reading from offset 0 makes the kernel
 * render it again. */
static int read_table(struct qs_collector *collector)
{
	size_t used = 0;

	for (;;) {
		ssize_t n;

		if (collector->table_size - used < ATTRIBUTE_SIZE) {
			size_t size = 2 * collector->table_size + 4 * ATTRIBUTE_SIZE;
			char *more = realloc(collector->table, size);

			if (!more)
				return -ENOMEM;
			collector->table = more;
			collector->table_size = size;
		}
		n = pread(collector->interrupts_fd, collector->table + used,
			collector->table_size - used - 1, (off_t)used);
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		used += (size_t)n;
	}
	if (used == 0)
		return -ENODATA;
	collector->table[used] = '\0';
	return 0;
}

static void take_reading(struct qs_collector *collector)
{
	struct qs_reading *reading = &collector->reading;
	uint64_t now = clock_read_ns(CLOCK_MONOTONIC);

	reading->frequency_khz = read_number(collector->frequency_fd);
	/* The driver caches the value for a second, and a reading of the sensor interrupts the
	 * CPU. */
	if (collector->asked_sensor_ns == 0 || now - collector->asked_sensor_ns >= SENSOR_REST_NS) {
		collector->asked_sensor_ns = now;
		reading->temperature_mc = read_number(collector->temperature_fd);
	}
	reading->interrupts = -1;
	if (collector->interrupts_fd >= 0 && read_table(collector) == 0)
		reading->interrupts = columns_sum(collector->table, collector->cpu);
}

/* Moves this thread to any CPU that the process may use, except `cpu`. */
static int leave_cpu(int cpu)
{
	size_t size = CPU_ALLOC_SIZE(MAX_CPUS);
	cpu_set_t *mask = CPU_ALLOC(MAX_CPUS);
	int r = 0;

	if (!mask)
		return -ENOMEM;
	memset(mask, 0xff, size);
	CPU_CLR_S((size_t)cpu, size, mask);
	/* The kernel drops CPUs that do not exist or are not allowed (cpusets), and returns EINVAL
	 * where none remains. */
	if (sched_setaffinity(0, size, mask) < 0)
		r = errno == EINVAL ? -ENXIO : -errno;
	CPU_FREE(mask);
	return r;
}

static void open_files(struct qs_collector *collector)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq",
		collector->cpu);
	collector->frequency_fd = open(path, O_RDONLY | O_CLOEXEC);
	collector->temperature_fd = open_sensor(collector->cpu);
	collector->interrupts_fd = open("/proc/interrupts", O_RDONLY | O_CLOEXEC);
}

static void *run_thread(void *argument)
{
	struct qs_collector *collector = argument;
	int r = leave_cpu(collector->cpu);

	if (r == 0)
		open_files(collector);
	pthread_mutex_lock(&collector->lock);
	collector->error = r;
	while (collector->error == 0 && collector->state != LEAVING) {
		if (collector->state == ASKED)
			take_reading(collector);
		collector->state = RESTING;
		pthread_cond_broadcast(&collector->changed);
		while (collector->state == RESTING)
			pthread_cond_wait(&collector->changed, &collector->lock);
	}
	if (collector->state == STARTING)
		collector->state = LEAVING;
	pthread_cond_broadcast(&collector->changed);
	pthread_mutex_unlock(&collector->lock);
	return NULL;
}

static void destroy(struct qs_collector *collector)
{
	if (collector->frequency_fd >= 0)
		close(collector->frequency_fd);
	if (collector->temperature_fd >= 0)
		close(collector->temperature_fd);
	if (collector->interrupts_fd >= 0)
		close(collector->interrupts_fd);
	pthread_cond_destroy(&collector->changed);
	pthread_mutex_destroy(&collector->lock);
	free(collector->table);
	free(collector);
}

int qs_collector_open(int cpu, struct qs_collector **ret)
{
	struct qs_collector *collector;
	sigset_t all, before;
	int r;

	if (cpu < 0 || cpu >= MAX_CPUS)
		return -EINVAL;
	collector = calloc(1, sizeof(*collector));
	if (!collector)
		return -ENOMEM;
	collector->cpu = cpu;
	collector->frequency_fd = collector->temperature_fd = collector->interrupts_fd = -1;
	collector->reading = (struct qs_reading){ -1, -1, -1 };
	pthread_mutex_init(&collector->lock, NULL);
	pthread_cond_init(&collector->changed, NULL);
	/* Signals are left to the program's own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	r = -pthread_create(&collector->thread, NULL, run_thread, collector);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r < 0) {
		destroy(collector);
		return r;
	}
	pthread_mutex_lock(&collector->lock);
	while (collector->state == STARTING)
		pthread_cond_wait(&collector->changed, &collector->lock);
	r = collector->error;
	pthread_mutex_unlock(&collector->lock);
	if (r < 0) {
		pthread_join(collector->thread, NULL);
		destroy(collector);
		return r;
	}
	*ret = collector;
	return 0;
}

void qs_collector_close(struct qs_collector *collector)
{
	if (!collector)
		return;
	pthread_mutex_lock(&collector->lock);
	collector->state = LEAVING;
	pthread_cond_broadcast(&collector->changed);
	pthread_mutex_unlock(&collector->lock);
	pthread_join(collector->thread, NULL);
	destroy(collector);
}

void qs_collector_read(struct qs_collector *collector, struct qs_reading *ret)
{
	pthread_mutex_lock(&collector->lock);
	collector->state = ASKED;
	pthread_cond_broadcast(&collector->changed);
	while (collector->state == ASKED)
		pthread_cond_wait(&collector->changed, &collector->lock);
	*ret = collector->reading;
	pthread_mutex_unlock(&collector->lock);
}
