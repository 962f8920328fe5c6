// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/say.h"
#include "base/text.h"
#include "base/where/running.h"
#include "quiet/benchmark-target/parts.h"
#include "quiet/benchmark-target/setters.h"
#include "quiet/benchmark-target/tool.h"
#include "quiet/benchmark-target/verbs.h"

/* Why the setter does not say what it has done, in its own words, malloc'd. */
static int ask_why_not(const struct target_setter *setter, char *const *words, char **ret)
{
	_cleanup_free_ char *said = NULL;
	char *line;
	int r;

	r = tool_run_and_read(setter->program, words, STDERR_FILENO, &said);
	if (r == -ENOMEM)
		return r;
	r = text_format(
		&line, "not known: %s", r >= 0 && *said ? said : "the setter does not answer");
	if (r < 0)
		return r;
	free(*ret);
	*ret = line;
	return 0;
}

/* The line that the setter prints, and what its exit status says of it. */
static int ask_setter(const struct target_setter *setter, struct part *part)
{
	_cleanup_free_ char *options = NULL;
	char *words[TARGET_WORDS_MAX];
	int r;

	r = target_read_words(setter, "status", "--brief", &options, words);
	if (r < 0)
		return r;
	r = tool_run_and_read(setter->program, words, STDOUT_FILENO, &part->now);
	if (r == -ENOMEM)
		return r;
	part->complete = r == EXIT_DONE;
	part->kept = r == EXIT_DONE || r == EXIT_HOSTED;
	return part->kept || r == EXIT_FINDING ? 0 : ask_why_not(setter, words, &part->now);
}

int part_read(const struct target_setter *setter, struct part *ret)
{
	_cleanup_part_ struct part part = { .complete = true, .kept = true };
	const char *now;
	int r;

	r = target_read_why(setter, &part.why);
	if (r == 0)
		r = ask_setter(setter, &part);
	if (r < 0 && r != -ENODATA)
		return r;
	now = part.now ? part.now : part.why ? "" : "left as it is (benchmark.conf)";
	if (part.why)
		part.complete = false;
	r = text_format(&part.line, "%s: %s%s%s", setter->part, now, *now && part.why ? "; " : "",
		part.why ? part.why : "");
	if (r < 0)
		return r;
	*ret = part;
	part = (struct part){ 0 };
	return 0;
}

void part_clear(struct part *part)
{
	free(part->line);
	free(part->now);
	free(part->why);
	*part = (struct part){ 0 };
}

int parts_read(char **ret, bool *ret_complete)
{
	_cleanup_text_ struct text lines = { 0 };
	bool complete = true;
	int r = 0;

	for (const struct target_setter *s = target_setters; r == 0 && s->program; s++) {
		_cleanup_part_ struct part part = { 0 };

		r = part_read(s, &part);
		if (r < 0)
			break;
		text_appendf(&lines, "%s\n", part.line);
		complete = complete && part.complete;
	}
	if (r < 0)
		return r;
	*ret = text_steal(&lines);
	if (!*ret)
		return -ENOMEM;
	*ret_complete = complete;
	return 0;
}

int verb_parts(void)
{
	_cleanup_free_ char *lines = NULL;
	bool complete;
	int r;

	r = parts_read(&lines, &complete);
	if (r < 0) {
		say_errno(r, "cannot read what the target has done (%s)", TARGET_FILE);
		return EXIT_FAILED;
	}
	print(stdout, "%s", lines);
	if (print_conclude() != EXIT_DONE)
		return EXIT_FAILED;
	return complete ? EXIT_DONE : EXIT_FINDING;
}
