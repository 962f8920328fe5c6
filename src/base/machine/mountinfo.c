// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/machine/mountinfo.h"
#include "base/text.h"

bool mountinfo_parse_cgroup(char *line, const char *controller, struct mountinfo_cgroup *ret)
{
	enum {
		ROOT = 3,
		POINT = 4,
		N_FIELDS = 6,
	};
	char *fields[N_FIELDS], *separator = strstr(line, " - "), *type, *options;

	if (!separator)
		return false;
	*separator = '\0';
	for (size_t i = 0; i < N_FIELDS; i++) {
		fields[i] = strsep(&line, " ");
		if (!fields[i])
			return false;
	}
	line = separator + strlen(" - ");
	type = strsep(&line, " ");
	(void)strsep(&line, " ");
	options = line;
	if (!options || strcmp(type, controller ? "cgroup" : "cgroup2") != 0 ||
		(controller && !text_has_word(options, controller, ",")))
		return false;
	text_unescape_octal(fields[POINT]);
	text_unescape_octal(fields[ROOT]);
	*ret = (struct mountinfo_cgroup){ .point = fields[POINT], .root = fields[ROOT] };
	return true;
}
