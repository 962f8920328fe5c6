// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lets every system call and every allocation of a setter fail, and looks whether the machine is
 * lost:
 *
 *	faults apply|again|restore ONE_IN SEED PRELOAD DIRECTORY TOOL [ARGUMENT...]
 *
 * To be run as crash.c. A first run counts the calls of `TOOL apply` or `TOOL restore`, from the
 * moment when it is loaded. Then for each call, each errno that it may give, and each of the ways
 * below it runs once with that fault; of these cases one in ONE_IN is taken, which ones depends on
 * SEED. The ways:
 *
 *	once	the call is not done, and gives the errno;
 *	ever	so do all calls from there on that may give this errno. This is about how the
 *		setter cleans up after a failure, which hardly depends on the errno, so that each
 *		call is tried with one of its errnos, in turn; with EVERY_CASE in the environment,
 *		with each of them;
 *	done	a write to a knob is done, and gives EIO all the same;
 *	memory	an allocation fails, or all from there on: from each second one, for the same
 *		reason, or from each with EVERY_CASE.
 *
 * And what it runs:
 *
 *	apply	`TOOL apply ARGUMENT...`, then `TOOL restore` in peace;
 *	again	the same when it had been applied before;
 *	restore	`TOOL restore` when it had been applied before, then once more in peace.
 *
 * What must hold: in the end the machine is as it was, /run/quiesce holds nothing but the lock, and
 * `TOOL restore` in peace succeeds. Before, a restore that ended with 0 has left the machine as it
 * was and no journal; an apply that ended with 0 has left it as an apply in peace does, or it
 * names the error, or has more rows of knobs that were not turned than in peace. Whatever ended
 * with another status has said once what failed, other than for lack of memory, and where an apply
 * leaves a journal then, what puts it back. Nothing takes longer than a minute.
 *
 * Prints "CALLS ALLOCATIONS CASES MISSED FAILURES"; missed are the cases whose fault did not come,
 * because the setter did fewer calls than at first. Exit status as that of crash.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../machine/marks.h"
#include "../machine/scene.h"
#include "base/parse.h"
#include "notify.h"

enum {
	CALLS_MAX = 1 << 16,
	HANGS_AFTER_SECONDS = 60,
	ERRORS_MAX = 8,
	RUNS_IN_PEACE = 3,
};

/* --- What may fail, and how --- */

/* Its name where off_t is longer than a register. */
#ifndef SYS_newfstatat
#define SYS_newfstatat SYS_fstatat64
#endif

struct call {
	int number;
	int errors[ERRORS_MAX];
};

/* Those of the errnos of the kernel's documentation and sources that say something about the
 * machine rather than about the caller. */
static const struct call calls[] = {
	{ SYS_openat, { EMFILE, EIO, EACCES, ENOMEM, EBUSY, EINTR } },
	{ SYS_read, { EIO, EINTR, ENOMEM, EBUSY, EACCES } },
	{ SYS_pread64, { EIO, EINTR, ENOMEM, EBUSY, EACCES } },
	{ SYS_write, { EIO, EINTR, ENOSPC, EBUSY, EACCES, EROFS, ENOMEM } },
	{ SYS_writev, { EIO, EINTR, ENOSPC } },
	{ SYS_close, { EIO, EINTR } },
	{ SYS_fsync, { EIO, ENOSPC, EINTR } },
	{ SYS_linkat, { EIO, ENOSPC, EROFS, EACCES } },
	{ SYS_renameat, { EIO, ENOSPC, EROFS, EACCES, ENOMEM } },
	{ SYS_unlinkat, { EIO, EROFS, EACCES, EBUSY } },
	{ SYS_mkdirat, { EIO, ENOSPC, EROFS, EACCES, ENOMEM } },
	{ SYS_fchmod, { EIO, EROFS, EACCES } },
	{ SYS_fchown, { EIO, EROFS, EACCES } },
	{ SYS_flock, { EINTR, ENOMEM, EIO } },
	{ SYS_fcntl, { ENOMEM, EINTR } },
	{ SYS_getdents64, { EIO, ENOMEM, EINTR } },
	{ SYS_newfstatat, { EIO, EACCES, ENOMEM } },
	{ SYS_fstat, { EIO, ENOMEM } },
	{ SYS_statx, { EIO, EACCES, ENOMEM } },
	{ SYS_statfs, { EIO, EACCES, ENOMEM } },
	{ SYS_fstatfs, { EIO, ENOMEM } },
	{ SYS_faccessat, { EIO, EACCES, ENOMEM } },
	{ SYS_readlinkat, { EIO, EACCES, ENOMEM } },
	{ SYS_sched_getaffinity, { ENOMEM, EACCES } },
	{ SYS_sched_setaffinity, { ENOMEM, EACCES, EBUSY } },
	{ SYS_rt_sigprocmask, { ENOMEM } },
	{ SYS_socket, { EMFILE, ENOMEM, EACCES } },
	{ SYS_connect, { EINTR, EACCES, ENOMEM } },
	{ SYS_sendmsg, { EIO, EINTR, ENOMEM } },
	{ SYS_sendto, { EIO, EINTR, ENOMEM } },
	{ SYS_recvfrom, { EIO, EINTR, ENOMEM } },
	{ SYS_recvmsg, { EIO, EINTR, ENOMEM } },
	{ SYS_ppoll, { EINTR, ENOMEM } },
	{ SYS_swapoff, { EIO, ENOMEM, EINTR, EACCES } },
	{ SYS_swapon, { EIO, ENOMEM, EINTR, EACCES, EBUSY } },
#ifdef SYS_open
	{ SYS_open, { EMFILE, EIO, EACCES, ENOMEM, EBUSY, EINTR } },
	{ SYS_rename, { EIO, ENOSPC, EROFS, EACCES, ENOMEM } },
	{ SYS_unlink, { EIO, EROFS, EACCES, EBUSY } },
	{ SYS_mkdir, { EIO, ENOSPC, EROFS, EACCES, ENOMEM } },
	{ SYS_rmdir, { EIO, EBUSY, EROFS, EACCES } },
	{ SYS_stat, { EIO, EACCES, ENOMEM } },
	{ SYS_lstat, { EIO, EACCES, ENOMEM } },
	{ SYS_access, { EIO, EACCES, ENOMEM } },
	{ SYS_readlink, { EIO, EACCES, ENOMEM } },
	{ SYS_poll, { EINTR, ENOMEM } },
#endif
	/* It writes to the machine, too, and no file: marks.h. */
	{ SYS_sched_get_priority_max, { 0 } },
};

/* Which argument of a call has the flags of an open, and the path is before it; 0: it opens no
 * file. */
static unsigned flags_argument(int number)
{
#ifdef SYS_open
	if (number == SYS_open)
		return 1;
#endif
	return number == SYS_openat ? 2 : 0;
}

/* Those that make or change something in a file system may also meet other errors. */
static bool writes_by_opening(const struct seccomp_data *data)
{
	unsigned at = flags_argument(data->nr);

	return at > 0 && (data->args[at] & O_ACCMODE) != O_RDONLY;
}

enum way {
	ONCE,
	EVER,
	DONE,
	MEMORY_ONCE,
	MEMORY_EVER,
};
static const char *const way_names[] = {
	[ONCE] = "once",
	[EVER] = "ever",
	[DONE] = "done",
	[MEMORY_ONCE] = "memory once",
	[MEMORY_EVER] = "memory ever",
};

struct fault {
	enum way way;
	unsigned at; /* call or allocation, from 1 on; 0: none */
	int error;   /* positive errno */
	/* Of a call: its number, and which one it is of those with this number, from 1 on. */
	int number;
	unsigned nth;
};

static const int *find_errors(int number)
{
	for (size_t i = 0; i < N_ELEMENTS(calls); i++) {
		if (calls[i].number == number)
			return calls[i].errors;
	}
	return NULL;
}

static bool may_give(const int *errors, int error)
{
	for (size_t i = 0; errors && i < ERRORS_MAX && errors[i]; i++) {
		if (errors[i] == error)
			return true;
	}
	return false;
}

/* --- A run with a fault --- */

/* A call of the run without faults. */
struct known_call {
	int number;
	unsigned nth; /* of this number, from 1 on */
	bool writes;  /* an open for writing */
	bool knob;    /* a write to the machine */
};

struct outcome {
	unsigned n_calls;
	unsigned n_allocations;
	bool injected;
	bool hung;
	int status;
};

/* A knob's file that was opened with O_TRUNC and not written yet, and its text: the kernel's files
 * are never empty, and hold what a refused write leaves. */
struct emptied {
	char path[PATH_MAX]; /* empty: there is none */
	char *text;
	size_t length;
};

struct injection {
	struct fault fault;
	struct known_call *record; /* CALLS_MAX; NULL: not recorded */
	struct outcome outcome;
	unsigned n_alike; /* calls so far that have the fault's number */
	struct emptied emptied;
	bool begun;
	bool paused;
};

static bool is_machines(const char *path)
{
	return strncmp(path, "/sys/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
}

static void read_path(pid_t pid, uint64_t address, char path[static PATH_MAX])
{
	struct iovec local = { .iov_base = path, .iov_len = PATH_MAX - 1 };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)address, .iov_len = PATH_MAX - 1 };

	memset(path, 0, PATH_MAX);
	/* The text may end with its page. */
	for (ssize_t n = -1; n < 0 && remote.iov_len > 16; remote.iov_len /= 2)
		n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
}

static void remember_emptied(
	struct injection *injection, pid_t pid, const struct seccomp_data *data)
{
	struct emptied *emptied = &injection->emptied;
	unsigned at = flags_argument(data->nr);

	if (!writes_by_opening(data) || !(data->args[at] & O_TRUNC))
		return;
	free(emptied->text);
	*emptied = (struct emptied){ 0 };
	read_path(pid, data->args[at - 1], emptied->path);
	if (is_machines(emptied->path) && access(emptied->path, R_OK) == 0)
		emptied->text = read_file(emptied->path, &emptied->length);
	else
		emptied->path[0] = '\0';
}

static void refill_emptied(struct injection *injection)
{
	struct emptied *emptied = &injection->emptied;

	if (emptied->path[0])
		write_file(emptied->path, emptied->text, emptied->length);
	emptied->path[0] = '\0';
}

/* The path that write(2) writes to, if that is a file of the machine's. */
static bool find_knob(pid_t pid, const struct seccomp_data *data, char path[static PATH_MAX])
{
	char link[64];

	memset(path, 0, PATH_MAX);
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)pid, (int)data->args[0]);
	return readlink(link, path, PATH_MAX - 1) >= 0 && is_machines(path);
}

/* Does a write in place of the program, if it is one to a knob. */
static bool do_write(pid_t pid, const struct seccomp_data *data)
{
	char path[PATH_MAX], text[4096];
	struct iovec local = { .iov_base = text, .iov_len = sizeof(text) };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)data->args[1],
		.iov_len = data->args[2] };
	ssize_t n;

	if (!find_knob(pid, data, path) || data->args[2] > sizeof(text))
		return false;
	n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
	if (n < 0)
		return false;
	write_file(path, text, (size_t)n);
	return true;
}

/* Whether all calls that can give the fault's errno give it once it has begun. */
static bool spreads_to(const struct fault *fault, int number, bool writes)
{
	return fault->way == EVER &&
		(may_give(find_errors(number), fault->error) ||
			(writes && (fault->error == EROFS || fault->error == ENOSPC)));
}

/* Whether the fault concerns this call, which is counted here. */
static bool is_faulty(struct injection *injection, int number, bool writes)
{
	const struct fault *fault = &injection->fault;
	bool alike = number == fault->number;

	if (fault->at == 0 || fault->way > DONE)
		return false;
	if (alike)
		injection->n_alike++;
	if (alike && injection->n_alike == fault->nth)
		return true;
	return injection->n_alike >= fault->nth && spreads_to(fault, number, writes);
}

/* What it says of failures comes through: nobody can say that this failed. */
static bool is_message(const struct seccomp_data *data)
{
	return data->nr == SYS_write && data->args[0] == STDERR_FILENO;
}

/* Remembers a call, which is the latest counted one. */
static void record_call(struct injection *injection, pid_t pid, const struct seccomp_data *data,
	struct known_call call)
{
	unsigned at = injection->outcome.n_calls - 1, before = at;
	char path[PATH_MAX];

	if (!injection->record || at >= CALLS_MAX)
		return;
	while (before > 0 && injection->record[before - 1].number != call.number)
		before--;
	call.nth = before > 0 ? injection->record[before - 1].nth + 1 : 1;
	call.knob = data->nr == SYS_write && find_knob(pid, data, path);
	injection->record[at] = call;
}

/* The errno that a call is answered with; 0: it is to be done. */
static int decide(struct injection *injection, pid_t pid, const struct seccomp_data *data)
{
	struct outcome *outcome = &injection->outcome;
	bool writes = writes_by_opening(data), marks = data->nr == SYS_sched_get_priority_max;
	int number = marks ? (int)data->args[1] : data->nr;

	if (marks) {
		switch (data->args[0]) {
		case MARK_BEGIN:
			injection->begun = true;
			return EINVAL;
		case MARK_ALLOCATIONS:
			outcome->n_allocations = (unsigned)data->args[1];
			if (injection->fault.way > DONE && injection->fault.at > 0)
				outcome->injected = outcome->n_allocations >= injection->fault.at;
			/* What is freed after main() is nobody's concern. */
			injection->begun = false;
			return EINVAL;
		case MARK_PAUSE:
			injection->paused = true;
			return EINVAL;
		case MARK_BACK:
			injection->paused = false;
			return EINVAL;
		case MARK_KERNEL:
			injection->paused = true;
			break;
		default:
			return 0;
		}
	} else if (!injection->begun || injection->paused || is_message(data)) {
		return 0;
	}
	outcome->n_calls++;
	record_call(
		injection, pid, data, (struct known_call){ .number = number, .writes = writes });
	if (!marks)
		remember_emptied(injection, pid, data);
	if (!is_faulty(injection, number, writes)) {
		if (data->nr == SYS_write)
			injection->emptied.path[0] = '\0';
		return marks ? EINVAL : 0;
	}
	if (injection->fault.way == DONE) {
		if (data->nr != SYS_write || !do_write(pid, data))
			return marks ? EINVAL : 0;
		injection->emptied.path[0] = '\0';
	}
	outcome->injected = true;
	/* An open that was not done has emptied nothing, and a write has not filled anything. */
	if (data->nr == SYS_write)
		refill_emptied(injection);
	else if (writes)
		injection->emptied.path[0] = '\0';
	if (marks)
		injection->paused = false;
	return injection->fault.error;
}

/*
 * Whether this program has to hear of a call before it is done. Each that is heard of is two
 * switches of processes, which is most of what a run costs, so those that the fault does not
 * concern are not.
 */
enum hearing {
	HEAR_NOT,
	HEAR_WRITERS, /* where it opens a file for writing: remember_emptied() */
	HEAR,
};
static enum hearing choose_hearing(const struct fault *fault, int number)
{
	if (number == SYS_sched_get_priority_max || fault->at == 0)
		return HEAR;
	if (fault->way > DONE)
		return HEAR_NOT;
	if (number == SYS_write || number == fault->number || spreads_to(fault, number, false))
		return HEAR;
	return flags_argument(number) > 0 ? HEAR_WRITERS : HEAR_NOT;
}

#define LOAD(member)         \
	(struct sock_filter) \
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define RETURN(what) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, what)
#define SKIP_UNLESS(comparison, k, skipped) \
	(struct sock_filter) BPF_JUMP(BPF_JMP | BPF_K | (comparison), k, 0, skipped)

/* The low half of an argument is its first word on the little-endian machines that this runs on. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "flags are read at the wrong place");

static int install_filter(const struct fault *fault)
{
	struct sock_filter filter[5 * N_ELEMENTS(calls) + 2];
	struct sock_fprog program = { .len = 0, .filter = filter };

	filter[program.len++] = LOAD(nr);
	for (size_t i = 0; i < N_ELEMENTS(calls); i++) {
		int number = calls[i].number;
		enum hearing hearing = choose_hearing(fault, number);

		if (hearing == HEAR_NOT)
			continue;
		filter[program.len++] =
			SKIP_UNLESS(BPF_JEQ, (unsigned)number, hearing == HEAR ? 1 : 4);
		if (hearing == HEAR_WRITERS) {
			filter[program.len++] = LOAD(args[flags_argument(number)]);
			filter[program.len++] = SKIP_UNLESS(BPF_JSET, O_ACCMODE, 1);
		}
		filter[program.len++] = RETURN(SECCOMP_RET_USER_NOTIF);
		if (hearing == HEAR_WRITERS)
			filter[program.len++] = RETURN(SECCOMP_RET_ALLOW);
	}
	filter[program.len++] = RETURN(SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(
		SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

/* Which allocation fails, as failing-malloc reads it. */
static void tell_allocator(struct fault fault)
{
	char text[32];

	unsetenv("FAIL_ALLOC_AT");
	unsetenv("FAIL_ALLOC_FOREVER");
	if (fault.way <= DONE)
		return;
	snprintf(text, sizeof(text), "%u", fault.at);
	setenv("FAIL_ALLOC_AT", text, 1);
	if (fault.way == MEMORY_EVER)
		setenv("FAIL_ALLOC_FOREVER", "1", 1);
}

/* The child that becomes the setter. Its listener goes to the parent by a call that is not
 * filtered. */
__attribute__((noreturn)) static void become_watched(
	int socket, const char *verb, bool with_arguments, const struct fault *fault)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	char nothing = 0;
	struct iovec byte = { .iov_base = &nothing, .iov_len = 1 };
	struct mmsghdr message = {
		.msg_hdr = { .msg_iov = &byte,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control) },
	};
	int listener;

	redirect();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	listener = install_filter(fault);
	if (listener < 0)
		_exit(EXIT_SKIP);
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &listener, sizeof(int));
	if (sendmmsg(socket, &message, 1, 0) != 1)
		_exit(EXIT_SKIP);
	execv(tool, command(verb, with_arguments));
	_exit(127);
}

static int receive_listener(int socket)
{
	char byte, space[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = space,
		.msg_controllen = sizeof(space),
	};
	int listener;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message))
		die(EXIT_SKIP, "the kernel does not let us watch system calls");
	memcpy(&listener, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
	keep_on_one_cpu(listener);
	return listener;
}

/* One notification; false when nobody is left to notify of. */
static bool serve(struct injection *injection, int listener, time_t deadline)
{
	struct pollfd poll_listener = { .fd = listener, .events = POLLIN };
	struct seccomp_notif notification = { 0 };
	struct seccomp_notif_resp answer = { 0 };
	int n = poll(&poll_listener, 1, HANGS_AFTER_SECONDS * 1000), error;

	if (n == 0 || time(NULL) > deadline) {
		injection->outcome.hung = true;
		return false;
	}
	if (n < 0 || !(poll_listener.revents & POLLIN))
		return false;
	if (syscall(SYS_ioctl, listener, SECCOMP_IOCTL_NOTIF_RECV, &notification) < 0)
		return errno == ENOENT || errno == EINTR;
	error = decide(injection, (pid_t)notification.pid, &notification.data);
	answer.id = notification.id;
	answer.error = -error;
	answer.flags = error ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	return syscall(SYS_ioctl, listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) == 0 ||
		errno == ENOENT;
}

static struct outcome run_faulty(
	const char *verb, bool with_arguments, struct fault fault, struct known_call *record)
{
	struct injection injection = { .fault = fault, .record = record };
	time_t deadline = time(NULL) + HANGS_AFTER_SECONDS;
	int sockets[2], listener, status;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		die(1, "socketpair: %s", strerror(errno));
	tell_allocator(fault);
	/* Not fork(), which copies the tables of our memory. The child changes nothing in it. */
	pid = vfork();
	if (pid < 0)
		die(1, "vfork: %s", strerror(errno));
	if (pid == 0)
		become_watched(sockets[1], verb, with_arguments, &fault);
	tell_allocator((struct fault){ 0 });
	close(sockets[1]);
	listener = receive_listener(sockets[0]);
	close(sockets[0]);
	while (serve(&injection, listener, deadline))
		;
	close(listener);
	if (injection.outcome.hung)
		kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid)
		die(1, "waitpid: %s", strerror(errno));
	reap_orphans();
	refill_emptied(&injection);
	free(injection.emptied.text);
	injection.outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return injection.outcome;
}

/* --- The campaign --- */

struct campaign {
	const char *mode;
	const char *directory;
	bool on_restore;
	bool again;
	bool every_case; /* also of those where all fails from a call on */
	uint64_t one_in;
	uint64_t seed;
	struct tree before;
	struct tree applied;
	char *output; /* of an apply in peace; of the second one, in the mode `again` */
	size_t output_length;
	unsigned cases;
	unsigned missed;
	uint64_t considered;
};

/* splitmix64: which cases are taken has nothing to do with the order in which calls come. */
static bool is_taken(struct campaign *campaign)
{
	uint64_t x = campaign->seed + ++campaign->considered * 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return (x ^ (x >> 31)) % campaign->one_in == 0;
}

static bool is_empty_file(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 || st.st_size == 0;
}

static unsigned count_word(const char *text, size_t length, const char *word)
{
	const char *end = text + length, *found;
	unsigned n = 0;

	for (; (found = memmem(text, (size_t)(end - text), word, strlen(word))); n++)
		text = found + strlen(word);
	return n;
}

/* The rows of the table that say that a knob was not turned. */
static unsigned count_refusals(const char *text, size_t length)
{
	return count_word(text, length, "denied") + count_word(text, length, "unavailable") +
		count_word(text, length, "host-controlled");
}

static bool prints_more_refusals(const struct campaign *campaign)
{
	size_t length;
	char *text = read_file(OUTPUT_FILE, &length);
	bool more = count_refusals(text, length) >
		count_refusals(campaign->output, campaign->output_length);

	free(text);
	return more;
}

static bool file_has_text(const char *path, const char *word)
{
	size_t length;
	char *text = read_file(path, &length);
	bool has = memmem(text, length, word, strlen(word)) != NULL;

	free(text);
	return has;
}

static const char *format_journal_path(void)
{
	static char path[PATH_MAX];
	const char *slash = strrchr(tool, '/');

	snprintf(path, sizeof(path), "/run/quiesce/%s.journal", slash ? slash + 1 : tool);
	return path;
}

static void check_outcome(
	const struct campaign *campaign, const struct outcome *outcome, int error, const char *what)
{
	if (outcome->hung)
		fail(what, "it hung", 0);
	else if (outcome->status >= 128 || outcome->status == 2)
		fail(what, "a strange exit status", outcome->status);
	else if (outcome->status != 0 && is_empty_file(ERROR_FILE))
		fail(what, "it failed without a word", outcome->status);
	else if (outcome->status != 0 && error != ENOMEM && file_has_text(ERROR_FILE, ": failed: "))
		fail(what, "it says no more than that it failed", outcome->status);
	else if (outcome->status != 0 && !campaign->on_restore && !campaign->again &&
		access(format_journal_path(), F_OK) == 0 && !file_has_text(ERROR_FILE, "restore"))
		fail(what, "it left something set, and does not say how to put it back",
			outcome->status);
	if (outcome->status != 0)
		return;
	/* An error that the kernel gives to whatever is written is how that interrupt is, by all
	 * that can be seen. It is said, and the journal has to keep the entry. */
	if (campaign->on_restore && file_has_text(ERROR_FILE, "the kernel lets nobody set it")) {
		if (access(format_journal_path(), F_OK) < 0)
			fail(what, "what was refused is forgotten", 0);
		return;
	}
	if (campaign->on_restore) {
		check_tree(campaign->directory, &campaign->before, false, what);
		if (access(format_journal_path(), F_OK) == 0)
			fail(what, "a journal is left, and the exit status is 0", 0);
	} else if (!prints_more_refusals(campaign) && !file_has_text(ERROR_FILE, strerror(error)) &&
		!file_has_text(OUTPUT_FILE, strerror(error))) {
		check_tree(campaign->directory, &campaign->applied, false, what);
	}
}

static const char *name_call(int number)
{
	static char text[16];

	switch (number) {
	case SYS_openat:
		return "openat";
	case SYS_read:
		return "read";
	case SYS_pread64:
		return "pread64";
	case SYS_write:
		return "write";
	case SYS_close:
		return "close";
	case SYS_fsync:
		return "fsync";
	default:
		snprintf(text, sizeof(text), "%d", number);
		return text;
	}
}

/* Runs what the mode says, after what it needs before. The calls are written to record, which may
 * be NULL. */
static struct outcome run_mode(const struct campaign *campaign, struct fault fault,
	struct known_call *record, const char *what)
{
	if (campaign->on_restore || campaign->again)
		run_well("apply", true, what);
	return run_faulty(
		campaign->on_restore ? "restore" : "apply", !campaign->on_restore, fault, record);
}

static void try_fault(struct campaign *campaign, struct fault fault)
{
	bool allocates = fault.way > DONE;
	struct outcome outcome;
	unsigned failures_before = failures;
	char what[128];
	size_t length;

	if (!is_taken(campaign))
		return;
	campaign->cases++;
	snprintf(what, sizeof(what), "%s, %s %u (%s) %s: %s", campaign->mode,
		allocates ? "allocation" : "call", fault.at,
		allocates ? "malloc" : name_call(fault.number), way_names[fault.way],
		strerror(fault.error));
	outcome = run_mode(campaign, fault, NULL, what);
	campaign->missed += !outcome.injected;
	length = strlen(what);
	snprintf(what + length, sizeof(what) - length, ", status %d", outcome.status);
	if (failures == failures_before)
		check_outcome(campaign, &outcome, fault.error, what);
	if (!is_run_directory_empty())
		run_well("restore", false, what);
	check_tree(campaign->directory, &campaign->before, true, what);
}

/* The errnos that a call may give, of which only_lasting leaves out EINTR: no signal interrupts for
 * ever. Returns how many. */
static unsigned list_errors(struct known_call call, bool only_lasting, int list[ERRORS_MAX + 2])
{
	const int *errors = find_errors(call.number);
	unsigned n = 0;

	for (size_t i = 0; errors && i < ERRORS_MAX && errors[i]; i++) {
		if (!only_lasting || errors[i] != EINTR)
			list[n++] = errors[i];
	}
	if (call.writes) {
		list[n++] = ENOSPC;
		list[n++] = EROFS;
	}
	return n;
}

static void try_call(struct campaign *campaign, unsigned at, struct known_call call)
{
	struct fault fault = { .at = at, .number = call.number, .nth = call.nth };
	int errors[ERRORS_MAX + 2];
	unsigned n = list_errors(call, false, errors);

	for (unsigned i = 0; i < n; i++) {
		fault.error = errors[i];
		try_fault(campaign, fault);
	}
	fault.way = EVER;
	n = list_errors(call, true, errors);
	for (unsigned i = 0; i < n; i++) {
		fault.error = errors[i];
		if (i == call.nth % n || campaign->every_case)
			try_fault(campaign, fault);
	}
	fault.way = DONE;
	fault.error = EIO;
	if (call.knob)
		try_fault(campaign, fault);
}

/* The run whose calls will fail, which are written to record. A setter that waits looks as often as
 * the machine lets it, so the run with the fewest calls of several counts: those come again. */
static struct outcome run_in_peace(struct campaign *campaign, struct known_call record[CALLS_MAX])
{
	struct outcome least = { 0 };

	for (int i = 0; i < RUNS_IN_PEACE; i++) {
		struct known_call *seen = calloc(CALLS_MAX, sizeof(*seen));
		struct outcome outcome;

		outcome = run_mode(campaign, (struct fault){ 0 }, seen, "at first");
		if (outcome.status != 0)
			fail("at first", campaign->mode, outcome.status);
		if (i == 0 || outcome.n_calls < least.n_calls) {
			least = outcome;
			memcpy(record, seen, CALLS_MAX * sizeof(*seen));
			free(campaign->output);
			campaign->output = read_file(OUTPUT_FILE, &campaign->output_length);
		}
		free(seen);
		run_well("restore", false, "at first");
		check_tree(campaign->directory, &campaign->before, true, "at first");
	}
	return least;
}

static uint64_t parse_number(const char *text)
{
	uint64_t number;

	if (parse_u64(text, 0, UINT64_MAX, &number) < 0)
		die(EXIT_BAD_USAGE, "'%s' is no number", text);
	return number;
}

/* For all runs of the setter, also those in peace: they need not wait, either. */
static void preload(const char *libraries)
{
	const char *others = getenv("LD_PRELOAD");
	char text[PATH_MAX];

	snprintf(text, sizeof(text), "%s %s", others ? others : "", libraries);
	setenv("LD_PRELOAD", text, 1);
}

int main(int argc, char *argv[])
{
	struct campaign campaign = { 0 };
	struct known_call *record = calloc(CALLS_MAX, sizeof(*record));
	struct outcome whole;

	if (argc < 7 ||
		(strcmp(argv[1], "apply") != 0 && strcmp(argv[1], "again") != 0 &&
			strcmp(argv[1], "restore") != 0))
		die(EXIT_BAD_USAGE,
			"usage: faults apply|again|restore ONE_IN SEED PRELOAD DIRECTORY TOOL "
			"[ARGUMENT...]");
	campaign.mode = argv[1];
	campaign.every_case = getenv("EVERY_CASE") != NULL;
	campaign.one_in = parse_number(argv[2]);
	campaign.seed = parse_number(argv[3]);
	preload(argv[4]);
	campaign.directory = argv[5];
	tool = argv[6];
	arguments = argv + 7;
	campaign.again = strcmp(campaign.mode, "again") == 0;
	campaign.on_restore = strcmp(campaign.mode, "restore") == 0;

	/* Without a fault: which calls there are, and what it comes to. */
	watch_tree(campaign.directory);
	read_tree(campaign.directory, &campaign.before);
	note_own_cpus();
	adopt_orphans();
	run_well("apply", true, "at first");
	read_tree(campaign.directory, &campaign.applied);
	prove_watch(&campaign.before, &campaign.applied);
	run_well("restore", false, "at first");
	whole = run_in_peace(&campaign, record);
	if (whole.n_calls == 0 || whole.n_calls > CALLS_MAX || whole.n_allocations == 0)
		fail("at first", "a strange number of calls", (int)whole.n_calls);

	for (unsigned i = 0; i < whole.n_calls; i++)
		try_call(&campaign, i + 1, record[i]);
	for (unsigned i = 0; i < whole.n_allocations; i++) {
		try_fault(&campaign,
			(struct fault){ .way = MEMORY_ONCE, .at = i + 1, .error = ENOMEM });
		if (i % 2 == 0 || campaign.every_case)
			try_fault(&campaign,
				(struct fault){ .way = MEMORY_EVER, .at = i + 1, .error = ENOMEM });
	}
	printf("%u %u %u %u %u\n", whole.n_calls, whole.n_allocations, campaign.cases,
		campaign.missed, failures);
	free(campaign.output);
	free_tree(&campaign.before);
	free_tree(&campaign.applied);
	free(record);
	return failures > 0;
}
