// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/words.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* Appends the character after a backslash; false at the end of the text. */
static bool take_escaped(const char **in, char **out)
{
	if (!**in)
		return false;
	*(*out)++ = *(*in)++;
	return true;
}

/* How long "NAME}" is, a name of letters, digits and _, at the beginning of the text; 0 when there
 * is something else. */
static size_t name_in_braces(const char *text)
{
	size_t n = text_name_length(text);

	return n > 0 && text[n] == '}' ? n + 1 : 0;
}

/* Parses one word from *in to *out. Returns NULL, or what is wrong with it. */
static const char *take_word(const char **in, char **out)
{
	static const char escapable[] = "\"\\$`";
	static const char for_a_shell[] =
		"a character in it is for a shell, and there is none: quote it, or give it to sh "
		"-c (runpinned: --shell)";
	const char *began = *in;
	char quote = '\0';

	for (; **in && (quote || !is_blank(**in));) {
		char c = *(*in)++;

		if (c == quote) {
			quote = '\0';
		} else if (quote == '\'') {
			*(*out)++ = c;
		} else if (c == '\\' && (!quote || (**in && strchr(escapable, **in)))) {
			if (!take_escaped(in, out))
				return "it ends with a backslash";
		} else if (c == '$' || c == '`') {
			return "outside of '...', $ and ` are for a shell, and there is none: give "
			       "it to sh -c '...' (runpinned: --shell)";
		} else if (quote) {
			*(*out)++ = c;
		} else if (c == '\'' || c == '"') {
			quote = c;
		} else if (c == '{' && name_in_braces(*in) > 0) {
			size_t length = name_in_braces(*in);

			memcpy(*out, *in - 1, length + 1);
			*out += length + 1;
			*in += length;
		} else if (strchr("|&;<>(){}*?[]", c) || (strchr("~#", c) && *in == began + 1)) {
			return for_a_shell;
		} else {
			*(*out)++ = c;
		}
	}
	if (quote)
		return "a quote is not closed";
	*(*out)++ = '\0';
	return NULL;
}

int words_split(const char *text, char ***ret, const char **ret_why)
{
	size_t length = strlen(text), n = 0, most = length / 2 + 2;
	_cleanup_free_ char **words = NULL;
	const char *in = text;
	char *out;

	/* Every word but the last needs at least a character and a blank in the text, which bounds
	 * the number of words. The words are never longer than the text. */
	words = malloc(most * sizeof(*words) + length + 2);
	if (!words)
		return -ENOMEM;
	out = (char *)(words + most);
	for (;;) {
		const char *why;

		while (is_blank(*in))
			in++;
		if (!*in)
			break;
		words[n++] = out;
		why = take_word(&in, &out);
		if (why) {
			*ret_why = why;
			return -EINVAL;
		}
	}
	words[n] = NULL;
	*ret = TAKE_PTR(words);
	return 0;
}
