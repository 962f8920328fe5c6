// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/result/metadata.h"
#include "judge/result/series.h"

/* What pyperf demands of metadata that it knows (2.11, _metadata.py: METADATA; before, memory had
 * to be above 0). All others are strings or numbers. */
enum kind {
	KIND_ANY,
	KIND_STRING,
	KIND_UNIT,
	KIND_LIST,
	KIND_TAG,
	KIND_NUMBER, /* 0 or more */
	KIND_COUNT,  /* integer, 1 or more */
	KIND_COUNT_OR_0,
};

struct known_key {
	const char *key;
	enum kind kind;
};

/* In the order of their names. */
static const struct known_key known_keys[] = {
	{ "boot_time", KIND_STRING },
	{ "calibrate_loops", KIND_COUNT },
	{ "calibrate_warmups", KIND_COUNT_OR_0 },
	{ "command_max_rss", KIND_COUNT_OR_0 },
	{ "date", KIND_STRING },
	{ "duration", KIND_NUMBER },
	{ "inner_loops", KIND_COUNT },
	{ "load_avg_1min", KIND_NUMBER },
	{ "loops", KIND_COUNT },
	{ "mem_max_rss", KIND_COUNT_OR_0 },
	{ "mem_peak_pagefile_usage", KIND_COUNT_OR_0 },
	{ "recalibrate_loops", KIND_COUNT },
	{ "recalibrate_warmups", KIND_COUNT_OR_0 },
	{ "tag", KIND_TAG },
	{ "tags", KIND_LIST },
	{ "unit", KIND_UNIT },
	{ "uptime", KIND_NUMBER },
};

static const char *const blanks[] = {
	" ",
	"\t",
	"\n",
	"\v",
	"\f",
	"\r",
	"\x1c",
	"\x1d",
	"\x1e",
	"\x1f",
	"\xc2\x85",
	"\xc2\xa0",
	"\xe1\x9a\x80",
	"\xe2\x80\x80",
	"\xe2\x80\x81",
	"\xe2\x80\x82",
	"\xe2\x80\x83",
	"\xe2\x80\x84",
	"\xe2\x80\x85",
	"\xe2\x80\x86",
	"\xe2\x80\x87",
	"\xe2\x80\x88",
	"\xe2\x80\x89",
	"\xe2\x80\x8a",
	"\xe2\x80\xa8",
	"\xe2\x80\xa9",
	"\xe2\x80\xaf",
	"\xe2\x81\x9f",
	"\xe3\x80\x80",
};

/* Whether the byte is visible: no blank of Unicode begins or ends with such a byte. */
static bool is_visible(char c)
{
	return c > 0x20 && c < 0x7f;
}

void metadata_strip(const char *s, const char **ret, size_t *ret_length)
{
	size_t length = strlen(s);
	bool found = length == 0 || !is_visible(s[0]) || !is_visible(s[length - 1]);

	while (found) {
		found = false;
		for (size_t i = 0; i < ARRAY_SIZE(blanks); i++) {
			size_t n = strlen(blanks[i]);

			if (length >= n && memcmp(s, blanks[i], n) == 0) {
				s += n;
				length -= n;
				found = true;
			}
			if (length >= n && memcmp(s + length - n, blanks[i], n) == 0) {
				length -= n;
				found = true;
			}
		}
	}
	*ret = s;
	*ret_length = length;
}

static bool is_blank_text(const char *s)
{
	size_t n;

	metadata_strip(s, &s, &n);
	return n == 0;
}

bool metadata_equal_strings(const char *a, const char *b)
{
	size_t n_a, n_b;

	metadata_strip(a, &a, &n_a);
	metadata_strip(b, &b, &n_b);
	return n_a == n_b && memcmp(a, b, n_a) == 0;
}

uint64_t metadata_hash_string(const char *s)
{
	size_t n;

	metadata_strip(s, &s, &n);
	return hash_bytes(HASH_START, s, n);
}

/* In Python, a boolean is an integer as well. */
static bool is_whole(const struct fact *fact)
{
	return fact->type == FACT_INTEGER || fact->type == FACT_BOOLEAN;
}

static double number_of(const struct fact *fact)
{
	return is_whole(fact) ? (double)fact->integer : fact->real;
}

bool metadata_equal_facts(const struct fact *a, const struct fact *b)
{
	if ((a->type == FACT_STRING) != (b->type == FACT_STRING))
		return false;
	if (a->type == FACT_STRING)
		return metadata_equal_strings(a->string, b->string);
	if (is_whole(a) && is_whole(b))
		return a->integer == b->integer;
	return number_of(a) == number_of(b);
}

static int compare_key(const void *name, const void *known)
{
	return strcmp(name, ((const struct known_key *)known)->key);
}

static enum kind kind_of(const char *name)
{
	const struct known_key *known =
		bsearch(name, known_keys, ARRAY_SIZE(known_keys), sizeof(*known_keys), compare_key);

	return known ? known->kind : KIND_ANY;
}

bool metadata_is_list(const char *name)
{
	return kind_of(name) == KIND_LIST;
}

const char *metadata_judge(const char *name, const struct fact *value)
{
	bool is_string = value->type == FACT_STRING, is_integer = is_whole(value);
	enum kind kind = kind_of(name);
	const char *s;
	size_t n;

	/* This comes first, because the rule for texts below does not hold for tags. */
	if (kind == KIND_TAG)
		return is_string && *value->string && strcmp(value->string, "all") != 0
			? NULL
			: "is not a list of tags";
	if (is_string) {
		metadata_strip(value->string, &s, &n);
		if (n == 0)
			return "is empty";
		if (memchr(s, '\n', n) || memchr(s, '\r', n))
			return "has a line break";
	}
	switch (kind) {
	case KIND_STRING:
		return is_string ? NULL : "is not a string";
	case KIND_UNIT:
		if (is_string &&
			(metadata_equal_strings(value->string, "second") ||
				metadata_equal_strings(value->string, "byte") ||
				metadata_equal_strings(value->string, "integer")))
			return NULL;
		return "is not one of second, byte, integer";
	case KIND_LIST:
		return "is not a list";
	case KIND_NUMBER:
		return !is_string && number_of(value) >= 0 ? NULL : "is not a number of 0 or more";
	case KIND_COUNT:
		return is_integer && value->integer >= 1 ? NULL : "is not an integer of 1 or more";
	case KIND_COUNT_OR_0:
		return is_integer && value->integer >= 0 ? NULL : "is not an integer of 0 or more";
	default:
		return NULL;
	}
}

/* _bench.py: _CHECKED_METADATA. */
const char *metadata_get_stamper(const struct facts *metadata)
{
	const char *stamper = facts_find_string(metadata, METADATA_STAMPS);
	const struct fact *clock = facts_find(metadata, METADATA_CLOCK);

	if (stamper || !clock || metadata_get_clock(clock) != WINDOW_KERNEL)
		return stamper;
	return "events of all tasks";
}

const char *const metadata_agreed_keys[METADATA_N_AGREED] = {
	"aslr",
	"cpu_count",
	"cpu_model_name",
	"hostname",
	"inner_loops",
	"name",
	"platform",
	"python_executable",
	"python_implementation",
	"python_unicode",
	"python_version",
	"unit",
};

int metadata_get_clock(const struct fact *clock)
{
	enum window_clock found;

	if (clock->type != FACT_STRING || window_clock_parse(clock->string, &found) < 0)
		return -1;
	return found;
}

char *metadata_clean(const char *s)
{
	_cleanup_free_ char *bare = NULL;
	const char *begin;
	size_t n;

	metadata_strip(s, &begin, &n);
	bare = xptr(strndup(begin, n));
	return xptr(text_escape_control(bare));
}

void metadata_set_string(struct facts *facts, const char *name, const char *value)
{
	_cleanup_free_ char *plain = xptr(text_escape_control(value));
	_cleanup_free_ char *valid = xptr(text_escape_utf8(plain));
	_cleanup_free_ char *valid_name = xptr(text_escape_utf8(name));

	if (!is_blank_text(valid))
		facts_set_string(facts, valid_name, valid);
}

static int make_metadata(const struct facts *facts, struct facts *made)
{
	for (size_t i = 0; i < facts->n; i++) {
		const struct fact *fact = &facts->items[i];

		if (fact->type == FACT_STRING) {
			metadata_set_string(made, fact->name, fact->string);
		} else {
			_cleanup_free_ char *valid = xptr(text_escape_utf8(fact->name));

			facts_set_copy(made, valid, fact);
		}
	}
	if (!facts_find(made, "unit"))
		facts_set_string(made, "unit", "second");
	if (facts->failed || made->failed)
		xalloc_fail();
	for (size_t i = 0; i < made->n; i++)
		if (metadata_judge(made->items[i].name, &made->items[i]))
			return -EINVAL;
	return facts_find_string(made, "name") ? 0 : -EINVAL;
}

/* Reads so many digits, and no fewer. */
static bool read_digits(const char **p, size_t n, int *ret)
{
	int value = 0;

	for (size_t i = 0; i < n; i++, ++*p) {
		if (!parse_is_digit(**p))
			return false;
		value = 10 * value + (**p - '0');
	}
	*ret = value;
	return true;
}

/* Skips one of these characters, if it is there. */
static bool skip_one(const char **p, const char *characters)
{
	if (!**p || !strchr(characters, **p))
		return false;
	++*p;
	return true;
}

/* "10:14", "10:14:10", "10:14:10.123456", of which *ret_ns is the fraction. */
static bool read_time(const char **p, struct tm *tm, int64_t *ret_ns)
{
	int digit;

	if (!read_digits(p, 2, &tm->tm_hour) || !skip_one(p, ":") ||
		!read_digits(p, 2, &tm->tm_min))
		return false;
	if (!skip_one(p, ":"))
		return true;
	if (!read_digits(p, 2, &tm->tm_sec))
		return false;
	if (skip_one(p, "."))
		for (int64_t unit = NSEC_PER_SEC / 10; read_digits(p, 1, &digit); unit /= 10)
			*ret_ns += digit * unit;
	return true;
}

/* "Z", "+01:00", "+0100", "+01", perhaps after a blank; or the end. *ret: seconds east of
 * Greenwich. */
static bool read_zone(const char **p, int *ret)
{
	int sign, hours, minutes = 0;

	*ret = 0;
	if (!**p)
		return true;
	(void)skip_one(p, " ");
	if (skip_one(p, "Z"))
		return true;
	sign = **p == '-' ? -1 : 1;
	if (!skip_one(p, "+-") || !read_digits(p, 2, &hours))
		return false;
	if ((skip_one(p, ":") || **p) && !read_digits(p, 2, &minutes))
		return false;
	*ret = sign * (hours * 60 + minutes) * 60;
	return hours < 24 && minutes < 60;
}

/* timegm() makes the 1st of December of the 31st of November. */
static bool is_in_calendar(const struct tm *given)
{
	struct tm tm = *given;

	return timegm(&tm) != (time_t)-1 && tm.tm_year == given->tm_year &&
		tm.tm_mon == given->tm_mon && tm.tm_mday == given->tm_mday &&
		tm.tm_hour == given->tm_hour && tm.tm_min == given->tm_min &&
		tm.tm_sec == given->tm_sec;
}

int metadata_parse_time(const char *text, int64_t *ret)
{
	const char *p = text;
	struct tm tm = { 0 };
	int64_t seconds, fraction = 0;
	int zone = 0;

	if (!read_digits(&p, 4, &tm.tm_year) || !skip_one(&p, "-") ||
		!read_digits(&p, 2, &tm.tm_mon) || !skip_one(&p, "-") ||
		!read_digits(&p, 2, &tm.tm_mday))
		return -EINVAL;
	if (*p && (!skip_one(&p, " T") || !read_time(&p, &tm, &fraction) || !read_zone(&p, &zone)))
		return -EINVAL;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	if (*p || tm.tm_year < 70 || tm.tm_year > 354 || !is_in_calendar(&tm))
		return -EINVAL;
	seconds = (int64_t)timegm(&tm) - zone;
	if (seconds < 0)
		return -EINVAL;
	*ret = seconds * NSEC_PER_SEC + fraction;
	return 0;
}

int metadata_parse_date(const char *text, int64_t *ret)
{
	int64_t ns;
	int r = metadata_parse_time(text, &ns);

	if (r >= 0)
		*ret = ns / NSEC_PER_SEC;
	return r;
}

int metadata_make(const struct facts *facts, struct facts *ret)
{
	int r;

	*ret = (struct facts){ 0 };
	r = make_metadata(facts, ret);
	if (r < 0)
		facts_clear(ret);
	return r;
}
