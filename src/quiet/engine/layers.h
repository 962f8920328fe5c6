/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Knobs that several setters have turned, one after the other. Each setter is a layer: its journal
 * has the value that it found. Only the journal of the lowest layer has the value of the machine
 * without any setter.
 *
 * Setters may be restored in any order, and may have been killed before they knew what a knob had
 * become. So when a setter is restored and another layer lies above, the knob is not written.
 * Instead the layer above takes over the old value, and the lower layer is gone. The journal of the
 * layer above is saved first, so that at every moment some journal has the old value. `since` of
 * struct journal_entry tells which layer lies above which.
 *
 * A setter that is applied again, and has to write a knob above which another layer lies, acts as
 * if it had been restored before: the layer above takes over the old value, and the setter becomes
 * the topmost layer, whose old value is the present value of the knob.
 *
 * All functions are to be called under engine_lock().
 */
#ifndef QUIESCE_QUIET_ENGINE_LAYERS_H
#define QUIESCE_QUIET_ENGINE_LAYERS_H

#include "base/cleanup.h"
#include "base/machine/irqline.h"
#include "quiet/engine/journal.h"

/* The journals of the other setters. */
struct layers {
	struct layer {
		struct journal *journal;
		bool is_changed; /* layers_save() has to write it */
	} * items;
	size_t n;
};

/* Reads all journals but that of the tool. A damaged journal is left out, because nothing that it
 * says can be put back. `lines`: interrupts that have other numbers now are found (irqs.h), for
 * callers that look for entries by their paths; NULL for others. */
int layers_read(const char *tool, struct irqlines *lines, struct layers **ret);
void layers_free(struct layers *layers);
DEFINE_CLEANUP(layers, layers_free);

/* The entry of the next layer above this entry; NULL if this is the topmost layer. */
struct journal_entry *layers_find_above(
	const struct layers *layers, const struct journal_entry *entry);
/* Gives the old value of the entry to the layer above. */
int layers_hand_over(struct layers *layers, const struct journal_entry *entry);
/*
 * The switch of boost that all frequency policies share sets those of the policies, too. A setter
 * that turns it while all CPUs of a policy are offline cannot read what that policy had. If `entry`
 * has that, and is about to be put back, the layer that has turned the switch of all since gets an
 * entry of the policy's own: it is to give both back.
 */
int layers_add_side_effect(struct layers *layers, const struct journal_entry *entry);
bool layers_are_changed(const struct layers *layers);
/* Writes the journals that have taken over an old value. */
int layers_save(const struct layers *layers);
/* Writes all journals. */
int layers_save_all(const struct layers *layers);

#endif
