// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "measure/launch.h"
#include "measure/tracepoints.h"

enum {
	START,
	FORK,
	END,
	N_PROGRAMS,
};

struct tracepoints {
	int map;
	int links[N_PROGRAMS];
	/* Where the launcher's numbers of processes are those of its children. */
	uint64_t namespace_device;
	uint64_t namespace_inode;
	bool has_thread;
	pthread_t thread;
	sem_t attached; /* posted by the thread: `error` is set */
	sem_t ending;	/* waited for by the thread */
	int error;	/* negative errno */
};

/* --- The instructions, as in the kernel's include/linux/filter.h, which programs do not get. ---
 */

#define CALL(helper)                                        \
	{                                                   \
		.code = BPF_JMP | BPF_CALL, .imm = (helper) \
	}
#define MOVE(to, from)                                                                  \
	{                                                                               \
		.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = (to), .src_reg = (from) \
	}
#define SET(to, value)                                                               \
	{                                                                            \
		.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (to), .imm = (value) \
	}
#define CALCULATE(operation, to, value)                                                  \
	{                                                                                \
		.code = BPF_ALU64 | (operation) | BPF_K, .dst_reg = (to), .imm = (value) \
	}
/* Two instructions. `source` is BPF_PSEUDO_MAP_VALUE for the address of the array `value`. */
#define SET_LONG(to, source, value)                                                \
	{ .code = BPF_LD | BPF_IMM | BPF_DW,                                       \
		.dst_reg = (to),                                                   \
		.src_reg = (source),                                               \
		.imm = (int32_t)(uint32_t)((uint64_t)(value)) },                   \
	{                                                                          \
		.imm = (source) ? 0 : (int32_t)(uint32_t)((uint64_t)(value) >> 32) \
	}
#define LOAD(size, to, at, offset)                                                    \
	{                                                                             \
		.code = BPF_LDX | BPF_MEM | (size), .dst_reg = (to), .src_reg = (at), \
		.off = (int16_t)(offset)                                              \
	}
#define STORE(size, at, offset, from)                                                   \
	{                                                                               \
		.code = BPF_STX | BPF_MEM | (size), .dst_reg = (at), .src_reg = (from), \
		.off = (int16_t)(offset)                                                \
	}
/* Threads may do it at the same time. */
#define ADD_ATOMICALLY(at, offset, from)                                                \
	{                                                                               \
		.code = BPF_STX | BPF_XADD | BPF_W, .dst_reg = (at), .src_reg = (from), \
		.off = (int16_t)(offset)                                                \
	}
#define EXIT                               \
	{                                  \
		.code = BPF_JMP | BPF_EXIT \
	}
/* Three instructions: goes on if the registers are equal, else the program ends. */
#define REQUIRE_EQUAL(a, b)                                                              \
	{ .code = BPF_JMP | BPF_JEQ | BPF_X, .dst_reg = (a), .src_reg = (b), .off = 2 }, \
		SET(0, 0), EXIT

/* Three instructions: the same for a register that is not 0. */
#define REQUIRE_NOT_ZERO(a) \
	{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = (a), .imm = 0, .off = 2 }, SET(0, 0), EXIT

#define STAMP(field) offsetof(struct stamps, field)

/* Loads a program; its descriptor, or a negative errno. */
static int load(enum bpf_prog_type type, const struct bpf_insn *instructions, size_t n)
{
	union bpf_attr attr = {
		.prog_type = type,
		.insns = (uintptr_t)instructions,
		.insn_cnt = (uint32_t)n,
		.license = (uintptr_t) "GPL",
	};
	int fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));

	return fd < 0 ? -errno : fd;
}

/* The task gets another name: is it the child that executes the program? It is expected once: what
 * it calls itself later is no beginning. Outside of the namespace the helper tells number 0. */
static int load_start(const struct tracepoints *t)
{
	const struct bpf_insn program[] = {
		SET_LONG(6, BPF_PSEUDO_MAP_VALUE, t->map),
		LOAD(BPF_W, 7, 6, STAMP(expected)),
		REQUIRE_NOT_ZERO(7),
		SET_LONG(1, 0, t->namespace_device),
		SET_LONG(2, 0, t->namespace_inode),
		MOVE(3, 10),
		CALCULATE(BPF_ADD, 3, -(int)sizeof(struct bpf_pidns_info)),
		SET(4, sizeof(struct bpf_pidns_info)),
		CALL(BPF_FUNC_get_ns_current_pid_tgid),
		LOAD(BPF_W, 1, 10,
			(int)offsetof(struct bpf_pidns_info, tgid) -
				(int)sizeof(struct bpf_pidns_info)),
		REQUIRE_EQUAL(1, 7),
		CALL(BPF_FUNC_ktime_get_ns),
		STORE(BPF_DW, 6, STAMP(exec_ns), 0),
		CALL(BPF_FUNC_get_smp_processor_id),
		STORE(BPF_W, 6, STAMP(cpu_exec), 0),
		CALL(BPF_FUNC_get_current_pid_tgid),
		CALCULATE(BPF_RSH, 0, 32),
		STORE(BPF_W, 6, STAMP(process), 0),
		SET(0, 0),
		STORE(BPF_W, 6, STAMP(expected), 0),
		EXIT,
	};

	return load(BPF_PROG_TYPE_RAW_TRACEPOINT, program, ARRAY_SIZE(program));
}

/* The current task forks: is it one of the process? */
static int load_fork(const struct tracepoints *t)
{
	const struct bpf_insn program[] = {
		CALL(BPF_FUNC_get_current_pid_tgid),
		CALCULATE(BPF_RSH, 0, 32),
		SET_LONG(6, BPF_PSEUDO_MAP_VALUE, t->map),
		LOAD(BPF_W, 1, 6, STAMP(process)),
		REQUIRE_EQUAL(0, 1),
		SET(1, 1),
		ADD_ATOMICALLY(6, STAMP(n_started), 1),
		SET(0, 0),
		EXIT,
	};

	return load(BPF_PROG_TYPE_RAW_TRACEPOINT, program, ARRAY_SIZE(program));
}

/*
 * The current task ends: is it one of the process?
 *
 * The second argument of the tracepoint is what the kernel added when it moved the tracepoint
 * before the end of the address space (6.16, "exit: move and extend sched_process_exit()
 * tracepoint"). The program reads it only because the kernel refuses with EINVAL to attach a
 * program to a raw tracepoint that reads more arguments than there are (kernel/trace/bpf_trace.c).
 */
static int load_end(const struct tracepoints *t, enum bpf_prog_type type)
{
	const struct bpf_insn program[] = {
		LOAD(BPF_DW, 1, 1, sizeof(uint64_t)),
		CALL(BPF_FUNC_get_current_pid_tgid),
		CALCULATE(BPF_RSH, 0, 32),
		SET_LONG(6, BPF_PSEUDO_MAP_VALUE, t->map),
		LOAD(BPF_W, 1, 6, STAMP(process)),
		REQUIRE_EQUAL(0, 1),
		CALL(BPF_FUNC_ktime_get_ns),
		STORE(BPF_DW, 6, STAMP(exit_ns), 0),
		CALL(BPF_FUNC_get_smp_processor_id),
		STORE(BPF_W, 6, STAMP(cpu_exit), 0),
		SET(1, 1),
		ADD_ATOMICALLY(6, STAMP(n_ended), 1),
		SET(0, 0),
		EXIT,
	};
	bool is_kprobe = type == BPF_PROG_TYPE_KPROBE;

	return load(type, program + is_kprobe, ARRAY_SIZE(program) - is_kprobe);
}

/* --- Attaching --- */

/* Takes a program, or the negative errno of loading it. The link keeps the program. */
static int attach(int program, const char *tracepoint)
{
	union bpf_attr attr = {
		.raw_tracepoint = { .name = (uintptr_t)tracepoint, .prog_fd = (uint32_t)program },
	};
	int link, error;

	if (program < 0)
		return program;
	link = (int)syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr));
	error = errno;
	close(program);
	return link < 0 ? -error : link;
}

/* A kprobe that is a perf event executes its BPF program on all CPUs, whatever CPU the event is of
 * (kernel/trace/trace_kprobe.c: kprobe_perf_func()). */
static int attach_kprobe(int program, const char *function)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.config1 = (uintptr_t)function, /* kprobe_func; the offset in config2 is 0 */
	};
	_cleanup_close_ int own = program, event = -EBADF;
	uint64_t type;
	int r;

	if (program < 0)
		return program;
	r = file_read_attr_u64(AT_FDCWD, "/sys/bus/event_source/devices/kprobe/type", &type);
	if (r < 0)
		return r;
	attr.type = (uint32_t)type;
	event = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0 || ioctl(event, PERF_EVENT_IOC_SET_BPF, own) < 0)
		return -errno;
	return TAKE_FD(event);
}

static int attach_end(const struct tracepoints *t)
{
	int link = attach(load_end(t, BPF_PROG_TYPE_RAW_TRACEPOINT), "sched_process_exit");

	return link == -EINVAL ? attach_kprobe(load_end(t, BPF_PROG_TYPE_KPROBE), "do_exit") : link;
}

static int attach_all(struct tracepoints *t)
{
	t->links[START] = attach(load_start(t), "task_rename");
	if (t->links[START] < 0)
		return t->links[START];
	t->links[FORK] = attach(load_fork(t), "sched_process_fork");
	if (t->links[FORK] < 0)
		return t->links[FORK];
	t->links[END] = attach_end(t);
	return MIN(t->links[END], 0);
}

static void *attach_in_thread(void *arg)
{
	struct tracepoints *t = arg;

	t->error = attach_all(t);
	sem_post(&t->attached);
	(void)RETRY_INTERRUPTED(sem_wait(&t->ending));
	for (size_t i = 0; i < N_PROGRAMS; i++)
		cleanup_close(&t->links[i]);
	return NULL;
}

int tracepoints_begin(struct tracepoints **ret)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(struct stamps),
		.max_entries = 1,
		.map_flags = BPF_F_MMAPABLE,
	};
	_cleanup_(tracepoints) struct tracepoints *t = NULL;
	struct stat st;
	int r;

	t = malloc(sizeof(*t));
	if (!t)
		return -ENOMEM;
	*t = (struct tracepoints){ .map = -EBADF, .links = { -EBADF, -EBADF, -EBADF } };
	sem_init(&t->attached, 0, 0);
	sem_init(&t->ending, 0, 0);
	if (stat("/proc/self/ns/pid_for_children", &st) < 0)
		return -errno;
	/* The helper wants the kernel's own number of the device (include/linux/kdev_t.h). */
	t->namespace_device = (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev);
	t->namespace_inode = st.st_ino;
	t->map = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	if (t->map < 0)
		return -errno;
	r = pthread_create(&t->thread, NULL, attach_in_thread, t);
	if (r != 0)
		return -r;
	t->has_thread = true;
	*ret = TAKE_PTR(t);
	return 0;
}

int tracepoints_await(struct tracepoints *t)
{
	(void)RETRY_INTERRUPTED(sem_wait(&t->attached));
	return t->error;
}

void tracepoints_end(struct tracepoints *t)
{
	sem_post(&t->ending);
}

int tracepoints_get_fd(const struct tracepoints *t)
{
	return t->map;
}

void tracepoints_free(struct tracepoints *t)
{
	if (!t)
		return;
	if (t->has_thread) {
		tracepoints_end(t);
		pthread_join(t->thread, NULL);
	}
	cleanup_close(&t->map);
	sem_destroy(&t->attached);
	sem_destroy(&t->ending);
	free(t);
}
