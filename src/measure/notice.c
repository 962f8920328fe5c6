// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/facts.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/say.h"
#include "base/xalloc.h"
#include "judge/harness/signs.h"
#include "judge/report/fixedtime.h"
#include "judge/result/metadata.h"
#include "judge/result/metric.h"
#include "measure/notice.h"
#include "measure/session.h"
#include "measure/user.h"

enum {
	KEPT_MAX = 64 * 1024, /* of each stream: figures come at the end */
};

/* The end of a file, and how large it is. */
struct tail {
	char text[KEPT_MAX];
	size_t length;
	int64_t size; /* -1: not known */
};

static void read_end(int fd, struct tail *kept)
{
	struct stat st;
	ssize_t n;

	kept->length = 0;
	kept->size = -1;
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	kept->size = st.st_size;
	n = RETRY_INTERRUPTED(
		pread(fd, kept->text, KEPT_MAX, MAX(st.st_size - KEPT_MAX, (off_t)0)));
	if (n > 0)
		kept->length = (size_t)n;
}

/* Standard output, where it is kept, or is a file. */
static void read_output(
	const struct options *options, const struct command *command, struct tail *ret)
{
	_cleanup_close_ int fd = -EBADF;

	if (!command->output_file || command->streams.output <= 0) {
		read_end(command->streams.output > 0 ? command->streams.output
						     : session_get_kept(command->session),
			ret);
		return;
	}
	/* What we have open may be for writing alone. */
	user_enter(options->user);
	fd = file_open_at_once(command->output_file, O_RDONLY);
	user_leave(options->user);
	read_end(fd, ret);
}

static bool has_figures(const struct options *options, const struct measurement *m)
{
	return figure_rules_are_there(&options->figures) || series_first_figure(m->series);
}

void notice_look(const struct options *options, struct commands *commands)
{
	_cleanup_free_ struct tail *kept = xptr(reallocarray(NULL, 2, sizeof(*kept)));

	for (size_t i = 0; i < commands->n; i++) {
		struct command *command = &commands->items[i];
		const struct measurement *m = command->measurement;
		_cleanup_free_ char *name = NULL;

		if (m->n_warmups == 0)
			continue;
		read_output(options, command, &kept[0]);
		read_end(session_get_stderr(command->session), &kept[1]);
		if (kept[0].size >= 0)
			facts_set_integer(&command->facts, METADATA_OUTPUT_SIZE, kept[0].size);
		if (command->is_control || has_figures(options, m))
			continue;
		name = signs_recognize(&(struct output){ kept[0].text, kept[0].length },
			&(struct output){ kept[1].text, kept[1].length });
		if (name)
			facts_set_string(&command->facts, METADATA_OWN_FIGURES, name);
	}
}

/* The harness of a command; NULL where there is none. */
static const char *find_harness(const struct command *command)
{
	return facts_find_string(&command->facts, METADATA_OWN_FIGURES);
}

bool notice_is_there(const struct options *options, const struct commands *commands)
{
	for (size_t i = 0; !options->metric && i < commands->n; i++)
		if (find_harness(&commands->items[i]))
			return true;
	return false;
}

void notice_print(FILE *stream, struct brief *brief, const struct options *options,
	const struct commands *commands)
{
	const char *said = NULL;

	for (size_t i = 0; !options->metric && stream && i < commands->n; i++) {
		const char *harness = find_harness(&commands->items[i]);
		_cleanup_free_ char *text = NULL;

		if (!harness || (said && strcmp(said, harness) == 0))
			continue;
		text = fixedtime_text(harness);
		if (brief)
			brief_add(brief, BRIEF_DOUBT, "  figures    %s", text);
		else
			print(stream, "\n%s\n", text);
		said = harness;
	}
}
