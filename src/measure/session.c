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
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/install.h"
#include "base/macro.h"
#include "base/say.h"
#include "library/values.h"
#include "measure/join.h"
#include "measure/keeper.h"
#include "measure/lastwords.h"
#include "measure/session.h"

enum {
	TERMINAL_ROWS = 24,
	TERMINAL_COLUMNS = 80,
	/* Open files of a session, and of all else, with room. */
	FILES_OF_SESSION = 6,
	FILES_OF_ALL = 128,
};

struct session {
	pid_t keeper;
	pid_t launcher;
	int socket;
	int stderr_fd; /* a memfd; -1 when the output is shown */
	int output_fd; /* borrowed: a memfd for standard output, or -1 */
	int end_fd;    /* session_end_with(); -1: none */
	int kept_fd;   /* a memfd for that of some runs, where it goes nowhere else; or -1 */
	int values_fd; /* for the values of programs that measure themselves */
	int runlog_fd;
	int plan_fd;	       /* -1 once the launcher has been told that the plan is there */
	struct runlog *runlog; /* NULL until then */
	char *floor;	       /* path of the empty program */
	enum stamper stamper;
};

/* What is needed to start the two processes of a session. */
struct start {
	const struct launch_inputs *in;
	const struct command *command;
	const struct session *session;
	const struct stop *stop;
	const char *launcher; /* path of the program */
	int socket;
};

/* RLIMIT_NOFILE as it was; rlim_cur is 0 where it still is. */
static struct rlimit caller_files;

static rlim_t count_files(size_t n_programs)
{
	return n_programs * FILES_OF_SESSION + FILES_OF_ALL;
}

int sessions_raise_limit(size_t n)
{
	struct rlimit limit, raised;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	if (limit.rlim_cur >= count_files(n))
		return 0;
	raised = limit;
	raised.rlim_cur = MIN(count_files(n), limit.rlim_max);
	if (setrlimit(RLIMIT_NOFILE, &raised) < 0)
		return -errno;
	if (caller_files.rlim_cur == 0)
		caller_files = limit;
	return raised.rlim_cur < count_files(n) ? -EMFILE : 0;
}

static void say_too_few_files(size_t n_programs)
{
	struct rlimit limit = { 0 };

	(void)getrlimit(RLIMIT_NOFILE, &limit);
	say("%zu program%s %zu open files, and %zu are allowed (ulimit -Hn)", n_programs,
		n_programs == 1 ? " needs" : "s need", (size_t)count_files(n_programs),
		(size_t)limit.rlim_max);
}

void sessions_restore_limit(void)
{
	if (caller_files.rlim_cur != 0)
		(void)setrlimit(RLIMIT_NOFILE, &caller_files);
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

/* Opens what the keeper reads, if the programs write to that. */
static int open_output(enum output_kind kind, int *ret_ours, int *ret_theirs)
{
	int fds[2];

	if (kind == OUTPUT_TERMINAL)
		return open_terminal(ret_ours, ret_theirs);
	if (kind != OUTPUT_PIPE)
		return 0;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	*ret_ours = fds[0];
	*ret_theirs = fds[1];
	return 0;
}

/* The launcher's standard streams are those of all its children. `output` is -1 where nobody reads
 * it. */
static int set_streams(const struct start *start, int output, int stderr_fd)
{
	const struct streams *streams = &start->command->streams;
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	bool is_terminal = start->in->options->stdout_to == OUTPUT_TERMINAL;
	int input = streams->input > 0 ? streams->input : is_terminal ? output : null_fd;

	if (output < 0)
		output = streams->output > 0 ? streams->output : null_fd;
	if (null_fd < 0 || dup2(input, STDIN_FILENO) < 0)
		return -errno;
	if (!start->in->options->show_output &&
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

	if (set_streams(start, output, session->stderr_fd) < 0)
		_exit(127);
	fcntl(start->socket, F_SETFD, 0);
	fcntl(session->plan_fd, F_SETFD, 0);
	fcntl(session->runlog_fd, F_SETFD, 0);
	fcntl(keeper->launcher, F_SETFD, 0);
	/* The programs inherit this descriptor through the launcher; the plan names its number. */
	fcntl(session->values_fd, F_SETFD, 0);
	if (session->kept_fd >= 0)
		fcntl(session->kept_fd, F_SETFD, 0);
	if (start->in->tracepoints)
		fcntl(tracepoints_get_fd(start->in->tracepoints), F_SETFD, 0);
	snprintf(socket_text, sizeof(socket_text), "%d", start->socket);
	snprintf(plan_text, sizeof(plan_text), "%d", session->plan_fd);
	snprintf(runlog_text, sizeof(runlog_text), "%d", session->runlog_fd);
	snprintf(keeper_text, sizeof(keeper_text), "%d", keeper->launcher);
	sessions_restore_limit();
	execve(start->launcher, argv, env);
	_exit(127);
}

/* Writes the plan, from a process that is in the cgroup of the programs. */
static int write_plan(const struct session *session, const struct launch_inputs *in,
	const struct command *command, const struct stop *stop)
{
	const struct launch_ends ends = {
		.floor = session->floor,
		.values_fd = session->values_fd,
		.kept_fd = session->kept_fd,
		.caller_signals = &stop->caller,
	};
	struct quota quota = { 0 };
	int r = in->evidence ? quota_read(0, &quota) : 0;

	if (r < 0)
		return r;
	r = launchplan_write(session->plan_fd, in, command, &ends, &quota);
	quota_clear(&quota);
	return r;
}

/* Called in the forked child: becomes the keeper, which forks the launcher in turn. */
__attribute__((noreturn)) static void become_keeper(const struct start *start, pid_t runpinned)
{
	const struct options *options = start->in->options;
	pid_t self = getpid(), launcher;
	struct keeper keeper;
	int output = -EBADF, reader = -EBADF, r;

	/* runpinned may have work to do on the CPUs that it has left to itself. These are refused
	 * where they have to be joined first. */
	(void)cpumask_bind_self(start->in->place->cpus);
	/* The program may open it again by a name, and before what the kernel would take back. */
	user_enter(options->user);
	r = open_output(options->stdout_to, &reader, &output);
	user_leave(options->user);
	if (r == 0)
		r = keeper_prepare(runpinned, &keeper);
	if (r < 0)
		exit_with(start->socket, LAUNCH_STEP_SETUP, r);
	keeper.output = reader;
	keeper.figurepad = start->in->figurepad;
	keeper.vary = start->in->vary;
	launcher = fork();
	if (launcher < 0)
		exit_with(start->socket, LAUNCH_STEP_SETUP, -errno);
	if (launcher > 0)
		keeper_run(&keeper, launcher, start->in->place->housekeeping);
	signal(SIGCHLD, keeper.caller_chld);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != self)
		_exit(127);
	leave_terminal(options->stdout_to == OUTPUT_TERMINAL);
	/* Before standard error is redirected, because this may print messages. */
	r = start->in->place->join ? join_target() : 0;
	if (r < 0)
		exit_with(start->socket, LAUNCH_STEP_JOIN, r);
	if (start->in->place->join)
		r = write_plan(start->session, start->in, start->command, start->stop);
	if (r < 0)
		exit_with(start->socket, LAUNCH_STEP_SETUP, r);
	become_launcher(start, &keeper, output);
}

/* Receives a message of exactly this size. -EPIPE when the launcher is gone; -EPROTO for a message
 * of another size, which is one of another version's launcher. */
static int receive(int socket, void *ret, size_t size)
{
	ssize_t n = RETRY_INTERRUPTED(recv(socket, ret, size, 0));

	/* It has ended and has not read everything, which is told before what it has sent. */
	if (n < 0 && errno == ECONNRESET)
		n = RETRY_INTERRUPTED(recv(socket, ret, size, 0));
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

/* Starts the two processes, and does not wait for them. The launcher gets ready as far as it can
 * without a plan. */
static int begin(const struct launch_inputs *in, const struct command *command,
	const struct stop *stop, struct session **ret)
{
	_cleanup_free_ char *launcher = NULL;
	_cleanup_close_ int launcher_socket = -EBADF;
	_cleanup_(session) struct session *session = NULL;
	pid_t self = getpid();
	int sockets[2], r;

	r = install_find("runpinned-launcher", &launcher);
	if (r < 0)
		return r;
	session = malloc(sizeof(*session));
	if (!session)
		return -ENOMEM;
	*session = (struct session){
		.keeper = -1,
		.socket = -EBADF,
		.stderr_fd = -EBADF,
		/* A file of the user's is not ours to trim. */
		.output_fd = command->streams.output > 0 && !command->output_file
			? command->streams.output
			: -EBADF,
		.kept_fd = -EBADF,
		.end_fd = -EBADF,
		.plan_fd = -EBADF,
		.values_fd = values_fd_create(),
		.runlog_fd = runlog_fd_create(),
	};
	r = install_find("runpinned-floor", &session->floor);
	if (r < 0)
		return r;
	if (session->values_fd < 0)
		return session->values_fd;
	if (session->runlog_fd < 0)
		return session->runlog_fd;
	session->plan_fd = memfd_create("runpinned-plan", MFD_CLOEXEC);
	if (session->plan_fd < 0)
		return -errno;
	if (!in->options->show_output) {
		session->stderr_fd = lastwords_open("stderr");
		if (session->stderr_fd < 0)
			return session->stderr_fd;
	}
	if (!in->options->show_output && in->options->stdout_to == OUTPUT_NULL &&
		command->streams.output <= 0) {
		session->kept_fd = lastwords_open("stdout");
		if (session->kept_fd < 0)
			return session->kept_fd;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	session->socket = sockets[0];
	launcher_socket = sockets[1];

	session->keeper = fork();
	if (session->keeper < 0)
		return -errno;
	if (session->keeper == 0)
		become_keeper(
			&(struct start){
				.in = in,
				.command = command,
				.session = session,
				.stop = stop,
				.launcher = launcher,
				.socket = launcher_socket,
			},
			self);
	/* If this descriptor stayed open here, the death of the launcher would not be noticed. */
	close(TAKE_FD(launcher_socket));
	*ret = TAKE_PTR(session);
	return 0;
}

/* Gives the launcher the plan of what it is to do. */
static int give_plan(struct session *session, const struct launch_inputs *in,
	const struct command *command, const struct stop *stop)
{
	size_t n_files = 0;
	int r;

	if (in->evidence)
		(void)evidence_files(in->evidence, &n_files);
	r = runlog_new(session->runlog_fd, n_files, &session->runlog);
	if (r == 0 && !in->place->join)
		r = write_plan(session, in, command, stop);
	if (r < 0)
		return r;
	/* It may have ended by now. Then it has sent its report, or none, as the next step finds
	 * out. */
	if (RETRY_INTERRUPTED(send(session->socket, "", 1, MSG_NOSIGNAL)) < 0 && errno != EPIPE)
		return -errno;
	close(TAKE_FD(session->plan_fd));
	return 0;
}

/* Waits until the launcher is ready. When it has started but cannot do what the plan asks for,
 * returns its negative errno, and *ret_report says which step failed. When it could not be started
 * at all, the step is LAUNCH_STEP_SETUP. */
static int await(struct session *session, struct stop *stop, struct launch_report *ret_report)
{
	int r = receive_first_report(session, stop, ret_report);

	if (r < 0)
		return r;
	if (ret_report->error)
		return -ret_report->error;
	session->stamper = (enum stamper)ret_report->stamper;
	session->launcher = ret_report->pid;
	return 0;
}

static void say_start_failure(int error, const struct launch_report *report,
	const struct counting *counting, const struct place *place)
{
	if (report->step == LAUNCH_STEP_JOIN)
		return;
	if (report->step == LAUNCH_STEP_AFFINITY)
		say_errno(error, "cannot bind to CPU %s", place->cpus_text);
	else if (report->step == LAUNCH_STEP_COUNTER &&
		(size_t)report->detail >= counting->first_event)
		say_errno(error, "cannot count %s",
			counting->event_names[(size_t)report->detail - counting->first_event]);
	else if (error == -ENOENT)
		say("cannot start the launcher: runpinned-launcher and runpinned-floor are not "
		    "installed");
	else if (error == -EPERM && report->step == LAUNCH_STEP_SETUP)
		say("cannot start the launcher: runpinned-launcher and runpinned-floor, and the "
		    "folder that they are in, must belong to root or to the owner of runpinned, "
		    "and not everybody may write to them");
	else if (error == -EFBIG)
		say("cannot start the launcher (runpinned-launcher): files may not be as large "
		    "here as those in memory that it needs, of 1 MiB or more (ulimit -f)");
	else if (error == -EPIPE)
		say("cannot start the launcher (runpinned-launcher): it died");
	else if (error == -EPROTO)
		say("cannot start the launcher (runpinned-launcher): it is of another version than "
		    "runpinned");
	else
		say_errno(error, "cannot start the launcher (runpinned-launcher)");
}

int session_start(struct command *command, const struct launch_inputs *in, struct stop *stop)
{
	struct launch_report report = { .step = LAUNCH_STEP_SETUP };
	int r = command->session ? 0 : begin(in, command, stop, &command->session);

	if (r == 0 && command->session->plan_fd >= 0)
		r = give_plan(command->session, in, command, stop);
	if (r == 0)
		r = await(command->session, stop, &report);
	if (r < 0)
		session_free(TAKE_PTR(command->session));
	if (r < 0 && r != -ECANCELED)
		say_start_failure(r, &report, in->counting, in->place);
	return r;
}

void sessions_begin(
	struct commands *commands, const struct launch_inputs *given, const struct stop *stop)
{
	struct launch_inputs in = *given;

	in.tracepoints = commands->tracepoints;
	(void)begin(&in, &commands->items[0], stop, &commands->items[0].session);
}

void sessions_prepare(
	struct commands *commands, const struct launch_inputs *given, const struct stop *stop)
{
	struct command *first = &commands->items[0];
	struct launch_inputs in = *given;

	in.tracepoints = commands->tracepoints;
	if (first->session && give_plan(first->session, &in, first, stop) < 0)
		session_free(TAKE_PTR(first->session));
}

int sessions_start(struct commands *commands, const struct launch_inputs *given, struct stop *stop)
{
	const struct options *options = given->options;
	struct command *shell = &commands->empty_shell;
	struct launch_inputs in = *given;
	int r;

	r = commands->tracepoints ? tracepoints_await(commands->tracepoints) : -EPERM;
	if (r < 0 && commands->tracepoints) {
		/* A launcher that was begun counts on them. */
		session_free(TAKE_PTR(commands->items[0].session));
		tracepoints_free(TAKE_PTR(commands->tracepoints));
	}
	if (r < 0 && options->stamper_given && options->stamper == STAMPER_TRACEPOINTS) {
		say_errno(r, "cannot attach to the tracepoints (--stamps), which needs BPF");
		return r;
	}
	in.tracepoints = commands->tracepoints;
	r = sessions_raise_limit(commands->n);
	if (r == -EMFILE)
		say_too_few_files(commands->n);
	if (r < 0)
		return r;
	for (size_t i = 0; i < commands->n; i++) {
		r = session_start(&commands->items[i], &in, stop);
		if (r < 0)
			return r;
	}
	if (options->stamper_given && options->stamper == STAMPER_CPU_EVENTS &&
		sessions_get_stamper(commands) != STAMPER_CPU_EVENTS) {
		say("cannot use events of the CPUs (--stamps): this needs root, or "
		    "kernel.perf_event_paranoid at 0 or less");
		return -EPERM;
	}
	in.evidence = NULL;
	return shell->argv ? session_start(shell, &in, stop) : 0;
}

pid_t session_find_limited(const struct command *command, const struct place *place)
{
	return place->join && command->session ? command->session->launcher : 0;
}

enum stamper sessions_get_stamper(const struct commands *commands)
{
	return commands->items[0].session->stamper;
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
	bool has_lost = false;
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
			{ .fd = has_lost ? -1 : session->end_fd, .events = POLLIN },
		};
		int timeout = session->stderr_fd >= 0 || kill_at >= 0 ? LASTWORDS_TRIM_MS : -1;

		if (poll(fds, ARRAY_SIZE(fds), timeout) < 0) {
			if (errno != EINTR)
				return -errno;
			fds[0].revents = fds[2].revents = 0;
		}
		if (fds[0].revents)
			return receive_answer(session);
		stop_check(stop);
		if (stop->count > seen || fds[2].revents ||
			(kill_at >= 0 && clock_now_ns(CLOCK_MONOTONIC) >= kill_at)) {
			/* The launcher sends SIGTERM to the program at the first signal, SIGKILL at
			 * the second. */
			kill(session->keeper, LAUNCH_STOP);
			seen = stop->count;
			has_lost |= fds[2].revents != 0;
			kill_at = clock_now_ns(CLOCK_MONOTONIC) +
				LAUNCH_KILL_AFTER_SECONDS * NSEC_PER_SEC;
		}
		lastwords_trim(session->stderr_fd);
		lastwords_trim(session->output_fd);
		lastwords_trim(session->kept_fd);
	}
}

void session_end_with(struct session *session, int fd)
{
	session->end_fd = fd;
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

int session_get_stderr(const struct session *session)
{
	return session->stderr_fd;
}

int session_get_kept(const struct session *session)
{
	return session->kept_fd;
}

int session_read_values(struct session *session, char **ret, size_t *ret_size)
{
	return values_fd_read(session->values_fd, ret, ret_size);
}

static void end(struct session *session)
{
	/* The launcher ends when its socket is closed, and the keeper ends with it. */
	if (session->socket < 0)
		return;
	/* So that it is not taken for our death. */
	if (session->keeper > 0)
		kill(session->keeper, SIGUSR2);
	close(session->socket);
	session->socket = -EBADF;
}

void sessions_end(struct commands *commands)
{
	for (size_t i = 0; i < commands->n; i++) {
		if (commands->items[i].session)
			end(commands->items[i].session);
	}
	if (commands->empty_shell.session)
		end(commands->empty_shell.session);
}

void session_free(struct session *session)
{
	if (!session)
		return;
	end(session);
	if (session->keeper > 0)
		(void)RETRY_INTERRUPTED(waitpid(session->keeper, NULL, 0));
	if (session->stderr_fd >= 0)
		close(session->stderr_fd);
	if (session->kept_fd >= 0)
		close(session->kept_fd);
	if (session->values_fd >= 0)
		close(session->values_fd);
	if (session->runlog_fd >= 0)
		close(session->runlog_fd);
	if (session->plan_fd >= 0)
		close(session->plan_fd);
	runlog_free(session->runlog);
	free(session->floor);
	free(session);
}

void sessions_free(struct commands *commands)
{
	for (size_t i = 0; i < commands->n; i++)
		session_free(TAKE_PTR(commands->items[i].session));
	session_free(TAKE_PTR(commands->empty_shell.session));
}
