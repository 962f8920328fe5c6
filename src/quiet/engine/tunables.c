// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "quiet/engine/tunables.h"

#define CPUFREQ "/sys/devices/system/cpu/cpufreq/"

enum {
	FOLDER_SIZE = 128,
	NAME_SIZE = 32, /* CPUFREQ_NAME_LEN of the kernel is 16 */
};

/* "" when the policy does not tell. */
static void read_governor(int policy, char ret[static NAME_SIZE])
{
	char path[FOLDER_SIZE];

	snprintf(path, sizeof(path), CPUFREQ "policy%d/scaling_governor", policy);
	if (file_read_attr(AT_FDCWD, path, ret, NAME_SIZE) < 0 || strchr(ret, '/'))
		ret[0] = '\0';
}

static bool is_tunable(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0222) &&
		(st.st_mode & 0444);
}

static int add_file(
	struct knob_plan *plan, unsigned group, const char *governor, const char *path, int cpu)
{
	struct knob *knob;
	int r;

	if (!is_tunable(path))
		return 0;
	r = knob_plan_add(plan, group, KNOB_WORD, path, NULL, &knob, "%s %s", governor,
		strrchr(path, '/') + 1);
	if (r == 0)
		knob->cpu = cpu;
	return r;
}

/* Adds the files of a folder. cpu: -1 where the folder is that of all policies. -ENOENT where there
 * is no folder. */
static int add_folder(struct knob_plan *plan, unsigned group, const char *folder, int cpu)
{
	_cleanup_paths_ struct paths files = { 0 };
	int r = paths_list(folder, "*", NULL, &files);

	for (size_t i = 0; r == 0 && i < files.n; i++)
		r = add_file(plan, group, strrchr(folder, '/') + 1, files.items[i], cpu);
	return r;
}

static bool has_folder(const struct knob_plan *plan, const char *folder)
{
	size_t length = strlen(folder);

	for (size_t i = 0; i < plan->n; i++) {
		if (text_starts_with(plan->knobs[i].path, folder) &&
			plan->knobs[i].path[length] == '/')
			return true;
	}
	return false;
}

int tunables_add(struct knob_plan *plan, unsigned group, int policy)
{
	char governor[NAME_SIZE], folder[FOLDER_SIZE];
	int r;

	read_governor(policy, governor);
	if (!governor[0])
		return 0;
	snprintf(folder, sizeof(folder), CPUFREQ "policy%d/%s", policy, governor);
	r = add_folder(plan, group, folder, policy);
	if (r != -ENOENT)
		return r;
	snprintf(folder, sizeof(folder), CPUFREQ "%s", governor);
	if (has_folder(plan, folder))
		return 0;
	r = add_folder(plan, group, folder, -1);
	return r == -ENOENT ? 0 : r;
}

bool tunables_has_speed(int policy)
{
	char governor[NAME_SIZE];

	read_governor(policy, governor);
	return strcmp(governor, "userspace") == 0;
}

const char *tunables_find_governor(const char *path, size_t *ret_length)
{
	const char *name, *end;

	if (!text_starts_with(path, CPUFREQ))
		return NULL;
	name = path + strlen(CPUFREQ);
	if (knob_find_policy(path) >= 0)
		name = strchr(name, '/') + 1;
	end = strchr(name, '/');
	if (!end)
		return NULL;
	*ret_length = (size_t)(end - name);
	return name;
}
