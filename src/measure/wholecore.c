// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>

#include "base/facts.h"
#include "base/where/userstate.h"
#include "judge/result/metadata.h"
#include "measure/judge.h"
#include "measure/measurement.h"
#include "measure/wholecore.h"

/* The most additions per cycle that a core did in the runs of any command. */
static double find_best(const struct commands *commands)
{
	double best = 0;

	for (size_t i = 0; i < commands->n; i++)
		best = fmax(best, judge_whole_core(commands->items[i].measurement->series));
	return best;
}

/* Removes the figures: shares of different kinds of cores cannot be compared. */
static void forget_cores(const struct commands *commands)
{
	for (size_t i = 0; i < commands->n; i++) {
		struct series *series = commands->items[i].measurement->series;

		for (size_t j = 0; series->with_evidence && j < series->n_samples; j++)
			for (size_t moment = 0; moment < EVIDENCE_N_MOMENTS; moment++)
				series->evidence[j].core_shares[moment] = -1;
	}
}

void wholecore_settle(const struct place *place, struct commands *commands)
{
	const char *model = facts_find_string(&commands->items[0].facts, "cpu_model_name");
	double best = find_best(commands), whole;
	bool is_known;

	if (best == 0)
		return;
	if (place->mixed_kinds) {
		forget_cores(commands);
		return;
	}
	whole = userstate_settle_whole_core(model, place->kind, best, &is_known);
	for (size_t i = 0; i < commands->n; i++) {
		struct facts *facts = &commands->items[i].facts;

		judge_core_shares(commands->items[i].measurement->series, whole);
		facts_set_real(facts, METADATA_WHOLE_CORE, whole);
		facts_set_string(facts, METADATA_WHOLE_CORE_FROM,
			is_known ? METADATA_WHOLE_CORE_KNOWN : "this measurement");
	}
}
