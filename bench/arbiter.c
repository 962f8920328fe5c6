// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arbiter: says how long programs ran, from exec to exit, whoever started and measured them.
 *
 * Two BPF programs are attached once, for as long as this runs, to the kernel's own places of exec
 * and exit; nothing is attached to what is measured. All tools are slowed by them alike: each
 * process and thread that ends costs a look into a hash table, 0.1 to 0.2 us.
 *
 *   task_rename          the kernel gives a process its new name in exec, when the old memory is
 *                        gone and before the new is set up: the same place as perf's COMM record. A
 *                        name that begins with PREFIX opens a window for its process (tgid), once:
 *                        what the process execs later is part of it. A child has a tgid of its own,
 *                        and opens none unless it execs such a name itself.
 *   sched_process_exit   each thread of such a process ends its window anew, so the last one does.
 *
 * Process ids come again while a program forks thousands. The leader of a process ends once; what
 * ends as the leader a second time is another process, and changes nothing. A thread other than the
 * leader that calls exec would be mistaken for that, and its window would end there.
 *
 * It prints "ready" when it is attached. For each line that it reads it prints, and forgets, the
 * windows that have ended, as "NAME START END" (CLOCK_MONOTONIC, ns), then "end". It needs root.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macro.h"

#define PREFIX "ptb-"

#define MAX_WINDOWS 8192

struct window {
	uint64_t start;
	uint64_t end;
	uint64_t leader_ended;
	char comm[16];
};

/* The stack of a BPF program is what lies below its frame pointer. */
enum {
	STACK_WINDOW = -(int)sizeof(struct window),
	STACK_KEY = STACK_WINDOW - 8,
};

#define STACK(member) (STACK_WINDOW + (int)offsetof(struct window, member))

/* Instructions, as Documentation/bpf/standardization/instruction-set.rst has them. */
#define INSN(c, d, s, o, i)                                                         \
	{                                                                           \
		.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) \
	}
#define MOVE(d, s) INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOVE_LOW(d, s) INSN(BPF_ALU | BPF_MOV | BPF_X, d, s, 0, 0)
#define SET(d, value) INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, value)
#define ADD(d, value) INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, value)
#define SHIFT_DOWN(d, bits) INSN(BPF_ALU64 | BPF_RSH | BPF_K, d, 0, 0, bits)
#define LOAD(size, d, s, offset) INSN(BPF_LDX | BPF_MEM | (size), d, s, offset, 0)
#define STORE(size, d, offset, s) INSN(BPF_STX | BPF_MEM | (size), d, s, offset, 0)
#define STORE_ZERO(d, offset) INSN(BPF_ST | BPF_MEM | BPF_DW, d, 0, offset, 0)
#define SKIP_IF(condition, d, value, n) INSN(BPF_JMP | (condition) | BPF_K, d, 0, n, value)
#define SKIP_IF_NOT_EQUAL(d, s, n) INSN(BPF_JMP | BPF_JNE | BPF_X, d, s, n, 0)
#define CALL(function) INSN(BPF_JMP | BPF_CALL, 0, 0, 0, function)
#define MAP(d, fd) INSN(BPF_LD | BPF_DW | BPF_IMM, d, BPF_PSEUDO_MAP_FD, 0, fd), INSN(0, 0, 0, 0, 0)
#define RETURN INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

enum {
	R0 = BPF_REG_0, /* what a call returns; calls take R1 to R5, and keep R6 to R9 */
	R1 = BPF_REG_1,
	R2 = BPF_REG_2,
	R3 = BPF_REG_3,
	R4 = BPF_REG_4,
	R6 = BPF_REG_6,
	R7 = BPF_REG_7,
	R8 = BPF_REG_8,
	FP = BPF_REG_10,
};

static int bpf(int command, union bpf_attr *attr)
{
	int r = (int)syscall(SYS_bpf, command, attr, sizeof(*attr));

	return r < 0 ? -errno : r;
}

static uint64_t address(const void *pointer)
{
	return (uintptr_t)pointer;
}

static int attach(const char *tracepoint, const struct bpf_insn *insns, size_t n)
{
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = address(insns),
		.insn_cnt = (uint32_t)n,
		/* Names are read by a function that is only for programs under the GPL. */
		.license = address("GPL"),
	};
	union bpf_attr open = { .raw_tracepoint.name = address(tracepoint) };
	int fd = bpf(BPF_PROG_LOAD, &load);

	if (fd < 0)
		return fd;
	open.raw_tracepoint.prog_fd = (uint32_t)fd;
	return bpf(BPF_RAW_TRACEPOINT_OPEN, &open);
}

static int attach_exec(int map)
{
	int32_t prefix;

	memcpy(&prefix, PREFIX, sizeof(prefix));
	const struct bpf_insn insns[] = {
		/* The tracepoint's second argument is the name; its first one, the task, is the
		   caller. */
		LOAD(BPF_DW, R3, R1, 8),
		STORE_ZERO(FP, STACK(end)),
		STORE_ZERO(FP, STACK(leader_ended)),
		STORE_ZERO(FP, STACK(comm)),
		STORE_ZERO(FP, STACK(comm) + 8),
		MOVE(R1, FP),
		ADD(R1, STACK(comm)),
		SET(R2, sizeof(((struct window *)NULL)->comm)),
		CALL(BPF_FUNC_probe_read_kernel_str),
		LOAD(BPF_W, R1, FP, STACK(comm)),
		SKIP_IF(BPF_JNE, R1, prefix, 13),
		CALL(BPF_FUNC_get_current_pid_tgid),
		SHIFT_DOWN(R0, 32),
		STORE(BPF_W, FP, STACK_KEY, R0),
		CALL(BPF_FUNC_ktime_get_ns),
		STORE(BPF_DW, FP, STACK(start), R0),
		MAP(R1, map),
		MOVE(R2, FP),
		ADD(R2, STACK_KEY),
		MOVE(R3, FP),
		ADD(R3, STACK_WINDOW),
		SET(R4, BPF_NOEXIST),
		CALL(BPF_FUNC_map_update_elem),
		SET(R0, 0),
		RETURN,
	};

	return attach("task_rename", insns, ARRAY_SIZE(insns));
}

static int attach_exit(int map)
{
	const struct bpf_insn insns[] = {
		CALL(BPF_FUNC_get_current_pid_tgid),
		MOVE_LOW(R7, R0),
		SHIFT_DOWN(R0, 32),
		MOVE(R8, R0),
		STORE(BPF_W, FP, STACK_KEY, R0),
		MAP(R1, map),
		MOVE(R2, FP),
		ADD(R2, STACK_KEY),
		CALL(BPF_FUNC_map_lookup_elem),
		SKIP_IF(BPF_JEQ, R0, 0, 8),
		MOVE(R6, R0),
		SKIP_IF_NOT_EQUAL(R7, R8, 4),
		LOAD(BPF_DW, R1, R6, offsetof(struct window, leader_ended)),
		SKIP_IF(BPF_JNE, R1, 0, 4),
		SET(R1, 1),
		STORE(BPF_DW, R6, offsetof(struct window, leader_ended), R1),
		CALL(BPF_FUNC_ktime_get_ns),
		STORE(BPF_DW, R6, offsetof(struct window, end), R0),
		SET(R0, 0),
		RETURN,
	};

	return attach("sched_process_exit", insns, ARRAY_SIZE(insns));
}

static int start(void)
{
	/* Before 5.11 maps count as locked memory. */
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	union bpf_attr create = {
		.map_type = BPF_MAP_TYPE_HASH,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(struct window),
		.max_entries = MAX_WINDOWS,
	};
	int map, r;

	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	map = bpf(BPF_MAP_CREATE, &create);
	if (map < 0)
		return map;
	r = attach_exit(map);
	if (r >= 0)
		r = attach_exec(map);
	return r < 0 ? r : map;
}

/* All keys first: the walk begins anew behind one that was deleted. */
static void print_windows(int map)
{
	static uint32_t keys[MAX_WINDOWS];
	struct window window;
	union bpf_attr walk = { .map_fd = (uint32_t)map }, item = { .map_fd = (uint32_t)map };
	size_t n = 0;

	while (n < MAX_WINDOWS) {
		walk.key = n > 0 ? address(&keys[n - 1]) : 0;
		walk.next_key = address(&keys[n]);
		if (bpf(BPF_MAP_GET_NEXT_KEY, &walk) < 0)
			break;
		n++;
	}
	for (size_t i = 0; i < n; i++) {
		item.key = address(&keys[i]);
		item.value = address(&window);
		if (bpf(BPF_MAP_LOOKUP_ELEM, &item) < 0 || window.end == 0)
			continue;
		printf("%.16s %" PRIu64 " %" PRIu64 "\n", window.comm, window.start, window.end);
		item.value = 0;
		bpf(BPF_MAP_DELETE_ELEM, &item);
	}
	printf("end\n");
	fflush(stdout);
}

int main(void)
{
	int map = start();
	char line[16];

	if (map < 0) {
		fprintf(stderr,
			"arbiter: BPF: %s (it needs root, and a kernel with raw tracepoints)\n",
			strerror(-map));
		return 1;
	}
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		print_windows(map);
	return 0;
}
