// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/paths.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/harness/harness.h"
#include "judge/harness/signs.h"

static bool has_text(const struct output *output, const char *text, size_t n)
{
	return output->size > 0 && memmem(output->text, output->size, text, n);
}

/* Whether each line "Sign=TEXT" of the file is in one of the outputs, and there is such a line.
 * That is most often not so, and then the expressions of the file need not be compiled. */
static bool has_signs(const char *file, const struct output outputs[2])
{
	static const char key[] = HARNESS_SIGN "=";
	const char *begin = file;
	bool found = false;

	while ((file = strstr(file, key))) {
		const char *text = file + strlen(key);
		size_t n = strcspn(text, "\n");

		bool is_line = file == begin || file[-1] == '\n';

		file = text;
		if (!is_line || n == 0)
			continue;
		if (!has_text(&outputs[0], text, n) && !has_text(&outputs[1], text, n))
			return false;
		found = true;
	}
	return found;
}

/* Whether the output has a figure of the harness; one may stand there twice. */
static bool has_figures(const struct harness *harness, const struct output outputs[2])
{
	struct figures figures = { 0 };
	bool found;

	for (size_t i = 0; i < harness->n_rules; i++) {
		const struct rule *rule = &harness->rules[i];
		_cleanup_free_ char *why = NULL;

		if (rule->source != FIGURE_FILE)
			(void)extract_figures(
				rule, &outputs[rule->source == FIGURE_STDERR], &figures, &why);
	}
	found = figures.n > 0;
	figures_clear(&figures);
	return found;
}

static bool is_recognized(const char *path, const struct output outputs[2])
{
	_cleanup_free_ char *text = NULL, *why = NULL;
	_cleanup_(harness) struct harness *harness = NULL;
	size_t length;

	return xcheck(file_read_all(path, HARNESS_MAX_SIZE, &text, &length)) >= 0 &&
		strlen(text) == length && has_signs(text, outputs) &&
		harness_parse(path, text, &harness, &why) >= 0 &&
		harness_choose(harness, WHEN_AS_IS) >= 0 && has_figures(harness, outputs);
}

/* In one folder. */
static char *find_in(const char *folder, const struct output outputs[2])
{
	struct paths paths = { 0 };
	char *name = NULL;

	if (xcheck(paths_list(folder, "*" HARNESS_SUFFIX, NULL, &paths)) < 0)
		return NULL;
	for (size_t i = 0; !name && i < paths.n; i++) {
		const char *base = strrchr(paths.items[i], '/');

		if (base && is_recognized(paths.items[i], outputs))
			name = xptr(strndup(base + 1, strlen(base + 1) - strlen(HARNESS_SUFFIX)));
	}
	paths_clear(&paths);
	return name;
}

char *signs_recognize(const struct output *standard_output, const struct output *standard_error)
{
	const struct output outputs[] = { *standard_output, *standard_error };
	char **folders, *name = NULL;

	if (standard_output->size == 0 && standard_error->size == 0)
		return NULL;
	folders = harness_folders();
	for (size_t i = 0; !name && folders[i]; i++)
		name = find_in(folders[i], outputs);
	harness_folders_free(folders);
	return name;
}
