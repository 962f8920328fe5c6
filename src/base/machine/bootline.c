// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/machine/bootline.h"
#include "base/parse.h"
#include "base/text.h"

enum {
	/* COMMAND_LINE_SIZE is 2048 on x86 and Arm, 4096 on s390; boot configuration adds to it. */
	CMDLINE_MAX = 64 * 1024,
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* The end of the word at `at`. Blanks inside double quotes belong to the word. */
static const char *end_of_word(const char *at)
{
	bool quoted = false;

	for (; *at && (quoted || !is_blank(*at)); at++)
		quoted ^= *at == '"';
	return at;
}

static char unify(char c)
{
	return c == '-' ? '_' : c;
}

/* Returns the position after the name, or NULL when the word has another name. */
static const char *skip_name(const char *word, const char *end, const char *name)
{
	for (; *name; word++, name++)
		if (word == end || unify(*word) != unify(*name))
			return NULL;
	return word == end || *word == '=' ? word : NULL;
}

/* Copies the text from `from` to `end` without double quotes. */
static char *copy_value(const char *from, const char *end)
{
	char *value = malloc((size_t)(end - from) + 1), *out = value;

	for (; value && from < end; from++)
		if (*from != '"')
			*out++ = *from;
	if (value)
		*out = '\0';
	return value;
}

/* The next occurrence of a parameter, from *at on, which moves behind it. *ret and *ret_end: its
 * value. */
static bool find_next(const char **at, const char *name, const char **ret, const char **ret_end)
{
	while (**at) {
		const char *word, *end, *behind;

		while (is_blank(**at))
			(*at)++;
		end = end_of_word(*at);
		if (end - *at == 2 && memcmp(*at, "--", 2) == 0)
			return false;
		/* The whole word may be quoted: "name=a b". */
		word = *at + (**at == '"');
		behind = skip_name(word, end, name);
		*at = end;
		if (behind) {
			*ret = behind < end ? behind + 1 : behind;
			*ret_end = end;
			return true;
		}
	}
	return false;
}

int bootline_find(const char *text, const char *name, char **ret)
{
	const char *found = NULL, *end = NULL;
	char *value;

	while (find_next(&text, name, &found, &end))
		;
	if (!found)
		return -ENOENT;
	value = copy_value(found, end);
	if (!value)
		return -ENOMEM;
	*ret = value;
	return 0;
}

/* The first value. *ret_others: whether another occurrence has a different value. Errors as
 * above. */
static int find_first(const char *text, const char *name, char **ret, bool *ret_others)
{
	const char *first, *first_end, *more, *end;
	bool others = false;
	char *value;

	if (!find_next(&text, name, &first, &first_end))
		return -ENOENT;
	while (find_next(&text, name, &more, &end))
		others = others || end - more != first_end - first ||
			memcmp(more, first, (size_t)(end - more)) != 0;
	value = copy_value(first, first_end);
	if (!value)
		return -ENOMEM;
	*ret = value;
	*ret_others = others;
	return 0;
}

/* Removes the empty parts of a list, which the kernel skips (bitmap_find_region() in
 * lib/bitmap-str.c). */
static void remove_empty_parts(char *list)
{
	char *out = list;

	for (const char *c = list; *c; c++) {
		if (*c != ',' || (out > list && c[1] != ',' && c[1] != '\0'))
			*out++ = *c;
	}
	*out = '\0';
}

/* Parses the flags in front of a list of isolcpus and removes them from the text. */
static void take_flags(char *text, struct bootline *ret)
{
	static const char *const names[] = { "nohz,", "domain,", "managed_irq," };
	bool *const flags[] = { &ret->nohz, &ret->domain, &ret->managed_irq };
	char *at = text;
	bool any = false;

	while (*at && !parse_is_digit(*at) && strchr(at, ',')) {
		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			if (text_starts_with(at, names[i]))
				*flags[i] = any = true;
		}
		/* `all` and `N` begin the list even when a comma follows them. */
		if (text_starts_with(at, "all") || *at == 'N')
			break;
		at = strchr(at, ',') + 1;
	}
	if (!any)
		ret->domain = true;
	memmove(text, at, strlen(at) + 1);
}

/* `text` may be changed. */
static int parse_list(char *text, unsigned n_cpus, struct bootline_list *list)
{
	int r;

	remove_empty_parts(text);
	r = cpumask_parse_list(text, n_cpus, list->cpus, NULL);
	list->refused = r == 0 && n_cpus > 0 && cpumask_last(list->cpus) >= (int)n_cpus;
	if (list->refused)
		cpumask_clear_all(list->cpus);
	return r == -ENOMEM ? r : 0;
}

/* Adds what another isolcpus says: its flags, or its CPUs where those until now do not have the
 * flag `domain`. *text is its list, and becomes NULL where it is taken over. */
static void merge_isolcpus(struct bootline *b, const struct bootline *more, char **text)
{
	if (cpumask_equal(more->isolcpus.cpus, b->isolcpus.cpus)) {
		b->domain = b->domain || more->domain;
		b->nohz = b->nohz || more->nohz;
		b->managed_irq = b->managed_irq || more->managed_irq;
		return;
	}
	b->isolcpus.others = true;
	if (!more->domain || b->domain)
		return;
	cpumask_assign(b->isolcpus.cpus, more->isolcpus.cpus);
	b->domain = true;
	b->nohz = more->nohz;
	b->managed_irq = more->managed_irq;
	free(b->isolcpus.text);
	b->isolcpus.text = TAKE_PTR(*text);
}

static int add_isolcpus(struct bootline *b, const char *value, const char *end, unsigned n_cpus)
{
	_cleanup_free_ char *text = copy_value(value, end);
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	struct bootline more = { 0 };
	int r;

	if (!text || cpumask_new(&cpus) < 0)
		return -ENOMEM;
	more.isolcpus.cpus = cpus;
	take_flags(text, &more);
	r = parse_list(text, n_cpus, &more.isolcpus);
	if (r == 0 && !cpumask_is_empty(cpus))
		merge_isolcpus(b, &more, &text);
	return r;
}

/* Adds all isolcpus behind the first one. */
static int add_more_isolcpus(struct bootline *b, unsigned n_cpus)
{
	const char *at = b->text, *value, *end;
	int r = 0;

	b->isolcpus.others = false;
	(void)find_next(&at, "isolcpus", &value, &end);
	while (r == 0 && find_next(&at, "isolcpus", &value, &end))
		r = add_isolcpus(b, value, end, n_cpus);
	return r;
}

static int find_list(
	struct bootline *bootline, const char *name, bool first, struct bootline_list *ret)
{
	int r = cpumask_new(&ret->cpus);

	if (r == 0 && first)
		r = find_first(bootline->text, name, &ret->text, &ret->others);
	else if (r == 0)
		r = bootline_find(bootline->text, name, &ret->text);
	return r == -ENOENT ? 0 : r;
}

int bootline_parse(const char *text, unsigned n_cpus, struct bootline **ret)
{
	_cleanup_(bootline) struct bootline *b = calloc(1, sizeof(*b));
	int r = 0;

	if (!b)
		return -ENOMEM;
	b->text = strdup(text);
	if (!b->text)
		return -ENOMEM;
	struct {
		const char *name;
		bool first; /* the first occurrence counts, not the last */
		struct bootline_list *list;
	} const lists[] = {
		{ "isolcpus", true, &b->isolcpus },
		{ "nohz_full", true, &b->nohz_full },
		{ "rcu_nocbs", false, &b->rcu_nocbs },
		{ "irqaffinity", false, &b->irqaffinity },
	};

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(lists); i++) {
		r = find_list(b, lists[i].name, lists[i].first, lists[i].list);
		if (r < 0 || !lists[i].list->text)
			continue;
		if (lists[i].list == &b->isolcpus)
			take_flags(b->isolcpus.text, b);
		r = parse_list(lists[i].list->text, n_cpus, lists[i].list);
		if (r == 0 && lists[i].list == &b->isolcpus)
			r = add_more_isolcpus(b, n_cpus);
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(b);
	return 0;
}

/* Whether the text is a complete line without control characters, which no boot loader passes. */
static bool is_line(const char *text)
{
	size_t length = strlen(text);

	for (const char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' && !is_blank(*c))
			return false;
	return length > 0 && text[length - 1] == '\n';
}

int bootline_read(unsigned n_cpus, struct bootline **ret)
{
	_cleanup_free_ char *text = NULL;
	int r;

	r = file_read_all("/proc/cmdline", CMDLINE_MAX, &text, NULL);
	if (r < 0)
		return r;
	/* Even an empty command line ends in a newline (fs/proc/cmdline.c). */
	if (!*text)
		return -ENODATA;
	if (!is_line(text))
		return -EBADMSG;
	return bootline_parse(text, n_cpus, ret);
}

void bootline_free(struct bootline *b)
{
	if (!b)
		return;
	free(b->text);
	free(b->isolcpus.text);
	free(b->nohz_full.text);
	free(b->rcu_nocbs.text);
	free(b->irqaffinity.text);
	cpumask_free(b->isolcpus.cpus);
	cpumask_free(b->nohz_full.cpus);
	cpumask_free(b->rcu_nocbs.cpus);
	cpumask_free(b->irqaffinity.cpus);
	free(b);
}
