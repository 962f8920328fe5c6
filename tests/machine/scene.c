// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "scene.h"

enum {
	MAX_FAILURES_SHOWN = 10,
	ORPHAN_STEPS = 60 * 1000, /* of a millisecond */
};

void die(int status, const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(status);
}

/* --- The machine's files --- */

static struct tree *walked; /* nftw(3) has no argument to pass on */

char *read_file(const char *path, size_t *ret_length)
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

void write_file(const char *path, const char *text, size_t length)
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

/* What is there, without its path. */
static struct entry read_entry(const char *path, const struct stat *st)
{
	struct entry entry = { .type = st->st_mode & S_IFMT };
	char target[PATH_MAX];
	ssize_t n;

	if (S_ISREG(st->st_mode)) {
		entry.text = read_file(path, &entry.length);
	} else if (S_ISLNK(st->st_mode)) {
		n = readlink(path, target, sizeof(target));
		if (n < 0)
			die(1, "%s: %s", path, strerror(errno));
		entry.text = strndup(target, (size_t)n);
		entry.length = (size_t)n;
	}
	return entry;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *where)
{
	struct tree *tree = walked;
	struct entry *entry;

	(void)type;
	(void)where;
	if (tree->n == tree->capacity) {
		tree->capacity = tree->capacity ? tree->capacity * 2 : 1024;
		tree->entries = realloc(tree->entries, tree->capacity * sizeof(*tree->entries));
	}
	entry = &tree->entries[tree->n++];
	*entry = read_entry(path, st);
	entry->path = strdup(path);
	return 0;
}

static void walk(const char *directory,
	int (*function)(const char *, const struct stat *, int, struct FTW *))
{
	static const char *const tops[] = { "sys", "proc" };
	char path[PATH_MAX];

	for (size_t i = 0; i < N_ELEMENTS(tops); i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, tops[i]);
		if (nftw(path, function, 16, FTW_PHYS) != 0 && errno != ENOENT)
			die(1, "cannot walk %s: %s", path, strerror(errno));
	}
}

void read_tree(const char *directory, struct tree *tree)
{
	*tree = (struct tree){ 0 };
	walked = tree;
	walk(directory, visit);
	qsort(tree->entries, tree->n, sizeof(*tree->entries), compare_entries);
}

void free_tree(struct tree *tree)
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

/* --- What was touched --- */

/*
 * A campaign asks tens of thousands of times whether all files are as they were, of which a case
 * touches a few. So the kernel is asked which these are, by inotify(7). A path that was touched
 * once is looked at for ever, because it may differ in one of the trees from what it is now.
 */
static struct {
	int fd;
	char **folders; /* [watch descriptor] */
	size_t n_folders;
	char **paths; /* sorted */
	size_t n;
	bool lost; /* the kernel had to drop something */
} touched = { .fd = -1 };

static int watch(const char *path, const struct stat *st, int type, struct FTW *where)
{
	const uint32_t mask =
		IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;
	size_t at;
	int wd;

	(void)type;
	(void)where;
	if (!S_ISDIR(st->st_mode))
		return 0;
	wd = inotify_add_watch(touched.fd, path, mask | IN_ONLYDIR | IN_DONT_FOLLOW);
	if (wd < 0)
		die(1, "cannot watch %s: %s", path, strerror(errno));
	at = (size_t)wd;
	if (at >= touched.n_folders) {
		touched.folders = realloc(touched.folders, (at + 1) * sizeof(*touched.folders));
		memset(touched.folders + touched.n_folders, 0,
			(at + 1 - touched.n_folders) * sizeof(*touched.folders));
		touched.n_folders = at + 1;
	}
	touched.folders[at] = strdup(path);
	return 0;
}

void watch_tree(const char *directory)
{
	touched.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (touched.fd < 0)
		die(1, "cannot watch files: %s", strerror(errno));
	walk(directory, watch);
}

static void note_touched(const char *path)
{
	size_t low = 0, high = touched.n;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(touched.paths[middle], path);

		if (order == 0)
			return;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	touched.paths = realloc(touched.paths, (touched.n + 1) * sizeof(*touched.paths));
	memmove(touched.paths + low + 1, touched.paths + low,
		(touched.n - low) * sizeof(*touched.paths));
	touched.paths[low] = strdup(path);
	touched.n++;
}

static void update_touched(void)
{
	char events[1 << 16] __attribute__((aligned(__alignof__(struct inotify_event))));
	char path[PATH_MAX];
	ssize_t n;

	while ((n = read(touched.fd, events, sizeof(events))) > 0) {
		const struct inotify_event *event;

		for (ssize_t at = 0; at < n; at += (ssize_t)(sizeof(*event) + event->len)) {
			event = (const void *)(events + at);
			if (event->mask & IN_Q_OVERFLOW)
				touched.lost = true;
			if (event->wd < 0 || event->len == 0)
				continue;
			snprintf(path, sizeof(path), "%s/%s", touched.folders[event->wd],
				event->name);
			note_touched(path);
		}
	}
	if (n < 0 && errno != EAGAIN)
		die(1, "cannot read which files were touched: %s", strerror(errno));
}

/* Where in a tree the entry with this path is; the tree's size: nowhere. */
static size_t find_entry(const struct tree *tree, const char *path)
{
	const struct entry wanted = { .path = (char *)(uintptr_t)path };
	const struct entry *found =
		bsearch(&wanted, tree->entries, tree->n, sizeof(wanted), compare_entries);

	return found ? (size_t)(found - tree->entries) : tree->n;
}

/* The next entry below a folder, from entry `at` on; the tree's size: there is none. What is below
 * a folder comes behind it, among others whose names begin like the folder's and go on with a
 * character before '/'. */
static size_t find_below(const struct tree *tree, const char *folder, size_t at)
{
	size_t length = strlen(folder);

	for (; at < tree->n && strncmp(tree->entries[at].path, folder, length) == 0; at++) {
		if (tree->entries[at].path[length] == '/')
			return at;
	}
	return tree->n;
}

/* Whether a folder holds as many names as in the tree. Each name of the tree is looked at as well,
 * so that the same number means the same names. */
static bool has_known_children(const struct tree *tree, size_t at)
{
	const char *path = tree->entries[at].path;
	DIR *folder = opendir(path);
	size_t n = 0;

	if (!folder)
		die(1, "cannot list %s: %s", path, strerror(errno));
	for (const struct dirent *entry; (entry = readdir(folder));)
		n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(folder);
	for (size_t i = at + 1; (i = find_below(tree, path, i)) < tree->n; i++)
		n -= !strchr(tree->entries[i].path + strlen(path) + 1, '/');
	return n == 0;
}

static bool is_entry_as_found(const struct tree *tree, size_t at)
{
	const struct entry *old = &tree->entries[at];
	struct entry now;
	struct stat st;
	bool same;

	if (lstat(old->path, &st) < 0)
		return false;
	now = read_entry(old->path, &st);
	same = same_entry(old, &now) && (!S_ISDIR(st.st_mode) || has_known_children(tree, at));
	free(now.text);
	return same;
}

static bool is_path_as_found(const struct tree *tree, const char *path)
{
	size_t at = find_entry(tree, path);
	struct stat st;

	if (at == tree->n)
		return lstat(path, &st) < 0;
	if (!is_entry_as_found(tree, at))
		return false;
	/* A folder that was moved, or made anew: what is in it was not watched by this name. */
	for (size_t i = at + 1; (i = find_below(tree, path, i)) < tree->n; i++) {
		if (!is_entry_as_found(tree, i))
			return false;
	}
	return true;
}

/* Whether all that was ever touched is as a walk found it. */
static bool is_as_found(const struct tree *tree)
{
	update_touched();
	for (size_t i = 0; i < touched.n; i++) {
		if (!is_path_as_found(tree, touched.paths[i]))
			return false;
	}
	return !touched.lost;
}

void prove_watch(const struct tree *before, const struct tree *after)
{
	bool same = before->n == after->n;

	for (size_t i = 0; same && i < before->n; i++)
		same = compare_entries(&before->entries[i], &after->entries[i]) == 0 &&
			same_entry(&before->entries[i], &after->entries[i]);
	if (!same && is_as_found(before))
		die(1, "the kernel does not tell which files are touched");
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
unsigned compare_trees(
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

const char *tool;
char **arguments;

char **command(const char *verb, bool with_arguments)
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

void redirect(void)
{
	const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC;

	dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
	dup2(open(OUTPUT_FILE, flags, 0644), STDOUT_FILENO);
	dup2(open(ERROR_FILE, flags, 0644), STDERR_FILENO);
}

static void show_stderr(void)
{
	size_t length;
	char *text = read_file(ERROR_FILE, &length);

	fwrite(text, 1, length, stderr);
	free(text);
}

/* Without being traced; the status. Spawned, not forked: that does not copy the tables of our
 * memory, which holds trees of files. */
void adopt_orphans(void)
{
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		die(1, "cannot become the parent of orphans: %s", strerror(errno));
}

void reap_orphans(void)
{
	const struct timespec step = { .tv_nsec = 1000 * 1000 };

	for (unsigned steps = 0;; steps++) {
		pid_t pid = waitpid(-1, NULL, WNOHANG);

		if (pid < 0 && errno == ECHILD)
			return;
		if (pid != 0)
			continue;
		if (steps > ORPHAN_STEPS)
			die(1, "a process outlives the setter that started it");
		nanosleep(&step, NULL);
	}
}

int run(const char *verb, bool with_arguments)
{
	const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND;
	posix_spawn_file_actions_t files;
	int status, error;
	pid_t pid;

	if (posix_spawn_file_actions_init(&files) != 0 ||
		posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0) !=
			0 ||
		posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, OUTPUT_FILE, flags, 0644) !=
			0 ||
		posix_spawn_file_actions_addopen(&files, STDERR_FILENO, ERROR_FILE, flags, 0644) !=
			0)
		die(1, "no memory");
	error = posix_spawn(&pid, tool, &files, NULL, command(verb, with_arguments), environ);
	posix_spawn_file_actions_destroy(&files);
	if (error != 0)
		die(1, "%s: %s", tool, strerror(error));
	if (waitpid(pid, &status, 0) != pid)
		die(1, "waitpid: %s", strerror(errno));
	reap_orphans();
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* --- What is wrong --- */

unsigned failures;

void fail(const char *what, const char *why, int number)
{
	if (failures++ < MAX_FAILURES_SHOWN) {
		fprintf(stderr, "%s: %s (%d)\n", what, why, number);
		show_stderr();
	}
}

static bool is_lock(const char *path)
{
	return strcmp(path, "/run/quiesce/lock") == 0;
}

static int find_left(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	return where->level > 0 && !is_lock(path);
}

bool is_run_directory_empty(void)
{
	return nftw("/run/quiesce", find_left, 4, FTW_PHYS) == 0;
}

static int visit_left(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	if (where->level == 0 || is_lock(path))
		return 0;
	fprintf(stderr, "left over: %s\n", path);
	remove(path);
	return 1;
}

static cpu_set_t own_cpus;

void note_own_cpus(void)
{
	if (sched_getaffinity(0, sizeof(own_cpus), &own_cpus) < 0)
		die(1, "cannot read which CPUs are our own: %s", strerror(errno));
}

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

void check_tree(const char *directory, const struct tree *wanted, bool end, const char *what)
{
	struct tree tree;
	unsigned n;

	if (!is_as_found(wanted)) {
		read_tree(directory, &tree);
		n = compare_trees(wanted, &tree, end, what);
		free_tree(&tree);
		if (n > 0)
			fail(what, "files differ", (int)n);
	}
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

void run_well(const char *verb, bool with_arguments, const char *what)
{
	int status = run(verb, with_arguments);

	if (status != 0)
		fail(what, verb, status);
}
