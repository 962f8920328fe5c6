// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/parse.h"
#include "measure/runlog.h"

enum {
	/* How many files are kept open. Further files are opened at each reading: otherwise a set
	 * of 512 CPUs would use up the usual limit of 1024 descriptors. */
	OPEN_FILES_MAX = 64,
	/* The size of the buffer. This is all the memory that the launcher needs to copy a text of
	 * any length. */
	BUFFER_SIZE = 16 * 1024,
	/* A read(2) into less room than this may return only a part of an attribute. */
	READ_MIN = 4 * 1024,
	/* The same limit as in file_reread(). */
	TEXT_MAX = 64 * 1024 * 1024,
	/* A total that does not change for longer than the period of a timer is not believed to be
	 * a count of interrupts. */
	TOTAL_HOLDS_NS = 10 * 1000 * 1000,
	/* After a run that takes longer than this, the interrupts are read one by one although no
	 * device has interrupted anything: ticks and interrupts from other CPUs are evidence, too,
	 * and reading them takes a small part of such a run. So does reading the time in states. */
	DEVICES_HOLD_NS = 5 * 1000 * 1000,
	TOTAL_MAX_LENGTH = 24,
	/* The kernel computes the load every five seconds (LOAD_FREQ). */
	MEAN_HOLDS_NS = 1000 * 1000 * 1000,
	/* So many devices that interrupt often are watched one by one. */
	MAX_DEVICES = 8,
	/* The size of an attribute of sysfs, at most. */
	ATTR_SIZE = 4 * 1024,
};

#define POSSIBLE_CPUS "/sys/devices/system/cpu/possible"

/* A numbered interrupt that came between two readings. */
struct device {
	size_t number;
	int fd;		/* its counts for each CPU, or the negative errno of opening the file */
	uint64_t count; /* what the CPUs of the plan had taken */
};

/* The total of all interrupts, or of all softirqs, as the kernel writes it, "" when unknown: as it
 * was last read, and when they were last read one by one; and the time of that reading. */
struct total {
	char now[TOTAL_MAX_LENGTH];
	char counted[TOTAL_MAX_LENGTH];
	int64_t counted_at_ns;
};

struct runlog_writer {
	int fd;
	size_t at;	  /* offset of the next byte in the run log */
	size_t buffer_at; /* offset of the first byte of `buffer` in the run log */
	const struct launch_plan *plan;
	const struct launch_file *files;
	/* Descriptors of the first OPEN_FILES_MAX files, or the negative errno of opening them. */
	int *fds;
	int32_t *sizes;
	size_t total_size; /* of the text that the totals stand in */
	struct total interrupts;
	struct total softirqs;
	/* What stands behind the first one: how often each numbered interrupt came on all CPUs. */
	char numbers[BUFFER_SIZE];
	/* One of them may have come on a CPU of the plan since the interrupts were read one by
	 * one. */
	bool any_device;
	bool columns_are_cpus; /* in the files of the devices */
	struct device devices[MAX_DEVICES];
	size_t n_devices;   /* that have ever been there: a new one takes the place of the oldest */
	int64_t mean_at_ns; /* when LAUNCH_FILE_MEAN was last read; 0: never */
	int64_t states_at_ns; /* when the time in states was last read; 0: never */
	bool reads_states;    /* whether this reading does */
	char buffer[BUFFER_SIZE];
};

static size_t n_open_files(const struct launch_plan *plan)
{
	return plan->n_files < OPEN_FILES_MAX ? plan->n_files : OPEN_FILES_MAX;
}

static int open_file(const struct runlog_writer *w, size_t index)
{
	const char *path = (const char *)w->plan + w->files[index].path;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* The file of a device has a column for each CPU that is possible (kernel/irq/irqdesc.c:
 * per_cpu_count_show()). Returns whether these are CPUs 0 to n. */
static bool are_columns_cpus(void)
{
	char text[64];
	int fd = open(POSSIBLE_CPUS, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : RETRY_INTERRUPTED(read(fd, text, sizeof(text) - 1));

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return text[0] == '0' && text[1 + strspn(text + 1, "-0123456789")] == '\n';
}

int runlog_writer_new(const struct launch_plan *plan, int fd, struct runlog_writer **ret)
{
	struct runlog_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->fd = fd;
	w->plan = plan;
	w->files = (const struct launch_file *)((const char *)plan + plan->files);
	w->fds = calloc(n_open_files(plan) + 1, sizeof(*w->fds));
	w->sizes = calloc(plan->n_files + 1, sizeof(*w->sizes));
	if (!w->fds || !w->sizes) {
		free(w->fds);
		free(w->sizes);
		free(w);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n_open_files(plan); i++)
		w->fds[i] = open_file(w, i);
	w->columns_are_cpus = are_columns_cpus();
	*ret = w;
	return 0;
}

void runlog_writer_free(struct runlog_writer *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < n_open_files(w->plan); i++) {
		if (w->fds[i] >= 0)
			close(w->fds[i]);
	}
	for (size_t i = 0; i < w->n_devices && i < MAX_DEVICES; i++) {
		if (w->devices[i].fd >= 0)
			close(w->devices[i].fd);
	}
	free(w->fds);
	free(w->sizes);
	free(w);
}

void runlog_rewind(struct runlog_writer *w)
{
	w->at = w->buffer_at = 0;
}

void runlog_forget(struct runlog_writer *w)
{
	w->interrupts.counted[0] = w->softirqs.counted[0] = '\0';
	w->mean_at_ns = 0;
}

size_t runlog_size(const struct runlog_writer *w)
{
	return w->at;
}

static int write_at(const struct runlog_writer *w, const void *data, size_t size, size_t at)
{
	const char *bytes = data;

	while (size > 0) {
		ssize_t n = RETRY_INTERRUPTED(pwrite(w->fd, bytes, size, (off_t)at));

		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO;
		bytes += n;
		size -= (size_t)n;
		at += (size_t)n;
	}
	return 0;
}

int runlog_flush(struct runlog_writer *w)
{
	int r = write_at(w, w->buffer, w->at - w->buffer_at, w->buffer_at);

	if (r == 0)
		w->buffer_at = w->at;
	return r;
}

/* Makes room in the buffer for `size` bytes (at most BUFFER_SIZE) at the offset w->at. */
static int make_room(struct runlog_writer *w, size_t size)
{
	return BUFFER_SIZE - (w->at - w->buffer_at) < size ? runlog_flush(w) : 0;
}

static int append(struct runlog_writer *w, const void *data, size_t size)
{
	const char *bytes = data;

	while (size > 0) {
		size_t n = size < READ_MIN ? size : (size_t)READ_MIN;
		int r = make_room(w, n);

		if (r < 0)
			return r;
		memcpy(w->buffer + (w->at - w->buffer_at), bytes, n);
		w->at += n;
		bytes += n;
		size -= n;
	}
	return 0;
}

/* Replaces bytes that have already been appended. */
static int overwrite(struct runlog_writer *w, const void *data, size_t size, size_t at)
{
	if (at < w->buffer_at) {
		int r = runlog_flush(w);

		return r < 0 ? r : write_at(w, data, size, at);
	}
	memcpy(w->buffer + (at - w->buffer_at), data, size);
	return 0;
}

/* Removes everything that was appended from the offset `at` on. */
static void drop_from(struct runlog_writer *w, size_t at)
{
	w->at = at;
	if (w->buffer_at > at)
		w->buffer_at = at;
}

/* Appends the text of a file. The kernel generates the texts of most files at the first read: less
 * than there was room for is all of such a text. It generates a table piece by piece, whose end is
 * known only when a read returns 0. *ret_size is the size of the text, or the negative errno when
 * it could not be read. */
static int append_text(struct runlog_writer *w, int fd, bool in_pieces, int32_t *ret_size)
{
	size_t begin = w->at;
	int error = 0;

	for (;;) {
		size_t room;
		ssize_t n;
		int r;

		/* What follows a first read is most often nothing, which needs no room. */
		r = make_room(w, w->at == begin ? READ_MIN : 1);
		if (r < 0)
			return r;
		room = BUFFER_SIZE - (w->at - w->buffer_at);
		n = RETRY_INTERRUPTED(pread(
			fd, w->buffer + (w->at - w->buffer_at), room, (off_t)(w->at - begin)));
		if (n < 0)
			error = -errno;
		else if (w->at - begin > (size_t)(TEXT_MAX - n))
			error = -EFBIG;
		if (error < 0) {
			drop_from(w, begin);
			*ret_size = error;
			return 0;
		}
		w->at += (size_t)n;
		if (n == 0 || (!in_pieces && (size_t)n < room))
			break;
	}
	*ret_size = (int32_t)(w->at - begin);
	return append(w, "", 1);
}

/* Adds up what the CPUs of the plan have taken of an interrupt: "12,0,3". */
static int count_device(const struct runlog_writer *w, int fd, uint64_t *ret)
{
	const size_t size = sizeof(w->plan->cpus);
	const cpu_set_t *cpus = (const cpu_set_t *)w->plan->cpus;
	int left = CPU_COUNT_S(size, cpus);
	char text[ATTR_SIZE];
	const char *at = text;
	uint64_t count = 0, value;
	ssize_t n;

	n = fd < 0 ? -1 : RETRY_INTERRUPTED(pread(fd, text, sizeof(text) - 1, 0));
	if (n <= 0 || left == 0)
		return -ENODATA;
	text[n] = '\0';
	for (size_t cpu = 0; left > 0; cpu++) {
		/* The kernel cuts the text of thousands of CPUs. */
		if (parse_next_u64(&at, &value) < 0 || (*at != ',' && *at != '\n'))
			return -ENODATA;
		at += *at == ',';
		if (CPU_ISSET_S(cpu, size, cpus)) {
			count += value;
			left--;
		}
	}
	*ret = count;
	return 0;
}

static struct device *find_device(struct runlog_writer *w, size_t number)
{
	for (size_t i = 0; i < w->n_devices && i < MAX_DEVICES; i++) {
		if (w->devices[i].number == number)
			return &w->devices[i];
	}
	return NULL;
}

/* Returns whether a numbered interrupt, which has come, may have come on a CPU of the plan: when it
 * is seen for the first time, nobody knows. */
static bool has_come_here(struct runlog_writer *w, size_t number)
{
	struct device *device = find_device(w, number);
	bool is_new = !device;
	uint64_t count;

	if (!w->columns_are_cpus)
		return true;
	if (is_new) {
		char path[64];
		int fd;

		snprintf(path, sizeof(path), "/sys/kernel/irq/%zu/per_cpu_count", number);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		device = &w->devices[w->n_devices % MAX_DEVICES];
		if (w->n_devices++ >= MAX_DEVICES && device->fd >= 0)
			close(device->fd);
		*device = (struct device){ .number = number, .fd = fd < 0 ? -errno : fd };
	}
	if (count_device(w, device->fd, &count) < 0)
		return true;
	if (!is_new && count == device->count)
		return false;
	device->count = count;
	return true;
}

/*
 * Notes which numbered interrupts have come since the last reading. They stand in the order of
 * their numbers, with a 0 for each number that there is not (fs/proc/stat.c: show_all_irqs()).
 */
static void take_numbers(struct runlog_writer *w, const char *numbers, size_t length)
{
	const char *now = numbers, *before = w->numbers;

	if (strncmp(before, numbers, length) == 0 && before[length] == '\0')
		return;
	for (size_t number = 0; !w->any_device; number++) {
		size_t n = strspn(now, " "), m = strspn(before, " ");

		n += strcspn(now + n, " \n");
		m += strcspn(before + m, " ");
		if (n == 0 || m == 0) {
			w->any_device = n != m; /* there are more of them than before, or fewer */
			break;
		}
		if (n != m || memcmp(now, before, n) != 0)
			w->any_device = has_come_here(w, number);
		now += n;
		before += m;
	}
	memcpy(w->numbers, numbers, length);
	w->numbers[length] = '\0';
}

/* Takes the first number of the row, and returns what stands behind it; NULL if there is none. */
static const char *take_row(const char *text, const char *row, struct total *ret)
{
	const char *at = strstr(text, row);
	size_t length;

	ret->now[0] = '\0';
	if (!at)
		return NULL;
	at += strlen(row);
	length = strspn(at, "0123456789");
	if (length == 0 || length >= TOTAL_MAX_LENGTH)
		return NULL;
	memcpy(ret->now, at, length);
	ret->now[length] = '\0';
	return at + length;
}

/* Takes the totals from the text that was appended last, if all of it is in the buffer. */
static void take_totals(struct runlog_writer *w, int32_t size)
{
	const char *text, *numbers;

	w->total_size = size < 0 ? 0 : (size_t)size;
	/* On a machine that is so large that the text does not fit into the buffer, there are
	 * always new interrupts, so the totals are of no use. */
	if (size < 0 || w->at - w->buffer_at <= (size_t)size) {
		w->interrupts.now[0] = w->softirqs.now[0] = '\0';
		return;
	}
	text = w->buffer + (w->at - w->buffer_at) - size - 1;
	numbers = take_row(text, "\nintr ", &w->interrupts);
	if (numbers)
		take_numbers(w, numbers, strcspn(numbers, "\n"));
	(void)take_row(text, "\nsoftirq ", &w->softirqs);
}

static bool stands_still(const struct total *total, int64_t now_ns)
{
	return total->now[0] && strcmp(total->now, total->counted) == 0 &&
		now_ns - total->counted_at_ns < TOTAL_HOLDS_NS;
}

/* What there was since the interrupts were last read one by one: RUNLOG_UNCHANGED for no interrupt,
 * RUNLOG_NO_DEVICE for none of a device on the CPUs of the plan, or 0 when they have to be read. */
static int find_unread(const struct runlog_writer *w, int64_t now_ns)
{
	const struct total *total = &w->interrupts;

	if (stands_still(total, now_ns))
		return RUNLOG_UNCHANGED;
	if (total->now[0] && total->counted[0] && !w->any_device &&
		now_ns - total->counted_at_ns < DEVICES_HOLD_NS)
		return RUNLOG_NO_DEVICE;
	return 0;
}

static int append_file(struct runlog_writer *w, size_t index, int32_t *ret_size)
{
	uint32_t kind = w->files[index].kind;
	bool is_open = index < OPEN_FILES_MAX;
	int fd = is_open ? w->fds[index] : open_file(w, index);
	int r;

	if (fd < 0) {
		*ret_size = fd;
		return 0;
	}
	r = append_text(
		w, fd, kind == LAUNCH_FILE_TABLE || kind == LAUNCH_FILE_INTERRUPTS, ret_size);
	if (!is_open)
		close(fd);
	return r;
}

int runlog_write_report(struct runlog_writer *w, const struct launch_report *report)
{
	uint32_t kind = RUNLOG_REPORT;
	int r;

	r = append(w, &kind, sizeof(kind));
	return r < 0 ? r : append(w, report, sizeof(*report));
}

/* Reads the file that lists what the total counts. */
static int append_counted(struct runlog_writer *w, size_t index, struct total *total)
{
	int r;

	memcpy(total->counted, total->now, sizeof(total->counted));
	total->counted_at_ns = clock_now_ns(CLOCK_MONOTONIC);
	r = append_file(w, index, &w->sizes[index]);
	/* The file was not read, so it has to be read the next time. */
	if (w->sizes[index] < 0)
		total->counted[0] = '\0';
	return r;
}

static int append_by_kind(struct runlog_writer *w, size_t index, int64_t now_ns)
{
	int32_t *size = &w->sizes[index];
	int r;

	switch (w->files[index].kind) {
	case LAUNCH_FILE_TOTAL:
		/* The text has to be in the buffer as a whole. */
		r = make_room(w, MIN(w->total_size + READ_MIN, (size_t)BUFFER_SIZE));
		if (r == 0)
			r = append_file(w, index, size);
		if (r == 0)
			take_totals(w, *size);
		return r;
	case LAUNCH_FILE_INTERRUPTS:
		*size = find_unread(w, now_ns);
		if (*size < 0)
			return 0;
		w->any_device = false;
		return append_counted(w, index, &w->interrupts);
	case LAUNCH_FILE_SOFTIRQS:
		if (!stands_still(&w->softirqs, now_ns))
			return append_counted(w, index, &w->softirqs);
		*size = RUNLOG_UNCHANGED;
		return 0;
	case LAUNCH_FILE_MEAN:
		if (w->mean_at_ns > 0 && now_ns - w->mean_at_ns < MEAN_HOLDS_NS) {
			*size = RUNLOG_UNCHANGED;
			return 0;
		}
		w->mean_at_ns = now_ns;
		return append_file(w, index, size);
	case LAUNCH_FILE_STATE:
		return w->reads_states ? append_file(w, index, size) : 0;
	default:
		return append_file(w, index, size);
	}
}

/* Format: the kind, the size of the text of each file, and the texts, each with a NUL behind it. */
int runlog_write_reading(struct runlog_writer *w, enum runlog_kind kind, int cpu)
{
	uint32_t number = kind;
	size_t sizes_size = w->plan->n_files * sizeof(*w->sizes), sizes_at;
	int64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	int r;

	w->reads_states = kind == RUNLOG_BEFORE || now_ns - w->states_at_ns > DEVICES_HOLD_NS;
	if (w->reads_states)
		w->states_at_ns = now_ns;

	for (size_t i = 0; i < w->plan->n_files; i++)
		w->sizes[i] = RUNLOG_NOT_READ;
	r = append(w, &number, sizeof(number));
	/* The sizes are known only when the files have been read; they are filled in then. */
	sizes_at = w->at;
	if (r == 0)
		r = append(w, w->sizes, sizes_size);
	for (size_t i = 0; r == 0 && i < w->plan->n_files; i++) {
		if (w->files[i].cpu < 0 || w->files[i].cpu == cpu)
			r = append_by_kind(w, i, now_ns);
	}
	if (r < 0)
		return r;
	return overwrite(w, w->sizes, sizes_size, sizes_at);
}

/* --- The reader. --- */

struct runlog {
	int fd;
	size_t n_files;
	const char *data; /* the mapping of the file */
	size_t mapped;
	size_t size;
	size_t at;
	struct runlog_reading before;
	struct runlog_reading after;
};

int runlog_fd_create(void)
{
	_cleanup_close_ int fd = memfd_create("runlog", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) < 0)
		return -errno;
	return TAKE_FD(fd);
}

int runlog_new(int fd, size_t n_files, struct runlog **ret)
{
	_cleanup_(runlog) struct runlog *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->fd = fd;
	l->n_files = n_files;
	l->before.texts = calloc(n_files + 1, sizeof(*l->before.texts));
	l->after.texts = calloc(n_files + 1, sizeof(*l->after.texts));
	if (!l->before.texts || !l->after.texts)
		return -ENOMEM;
	*ret = TAKE_PTR(l);
	return 0;
}

static void unmap(struct runlog *l)
{
	if (l->mapped > 0)
		munmap((void *)l->data, l->mapped);
	l->data = NULL;
	l->mapped = l->size = l->at = 0;
}

void runlog_free(struct runlog *l)
{
	if (!l)
		return;
	unmap(l);
	free(l->before.texts);
	free(l->after.texts);
	free(l);
}

int runlog_load(struct runlog *l, size_t size)
{
	struct stat st;

	/* The part of a mapping behind the end of its file cannot be read: it does not even contain
	 * zeros. */
	if (fstat(l->fd, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size < size)
		return -EBADMSG;
	if (size > l->mapped) {
		void *data;

		unmap(l);
		data = mmap(NULL, size, PROT_READ, MAP_SHARED, l->fd, 0);
		if (data == MAP_FAILED)
			return -errno;
		l->data = data;
		l->mapped = size;
	}
	l->size = size;
	l->at = 0;
	return 0;
}

/* Returns the next `size` bytes and moves on; NULL when there are not so many. */
static const char *take(struct runlog *l, size_t size)
{
	const char *data = l->data + l->at;

	if (size > l->size - l->at)
		return NULL;
	l->at += size;
	return data;
}

static bool take_kind(struct runlog *l, uint32_t *ret)
{
	const char *data = take(l, sizeof(*ret));

	if (data)
		memcpy(ret, data, sizeof(*ret));
	return data != NULL;
}

static int take_reading(struct runlog *l, struct runlog_reading *ret)
{
	const char *sizes = take(l, l->n_files * sizeof(int32_t));

	if (!sizes)
		return -EBADMSG;
	for (size_t i = 0; i < l->n_files; i++) {
		struct runlog_text *text = &ret->texts[i];
		const char *data;
		int32_t size;

		memcpy(&size, sizes + i * sizeof(size), sizeof(size));
		*text = (struct runlog_text){ .size = size };
		if (size < 0)
			continue;
		data = take(l, (size_t)size + 1);
		if (!data || data[size] != '\0')
			return -EBADMSG;
		text->data = data;
	}
	return 0;
}

int runlog_next(struct runlog *l, struct runlog_run *ret)
{
	struct runlog_run run = { 0 };
	uint32_t kind;
	const char *data;
	size_t at;
	int r;

	if (l->at == l->size)
		return 0;
	if (!take_kind(l, &kind))
		return -EBADMSG;
	if (kind == RUNLOG_BEFORE) {
		r = take_reading(l, &l->before);
		if (r < 0)
			return r;
		run.before = &l->before;
		if (!take_kind(l, &kind))
			return -EBADMSG;
	}
	data = kind == RUNLOG_REPORT ? take(l, sizeof(run.report)) : NULL;
	if (!data)
		return -EBADMSG;
	memcpy(&run.report, data, sizeof(run.report));

	at = l->at;
	if (take_kind(l, &kind) && kind == RUNLOG_AFTER) {
		r = take_reading(l, &l->after);
		if (r < 0)
			return r;
		run.after = &l->after;
	} else {
		l->at = at;
	}
	run.is_last = l->at == l->size;
	*ret = run;
	return 1;
}
