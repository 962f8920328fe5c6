// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/say.h"
#include "base/stop.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/harness/extract.h"
#include "judge/harness/template.h"
#include "measure/expand.h"
#include "measure/hooks.h"
#include "measure/host.h"
#include "measure/hostlist.h"
#include "measure/lastwords.h"

/* A list of names that grows, NULL-terminated. */
struct names {
	char **items;
	size_t n;
};

static bool list_has(char *const *list, const char *name)
{
	for (size_t i = 0; list && list[i]; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

/* Takes the name. */
static void names_add(struct names *names, char *name)
{
	names->items =
		xptr((char **)reallocarray(names->items, names->n + 2, sizeof(*names->items)));
	names->items[names->n++] = name;
	names->items[names->n] = NULL;
}

/* Finds names in what List has written. No file is no name: pyperf writes none where a script has
 * no benchmark of that number. */
static int find_names(struct host *host, int output, char ***ret)
{
	_cleanup_free_ char *text = NULL, *why = NULL;
	size_t size;
	int r = host_read_answer(host, &host->harness->hosting.names, output, &text, &size);

	if (r == -ENOENT) {
		*ret = xptr(calloc(1, sizeof(**ret)));
		return 0;
	}
	if (r < 0) {
		say_errno(r, "cannot read which benchmarks there are");
		return r;
	}
	r = extract_texts(&host->harness->hosting.names, &(struct output){ text, size }, ret, &why);
	if (r < 0)
		say("cannot find which benchmarks there are: %s", why);
	return r;
}

/* The words and the variables of a program for List. */
struct question {
	char *const *typed;
	const char *const *variables;
};

/* Runs List once, and adds the names that it writes. *ret_n: how many. */
static int ask_once(const struct options *o, const struct question *question, const char *index,
	struct stop *stop, struct names *names, size_t *ret_n)
{
	struct host *host = o->host;
	const struct host_words filled = { .typed = question->typed, .program = SIZE_MAX };
	_cleanup_close_ int output = lastwords_open("list");
	char **words, **found;
	int r;

	if (output < 0) {
		say_errno(output, "cannot make a file for a list of benchmarks");
		return output;
	}
	r = host_empty_folder(host);
	if (r < 0)
		return r;
	words = host_make_words(host, host->harness->hosting.list, &filled, index);
	r = hook_ask(o, words, question->variables, output, stop);
	template_free_words(words);
	if (r < 0)
		return r;
	r = find_names(host, output, &found);
	if (r < 0)
		return r;
	*ret_n = 0;
	for (size_t i = 0; found[i]; i++, ++*ret_n) {
		if (list_has(names->items, found[i]))
			free(found[i]);
		else
			names_add(names, found[i]);
	}
	free(found);
	return 0;
}

/* With {index} in it, List is run for 0, 1, ... until there is no such benchmark. */
static int ask(const struct options *o, const struct question *question, struct stop *stop,
	struct names *names)
{
	bool one_by_one = template_has(o->host->harness->hosting.list, "{index}");
	size_t n = 1;

	for (size_t i = 0; n > 0 && i <= PARAMETER_VALUES_MAX; i++) {
		size_t before = names->n;
		char index[24];
		int r;

		snprintf(index, sizeof(index), "%zu", i);
		r = ask_once(o, question, one_by_one ? index : NULL, stop, names, &n);
		if (r < 0 || !one_by_one)
			return r;
		if (n > 0 && names->n != before + 1) {
			say("benchmark %zu of %s has %s", i, question->typed[0],
				n > 1 ? "several names" : "the name of another one");
			return -EINVAL;
		}
	}
	return 0;
}

static size_t count_programs(const struct options *o)
{
	return o->n_programs - o->programs[o->n_programs - 1].is_control;
}

static int ask_all(struct options *o, struct stop *stop)
{
	struct host *host = o->host;

	for (size_t i = 0; i < count_programs(o); i++) {
		struct question question;
		struct names names = { 0 };
		int r = expand_first(o, i, &question.typed, &question.variables);

		if (r >= 0)
			r = ask(o, &question, stop, &names);
		host->lists[host->n_lists++] = names.items;
		if (r < 0)
			return r;
		if (names.n == 0) {
			say("%s lists no benchmark (%s)", question.typed[0], host->harness->name);
			return -ENODATA;
		}
	}
	return 0;
}

/* The program that has no benchmark of that name; SIZE_MAX where all have it. */
static size_t find_lacking(const struct host *host, const char *name)
{
	for (size_t i = 0; i < host->n_lists; i++)
		if (!list_has(host->lists[i], name))
			return i;
	return SIZE_MAX;
}

/* "a, b and 3 more" */
static char *list_text(char *const *list)
{
	enum {
		SHOWN = 8
	};
	_cleanup_text_ struct text t = { 0 };
	size_t n = 0;

	while (list && list[n])
		n++;
	for (size_t i = 0; i < MIN(n, (size_t)SHOWN); i++)
		text_appendf(&t, "%s%s", i > 0 ? ", " : "", list[i]);
	text_append_rest(&t, n, SHOWN);
	text_append(&t, "");
	return xptr(text_steal(&t));
}

/* Those of --benchmark. */
static int take_given(const struct options *o, struct names *ret)
{
	const struct host *host = o->host;

	for (size_t i = 0; i < o->n_benchmarks; i++) {
		size_t lacking = find_lacking(host, o->benchmarks[i]);
		_cleanup_free_ char *text = NULL;

		if (lacking == SIZE_MAX) {
			names_add(ret, xptr(strdup(o->benchmarks[i])));
			continue;
		}
		text = list_text(host->lists[lacking]);
		say("--benchmark: %s has no '%s', but %s", o->programs[lacking].name,
			o->benchmarks[i], text);
		return -EINVAL;
	}
	return 0;
}

/* Those that all programs list. */
static int take_common(const struct options *o, struct names *ret)
{
	const struct host *host = o->host;
	struct names left_out = { 0 };
	_cleanup_free_ char *text = NULL;

	for (size_t k = 0; k < host->n_lists; k++) {
		for (size_t i = 0; host->lists[k] && host->lists[k][i]; i++) {
			char *name = host->lists[k][i];
			struct names *names =
				find_lacking(host, name) == SIZE_MAX ? ret : &left_out;

			if (!list_has(names->items, name))
				names_add(names, xptr(strdup(name)));
		}
	}
	text = left_out.n > 0 ? list_text(left_out.items) : NULL;
	template_free_words(left_out.items);
	if (ret->n == 0) {
		say("no benchmark is in all programs: they have %s", text ? text : "none");
		return -EINVAL;
	}
	if (text)
		say("note: left out, because not all programs have it: %s", text);
	return 0;
}

static int take_names(struct options *o, struct names *names)
{
	int r = o->n_benchmarks > 0 ? take_given(o, names) : take_common(o, names);

	if (r < 0)
		return r;
	if (names->n > 1)
		return parameters_add(
			&o->parameters, "--benchmark", HOST_PARAMETER, names->items, names->n);
	o->host->only = xptr(strdup(names->items[0]));
	return 0;
}

/* Whether the programs have to be asked: for the names, or for the numbers that Run has in place of
 * names. */
static bool must_ask(const struct options *o)
{
	const struct hosting *hosting = &o->host->harness->hosting;

	return !o->dry_run && hosting->list &&
		(o->n_benchmarks == 0 || template_has(hosting->runs[0], "{index}"));
}

static void name_file(const struct host *host, struct rule *rule)
{
	if (rule->file && strcmp(rule->file, "{file}") == 0)
		xcheck(text_replace(&rule->file, host->file));
}

/* Now it is known which file {file} is. */
static void name_files(const struct host *host)
{
	for (size_t i = 0; i < host->harness->n_rules; i++)
		name_file(host, &host->harness->rules[i]);
	name_file(host, &host->harness->hosting.names);
	name_file(host, &host->harness->hosting.loops);
}

static int begin(struct options *o, struct stop *stop)
{
	struct host *host = o->host;
	struct names names = { 0 };
	int r = 0;

	if (!host->harness->hosting.list && o->n_benchmarks == 0) {
		say("%s does not list its benchmarks: name those to run by --benchmark",
			host->harness->name);
		return -EINVAL;
	}
	if (!o->dry_run)
		r = host_make_folder(host, o->user);
	if (r == 0 && host->file)
		name_files(host);
	if (r == 0 && must_ask(o))
		r = ask_all(o, stop);
	if (r == 0 && (host->n_lists > 0 || o->n_benchmarks > 0))
		r = take_names(o, &names);
	template_free_words(names.items);
	return r;
}

int hostlist_begin(struct options *o, int *ret_signal)
{
	struct stop stop;
	int r = stop_open(&stop);

	if (r < 0) {
		say_errno(r, "cannot take signals");
		return r;
	}
	r = begin(o, &stop);
	*ret_signal = stop.signal;
	stop_close(&stop);
	return r;
}
