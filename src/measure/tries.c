// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/say.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/report/decision.h"
#include "judge/stats/multiple.h"
#include "measure/tries.h"
#include "measure/user.h"

enum {
	FILE_MAX = 4 * 1024 * 1024,
};

static const char first_line[] = "quiesce session 1";

struct tries {
	int fd;
	const char *path;
	/* Of each command, 0 for those that are compared with nothing. */
	unsigned numbers[OPTIONS_MAX_COMMANDS];
	struct tries_count count; /* with these tries, and without their finds */
};

int tries_open(const struct options *options, struct tries **ret)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;

	*ret = NULL;
	if (!options->session)
		return 0;
	user_enter(options->user);
	fd = file_open_at_once(options->session, O_RDWR | O_CREAT | O_APPEND);
	user_leave(options->user);
	if (fd < 0 || fstat(fd, &st) < 0) {
		int r = fd < 0 ? fd : -errno;

		say_errno(-r, "--session: %s", options->session);
		return r;
	}
	if (!S_ISREG(st.st_mode)) {
		say("--session: %s is no regular file", options->session);
		return -EINVAL;
	}
	*ret = xptr(calloc(1, sizeof(**ret)));
	(*ret)->fd = TAKE_FD(fd);
	(*ret)->path = options->session;
	return 0;
}

void tries_free(struct tries *tries)
{
	if (!tries)
		return;
	close(tries->fd);
	free(tries);
}

double tries_wanted(unsigned t, unsigned found)
{
	return decision_evalue(1) * t * ((double)t + 1) / ((double)found + 1);
}

/* Splits "begin 3 ...", and returns the number; 0 where it is none. *ret_rest is behind it. */
static unsigned take_number(const char *line, const char *word, const char **ret_rest)
{
	const char *cursor = text_starts_with(line, word) ? line + strlen(word) : "";
	uint64_t value;

	if (parse_is_blank(*cursor) || parse_next_u64(&cursor, &value) < 0 || value > UINT32_MAX ||
		*cursor != ' ')
		return 0;
	*ret_rest = cursor + 1;
	return (unsigned)value;
}

static bool take_line(const char *line, struct tries_count *count)
{
	enum decision_verdict verdict;
	const char *rest;
	unsigned number = take_number(line, "begin ", &rest);

	if (number > 0) {
		count->n++;
		return number == count->n;
	}
	number = take_number(line, "end ", &rest);
	if (number == 0 || decision_find_verdict(rest, &verdict) < 0)
		return false;
	count->found += decision_is_claim(verdict);
	return number <= count->n && count->found <= count->n;
}

size_t tries_parse(const char *text, struct tries_count *ret)
{
	struct tries_count count = { 0 };

	for (size_t n = 1; *text; n++) {
		size_t length = strcspn(text, "\n");
		_cleanup_free_ char *line = xptr(strndup(text, length));

		/* A line without an end was cut off. */
		if (text[length] != '\n' ||
			!(n == 1 ? strcmp(line, first_line) == 0 : take_line(line, &count)))
			return n;
		text += length + 1;
	}
	*ret = count;
	return 0;
}

/* Reads what the file has so far, which is locked. */
static int read_count(const struct tries *tries, struct tries_count *ret, bool *ret_is_new)
{
	struct file_buffer text = { 0 };
	size_t line = 0;
	int r = xcheck(file_reread(tries->fd, &text));

	if (r == 0 && text.length > FILE_MAX)
		r = -EFBIG;
	if (r == 0)
		line = strlen(text.data) < text.length ? 1 : tries_parse(text.data, ret);
	if (line > 0) {
		say("--session: %s: line %zu is none of a session", tries->path, line);
		r = -EBADMSG;
	}
	if (r == 0)
		*ret_is_new = text.length == 0;
	file_buffer_clear(&text);
	return r;
}

/* Gives each comparison its number, and appends the lines for that. */
static void count_tries(struct tries *tries, struct commands *commands, struct tries_count before,
	struct text *lines)
{
	time_t now = time(NULL);
	struct tm tm;
	char when[32];

	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	for (size_t i = 0; i < commands->n; i++) {
		struct command *command = &commands->items[i];
		_cleanup_free_ char *name = NULL;

		if (command->old == i)
			continue;
		name = xptr(text_escape_control(command->name));
		tries->numbers[i] = ++before.n;
		command->decide_wanted = tries_wanted(before.n, before.found);
		text_appendf(lines, "begin %u %s %.0f %s\n", before.n, when, command->decide_wanted,
			name);
	}
	tries->count = before;
}

/* Appends all of it, or nothing. The file is locked. */
static int append(const struct tries *tries, struct text *lines)
{
	struct stat st;
	int r = lines->failed ? -ENOMEM : fstat(tries->fd, &st) < 0 ? -errno : 0;

	if (r < 0)
		return r;
	r = file_write_all(tries->fd, lines->data, lines->length);
	if (r < 0 && ftruncate(tries->fd, st.st_size) < 0)
		r = -errno;
	return r;
}

static int check_pairs(const struct options *o, double wanted)
{
	size_t least = decision_least_pairs(wanted);

	if (o->max_runs >= least)
		return 0;
	say("%s %u: the next try of %s takes at least %zu pairs", o->max_runs_option, o->max_runs,
		o->session, least);
	return -EINVAL;
}

int tries_begin(struct tries *tries, const struct options *options, struct commands *commands)
{
	struct tries_count count = { 0 };
	_cleanup_text_ struct text lines = { 0 };
	bool is_new = false;
	int r = file_lock(tries->fd, FILE_LOCK_SECONDS);

	if (r == 0)
		r = read_count(tries, &count, &is_new);
	if (r == 0)
		r = check_pairs(options, tries_wanted(count.n + 1, count.found));
	if (r == 0) {
		if (is_new)
			text_appendf(&lines, "%s\n", first_line);
		count_tries(tries, commands, count, &lines);
		r = append(tries, &lines);
	}
	if (r == -EAGAIN)
		say("--session: %s: another process keeps it locked", tries->path);
	else if (r < 0 && r != -EBADMSG && r != -EINVAL)
		say_errno(-r, "--session: %s", tries->path);
	(void)flock(tries->fd, LOCK_UN);
	return r;
}

unsigned tries_number(const struct tries *tries, size_t command)
{
	return tries ? tries->numbers[command] : 0;
}

size_t tries_next_least(const struct tries *tries, const struct commands *commands)
{
	unsigned found = tries->count.found;

	for (size_t i = 0; i < commands->n; i++)
		if (tries->numbers[i] > 0)
			found +=
				decision_is_claim(commands->items[i].measurement->decision.verdict);
	return decision_least_pairs(tries_wanted(tries->count.n + 1, found));
}

void tries_end(struct tries *tries, const struct commands *commands)
{
	_cleanup_text_ struct text lines = { 0 };
	int r;

	for (size_t i = 0; i < commands->n; i++) {
		const struct measurement *m = commands->items[i].measurement;

		if (tries->numbers[i] > 0 && m)
			text_appendf(&lines, "end %u %s\n", tries->numbers[i],
				decision_verdict_name(m->decision.verdict));
	}
	if (lines.length == 0)
		return;
	r = file_lock(tries->fd, FILE_LOCK_SECONDS);
	if (r == 0)
		r = append(tries, &lines);
	if (r < 0)
		say("warning: --session: %s: %s", tries->path,
			r == -EAGAIN ? "another process keeps it locked" : strerror(-r));
	(void)flock(tries->fd, LOCK_UN);
}
