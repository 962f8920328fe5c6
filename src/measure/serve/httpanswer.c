// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"
#include "base/parse.h"
#include "measure/serve/httpanswer.h"

/* "HTTP/1.1 200 OK". The reason may be missing, and so may the blank before it. */
static int take_status(struct httpanswer *answer)
{
	const char *line = answer->line;

	if (strncmp(line, "HTTP/1.", strlen("HTTP/1.")) != 0 ||
		(line[7] != '0' && line[7] != '1') || line[8] != ' ' || !parse_is_digit(line[9]) ||
		!parse_is_digit(line[10]) || !parse_is_digit(line[11]) ||
		parse_is_digit(line[12]) || line[9] == '0')
		return -EBADMSG;
	answer->status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0');
	answer->closes = line[7] == '0';
	answer->state = HTTPANSWER_HEADERS;
	return 0;
}

/* The value of the header of this name, without blanks before it; NULL for any other header. */
static const char *value_of(const char *line, const char *name)
{
	size_t length = strlen(name);
	const char *value = line + length + 1;

	if (strncasecmp(line, name, length) != 0 || line[length] != ':')
		return NULL;
	while (parse_is_blank(*value))
		value++;
	return value;
}

/* Whether a list "a, b" has the word. */
static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
		while (parse_is_blank(*at))
			at++;
		if (strncasecmp(at, word, length) == 0 && strchr(", \t", at[length]))
			return true;
	}
	return false;
}

static int take_length(struct httpanswer *answer, const char *value)
{
	uint64_t length;

	if (parse_attr_u64(value, &length) < 0 || (answer->has_length && answer->length != length))
		return -EBADMSG;
	answer->length = length;
	answer->has_length = true;
	return 0;
}

/* Behind the empty line. The order is that of RFC 9112, section 6.3. */
static int begin_body(struct httpanswer *answer)
{
	if (answer->status / 100 == 1) {
		/* 101 is another protocol from here on, which was not asked for. */
		if (answer->status == 101)
			return -EBADMSG;
		*answer = (struct httpanswer){ .head = answer->head };
		return 0;
	}
	if (answer->status == 204 || answer->status == 304)
		answer->state = HTTPANSWER_DONE;
	else if (answer->is_chunked)
		answer->state = HTTPANSWER_CHUNK_SIZE;
	else if (answer->is_coded || !answer->has_length)
		answer->state = HTTPANSWER_UNTIL_CLOSE;
	else
		answer->state = answer->length > 0 ? HTTPANSWER_BODY : HTTPANSWER_DONE;
	answer->closes = answer->closes || answer->state == HTTPANSWER_UNTIL_CLOSE;
	return 0;
}

static int take_header(struct httpanswer *answer)
{
	const char *value;

	if (answer->n == 0)
		return begin_body(answer);
	value = value_of(answer->line, "Content-Length");
	if (value)
		return take_length(answer, value);
	value = value_of(answer->line, "Transfer-Encoding");
	if (value) {
		answer->is_coded = true;
		answer->is_chunked = has_word(value, "chunked");
	}
	value = value_of(answer->line, "Connection");
	if (value)
		answer->closes = has_word(value, "close") ||
			(answer->closes && !has_word(value, "keep-alive"));
	return 0;
}

/* "1f" or "1F;extension". */
static int take_chunk_size(struct httpanswer *answer)
{
	answer->line[strcspn(answer->line, "; \t")] = '\0';
	if (parse_hex_u64(answer->line, INT64_MAX, &answer->length) < 0)
		return -EBADMSG;
	answer->state = answer->length > 0 ? HTTPANSWER_CHUNK : HTTPANSWER_TRAILERS;
	return 0;
}

static int take_line(struct httpanswer *answer)
{
	switch (answer->state) {
	case HTTPANSWER_STATUS:
		return take_status(answer);
	case HTTPANSWER_HEADERS:
		return take_header(answer);
	case HTTPANSWER_CHUNK_SIZE:
		return take_chunk_size(answer);
	case HTTPANSWER_CHUNK_END:
		answer->state = HTTPANSWER_CHUNK_SIZE;
		return answer->n == 0 ? 0 : -EBADMSG;
	default:
		if (answer->n == 0)
			answer->state = HTTPANSWER_DONE;
		return 0;
	}
}

/* Takes bytes of a line, and the line when its end has come. */
static int feed_line(struct httpanswer *answer, const char *data, size_t size, size_t *used)
{
	const char *end = memchr(data, '\n', size);
	size_t length = end ? (size_t)(end - data) : size;
	size_t room = sizeof(answer->line) - 1 - answer->n, kept = MIN(length, room);
	bool is_cut;
	int r;

	*used += length + (end != NULL);
	/* Chunks may be many, and their lines are counted with the body. */
	if (answer->state != HTTPANSWER_CHUNK_SIZE && answer->state != HTTPANSWER_CHUNK_END)
		answer->head += length + (end != NULL);
	if (answer->head > HTTPANSWER_HEAD_MAX || memchr(data, '\0', kept))
		return -EBADMSG;
	memcpy(answer->line + answer->n, data, kept);
	answer->n += kept;
	if (!end)
		return 0;
	is_cut = answer->n == sizeof(answer->line) - 1;
	if (!is_cut && answer->n > 0 && answer->line[answer->n - 1] == '\r')
		answer->n--;
	answer->line[answer->n] = '\0';
	r = take_line(answer);
	answer->n = 0;
	return r;
}

int httpanswer_feed(struct httpanswer *answer, const char *data, size_t size, size_t *ret_used)
{
	size_t used = 0;
	int r = 0;

	while (r == 0 && used < size && answer->state != HTTPANSWER_DONE) {
		size_t left = size - used;

		if (answer->state == HTTPANSWER_UNTIL_CLOSE) {
			used = size;
		} else if (answer->state == HTTPANSWER_BODY || answer->state == HTTPANSWER_CHUNK) {
			size_t part = (size_t)MIN((uint64_t)left, answer->length);

			used += part;
			answer->length -= part;
			if (answer->length == 0)
				answer->state = answer->state == HTTPANSWER_BODY
					? HTTPANSWER_DONE
					: HTTPANSWER_CHUNK_END;
		} else {
			r = feed_line(answer, data + used, left, &used);
		}
	}
	if (r < 0)
		return r;
	*ret_used = used;
	return answer->state == HTTPANSWER_DONE;
}

int httpanswer_end(struct httpanswer *answer)
{
	if (answer->state != HTTPANSWER_UNTIL_CLOSE)
		return -EBADMSG;
	answer->state = HTTPANSWER_DONE;
	return 1;
}
