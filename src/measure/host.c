// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/say.h"
#include "base/xalloc.h"
#include "judge/harness/template.h"
#include "measure/host.h"

enum {
	REMOVE_FDS = 16,
	ANSWER_MAX = 16 * 1024 * 1024, /* bytes */
};

int host_make_folder(struct host *host, const struct user *user)
{
	const char *where = getenv("TMPDIR");
	_cleanup_free_ char *folder =
		xformat("%s/quiesce-XXXXXX", where && *where == '/' ? where : "/tmp");
	int r = 0;

	user_enter(user);
	if (!mkdtemp(folder))
		r = -errno;
	user_leave(user);
	if (r < 0) {
		say_errno(r, "cannot make %s, for what the programs write", folder);
		return r;
	}
	host->user = user;
	host->folder = TAKE_PTR(folder);
	host->file = xformat("%s/figures", host->folder);
	return 0;
}

static int remove_inside(
	const char *path, const struct stat *st _unused_, int type _unused_, struct FTW *ftw)
{
	return ftw->level > 0 ? remove(path) : 0;
}

int host_empty_folder(const struct host *host)
{
	int r = 0;

	if (!host->folder)
		return 0;
	user_enter(host->user);
	if (nftw(host->folder, remove_inside, REMOVE_FDS, FTW_DEPTH | FTW_PHYS) != 0)
		r = -errno;
	user_leave(host->user);
	if (r < 0)
		say_errno(r, "cannot empty %s", host->folder);
	return r;
}

void host_free(struct host *host)
{
	if (!host)
		return;
	if (host->folder && host_empty_folder(host) == 0) {
		user_enter(host->user);
		(void)rmdir(host->folder);
		user_leave(host->user);
	}
	for (size_t i = 0; i < host->n_lists; i++)
		template_free_words(host->lists[i]);
	free(host->folder);
	free(host->file);
	free(host->only);
	free(host);
}

/* The number of the benchmark in the list of the program; false where there is none. */
static bool find_index(const struct host *host, const struct host_words *words, size_t *ret)
{
	char **list = words->program < host->n_lists ? host->lists[words->program] : NULL;

	for (size_t i = 0; words->benchmark && list && list[i]; i++) {
		if (strcmp(list[i], words->benchmark) != 0)
			continue;
		*ret = i;
		return true;
	}
	return false;
}

/* The numbers among the values, as texts. */
struct numbers {
	char index[24];
	char loops[24];
};

static struct template_values make_values(const struct host *host, const struct host_words *words,
	const char *index, struct numbers *numbers)
{
	struct template_values values = {
		.command = words->typed,
		.benchmark = words->benchmark,
		.level = host->harness->hosting.level,
		.index = index,
		.file = host->file,
		.folder = host->folder,
	};
	size_t at;

	if (!index && find_index(host, words, &at)) {
		snprintf(numbers->index, sizeof(numbers->index), "%zu", at);
		values.index = numbers->index;
	}
	if (words->loops > 0) {
		snprintf(numbers->loops, sizeof(numbers->loops), "%" PRIu64, words->loops);
		values.loops = numbers->loops;
	}
	return values;
}

char **host_make_words(const struct host *host, const char *template,
	const struct host_words *words, const char *index)
{
	struct numbers numbers;
	struct template_values values = make_values(host, words, index, &numbers);

	return template_fill_words(template, &values);
}

char **host_make_run(const struct host *host, const struct host_words *words)
{
	return host_make_words(host, host->harness->hosting.runs[host->run], words, NULL);
}

char *host_make_variable(const struct host *host, size_t i, const struct host_words *words)
{
	struct numbers numbers;
	struct template_values values = make_values(host, words, NULL, &numbers);

	return template_fill(host->harness->hosting.variables[i], &values);
}

int host_read_answer(
	const struct host *host, const struct rule *rule, int output, char **ret, size_t *ret_size)
{
	struct file_buffer buffer = { 0 };
	int r;

	if (rule->source == FIGURE_FILE) {
		user_enter(host->user);
		r = xcheck(file_read_all(host->file, ANSWER_MAX, ret, ret_size));
		user_leave(host->user);
		return r;
	}
	r = xcheck(file_reread(output, &buffer));
	if (r < 0) {
		file_buffer_clear(&buffer);
		return r;
	}
	*ret = buffer.data;
	*ret_size = buffer.length;
	return 0;
}
