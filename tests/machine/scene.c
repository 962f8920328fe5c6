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
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "scene.h"

enum {
	MAX_FAILURES_SHOWN = 10,
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
const struct tree *known;

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

/* Whether nobody has touched it since the walk that found it: read_tree() sees to it that a later
 * write has a later time. */
static bool is_untouched(const struct entry *old, const struct stat *st)
{
	return old->type == (st->st_mode & S_IFMT) && old->inode == st->st_ino &&
		(old->type != S_IFREG || old->length == (size_t)st->st_size) &&
		old->changed.tv_sec == st->st_ctim.tv_sec &&
		old->changed.tv_nsec == st->st_ctim.tv_nsec;
}

/* The file as the first walk found it, if nobody has touched it since. */
static const struct entry *find_untouched(const struct entry *entry, const struct stat *st)
{
	const struct entry *old;

	if (!known)
		return NULL;
	old = bsearch(entry, known->entries, known->n, sizeof(*entry), compare_entries);
	return old && is_untouched(old, st) ? old : NULL;
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

void read_tree(const char *directory, struct tree *tree)
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
	/* Whatever is written from now on has a later time, of which a kernel may keep no more than
	 * its ticks. */
	nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
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

/* How many entries of a tree are in the folder that is entry `at` of it. What is below a folder
 * comes behind it, among others whose names begin like its own and go on with a character before
 * '/'. */
static size_t count_known_children(const struct tree *tree, size_t at)
{
	const char *path = tree->entries[at].path;
	size_t length = strlen(path), n = 0;

	for (size_t i = at + 1; i < tree->n; i++) {
		const char *other = tree->entries[i].path;

		if (strncmp(other, path, length) != 0 || other[length] > '/')
			break;
		n += other[length] == '/' && !strchr(other + length + 1, '/');
	}
	return n;
}

static size_t count_children(const char *path)
{
	DIR *folder = opendir(path);
	size_t n = 0;

	if (!folder)
		die(1, "cannot list %s: %s", path, strerror(errno));
	for (const struct dirent *entry; (entry = readdir(folder));)
		n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(folder);
	return n;
}

/* Whether an entry of a tree, which somebody has touched since, is the same again. */
static bool is_same_again(const struct tree *tree, size_t at, const struct stat *st)
{
	const struct entry *old = &tree->entries[at];
	struct entry now = *old;
	bool same;

	if (old->type != (st->st_mode & S_IFMT))
		return false;
	/* All that was there is asked for as well, so the same number is the same names. */
	if (S_ISDIR(st->st_mode))
		return count_children(old->path) == count_known_children(tree, at);
	if (!S_ISREG(st->st_mode))
		return false;
	now.text = read_file(old->path, &now.length);
	same = same_entry(old, &now);
	free(now.text);
	return same;
}

/* Whether everything is as a walk found it: a look at each entry, and into what was touched since.
 */
static bool is_as_found(const struct tree *tree)
{
	for (size_t i = 0; i < tree->n; i++) {
		const struct entry *old = &tree->entries[i];
		struct stat st;

		if (lstat(old->path, &st) < 0)
			return false;
		if (!is_untouched(old, &st) && !is_same_again(tree, i, &st))
			return false;
	}
	return true;
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
