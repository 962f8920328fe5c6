// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kills a setter at every system call that writes, and looks whether it gives the machine back:
 *
 *	crash apply|again|restore DIRECTORY TOOL [ARGUMENT...]
 *
 * To be run on the described machine in DIRECTORY (under sysroot, as root, with a /run of its own).
 * A first run counts the N calls that write; then for each of them the tool is killed with SIGKILL
 * before the call and, another time, after it, 2 N kills in all:
 *
 *	apply	`TOOL apply ARGUMENT...` is killed, then `TOOL restore` runs;
 *	again	`TOOL apply ARGUMENT...` is killed, then it runs again, to the same machine as if it
 *		had not been killed, then `TOOL restore`;
 *	restore	`TOOL apply ARGUMENT...` runs, `TOOL restore` is killed, and runs again.
 *
 * Afterwards DIRECTORY/sys and DIRECTORY/proc must be as at the beginning, byte for byte,
 * /run/quiesce hold nothing but the lock, and this program have the CPUs that it had. Prints
 * "N KILLS FAILURES", and a line for each failure on standard error. Exit status: 0 without
 * failures, 1 with some, 2 for bad usage, 77 where the kernel does not let us trace.
 *
 * With a kernel behind these files (kernel.c), to ask it by sendto(2) is a call that writes, which
 * lasts until recvfrom(2) has its answer.
 *
 * The machine's files are plain, where those of the kernel ignore O_TRUNC and take a write as a
 * whole: so a file that was opened for writing and not written yet gets its text back.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_ELEMENTS(a) (sizeof(a) / sizeof((a)[0]))

enum {
	EXIT_BAD_USAGE = 2,
	EXIT_SKIP = 77,
	MAX_FAILURES_SHOWN = 10,
};

__attribute__((format(printf, 2, 3), noreturn)) static void die(int status, const char *format, ...)
{
	va_list ap;

	fputs("crash: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(status);
}

/* --- The machine's files --- */

struct entry {
	char *path;
	mode_t type;
	char *text; /* of a file, or a link's target; NULL for a directory */
	size_t length;
	ino_t inode;
	struct timespec changed;
};

struct tree {
	struct entry *entries;
	size_t n;
	size_t capacity;
};

static struct tree *walked; /* nftw(3) has no argument to pass on */
static const struct tree *known;

static char *read_file(const char *path, size_t *ret_length)
{
	size_t capacity = 4096, length = 0;
	char *text = malloc(capacity + 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0 || !text)
		die(1, "cannot read %s: %s", path, strerror(errno));
	while ((n = read(fd, text + length, capacity - length)) > 0) {
		length += (size_t)n;
		if (length == capacity) {
			capacity *= 2;
			text = realloc(text, capacity + 1);
			if (!text)
				die(1, "no memory");
		}
	}
	close(fd);
	text[length] = '\0';
	*ret_length = length;
	return text;
}

static void write_file(const char *path, const char *text, size_t length)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, text, length) != (ssize_t)length)
		die(1, "cannot write %s: %s", path, strerror(errno));
	close(fd);
}

static int compare_entries(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->path, ((const struct entry *)b)->path);
}

/* The file as the first walk found it, if nobody has touched it since: that one was long after the
 * files were made, so that their times tell. */
static const struct entry *find_untouched(const struct entry *entry, const struct stat *st)
{
	const struct entry *old;

	if (!known)
		return NULL;
	old = bsearch(entry, known->entries, known->n, sizeof(*entry), compare_entries);
	if (!old || old->inode != st->st_ino || old->length != (size_t)st->st_size ||
		old->changed.tv_sec != st->st_ctim.tv_sec ||
		old->changed.tv_nsec != st->st_ctim.tv_nsec)
		return NULL;
	return old;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *where)
{
	struct tree *tree = walked;
	const struct entry *untouched;
	struct entry *entry;
	char target[PATH_MAX];
	ssize_t n;

	(void)type;
	(void)where;
	if (tree->n == tree->capacity) {
		tree->capacity = tree->capacity ? tree->capacity * 2 : 1024;
		tree->entries = realloc(tree->entries, tree->capacity * sizeof(*tree->entries));
	}
	entry = &tree->entries[tree->n++];
	*entry = (struct entry){
		.path = strdup(path),
		.type = st->st_mode & S_IFMT,
		.inode = st->st_ino,
		.changed = st->st_ctim,
	};
	if (S_ISREG(st->st_mode)) {
		untouched = find_untouched(entry, st);
		if (untouched) {
			entry->length = untouched->length;
			entry->text = memcpy(
				malloc(entry->length + 1), untouched->text, entry->length + 1);
		} else {
			entry->text = read_file(path, &entry->length);
		}
	} else if (S_ISLNK(st->st_mode)) {
		n = readlink(path, target, sizeof(target));
		if (n < 0)
			die(1, "%s: %s", path, strerror(errno));
		entry->text = strndup(target, (size_t)n);
		entry->length = (size_t)n;
	}
	return 0;
}

static void read_tree(const char *directory, struct tree *tree)
{
	static const char *const tops[] = { "sys", "proc" };
	char path[PATH_MAX];

	*tree = (struct tree){ 0 };
	walked = tree;
	for (size_t i = 0; i < N_ELEMENTS(tops); i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, tops[i]);
		if (nftw(path, visit, 16, FTW_PHYS) != 0 && errno != ENOENT)
			die(1, "cannot walk %s: %s", path, strerror(errno));
	}
	qsort(tree->entries, tree->n, sizeof(*tree->entries), compare_entries);
}

static void free_tree(struct tree *tree)
{
	for (size_t i = 0; i < tree->n; i++) {
		free(tree->entries[i].path);
		free(tree->entries[i].text);
	}
	free(tree->entries);
}

/* "always [madvise] never" and what it says: as a knob's file that shows a choice is overwritten by
 * a bare word, and only the kernel would show all of them again. */
static bool chosen(const struct entry *entry, const char **ret, size_t *ret_length)
{
	const char *open = strchr(entry->text, '['), *close = open ? strchr(open, ']') : NULL;

	if (!close || strchr(entry->text, '\n') < close)
		return false;
	*ret = open + 1;
	*ret_length = (size_t)(close - open - 1);
	return true;
}

static bool same_entry(const struct entry *before, const struct entry *after)
{
	const char *word;
	size_t length;

	if (before->type != after->type)
		return false;
	if (!before->text)
		return true;
	if (before->length == after->length &&
		memcmp(before->text, after->text, before->length) == 0)
		return true;
	return before->type == S_IFREG && chosen(before, &word, &length) &&
		after->length == length + 1 && memcmp(after->text, word, length) == 0 &&
		after->text[length] == '\n';
}

static const char *shown(const struct entry *entry)
{
	static char buf[2][80];
	static int which;
	char *text = buf[which = !which];

	if (!entry)
		return "nothing";
	snprintf(text, sizeof(buf[0]), "\"%.60s\"", entry->text ? entry->text : "directory");
	for (; *text; text++) {
		if (*text == '\n')
			*text = '$';
	}
	return buf[which];
}

/* Says how they differ, up to a few lines, and sets the files back to `before`. */
static unsigned compare_trees(
	const struct tree *before, const struct tree *after, bool repair, const char *what)
{
	unsigned differences = 0;

	for (size_t i = 0, j = 0; i < before->n || j < after->n;) {
		const struct entry *x = i < before->n ? &before->entries[i] : NULL;
		const struct entry *y = j < after->n ? &after->entries[j] : NULL;
		int order = !x ? 1 : !y ? -1 : strcmp(x->path, y->path);

		if (order > 0)
			x = NULL;
		if (order < 0)
			y = NULL;
		i += x != NULL;
		j += y != NULL;
		if (x && y && same_entry(x, y))
			continue;
		if (differences++ < 4)
			fprintf(stderr, "%s: %s: %s became %s\n", what, x ? x->path : y->path,
				shown(x), shown(y));
		if (repair && x && x->type == S_IFREG)
			write_file(x->path, x->text, x->length);
		else if (repair && !x)
			remove(y->path);
	}
	return differences;
}

/* --- Running the tool --- */

static const char *tool;
static char **arguments;

static char **command(const char *verb, bool with_arguments)
{
	static char *words[64];
	size_t n = 0;

	words[n++] = (char *)(uintptr_t)tool;
	words[n++] = (char *)(uintptr_t)verb;
	for (size_t i = 0; with_arguments && arguments[i] && n < N_ELEMENTS(words) - 1; i++)
		words[n++] = arguments[i];
	words[n] = NULL;
	return words;
}

static void redirect(void)
{
	int out = open("/dev/null", O_RDWR), err;

	err = open("/run/crash-stderr", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
	dup2(out, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
}

static void show_stderr(void)
{
	size_t length;
	char *text = read_file("/run/crash-stderr", &length);

	fwrite(text, 1, length, stderr);
	free(text);
}

/* Without being traced; the status. */
static int run(const char *verb, bool with_arguments)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		die(1, "fork: %s", strerror(errno));
	if (pid == 0) {
		redirect();
		execv(tool, command(verb, with_arguments));
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid)
		die(1, "waitpid: %s", strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define TRACE(name)                                             \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE)

/* Which calls write; openat(2) when it makes or empties a file. Low words first is for little
 * endian; the flags of openat are its third argument. */
static const struct sock_filter filter[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	TRACE(write),
	TRACE(pwrite64),
	TRACE(writev),
	TRACE(pwritev),
	TRACE(pwritev2),
	TRACE(sendto),
	TRACE(recvfrom),
	TRACE(sendmsg),
	TRACE(linkat),
	TRACE(symlinkat),
	TRACE(unlinkat),
	TRACE(mkdirat),
	TRACE(mknodat),
	TRACE(renameat2),
	TRACE(ftruncate),
	TRACE(truncate),
	TRACE(fchmod),
	TRACE(fchmodat),
	TRACE(fchown),
	TRACE(fchownat),
	TRACE(fsync),
	TRACE(fdatasync),
	TRACE(kill),
	TRACE(sched_setaffinity),
	TRACE(setpriority),
	TRACE(mount),
#ifdef __NR_renameat
	TRACE(renameat),
#endif
#ifdef __NR_rename
	TRACE(rename),
	TRACE(link),
	TRACE(symlink),
	TRACE(unlink),
	TRACE(mkdir),
	TRACE(rmdir),
	TRACE(chmod),
	TRACE(chown),
	TRACE(creat),
	TRACE(open),
#endif
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 0, 3),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		offsetof(struct seccomp_data, args[2]) + (__BYTE_ORDER == __BIG_ENDIAN ? 4 : 0)),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY), 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static void become_traced(const char *verb, bool with_arguments)
{
	struct sock_fprog program = {
		.len = N_ELEMENTS(filter),
		.filter = (struct sock_filter *)(uintptr_t)filter,
	};

	redirect();
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(EXIT_SKIP);
	raise(SIGSTOP);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		_exit(EXIT_SKIP);
	execv(tool, command(verb, with_arguments));
	_exit(127);
}

/* A file that was opened with O_TRUNC and not written yet: its text, and how to give it back. */
struct emptied {
	int fd; /* -1: none */
	char *text;
	size_t length;
};

static void forget_emptied(struct emptied *emptied)
{
	if (emptied->fd >= 0)
		close(emptied->fd);
	free(emptied->text);
	*emptied = (struct emptied){ .fd = -1 };
}

static void refill_emptied(struct emptied *emptied)
{
	if (emptied->fd >= 0 &&
		(ftruncate(emptied->fd, 0) < 0 ||
			pwrite(emptied->fd, emptied->text, emptied->length, 0) !=
				(ssize_t)emptied->length))
		die(1, "cannot refill: %s", strerror(errno));
	forget_emptied(emptied);
}

static void remember_emptied(pid_t pid, uint64_t address, struct emptied *emptied)
{
	char path[PATH_MAX] = "";
	struct iovec local = { .iov_base = path, .iov_len = sizeof(path) - 1 };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)address,
		.iov_len = sizeof(path) - 1 };
	ssize_t n;

	forget_emptied(emptied);
	/* The text may end with its page. */
	for (n = -1; n < 0 && remote.iov_len > 16; remote.iov_len /= 2)
		n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
	if (strncmp(path, "/sys/", 5) != 0 && strncmp(path, "/proc/", 6) != 0)
		return;
	emptied->fd = open(path, O_RDWR | O_CLOEXEC);
	if (emptied->fd >= 0)
		emptied->text = read_file(path, &emptied->length);
}

struct outcome {
	unsigned calls; /* that write, which were begun */
	bool killed;
	int status; /* as a shell has it */
};

static int wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, __WALL) != pid)
		die(1, "waitpid: %s", strerror(errno));
	return status;
}

/* Runs the tool and kills it before (or after) its call number kill_at; 0: never. */
static struct outcome run_traced(
	const char *verb, bool with_arguments, unsigned kill_at, bool after)
{
	struct outcome outcome = { 0 };
	struct emptied emptied = { .fd = -1 };
	bool inside = false, is_answer;
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die(1, "fork: %s", strerror(errno));
	if (pid == 0)
		become_traced(verb, with_arguments);
	status = wait_for(pid);
	if (WIFSTOPPED(status) &&
		ptrace(PTRACE_SETOPTIONS, pid, NULL,
			PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD) < 0)
		die(EXIT_SKIP, "cannot trace: %s", strerror(errno));
	while (WIFSTOPPED(status)) {
		int event = status >> 16, signal = WSTOPSIG(status);
		struct __ptrace_syscall_info info;
		long next = 0;

		if (event == PTRACE_EVENT_SECCOMP) {
			if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) < 0)
				die(EXIT_SKIP, "no PTRACE_GET_SYSCALL_INFO: %s", strerror(errno));
			is_answer = info.seccomp.nr == __NR_recvfrom;
			if (!is_answer)
				outcome.calls++;
			if (info.seccomp.nr == __NR_openat && (info.seccomp.args[2] & O_TRUNC))
				remember_emptied(pid, info.seccomp.args[1], &emptied);
			inside = true;
			if (outcome.calls == kill_at && !after && !is_answer) {
				/* Not executed: what it would have emptied is full. */
				outcome.killed = true;
				break;
			}
		} else if (signal == (SIGTRAP | 0x80) && inside) {
			inside = false;
			/* Only a write fills what an open has emptied. */
			if (info.seccomp.nr == __NR_write)
				forget_emptied(&emptied);
			if (outcome.calls == kill_at && after && info.seccomp.nr != __NR_sendto) {
				outcome.killed = true;
				break;
			}
		} else if (event == 0 && signal != SIGSTOP && signal != SIGTRAP &&
			signal != (SIGTRAP | 0x80)) {
			next = signal;
		}
		if (ptrace(inside ? PTRACE_SYSCALL : PTRACE_CONT, pid, NULL, next) < 0)
			die(1, "cannot go on tracing: %s", strerror(errno));
		status = wait_for(pid);
	}
	if (outcome.killed) {
		kill(pid, SIGKILL);
		do
			status = wait_for(pid);
		while (WIFSTOPPED(status));
		refill_emptied(&emptied);
	}
	forget_emptied(&emptied);
	outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	if (!outcome.killed && outcome.status == EXIT_SKIP)
		die(EXIT_SKIP, "the kernel does not let us trace");
	return outcome;
}

/* --- The test --- */

static unsigned failures;

static void fail(const char *what, const char *why, int number)
{
	if (failures++ < MAX_FAILURES_SHOWN) {
		fprintf(stderr, "%s: %s (%d)\n", what, why, number);
		show_stderr();
	}
}

static int visit_left(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	if (where->level == 0 || strcmp(path, "/run/quiesce/lock") == 0)
		return 0;
	fprintf(stderr, "left over: %s\n", path);
	remove(path);
	return 1;
}

static cpu_set_t own_cpus;

static bool has_own_cpus(void)
{
	cpu_set_t now;

	if (sched_getaffinity(0, sizeof(now), &now) < 0)
		die(1, "cannot read which CPUs are our own: %s", strerror(errno));
	if (CPU_EQUAL(&now, &own_cpus))
		return true;
	sched_setaffinity(0, sizeof(own_cpus), &own_cpus);
	return false;
}

static void check_tree(const char *directory, const struct tree *wanted, bool end, const char *what)
{
	struct tree tree;
	unsigned n;

	read_tree(directory, &tree);
	n = compare_trees(wanted, &tree, end, what);
	free_tree(&tree);
	if (n > 0)
		fail(what, "files differ", (int)n);
	if (!end)
		return;
	if (!has_own_cpus())
		fail(what, "the CPUs of this program changed", 0);
	n = 0;
	while (nftw("/run/quiesce", visit_left, 4, FTW_PHYS | FTW_DEPTH) == 1)
		n++;
	if (n > 0)
		fail(what, "something is left over in /run/quiesce", (int)n);
}

static void run_well(const char *verb, bool with_arguments, const char *what)
{
	int status = run(verb, with_arguments);

	if (status != 0)
		fail(what, verb, status);
}

int main(int argc, char *argv[])
{
	const char *mode, *directory;
	bool killing_restore, again;
	struct tree before, applied;
	struct outcome whole;
	unsigned kills = 0;
	char what[64];

	if (argc < 4 ||
		(strcmp(argv[1], "apply") != 0 && strcmp(argv[1], "again") != 0 &&
			strcmp(argv[1], "restore") != 0))
		die(EXIT_BAD_USAGE,
			"usage: crash apply|again|restore DIRECTORY TOOL [ARGUMENT...]");
	mode = argv[1];
	directory = argv[2];
	tool = argv[3];
	arguments = argv + 4;
	again = strcmp(mode, "again") == 0;
	killing_restore = strcmp(mode, "restore") == 0;

	/* A run that nobody kills: how many calls there are, and what it comes to. */
	read_tree(directory, &before);
	known = &before;
	if (sched_getaffinity(0, sizeof(own_cpus), &own_cpus) < 0)
		die(1, "cannot read which CPUs are our own: %s", strerror(errno));
	whole = run_traced("apply", true, 0, false);
	if (whole.status != 0) {
		show_stderr();
		die(1, "apply: status %d", whole.status);
	}
	read_tree(directory, &applied);
	if (killing_restore)
		whole = run_traced("restore", false, 0, false);
	else
		run_well("restore", false, "at first");
	check_tree(directory, &before, true, "at first");

	for (unsigned call = 1; call <= whole.calls; call++) {
		for (int after = 0; after <= 1; after++) {
			struct outcome outcome;

			snprintf(what, sizeof(what), "%s killed %s write %u of %u",
				killing_restore ? "restore" : "apply", after ? "after" : "before",
				call, whole.calls);
			if (killing_restore)
				run_well("apply", true, what);
			outcome = run_traced(killing_restore ? "restore" : "apply",
				!killing_restore, call, after);
			if (!outcome.killed)
				fail(what, "it had ended before", outcome.status);
			else
				kills++;
			if (again) {
				run_well("apply", true, what);
				check_tree(directory, &applied, false, what);
			}
			run_well("restore", false, what);
			check_tree(directory, &before, true, what);
		}
	}
	printf("%u %u %u\n", whole.calls, kills, failures);
	free_tree(&before);
	free_tree(&applied);
	return failures > 0;
}
