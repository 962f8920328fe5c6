// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/harness/extract.h"
#include "judge/result/metadata.h"

#define refuse(ret_why, ...) xcheck(text_refuse(ret_why, -EBADMSG, __VA_ARGS__))

/* The length of the escape sequence of a terminal that begins here, 0 for none (ECMA-48, 5.4: CSI,
 * parameters, intermediate bytes, and a final byte). */
static size_t escape_length(const char *p, size_t n)
{
	size_t i = 2;

	if (n < 3 || p[0] != '\033' || p[1] != '[')
		return 0;
	while (i < n && p[i] >= 0x20 && p[i] <= 0x3f)
		i++;
	return i < n && p[i] >= 0x40 && p[i] <= 0x7e ? i + 1 : 0;
}

/* The next line, without colours, and cut: a carriage return ends one as well, because a progress
 * line is written over itself. False behind the last one. */
static bool next_line(struct output *rest, char line[static EXTRACT_LINE_MAX])
{
	size_t n = 0, i = 0;

	if (rest->size == 0)
		return false;
	while (i < rest->size && rest->text[i] != '\n' && rest->text[i] != '\r') {
		size_t skip = escape_length(rest->text + i, rest->size - i);

		/* A NUL would end the line for regexec(3). */
		if (skip == 0 && n < EXTRACT_LINE_MAX - 1 && rest->text[i] != '\0')
			line[n++] = rest->text[i];
		i += MAX(skip, (size_t)1);
	}
	line[n] = '\0';
	i += i < rest->size;
	rest->text += i;
	rest->size -= i;
	return true;
}

/* The matches of a rule, as texts. */
struct match {
	char *name;
	char *unit; /* NULL: none */
	char *text; /* of the number; NULL: it is `number` */
	double number;
};

struct matches {
	struct match *items;
	size_t n;
	size_t capacity;
};

static void match_clear(struct match *match)
{
	free(match->name);
	free(match->unit);
	free(match->text);
}

static void matches_clear(struct matches *matches)
{
	for (size_t i = 0; i < matches->n; i++)
		match_clear(&matches->items[i]);
	free(matches->items);
}

/* Takes the match, unless what is called so is left out. */
static void add_match(const struct rule *rule, struct matches *matches, struct match match)
{
	if (rule->has_skip && rule_matches(&rule->skip, match.name, 0, NULL)) {
		match_clear(&match);
		return;
	}
	xcheck(array_grow(&matches->items, sizeof(match), matches->n, &matches->capacity));
	matches->items[matches->n++] = match;
}

static char *group_text(const char *line, const regmatch_t *group)
{
	return group->rm_so < 0
		? xptr(strdup(""))
		: xptr(strndup(line + group->rm_so, (size_t)(group->rm_eo - group->rm_so)));
}

/* The text with each \N replaced by what group N has matched. */
static char *expand(const char *text, const char *line, const regmatch_t *groups)
{
	_cleanup_text_ struct text t = { 0 };

	for (; *text; text++) {
		if (*text == '\\' && parse_is_digit(text[1])) {
			_cleanup_free_ char *group = group_text(line, &groups[*++text - '0']);

			text_append(&t, group);
		} else {
			text_append_n(&t, text, 1);
		}
	}
	text_append(&t, "");
	return xptr(text_steal(&t));
}

/* Keeps what the line says for those after it. */
static void look_before(const struct line_before *before, const char *line, char **text)
{
	regmatch_t groups[2];

	if (!before->is_there || !rule_matches(&before->regex, line, ARRAY_SIZE(groups), groups))
		return;
	free(*text);
	*text = group_text(line, &groups[1]);
}

static void find_lines(const struct rule *rule, const struct output *output, struct matches *ret)
{
	_cleanup_free_ char *name = NULL, *unit = NULL; /* that a line before has said */
	regmatch_t groups[RULE_MAX_GROUPS + 1];
	struct output rest = *output;
	char line[EXTRACT_LINE_MAX];

	/* One more than may be is enough to see it. */
	while (ret->n <= EXTRACT_FIGURES_MAX && next_line(&rest, line)) {
		look_before(&rule->name_line, line, &name);
		look_before(&rule->unit_line, line, &unit);
		if ((rule->name_line.is_there && !name) || (rule->unit_line.is_there && !unit) ||
			!rule_matches(&rule->regex, line, ARRAY_SIZE(groups), groups))
			continue;
		add_match(rule, ret,
			(struct match){
				.name = name ? xptr(strdup(name))
					     : expand(rule->name, line, groups),
				.unit = unit	     ? xptr(strdup(unit))
					: rule->unit ? expand(rule->unit, line, groups)
						     : NULL,
				.text = group_text(line, &groups[MAX(rule->value_group, 1U)]),
			});
	}
}

bool extract_matches(const regex_t *regex, const struct output *output, char **ret_line)
{
	struct output rest = *output;
	char line[EXTRACT_LINE_MAX];
	bool found = false;

	while (!found && next_line(&rest, line))
		found = rule_matches(regex, line, 0, NULL);
	if (found)
		*ret_line = xptr(strdup(line));
	return found;
}

int extract_check(const struct harness *harness, const struct output *output, char **ret_why)
{
	for (size_t i = 0; i < harness->n_fails; i++) {
		const struct fail *fail = &harness->fails[i];
		_cleanup_free_ char *line = NULL;

		if (extract_matches(&fail->regex, output, &line))
			return fail->because
				? refuse(ret_why, "it says: %s (%s)", line, fail->because)
				: refuse(ret_why, "it says: %s", line);
	}
	return 0;
}

static const char *source_name(const struct rule *rule)
{
	return rule->source == FIGURE_STDOUT	? "standard output"
		: rule->source == FIGURE_STDERR ? "standard error"
						: rule->file;
}

/* The texts that a path leads to, of which there must be one for each of n values, or one for all.
 */
static int find_texts(const struct jsonpath *path, const struct output *output, size_t n,
	const char *of, struct jsonpath_values *ret, char **ret_why)
{
	int r = jsonpath_find(path, output->text, output->size, ret, ret_why);

	if (r < 0)
		return -EBADMSG;
	for (size_t i = 0; i < ret->n; i++)
		if (!ret->items[i].string)
			return refuse(ret_why, "a %s is a number", of);
	if (ret->n != n && ret->n != 1)
		return refuse(ret_why, "%zu values and %zu %ss", n, ret->n, of);
	return 0;
}

static int find_values(
	const struct rule *rule, const struct output *output, struct matches *ret, char **ret_why)
{
	struct jsonpath_values values = { 0 }, names = { 0 }, units = { 0 };
	_cleanup_free_ char *why = NULL;
	int r = jsonpath_find(rule->path, output->text, output->size, &values, &why);

	if (r < 0)
		return refuse(
			ret_why, "no value of %s: %s: %s", rule->label, source_name(rule), why);
	if (values.n > 0 && rule->name_path)
		r = find_texts(rule->name_path, output, values.n, "name", &names, ret_why);
	if (r >= 0 && values.n > 0 && rule->unit_path)
		r = find_texts(rule->unit_path, output, values.n, "unit", &units, ret_why);
	for (size_t i = 0; r >= 0 && i < values.n; i++) {
		const char *name =
			names.n > 0 ? names.items[names.n > 1 ? i : 0].string : rule->name;
		const char *unit =
			units.n > 0 ? units.items[units.n > 1 ? i : 0].string : rule->unit;

		add_match(rule, ret,
			(struct match){
				.name = xptr(strdup(name)),
				.unit = unit ? xptr(strdup(unit)) : NULL,
				.text = TAKE_PTR(values.items[i].string),
				.number = values.items[i].number,
			});
	}
	jsonpath_values_clear(&values);
	jsonpath_values_clear(&names);
	jsonpath_values_clear(&units);
	return r < 0 ? -EBADMSG : 0;
}

/* A name without blanks around it, with one where a table has several, and safe to print. */
static char *clean_name(const char *name)
{
	char *clean = metadata_clean(name);
	size_t at = 0;

	for (const char *p = clean; *p; p++)
		if (p[0] != ' ' || p[1] != ' ')
			clean[at++] = *p;
	clean[at] = '\0';
	return clean;
}

static int make_figure(
	const struct rule *rule, const struct match *match, struct figure *ret, char **ret_why)
{
	_cleanup_free_ char *name =
		clean_name(rule->take == TAKE_VALUES ? rule->label : match->name);
	struct figure figure = {
		.better = rule->better, .value = match->number, .is_exact = rule->is_exact, .n = 1
	};
	struct quantity_unit unit = { .factor = 1, .per = 1 };

	if (!*name || strlen(name) > RULE_NAME_MAX)
		return refuse(ret_why, "the name of a figure is %s", *name ? "too long" : "empty");
	if (match->text &&
		quantity_parse_number(match->text, rule->commas, &figure.value, &figure.step) < 0)
		return refuse(ret_why, "%s: '%s' is not a number", name, match->text);
	if (!isfinite(figure.value))
		return refuse(ret_why, "%s is not a number", name);
	if (match->unit && *match->unit && quantity_parse_unit(match->unit, &unit) < 0)
		return refuse(ret_why, "the unit of %s is none", name);
	memcpy(figure.unit, unit.base, sizeof(figure.unit));
	figure.value = quantity_to_base(figure.value, &unit);
	figure.step = quantity_to_base(figure.step, &unit);
	figure.name = TAKE_PTR(name);
	*ret = figure;
	return 0;
}

/* Whether all values are of one kind, so that they can be told in their order. */
static bool keeps_values(enum figure_take take)
{
	return take == TAKE_VALUES || take == TAKE_MEAN || take == TAKE_EACH;
}

static void add_value(struct figure *figure, double value)
{
	figure->values = xptr((double *)reallocarray(
		figure->values, figure->n_values + 1, sizeof(*figure->values)));
	figure->values[figure->n_values++] = value;
}

/* What several values of one name become; they are of one unit. */
static int join(
	enum figure_take take, struct figure *sum, const struct figure *next, char **ret_why)
{
	double from = next->value - sum->value;

	if (take == TAKE_ONE)
		return refuse(ret_why, "two values of %s: %.15g and %.15g", sum->name, sum->value,
			next->value);
	if (strcmp(sum->unit, next->unit) != 0)
		return refuse(ret_why, "%s is in %s and in %s", sum->name, sum->unit, next->unit);
	if (keeps_values(take))
		add_value(sum, next->value);
	sum->step = fmax(sum->step, next->step);
	if (take == TAKE_SUM || take == TAKE_LAST) {
		sum->value = take == TAKE_SUM ? sum->value + next->value : next->value;
		return 0;
	}
	/* Welford, Technometrics 4, 1962. */
	sum->value += from / (double)++sum->n;
	sum->squares += from * (next->value - sum->value);
	return 0;
}

int figures_add(struct figures *figures, size_t first, enum figure_take take, struct figure *figure,
	char **ret_why)
{
	for (size_t i = 0; i < figures->n; i++) {
		int r;

		if (strcmp(figures->items[i].name, figure->name) != 0)
			continue;
		r = i >= first ? join(take, &figures->items[i], figure, ret_why)
			       : refuse(ret_why, "two figures are called %s", figure->name);
		free(TAKE_PTR(figure->name));
		return r < 0 ? r : (int)i;
	}
	xcheck(array_grow(
		&figures->items, sizeof(*figures->items), figures->n, &figures->capacity));
	if (keeps_values(take))
		add_value(figure, figure->value);
	figures->items[figures->n] = *figure;
	return (int)figures->n++;
}

/* The values of a figure are of one thing. */
static int check_names(const struct matches *matches, char **ret_why)
{
	for (size_t i = 1; i < matches->n; i++) {
		_cleanup_free_ char *first = NULL, *other = NULL;

		if (strcmp(matches->items[i].name, matches->items[0].name) == 0)
			continue;
		first = clean_name(matches->items[0].name);
		other = clean_name(matches->items[i].name);
		return refuse(ret_why, "values of two benchmarks, %s and %s", first, other);
	}
	return 0;
}

static int find_matches(
	const struct rule *rule, const struct output *output, struct matches *ret, char **ret_why)
{
	int r = 0;

	if (rule->path)
		r = find_values(rule, output, ret, ret_why);
	else
		find_lines(rule, output, ret);
	if (r >= 0 && ret->n > EXTRACT_FIGURES_MAX)
		r = refuse(ret_why, "more than %d values of %s", EXTRACT_FIGURES_MAX, rule->label);
	return r;
}

int extract_figures(const struct rule *rule, const struct output *output, struct figures *figures,
	char **ret_why)
{
	struct matches matches = { 0 };
	size_t first = figures->n;
	int r = find_matches(rule, output, &matches, ret_why);

	if (r >= 0 && matches.n == 0 && !rule->optional)
		r = refuse(ret_why, "no value of %s: nothing in %s matches '%s'", rule->label,
			source_name(rule), rule->pattern);
	if (r >= 0 && rule->take == TAKE_VALUES)
		r = check_names(&matches, ret_why);
	for (size_t i = 0; r >= 0 && i < matches.n; i++) {
		struct figure figure;

		r = make_figure(rule, &matches.items[i], &figure, ret_why);
		if (r >= 0)
			r = figures_add(figures, first, rule->take, &figure, ret_why);
	}
	matches_clear(&matches);
	return MIN(r, 0);
}

int extract_texts(const struct rule *rule, const struct output *output, char ***ret, char **ret_why)
{
	struct matches matches = { 0 };
	char **texts;
	int r = find_matches(rule, output, &matches, ret_why);

	if (r >= 0) {
		texts = xptr(calloc(matches.n + 1, sizeof(*texts)));
		for (size_t i = 0; i < matches.n; i++) {
			struct match *match = &matches.items[i];

			texts[i] = match->text ? TAKE_PTR(match->text)
					       : xformat("%.17g", match->number);
		}
		*ret = texts;
	}
	matches_clear(&matches);
	return r;
}

void figures_clear(struct figures *figures)
{
	for (size_t i = 0; i < figures->n; i++) {
		free(figures->items[i].name);
		free(figures->items[i].values);
	}
	free(figures->items);
	*figures = (struct figures){ 0 };
}
