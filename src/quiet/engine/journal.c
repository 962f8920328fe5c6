// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/where/bootid.h"
#include "quiet/engine/journal.h"

enum {
	JOURNAL_MAX = 64 * 1024 * 1024,
	GROUP_MAX = 100000, /* smt-off has one for each CPU */
	CHECKSUM_DIGITS = 16,
};

#define MAGIC "quiesce journal 2"
#define UNKNOWN "\\?"
/* What the line of an entry begins with. */
static const char *const role_words[] = {
	[JOURNAL_TURNED] = "knob",
	[JOURNAL_SAME] = "same",
	[JOURNAL_KEPT] = "kept",
};
/* What it ends with. */
#define FREE "free"
#define LEFT "left"
#define WAITS "waits"

int journal_new(const char *tool, struct journal **ret)
{
	struct journal *journal = calloc(1, sizeof(*journal));

	if (!journal)
		return -ENOMEM;
	journal->tool = strdup(tool);
	if (!journal->tool) {
		free(journal);
		return -ENOMEM;
	}
	*ret = journal;
	return 0;
}

static void entry_clear(struct journal_entry *entry)
{
	free(entry->path);
	free(entry->name);
	free(entry->old);
	free(entry->new);
}

void journal_free(struct journal *journal)
{
	if (!journal)
		return;
	for (size_t i = 0; i < journal->n; i++)
		entry_clear(&journal->entries[i]);
	free(journal->entries);
	free(journal->by_path);
	free(journal->tool);
	free(journal->online);
	free(journal);
}

static int compare_by_path(const void *a, const void *b, void *entries)
{
	const struct journal_entry *e = entries;

	return strcmp(e[*(const size_t *)a].path, e[*(const size_t *)b].path);
}

static void sort_by_path(struct journal *journal)
{
	if (journal->is_sorted || journal->n == 0)
		return;
	for (size_t i = 0; i < journal->n; i++)
		journal->by_path[i] = i;
	qsort_r(journal->by_path, journal->n, sizeof(*journal->by_path), compare_by_path,
		journal->entries);
	journal->is_sorted = true;
}

/* The position of a path in the index, or where it would be inserted. */
static size_t index_position(const struct journal *journal, const char *path)
{
	size_t low = 0, high = journal->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(journal->entries[journal->by_path[middle]].path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int grow(struct journal *journal)
{
	size_t capacity = journal->capacity;
	int r;

	/* Both arrays have room for as many as the smaller one. */
	r = array_grow(&journal->entries, sizeof(*journal->entries), journal->n, &capacity);
	if (r < 0)
		return r;
	return array_grow(
		&journal->by_path, sizeof(*journal->by_path), journal->n, &journal->capacity);
}

int journal_add_copy(struct journal *journal, const struct journal_entry *entry)
{
	struct journal_entry copy = *entry;

	copy.path = strdup(entry->path);
	copy.name = strdup(entry->name);
	copy.old = strdup(entry->old);
	copy.new = entry->new ? strdup(entry->new) : NULL;
	if (!copy.path || !copy.name || !copy.old || (entry->new && !copy.new) ||
		grow(journal) < 0) {
		entry_clear(&copy);
		return -ENOMEM;
	}
	if (journal->is_sorted) {
		size_t at = index_position(journal, copy.path);

		memmove(journal->by_path + at + 1, journal->by_path + at,
			(journal->n - at) * sizeof(*journal->by_path));
		journal->by_path[at] = journal->n;
	}
	journal->entries[journal->n++] = copy;
	return 0;
}

int journal_add(struct journal *journal, unsigned group, enum knob_kind kind, const char *path,
	const char *name, const char *old, const char *new)
{
	return journal_add_copy(journal,
		&(struct journal_entry){
			.group = group,
			.since = (uint64_t)clock_now_ns(CLOCK_BOOTTIME),
			.kind = kind,
			.path = (char *)path,
			.name = (char *)name,
			.old = (char *)old,
			.new = (char *)new,
		});
}

int journal_set_old(struct journal_entry *entry, const char *old)
{
	int r = text_replace(&entry->old, old);

	if (r == 0)
		entry->since = (uint64_t)clock_now_ns(CLOCK_BOOTTIME);
	return r;
}

struct journal_entry *journal_find(struct journal *journal, const char *path)
{
	struct journal_entry *entry;
	size_t at;

	sort_by_path(journal);
	at = index_position(journal, path);
	if (at == journal->n)
		return NULL;
	entry = &journal->entries[journal->by_path[at]];
	return strcmp(entry->path, path) == 0 ? entry : NULL;
}

const struct journal_entry *journal_find_ours(struct journal *journal, const char *path)
{
	const struct journal_entry *entry = journal ? journal_find(journal, path) : NULL;

	return entry && !entry->left_alone ? entry : NULL;
}

struct ranked {
	struct journal_entry entry;
	unsigned rank;
	size_t index;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

int journal_sort(struct journal *journal, unsigned (*rank)(const char *path))
{
	struct ranked *ranked = calloc(journal->n + 1, sizeof(*ranked));

	if (!ranked)
		return -ENOMEM;
	for (size_t i = 0; i < journal->n; i++)
		ranked[i] = (struct ranked){
			.entry = journal->entries[i],
			.rank = rank(journal->entries[i].path),
			.index = i,
		};
	qsort(ranked, journal->n, sizeof(*ranked), compare_ranked);
	for (size_t i = 0; i < journal->n; i++)
		journal->entries[i] = ranked[i].entry;
	free(ranked);
	journal->is_sorted = false;
	return 0;
}

void journal_drop(struct journal *journal)
{
	size_t n = 0;

	for (size_t i = 0; i < journal->n; i++) {
		if (journal->entries[i].drop)
			entry_clear(&journal->entries[i]);
		else
			journal->entries[n++] = journal->entries[i];
	}
	if (n < journal->n)
		journal->is_sorted = false;
	journal->n = n;
}

int journal_copy(const struct journal *journal, struct journal **ret)
{
	_cleanup_(journal) struct journal *copy = NULL;
	int r;

	r = journal_new(journal->tool, &copy);
	if (r == 0)
		r = text_replace(&copy->online, journal->online);
	for (size_t i = 0; r == 0 && i < journal->n; i++)
		r = journal_add_copy(copy, &journal->entries[i]);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(copy);
	return 0;
}

static bool has_dot_dot(const char *path)
{
	for (const char *found = strstr(path, "/.."); found; found = strstr(found + 1, "/.."))
		if (found[3] == '/' || found[3] == '\0')
			return true;
	return false;
}

bool journal_path_is_cpuset(const char *path)
{
	static const char *const files[] = { "/cpuset.cpus", "/cpus" };
	const char *name = path[0] == '/' ? strrchr(path, '/') : "";

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (strcmp(name, files[i]) == 0)
			return true;
	return false;
}

bool journal_path_is_ours(const char *path)
{
	static const char *const places[] = { "/sys/", "/proc/sys/", "/proc/irq/" };
	size_t scheme = strspn(path, "abcdefghijklmnopqrstuvwxyz-");

	if (path[0] != '/')
		return scheme > 0 && path[scheme] == ':' && path[scheme + 1] != '\0';
	if (has_dot_dot(path))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (text_starts_with(path, places[i]))
			return true;
	return journal_path_is_cpuset(path);
}

static void append_field(struct text *t, const char *field)
{
	text_append(t, "\t");
	while (*field) {
		size_t n = strcspn(field, "\t\n\\");

		text_append_n(t, field, n);
		field += n;
		if (!*field)
			break;
		text_append(t, *field == '\t' ? "\\t" : *field == '\n' ? "\\n" : "\\\\");
		field++;
	}
}

char *journal_format(const struct journal *journal, const char *boot_id)
{
	_cleanup_text_ struct text t = { 0 };

	text_append(&t, MAGIC "\n");
	text_appendf(&t, "boot\t%s\n", boot_id);
	text_appendf(&t, "tool\t%s\n", journal->tool);
	if (journal->online)
		text_appendf(&t, "online\t%s\n", journal->online);
	for (size_t i = 0; i < journal->n; i++) {
		const struct journal_entry *e = &journal->entries[i];

		text_appendf(&t, "%s\t%u\t%" PRIu64 "\t%s", role_words[e->role], e->group, e->since,
			knob_kind_name(e->kind));
		append_field(&t, e->path);
		append_field(&t, e->name);
		append_field(&t, e->old);
		if (e->new)
			append_field(&t, e->new);
		else
			text_append(&t, "\t" UNKNOWN);
		if (e->free)
			text_append(&t, "\t" FREE);
		if (e->left_alone || e->waits_for_cpu)
			text_append(&t, e->left_alone ? "\t" LEFT : "\t" WAITS);
		text_append(&t, "\n");
	}
	text_appendf(&t, "end\t%zu\t", journal->n);
	if (t.data)
		text_appendf(&t, "%0*" PRIx64 "\n", CHECKSUM_DIGITS,
			hash_bytes(HASH_START, t.data, t.length));
	return text_steal(&t);
}

/* Undoes append_field() in place. */
static bool unescape(char *field)
{
	char *out = field;

	for (; *field; field++) {
		if (*field != '\\') {
			*out++ = *field;
			continue;
		}
		field++;
		if (*field == 't')
			*out++ = '\t';
		else if (*field == 'n')
			*out++ = '\n';
		else if (*field == '\\')
			*out++ = '\\';
		else
			return false;
	}
	*out = '\0';
	return true;
}

static bool parse_role(const char *word, enum journal_role *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(role_words); i++) {
		if (strcmp(word, role_words[i]) == 0) {
			*ret = (enum journal_role)i;
			return true;
		}
	}
	return false;
}

/* Parses a line of the body, which is modified. */
static int parse_knob_line(struct journal *journal, char *line)
{
	enum {
		WORD,
		GROUP,
		SINCE,
		KIND,
		PATH,
		NAME,
		OLD,
		NEW,
		N_FIELDS
	};
	struct journal_entry entry = { 0 };
	char *fields[N_FIELDS];
	bool known;

	for (size_t i = 0; i < N_FIELDS; i++) {
		fields[i] = strsep(&line, "\t");
		if (!fields[i])
			return -EBADMSG;
	}
	if (line && (strcmp(line, FREE) == 0 || text_starts_with(line, FREE "\t"))) {
		entry.free = true;
		(void)strsep(&line, "\t");
	}
	entry.left_alone = line && strcmp(line, LEFT) == 0;
	entry.waits_for_cpu = line && strcmp(line, WAITS) == 0;
	if ((line && !entry.left_alone && !entry.waits_for_cpu) ||
		!parse_role(fields[WORD], &entry.role) ||
		parse_uint(fields[GROUP], 0, GROUP_MAX, &entry.group) < 0 ||
		parse_u64(fields[SINCE], 0, UINT64_MAX, &entry.since) < 0 ||
		knob_kind_parse(fields[KIND], &entry.kind) < 0)
		return -EBADMSG;
	known = strcmp(fields[NEW], UNKNOWN) != 0;
	if (!unescape(fields[PATH]) || !unescape(fields[NAME]) || !unescape(fields[OLD]) ||
		(known && !unescape(fields[NEW])) || !journal_path_is_ours(fields[PATH]))
		return -EBADMSG;
	entry.path = fields[PATH];
	entry.name = fields[NAME];
	entry.old = fields[OLD];
	entry.new = known ? fields[NEW] : NULL;
	return journal_add_copy(journal, &entry);
}

/* Parses the line `online` if the text begins with it, and moves *text behind it. */
static int parse_online_line(struct journal *journal, char **text, size_t *ret_line)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	const char *list;

	if (!text_starts_with(*text, "online\t"))
		return 0;
	++*ret_line;
	list = strsep(text, "\n") + strlen("online\t");
	if (cpumask_new(&cpus) < 0)
		return -ENOMEM;
	if (!*text || cpumask_parse_list(list, 0, cpus, NULL) < 0 || cpumask_is_empty(cpus))
		return -EBADMSG;
	return text_replace(&journal->online, list);
}

/* Whether the last line is "COUNT\tCHECKSUM" with a newline and nothing after it. */
static bool is_end(const char *count_and_sum, const char *behind, size_t n, uint64_t checksum)
{
	char wanted[64];

	snprintf(wanted, sizeof(wanted), "%zu\t%0*" PRIx64, n, CHECKSUM_DIGITS, checksum);
	return behind && !*behind && strcmp(count_and_sum, wanted) == 0;
}

/* Parses every line after the first three (or four), including the last. */
static int parse_body(
	struct journal *journal, char *text, uint64_t checksum, size_t *ret_line, bool *ret_ended)
{
	char *line;

	while ((line = strsep(&text, "\n")) && (*line || text)) {
		int r;

		++*ret_line;
		if (text_starts_with(line, "end\t")) {
			*ret_ended = is_end(line + strlen("end\t"), text, journal->n, checksum);
			return *ret_ended ? 0 : -EBADMSG;
		}
		r = parse_knob_line(journal, line);
		if (r < 0)
			return r;
	}
	return 0;
}

/* A path that two entries have; NULL when there is none. */
static const char *find_duplicate(struct journal *journal)
{
	sort_by_path(journal);
	for (size_t i = 1; i < journal->n; i++) {
		const char *path = journal->entries[journal->by_path[i]].path;

		if (strcmp(journal->entries[journal->by_path[i - 1]].path, path) == 0)
			return path;
	}
	return NULL;
}

/* The checksum of everything before the last field; 0 for a text without fields. */
static uint64_t find_checksum(const char *text)
{
	const char *tab = strrchr(text, '\t');

	return tab ? hash_bytes(HASH_START, text, (size_t)(tab + 1 - text)) : 0;
}

int journal_parse(const char *text, const char *tool, const char *boot_id, struct journal **ret,
	char **ret_why)
{
	_cleanup_(journal) struct journal *journal = NULL;
	_cleanup_free_ char *copy = strdup(text);
	char *cursor = copy, *line, *boot;
	const char *twice;
	size_t number = 3;
	bool ended = false;
	int r;

	if (!copy)
		return -ENOMEM;
	line = strsep(&cursor, "\n");
	if (strcmp(line, MAGIC) != 0)
		return text_starts_with(line, "quiesce journal ")
			? text_refuse(ret_why, -EBADMSG,
				  "it is of another version of quiesce (%.60s)", line)
			: text_refuse(ret_why, -EBADMSG, "it is no journal of quiesce");
	boot = cursor ? strsep(&cursor, "\n") : NULL;
	if (!boot || !text_starts_with(boot, "boot\t"))
		return text_refuse(ret_why, -EBADMSG, "line 2 is damaged");
	line = cursor ? strsep(&cursor, "\n") : NULL;
	if (!line || !text_starts_with(line, "tool\t"))
		return text_refuse(ret_why, -EBADMSG, "line 3 is damaged");
	if (strcmp(line + strlen("tool\t"), tool) != 0)
		return text_refuse(
			ret_why, -EBADMSG, "it belongs to %.60s", line + strlen("tool\t"));
	r = journal_new(tool, &journal);
	if (r < 0)
		return r;
	if (cursor)
		r = parse_online_line(journal, &cursor, &number);
	if (r == 0 && cursor)
		r = parse_body(journal, cursor, find_checksum(text), &number, &ended);
	if (r == -EBADMSG)
		return text_refuse(ret_why, -EBADMSG, "line %zu is damaged", number);
	if (r < 0)
		return r;
	if (!ended)
		return text_refuse(ret_why, -EBADMSG, "its end is missing");
	twice = find_duplicate(journal);
	if (twice)
		return text_refuse(ret_why, -EBADMSG, "it has %.200s twice", twice);
	/* Only an intact journal may be discarded: a damaged boot id also differs from this boot's
	 * id. */
	if (strcmp(boot + strlen("boot\t"), boot_id) != 0)
		return -ESTALE;
	*ret = TAKE_PTR(journal);
	return 0;
}

/* NULL: that of root. */
static char *own_directory;

const char *journal_directory(void)
{
	return own_directory ? own_directory : JOURNAL_DIRECTORY;
}

bool journal_is_own(void)
{
	return own_directory;
}

void journal_use_root_directory(void)
{
	free(TAKE_PTR(own_directory));
}

int journal_use_own_directory(void)
{
	const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
	struct stat st;
	char *path;

	if (own_directory)
		return 0;
	if (!runtime || runtime[0] != '/' || lstat(runtime, &st) < 0 || !S_ISDIR(st.st_mode))
		return -ENOENT;
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return -EPERM;
	if (asprintf(&path, "%s/quiesce", runtime) < 0)
		return -ENOMEM;
	own_directory = path;
	return 0;
}

char *journal_format_path(const char *tool)
{
	char *path;

	return asprintf(&path, "%s/%s.journal", journal_directory(), tool) < 0 ? NULL : path;
}

bool journal_exists(const char *tool)
{
	_cleanup_free_ char *path = journal_format_path(tool);

	return !path || access(path, F_OK) == 0 || errno != ENOENT;
}

int journal_read(const char *tool, struct journal **ret, char **ret_why)
{
	_cleanup_free_ char *path = journal_format_path(tool), *text = NULL;
	char boot_id[BOOTID_SIZE];
	size_t length;
	int r;

	if (!path)
		return -ENOMEM;
	r = file_read_all(path, JOURNAL_MAX, &text, &length);
	if (r < 0)
		return r;
	if (strlen(text) != length)
		return text_refuse(ret_why, -EBADMSG, "it holds a NUL byte");
	r = bootid_read(boot_id);
	if (r < 0)
		return r;
	return journal_parse(text, tool, boot_id, ret, ret_why);
}

/* --- The file. --- */

int journal_load(const char *tool, struct journal **ret, char **ret_why)
{
	int r = journal_read(tool, ret, ret_why);

	return r == -ESTALE ? -ENOENT : r;
}

bool journal_error_counts(int r)
{
	return r < 0 && r != -ENOENT && r != -EBADMSG;
}

/* Opens the directory of the journals and creates it if necessary. Only root may write there,
 * because root writes the values in the journals to the machine. */
int journal_open_directory(void)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;

	if (mkdir(journal_directory(), 0755) < 0 && errno != EEXIST)
		return -errno;
	fd = open(journal_directory(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return -EPERM;
	/* Independent of the umask: everybody may run `status`. */
	if ((st.st_mode & 0755) != 0755 && fchmod(fd, 0755) < 0)
		return -errno;
	return TAKE_FD(fd);
}

int journal_write_file(const char *path, const char *text)
{
	_cleanup_(file_replace) struct file_replace *file = NULL;
	_cleanup_close_ int directory = journal_open_directory();
	FILE *stream;
	int r;

	if (directory < 0)
		return directory;
	r = file_replace_begin(path, &file);
	if (r < 0)
		return r;
	stream = file_replace_stream(file);
	if (fchmod(fileno(stream), 0644) < 0)
		return -errno;
	errno = 0;
	if (fputs(text, stream) == EOF)
		return errno > 0 ? -errno : -EIO;
	return file_replace_commit(TAKE_PTR(file));
}

int journal_save(const struct journal *journal)
{
	_cleanup_free_ char *path = journal_format_path(journal->tool), *text = NULL;
	char boot_id[BOOTID_SIZE];
	int r;

	r = bootid_read(boot_id);
	if (r < 0)
		return r;
	text = journal_format(journal, boot_id);
	if (!path || !text)
		return -ENOMEM;
	return strlen(text) > JOURNAL_MAX ? -EFBIG : journal_write_file(path, text);
}

/* Removes the temporary files that killed writers have left (named as in base/file.c). Nobody else
 * writes one while we hold the lock. */
static void remove_temporary_files(const char *tool)
{
	_cleanup_free_ char *prefix = NULL;
	DIR *directory;
	const struct dirent *entry;

	if (asprintf(&prefix, ".%s.journal.", tool) < 0) {
		prefix = NULL;
		return;
	}
	directory = opendir(journal_directory());
	if (!directory)
		return;
	while ((entry = readdir(directory))) {
		if (text_starts_with(entry->d_name, prefix))
			(void)unlinkat(dirfd(directory), entry->d_name, 0);
	}
	closedir(directory);
}

int journal_remove(const char *tool)
{
	_cleanup_free_ char *path = journal_format_path(tool);

	if (!path)
		return -ENOMEM;
	if (unlink(path) < 0 && errno != ENOENT)
		return -errno;
	remove_temporary_files(tool);
	return 0;
}

int journal_lock(unsigned seconds)
{
	_cleanup_close_ int directory = journal_open_directory(), fd = -EBADF;
	int r;

	if (directory < 0)
		return directory;
	fd = openat(directory, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	/* Anybody who can open the file can hold the lock by flock(2), so only root may open it,
	 * also where an earlier version has created a file that everybody may read. */
	if (fchmod(fd, 0600) < 0)
		return -errno;
	r = file_lock(fd, seconds);
	return r < 0 ? r : TAKE_FD(fd);
}

void journal_unlock(int *fd)
{
	if (*fd >= 0)
		(void)flock(*fd, LOCK_UN);
	cleanup_close(fd);
}
