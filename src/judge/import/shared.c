// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "base/xalloc.h"
#include "judge/import/shared.h"
#include "judge/result/metadata.h"

int import_put_first(struct imported *imported, const char *name, size_t process, double iterations,
	const struct imported_number *number, char **ret_why)
{
	int r = imported_begin(imported, name, process, iterations, ret_why);

	return r < 0 ? r : imported_put(imported, number, ret_why);
}

void import_set_text(struct facts *facts, const char *name, const char *value)
{
	if (value)
		metadata_set_string(facts, name, value);
}

void import_set_parameter(struct facts *facts, const char *parameter, const char *value)
{
	_cleanup_free_ char *name = xformat(METADATA_PARAMETER "%s", parameter);
	double number;

	if (parse_real(value, &number) == 0)
		facts_set_real(facts, name, number);
	else
		metadata_set_string(facts, name, value);
}

char *import_next_line(const char **rest)
{
	size_t n = strcspn(*rest, "\n"), length = n;
	char *line;

	if (**rest == '\0')
		return NULL;
	if (n > 0 && (*rest)[n - 1] == '\r')
		length--;
	line = xptr(strndup(*rest, length));
	*rest += n + ((*rest)[n] == '\n');
	return line;
}

int import_each_line(const char *text, int (*take)(void *context, char *line, char **ret_why),
	void *context, char **ret_why)
{
	size_t number = 0;
	int r = 0;
	char *line;

	while (r >= 0 && (line = import_next_line(&text))) {
		_cleanup_free_ char *why = NULL;

		number++;
		r = take(context, line, &why);
		if (r < 0)
			(void)xrefuse(ret_why, r, "%zu: %s", number, why);
		free(line);
	}
	return r;
}
