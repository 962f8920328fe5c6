/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Knobs that several setters have turned, one over the other: each of their journals has what was
 * there before its own setter, and only that of the lowest layer is the machine without us.
 *
 * Setters may be restored in any order, and may have been killed before they knew what they had
 * made of a knob. So a layer that others lie over is not written back: it is taken out from below
 * them. Its original becomes that of the next layer above (struct journal_entry, since), whose
 * journal is saved first, so that the original is never without a journal.
 *
 * All under engine_lock().
 */
#ifndef QUIESCE_KNOB_LAYERS_H
#define QUIESCE_KNOB_LAYERS_H

#include "basic/cleanup.h"
#include "state/journal.h"

/* The journals of the other setters. */
struct layers {
	struct journal **journals;
	bool *is_changed; /* of each journal: layers_save() writes it */
	size_t n;
};

/* All but that of the tool. One that is damaged is left out: nothing of it can be put back. */
int layers_read(const char *tool, struct layers **ret);
void layers_free(struct layers *layers);
DEFINE_CLEANUP(layers, layers_free);

/* The entry of the next layer over this one; NULL when it is the topmost. */
struct journal_entry *layers_find_above(
	const struct layers *layers, const struct journal_entry *entry);
/* Gives what was there before the entry to the layer above. */
int layers_hand_over(struct layers *layers, const struct journal_entry *entry);
/* Writes the journals that have been given something. */
int layers_save(const struct layers *layers);

#endif
