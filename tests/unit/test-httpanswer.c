// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"
#include "measure/serve/httpanswer.h"

#define OK "HTTP/1.1 200 OK\r\n"

struct sample {
	const char *text;
	int result; /* of the whole text, followed by the end of the connection where that is 0 */
	int status;
	bool closes;
	size_t more; /* bytes at the end of the text that belong to no answer */
};

static const struct sample samples[] = {
	{ OK "Content-Length: 5\r\n\r\nhello", 1, 200, false, 0 },
	{ OK "content-length:5  \r\n\r\nhello", 1, 200, false, 0 },
	{ OK "Content-Length: 0\r\n\r\n", 1, 200, false, 0 },
	{ OK "Content-Length: 2\r\n\r\nhello", 1, 200, false, 3 },
	{ OK "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 1, 200, false, 0 },
	{ "HTTP/1.1 200\nContent-Length: 1\n\n!", 1, 200, false, 0 },
	{ "HTTP/1.1 200 \nContent-Length: 1\n\n!", 1, 200, false, 0 },
	{ "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 1\r\nConnection: close\r\n\r\n!", 1,
		503, true, 0 },
	{ "HTTP/1.1 204 No Content\r\n\r\n", 1, 204, false, 0 },
	{ "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 1, 304, false, 0 },
	{ "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n!", 1, 200, true, 0 },
	{ "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\n!", 1, 200, false,
		0 },
	{ OK "Connection: upgrade, Close\r\nContent-Length: 1\r\n\r\n!", 1, 200, true, 0 },
	{ OK "Connection: closed\r\nContent-Length: 1\r\n\r\n!", 1, 200, false, 0 },
	{ OK "\r\nuntil the end", 1, 200, true, 0 },
	{ OK "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 1, 200, false, 0 },
	{ OK "Transfer-Encoding: gzip, chunked\r\n\r\n1F;a=\"b\"\r\n0123456789012345678901234567890\r\n"
	     "0\r\nTrailer: 1\r\n\r\n",
		1, 200, false, 0 },
	{ OK "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 1,
		200, false, 0 },
	{ OK "Transfer-Encoding: gzip\r\n\r\nuntil the end", 1, 200, true, 0 },
	{ "HTTP/1.1 100 Continue\r\n\r\n" OK "Content-Length: 1\r\n\r\n!", 1, 200, false, 0 },
	{ "HTTP/1.1 103 Early Hints\r\nContent-Length: 3\r\n\r\n" OK "Content-Length: 1\r\n\r\n!",
		1, 200, false, 0 },
	/* No answers. */
	{ "HTTP/1.1 101 Switching Protocols\r\n\r\n", -EBADMSG, 0, false, 0 },
	{ "HTTP/2 200\r\n\r\n", -EBADMSG, 0, false, 0 },
	{ "HTTP/1.1 2000 OK\r\n\r\n", -EBADMSG, 0, false, 0 },
	{ "HTTP/1.1 099 OK\r\n\r\n", -EBADMSG, 0, false, 0 },
	{ "SSH-2.0-OpenSSH_9.2p1\r\n", -EBADMSG, 0, false, 0 },
	{ "\r\n", -EBADMSG, 0, false, 0 },
	{ OK "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", -EBADMSG, 0, false, 0 },
	{ OK "Content-Length: -1\r\n\r\n", -EBADMSG, 0, false, 0 },
	{ OK "Content-Length: 5, 5\r\n\r\nhello", -EBADMSG, 0, false, 0 },
	{ OK "Transfer-Encoding: chunked\r\n\r\nx\r\n", -EBADMSG, 0, false, 0 },
	{ OK "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", -EBADMSG, 0, false, 0 },
	{ OK "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", -EBADMSG, 0, false, 0 },
	/* Answers that end in the middle. */
	{ "", -EBADMSG, 0, false, 0 },
	{ "HTTP/1.1 200 OK", -EBADMSG, 0, false, 0 },
	{ OK "Content-Length: 5\r\n", -EBADMSG, 0, false, 0 },
	{ OK "Content-Length: 5\r\n\r\nhell", -EBADMSG, 0, false, 0 },
	{ OK "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", -EBADMSG, 0, false, 0 },
};

/* Feeds the text in pieces, each in memory of its own, so that tools see what is read beyond it. */
static void feed(const struct sample *sample, size_t piece)
{
	struct httpanswer answer = { 0 };
	size_t length = strlen(sample->text), at = 0, used;
	int r = 0;

	while (r == 0 && at < length) {
		size_t n = MIN(piece, length - at);
		char *copy = malloc(n);

		assert_non_null(copy);
		memcpy(copy, sample->text + at, n);
		r = httpanswer_feed(&answer, copy, n, &used);
		free(copy);
		at += r < 0 ? 0 : used;
	}
	if (r == 0)
		r = httpanswer_end(&answer);
	if (r != sample->result)
		print_error("in pieces of %zu: %s\n", piece, sample->text);
	assert_int_equal(r, sample->result);
	if (r < 0)
		return;
	assert_int_equal(answer.status, sample->status);
	assert_int_equal(answer.closes, sample->closes);
	assert_int_equal(length - at, sample->more);
}

static void test_samples(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		for (size_t piece = 1; piece <= strlen(samples[i].text) + 1; piece++)
			feed(&samples[i], piece);
	}
}

/* A line that is longer than what is kept of it, and more headers than anybody needs. */
static void test_bounds(void **state)
{
	static char text[HTTPANSWER_HEAD_MAX + 1000];
	struct httpanswer answer = { 0 };
	size_t used;
	int n;

	(void)state;
	n = snprintf(text, sizeof(text), "%sCookie: %01000d\r\nContent-Length: 1\r\n\r\n!", OK, 0);
	assert_int_equal(httpanswer_feed(&answer, text, (size_t)n, &used), 1);
	assert_int_equal(used, n);
	answer = (struct httpanswer){ 0 };
	n = snprintf(text, sizeof(text), "%sCookie: %0*d", OK, HTTPANSWER_HEAD_MAX, 0);
	assert_int_equal(httpanswer_feed(&answer, text, (size_t)n, &used), -EBADMSG);
	/* The same without end, in small headers. */
	answer = (struct httpanswer){ 0 };
	assert_int_equal(httpanswer_feed(&answer, OK, strlen(OK), &used), 0);
	for (n = 0; n < HTTPANSWER_HEAD_MAX && httpanswer_feed(&answer, "A: b\r\n", 6, &used) == 0;
		n++)
		;
	assert_in_range(n, HTTPANSWER_HEAD_MAX / 8, HTTPANSWER_HEAD_MAX / 6);
	/* A byte that no header has. */
	answer = (struct httpanswer){ 0 };
	assert_int_equal(httpanswer_feed(&answer, "HTTP/1.1 200 \0\r\n", 16, &used), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
