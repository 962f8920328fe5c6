// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * runpinned's launcher: starts one child after another on the benchmark's CPUs, sleeps while each
 * runs, and reports the time stamps. It is static, uses only the C library, and needs a few hundred
 * kilobytes; see launch.h.
 *
 * The child is created by clone(CLONE_VM) from this small process, so that starting it copies
 * nothing. It is not created by vfork(2), which wakes the parent at exec, in the middle of the
 * window and on the child's own CPU. Instead the child yields until the parent is about to sleep,
 * and the parent is woken only when the child exits. While the child waits, the parent does for it
 * whatever can be done from outside (process group, perf event). The child itself does the rest
 * just before execve(2).
 *
 * Between the runs of a request the launcher reads the evidence, and waits for no other process.
 * Between requests it sleeps: then another launcher may use the CPU.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/machine/schedstat.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/survive.h"
#include "library/core.h"
#include "library/values.h"
#include "measure/attach.h"
#include "measure/become.h"
#include "measure/launch.h"
#include "measure/orphans.h"
#include "measure/runlog.h"

enum {
	CHILD_STACK_SIZE = 64 * 1024,
	READ_SIZE = 64 * 1024, /* what a pipe holds */
	KERNEL_SIGSET_SIZE = 8,
	PIPE_PAUSE_NS = 50 * 1000,
	/* How long the runs of one request may take together. After this time the user sees
	 * progress, and what is known of the runs takes little memory until then. A run that takes
	 * longer than this is a request of its own. */
	REQUEST_MAX_NS = 50 * 1000 * 1000,
	RUNLOG_MAX_SIZE = 8 * 1024 * 1024,
	/* How long a program may wait for its first moment on its CPU, where --timeout is shorter.
	 */
	BEGIN_SECONDS = 60,
	/* The two looks at the core together take no more than a tenth of what a run takes, unless
	 * the shortest possible ones do. */
	CORE_PART_OF_RUN = 20,
	/* The look after a run is also the one before the next run, if that begins so soon. */
	CORE_HOLDS_NS = 500 * 1000,
	RUN_DIGITS = 10, /* of the largest uint32_t */
	/* Two readings of a clock that are further apart than this may have something between them.
	 */
	OFFSET_MAX_NS = 300,
	OFFSET_TRIES = 5,
	/* Of the kernel's struct rusage, which is all long (include/uapi/linux/resource.h). */
	USAGE_SIZE = 18,
	USAGE_VOLUNTARY = 16,
	USAGE_INVOLUNTARY = 17,
};

static const char pad_variable[] = LAUNCH_PAD_VARIABLE "=";
static const char run_variable[] = LAUNCH_RUN_VARIABLE "=";
static const char fill_variable[] = LAUNCH_RUN_FILL_VARIABLE "=";

struct launcher;

struct core_look {
	struct core_reading reading;
	int cpu; /* that it is of; -1 when the core was not looked at */
	int64_t at_ns;
};

/* Shared with the child, which uses the parent's memory until it executes the program. */
struct child {
	const struct launcher *launcher;
	pid_t parent;
	bool go; /* set by the parent when it is about to sleep */
	/* Set by the parent: what the child executes. */
	const char *program;
	bool is_floor;
	/* Set by the child. */
	int64_t start_ns;
	int64_t ahead_ns;     /* how far CLOCK_MONOTONIC is ahead of the plan's clock */
	struct rusage before; /* what the child had used before execve(2), without the program */
	/* How long the child had run and waited for the CPU before execve(2), from its schedstat or
	 * as it reckons itself, and how long the launcher had waited; -1 when unknown. */
	struct schedstat schedstat_before;
	int64_t launcher_delay_before_ns;
	struct core_look core;
	int error;
	int step;
	/* The child's schedstat, which both read: the child before execve(2), and the parent after
	 * the end. Negative when it is not open. */
	int schedstat;
	int64_t cloned_ns; /* on CLOCK_MONOTONIC; set by the parent */
	/* Used by the parent only. */
	pid_t pid;
	int64_t n_switches; /* away from it and all that it has waited for, until its end */
	int window_error;
};

struct launcher {
	const struct launch_plan *plan;
	char **argv;
	/* The caller's environment behind our own variables. */
	char **env;
	char **levels[LAUNCH_MAX_FACTORS]; /* the strings of each factor */
	/* Where the present one of a variable belongs in `env`. */
	char **variables[LAUNCH_MAX_FACTORS];
	bool fixed;	     /* the next run has no random addresses */
	const char *program; /* that it executes */
	char run[sizeof(run_variable) + RUN_DIGITS];
	char run_fill[sizeof(fill_variable) + RUN_DIGITS];
	char *pad;		 /* if there is padding */
	struct termios settings; /* of LAUNCH_TERMINAL, before the first run */
	struct winsize size;
	void *child_stack; /* its lowest address */
	timer_t timer;	   /* only with a timeout */
	int socket;
	int keeper_socket;
	bool has_proc; /* /proc is that of our PID namespace */
	/* How far the clocks of our time namespace are ahead of the kernel's (time_namespaces(7)).
	 */
	int64_t namespace_ns;
	/* The kernel's list of the keeper's children; -1 when there is no such file. */
	int orphans;
	/* The content of that list while the launcher is the keeper's only child. */
	char self[16];
	int schedstat;		    /* the launcher's own; -1 when there is no such file */
	struct rlimit caller_files; /* RLIMIT_NOFILE, with which a child starts; 0: unknown */
	void (*caller_stop)(int);   /* SIG_DFL or SIG_IGN, with which a child starts */
	void (*caller_alarm)(int);
	void (*caller_chld)(int);
	struct child child;
	int plain_output;     /* standard output of all runs but those whose output is kept */
	bool keeps_output;    /* standard output is the file that is kept */
	int output;	      /* LAUNCH_READER: the end of the pipe that is read */
	clockid_t reader_cpu; /* the CPU time of the reader */
	struct core core;
	bool is_core_open; /* or could not be opened */
	/* Positive errno of core_open(); 0 when `core` can be used or is not wanted. */
	int core_error;
	bool skips_core; /* LAUNCH_CORE_HALF: the core is not looked at around this run */
	struct core_look core_look; /* after the previous run */
	int64_t run_ns; /* how long the last run took, of whichever program; INT64_MAX before any */
	struct stamps *stamps; /* shared with the BPF programs; NULL without them */
	struct attach attach;
	struct runlog_writer *runlog;
};

/* Used by the signal handler. running_child leads a process group; it is 0 when no child runs. */
static volatile sig_atomic_t running_child;
static volatile sig_atomic_t terminations;
static volatile sig_atomic_t timed_out;
static volatile sig_atomic_t refused; /* the child belongs to another user now, as sudo's does */
static pid_t keeper;

/* Sends the signal to the child's process group, and to the child itself if it has left that
 * group. */
static void signal_child(pid_t child, int signal)
{
	if (kill(-child, signal) == 0 && getpgid(child) == child)
		return;
	if (kill(child, signal) < 0 && errno == EPERM)
		refused = 1;
}

static void on_signal(int signal)
{
	int saved = errno;
	pid_t child = running_child;

	if (signal == SIGALRM)
		timed_out = 1;
	else
		terminations = terminations + 1;
	/* The keeper is dead, so no process would send a second signal, or end what the program
	 * leaves behind. The launcher does both itself. */
	if (signal == LAUNCH_STOP && getppid() != keeper) {
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		alarm(LAUNCH_KILL_AFTER_SECONDS);
	}
	/* The child is not reaped before running_child is 0 again (signals are blocked then), so
	 * its number cannot belong to another process. */
	if (child > 0)
		signal_child(child, signal == LAUNCH_STOP && terminations == 1 ? SIGTERM : SIGKILL);
	errno = saved;
}

static void block_signals(bool block)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, LAUNCH_STOP);
	sigaddset(&set, SIGALRM);
	sigprocmask(block ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

static const struct schedstat unknown = { .ran_ns = -1, .waited_ns = -1 };

/* How long a task ran and waited for a CPU, from its schedstat. A zombie still has the file. Also
 * called in the child. */
static struct schedstat reread_schedstat(int fd)
{
	char buf[128];
	struct schedstat schedstat;
	ssize_t n;

	n = pread(fd, buf, sizeof(buf) - 1, 0);
	if (n <= 0)
		return unknown;
	buf[n] = '\0';
	return schedstat_parse(buf, &schedstat) < 0 ? unknown : schedstat;
}

/* The same of the child itself, to a microsecond, without the file: since its start it has run or
 * waited. Called in the child. */
static struct schedstat reckon_schedstat(const struct child *child)
{
	int64_t ran_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
	int64_t since_ns = clock_now_ns(CLOCK_MONOTONIC) - child->cloned_ns;

	return (struct schedstat){
		.ran_ns = ran_ns,
		.waited_ns = MAX(since_ns - ran_ns, (int64_t)0),
	};
}

/* How far CLOCK_MONOTONIC, the clock of the tracepoints, is ahead of the clock of our own stamps:
 * read in the middle of two readings of that clock which are close to each other. Also called in
 * the child. */
static int64_t get_ahead(clockid_t clock)
{
	int64_t least = INT64_MAX, ahead = 0;

	for (int i = 0; i < OFFSET_TRIES && least > OFFSET_MAX_NS; i++) {
		int64_t before = clock_now_ns(clock);
		int64_t monotonic = clock_now_ns(CLOCK_MONOTONIC);
		int64_t apart = clock_now_ns(clock) - before;

		if (apart >= least)
			continue;
		least = apart;
		ahead = monotonic - (before + apart / 2);
	}
	return ahead;
}

static const struct core_look no_look = { .cpu = -1 };

/* Looks at the core of the current CPU. Also called in the child. */
static struct core_look look_at_core(const struct launcher *l, bool is_floor)
{
	struct core_look look = { .cpu = sched_getcpu() };

	if (l->plan->core_ns == 0 || l->core_error || is_floor || l->skips_core)
		return no_look;
	core_read(&l->core, (uint64_t)MIN(l->plan->core_ns, l->run_ns / CORE_PART_OF_RUN),
		&look.reading);
	look.at_ns = clock_now_ns(CLOCK_MONOTONIC);
	return sched_getcpu() == look.cpu ? look : no_look;
}

/* What the core was like before a run: as the run before has left it, or as it is now. Called in
 * the child. */
static struct core_look look_before(const struct launcher *l, bool is_floor)
{
	const struct core_look *last = &l->core_look;

	if (last->cpu == sched_getcpu() && !l->skips_core &&
		clock_now_ns(CLOCK_MONOTONIC) - last->at_ns < CORE_HOLDS_NS)
		return *last;
	return look_at_core(l, is_floor);
}

__attribute__((noreturn)) static void child_fail(struct child *child, enum launch_step step)
{
	child->error = errno;
	child->step = step;
	_exit(127);
}

/* Runs in the child, on the child's own stack but in the parent's memory, so it may only make
 * system calls. */
static int child_main(void *arg)
{
	struct child *child = arg;
	const struct launcher *l = child->launcher;
	const struct launch_plan *plan = l->plan;
	char *const floor_argv[] = { (char *)child->program, NULL };

	while (!__atomic_load_n(&child->go, __ATOMIC_ACQUIRE)) {
		if (getppid() != child->parent)
			_exit(127);
		sched_yield();
	}

	if (plan->flags & LAUNCH_NO_ASLR || (l->fixed && !child->is_floor)) {
		int old = personality(0xffffffff);

		if (old < 0 || personality((unsigned long)old | ADDR_NO_RANDOMIZE) < 0)
			child_fail(child, LAUNCH_STEP_PERSONALITY);
	}
	if (plan->flags & LAUNCH_SET_NICE) {
		if (setpriority(PRIO_PROCESS, 0, plan->nice) < 0)
			child_fail(child, LAUNCH_STEP_NICE);
	}
	if (plan->flags & LAUNCH_SET_FIFO) {
		struct sched_param param = { .sched_priority = plan->fifo_priority };

		if (sched_setscheduler(0, SCHED_FIFO, &param) < 0)
			child_fail(child, LAUNCH_STEP_FIFO);
	}
	/* After what only root may do, and before what the kernel would take back. */
	if (plan->flags & LAUNCH_SET_USER && !child->is_floor) {
		int r = become_user(plan->uid, plan->gid,
			(const gid_t *)((const char *)plan + plan->groups), plan->n_groups);

		if (r < 0) {
			errno = -r;
			child_fail(child, LAUNCH_STEP_USER);
		}
	}
	if (l->caller_files.rlim_max > 0)
		(void)setrlimit(RLIMIT_NOFILE, &l->caller_files);
	/* If the launcher is killed, the program is killed, too. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != child->parent)
		_exit(127);
	/* execve(2) resets the parent's signal handlers, but they must not run in the child before
	 * that. */
	signal(LAUNCH_STOP, l->caller_stop);
	signal(SIGALRM, l->caller_alarm);
	signal(SIGCHLD, l->caller_chld);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &plan->caller_signals, NULL, KERNEL_SIGSET_SIZE);

	child->core = look_before(l, child->is_floor);
	/* Not earlier: until now the child waited for the parent to sleep, which must not count as
	 * the program's waiting. */
	if (child->schedstat >= 0)
		child->schedstat_before = reread_schedstat(child->schedstat);
	else if (plan->flags & LAUNCH_SCHEDSTAT)
		child->schedstat_before = reckon_schedstat(child);
	/* The launcher's delay is read here too, because the launcher sleeps by now: its earlier
	 * waiting is over. It is in no window that the tracepoints stamp. */
	if (!l->stamps)
		child->launcher_delay_before_ns = reread_schedstat(l->schedstat).waited_ns;
	getrusage(RUSAGE_SELF, &child->before);
	if (l->stamps)
		child->ahead_ns = get_ahead(plan->clockid);
	child->start_ns = clock_now_ns(plan->clockid);
	execve(child->program, child->is_floor ? floor_argv : l->argv, l->env);
	child_fail(child, LAUNCH_STEP_EXEC);
}

/* 0 stops the timer. Signals must be blocked then. */
static void timer_arm(const struct launcher *l, int64_t ns)
{
	struct itimerspec spec = {
		.it_value = { .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC },
	};
	struct timespec none = { 0 };
	sigset_t set;

	if (l->plan->timeout_ns <= 0)
		return;
	timer_settime(l->timer, 0, &spec, NULL);
	if (ns > 0)
		return;
	/* A signal of the timer that is still pending would kill the next run. */
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	(void)sigtimedwait(&set, NULL, &none);
}

static int64_t timeval_ns(struct timeval tv)
{
	return tv.tv_sec * NSEC_PER_SEC + tv.tv_usec * 1000;
}

/* Fills in what the program used. The child's own use while it waited for the parent to sleep is
 * subtracted, because its context switches must not look like preemptions. */
static void fill_usage(
	const struct rusage *before, const struct rusage *after, struct launch_report *report)
{
	report->user_cpu_ns = timeval_ns(after->ru_utime) - timeval_ns(before->ru_utime);
	report->system_cpu_ns = timeval_ns(after->ru_stime) - timeval_ns(before->ru_stime);
	report->max_rss_kib = after->ru_maxrss;
	report->minor_faults = after->ru_minflt - before->ru_minflt;
	report->major_faults = after->ru_majflt - before->ru_majflt;
	report->voluntary_switches = after->ru_nvcsw - before->ru_nvcsw;
	report->involuntary_switches = after->ru_nivcsw - before->ru_nivcsw;
}

static void open_schedstat(struct launcher *l)
{
	char path[64];

	if (!(l->plan->flags & LAUNCH_SCHEDSTAT) || !l->has_proc || l->schedstat < 0)
		return;
	snprintf(path, sizeof(path), "/proc/%d/schedstat", l->child.pid);
	l->child.schedstat = open(path, O_RDONLY | O_CLOEXEC);
}

static void close_schedstat(struct launcher *l)
{
	if (l->child.schedstat >= 0)
		close(l->child.schedstat);
	l->child.schedstat = -EBADF;
}

/* Starts a child that waits until it may execute the program. Signals are blocked before and
 * after. */
static int child_start(struct launcher *l, uint32_t attachments)
{
	struct child *child = &l->child;

	*child = (struct child){
		.launcher = l,
		.parent = getpid(),
		.schedstat_before = unknown,
		.schedstat = -EBADF,
		.launcher_delay_before_ns = -1,
		.core = no_look,
	};
	if (l->stamps)
		*l->stamps = (struct stamps){ 0 };
	/* With CLONE_FILES the child can read a file that is opened after its start. It gets a
	 * table of descriptors of its own in execve(2), before those with O_CLOEXEC are closed. */
	child->pid = clone(child_main, (char *)l->child_stack + CHILD_STACK_SIZE,
		CLONE_VM | CLONE_FILES | SIGCHLD, child);
	if (child->pid < 0)
		return -errno;
	child->cloned_ns = clock_now_ns(CLOCK_MONOTONIC);
	if (l->stamps)
		l->stamps->expected = (uint32_t)child->pid;
	/* Done by the parent, so that the group exists before a signal can be sent to it. It fails
	 * only if the child has ended, which is found out when waiting for it. */
	(void)setpgid(child->pid, child->pid);
	if (l->plan->flags & LAUNCH_TERMINAL)
		(void)tcsetpgrp(STDOUT_FILENO, child->pid);
	/* The tracepoints tell whether it was needed. Opening it takes as long as a twentieth of a
	 * short program. */
	if (!l->stamps || attachments & LAUNCH_ATTACH_RECORDS)
		open_schedstat(l);
	child->window_error = attach_begin(&l->attach, child->pid, attachments);
	return 0;
}

/* Waits until the child is in one of the states (WEXITED, WSTOPPED), and leaves it in it. errno is
 * shared with the child until it executes the program, so its value means nothing here. But waiting
 * for one's own child can only fail because of a signal. The C library's function has no usage. */
static void await_child(struct child *child, int states, siginfo_t *ret)
{
	long usage[USAGE_SIZE];

	while (syscall(SYS_waitid, P_PID, child->pid, ret, states | WNOWAIT, usage) < 0)
		;
	child->n_switches = (int64_t)usage[USAGE_VOLUNTARY] + usage[USAGE_INVOLUNTARY];
}

/* Lets the waiting child execute the program, and waits until it ends. Signals are blocked before
 * and after. */
static void child_run(struct launcher *l, struct launch_report *report)
{
	struct child *child = &l->child;
	siginfo_t info;

	timed_out = refused = 0;
	running_child = child->pid;
	if (l->plan->flags & LAUNCH_READER)
		report->reader_cpu_ns = -clock_now_ns(l->reader_cpu);
	/* The look at the core, which comes before the program, is not the program's time. */
	timer_arm(l, l->plan->timeout_ns + (child->is_floor ? 0 : l->plan->core_ns));
	block_signals(false);

	__atomic_store_n(&child->go, true, __ATOMIC_RELEASE);
	await_child(child, WEXITED | WSTOPPED, &info);
	if (info.si_code == CLD_STOPPED || info.si_code == CLD_TRAPPED) {
		/* Nobody would continue it, because it is not in a terminal's foreground, or
		 * because it has made the launcher its tracer (PTRACE_TRACEME); and the time until
		 * then would not be the program's. */
		report->stopped = info.si_status;
		report->traced = info.si_code == CLD_TRAPPED;
		signal_child(child->pid, SIGKILL);
		await_child(child, WEXITED, &info);
	}
	report->end_ns = clock_now_ns(l->plan->clockid);
	if (l->plan->flags & LAUNCH_READER)
		report->reader_cpu_ns += clock_now_ns(l->reader_cpu);
	if (!l->stamps)
		report->launcher_delay_ns = reread_schedstat(l->schedstat).waited_ns;
	block_signals(true);
	running_child = 0;
	timer_arm(l, 0);
}

/* Whether the kernel's stamps tell that the program has started nothing that is not a thread of its
 * own. Records of the main thread alone do not: a setuid program has none. */
static bool has_started_nobody(const struct window *w)
{
	return w->is_last && w->n_exec == 1 && w->n_lost == 0 && w->n_threads == 0 &&
		w->n_children == 0;
}

/* Whether it is certain that the keeper has no children but the launcher. Then the keeper, which
 * sleeps on another CPU, need not be woken. */
static bool is_nobody_left(const struct launcher *l)
{
	char list[sizeof(l->self)];
	ssize_t n;

	if (l->orphans < 0)
		return false;
	n = pread(l->orphans, list, sizeof(list), 0);
	return n == (ssize_t)strlen(l->self) && memcmp(list, l->self, (size_t)n) == 0;
}

static bool are_orphans_alive(const struct launcher *l)
{
	char list[1024];
	ssize_t n = l->orphans < 0 ? -1 : pread(l->orphans, list, sizeof(list) - 1, 0);

	if (n <= 0)
		return false;
	list[n] = '\0';
	return orphans_are_alive(list, getpid());
}

/* Asks the keeper to end what the program left behind. */
static int end_leftover(const struct launcher *l, struct launch_report *report)
{
	struct keeper_answer answer;
	ssize_t n;
	int r;

	if (has_started_nobody(&report->window))
		return 0;
	/* With CLONE_PARENT the program gives the launcher children, and the keeper none. When
	 * there are none this is one system call. */
	r = orphans_end(0);
	if (r < 0)
		return r;
	report->leftover = (uint32_t)r;
	if (is_nobody_left(l))
		return 0;
	/* The keeper may have to wait for a CPU until a process has ended by itself. */
	report->leftover |= are_orphans_alive(l);
	if (send(l->keeper_socket, "", 1, MSG_NOSIGNAL) != 1)
		return -EPIPE;
	n = RETRY_INTERRUPTED(recv(l->keeper_socket, &answer, sizeof(answer), 0));
	if (n != (ssize_t)sizeof(answer))
		return -EPIPE;
	if (answer.error)
		return -answer.error;
	report->leftover |= answer.leftover;
	return 0;
}

/* Empties the file of standard error: what earlier runs wrote is not needed any more. If the file
 * cannot be truncated, it simply stays, because only its end is ever read. */
static void stderr_empty(const struct launcher *l)
{
	struct stat st;

	if (l->plan->flags & LAUNCH_KEEP_STDERR && fstat(STDERR_FILENO, &st) == 0 &&
		st.st_size > 0 && ftruncate(STDERR_FILENO, 0) < 0)
		return;
}

/* Waits until the keeper has read all that earlier runs have written into the pipe. */
static void await_empty_pipe(void)
{
	const struct timespec pause = { .tv_nsec = PIPE_PAUSE_NS };
	int n;

	while (ioctl(STDOUT_FILENO, FIONREAD, &n) == 0 && n > 0 && getppid() == keeper)
		nanosleep(&pause, NULL);
}

/* What the run before has written or typed ahead is forgotten as well. */
static void reset_terminal(const struct launcher *l)
{
	(void)tcsetattr(STDOUT_FILENO, TCSANOW, &l->settings);
	(void)ioctl(STDOUT_FILENO, TIOCSWINSZ, &l->size);
	(void)tcflow(STDOUT_FILENO, TCOON);
	(void)tcflush(STDOUT_FILENO, TCIOFLUSH);
}

/* Standard output is the file that is kept, or what it was. */
static void choose_output(struct launcher *l, bool keeps)
{
	if (l->plan->kept_fd < 0)
		return;
	if (keeps && ftruncate(l->plan->kept_fd, 0) < 0)
		return;
	if (keeps != l->keeps_output &&
		dup2(keeps ? l->plan->kept_fd : l->plain_output, STDOUT_FILENO) >= 0)
		l->keeps_output = keeps;
}

/* Each run finds the standard streams as the first one did. A device can be neither rewound nor
 * emptied, and need not be. */
static void reset_streams(struct launcher *l, bool keeps_output)
{
	stderr_empty(l);
	choose_output(l, keeps_output);
	if (l->plan->flags & LAUNCH_INPUT)
		(void)lseek(STDIN_FILENO, 0, SEEK_SET);
	if (l->plan->flags & LAUNCH_OUTPUT && ftruncate(STDOUT_FILENO, 0) == 0)
		(void)lseek(STDOUT_FILENO, 0, SEEK_SET);
	if (l->plan->flags & LAUNCH_PIPE)
		await_empty_pipe();
	if (l->plan->flags & LAUNCH_TERMINAL)
		reset_terminal(l);
}

/* Puts a look at the core into the report, unless the run was on another CPU at that moment. The
 * run's CPU is -1 when it is not known. */
static void report_core(const struct core_look *look, int run_cpu, struct core_reading *ret)
{
	if (look->cpu >= 0 && (run_cpu < 0 || run_cpu == look->cpu))
		*ret = look->reading;
}

/* The time between two readings of a sum, of which the first may be reckoned; -1 when one of them
 * is not known. */
static int64_t time_since(int64_t before, int64_t after)
{
	return before < 0 || after < 0 ? -1 : MAX(after - before, (int64_t)0);
}

/* Takes what the tracepoints have written about the child, as times of the plan's clock. Each stamp
 * is translated by the reading of the two clocks that is nearest to it, because CLOCK_MONOTONIC may
 * be slewed meanwhile. */
static void take_stamps(struct launcher *l, struct launch_report *report)
{
	const struct stamps stamps = *l->stamps;
	struct window *w = &report->window;

	l->stamps->process = l->stamps->expected = 0;
	if (stamps.exec_ns == 0)
		return;
	w->exec_ns = stamps.exec_ns - l->child.ahead_ns;
	w->cpu_exec = stamps.cpu_exec;
	w->n_exec = 1;
	w->n_threads = MAX(stamps.n_ended, 1U) - 1;
	w->n_children = MAX(stamps.n_started, w->n_threads) - w->n_threads;
	if (stamps.exit_ns == 0)
		return;
	w->exit_ns = stamps.exit_ns - get_ahead(l->plan->clockid);
	w->cpu_exit = stamps.cpu_exit;
	w->n_exit = 1;
	w->is_last = 1;
}

/* Whether the program is a single task that had its CPU from execve(2) to its end. The kernel
 * counts the last switch, away from what has ended, for certain where the launcher now has the CPU.
 */
static bool never_waited(const struct launcher *l, const struct window *w)
{
	const struct child *child = &l->child;
	int64_t before = (int64_t)child->before.ru_nvcsw + child->before.ru_nivcsw;

	return has_started_nobody(w) &&
		child->n_switches - before == (w->cpu_exit == sched_getcpu());
}

/* What is known of the main thread: a zombie still has its schedstat. It is opened only now where
 * the tracepoints tell whether it is needed; of a program of several tasks it says too little. */
static void read_leader(struct launcher *l, struct launch_report *report)
{
	const struct schedstat *before = &l->child.schedstat_before;
	const struct window *w = &report->window;
	struct schedstat after;

	if (l->child.error || !(l->plan->flags & LAUNCH_SCHEDSTAT) || l->schedstat < 0)
		return;
	if (l->child.schedstat < 0 && never_waited(l, w)) {
		report->run_delay_ns = 0;
		return;
	}
	if (l->child.schedstat < 0 && (w->n_exec == 0 || has_started_nobody(w)))
		open_schedstat(l);
	after = reread_schedstat(l->child.schedstat);
	report->run_delay_ns = time_since(before->waited_ns, after.waited_ns);
	report->leader_ran_ns = time_since(before->ran_ns, after.ran_ns);
}

/* Where the main thread was allowed to run when it ended, which a zombie still tells. */
static void read_affinity(const struct launcher *l, struct launch_report *report)
{
	unsigned long now[LAUNCH_CPU_BYTES / sizeof(unsigned long)];
	const unsigned long *given = (const unsigned long *)l->plan->cpus;
	/* As many bytes as the kernel has CPUs for, in whole words. */
	long size = syscall(SYS_sched_getaffinity, l->child.pid, sizeof(now), now);
	int n = 0;

	if (size < 0)
		return;
	for (size_t i = 0; i < (size_t)size / sizeof(now[0]); i++) {
		if (now[i] & ~given[i])
			report->left = 1;
		if (now[i])
			report->only_cpu =
				(int)(i * sizeof(now[i]) * CHAR_BIT) + __builtin_ctzl(now[i]);
		n += __builtin_popcountl(now[i]);
	}
	if (n != 1)
		report->only_cpu = -1;
}

/* The kernel's stamps, as times that the clocks of our time namespace show, like our own stamps. */
static void enter_time_namespace(int64_t ahead_ns, struct launch_report *report)
{
	int64_t *const stamps[] = { &report->window.exec_ns, &report->window.last_exec_ns,
		&report->window.exit_ns, &report->window.leader_exit_ns, &report->tree.exit_ns };

	for (size_t i = 0; i < ARRAY_SIZE(stamps); i++) {
		if (*stamps[i] != 0)
			*stamps[i] += ahead_ns;
	}
}

/* Reads the evidence of a run after the child has ended, and before it is reaped. */
static void read_evidence(struct launcher *l, struct launch_report *report)
{
	const struct child *child = &l->child;

	l->run_ns = report->end_ns - child->start_ns;
	/* This comes first, so that the core is as the run has left it. */
	l->core_look = look_at_core(l, child->is_floor);
	report->start_ns = child->start_ns;
	report->launcher_delay_ns =
		time_since(child->launcher_delay_before_ns, report->launcher_delay_ns);
	if (l->stamps)
		take_stamps(l, report);
	attach_read(&l->attach, child->pid, report);
	enter_time_namespace(l->namespace_ns, report);
	read_leader(l, report);
	if (child->is_floor)
		return;
	read_affinity(l, report);
	l->skips_core = l->plan->flags & LAUNCH_CORE_HALF && !l->skips_core;
	report->core_error = l->core_error;
	report_core(&child->core, report->window.cpu_exec, &report->core_before);
	report_core(&l->core_look, report->window.cpu_exit, &report->core_after);
}

/*
 * Starts a child and lets it run. On a busy CPU the time of a short --timeout may be over before
 * the child has its CPU. Then nothing has run, so it is tried again, for a minute at most.
 */
static int child_begin(
	struct launcher *l, bool is_floor, uint32_t attachments, struct launch_report *report)
{
	int64_t deadline = clock_now_ns(CLOCK_MONOTONIC) + BEGIN_SECONDS * NSEC_PER_SEC;
	const struct launch_plan *plan = l->plan;
	struct child *child = &l->child;

	for (;;) {
		int r = child_start(l, attachments);

		if (r < 0)
			return r;
		report->window_error = child->window_error;
		child->is_floor = is_floor;
		child->program = is_floor ? (const char *)plan + plan->floor_program : l->program;
		child_run(l, report);
		if (child->start_ns != 0 || child->error || !timed_out || terminations > 0 ||
			clock_now_ns(CLOCK_MONOTONIC) >= deadline)
			return 0;
		attach_end(&l->attach);
		close_schedstat(l);
		if (RETRY_INTERRUPTED(waitpid(child->pid, NULL, 0)) < 0)
			return -errno;
	}
}

/* Who can stamp a run with these attachments: the tracepoints and the events of the CPUs always. */
static enum stamper find_stamper(const struct launcher *l, uint32_t attachments)
{
	return l->stamps			     ? STAMPER_TRACEPOINTS
		: attach_has_cpu_events(&l->attach)  ? STAMPER_CPU_EVENTS
		: attachments & LAUNCH_ATTACH_WINDOW ? STAMPER_TASK_EVENT
						     : STAMPER_LAUNCHER;
}

/* Puts the number of the run into the environment of the next child. */
static void set_number(struct launcher *l, uint32_t number)
{
	char *fill = l->run_fill + strlen(fill_variable);
	int digits;

	digits = snprintf(l->run + strlen(run_variable), RUN_DIGITS + 1, "%u", number);
	memset(fill, 'x', RUN_DIGITS);
	fill[RUN_DIGITS - digits] = '\0';
}

/* Puts the levels of the factors into their places for the next run. Returns the program. */
static const char *set_levels(struct launcher *l, const struct launch_order *order)
{
	const char *program = (const char *)l->plan + l->plan->program;

	for (uint32_t i = 0; i < l->plan->n_factors; i++) {
		char *level = l->levels[i][order->levels[i]];

		switch (l->plan->factors[i].kind) {
		case LAUNCH_FACTOR_ADDRESSES:
			l->fixed = order->levels[i] == 0;
			break;
		case LAUNCH_FACTOR_PROGRAM:
			program = level;
			break;
		case LAUNCH_FACTOR_ARGV0:
			l->argv[0] = level;
			break;
		case LAUNCH_FACTOR_VARIABLE:
			*l->variables[i] = level;
			break;
		default:
			break;
		}
	}
	return program;
}

static void run_once(struct launcher *l, bool is_floor, const struct launch_order *order,
	struct launch_report *report)
{
	struct child *child = &l->child;
	struct rusage usage;
	int r;

	*report = (struct launch_report){
		.run_delay_ns = -1,
		.leader_ran_ns = -1,
		.launcher_delay_ns = -1,
		.only_cpu = -1,
		.reader_cpu_ns = -1,
		.window = { .cpu_exec = -1, .cpu_exit = -1 },
		.stamper = find_stamper(l, order->attachments),
	};
	report->around_ns = -clock_now_ns(l->plan->clockid);
	/* The empty program after the runs must not take what the last run has written. */
	if (!is_floor)
		reset_streams(l, order->keeps_output);
	report->around_ns += clock_now_ns(l->plan->clockid);
	set_number(l, order->number);
	l->program = set_levels(l, order);
	if (l->pad) {
		char *end = l->pad + strlen(pad_variable);

		memset(end, 'x', order->env_pad);
		end[order->env_pad] = '\0';
	}
	r = child_begin(l, is_floor, order->attachments, report);
	if (r < 0) {
		report->error = -r;
		report->step = LAUNCH_STEP_CLONE;
		return;
	}
	read_evidence(l, report);
	if (wait4(child->pid, &report->status, 0, &usage) != child->pid) {
		report->error = errno;
		report->step = LAUNCH_STEP_WAIT;
		return;
	}
	if (child->error) {
		report->error = child->error;
		report->step = child->step;
		return;
	}
	report->timed_out = timed_out != 0;
	report->refused = refused != 0;
	report->interrupted = terminations > 0;
	if (child->start_ns == 0 && !report->interrupted) {
		report->error = timed_out ? ETIME : ECHILD;
		report->step = LAUNCH_STEP_BEGIN;
		return;
	}
	fill_usage(&child->before, &usage, report);
	/* The counts of processes that were left behind belong to this run, so the counters are
	 * read after these have ended. */
	report->around_ns -= clock_now_ns(l->plan->clockid);
	r = end_leftover(l, report);
	report->around_ns += clock_now_ns(l->plan->clockid);
	if (r < 0) {
		report->error = -r;
		report->step = LAUNCH_STEP_KEEPER;
		return;
	}
	attach_read_counters(&l->attach, report);
}

static int bind_to_cpus(const struct launch_plan *plan)
{
	uint8_t now[LAUNCH_CPU_BYTES] = { 0 };

	if (syscall(SYS_sched_setaffinity, 0, sizeof(plan->cpus), plan->cpus) < 0)
		return -errno;
	/* The kernel silently restricts the mask to the cpuset (kernel/sched/core.c). */
	if (syscall(SYS_sched_getaffinity, 0, sizeof(now), now) < 0)
		return -errno;
	return memcmp(now, plan->cpus, sizeof(now)) == 0 ? 0 : -EINVAL;
}

/* An array of the n strings from `offset` on, with `spare` free entries in front and NULL at its
 * end. */
static char **build_vector(
	const struct launch_plan *plan, uint32_t offset, uint32_t n, uint32_t spare)
{
	char **vector = calloc((size_t)n + spare + 1, sizeof(*vector));
	char *s = (char *)plan + offset;

	if (!vector)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		vector[spare + i] = s;
		s += strlen(s) + 1;
	}
	return vector;
}

/* Reads what programs write, and forgets it. Shares errno with the rest of the launcher, so it may
 * only make system calls, none of which fails before the launcher ends. */
static int read_output(void *arg)
{
	static char buf[READ_SIZE];
	const struct launcher *l = arg;

	while (read(l->output, buf, sizeof(buf)) > 0)
		;
	return 0;
}

/* Must be called on the CPUs of the runs: the reader stays there. It is a thread, because a child
 * would be taken for something that a program has left behind; and none of the C library's, with
 * which the launcher would have a tenth more memory, and so each program. */
static int start_reader(struct launcher *l)
{
	const struct launch_plan *plan = l->plan;
	sigset_t all, before;
	char *stack;
	int fds[2], tid;

	if (!(plan->flags & LAUNCH_READER))
		return 0;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	l->output = fds[0];
	/* For a program that opens it again, as /dev/stdout. */
	if ((plan->flags & LAUNCH_SET_USER && fchown(fds[1], plan->uid, plan->gid) < 0) ||
		dup2(fds[1], STDOUT_FILENO) < 0)
		return -errno;
	close(fds[1]);
	stack = mmap(NULL, CHILD_STACK_SIZE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED)
		return -errno;
	/* Signals are for the thread that waits for the program. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	tid = clone(read_output, stack + CHILD_STACK_SIZE,
		CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM,
		l);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (tid < 0)
		return -errno;
	/* CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED (include/linux/posix-timers_types.h) */
	l->reader_cpu = (clockid_t)(~(unsigned)tid << 3) | 4 | 2;
	return 0;
}

/* The strings of the factors, and the places of variables from l->env[*n] on. */
static int setup_factors(struct launcher *l, uint32_t *n)
{
	for (uint32_t i = 0; i < l->plan->n_factors; i++) {
		const struct launch_factor *factor = &l->plan->factors[i];

		l->levels[i] = build_vector(l->plan, factor->levels, factor->n_levels, 0);
		if (!l->levels[i])
			return -ENOMEM;
		if (factor->kind != LAUNCH_FACTOR_VARIABLE)
			continue;
		l->variables[i] = &l->env[(*n)++];
		*l->variables[i] = l->levels[i][0];
	}
	return 0;
}

static int launcher_setup(struct launcher *l)
{
	bool padded = l->plan->flags & LAUNCH_ENV_PAD;
	uint32_t n = 0, n_own = padded ? 3 : 2;

	for (uint32_t i = 0; i < l->plan->n_factors; i++)
		n_own += l->plan->factors[i].kind == LAUNCH_FACTOR_VARIABLE;
	l->argv = build_vector(l->plan, l->plan->argv, l->plan->n_argv, 0);
	l->env = build_vector(l->plan, l->plan->env, l->plan->n_env, n_own);
	if (!l->argv || !l->env || setup_factors(l, &n) < 0)
		return -ENOMEM;
	if (padded) {
		l->pad = calloc(1, sizeof(pad_variable) + LAUNCH_MAX_ENV_PAD);
		if (!l->pad)
			return -ENOMEM;
		memcpy(l->pad, pad_variable, sizeof(pad_variable));
		l->env[n++] = l->pad;
	}
	memcpy(l->run, run_variable, sizeof(run_variable));
	memcpy(l->run_fill, fill_variable, sizeof(fill_variable));
	l->env[n++] = l->run;
	l->env[n] = l->run_fill;
	l->child_stack = mmap(NULL, CHILD_STACK_SIZE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_POPULATE, -1, 0);
	if (l->child_stack == MAP_FAILED)
		return -errno;
	if (l->plan->stamps_fd >= 0) {
		l->stamps = mmap(NULL, sizeof(*l->stamps), PROT_READ | PROT_WRITE, MAP_SHARED,
			l->plan->stamps_fd, 0);
		if (l->stamps == MAP_FAILED)
			return -errno;
		close(l->plan->stamps_fd);
	}
	if (l->plan->kept_fd >= 0) {
		l->plain_output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		if (l->plain_output < 0 || fcntl(l->plan->kept_fd, F_SETFD, FD_CLOEXEC) < 0)
			return -errno;
	}
	if (l->plan->flags & LAUNCH_TERMINAL &&
		(tcgetattr(STDOUT_FILENO, &l->settings) < 0 ||
			ioctl(STDOUT_FILENO, TIOCGWINSZ, &l->size) < 0))
		return -errno;
	if (l->plan->timeout_ns > 0) {
		struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };

		if (timer_create(CLOCK_MONOTONIC, &event, &l->timer) < 0)
			return -errno;
	}
	return 0;
}

/* Otherwise a sanitizer would report leaks, for longer than most measurements take. */
static void launcher_release(struct launcher *l)
{
	attach_close(&l->attach);
	runlog_writer_free(l->runlog);
	for (uint32_t i = 0; i < LAUNCH_MAX_FACTORS; i++)
		free(l->levels[i]);
	free(l->pad);
	free(l->env);
	free(l->argv);
}

/* How far CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW are ahead of those of the kernel: a line such as
 * "monotonic  -1 500000000", seconds and nanoseconds. There is no such file in an older kernel. */
static int64_t read_time_namespace(void)
{
	static const char clock[] = "monotonic";
	int fd = open("/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC);
	const char *cursor;
	char text[128];
	uint64_t seconds, ns;
	bool is_behind;
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n < (ssize_t)strlen(clock) || memcmp(text, clock, strlen(clock)) != 0)
		return 0;
	text[n] = '\0';
	cursor = text + strlen(clock);
	cursor += strspn(cursor, " ");
	is_behind = *cursor == '-';
	cursor += is_behind;
	if (parse_next_u64(&cursor, &seconds) < 0 || parse_next_u64(&cursor, &ns) < 0)
		return 0;
	return (is_behind ? -(int64_t)seconds : (int64_t)seconds) * NSEC_PER_SEC + (int64_t)ns;
}

/* Opens the list of the keeper's children (CONFIG_PROC_CHILDREN), which orphans of the program
 * become. The list saves time: without it the keeper has to be asked after each run that may have
 * left something behind. */
static void open_orphans(struct launcher *l)
{
	char path[64], list[sizeof(l->self)];
	ssize_t n;

	snprintf(l->self, sizeof(l->self), "%d ", getpid());
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", keeper, keeper);
	l->orphans = open(path, O_RDONLY | O_CLOEXEC);
	if (l->orphans < 0)
		return;
	n = pread(l->orphans, list, sizeof(list), 0);
	if (n == (ssize_t)strlen(l->self) && memcmp(list, l->self, (size_t)n) == 0)
		return;
	/* This /proc belongs to another namespace. */
	close(l->orphans);
	l->orphans = -1;
}

/* Waits until the plan has been written, and maps it. -EPIPE where it never will be. */
static int plan_map(int fd, int socket, const struct launch_plan **ret)
{
	const struct launch_plan *plan;
	struct stat st;
	char byte;

	if (RETRY_INTERRUPTED(recv(socket, &byte, 1, 0)) != 1)
		return -EPIPE;
	if (fstat(fd, &st) < 0)
		return -errno;
	if ((size_t)st.st_size < sizeof(struct launch_plan))
		return -EPROTO;
	plan = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (plan == MAP_FAILED)
		return -errno;
	if (plan->magic != LAUNCH_MAGIC)
		return -EPROTO;
	*ret = plan;
	return 0;
}

static bool send_report(const struct launcher *l, const struct launch_report *report)
{
	return send(l->socket, report, sizeof(*report), MSG_NOSIGNAL) == (ssize_t)sizeof(*report);
}

static void take_signal(int number, void (*handler)(int), void (**ret_caller)(int))
{
	struct sigaction action = { .sa_handler = handler }, old;

	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, LAUNCH_STOP);
	sigaddset(&action.sa_mask, SIGALRM);
	sigaction(number, &action, &old);
	*ret_caller = old.sa_handler == SIG_IGN ? SIG_IGN : SIG_DFL;
}

static void setup_signals(struct launcher *l)
{
	sigset_t set;

	/* A SIGTERM to our whole service, such as systemd sends, reaches this process too, and so
	 * do signals of a terminal of our own (LAUNCH_TERMINAL), of which this process is never
	 * the foreground (SIGTTOU). runpinned decides what ends a run, and sends LAUNCH_STOP. They
	 * are blocked and not ignored, because a child would inherit that. */
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGTTOU);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	block_signals(true);
	take_signal(LAUNCH_STOP, on_signal, &l->caller_stop);
	take_signal(SIGALRM, on_signal, &l->caller_alarm);
	/* The run log is a file in memory, for which the caller's RLIMIT_FSIZE holds as well. */
	survive_signal(SIGXFSZ);
	/* A process that ignores SIGCHLD cannot wait for its children (wait(2)). */
	take_signal(SIGCHLD, SIG_DFL, &l->caller_chld);
}

/* On a machine of many CPUs the launcher needs more open files than a program usually may have. */
static void raise_files(struct launcher *l)
{
	struct rlimit raised;

	if (getrlimit(RLIMIT_NOFILE, &l->caller_files) < 0)
		return;
	raised = l->caller_files;
	raised.rlim_cur = raised.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &raised);
}

enum {
	ARGUMENT_SOCKET = 2,
	ARGUMENT_PLAN,
	ARGUMENT_RUNLOG,
	ARGUMENT_KEEPER,
	N_ARGUMENTS,
};

/* Arguments: --serve SOCKET PLAN RUNLOG KEEPER, which are numbers of descriptors. */
static bool parse_arguments(int argc, char *argv[], int ret[N_ARGUMENTS])
{
	socklen_t length;
	int type = 0;

	if (argc != N_ARGUMENTS || strcmp(argv[1], "--serve") != 0)
		return false;
	for (int i = ARGUMENT_SOCKET; i < N_ARGUMENTS; i++) {
		unsigned fd;

		if (parse_uint(argv[i], 3, INT_MAX, &fd) < 0)
			return false;
		ret[i] = (int)fd;
	}
	length = sizeof(type);
	return getsockopt(ret[ARGUMENT_SOCKET], SOL_SOCKET, SO_TYPE, &type, &length) == 0 &&
		type == SOCK_SEQPACKET;
}

/* Whether the program has written into the file for figures, or done something else to it. */
static bool has_figures(const struct launcher *l)
{
	const char *path = (const char *)l->plan + l->plan->figures;
	struct stat st;

	return l->plan->figures > 0 &&
		(lstat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > 0);
}

/* Makes one run and writes it to the run log. Returns 1 when the request ends after this run, 0 to
 * go on, or a negative errno when the run log could not be written. */
static int serve_run(struct launcher *l, const struct launch_request *request, uint32_t index)
{
	struct launch_report report;
	int cpu, r;

	run_once(l, request->command == LAUNCH_FLOOR, &request->runs[index], &report);
	attach_end(&l->attach);
	close_schedstat(l);
	report.has_figures = request->command == LAUNCH_RUN && has_figures(l);
	r = runlog_write_report(l->runlog, &report);
	if (r < 0)
		return r;
	if (report.error)
		return 1;
	cpu = report.window.cpu_exit >= 0 ? report.window.cpu_exit : sched_getcpu();
	r = runlog_write_reading(l->runlog, RUNLOG_AFTER, cpu);
	if (r < 0)
		return r;
	return report.status != 0 || report.interrupted || report.has_figures ||
		!values_fd_is_untouched(l->plan->values_fd);
}

/* Makes the runs of a request. Signals are blocked before and after. */
static void serve_request(
	struct launcher *l, const struct launch_request *request, struct launch_answer *ret)
{
	int64_t until = clock_now_ns(CLOCK_MONOTONIC) + REQUEST_MAX_NS;
	uint32_t n = 0;
	int r = 0;

	runlog_rewind(l->runlog);
	attach_enable_cpu_events(&l->attach, true);
	if (request->read_before)
		r = runlog_write_reading(l->runlog, RUNLOG_BEFORE, -1);
	while (r == 0 && n < request->n_runs) {
		r = serve_run(l, request, n);
		n++;
		if (clock_now_ns(CLOCK_MONOTONIC) >= until ||
			runlog_size(l->runlog) >= RUNLOG_MAX_SIZE)
			break;
	}
	attach_enable_cpu_events(&l->attach, false);
	if (request->discarded)
		runlog_forget(l->runlog);
	if (r >= 0)
		r = runlog_flush(l->runlog);
	*ret = (struct launch_answer){
		.error = r < 0 ? -r : 0,
		.written = runlog_size(l->runlog),
	};
}

static bool is_order(const struct launch_plan *plan, const struct launch_order *order)
{
	for (uint32_t i = 0; i < plan->n_factors; i++) {
		if (order->levels[i] >= plan->factors[i].n_levels)
			return false;
	}
	return order->env_pad <= LAUNCH_MAX_ENV_PAD;
}

static bool is_request(
	const struct launch_plan *plan, const struct launch_request *request, ssize_t size)
{
	if (size != (ssize_t)sizeof(*request) || request->n_runs == 0 ||
		request->n_runs > LAUNCH_MAX_RUNS)
		return false;
	for (uint32_t i = 0; i < request->n_runs; i++) {
		if (!is_order(plan, &request->runs[i]))
			return false;
	}
	return true;
}

/* Gets ready to look at the core. This is done on the CPUs of the runs, because the loops are
 * calibrated for them, and while runpinned waits: before a request it may be at work on another
 * hardware thread of the core. */
static void prepare_core(struct launcher *l)
{
	if (l->is_core_open || l->plan->core_ns == 0)
		return;
	l->core_error = -core_open(&l->core);
	l->is_core_open = true;
}

/* Serves requests until runpinned closes the socket or dies. */
static int serve(struct launcher *l)
{
	for (;;) {
		struct launch_request request;
		struct launch_answer answer;
		ssize_t n;

		n = RETRY_INTERRUPTED(recv(l->socket, &request, sizeof(request), 0));
		if (n == 0)
			return 0;
		if (!is_request(l->plan, &request, n))
			return -EPROTO;
		prepare_core(l);
		serve_request(l, &request, &answer);
		if (getppid() != keeper)
			return orphans_end(0);
		if (send(l->socket, &answer, sizeof(answer), MSG_NOSIGNAL) !=
			(ssize_t)sizeof(answer))
			return -EPIPE;
	}
}

int main(int argc, char *argv[])
{
	struct launcher launcher = { 0 };
	struct launch_report report = { 0 };
	int fds[N_ARGUMENTS], r, index = 0;

	if (!parse_arguments(argc, argv, fds)) {
		fprintf(stderr, "%s: started by runpinned, not by hand\n",
			program_invocation_short_name);
		return 2;
	}
	keeper = getppid();
	setup_signals(&launcher);
	raise_files(&launcher);
	/* Until here the launcher was killed when the keeper died. From now on it gets
	 * LAUNCH_STOP, so that it can end the program first. */
	prctl(PR_SET_PDEATHSIG, LAUNCH_STOP);
	for (int i = ARGUMENT_SOCKET; i < N_ARGUMENTS; i++)
		fcntl(fds[i], F_SETFD, FD_CLOEXEC);
	launcher.socket = fds[ARGUMENT_SOCKET];
	launcher.keeper_socket = fds[ARGUMENT_KEEPER];
	launcher.has_proc = orphans_have_proc();
	launcher.namespace_ns = read_time_namespace();
	open_orphans(&launcher);
	launcher.schedstat = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);

	report.step = LAUNCH_STEP_SETUP;
	r = plan_map(fds[ARGUMENT_PLAN], launcher.socket, &launcher.plan);
	close(fds[ARGUMENT_PLAN]);
	if (r == 0)
		r = launcher_setup(&launcher);
	if (r == 0)
		r = runlog_writer_new(launcher.plan, fds[ARGUMENT_RUNLOG], &launcher.runlog);
	if (r == 0) {
		r = bind_to_cpus(launcher.plan);
		report.step = LAUNCH_STEP_AFFINITY;
	}
	if (r == 0) {
		r = start_reader(&launcher);
		report.step = LAUNCH_STEP_SETUP;
	}
	if (r == 0) {
		r = attach_open(launcher.plan, &launcher.attach, &index);
		report.step = LAUNCH_STEP_COUNTER;
		report.detail = index;
	}
	launcher.run_ns = INT64_MAX;
	launcher.core_look = no_look;
	report.pid = getpid();
	report.stamper = find_stamper(&launcher, 0);
	report.error = -r;
	if (!send_report(&launcher, &report))
		r = -EPIPE;
	if (r == 0)
		r = serve(&launcher);
	launcher_release(&launcher);
	return r < 0 ? 1 : 0;
}
