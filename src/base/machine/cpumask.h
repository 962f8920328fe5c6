/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of CPUs. They are kept by libbitmask where the build has it, else by an implementation of
 * our own; callers see no difference.
 *
 * A CPU is an int, as in sched_getcpu(3); a number outside 0..CPUMASK_CAPACITY-1 is in no set.
 */
#ifndef QUIESCE_BASE_MACHINE_CPUMASK_H
#define QUIESCE_BASE_MACHINE_CPUMASK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/cleanup.h"

enum {
	/* The largest CONFIG_NR_CPUS that any architecture allows (arch/x86/Kconfig,
	 * arch/powerpc/platforms/Kconfig.cputype). */
	CPUMASK_CAPACITY = 8192,
	/* What sched_getaffinity(2) needs at most. */
	CPUMASK_BYTES = CPUMASK_CAPACITY / 8,
};

struct cpumask;

/* An empty set. 0 or -ENOMEM. */
int cpumask_new(struct cpumask **ret);
/* A set with the CPUs of mask. 0 or -ENOMEM. */
int cpumask_copy(const struct cpumask *mask, struct cpumask **ret);
void cpumask_free(struct cpumask *mask);

DEFINE_CLEANUP(cpumask, cpumask_free);

void cpumask_assign(struct cpumask *mask, const struct cpumask *from);
void cpumask_clear_all(struct cpumask *mask);
/* 0, or -ERANGE when no mask can hold that CPU. */
int cpumask_set(struct cpumask *mask, int cpu);
/* A CPU that is not in the set is no error. */
void cpumask_clear(struct cpumask *mask, int cpu);
bool cpumask_isset(const struct cpumask *mask, int cpu);

bool cpumask_is_empty(const struct cpumask *mask);
/* How many CPUs are in the set. */
unsigned cpumask_weight(const struct cpumask *mask);
/* Lowest CPU, lowest CPU above `cpu`, highest CPU; -1 when there is none. */
int cpumask_first(const struct cpumask *mask);
int cpumask_next(const struct cpumask *mask, int cpu);
int cpumask_last(const struct cpumask *mask);

/* Declares `cpu` and iterates over the set in ascending order. The loop may remove the current
 * CPU. */
#define cpumask_for_each(cpu, mask) \
	for (int cpu = cpumask_first(mask); cpu >= 0; cpu = cpumask_next(mask, cpu))

/* mask = a op b. All three may be the same set. */
void cpumask_and(struct cpumask *mask, const struct cpumask *a, const struct cpumask *b);
void cpumask_or(struct cpumask *mask, const struct cpumask *a, const struct cpumask *b);
void cpumask_andnot(struct cpumask *mask, const struct cpumask *a, const struct cpumask *b);

bool cpumask_equal(const struct cpumask *a, const struct cpumask *b);
/* Every CPU of a is in b. The empty set is a subset of every set. */
bool cpumask_subset(const struct cpumask *a, const struct cpumask *b);
bool cpumask_intersects(const struct cpumask *a, const struct cpumask *b);

/* What was wrong with a text. */
struct cpumask_error {
	size_t offset;	    /* of the offending character, from 0 */
	char character;	    /* that character; '\0' when the text ended too early */
	const char *reason; /* "a CPU number must stand here"; never freed */
};

/*
 * A CPU list as the kernel writes it and as people type it (bitmap_parselist() in lib/bitmap.c or
 * bitmap-str.c; Documentation/admin-guide/kernel-parameters.rst):
 *
 *	0-3,8		numbers and ranges, both ends included
 *	0-15:2/4	of each group of 4 in the range, the first 2
 *	N		the last CPU, n_cpus - 1, wherever a number may stand
 *	all		0-N; a pattern may follow
 *
 * Empty text, blanks only, and blanks with "(null)" (nohz_full in 6.1 and 6.12) are the empty set.
 * One trailing newline is allowed. Everything else is an error, which leaves *ret untouched;
 * *ret_error (may be NULL) then says what is wrong and where:
 *	-EINVAL	not such a list: foreign character, blank inside, comma at either end, reversed
 *		range, a pattern that uses nothing or more than its group; `all` or `N` with
 *		n_cpus 0
 *	-ERANGE	a number that no mask can hold
 * Numbers need not be below n_cpus: the caller checks whether a CPU exists.
 */
int cpumask_parse_list(
	const char *text, unsigned n_cpus, struct cpumask *ret, struct cpumask_error *ret_error);

/* A new set with the CPUs of such a list; `N` and `all` are errors. Errors as above, or -ENOMEM. */
int cpumask_from_list(const char *text, struct cpumask **ret);

/* Reads a kernel attribute that holds such a list; `N` and `all` are errors. dirfd as for
 * openat(2). Errors as above, or those of file_read_long_line(). */
int cpumask_read_list(int dirfd, const char *path, struct cpumask *ret);

/*
 * A mask as in /proc/irq/N/smp_affinity and topology/thread_siblings: groups of 32 bits in
 * hexadecimal, highest first, separated by commas; the first may be shorter than 8 digits, the
 * others have 8 (lib/vsprintf.c: bitmap_string()). One trailing newline is allowed. Errors as
 * above; empty text is an error too.
 */
int cpumask_parse_hex(const char *text, struct cpumask *ret);

/* Adds the CPUs of a text such as "0 1 2 3", as related_cpus and freqdomain_cpus of cpufreq are
 * (cpufreq_show_cpus() in drivers/cpufreq/cpufreq.c), up to the first word that is no CPU. */
void cpumask_add_numbers(struct cpumask *mask, const char *text);

/* The error in words, malloc'd: "unexpected 'x' at character 3: a CPU number must stand here"
 * (people count characters from 1). NULL when out of memory. */
char *cpumask_format_error(const struct cpumask_error *error);

/* "0-3,8", "" for the empty set; malloc'd, NULL when out of memory. */
char *cpumask_format_list(const struct cpumask *mask);
/* The mask as the kernel writes a mask of at least n_bits bits: "00,000000ff" for 40. malloc'd,
 * NULL when out of memory. */
char *cpumask_format_hex(const struct cpumask *mask, unsigned n_bits);

/*
 * Copies the set in the layout of cpu_set_t, for sched_setaffinity(2) elsewhere. `size` is in bytes
 * and a multiple of sizeof(long), else -EINVAL; -ERANGE when a CPU of the set does not fit. Bytes
 * beyond the capacity are zeroed.
 */
int cpumask_export(const struct cpumask *mask, void *bytes, size_t size);
/* The reverse of cpumask_export(). -ERANGE when a CPU beyond the capacity is set. */
int cpumask_import(struct cpumask *mask, const void *bytes, size_t size);

/*
 * Binds the calling thread to exactly the CPUs of the set. The kernel silently drops CPUs that are
 * offline or that the thread's cpuset forbids, and fails only when none is left
 * (__sched_setaffinity() in kernel/sched/core.c, in 6.12 syscalls.c); so this function reads the
 * affinity back. Returns 0; -EINVAL when the set is empty or the kernel would drop a CPU; or
 * another negative errno. On failure the thread has its former affinity.
 */
int cpumask_bind_self(const struct cpumask *mask);
/* Binds the calling thread to those of its CPUs that are not in the set. -EINVAL when there are
 * none; errors as cpumask_bind_self(). */
int cpumask_leave(const struct cpumask *cpus);
/* The affinity of the calling thread, without offline CPUs. */
int cpumask_get_self(struct cpumask *ret);

/*
 * The CPU that the main thread of a process last ran on (field 39 of /proc/PID/stat, proc(5));
 * pid 0 is the calling process. -ESRCH when there is no such process.
 */
int cpumask_latest_cpu(pid_t pid);

#endif
