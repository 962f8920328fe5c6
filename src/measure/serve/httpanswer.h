/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where an answer of HTTP/1.0 or 1.1 ends, and what its status is (RFC 9112). The body is counted
 * and thrown away. All memory is in the struct; a server may have written anything.
 */
#ifndef QUIESCE_MEASURE_SERVE_HTTPANSWER_H
#define QUIESCE_MEASURE_SERVE_HTTPANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTPANSWER_LINE_MAX 256		/* of a line, what is behind it is of no interest */
#define HTTPANSWER_HEAD_MAX (64 * 1024) /* status line and headers, and trailers likewise */

enum httpanswer_state {
	HTTPANSWER_STATUS,
	HTTPANSWER_HEADERS,
	HTTPANSWER_BODY, /* of a length that is known */
	HTTPANSWER_CHUNK_SIZE,
	HTTPANSWER_CHUNK,
	HTTPANSWER_CHUNK_END,
	HTTPANSWER_TRAILERS,
	HTTPANSWER_UNTIL_CLOSE,
	HTTPANSWER_DONE,
};

/* All zero before the first byte of an answer. */
struct httpanswer {
	enum httpanswer_state state;
	int status;
	bool closes; /* the server closes the connection behind the answer */
	bool is_chunked, is_coded, has_length;
	uint64_t length; /* of the body, or of the chunk: what is left of it */
	size_t head;	 /* bytes of lines so far */
	size_t n;	 /* bytes of the line */
	char line[HTTPANSWER_LINE_MAX];
};

/* Takes bytes up to the end of the answer; *ret_used is how many these were. 1 when the answer is
 * whole, 0 when it goes on, -EBADMSG when this is no answer. */
int httpanswer_feed(struct httpanswer *answer, const char *data, size_t size, size_t *ret_used);
/* The server has closed the connection: 1 when that ends the answer, else -EBADMSG. */
int httpanswer_end(struct httpanswer *answer);

#endif
