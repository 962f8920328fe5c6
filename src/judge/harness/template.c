// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/macro.h"
#include "base/text.h"
#include "base/words.h"
#include "base/xalloc.h"
#include "judge/harness/template.h"

static const char command_word[] = "{command}", program_word[] = "{program}",
		  arguments_word[] = "{arguments}", default_begin[] = "{default:";

bool template_has(const char *text, const char *placeholder)
{
	return text && strstr(text, placeholder);
}

int template_check(const char *text, char **ret_why)
{
	_cleanup_free_ char **words = NULL;
	bool command = false, program = false, arguments = false;
	const char *why;

	if (xcheck(words_split(text, &words, &why)) < 0)
		return xcheck(text_refuse(ret_why, -EINVAL, "'%s': %s", text, why));
	for (size_t i = 0; words[i]; i++) {
		command = command || strcmp(words[i], command_word) == 0;
		program = program || strcmp(words[i], program_word) == 0;
		arguments = arguments || strcmp(words[i], arguments_word) == 0;
	}
	if (command != (program && arguments))
		return 0;
	return xcheck(text_refuse(ret_why, -EINVAL,
		"'%s' needs {command} as a word of its own, or {program} and {arguments}", text));
}

/* A name as an expression that matches it alone. The levels of a name are matched by expressions of
 * their own, which are anchored like the whole one. */
static void append_pattern(struct text *t, const char *name, const char *level)
{
	size_t length = level ? strlen(level) : 0;

	while (*name) {
		if (length > 0 && strncmp(name, level, length) == 0) {
			text_appendf(t, "$%s^", level);
			name += length;
			continue;
		}
		if (strchr("\\^$.[]|()*+?{}", *name))
			text_append(t, "\\");
		text_append_n(t, name++, 1);
	}
}

/* Appends what a placeholder at the beginning of the text stands for; its length, 0 where there is
 * none. */
static size_t append_value(struct text *t, const char *text, const struct template_values *values)
{
	const struct {
		const char *placeholder, *value;
	} known[] = {
		{ "{benchmark}", values->benchmark },
		{ "{pattern}", values->benchmark },
		{ "{index}", values->index },
		{ "{loops}", values->loops },
		{ "{file}", values->file },
		{ "{folder}", values->folder },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (!known[i].value || !text_starts_with(text, known[i].placeholder))
			continue;
		if (known[i].placeholder[1] == 'p')
			append_pattern(t, known[i].value, values->level);
		else
			text_append(t, known[i].value);
		return strlen(known[i].placeholder);
	}
	return 0;
}

char *template_fill(const char *text, const struct template_values *values)
{
	_cleanup_text_ struct text t = { 0 };

	text_append(&t, "");
	while (*text) {
		size_t length = append_value(&t, text, values);

		if (length == 0)
			text_append_n(&t, text, 1);
		text += MAX(length, (size_t)1);
	}
	return xptr(text_steal(&t));
}

struct words {
	char **items;
	size_t n;
	size_t capacity;
};

/* Takes the word. */
static void add_word(struct words *words, char *word)
{
	xcheck(array_grow(&words->items, sizeof(*words->items), words->n, &words->capacity));
	words->items[words->n++] = word;
}

/* Whether the user's command has this option, "-o" or "-o=VALUE", with one hyphen or with two. */
static bool has_option(char *const *command, const char *option)
{
	size_t length;

	option += strspn(option, "-");
	length = strcspn(option, "=");
	for (size_t i = 1; command[i]; i++) {
		const char *word = command[i];
		size_t hyphens = strspn(word, "-");

		if (hyphens > 0 && strncmp(word + hyphens, option, length) == 0 &&
			(word[hyphens + length] == '=' || word[hyphens + length] == '\0'))
			return true;
	}
	return false;
}

/* The option of a word that is a default, malloc'd; NULL of any other word. */
static char *find_default(const char *word)
{
	size_t begin = strlen(default_begin), length = strlen(word);

	if (!text_starts_with(word, default_begin) || word[length - 1] != '}')
		return NULL;
	return xptr(strndup(word + begin, length - begin - 1));
}

char **template_fill_words(const char *text, const struct template_values *values)
{
	_cleanup_free_ char **split = NULL;
	struct words words = { 0 };
	const char *why;

	xcheck(words_split(text, &split, &why));
	for (size_t i = 0; split[i]; i++) {
		bool all = strcmp(split[i], command_word) == 0;
		_cleanup_free_ char *option = find_default(split[i]);

		if (option) {
			if (!has_option(values->command, option))
				add_word(&words, TAKE_PTR(option));
			continue;
		}
		if (all || strcmp(split[i], program_word) == 0)
			add_word(&words, xptr(strdup(values->command[0])));
		if (all || strcmp(split[i], arguments_word) == 0)
			for (size_t k = 1; values->command[k]; k++)
				add_word(&words, xptr(strdup(values->command[k])));
		else if (strcmp(split[i], program_word) != 0)
			add_word(&words, template_fill(split[i], values));
	}
	add_word(&words, NULL);
	return words.items;
}

void template_free_words(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}
