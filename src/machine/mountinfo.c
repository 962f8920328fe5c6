// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "basic/text.h"
#include "machine/mountinfo.h"

bool mountinfo_parse_cpuset(char *line, struct mountinfo_cpuset *ret)
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
	if (!options || strcmp(type, "cgroup") != 0 || !text_has_word(options, "cpuset", ","))
		return false;
	text_unescape_octal(fields[POINT]);
	*ret = (struct mountinfo_cpuset){
		.point = fields[POINT],
		.is_root = strcmp(fields[ROOT], "/") == 0,
	};
	return true;
}
