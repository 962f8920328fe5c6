// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/wholecore.h"
#include "base/facts.h"
#include "base/macro.h"
#include "base/where/userstate.h"
#include "judge/result/metadata.h"
#include "measure/judge.h"
#include "measure/measurement.h"

/* The most additions per cycle that a core did in the runs of any command. */
static int find_best(const struct commands *commands, double *ret)
{
	*ret = 0;
	for (size_t i = 0; i < commands->n; i++) {
		double adds;
		int r = judge_whole_core(commands->items[i].measurement->series, &adds);

		if (r < 0)
			return r;
		*ret = MAX(*ret, adds);
	}
	return 0;
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

int wholecore_settle(const struct place *place, struct commands *commands)
{
	const char *model = facts_find_string(&commands->items[0].facts, "cpu_model_name");
	double best, whole;
	bool is_known;
	int r;

	r = find_best(commands, &best);
	if (r < 0 || best == 0)
		return r;
	if (place->mixed_kinds) {
		forget_cores(commands);
		return 0;
	}
	whole = userstate_settle_whole_core(model, place->kind, best, &is_known);
	for (size_t i = 0; i < commands->n; i++) {
		struct facts *facts = &commands->items[i].facts;

		judge_core_shares(commands->items[i].measurement->series, whole);
		facts_set_real(facts, METADATA_WHOLE_CORE, whole);
		facts_set_string(facts, METADATA_WHOLE_CORE_FROM,
			is_known ? METADATA_WHOLE_CORE_KNOWN : "this measurement");
	}
	return 0;
}
