/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a file is that is no result that is read here: results of other tools, and what is often
 * given in the place of a result. */
#ifndef QUIESCE_JUDGE_RESULT_RECOGNIZE_H
#define QUIESCE_JUDGE_RESULT_RECOGNIZE_H

#include <stddef.h>

/* A phrase by the first bytes of a file: "JMH's JSON is not read". NULL when nothing is recognized.
 */
const char *recognize(const char *head, size_t size);

#endif
