// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "base/xalloc.h"
#include "judge/harness/extract.h"
#include "judge/import/formats.h"
#include "judge/import/shared.h"

/* Where a rule looks does not matter: the file is what it finds there. */
int import_by_harness(const struct import_source *source, const struct harness *harness,
	struct imported *imported, char **ret_why)
{
	const struct output output = { source->text, source->size };
	struct figures figures = { 0 };
	int r = extract_check(harness, &output, ret_why);

	for (size_t i = 0; r >= 0 && i < harness->n_rules; i++)
		r = extract_figures(&harness->rules[i], &output, &figures, ret_why);
	for (size_t i = 0; r >= 0 && i < figures.n; i++) {
		const struct figure *figure = &figures.items[i];

		r = import_put_first(imported, figure->name, 0, 0,
			&(struct imported_number){
				.name = figure->name,
				.unit = figure->unit,
				.value = figure->value,
				.better = figure->better,
				.step = figure->step,
			},
			ret_why);
	}
	if (r >= 0 && figures.n == 0)
		r = xrefuse(ret_why, -EINVAL, "none of the figures of %s", harness->name);
	figures_clear(&figures);
	return r < 0 ? -EINVAL : 0;
}
