/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strict parsers for text that a person or the kernel wrote. The parser must consume the whole
 * text; misplaced blanks, signs or hexadecimal digits and a missing number are errors.
 *
 * All functions return 0, -EINVAL (not such a number) or -ERANGE (outside min..max), and leave *ret
 * untouched on failure. They do not depend on the locale.
 */
#ifndef QUIESCE_BASE_PARSE_H
#define QUIESCE_BASE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Independent of the locale, unlike isdigit(3) and isblank(3). */
static inline bool parse_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool parse_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The value of a hexadecimal digit, -1 for any other character. */
int parse_hex_digit(char c);

/* Decimal digits only: "25". */
int parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *ret);
int parse_uint(const char *text, unsigned min, unsigned max, unsigned *ret);
/* An optional '-' and decimal digits: "-5". */
int parse_int(const char *text, int min, int max, int *ret);
/* Hexadecimal digits only, without "0x": "1f", "00FF". */
int parse_hex_u64(const char *text, uint64_t max, uint64_t *ret);
/* Digits with an optional fraction and an optional '-': "0.5", "3", "-2.25". No exponent. */
int parse_double(const char *text, double min, double max, double *ret);
/* A number in JSON's syntax (RFC 8259, section 6): "-1.25e-3", rounded to the nearest double.
 * -ERANGE when the value is too large for a double; a value that is too small becomes 0. */
int parse_real(const char *text, double *ret);
/* Seconds with an optional unit (ns, us, ms, s, min, h): "1.5", "300ms", "2min". */
int parse_seconds(const char *text, double min, double max, double *ret);

/* As parse_u64, for a kernel attribute: one trailing newline and leading or trailing blanks are
 * allowed. */
int parse_attr_u64(const char *text, uint64_t *ret);
int parse_attr_s64(const char *text, int64_t *ret);

/* Parses the next unsigned decimal number at *cursor and moves the cursor behind it; leading blanks
 * are skipped. -ENODATA when there is no digit, -ERANGE when the number does not fit. For the
 * tables of /proc. */
int parse_next_u64(const char **cursor, uint64_t *ret);

/* The first two numbers of a version: 6 and 12 of "6.12.5-amd64". -ENODATA or -ERANGE. */
int parse_version(const char *text, uint64_t *ret_major, uint64_t *ret_minor);

#endif
