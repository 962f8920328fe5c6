// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/text.h"
#include "judge/harness/benchfmt.h"
#include "judge/harness/extract.h"
#include "judge/harness/harness.h"
#include "judge/harness/signs.h"
#include "judge/harness/template.h"

static void test_units(void **state)
{
	static const struct {
		const char *text, *base;
		double factor;
		bool cost;
	} cases[] = {
		{ "s", "s", 1, true },
		{ "ns", "s", 1e-9, true },
		{ "\xc2\xb5s", "s", 1e-6, true },
		{ "\xce\xbcs", "s", 1e-6, true },
		{ "min", "s", 60, true },
		{ "m", "s", 60, true },
		{ "ns/op", "s/op", 1e-9, true },
		{ "B", "B", 1, true },
		{ "MiB", "B", 1048576, true },
		{ "B/op", "B/op", 1, true },
		{ "kB/s", "B/s", 1e3, false },
		{ "GiB/sec", "B/s", 1073741824, false },
		{ "Gbit/s", "bit/s", 1e9, false },
		{ "Mb/s", "bit/s", 1e6, false },
		{ "1/s", "1/s", 1, false },
		{ "/s", "1/s", 1, false },
		{ "k/s", "1/s", 1e3, false },
		{ "requests/s", "requests/s", 1, false },
		{ "ops/s", "ops/s", 1, false },
		{ "MIPS", "MIPS", 1, false },
		{ "allocs/op", "allocs/op", 1, false },
		{ "k", "k", 1, false },
		{ "%", "%", 1, false },
	};
	static const char *const bad[] = { "a b", "a\tb", "\033[1m", "a\nb",
		"0123456789012345678901234567890123456789" };
	struct quantity_unit unit;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(quantity_parse_unit(cases[i].text, &unit), 0);
		assert_string_equal(unit.base, cases[i].base);
		assert_true(unit.factor / unit.per == cases[i].factor);
		assert_int_equal(quantity_is_cost(unit.base), cases[i].cost);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(quantity_parse_unit(bad[i], &unit), -EINVAL);
}

static void test_numbers(void **state)
{
	static const struct {
		const char *text;
		bool commas;
		double value, step;
	} cases[] = {
		{ "12", false, 12, 1 },
		{ "12.50", false, 12.5, 0.01 },
		{ "-3.5", false, -3.5, 0.1 },
		{ "1.2e3", false, 1200, 100 },
		{ "1e-3", false, 1e-3, 1e-3 },
		{ "6.25e+2", false, 625, 1 },
		{ "1,234.5", true, 1234.5, 0.1 },
		{ "0.80", true, 0.8, 0.01 },
	};
	static const char *const bad[] = { "", "-", "nan", "inf", "-nan", "1.", ".5", "1,5", "0x10",
		"1 ", " 1", "1.2.3", "1e", "1e999", "12s" };
	double value, step;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(
			quantity_parse_number(cases[i].text, cases[i].commas, &value, &step), 0);
		assert_true(value == cases[i].value);
		assert_true(fabs(step / cases[i].step - 1) < 1e-12);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(quantity_parse_number(bad[i], false, &value, &step), -EINVAL);
	assert_int_equal(quantity_parse_number(",1", true, &value, &step), -EINVAL);
	assert_int_equal(quantity_parse_number("1,", true, &value, &step), -EINVAL);
	assert_int_equal(quantity_parse_number("1.5,0", true, &value, &step), -EINVAL);
}

/* What a rule finds in an output: "name=value unit;..." or "!reason". */
static char *find(const char *text, bool is_json, const char *written)
{
	struct output output = { written, strlen(written) };
	struct figures figures = { 0 };
	_cleanup_free_ char *why = NULL;
	struct text t = { 0 };
	struct rule rule;
	int r = rule_parse(text, is_json, &rule, &why);

	if (r >= 0) {
		r = extract_figures(&rule, &output, &figures, &why);
		rule_clear(&rule);
	}
	if (r < 0)
		text_appendf(&t, "!%s", why);
	for (size_t i = 0; r >= 0 && i < figures.n; i++)
		text_appendf(&t, "%s%s=%.9g %s", i > 0 ? ";" : "", figures.items[i].name,
			figures.items[i].value, figures.items[i].unit);
	figures_clear(&figures);
	text_append(&t, "");
	return text_steal(&t);
}

static void test_rules(void **state)
{
	static const struct {
		const char *rule, *written, *found;
	} cases[] = {
		{ "rps,1/s,higher=^rps: ([0-9.]+)", "x\nrps: 12.5\n", "rps=12.5 1/s" },
		{ "t,\\2=^t ([0-9]+) ([mu]s)$", "t 5 ms",
			"!which way is 't' better? lower or higher" },
		{ "t,\\2,lower=^t ([0-9]+) ([mu]s)$", "t 5 ms", "t=0.005 s" },
		{ "t,ms=^t ([0-9]+)$", "t 5\n", "t=0.005 s" },
		{ "t,ms=^t ([0-9]+)$", "t 5\rt x\n", "t=0.005 s" },
		{ "t,ms=^t ([0-9]+)$", "\033[1mt\033[0m 5\n", "t=0.005 s" },
		{ "t,ms=^t ([0-9]+)$", "t 5\nt 6\n", "!two values of t: 0.005 and 0.006" },
		{ "t,ms,last=^t ([0-9]+)$", "t 5\nt 6\n", "t=0.006 s" },
		{ "t,ms,sum=^t ([0-9]+)$", "t 5\nt 6\n", "t=0.011 s" },
		{ "\\2,ms,each=^t ([0-9]+) (.)$", "t 5 a\nt 6 b\n", "a=0.005 s;b=0.006 s" },
		{ "\\2,ms,each=^t ([0-9]+) (.)$", "t 5 a\nt 6 a\nt 9 b\n", "a=0.0055 s;b=0.009 s" },
		{ "t,ms,mean=^t ([0-9]+)$", "t 5\nt 6\nt 10\n", "t=0.007 s" },
		{ "t,ms,mean=^t ([0-9]+)$", "",
			"!no value of t: nothing in standard output matches '^t ([0-9]+)$'" },
		{ "n,exact=^n ([0-9]+)$", "n 5\n", "n=5 " },
		{ "n,exact,higher,B/s=^n ([0-9]+)$", "n 5\n", "n=5 B/s" },
		{ "t,ms,each=^t ([0-9]+)$", "", "!'t' is the name of each" },
		{ "t,ms=^t ([0-9]+)$", "u 5\n",
			"!no value of t: nothing in standard output matches '^t ([0-9]+)$'" },
		{ "t,ms=^t (.*)$", "t nan\n", "!t: 'nan' is not a number" },
		{ "t,ms=^t (.*)$", "t 1,234\n", "!t: '1,234' is not a number" },
		{ "t,ms,commas=^t (.*)$", "t 1,234\n", "t=1.234 s" },
		{ "n,lower=^n ([0-9]+)", "n 7", "n=7 " },
		{ "n,lower,stderr=^n ([0-9]+)", "m",
			"!no value of n: nothing in standard error matches '^n ([0-9]+)'" },
		{ "n,lower,@out.txt=^n ([0-9]+)", "m",
			"!no value of n: nothing in out.txt matches '^n ([0-9]+)'" },
		{ "\xe2\x94\x82,ms=^\xe2\x94\x82 ([0-9]+)", "\xe2\x94\x82 3",
			"\xe2\x94\x82=0.003 s" },
		{ "n,lower=^n [0-9]+", "", "!'^n [0-9]+' has no ( ) around the number" },
		{ "n,\\2,lower=^n ([0-9]+)", "", "!'^n ([0-9]+)' has no group \\2" },
		{ "n,lower=^(\\d+)", "",
			"!'\\d' has no meaning in an extended regular expression: write [0-9] for \\d, "
			"[[:space:]] for \\s" },
		{ "n,lower=([\\d]+)", "",
			"!'\\d' has no meaning in an extended regular expression: write [0-9] for \\d, "
			"[[:space:]] for \\s" },
		{ "n,lower=\\(([0-9]+)\\)", "(3)", "n=3 " },
		{ "n,lower=[]a]([0-9]+)", "]3", "n=3 " },
		{ "n,lower,x,y=([0-9]+)", "", "!'y' is a second unit" },
		{ "n,,lower=([0-9]+)", "", "!a word between commas is empty" },
		{ "n,lower,a b=([0-9]+)", "", "!'a b' is no unit" },
		{ "n,lower", "", "!'n,lower' is not NAME=PATTERN" },
		{ "n,lower=", "", "!'n,lower=' is not NAME=PATTERN" },
		{ "=x", "", "!'=x' is not NAME=PATTERN" },
		{ "\\1,lower=(x*)y", "y", "!the name of a figure is empty" },
	};
	static const struct {
		const char *rule, *written, *found;
	} paths[] = {
		{ "p,ns=.a.b", "{\"a\": {\"b\": 5, \"c\": 6}}", "p=5e-09 s" },
		{ "p,ns=.a[1].\"99.0\"", "{\"a\": [{\"99.0\": 1}, {\"x\": [{}], \"99.0\": 2}]}",
			"p=2e-09 s" },
		{ "p,ns=[0].b", "[{\"b\": 5}, {\"b\": 6}]", "p=5e-09 s" },
		{ "p,ns=[*].b", "[{\"b\": 5}, {\"b\": 6}]", "!two values of p: 5e-09 and 6e-09" },
		{ "p,ns,sum=[*].b", "[{\"b\": 5}, {\"b\": 6}]", "p=1.1e-08 s" },
		{ "p,ns,mean=[*].b", "[{\"b\": 5}, {\"b\": 6}]", "p=5.5e-09 s" },
		{ "p,ns=.a", "{\"a\": \"12.5\"}", "p=1.25e-08 s" },
		{ "p,ns=.a", "{\"a\": null}",
			"!no value of p: nothing in standard output matches '.a'" },
		{ "p,ns=.a", "{\"a\": 1",
			"!no value of p: standard output: line 1: the file ends too early" },
		{ "p,ns=.a", "note\n{\"a\": 1}",
			"!no value of p: standard output: line 1: this is no JSON" },
		{ "p,ns=a", "",
			"!'a' is no path into JSON: a name follows a point, and an element stands in [ ]" },
		{ "p,ns=.a[x]", "",
			"!'.a[x]' is no path into JSON: [ is followed by a number, or *, and ]" },
		{ "p,ns=.\"a", "", "!'.\"a' is no path into JSON: a name has no second \"" },
		{ "p,ns=..a", "", "!'..a' is no path into JSON: a point is followed by no name" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *found = find(cases[i].rule, false, cases[i].written);

		assert_string_equal(found, cases[i].found);
	}
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		_cleanup_free_ char *found = find(paths[i].rule, true, paths[i].written);

		assert_string_equal(found, paths[i].found);
	}
}

/* A line that an expression would take very long for is cut. */
static void test_long_line(void **state)
{
	size_t size = 300000;
	_cleanup_free_ char *written = malloc(size + 1);
	_cleanup_free_ char *found = NULL;

	(void)state;
	assert_non_null(written);
	memset(written, 'a', size);
	memcpy(written + size - 8, "\nt 12 ms", 8);
	written[size] = '\0';
	found = find("t,ms,last=^t ([0-9]+) (a+)*ms", false, written);
	assert_string_equal(found, "t=0.012 s");
}

static void test_files(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "", "line 1: no figure" },
		{ "Fail=x\n", "line 2: no figure" },
		{ "x\n", "line 1: neither KEY=VALUE, nor [FIGURE], nor a comment" },
		{ "[]\n", "line 1: a figure begins with its name in [ ]" },
		{ "[a]\nUnit=s\n", "line 3: 'a' says nowhere what to look for" },
		{ "[a]\nMatch=(x)\nMatch=(y)\nUnit=s\n", "line 3: it has two patterns" },
		{ "[a]\nMatch=(x)\nUnit=s\nColour=red\n", "line 4: unknown key Colour" },
		{ "Colour=red\n", "line 1: unknown key Colour" },
		{ "Fail=(\n", NULL },
		{ "Because=x\n", "line 1: Because follows the Fail that it is about" },
		{ "Fail=x\nBecause=x\nBecause=y\n", "line 3: Because is there twice" },
		{ "[a]\nMatch=(x)\nUnit=s\nTake=none\n",
			"line 4: Take is one, last, each, sum, mean or values" },
		{ "[a]\nMatch=(x)\nUnit=s\nValue=1\n", "line 4: Value is a group, \\1 to \\9" },
		{ "[a]\nMatch=(x)\nUnit=s\nCommas=1\n", "line 4: Commas is yes or no" },
		{ "[a]\nMatch=(x)\nUnit=s\nNamePath=.a\n",
			"line 5: NamePath and UnitPath belong to a path into JSON" },
		{ "[a]\nPath=.a\nUnit=\\1\nBetter=lower\n",
			"line 5: a path has no groups: use NamePath and UnitPath" },
	};
	static const char text[] =
		"# a comment\nFail=^broken\nBecause=it is old\nFail=^also\n\n"
		"[time]\nPath=.b[*].t\nNamePath=.b[*].n\nUnitPath=.b[*].u\nBetter=lower\nTake=each\n";
	static const char written[] = "{\"b\": [{\"n\": \"x\", \"t\": 3, \"u\": \"ms\"}, "
				      "{\"n\": \"y\", \"t\": 4, \"u\": \"s\"}]}";
	struct output output = { written, sizeof(written) - 1 }, broken = { "a\nbroken b\n", 11 };
	_cleanup_(harness) struct harness *harness = NULL;
	_cleanup_free_ char *line = NULL;
	struct figures figures = { 0 };
	char *why = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(harness_parse("x", bad[i].text, &harness, &why), -EINVAL);
		if (bad[i].why)
			assert_string_equal(why, bad[i].why);
		free(TAKE_PTR(why));
	}
	assert_int_equal(harness_parse("x", text, &harness, &why), 0);
	assert_int_equal(harness->n_fails, 2);
	assert_int_equal(extract_figures(&harness->rules[0], &output, &figures, &why), 0);
	assert_int_equal(figures.n, 2);
	assert_string_equal(figures.items[1].name, "y");
	assert_true(figures.items[0].value == 3e-3 && figures.items[1].value == 4);
	assert_false(extract_matches(&harness->fails[0].regex, &output, &line));
	assert_true(extract_matches(&harness->fails[0].regex, &broken, &line));
	assert_string_equal(line, "broken b");
	assert_int_equal(extract_check(harness, &output, &why), 0);
	assert_int_equal(extract_check(harness, &broken, &why), -EBADMSG);
	assert_string_equal(why, "it says: broken b (it is old)");
	free(why);
	figures_clear(&figures);
}

/* What stands in the words of a harness that is hosted, in one text. */
static void test_templates(void **state)
{
	static const char *const command[] = { "./x", "a b", "{file}", NULL };
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ "{command} -o {file}", "./x|a b|{file}|-o|/f" },
		{ "{program} -l {arguments} 'b c'", "./x|-l|a b|{file}|b c" },
		{ "{command} '^{pattern}$' {benchmark}",
			"./x|a b|{file}|^B/a\\(1\\)\\.c$|B/a(1).c" },
		{ "{command} {loops}x{loops} {index}", "./x|a b|{file}|100x100|{index}" },
		{ "{command} '{default:-l=1}' '{default:--o}' '{default:y=2}'",
			"./x|a b|{file}|-l=1|--o|y=2" },
		{ "{command} x{command} {y}", "./x|a b|{file}|x{command}|{y}" },
	};
	static const char *const with_options[] = { "-x", "-a", "--b=2", "c=3", "-long", NULL };
	static const struct {
		const char *text;
		bool is_taken;
	} defaults[] = {
		{ "{command} '{default:-a=1}'", false },
		{ "{command} '{default:--a=1}'", false },
		{ "{command} '{default:-b=1}'", false },
		{ "{command} '{default:--b}'", false },
		/* No option, the name of the program, and the beginning of another option. */
		{ "{command} '{default:-c=1}'", true },
		{ "{command} '{default:-x=1}'", true },
		{ "{command} '{default:-lo=1}'", true },
		{ "{command} '{default:-along}'", true },
	};
	static const char *const bad[] = { "", "x {file}", "x{command}", "{program}", "{arguments}",
		"{command} {program} {arguments}", "{command} 'x" };
	struct template_values values = {
		.command = (char *const *)command,
		.benchmark = "B/a(1).c",
		.loops = "100",
		.file = "/f",
	};
	_cleanup_free_ char *levels = NULL, *why = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char **words;
		struct text t = { 0 };

		assert_int_equal(template_check(cases[i].text, &why), 0);
		words = template_fill_words(cases[i].text, &values);
		for (size_t k = 0; words[k]; k++)
			text_appendf(&t, "%s%s", k > 0 ? "|" : "", words[k]);
		assert_string_equal(t.data, cases[i].words);
		template_free_words(words);
		text_clear(&t);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(template_check(bad[i], &why), -EINVAL);
		free(TAKE_PTR(why));
	}
	values.command = (char *const *)with_options;
	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++) {
		char **words = template_fill_words(defaults[i].text, &values);

		assert_int_equal(words[ARRAY_SIZE(with_options) - 1] != NULL, defaults[i].is_taken);
		template_free_words(words);
	}
	values.level = "/";
	levels = template_fill("{folder}^{pattern}$", &values);
	assert_string_equal(levels, "{folder}^B$/^a\\(1\\)\\.c$");
}

/* The keys of a harness that is hosted. */
static void test_hosting_keys(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "Run=x\n",
			"line 1: 'x' needs {command} as a word of its own, or {program} and "
			"{arguments}" },
		{ "Run={command}\nList={command}\n[a]\nMatch=(x)\nUnit=s\n",
			"line 6: List and Names belong together" },
		{ "Run={command}\nLoops=(x)\n[a]\nMatch=(x)\nUnit=s\n",
			"line 6: Calibrate and Loops belong together" },
		{ "Run={command}\nList={command}\nNames=x\n[a]\nMatch=(x)\nUnit=s\n",
			"line 7: 'x' has no ( ) around what it finds" },
		{ "Run={command} {loops}\n[a]\nMatch=(x)\nUnit=s\n",
			"line 5: {loops} in Run needs Calibrate" },
		{ "Run={command} {index}\n[a]\nMatch=(x)\nUnit=s\n",
			"line 5: {index} in Run needs a List that has it" },
		{ "Level=/\n[a]\nMatch=(x)\nUnit=s\n",
			"line 5: no Run, for which the other keys are" },
		{ "Level=\n", "line 1: Level is empty" },
		{ "OneCpu=a\nOneCpu=b\n", "line 2: OneCpu is there twice" },
		{ "Env=x\n", "line 1: Env is NAME=VALUE" },
		{ "[a]\nMatch=(x)\nUnit=s\nWhen=never\n",
			"line 4: When is always, hosted, as-is or served" },
		{ "[a]\nMatch=(x)\nUnit=s\nSkip=x\nSkip=y\n", "line 5: Skip is there twice" },
	};
	static const char text[] = "Run={command}\n[a]\nMatch=([0-9]+)\nUnit=s\nWhen=as-is\n"
				   "[b]\nMatch=(b.*) ([0-9]+)\nName=\\1\nValue=\\2\nUnit=s\n"
				   "Take=each\nSkip=mean\n";
	static const char written[] = "b 1\nb 2\nbmean 7\nb 9\n", other[] = "b 1\nbx 2\n";
	_cleanup_(harness) struct harness *harness = NULL;
	struct figures figures = { 0 };
	char *why = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(harness_parse("x", bad[i].text, &harness, &why), -EINVAL);
		assert_string_equal(why, bad[i].why);
		free(TAKE_PTR(why));
	}
	assert_int_equal(harness_parse("x", text, &harness, &why), 0);
	assert_int_equal(harness_choose(harness, WHEN_HOSTED), 0);
	assert_int_equal(harness->n_rules, 1);
	assert_int_equal(extract_figures(&harness->rules[0],
				 &(struct output){ written, sizeof(written) - 1 }, &figures, &why),
		0);
	assert_int_equal(figures.n, 1);
	assert_string_equal(figures.items[0].name, "b");
	assert_int_equal(figures.items[0].n_values, 3);
	assert_true(figures.items[0].value == 4 && figures.items[0].values[2] == 9);
	figures_clear(&figures);
	assert_int_equal(extract_figures(&harness->rules[0],
				 &(struct output){ other, sizeof(other) - 1 }, &figures, &why),
		-EBADMSG);
	assert_string_equal(why, "values of two benchmarks, b and bx");
	free(why);
	figures_clear(&figures);
	harness_free(TAKE_PTR(harness));
	assert_int_equal(harness_parse("x", text, &harness, &why), 0);
	assert_int_equal(harness_choose(harness, WHEN_AS_IS), 0);
	assert_int_equal(harness->n_rules, 2);
	assert_int_equal(harness->rules[1].take, TAKE_EACH);
}

/* Whose output it is, for all that ship, wherever they are in the build tree. */
static void check_signs(const struct output *output, const char *name)
{
	static const struct output nothing = { "", 0 };
	const struct output half = { output->text, output->size / 2 };
	_cleanup_free_ char *found = signs_recognize(output, output);
	_cleanup_free_ char *of_nothing = signs_recognize(&nothing, &nothing);
	/* Cut anywhere, it may be nobody's, but is not another one's. */
	_cleanup_free_ char *of_half = signs_recognize(&half, &nothing);

	if (name)
		assert_string_equal(found, name);
	else
		assert_null(found);
	assert_null(of_nothing);
	if (of_half)
		assert_string_equal(of_half, name);
}

/* Has the folder of the user's own be that of the sources. */
static void use_sources(void)
{
	static char folder[] = "/tmp/harnesses.XXXXXX";
	_cleanup_free_ char *quiesce = NULL, *link = NULL;

	assert_non_null(mkdtemp(folder));
	assert_true(text_format(&quiesce, "%s/quiesce", folder) >= 0);
	assert_true(text_format(&link, "%s/harnesses", quiesce) >= 0);
	assert_int_equal(mkdir(quiesce, 0700), 0);
	assert_int_equal(symlink(HARNESSES, link), 0);
	assert_int_equal(setenv("XDG_CONFIG_HOME", folder, 1), 0);
}

static void remove_sources(void)
{
	const char *folder = getenv("XDG_CONFIG_HOME");
	_cleanup_free_ char *quiesce = NULL, *link = NULL;

	assert_true(text_format(&quiesce, "%s/quiesce", folder) >= 0);
	assert_true(text_format(&link, "%s/harnesses", quiesce) >= 0);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(rmdir(quiesce), 0);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(unsetenv("XDG_CONFIG_HOME"), 0);
}

/* What the harnesses that ship find in what their programs have printed, and whose output it is. */
static void test_shipped(void **state)
{
	static const struct {
		const char *name, *found;
		enum figure_when how; /* WHEN_ALWAYS: as is */
		bool unnoticed;	      /* nothing tells its output from that of others */
		const char *sample;   /* NULL: called as the harness */
		const char *noticed;  /* whose it seems to be; NULL: the harness' */
	} cases[] = {
		{ "7z", "rating=4644 MIPS h" },
		{ "ab",
			"rps=504.05 requests/s h;latency=0.003968 s l;p50=0.003 s l;p90=0.008 s l;"
			"p99=0.013 s l" },
		{ "autocannon",
			"rps=816 requests/s h;latency=0.46244 s l;p50=0.432 s l;p99=0.94 s l" },
		{ "benchmark-js", "sum small=1446283 ops/s h;sum#big=159466 ops/s h" },
		{ "catch2-xml", "sum 100=2.79125e-08 s l;sum 1000=5.46069e-07 s l" },
		{ "coremark", "rate=20833.3333 iterations/s h;!Errors detected" },
		{ "criterion", "grp/size/1000=8.2472e-07 s l" },
		{ "custom-bigger", "a b=120 score h", .unnoticed = true },
		{ "custom-smaller", "a b=120 score l", .unnoticed = true },
		{ "cyclictest",
			"T0 avg=0.000156 s l;T1 avg=0.001184 s l;T0 max=0.003162 s l;T1 max=0.020538 s l" },
		{ "dd", "elapsed=0.0612198 s l", .unnoticed = true },
		{ "divan", "100=7.373e-08 s l;1000=8.076e-07 s l;sum=8.079e-07 s l" },
		{ "fio", "read-iops=17300 1/s h;READ=70674022.4 B/s h" },
		{ "fio", "read-iops=10611 1/s h;READ=40370176 B/s h", .sample = "fio-jobs" },
		{ "go",
			"BenchmarkSum-2=1.832e-06 s/op l;BenchmarkSub/size=100-2=1.108e-07 s/op l;"
			"BenchmarkSub/size=1000-2=1.096e-06 s/op l;BenchmarkLog-2=1.039e-08 s/op l" },
		{ "go",
			"BenchmarkA-2=8.32e-09 s/op l;BenchmarkPrint-2=4.75e-07 s/op l;"
			"BenchmarkPrintNoNl-2=1.069e-06 s/op l;BenchmarkErrPrint-2=8.881e-07 s/op l;"
			"BenchmarkLog-2=1.914e-06 s/op l;BenchmarkSub/one-2=9.888e-07 s/op l;"
			"BenchmarkNoLoop-2=6.11e-09 s/op l;BenchmarkLast-2=1.163e-08 s/op l",
			.sample = "go-prints" },
		{ "google-benchmark", "BM_sum/100=9.23e-08 s l" },
		{ "h2load", "rps=856.41 requests/s h;latency=0.00213 s l" },
		{ "hey",
			"rps=552.5154 requests/s h;latency=0.0035 s l;p50=0.0015 s l;p90=0.0094 s l" },
		{ "httperf", "rps=40 requests/s h;latency=0.0218 s l" },
		{ "hyperfine", "mean=0.0385 s l" },
		{ "ioping", "latency=0.0003947 s l;iops=2530 1/s h" },
		{ "iperf", "rate=2.31e+10 bit/s h" },
		{ "iperf3", "rate=1.25e+10 bit/s h" },
		{ "iperf3", "rate=1.1e+10 bit/s h", .sample = "iperf3-par" },
		{ "iperf3", "rate TX=1.14e+10 bit/s h;rate RX=1.18e+09 bit/s h",
			.sample = "iperf3-bidir" },
		{ "iperf3-json", "rate=583355464 bit/s h" },
		{ "iperf3-json", "rate=1.07482991e+10 bit/s h;rate-back=1.14806688e+09 bit/s h",
			.sample = "iperf3-json-bidir" },
		{ "jmh-text",
			"Sum.thr 100=5311.652 ops/ms h;Sum.thr 1000=615.358 ops/ms h;"
			"Sum.avg 100=1.82571e-07 s/op l;Sum.avg 1000=1.739755e-06 s/op l" },
		{ "libtest", "sum=8.243e-07 s/iter l;tiny=5.5e-10 s/iter l" },
		{ "locust",
			"rps=1078.96 requests/s h;latency=0.003 s l;p50=0 s l;p90=0.008 s l;"
			"p99=0.031 s l;p999=0.24 s l" },
		{ "mbw",
			"MEMCPY=903069303 B/s h;DUMB=8.69285757e+09 B/s h;MCBLOCK=1.9065018e+10 B/s h" },
		{ "mitata",
			"sum small=3.1329e-07 s/iter l;sum big=2.97e-06 s/iter l;a b=1.9336e-07 s/iter l" },
		{ "nanobench", "sum=8e-10 s l" },
		{ "openssl-speed", "sha256=1.6843306e+09 B/s h" },
		{ "openssl-speed", "sha1=1.53657647e+09 B/s h", .sample = "openssl-speed-all" },
		{ "openssl-speed", "rsa 2048 bits sign=1050 1/s h;rsa 2048 bits verify=37428 1/s h",
			.sample = "openssl-speed-rsa" },
		{ "openssl-speed", "253 bits ecdh (X25519)=23080 1/s h",
			.sample = "openssl-speed-ecdh" },
		{ "openssl-speed-mr", "sha256=1.45130124e+09 B/s h" },
		{ "perf-bench", "total=0.028 s l;per_op=2.8474e-07 s l" },
		{ "perf-bench",
			"default=1.1625744e+10 B/s h;x86-64-unrolled=1.5024038e+10 B/s h;"
			"x86-64-movsq=1.9148284e+10 B/s h;x86-64-movsb=8.346688e+09 B/s h",
			.sample = "perf-bench-mem" },
		{ "perf-bench", "Wokeup=6.14e-05 s l", .sample = "perf-bench-wake" },
		{ "perf-bench", "ops=139755 ops/s h", .sample = "perf-bench-epoll" },
		{ "perf-stat", "task-clock=0.00048 s l;page-faults=51  l" },
		{ "pgbench", "tps=691.461317 transactions/s h;latency=0.002892 s l" },
		{ "pyperf-text", "mean=6.47e-07 s l" },
		{ "pytest-benchmark-text",
			"test_sum[100]=5.592087e-06 s l;test_sum[1000]=9.52465603e-05 s l" },
		{ "redis-benchmark",
			"SET=37878.79 requests/s h;GET=37593.98 requests/s h;SET p50=0.000935 s l;"
			"GET p50=0.000887 s l" },
		{ "sockperf", "latency=1.3816e-05 s l;p50=7.448e-06 s l;p99=2.6619e-05 s l" },
		{ "sockperf", "rate=52925 messages/s h", .sample = "sockperf-throughput" },
		{ "sqlite3", "real=0.018 s l", .unnoticed = true },
		{ "stress-ng", "cpu=1253.44 ops/s h" },
		{ "stream",
			"Copy=5.24288e+10 B/s h;Scale=5.16222e+10 B/s h;Add=4.9466e+10 B/s h;"
			"Triad=4.61758e+10 B/s h" },
		{ "sysbench", "events=3084.72 events/s h;total=3100 events h;elapsed=1.0004 s l" },
		{ "sysbench",
			"read=192434668 B/s h;written=128293274 B/s h;total=20094 events h;"
			"elapsed=1.0057 s l",
			.sample = "sysbench-fileio" },
		{ "time", "real=0.1 s l", .unnoticed = true },
		{ "timeit", "loop=6.83e-09 s l" },
		{ "tinybench", "sum small=7.1376e-07 s l;sum big=3.002e-06 s l" },
		{ "tinybench", "sum small=6.57814947e-07 s l;sum big=3.28406758e-06 s l",
			.sample = "tinybench-2" },
		{ "vitest", "sum small=2328897.21 1/s h;sum big=448897.92 1/s h" },
		{ "vitest-json", "sum small=4.2938778e-07 s l;sum big=2.22767797e-06 s l",
			.unnoticed = true },
		{ "vegeta",
			"rps=50.84 requests/s h;latency=0.001937 s l;p50=0.001525 s l;"
			"p90=0.00285 s l;p99=0.007296 s l" },
		{ "wrk",
			"rps=607.22 requests/s h;latency=0.00345 s l;p50=0.00286 s l;"
			"p90=0.00658 s l;p99=0.01226 s l" },
		{ "catch2-xml", "sum=1.06302e-07 s l", .sample = "catch2-xml-3" },
		/* As the load of a service, and what is no verdict. */
		{ "ab",
			"rps=19948.13 requests/s h;latency=0.000201 s l;p50=0 s l;p90=0 s l;"
			"p99=0.004 s l;requests=2000  h;bytes=128040 B l;"
			"!Non-2xx responses:      40",
			WHEN_SERVED, .sample = "ab-errors" },
		{ "autocannon",
			"rps=2000 requests/s h;latency=0.00048 s l;p50=0 s l;p99=0.008 s l;"
			"!Running 2000 requests test @ http://127.0.0.1:22559/",
			WHEN_SERVED, .sample = "autocannon-amount" },
		{ "autocannon",
			"rps=28544 requests/s h;latency=3e-05 s l;p50=0 s l;p99=0.001 s l;"
			"!55936 2xx responses, 1142 non 2xx responses",
			WHEN_SERVED, .sample = "autocannon-errors" },
		{ "autocannon",
			"rps=0 requests/s h;latency=0 s l;p50=0 s l;p99=0 s l;"
			"!4 requests in 2.04s, 0 B read",
			WHEN_SERVED, .sample = "autocannon-hangs" },
		{ "autocannon",
			"latency=9e-05 s l;p50=0 s l;p90=0 s l;p99=0.003 s l;p999=0.011 s l;"
			"requests=13524  h",
			WHEN_SERVED, .sample = "autocannon-json", .unnoticed = true },
		{ "autocannon",
			"rps=150 requests/s h;latency=0.00038 s l;p50=0 s l;p99=0.017 s l;"
			"!23k errors (0 timeouts)",
			WHEN_SERVED, .sample = "autocannon-killed" },
		{ "bombardier",
			"rps=25633.35 requests/s h;latency=0.00016347 s l;p50=9.7e-05 s l;"
			"p90=0.000195 s l;p99=0.00196 s l;requests=2000  h",
			WHEN_SERVED, .sample = "bombardier" },
		{ "bombardier",
			"rps=34643.82 requests/s h;latency=0.00011065 s l;p50=4e-05 s l;"
			"p90=0.000121 s l;p99=0.00159 s l;requests=1960  h;"
			"!    1xx - 0, 2xx - 1960, 3xx - 0, 4xx - 0, 5xx - 40",
			WHEN_SERVED, .sample = "bombardier-errors" },
		{ "bombardier",
			"rps=31256.02 requests/s h;latency=0.00014059 s l;p50=5.6e-05 s l;"
			"p90=0.000136 s l;p99=0.00119 s l;requests=300  h;!    others - 1700",
			WHEN_SERVED, .sample = "bombardier-killed" },
		{ "h2load",
			"rps=13329.96 requests/s h;latency=0.000296 s l;requests=2000  h;"
			"!requests: 2000 total, 2000 started, 2000 done, 1960 succeeded, 40 "
			"failed, 0 errored, 0 timeout",
			WHEN_SERVED, .sample = "h2load-errors" },
		{ "h2load",
			"rps=8576.33 requests/s h;latency=0.000346 s l;requests=2000  h;"
			"!requests: 2000 total, 304 started, 300 done, 300 succeeded, 1700 failed, "
			"1700 errored, 0 timeout",
			WHEN_SERVED, .sample = "h2load-killed" },
		{ "h2load",
			"rps=19906.04 requests/s h;latency=0.000148 s l;p50=0.00011 s l;"
			"p99=0.0012 s l;requests=2000  h",
			WHEN_SERVED, .sample = "h2load-newer" },
		{ "h2load",
			"rps=300 requests/s h;latency=8.4e-05 s l;requests=300  h;"
			"!spawning thread #0: 4 total client(s). Timing-based test with 0s of "
			"warm-up time and 1s of main duration for measurements.",
			WHEN_SERVED, .sample = "h2load-time" },
		{ "hey",
			"rps=5431.6461 requests/s h;latency=0.0007 s l;p50=0.0002 s l;"
			"p90=0.0006 s l;p99=0.0078 s l;requests=1960  h;!  [500]\t40 responses",
			WHEN_SERVED, .sample = "hey-errors" },
		{ "hey",
			"rps=8364.963 requests/s h;latency=0.0012 s l;p50=0.0003 s l;p90=0.004 s l;"
			"p99=0.0124 s l;requests=300  h;!Error distribution:",
			WHEN_SERVED, .sample = "hey-killed" },
		{ "hey",
			"rps=23644.0314 requests/s h;latency=0.0002 s l;p50=0.0001 s l;"
			"p90=0.0002 s l;p99=0.0011 s l;requests=23651  h",
			WHEN_SERVED, .sample = "hey-time" },
		{ "httperf",
			"rps=2978.2 requests/s h;latency=0.0002 s l;requests=400  h;"
			"!Reply status: 1xx=0 2xx=392 3xx=0 4xx=0 5xx=8",
			WHEN_SERVED, .sample = "httperf-errors" },
		{ "httperf",
			"rps=3205.1 requests/s h;latency=0.0002 s l;requests=300  h;"
			"!Errors: total 100 client-timo 0 socket-timo 0 connrefused 99 connreset 1",
			WHEN_SERVED, .sample = "httperf-killed" },
		{ "memtier_benchmark",
			"rps=23695.56 requests/s h;latency=8.596e-05 s l;p50=4.7e-05 s l;"
			"p99=0.000919 s l;p999=0.006655 s l;requests=1000  h",
			WHEN_SERVED, .sample = "memtier_benchmark" },
		{ "memtier_benchmark",
			"rps=34574.56 requests/s h;latency=5.915e-05 s l;p50=4.7e-05 s l;"
			"p99=8.7e-05 s l;p999=0.005247 s l;requests=1000  h;"
			"!server 127.0.0.1:30999 handle error response: -OOM command not allowed "
			"when used memory > 'maxmemory'.",
			WHEN_SERVED, .sample = "memtier_benchmark-errors" },
		{ "oha",
			"rps=14031.9522 requests/s h;latency=0.0002648 s l;p50=8.74e-05 s l;"
			"p90=0.0001483 s l;p99=0.0065304 s l;p999=0.0194563 s l;requests=15150  h",
			WHEN_SERVED, .sample = "oha" },
		{ "oha",
			"rps=5558.9152 requests/s h;latency=0.0007145 s l;p50=5.1e-05 s l;"
			"p90=0.0021864 s l;p99=0.0078986 s l;p999=0.0329909 s l;requests=980  h;"
			"!  [500] 20 responses",
			WHEN_SERVED, .sample = "oha-errors" },
		{ "oha",
			"rps=11242.6106 requests/s h;latency=0.0002566 s l;p50=9.63e-05 s l;"
			"p90=0.0001627 s l;p99=0.0108293 s l;p999=0.0113723 s l;requests=300  h;"
			"!  [695] Connection refused (os error 111)",
			WHEN_SERVED, .sample = "oha-killed" },
		{ "pgbench", "rps=691.461317 requests/s h;latency=0.002892 s l;requests=400  h",
			WHEN_SERVED, .sample = "pgbench" },
		{ "pgbench",
			"rps=112.408205 requests/s h;latency=0.00903 s l;requests=203  h;"
			"!number of failed transactions: 597 (74.625%)",
			WHEN_SERVED, .sample = "pgbench-failed" },
		{ "redis-benchmark", "GET=75757.58 requests/s h",
			.sample = "redis-benchmark-table" },
		{ "redis-benchmark",
			"GET=78125 requests/s h;GET p50=3.1e-05 s l;GET p99=7.9e-05 s l",
			.sample = "redis-benchmark-csv", .unnoticed = true },
		{ "locust",
			"rps=1393.75 requests/s h;latency=0.002 s l;p50=0 s l;p90=0.008 s l;"
			"p99=0.02 s l;p999=0.18 s l;requests=3070  h;"
			"!61                 GET /: LocustBadStatusCode(code=500)         "
			"                                                       ;"
			"!         Aggregated                                             "
			"                         3070    61(1.99%) |      2       0     "
			"191      0 | 1393.75       27.69",
			WHEN_SERVED, .sample = "locust-errors" },
		{ "locust",
			"rps=387.89 requests/s h;latency=0.005 s l;p50=0.002 s l;p90=0.013 s l;"
			"p99=0.024 s l;p999=0.15 s l;requests=1068  h;"
			"!1068               GET /: ConnectionRefusedError(111, 'Connection refused') "
			"                                           ;"
			"!         Aggregated                                             "
			"                         1068 1068(100.00%) |      5       0     "
			"153      2 |  387.89      387.89",
			WHEN_SERVED, .sample = "locust-none" },
		{ "redis-benchmark", "rps=78125 requests/s h;p50=3.1e-05 s l;p99=7.9e-05 s l",
			WHEN_SERVED, .sample = "redis-benchmark-csv", .unnoticed = true },
		{ "redis-benchmark",
			"rps=75757.58 requests/s h;p50=3.1e-05 s l;p99=8.7e-05 s l;requests=5000  h",
			WHEN_SERVED, .sample = "redis-benchmark-table" },
		{ "siege", "rps=4705.88 requests/s h;requests=800  h", WHEN_SERVED,
			.sample = "siege" },
		{ "siege",
			"rps=3563.64 requests/s h;requests=784  h;"
			"!\t\"failed_transactions\":\t\t          16,",
			WHEN_SERVED, .sample = "siege-errors" },
		{ "siege",
			"rps=0 requests/s h;requests=0  h;"
			"!\t\"failed_transactions\":\t\t         800,;"
			"!{\t\"transactions\":\t\t\t           0,",
			WHEN_SERVED, .sample = "siege-none" },
		{ "siege",
			"rps=1866.67 requests/s h;requests=784  h;"
			"!Failed transactions:\t          16",
			WHEN_SERVED, .sample = "siege-text" },
		{ "vegeta",
			"rps=491.02 requests/s h;latency=0.000274817 s l;p50=0.000139213 s l;"
			"p90=0.000177659 s l;p99=0.002799 s l;requests=500  h;"
			"!Status Codes  [code:count]                      200:490  500:10  ",
			WHEN_SERVED, .sample = "vegeta-errors" },
		{ "vegeta",
			"rps=300.6 requests/s h;latency=0.0001638 s l;p50=0.000129951 s l;"
			"p90=0.000172692 s l;p99=0.001213 s l;requests=500  h;"
			"!Status Codes  [code:count]                      0:200  200:300  ",
			WHEN_SERVED, .sample = "vegeta-killed" },
		{ "wrk",
			"rps=26468.92 requests/s h;latency=0.00223 s l;p50=6.5e-05 s l;"
			"p90=0.00867 s l;p99=0.02197 s l;requests=27187  h;"
			"!  Non-2xx or 3xx responses: 544",
			WHEN_SERVED, .sample = "wrk-errors" },
		{ "wrk",
			"rps=0 requests/s h;latency=0 s l;p50=0 s l;p90=0 s l;p99=0 s l;"
			"requests=0  h;!  0 requests in 1.06s, 0.00B read",
			WHEN_SERVED, .sample = "wrk-hangs" },
		{ "wrk",
			"rps=291 requests/s h;latency=0.00030494 s l;p50=6.5e-05 s l;"
			"p90=9.1e-05 s l;p99=0.01583 s l;requests=300  h;"
			"!  Socket errors: connect 0, read 8, write 12892, timeout 0",
			WHEN_SERVED, .sample = "wrk-killed" },
		{ "wrk",
			"rps=999.39 requests/s h;latency=0.00188 s l;p50=0.00097 s l;"
			"p90=0.00372 s l;p99=0.02016 s l;p999=0.02801 s l;requests=11994  h",
			WHEN_SERVED, .sample = "wrk-2" },
		{ "wrk",
			"rps=148.54 requests/s h;latency=0.00075333 s l;p50=0.000708 s l;"
			"p90=0.00123 s l;p99=0.002 s l;p999=0.0028 s l;requests=300  h;"
			"!    Req/Sec       -nan      -nan   0.00      0.00%",
			WHEN_SERVED, .sample = "wrk-2-short" },
		{ "wrk2",
			"rps=999.39 requests/s h;latency=0.00188 s l;p50=0.00097 s l;"
			"p90=0.00372 s l;p99=0.02016 s l;p999=0.02801 s l;requests=11994  h",
			WHEN_SERVED, .sample = "wrk-2", .noticed = "wrk" },
		/* One benchmark in a process. */
		{ "go",
			"iteration=8.3e-07 s/op l (2);rate=8990000 B/s h (2);bytes=0 B/op l (2);"
			"allocs=0 allocs/op l (2)",
			WHEN_HOSTED },
		{ "google-benchmark",
			"iteration=3.24715944e-08 s l (2);cpu=2.86975409e-08 s l (2);"
			"items=3.4900134e+09 1/s h (2)",
			WHEN_HOSTED },
		{ "pyperf", "iteration=1.46229808e-05 s l (3)", WHEN_HOSTED },
		{ "asv", "iteration=7.78626709e-07 s l (3)", WHEN_HOSTED },
		{ "catch2", "iteration=1.07666e-07 s l", WHEN_HOSTED },
		{ "catch2", "iteration=1.06302e-07 s l", WHEN_HOSTED, .sample = "catch2-3" },
		{ "nanobench", "iteration=9.69140884e-07 s l (11)", WHEN_HOSTED },
		{ "criterion", "iteration=2.9506e-07 s l", WHEN_HOSTED },
		{ "divan", "iteration=5.48e-08 s l", WHEN_HOSTED },
		{ "jmh", "iteration=9.6554197e-08 s/op l (3)", WHEN_HOSTED },
		{ "pytest-benchmark", "iteration=6.12900476e-07 s l", WHEN_HOSTED },
	};

	(void)state;
	use_sources();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *path = NULL, *sample = NULL, *text = NULL, *why = NULL;
		_cleanup_(harness) struct harness *harness = NULL;
		struct figures figures = { 0 };
		struct text found = { 0 };
		struct output output;

		assert_true(text_format(&path, HARNESSES "/%s.conf", cases[i].name) >= 0);
		assert_int_equal(harness_read(path, &harness, &why), 0);
		assert_string_equal(harness->name, cases[i].name);
		assert_int_equal(
			harness_choose(harness, cases[i].how ? cases[i].how : WHEN_AS_IS), 0);
		assert_true(text_format(&sample, SAMPLES "/%s.%s",
				    cases[i].sample ? cases[i].sample : cases[i].name,
				    cases[i].how == WHEN_HOSTED ? "hosted" : "txt") >= 0);
		assert_int_equal(file_read_all(sample, 1 << 20, &text, &output.size), 0);
		output.text = text;
		for (size_t k = 0; k < harness->n_rules; k++)
			assert_int_equal(
				extract_figures(&harness->rules[k], &output, &figures, &why), 0);
		for (size_t k = 0; k < figures.n; k++) {
			/* That is what bench-report calls how long programs run. */
			assert_string_not_equal(figures.items[k].name, "time");
			text_appendf(&found, "%s%s=%.9g %s %c", k > 0 ? ";" : "",
				figures.items[k].name, figures.items[k].value,
				figures.items[k].unit,
				figures.items[k].better == BETTER_HIGHER ? 'h' : 'l');
			if (figures.items[k].n_values > 1)
				text_appendf(&found, " (%zu)", figures.items[k].n_values);
		}
		for (size_t k = 0; k < harness->n_fails; k++) {
			char *line;

			if (!extract_matches(&harness->fails[k].regex, &output, &line))
				continue;
			text_appendf(&found, ";!%s", line);
			free(line);
		}
		assert_string_equal(found.data, cases[i].found);
		if (cases[i].how != WHEN_HOSTED)
			check_signs(&output,
				cases[i].unnoticed	   ? NULL
					: cases[i].noticed ? cases[i].noticed
							   : cases[i].name);
		figures_clear(&figures);
		text_clear(&found);
	}
	remove_sources();
}

/* What the lines of a program say: "name=value unit direction step;..." or "!reason". */
static char *read_lines(const char *text, size_t size)
{
	struct figures figures = { 0 };
	_cleanup_free_ char *why = NULL;
	struct text t = { 0 };
	int r = benchfmt_read(&(struct output){ text, size }, &figures, &why);

	if (r < 0)
		text_appendf(&t, "!%s", why);
	for (size_t i = 0; r >= 0 && i < figures.n; i++)
		text_appendf(&t, "%s%s=%.9g %s %s %.3g%s", i > 0 ? ";" : "", figures.items[i].name,
			figures.items[i].value, figures.items[i].unit,
			better_name(figures.items[i].better), figures.items[i].step,
			figures.items[i].is_exact ? " exact" : "");
	figures_clear(&figures);
	text_append(&t, "");
	return text_steal(&t);
}

static void test_lines_of_a_program(void **state)
{
	static const struct {
		const char *text, *found;
	} cases[] = {
		{ "", "" },
		{ "\n \t\n", "" },
		{ "BenchmarkA 1 52.5 ns/op\n", "A=5.25e-08 s/op lower 1e-10" },
		{ "BenchmarkA-2\t 100\t52.5 ns/op\t 16 B/op\t2 allocs/op\r\n",
			"A-2=5.25e-08 s/op lower 1e-10;A-2 B/op=16 B/op lower 1;"
			"A-2 allocs/op=2 allocs/op lower 1" },
		{ "Benchmarkrps 1 9721.5 1/s\n", "rps=9721.5 1/s higher 0.1" },
		{ "BenchmarkA 1 5 req/s\n", "A=5 req/s higher 1" },
		{ "BenchmarkA 1 5 MIPS\nUnit MIPS better=higher assume=exact\n",
			"A=5 MIPS higher 1 exact" },
		{ "BenchmarkA 1 5 B\nUnit B assume=exact\n", "A=5 B lower 1 exact" },
		{ "Unit allocs assume=exact\nBenchmarkA 1 5 allocs\n", "A=5 allocs lower 1 exact" },
		{ "Unit 1/s better=lower\nUnit 1/s better=lower\nBenchmarkA 1 -2 1/s\n",
			"A=-2 1/s lower 1" },
		{ "Unit MIPS assume=exact\n", "" },
		/* Repeats within the process. */
		{ "BenchmarkA 1 4 s\nBenchmarkA 1 5 s\nBenchmarkB 1 1 s\nBenchmarkA 1 9.5 s\n",
			"A=6.16666667 s lower 1;B=1 s lower 1" },
		{ "BenchmarkA 1 1000 us\nBenchmarkA 1 2 ms\n", "A=0.0015 s lower 0.001" },
		/* As go test prints it. */
		{ "goos: linux\npkg: a.b/c\ncpu: X(R) Y @ 2.00GHz\nnote:\nBenchmarkA\nBenchmarkA-2 "
		  "1 5 ns/op\nPASS\nok  \ta.b/c\t1.2s\n",
			"A-2=5e-09 s/op lower 1e-09" },
		{ "BenchmarkA 1 5 s", "!its last line has no end, so it was not written whole" },
		{ "hello\n", "!line 1: 'hello' is no line of Go's benchmark format" },
		{ "\nFAIL\n", "!line 2: 'FAIL' is no line of Go's benchmark format" },
		{ "--- FAIL: x\n", "!line 1: '--- FAIL: x' is no line of Go's benchmark format" },
		{ "okay\n", "!line 1: 'okay' is no line of Go's benchmark format" },
		{ "Benchmark 1 5 s\n", "!line 1: a figure without a name" },
		{ "BenchmarkA 1\n", "!line 1: A: no value" },
		{ "BenchmarkA 1 5\n", "!line 1: A: 5 has no unit" },
		{ "BenchmarkA 1 5 s 6\n", "!line 1: A: 6 has no unit" },
		{ "BenchmarkA 0 5 s\n", "!line 1: A: '0' is no number of iterations" },
		{ "BenchmarkA 5 s\n", "!line 1: A: s has no unit" },
		{ "BenchmarkA 5 s 1\n", "!line 1: A: 's' is not a number" },
		{ "BenchmarkA 1 nan s\n", "!line 1: A: 'nan' is not a number" },
		{ "BenchmarkA 1 1e308 m\n", "!line 1: A: '1e308' is too large" },
		{ "BenchmarkA 1 1e308 s\nBenchmarkA 1 -1e308 s\n",
			"!line 2: A: its values are too large" },
		{ "BenchmarkA 1 5 MIPS\n",
			"!line 1: which way is MIPS better? A line 'Unit MIPS better=higher', or "
			"lower, says it" },
		{ "Unit x better=up\n", "!line 1: better is lower or higher" },
		{ "Unit\n", "!line 1: 'Unit' is followed by a unit" },
		{ "Unit x better=lower\nUnit x better=higher\n",
			"!line 2: two lines say which way x is better, and differ" },
		{ "BenchmarkA 1 5 s\nBenchmarkA 1 5 B\n", "!line 2: A is in s and in B" },
		{ "Benchmark\033[1m 1 5 s\n", "\\x1b[1m=5 s lower 1" },
		{ "\033\n", "!line 1: '\\x1b' is no line of Go's benchmark format" },
	};
	_cleanup_free_ char *nul = read_lines("BenchmarkA 1 5\0 s\n", 18);

	(void)state;
	assert_string_equal(nul, "!not a text");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *found = read_lines(cases[i].text, strlen(cases[i].text));

		assert_string_equal(found, cases[i].found);
	}
}

/* Lines that say what those after them are about. */
static void test_lines_before(void **state)
{
	static const struct {
		const char *rule, *written, *found;
	} cases[] = {
		{ "UnitLine=^in ([a-z]+)$\nMatch=^(.) ([0-9]+)$\nName=\\1\nValue=\\2\nTake=each\n"
		  "Better=lower\n",
			"a 1\nin ms\nb 2\nin ns\nc 3\n", "b=0.002 s;c=3e-09 s" },
		{ "NameLine=^of (.*)$\nMatch=^v ([0-9]+)$\nUnit=s\nTake=each\n",
			"v 1\nof a  b\nv 2\nof c\nv 3\n", "a b=2 s;c=3 s" },
		{ "NameLine=^of$\nMatch=^v ([0-9]+)$\nUnit=s\n", "",
			"!line 2: '^of$' has no ( ) around what it is about" },
		{ "NameLine=(a)\nNameLine=(b)\n", "", "!line 3: NameLine is there twice" },
		{ "UnitLine=(a)\nPath=.a\nBetter=lower\n", "",
			"!line 5: JSON has no lines before: use NamePath and UnitPath" },
		{ "UnitLine=(a)\nMatch=^v ([0-9]+)$\n", "",
			"!line 4: which way is 'x' better? lower or higher" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct output output = { cases[i].written, strlen(cases[i].written) };
		_cleanup_free_ char *text = NULL, *why = NULL;
		_cleanup_(harness) struct harness *harness = NULL;
		struct figures figures = { 0 };
		struct text found = { 0 };

		assert_true(text_format(&text, "[x]\n%s", cases[i].rule) >= 0);
		if (harness_parse("x", text, &harness, &why) < 0)
			text_appendf(&found, "!%s", why);
		else
			assert_int_equal(
				extract_figures(&harness->rules[0], &output, &figures, &why), 0);
		for (size_t k = 0; k < figures.n; k++)
			text_appendf(&found, "%s%s=%.9g %s", k > 0 ? ";" : "",
				figures.items[k].name, figures.items[k].value,
				figures.items[k].unit);
		assert_string_equal(found.data, cases[i].found);
		figures_clear(&figures);
		text_clear(&found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_lines_of_a_program),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_templates),
		cmocka_unit_test(test_hosting_keys),
		cmocka_unit_test(test_shipped),
		cmocka_unit_test(test_lines_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
