// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "basic/clock.h"
#include "basic/file.h"
#include "basic/install.h"
#include "basic/macro.h"
#include "basic/text.h"
#include "machine/quota.h"
#include "runpinned/join.h"
#include "runpinned/keeper.h"
#include "runpinned/lastwords.h"
#include "runpinned/session.h"
#include "sampler/values.h"

enum {
	TERMINAL_ROWS = 24,
	TERMINAL_COLUMNS = 80,
};

struct session {
	pid_t keeper;
	pid_t launcher;
	int socket;
	int stderr_fd; /* a memfd; -1 when the output is shown */
	int values_fd; /* for the values of programs that measure themselves */
	int runlog_fd;
	struct runlog *runlog;
	enum stamper stamper;
};

static uint32_t append_string(struct text *t, const char *s)
{
	uint32_t offset = (uint32_t)t->length;

	text_append_n(t, s, strlen(s) + 1);
	return offset;
}

static uint32_t append_vector(struct text *t, char *const *vector, uint32_t *ret_n)
{
	uint32_t offset = (uint32_t)t->length, n = 0;

	for (; vector[n]; n++)
		append_string(t, vector[n]);
	*ret_n = n;
	return offset;
}

/* The environment of the program: that of the caller, and the variable that says where values can
 * be written. */
static uint32_t append_environment(struct text *t, char *const *env, int values_fd, uint32_t *ret_n)
{
	static const char variable[] = VALUES_FD_VARIABLE "=";
	uint32_t offset = (uint32_t)t->length, n = 0;

	for (; *env; env++) {
		/* These variables were set by another runpinned that runs this one; the launcher
		 * sets those of the run. */
		if (text_starts_with(*env, variable) ||
			text_starts_with(*env, LAUNCH_RUN_VARIABLE "=") ||
			text_starts_with(*env, LAUNCH_RUN_FILL_VARIABLE "="))
			continue;
		append_string(t, *env);
		n++;
	}
	text_appendf(t, "%s%d", variable, values_fd);
	text_append_n(t, "", 1);
	*ret_n = n + 1;
	return offset;
}

/* The launcher reads arrays in place, so they must be aligned. */
static uint32_t append_array(struct text *t, const void *array, size_t size)
{
	static const char zeros[sizeof(uint64_t)];
	uint32_t offset;

	if (t->length % sizeof(zeros) != 0)
		text_append_n(t, zeros, sizeof(zeros) - t->length % sizeof(zeros));
	offset = (uint32_t)t->length;
	text_append_n(t, array, size);
	return offset;
}

/* Appends the paths of the files, then the array that refers to them. Places for the files of the
 * quota that are left have an empty path. */
static uint32_t append_files(
	struct text *t, const struct session_file *files, size_t n, const struct quota *quota)
{
	_cleanup_free_ struct launch_file *entries = calloc(n + 1, sizeof(*entries));
	size_t n_used = 0;

	if (!entries) {
		t->failed = true;
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		const char *path = files[i].path;

		if (!path)
			path = n_used < quota->n_stats ? quota->stats[n_used++] : "";
		entries[i] = (struct launch_file){
			.path = append_string(t, path),
			.kind = files[i].kind,
			.cpu = files[i].cpu,
		};
	}
	return append_array(t, entries, n * sizeof(*entries));
}

/* What is needed to start the two processes of a session. */
struct start {
	const char *launcher; /* paths of the programs */
	const char *floor;
	const struct session_plan *plan;
	const struct session *session;
	const struct stop *stop;
	int plan_fd;
	int socket;
};

/* Writes the plan, in the format that the launcher reads. */
static int plan_write(const struct start *start, const struct quota *quota)
{
	const struct session_plan *plan = start->plan;
	_cleanup_text_ struct text t = { 0 };
	struct launch_plan p = {
		.magic = LAUNCH_MAGIC,
		.flags = plan->flags,
		.nice = plan->nice,
		.fifo_priority = plan->fifo_priority,
		.clockid = plan->clockid,
		.timeout_ns = plan->timeout_ns,
		.core_ns = plan->core_ns,
		.n_counters = (uint32_t)plan->n_counters,
		.n_evidence_counters = (uint32_t)plan->n_evidence_counters,
		.n_cpu_counters = (uint32_t)plan->n_cpu_counters,
		.stamps_fd = -1,
		.n_files = (uint32_t)plan->n_files,
		.values_fd = start->session->values_fd,
	};

	if (plan->n_counters > LAUNCH_MAX_COUNTERS)
		return -E2BIG;
	if (!plan->show_output)
		p.flags |= LAUNCH_KEEP_STDERR;
	if (plan->input > 0)
		p.flags |= LAUNCH_INPUT;
	if (plan->output > 0)
		p.flags |= LAUNCH_OUTPUT;
	if (plan->stdout_to == OUTPUT_PIPE)
		p.flags |= LAUNCH_PIPE;
	if (plan->stdout_to == OUTPUT_PIPE_HERE)
		p.flags |= LAUNCH_PIPE | LAUNCH_READER;
	if (plan->stdout_to == OUTPUT_TERMINAL)
		p.flags |= LAUNCH_TERMINAL;
	if (plan->tracepoints) {
		p.stamps_fd = tracepoints_get_fd(plan->tracepoints);
		memcpy(p.name, tracepoints_get_name(plan->tracepoints), sizeof(p.name));
	}
	cpumask_export(plan->cpus, p.cpus, sizeof(p.cpus));
	memcpy(p.counters, plan->counters, plan->n_counters * sizeof(p.counters[0]));
	/* The kernel's signal set consists of 64 signals, and glibc's begins with these. */
	memcpy(&p.caller_signals, &start->stop->caller, sizeof(p.caller_signals));

	text_append_n(&t, (const char *)&p, sizeof(p));
	p.program = append_string(&t, plan->program);
	p.floor_program = append_string(&t, start->floor);
	p.argv = append_vector(&t, plan->argv, &p.n_argv);
	p.env = append_environment(&t, plan->env, p.values_fd, &p.n_env);
	p.files = append_files(&t, plan->files, plan->n_files, quota);
	if (plan->user) {
		p.flags |= LAUNCH_SET_USER;
		p.uid = plan->user->uid;
		p.gid = plan->user->gid;
		p.n_groups = (uint32_t)plan->user->n_groups;
		p.groups = append_array(
			&t, plan->user->groups, p.n_groups * sizeof(plan->user->groups[0]));
	}
	if (t.failed)
		return -ENOMEM;
	if (t.length > UINT32_MAX)
		return -E2BIG;
	p.size = (uint32_t)t.length;
	memcpy(t.data, &p, sizeof(p));
	return file_write_all(start->plan_fd, t.data, t.length);
}

/* Called in a forked child: sends the error in the place of the launcher's first report. */
__attribute__((noreturn)) static void exit_with(int socket, enum launch_step step, int error)
{
	struct launch_report report = { .error = -error, .step = step };

	(void)send(socket, &report, sizeof(report), MSG_NOSIGNAL);
	_exit(127);
}

/* A terminal of the usual size: *ret_ours is what reads and writes as a person would. */
static int open_terminal(int *ret_ours, int *ret_theirs)
{
	const struct winsize size = { .ws_row = TERMINAL_ROWS, .ws_col = TERMINAL_COLUMNS };
	_cleanup_close_ int ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	int theirs;

	if (ours < 0 || unlockpt(ours) < 0 || ioctl(ours, TIOCSWINSZ, &size) < 0)
		return -errno;
	/* Also where this namespace has no file of that terminal in /dev/pts (ioctl_tty(2)). */
	theirs = ioctl(ours, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (theirs < 0)
		return -errno;
	*ret_ours = TAKE_FD(ours);
	*ret_theirs = theirs;
	return 0;
}

/* Opens what the keeper reads, if the plan has that. */
static int open_output(const struct session_plan *plan, int *ret_ours, int *ret_theirs)
{
	int fds[2];

	if (plan->stdout_to == OUTPUT_TERMINAL)
		return open_terminal(ret_ours, ret_theirs);
	if (plan->stdout_to != OUTPUT_PIPE)
		return 0;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	*ret_ours = fds[0];
	*ret_theirs = fds[1];
	return 0;
}

/* The launcher's standard streams are those of all its children. `output` is -1 where nobody reads
 * it. */
static int set_streams(const struct session_plan *plan, int output, int stderr_fd)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	bool is_terminal = plan->stdout_to == OUTPUT_TERMINAL;
	int input = plan->input > 0 ? plan->input : is_terminal ? output : null_fd;

	if (output < 0)
		output = plan->output > 0 ? plan->output : null_fd;
	if (null_fd < 0 || dup2(input, STDIN_FILENO) < 0)
		return -errno;
	if (!plan->show_output &&
		(dup2(output, STDOUT_FILENO) < 0 || dup2(stderr_fd, STDERR_FILENO) < 0))
		return -errno;
	return is_terminal && ioctl(STDOUT_FILENO, TIOCSCTTY, 0) < 0 ? -errno : 0;
}

/*
 * The launcher, and what it starts, has no controlling terminal. A session of its own would do
 * that, too, but has a scheduling group of its own (sched(7), autogroup), in which a program of 300
 * threads took 5 % longer; only one that leads a session can get another terminal.
 */
static void leave_terminal(bool for_another)
{
	_cleanup_close_ int fd = -EBADF;

	if (!for_another) {
		fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
		/* ENXIO: there is none. Where it cannot be told, a session is the safe way. */
		if (fd < 0 ? errno == ENXIO : ioctl(fd, TIOCNOTTY) == 0)
			return;
	}
	/* It cannot fail: a process that was just forked leads no group. */
	(void)setsid();
}

/* Called in the forked child. */
__attribute__((noreturn)) static void become_launcher(
	const struct start *start, const struct keeper *keeper, int output)
{
	const struct session *session = start->session;
	char socket_text[16], plan_text[16], runlog_text[16], keeper_text[16];
	char *const argv[] = { (char *)"runpinned-launcher", (char *)"--serve", socket_text,
		plan_text, runlog_text, keeper_text, NULL };
	char *const env[] = { NULL };

	if (set_streams(start->plan, output, session->stderr_fd) < 0)
		_exit(127);
	fcntl(start->socket, F_SETFD, 0);
	fcntl(start->plan_fd, F_SETFD, 0);
	fcntl(session->runlog_fd, F_SETFD, 0);
	fcntl(keeper->launcher, F_SETFD, 0);
	/* The programs inherit this descriptor through the launcher; the plan names its number. */
	fcntl(session->values_fd, F_SETFD, 0);
	if (start->plan->tracepoints)
		fcntl(tracepoints_get_fd(start->plan->tracepoints), F_SETFD, 0);
	snprintf(socket_text, sizeof(socket_text), "%d", start->socket);
	snprintf(plan_text, sizeof(plan_text), "%d", start->plan_fd);
	snprintf(runlog_text, sizeof(runlog_text), "%d", session->runlog_fd);
	snprintf(keeper_text, sizeof(keeper_text), "%d", keeper->launcher);
	execve(start->launcher, argv, env);
	_exit(127);
}

/* Called in the forked child: becomes the keeper, which forks the launcher in turn. */
__attribute__((noreturn)) static void become_keeper(const struct start *start, pid_t runpinned)
{
	pid_t self = getpid(), launcher;
	struct keeper keeper;
	struct quota quota = { 0 };
	int output = -EBADF, reader = -EBADF, r;

	/* The program may open it again by a name, and before what the kernel would take back. */
	user_enter(start->plan->user);
	r = open_output(start->plan, &reader, &output);
	user_leave(start->plan->user);
	if (r == 0)
		r = keeper_prepare(runpinned, &keeper);
	if (r < 0)
		exit_with(start->socket, LAUNCH_STEP_SETUP, r);
	keeper.output = reader;
	launcher = fork();
	if (launcher < 0)
		exit_with(start->socket, LAUNCH_STEP_SETUP, -errno);
	if (launcher > 0)
		keeper_run(&keeper, launcher, start->plan->housekeeping);
	signal(SIGCHLD, keeper.caller_chld);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != self)
		_exit(127);
	leave_terminal(start->plan->stdout_to == OUTPUT_TERMINAL);
	/* Before standard error is redirected, because this may print messages. */
	r = start->plan->join ? join_target() : 0;
	if (r < 0)
		exit_with(start->socket, LAUNCH_STEP_JOIN, r);
	/* Only now is it in the cgroup in which the programs are run. */
	if (start->plan->n_files > 0)
		r = quota_read(0, &quota);
	if (r == 0)
		r = plan_write(start, &quota);
	if (r < 0)
		exit_with(start->socket, LAUNCH_STEP_SETUP, r);
	become_launcher(start, &keeper, output);
}

/* Receives a message of exactly this size. -EPIPE when the launcher is gone; -EPROTO for a message
 * of another size, which is one of another version's launcher. */
static int receive(int socket, void *ret, size_t size)
{
	ssize_t n = RETRY_INTERRUPTED(recv(socket, ret, size, 0));

	if (n <= 0)
		return -EPIPE;
	return n == (ssize_t)size ? 0 : -EPROTO;
}

/* Receives the first report. It may come late, when the launcher has to wait until it may use the
 * CPUs. -ECANCELED when a signal asks to stop before. */
static int receive_first_report(
	struct session *session, struct stop *stop, struct launch_report *ret)
{
	struct pollfd fds[] = {
		{ .fd = session->socket, .events = POLLIN },
		{ .fd = stop->fd, .events = POLLIN },
	};

	while (!fds[0].revents) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
			return -errno;
		if (fds[1].revents && stop_check(stop)) {
			/* The launcher may sleep with its signals blocked, so LAUNCH_STOP may not
			 * reach it. */
			kill(session->keeper, SIGUSR1);
			return -ECANCELED;
		}
	}
	return receive(session->socket, ret, sizeof(*ret));
}

int session_start(const struct session_plan *plan, struct stop *stop, struct session **ret,
	struct launch_report *ret_report)
{
	_cleanup_free_ char *launcher = NULL, *floor = NULL;
	_cleanup_close_ int plan_fd = -EBADF, launcher_socket = -EBADF;
	_cleanup_(session) struct session *session = NULL;
	struct start start = { .plan = plan, .stop = stop };
	pid_t self = getpid();
	int sockets[2], r;

	*ret_report = (struct launch_report){ .step = LAUNCH_STEP_SETUP };
	r = install_find("runpinned-launcher", &launcher);
	if (r < 0)
		return r;
	r = install_find("runpinned-floor", &floor);
	if (r < 0)
		return r;
	session = malloc(sizeof(*session));
	if (!session)
		return -ENOMEM;
	*session = (struct session){
		.keeper = -1,
		.socket = -EBADF,
		.stderr_fd = -EBADF,
		.values_fd = values_fd_create(),
		.runlog_fd = runlog_fd_create(),
	};
	if (session->values_fd < 0)
		return session->values_fd;
	if (session->runlog_fd < 0)
		return session->runlog_fd;
	r = runlog_new(session->runlog_fd, plan->n_files, &session->runlog);
	if (r < 0)
		return r;
	plan_fd = memfd_create("runpinned-plan", MFD_CLOEXEC);
	if (plan_fd < 0)
		return -errno;
	if (!plan->show_output) {
		session->stderr_fd = lastwords_open();
		if (session->stderr_fd < 0)
			return session->stderr_fd;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	session->socket = sockets[0];
	launcher_socket = sockets[1];

	start.launcher = launcher;
	start.floor = floor;
	start.session = session;
	start.plan_fd = plan_fd;
	start.socket = launcher_socket;
	session->keeper = fork();
	if (session->keeper < 0)
		return -errno;
	if (session->keeper == 0)
		become_keeper(&start, self);
	/* If this descriptor stayed open here, the death of the launcher would not be noticed. */
	close(TAKE_FD(launcher_socket));

	r = receive_first_report(session, stop, ret_report);
	if (r < 0)
		return r;
	if (ret_report->error)
		return -ret_report->error;
	session->stamper = (enum stamper)ret_report->stamper;
	session->launcher = ret_report->pid;
	*ret = TAKE_PTR(session);
	return 0;
}

pid_t session_get_launcher(const struct session *session)
{
	return session->launcher;
}

enum stamper session_get_stamper(const struct session *session)
{
	return session->stamper;
}

static int receive_answer(struct session *session)
{
	struct launch_answer answer;
	int r;

	r = receive(session->socket, &answer, sizeof(answer));
	if (r < 0)
		return r;
	if (answer.error)
		return -answer.error;
	if (answer.written == 0)
		return -EBADMSG;
	return runlog_load(session->runlog, answer.written);
}

int session_run(struct session *session, struct stop *stop, const struct launch_request *request)
{
	unsigned seen = stop->count;
	int64_t kill_at = -1;
	int r;

	r = values_fd_clear(session->values_fd);
	if (r < 0)
		return r;
	if (send(session->socket, request, sizeof(*request), MSG_NOSIGNAL) < 0)
		return -EPIPE;
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = session->socket, .events = POLLIN },
			{ .fd = stop->fd, .events = POLLIN },
		};
		int timeout = session->stderr_fd >= 0 || kill_at >= 0 ? LASTWORDS_TRIM_MS : -1;

		if (poll(fds, ARRAY_SIZE(fds), timeout) < 0 && errno != EINTR)
			return -errno;
		if (fds[0].revents)
			return receive_answer(session);
		stop_check(stop);
		if (stop->count > seen ||
			(kill_at >= 0 && clock_now_ns(CLOCK_MONOTONIC) >= kill_at)) {
			/* The launcher sends SIGTERM to the program at the first signal, SIGKILL at
			 * the second. */
			kill(session->keeper, LAUNCH_STOP);
			seen = stop->count;
			kill_at = clock_now_ns(CLOCK_MONOTONIC) +
				LAUNCH_KILL_AFTER_SECONDS * NSEC_PER_SEC;
		}
		lastwords_trim(session->stderr_fd);
	}
}

int session_next(struct session *session, struct runlog_run *ret)
{
	int r = runlog_next(session->runlog, ret);

	return r > 0 && ret->report.error ? -ret->report.error : r;
}

void session_print_stderr(const struct session *session)
{
	lastwords_print(session->stderr_fd);
}

int session_read_values(struct session *session, char **ret, size_t *ret_size)
{
	return values_fd_read(session->values_fd, ret, ret_size);
}

void session_end(struct session *session)
{
	/* The launcher ends when its socket is closed, and the keeper ends with it. */
	if (session->socket >= 0)
		close(session->socket);
	session->socket = -EBADF;
}

void session_free(struct session *session)
{
	if (!session)
		return;
	session_end(session);
	if (session->keeper > 0)
		(void)RETRY_INTERRUPTED(waitpid(session->keeper, NULL, 0));
	if (session->stderr_fd >= 0)
		close(session->stderr_fd);
	if (session->values_fd >= 0)
		close(session->values_fd);
	if (session->runlog_fd >= 0)
		close(session->runlog_fd);
	runlog_free(session->runlog);
	free(session);
}
