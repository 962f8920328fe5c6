// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/paths.h"
#include "base/say.h"
#include "base/text.h"
#include "base/wait.h"
#include "measure/hooks.h"
#include "measure/join.h"
#include "measure/keeper.h"
#include "measure/lastwords.h"
#include "measure/program.h"
#include "measure/serve/group.h"
#include "measure/serve/listener.h"
#include "measure/serve/service.h"
#include "measure/session.h"

enum {
	/* The fastest service takes longer. A look itself may take some milliseconds: for
	 * /proc/net/tcp the kernel goes through all of its hash table of connections. */
	LOOK_NS = 2 * 1000 * 1000,
	/* How long sockets are looked for again that no process has. */
	UNSEEN_NS = 100 * 1000 * 1000,
	/* A probe has processes of its own. */
	PROBE_NS = 20 * 1000 * 1000,
	NOTE_SIZE = 4096,
	ADDRESS_SIZE = 16,
	EXPLAIN_SIZE = 160,
};

struct service {
	const struct service_plan *plan;
	struct stop *stop;
	pid_t keeper;
	int keeper_fd; /* a pidfd, readable when all of the service has ended */
	pid_t pid;     /* of its first process */
	int pidfd;     /* of that */
	int stderr_fd;
	int notify_fd;
	int listen_fd; /* what is handed to it, until it is ready; then nobody else has it */
	int caller_fd; /* a connection to that, which it is to accept */
	/* /proc/PID/maps of its first process as it was when it was ready. It has nothing more to
	 * read once that process has executed another program: it is that of the memory
	 * (proc_maps_open() in fs/proc/task_mmu.c). */
	int maps_fd;
	struct listeners listeners; /* as they were seen last */
	int said_fd;		    /* what the command of --ready has said last */
	char *why;		    /* why that has failed; malloc'd */
	int64_t probe_ns;	    /* the longest time that it has taken */
	char notify_name[64];
	char *nest;	       /* the folder of its UNIX socket; NULL: none */
	struct group *group;   /* NULL: none */
	struct family stopped; /* without a group, those that rest */
	int *status;	       /* shared with the keeper: as of wait(2), of the first process */
	int64_t began_ns;
	int64_t ready_ns;
	bool has_notified;
	bool has_ended; /* the keeper is reaped */
	bool has_told;
};

/* What the child tells before execve(2), and where that fails. */
struct word {
	pid_t pid;
	int error; /* positive errno */
	bool told; /* join_target() has said what is wrong */
};

/* What the two children find. */
struct birth {
	const struct service *service;
	int word; /* to be written to */
	int gate; /* read until its end before execve(2) */
	pid_t runserved;
};

__attribute__((noreturn)) static void exit_with(const struct birth *birth, int error, bool told)
{
	const struct word word = { .error = -error, .told = told };
	ssize_t n = write(birth->word, &word, sizeof(word));

	_exit(n == (ssize_t)sizeof(word) ? 127 : 126);
}

static int set_environment(const struct service *service)
{
	const struct service_plan *plan = service->plan;
	char port[16];

	snprintf(port, sizeof(port), "%u", plan->address.port);
	if (setenv("PORT", port, 1) < 0)
		return -errno;
	if (plan->socket && setenv("SOCKET", plan->socket, 1) < 0)
		return -errno;
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	unsetenv("LISTEN_PID");
	if (plan->listen_fds) {
		char pid[16];

		snprintf(pid, sizeof(pid), "%d", getpid());
		if (setenv("LISTEN_FDS", "1", 1) < 0 || setenv("LISTEN_PID", pid, 1) < 0)
			return -errno;
	}
	unsetenv("NOTIFY_SOCKET");
	if (plan->ready == SERVICE_READY_NOTIFY &&
		setenv("NOTIFY_SOCKET", service->notify_name, 1) < 0)
		return -errno;
	for (size_t i = 0; plan->variables[i]; i++)
		if (putenv((char *)plan->variables[i]) != 0)
			return -errno;
	return 0;
}

static int set_streams(const struct service *service)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* Not a pipe: nobody would read it while the load is on. */
	if (null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 || dup2(null_fd, STDOUT_FILENO) < 0 ||
		dup2(service->stderr_fd, STDERR_FILENO) < 0)
		return -errno;
	return 0;
}

/* The socket is descriptor number 3 of the service, SD_LISTEN_FDS_START. */
static int hand_over(int listen_fd)
{
	enum {
		FIRST = STDERR_FILENO + 1,
	};

	if (listen_fd == FIRST)
		return fcntl(listen_fd, F_SETFD, 0) < 0 ? -errno : 0;
	return dup2(listen_fd, FIRST) < 0 ? -errno : 0;
}

/* Called in the forked child of the keeper. */
__attribute__((noreturn)) static void become_service(const struct birth *given)
{
	const struct birth own = {
		.service = given->service,
		/* Not where the socket is to be. */
		.word = fcntl(given->word, F_DUPFD_CLOEXEC, STDERR_FILENO + 2),
		.gate = fcntl(given->gate, F_DUPFD_CLOEXEC, STDERR_FILENO + 2),
	};
	const struct birth *birth = &own;
	const struct service_plan *plan = birth->service->plan;
	struct word word = { .pid = getpid() };
	char byte;
	int r;

	if (own.word < 0 || own.gate < 0)
		exit_with(given, -errno, false);
	/* Ctrl-C at the terminal is for runserved. A session of its own would have a scheduling
	 * group of its own (sched(7), autogroup). */
	if (setpgid(0, 0) < 0)
		exit_with(birth, -errno, false);
	/* Before standard error is redirected, because this may print messages. */
	r = plan->place->join ? join_target() : 0;
	if (r < 0)
		exit_with(birth, r, true);
	r = cpumask_bind_self(plan->place->cpus);
	if (r == 0 && birth->service->group)
		r = group_enter(birth->service->group);
	if (r == 0)
		r = set_streams(birth->service);
	if (r == 0)
		r = set_environment(birth->service);
	if (r == 0 && plan->listen_fds)
		r = hand_over(birth->service->listen_fd);
	if (r < 0)
		exit_with(birth, r, false);
	if (write(birth->word, &word, sizeof(word)) != (ssize_t)sizeof(word) ||
		RETRY_INTERRUPTED(read(birth->gate, &byte, 1)) != 0)
		_exit(127);
	sigprocmask(SIG_SETMASK, &birth->service->stop->caller, NULL);
	sessions_restore_limit();
	execv(plan->program, plan->argv);
	exit_with(birth, -errno, false);
}

/* Called in the forked child of runserved. */
__attribute__((noreturn)) static void become_keeper(const struct birth *birth)
{
	const struct place *place = birth->service->plan->place;
	struct keeper keeper;
	pid_t self = getpid(), child;
	int r;

	r = keeper_prepare(birth->runserved, &keeper);
	if (r < 0)
		exit_with(birth, r, false);
	keeper.status = birth->service->status;
	if (birth->service->group)
		keeper.folders[0] = group_get_folder(birth->service->group);
	keeper.folders[1] = birth->service->nest;
	child = fork();
	if (child < 0)
		exit_with(birth, -errno, false);
	if (child > 0)
		keeper_run(&keeper, child, place->housekeeping);
	signal(SIGCHLD, keeper.caller_chld);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != self)
		_exit(127);
	become_service(birth);
}

/* A name without a file (unix(7)): nothing is left of it. */
static int open_notify(struct service *service)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length;

	service->notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (service->notify_fd < 0)
		return -errno;
	snprintf(service->notify_name, sizeof(service->notify_name), "@runserved/%d/%u", getpid(),
		service->plan->address.port);
	length = strlen(service->notify_name);
	memcpy(address.sun_path, service->notify_name, length);
	address.sun_path[0] = '\0';
	if (bind(service->notify_fd, (const struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) < 0)
		return -errno;
	return 0;
}

static int read_word(int fd, struct word *ret)
{
	ssize_t n = RETRY_INTERRUPTED(read(fd, ret, sizeof(*ret)));

	if (n < 0)
		return -errno;
	return n == 0 ? 0 : n == (ssize_t)sizeof(*ret) ? 1 : -EPROTO;
}

/* Waits until the program was executed, with a pidfd of it. */
static int await_exec(struct service *service, int words, int *gate, bool *ret_told)
{
	struct word word;
	int r = read_word(words, &word);

	if (r == 0)
		return -EPIPE;
	if (r < 0)
		return r;
	*ret_told = word.told;
	if (word.error)
		return -word.error;
	service->pid = word.pid;
	service->pidfd = (int)syscall(SYS_pidfd_open, word.pid, 0);
	if (service->pidfd < 0)
		return -errno;
	close(TAKE_FD(*gate));
	r = read_word(words, &word);
	return r > 0 ? -word.error : r;
}

/* Starts the keeper, and the service below it. */
static int give_birth(struct service *service, bool *ret_told)
{
	_cleanup_close_ int our_word = -EBADF, their_word = -EBADF, our_gate = -EBADF,
			    their_gate = -EBADF;
	pid_t self = getpid();
	int words[2], gate[2];

	if (pipe2(words, O_CLOEXEC) < 0)
		return -errno;
	our_word = words[0];
	their_word = words[1];
	if (pipe2(gate, O_CLOEXEC) < 0)
		return -errno;
	their_gate = gate[0];
	our_gate = gate[1];
	service->keeper = fork();
	if (service->keeper < 0)
		return -errno;
	if (service->keeper == 0) {
		/* The end of the gate is seen when runserved alone has it no longer. */
		close(our_gate);
		become_keeper(&(struct birth){
			.service = service,
			.word = their_word,
			.gate = their_gate,
			.runserved = self,
		});
	}
	close(TAKE_FD(their_word));
	service->keeper_fd = (int)syscall(SYS_pidfd_open, service->keeper, 0);
	if (service->keeper_fd < 0)
		return -errno;
	return await_exec(service, our_word, &our_gate, ret_told);
}

static bool is_readable(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return fd >= 0 && poll(&poll_fd, 1, 0) > 0 && poll_fd.revents;
}

/* Once the first process has ended, the keeper ends the others. */
static void reap(struct service *service)
{
	if (service->has_ended || service->keeper <= 0)
		return;
	(void)RETRY_INTERRUPTED(waitpid(service->keeper, NULL, 0));
	service->has_ended = true;
}

/* "exit status 1", "signal 11 (Segmentation fault)" */
static void describe_end(int status, char *buf, size_t size)
{
	if (WIFSIGNALED(status))
		snprintf(
			buf, size, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(buf, size, "exit status %d", WEXITSTATUS(status));
}

void service_print_stderr(const struct service *service)
{
	lastwords_print(service->stderr_fd);
}

static void tell_end(struct service *service, const char *when)
{
	char how[96];

	service->has_told = true;
	reap(service);
	describe_end(*service->status, how, sizeof(how));
	say("%s: it has ended %s: %s%s", service->plan->name, when, how,
		service->ready_ns == 0 && *service->status == 0
			? "; a service has to stay in the foreground"
			: "");
	service_print_stderr(service);
}

bool service_tell_end(struct service *service)
{
	if (!is_readable(service->pidfd))
		return false;
	if (!service->has_told)
		tell_end(service, "under load");
	return true;
}

/* "port 8080", or the file. */
static const char *describe_address(const struct address *address, char buf[ADDRESS_SIZE])
{
	if (address->socket)
		return address->socket;
	snprintf(buf, ADDRESS_SIZE, "port %u", address->port);
	return buf;
}

static int say_restart(const struct service *service, const char *how)
{
	say("%s: it has restarted under load: %s", service->plan->name, how);
	service_print_stderr(service);
	return -ESTALE;
}

/* 1 where it listens at its address, 0 where nobody does. Where others do as well, or that cannot
 * be found out, a negative errno after saying so. */
static int look(struct service *service)
{
	struct wait wait =
		wait_until(clock_now_ns(CLOCK_MONOTONIC) + UNSEEN_NS, LOOK_NS, UNSEEN_NS);
	const struct service_plan *plan = service->plan;
	char buf[ADDRESS_SIZE];
	const char *where = describe_address(&plan->address, buf);
	struct listeners found;
	int r;

	/* A process that ends has closed its sockets a moment before they are gone. */
	do {
		r = listener_find(&plan->address, service->keeper, &found);
	} while (r == 0 && found.who == LISTENING_OTHERS && found.other == 0 && wait_step(&wait));
	if (r < 0) {
		say_errno(r, "%s: cannot find out who listens on %s", plan->name, where);
		return r;
	}
	/* Where it is about to end, what was handed to it is left with this process alone. */
	if (found.who != LISTENING_OTHERS || found.other == getpid()) {
		if (found.who == LISTENING_OURS && service->ready_ns > 0 &&
			!listener_has_one_of(&found, &service->listeners))
			return say_restart(service, "it listens with another socket than before");
		service->listeners = found;
		return found.who == LISTENING_OURS;
	}
	if (found.other > 0)
		say("%s: %s is held by process %d as well, which is none of its own", plan->name,
			where, found.other);
	else
		say("%s: %s is held by a process that cannot be seen from here, and is none of "
		    "its own",
			plan->name, where);
	return -EADDRINUSE;
}

static int open_maps(struct service *service)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", service->pid);
	service->maps_fd = open(path, O_RDONLY | O_CLOEXEC);
	return service->maps_fd < 0 ? -errno : 0;
}

static bool has_executed(const struct service *service)
{
	char byte;

	return RETRY_INTERRUPTED(pread(service->maps_fd, &byte, 1, 0)) == 0;
}

int service_check(struct service *service)
{
	char buf[ADDRESS_SIZE];
	int r;

	lastwords_trim(service->stderr_fd);
	if (service_tell_end(service))
		return -ECHILD;
	r = look(service);
	if (r <= 0 && service_tell_end(service))
		return -ECHILD;
	if (r > 0 && has_executed(service))
		r = say_restart(service, "its first process has executed a program anew");
	if (r == 0) {
		say("%s: it does not listen on %s any more", service->plan->name,
			describe_address(&service->plan->address, buf));
		service_print_stderr(service);
		return -ECONNREFUSED;
	}
	return r < 0 ? r : 0;
}

/* Reads what it has said to $NOTIFY_SOCKET. */
static void read_notes(struct service *service)
{
	char note[NOTE_SIZE];
	ssize_t n;

	while ((n = recv(service->notify_fd, note, sizeof(note) - 1, 0)) >= 0) {
		note[n] = '\0';
		if (text_has_word(note, "READY=1", "\n"))
			service->has_notified = true;
	}
}

/* Whether it has accepted a connection of ours. That it listens says nothing where the socket was
 * handed to it. One that is seen as accepted a moment too early, before it has come into the queue,
 * does no harm: the slice that follows does not count. */
static int look_if_accepting(struct service *service)
{
	struct pollfd poll_fd = { .events = POLLOUT };

	if (service->caller_fd < 0) {
		int r = listener_call(&service->plan->address);

		if (r < 0) {
			say_errno(r, "%s: cannot connect to it", service->plan->name);
			return r;
		}
		service->caller_fd = r;
	}
	poll_fd.fd = service->caller_fd;
	return poll(&poll_fd, 1, 0) > 0 && !is_readable(service->listen_fd);
}

/* Whether the command of --ready succeeds. It is not tried where it would be broken off: why it has
 * failed before tells more. */
static int probe(struct service *service)
{
	const struct service_plan *plan = service->plan;
	int64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	int64_t left_ns = service->began_ns + plan->ready_ns - now_ns;
	char port[24], socket[160];
	const char *const variables[] = { port, plan->socket ? socket : NULL, NULL };
	const struct hook_trial trial = {
		.options = plan->options,
		.words = plan->probe,
		.variables = variables,
		.cpus = plan->place->housekeeping,
		.timeout_ns = MAX(left_ns, (int64_t)NSEC_PER_MSEC),
		.end_fd = service->pidfd,
		.stderr_fd = service->said_fd,
	};
	int r;

	if (left_ns < 2 * service->probe_ns)
		return 0;
	snprintf(port, sizeof(port), "PORT=%u", plan->address.port);
	snprintf(socket, sizeof(socket), "SOCKET=%s", plan->socket ? plan->socket : "");
	free(TAKE_PTR(service->why));
	r = hook_try(&trial, service->stop, &service->why);
	service->probe_ns = MAX(service->probe_ns, clock_now_ns(CLOCK_MONOTONIC) - now_ns);
	if (r < 0 && r != -ECANCELED)
		say_errno(r, "cannot run %s (--ready)", plan->probe[0]);
	return r > 0 ? 0 : r < 0 ? r : 1;
}

/* Nobody but the service is to have what it listens with: when it has ended, connections have to be
 * refused, and not to wait for one who will never accept them. */
static void let_go_of_socket(struct service *service)
{
	if (service->caller_fd >= 0)
		close(TAKE_FD(service->caller_fd));
	if (service->listen_fd >= 0)
		close(TAKE_FD(service->listen_fd));
}

/* Looks once. 1: it is ready; 0: not yet; a negative errno after saying what is wrong. */
static int look_if_ready(struct service *service)
{
	int r;

	if (is_readable(service->pidfd)) {
		let_go_of_socket(service);
		/* The reason is most often that the port is taken. */
		(void)look(service);
		tell_end(service, "before it was ready");
		return -ECHILD;
	}
	if (service->notify_fd >= 0)
		read_notes(service);
	if (service->plan->ready == SERVICE_READY_NOTIFY && !service->has_notified)
		return 0;
	r = look(service);
	if (r <= 0)
		return r;
	if (service->plan->ready == SERVICE_READY_PROBE)
		return probe(service);
	return service->plan->listen_fds && service->plan->ready == SERVICE_READY_PORT
		? look_if_accepting(service)
		: 1;
}

/* Why it is not ready. */
static const char *explain(const struct service *service, char buf[EXPLAIN_SIZE])
{
	const struct service_plan *plan = service->plan;
	uint16_t port;

	if (plan->ready == SERVICE_READY_NOTIFY && !service->has_notified)
		return "it has not said READY=1 to $NOTIFY_SOCKET";
	if (service->caller_fd >= 0)
		return "it accepts no connection from the socket that it was handed (--listen-fds)";
	if (service->why)
		return "the command of --ready has not succeeded: ";
	if (plan->address.socket)
		return "none of its processes listens at its socket";
	port = listener_find_port(service->keeper);
	if (port > 0)
		snprintf(buf, EXPLAIN_SIZE,
			"it listens on port %u, and was to listen on port %u, which is {port} in "
			"its command, and $PORT",
			port, plan->address.port);
	return port > 0 ? buf : "none of its processes listens on its port";
}

static int await_ready(struct service *service)
{
	const struct service_plan *plan = service->plan;
	char buf[EXPLAIN_SIZE];

	for (;;) {
		int r = look_if_ready(service);

		if (r > 0) {
			service->ready_ns = clock_now_ns(CLOCK_MONOTONIC) - service->began_ns;
			let_go_of_socket(service);
			r = open_maps(service);
			/* One that has ended by now is found out with the first slice. */
			if (r == 0 || is_readable(service->pidfd))
				return 0;
			say_errno(r, "%s: cannot watch its first process", plan->name);
			return r;
		}
		if (r < 0)
			return r;
		if (clock_now_ns(CLOCK_MONOTONIC) - service->began_ns >= plan->ready_ns) {
			say("%s: it is not ready after %g s (--ready-timeout): %s%s", plan->name,
				(double)plan->ready_ns / NSEC_PER_SEC, explain(service, buf),
				service->why ? service->why : "");
			lastwords_print(service->said_fd);
			service_print_stderr(service);
			return -ETIME;
		}
		if (stop_sleep(service->stop,
			    plan->ready == SERVICE_READY_PROBE ? PROBE_NS : LOOK_NS) != 0)
			return -ECANCELED;
	}
}

static void say_birth(const struct service *service, int error)
{
	const struct service_plan *plan = service->plan;

	if (error == -ENOEXEC)
		say("%s: cannot execute %s: %s", plan->name, plan->program,
			program_explain_noexec(plan->program));
	else
		say_errno(error, "%s: cannot execute %s", plan->name, plan->program);
}

/* On the CPUs of benchmark.target it is in a cgroup of that. */
static int make_group(struct service *service)
{
	enum service_rest rest = service->plan->rest;
	int r;

	if (rest == SERVICE_REST_STOP || rest == SERVICE_REST_NONE)
		return 0;
	r = service->plan->place->join ? -EBUSY : group_make(&service->group);
	if (r == 0 || rest == SERVICE_REST_AUTO)
		return 0;
	say_errno(r, "%s: it can have no cgroup of its own (--rest freeze)", service->plan->name);
	return r;
}

/* Closed to others: who can reach its socket could hold it, or put it under load. */
static int make_nest(struct service *service)
{
	const char *socket = service->plan->socket;

	service->nest = strndup(socket, (size_t)(strrchr(socket, '/') - socket));
	if (!service->nest)
		return -ENOMEM;
	if (mkdir(service->nest, 0700) < 0) {
		int error = -errno;

		/* It is somebody else's. */
		free(TAKE_PTR(service->nest));
		return error;
	}
	return 0;
}

/* What it shares with its keeper, writes to, and speaks to. */
static int open_all(struct service *service)
{
	service->status = mmap(NULL, sizeof(*service->status), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (service->status == MAP_FAILED) {
		service->status = NULL;
		return -errno;
	}
	service->stderr_fd = lastwords_open("stderr");
	if (service->stderr_fd < 0)
		return service->stderr_fd;
	if (service->plan->socket) {
		int r = make_nest(service);

		if (r < 0)
			return r;
	}
	if (service->plan->listen_fds) {
		service->listen_fd = listener_open(&service->plan->address);
		if (service->listen_fd < 0)
			return service->listen_fd;
	}
	if (service->plan->ready == SERVICE_READY_PROBE) {
		service->said_fd = lastwords_open("stderr");
		return service->said_fd < 0 ? service->said_fd : 0;
	}
	return service->plan->ready == SERVICE_READY_NOTIFY ? open_notify(service) : 0;
}

static int begin(struct service *service)
{
	bool told = false;
	int r = open_all(service);

	if (r < 0) {
		say_errno(r, "%s: cannot be started", service->plan->name);
		return r;
	}
	r = make_group(service);
	if (r < 0)
		return r;
	service->began_ns = clock_now_ns(CLOCK_MONOTONIC);
	r = give_birth(service, &told);
	if (r < 0 && !told)
		say_birth(service, r);
	return r < 0 ? r : await_ready(service);
}

int service_start(const struct service_plan *plan, struct stop *stop, struct service **ret)
{
	_cleanup_(service) struct service *service = calloc(1, sizeof(*service));
	int r;

	if (!service) {
		say_errno(-ENOMEM, "%s: cannot be started", plan->name);
		return -ENOMEM;
	}
	*service = (struct service){
		.plan = plan,
		.stop = stop,
		.keeper_fd = -EBADF,
		.pidfd = -EBADF,
		.stderr_fd = -EBADF,
		.notify_fd = -EBADF,
		.listen_fd = -EBADF,
		.caller_fd = -EBADF,
		.said_fd = -EBADF,
		.maps_fd = -EBADF,
	};
	r = begin(service);
	if (r == 0)
		*ret = TAKE_PTR(service);
	return r;
}

pid_t service_get_pid(const struct service *service)
{
	return service->pid;
}

int service_get_end_fd(const struct service *service)
{
	return service->pidfd;
}

int64_t service_get_ready_ns(const struct service *service)
{
	return service->ready_ns;
}

const char *service_get_rest(const struct service *service)
{
	return service->plan->rest == SERVICE_REST_NONE ? "none"
		: service->group			? "freeze"
							: "stop";
}

int service_let_rest(struct service *service)
{
	int r;

	if (service->plan->rest == SERVICE_REST_NONE)
		return 0;
	r = service->group ? group_freeze(service->group, true)
			   : family_stop(service->keeper, &service->stopped);
	if (r < 0)
		say_errno(r, "%s: it cannot be stopped while another one is under load (--rest)",
			service->plan->name);
	return r;
}

int service_let_go_on(struct service *service)
{
	int r;

	if (service->plan->rest == SERVICE_REST_NONE)
		return 0;
	r = service->group ? group_freeze(service->group, false)
			   : family_continue(&service->stopped);
	if (r < 0)
		say_errno(r, "%s: it cannot be continued", service->plan->name);
	return r;
}

const char *service_get_folder(const struct service *service)
{
	return service->group ? group_get_folder(service->group) : NULL;
}

int service_ask(const struct service *service, struct service_reading *ret)
{
	struct service_reading reading = { .group.ns = -1 };
	int r = family_ask(service->keeper, &reading.family);

	if (r == 0 && service->group)
		r = group_read_cpu(service->group, &reading.group);
	if (r < 0) {
		say_errno(r, "%s: cannot find out what it uses", service->plan->name);
		service_reading_clear(&reading);
		return r;
	}
	*ret = reading;
	return 0;
}

void service_reading_clear(struct service_reading *reading)
{
	family_clear(&reading->family);
}

int service_compare(const struct service *service, const struct service_reading *before,
	const struct service_reading *after, struct family_use *ret)
{
	int r = family_compare(&before->family, &after->family, ret);

	if (after->group.ns >= 0) {
		if (r == -ENODATA)
			*ret = (struct family_use){ .ran_ns = -1 };
		ret->cpu_ns = after->group.ns - before->group.ns;
		ret->user_ns = family_subtract(after->group.user_ns, before->group.user_ns);
		ret->system_ns = family_subtract(after->group.system_ns, before->group.system_ns);
		ret->step_ns = NSEC_PER_USEC;
		family_forget_living(ret);
		return 0;
	}
	if (r == 0)
		r = family_is_complete(&before->family, &after->family);
	if (r == -ENODATA)
		say("%s: a process of it has ended under load, so that its CPU time is not known "
		    "without a cgroup of its own (--rest freeze tells why it has none)",
			service->plan->name);
	if (r == -ENOTSUP)
		say("%s: it ignores SIGCHLD, so that nobody knows what processes of it have used "
		    "that end under load, without a cgroup of its own (--rest freeze tells why it "
		    "has none)",
			service->plan->name);
	return r;
}

/* Whether it ends by itself in time, and before another signal asks to stop. */
static bool await_end(const struct service *service)
{
	struct stop *stop = service->stop;
	struct pollfd fds[] = {
		{ .fd = service->keeper_fd, .events = POLLIN },
		{ .fd = stop->fd, .events = POLLIN },
	};
	unsigned seen = stop->count;
	int64_t until_ns = clock_now_ns(CLOCK_MONOTONIC) + service->plan->end_ns, left_ns;

	while (stop->count == seen && (left_ns = until_ns - clock_now_ns(CLOCK_MONOTONIC)) > 0) {
		int timeout_ms = (int)MIN(left_ns / NSEC_PER_MSEC + 1, (int64_t)INT_MAX);

		if (poll(fds, ARRAY_SIZE(fds), timeout_ms) > 0 && fds[0].revents)
			return true;
		stop_check(stop);
	}
	return false;
}

/* It ends by itself in time, or is killed. */
static void end(struct service *service)
{
	if (service->has_ended || service->keeper <= 0)
		return;
	if (service->group)
		(void)group_freeze(service->group, false);
	else
		(void)family_continue(&service->stopped);
	if (service->pidfd >= 0)
		(void)syscall(SYS_pidfd_send_signal, service->pidfd, SIGTERM, NULL, 0);
	if (service->pidfd < 0 || !await_end(service)) {
		if (service->plan->options->verbose && service->stop->count == 0)
			say("%s: it was there for %g s after SIGTERM, and is killed (--end-timeout)",
				service->plan->name, (double)service->plan->end_ns / NSEC_PER_SEC);
		kill(service->keeper, SIGUSR1);
	}
	reap(service);
}

void service_free(struct service *service)
{
	if (!service)
		return;
	end(service);
	if (service->keeper_fd >= 0)
		close(service->keeper_fd);
	if (service->pidfd >= 0)
		close(service->pidfd);
	if (service->stderr_fd >= 0)
		close(service->stderr_fd);
	if (service->notify_fd >= 0)
		close(service->notify_fd);
	let_go_of_socket(service);
	if (service->said_fd >= 0)
		close(service->said_fd);
	if (service->maps_fd >= 0)
		close(service->maps_fd);
	free(service->why);
	family_clear(&service->stopped);
	group_free(service->group);
	if (service->nest)
		paths_remove(service->nest);
	free(service->nest);
	if (service->status)
		munmap(service->status, sizeof(*service->status));
	free(service);
}
