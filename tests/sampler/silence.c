// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What samples cost the kernel: a million of them without a system call (under a filter that kills
 * on the first one) and without a page fault. A TAP test; each check is shown to be able to fail.
 *
 * QUIESCE_EMULATED in the environment says that this is no Linux of its own (qemu-user): there the
 * kernel sees the emulator.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <quiesce/sampler.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	SAMPLES = 1000000,
	NO_FILTER = 77,
};

static const struct qs_options options = { .samples = SAMPLES };
static struct qs_sampler *sampler;
static int count;
static int failed;

static void report(int ok, const char *what)
{
	printf("%sok %d - %s\n", ok ? "" : "not ", ++count, what);
	failed |= !ok;
}

static void skip(const char *what, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++count, what, why);
}

/* Kills the process on every system call but the one by which it ends. */
static int forbid_system_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { .len = 4, .filter = filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}

static void sample(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t began = qs_begin(sampler);

		qs_barrier();
		qs_end(sampler, began);
	}
}

/* The status of a process that takes samples under the filter, and calls the kernel if it is to. */
static int run_forbidden(int disobey)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		/* Its own: a child has not that of its parent. */
		if (qs_open(&options, &sampler) < 0)
			_exit(2);
		if (forbid_system_calls() < 0)
			_exit(NO_FILTER);
		sample(SAMPLES);
		if (disobey)
			syscall(SYS_getppid);
		_exit(qs_count(sampler) == SAMPLES && qs_dropped(sampler) == 0 ? 0 : 1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

static void test_system_calls(const struct qs_facts *facts)
{
	const char *name = "a million samples make no system call";
	int status = run_forbidden(0);

	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_FILTER) {
		skip(name, "this kernel has no seccomp filters");
		return;
	}
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS && facts->why_no_counter) {
		skip(name, "the clock of this machine takes system calls");
		return;
	}
	report(WIFEXITED(status) && WEXITSTATUS(status) == 0, name);
	status = run_forbidden(1);
	report(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "one would have been seen");
}

static long page_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

static void test_page_faults(void)
{
	size_t size = 64 * (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory;
	long before, after;

	/* The code of this function and of the stamps is there afterwards. */
	qs_reset(sampler);
	(void)page_faults();
	sample(1);
	qs_reset(sampler);
	before = page_faults();
	sample(SAMPLES);
	after = page_faults();
	printf("# %ld page faults in %zu samples\n", after - before, qs_count(sampler));
	report(after == before && qs_count(sampler) == SAMPLES,
		"a million samples make no page fault");

	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	before = page_faults();
	if (memory != MAP_FAILED)
		for (size_t i = 0; i < size; i += (size_t)sysconf(_SC_PAGESIZE))
			memory[i] = 1;
	report(page_faults() > before, "one would have been seen");
}

int main(void)
{
	struct qs_facts facts;
	char text[128];
	int r;

	setvbuf(stdout, NULL, _IOLBF, 0);
	r = qs_open(&options, &sampler);
	if (r < 0) {
		printf("not ok 1 - a sampler # %s\n1..1\n", qs_error_text(r, text, sizeof(text)));
		return 1;
	}
	qs_get_facts(sampler, &facts);
	printf("# clock %s%s%s, ring %s\n", facts.clock_name, facts.why_no_counter ? ": " : "",
		facts.why_no_counter ? facts.why_no_counter : "",
		facts.lock_error ? strerror(facts.lock_error) : "locked");
	if (getenv("QUIESCE_EMULATED")) {
		skip("a million samples make no system call", "emulated: no seccomp");
		skip("a million samples make no page fault",
			"emulated: the emulator's are counted");
	} else {
		test_system_calls(&facts);
		test_page_faults();
	}
	sample(SAMPLES);
	report(qs_settle(sampler) == 0, "the clock settles");
	r = 0;
	for (size_t i = 1; i < qs_count(sampler); i++) {
		const struct qs_sample *s = &qs_samples(sampler)[i];

		r |= s->begin < s[-1].end || s->end < s->begin;
	}
	report(r == 0, "time only goes forward");
	qs_close(sampler);
	printf("1..%d\n", count);
	return failed;
}
