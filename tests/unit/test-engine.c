// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/file.h"
#include "base/text.h"
#include "fake-run.h"
#include "quiet/engine/apply.h"
#include "quiet/engine/inspect.h"
#include "quiet/engine/restore.h"

#define JOURNAL "/run/quiesce/test.journal"

/* --- A machine of variables, which the engine sees as "var:NAME" --- */

enum {
	N_VARIABLES = 16,
	SIZE = 256,
};

struct variable {
	char name[16];
	char value[SIZE];
	int read_error; /* positive */
	int write_error;
	int write_errors;    /* so many times; 0: always */
	const char *refused; /* it is EINVAL to write this */
	const char *clipped; /* and this instead of everything else is what it takes */
	bool stubborn;	     /* takes every text and keeps its own */
	const char *whole;   /* what it is with CPUs that are offline; NULL: nobody tells */
};

static struct {
	struct variable variables[N_VARIABLES];
	size_t n;
	char log[1024]; /* "name=value " for each write that was tried */
	size_t writes;
	/* What a write does beside, after it. */
	void (*side_effect)(const char *name, const char *value);
	/* Before the first write: looks at the journal. */
	void (*at_first_write)(void);
} machine;

static struct variable *find(const char *name)
{
	for (size_t i = 0; i < machine.n; i++) {
		if (strcmp(machine.variables[i].name, name) == 0)
			return &machine.variables[i];
	}
	return NULL;
}

static struct variable *set(const char *name, const char *value)
{
	struct variable *v = find(name);

	if (!v)
		v = &machine.variables[machine.n++];
	snprintf(v->name, sizeof(v->name), "%s", name);
	snprintf(v->value, sizeof(v->value), "%s", value);
	return v;
}

static int read_variable(const char *rest, char **ret)
{
	const struct variable *v = find(rest);

	if (!v)
		return -ENOENT;
	if (v->read_error)
		return -v->read_error;
	*ret = strdup(v->value);
	return *ret ? 0 : -ENOMEM;
}

static int write_variable(const char *rest, const char *text)
{
	struct variable *v = find(rest);
	size_t length = strlen(machine.log);

	if (machine.at_first_write && machine.writes == 0)
		machine.at_first_write();
	machine.writes++;
	snprintf(machine.log + length, sizeof(machine.log) - length, "%s=%s ", rest, text);
	if (!v)
		return -ENOENT;
	if (v->write_error) {
		int error = v->write_error;

		if (v->write_errors > 0 && --v->write_errors == 0)
			v->write_error = 0;
		return -error;
	}
	if (v->refused && strcmp(text, v->refused) == 0)
		return -EINVAL;
	if (!v->stubborn)
		snprintf(v->value, sizeof(v->value), "%s", v->clipped ? v->clipped : text);
	if (machine.side_effect)
		machine.side_effect(rest, text);
	return 0;
}

/* The kernel makes "drift" of everything, if it was "loose". */
static int is_kernels(const char *rest, const char *old, const char *set_to, const char *now)
{
	assert_non_null(find(rest));
	assert_non_null(set_to);
	return strcmp(old, "loose") == 0 && strcmp(now, "drift") == 0;
}

static int read_whole_variable(const char *rest, char **ret)
{
	const struct variable *v = find(rest);

	if (!v || !v->whole)
		return -ENOENT;
	*ret = strdup(v->whole);
	return *ret ? 0 : -ENOMEM;
}

static const struct knob_backend backends[] = {
	{ "var", read_variable, write_variable, is_kernels, read_whole_variable, NULL },
	{ 0 },
};

static int setup(_unused_ void **state)
{
	memset(&machine, 0, sizeof(machine));
	return fake_run_mount("size=256k") ? 0 : -1;
}

static int teardown(_unused_ void **state)
{
	return fake_run_unmount() ? 0 : -1;
}

static void forget_writes(void)
{
	machine.log[0] = '\0';
	machine.writes = 0;
}

/* --- What the tests do over and over --- */

static struct irqlines lines;
static struct engine engine_plain = { .tool = "test", .backends = backends, .lines = &lines };

static struct knob *add(
	struct knob_plan *plan, unsigned group, const char *name, const char *wanted)
{
	struct knob *knob;
	char path[64];

	snprintf(path, sizeof(path), "var:%s", name);
	assert_int_equal(knob_plan_add(plan, group, KNOB_WORD, path, wanted, &knob, "%s", name), 0);
	return knob;
}

/* As a setter does: with the journal that there is. */
static int apply_by_journal(
	const struct engine *engine, struct knob_plan *plan, struct engine_failure *failure)
{
	struct journal *journal = NULL;
	int r = engine_load_journal(engine, &journal, failure);

	return r < 0 && r != -ENOENT ? r : apply_plan(engine, journal, plan, failure);
}

static int apply_with(const struct engine *engine, struct knob_plan *plan)
{
	struct engine_failure failure = { 0 };
	int r = apply_by_journal(engine, plan, &failure);

	if (r < 0)
		assert_non_null(failure.what);
	else
		assert_null(failure.what);
	engine_failure_clear(&failure);
	return r;
}

static void assert_apply(int wanted, struct knob_plan *plan)
{
	assert_int_equal(apply_with(&engine_plain, plan), wanted);
}

/* Restores; the words of the rows by name: "a:restored b:gone ". */
static int restore_with(const struct engine *engine, char *words, size_t size)
{
	struct restore_rows rows = { 0 };
	struct engine_failure failure = { 0 };
	int r = restore_journal(engine, &rows, &failure);

	*words = '\0';
	for (size_t i = 0; i < rows.n; i++) {
		size_t length = strlen(words);

		snprintf(words + length, size - length, "%s:%s ", rows.items[i].name,
			restore_word_name(rows.items[i].word));
	}
	/* Of a knob its row tells, and nothing else. */
	if (r == 0 || rows.n > 0)
		assert_null(failure.what);
	else
		assert_non_null(failure.what);
	restore_rows_clear(&rows);
	engine_failure_clear(&failure);
	return r;
}

static void assert_restore_with(const struct engine *engine, int wanted, const char *wanted_words)
{
	char words[1024];

	assert_int_equal(restore_with(engine, words, sizeof(words)), wanted);
	assert_string_equal(words, wanted_words);
}

static void assert_restore(int wanted, const char *wanted_words)
{
	assert_restore_with(&engine_plain, wanted, wanted_words);
}

static void assert_value(const char *name, const char *value)
{
	assert_string_equal(find(name)->value, value);
}

static bool has_journal(void)
{
	return access(JOURNAL, F_OK) == 0;
}

static const char *word_of(const struct knob_plan *plan, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "var:%s", name);
	return knob_word_name(knob_plan_find(plan, path)->word);
}

static void assert_journal(const char *name, const char *old, const char *new)
{
	struct journal *journal = NULL;
	_cleanup_free_ char *why = NULL;
	const struct journal_entry *entry;
	const char *become;
	char path[64];

	snprintf(path, sizeof(path), "var:%s", name);
	assert_int_equal(journal_load("test", &journal, &why), 0);
	entry = journal_find(journal, path);
	if (!old) {
		assert_null(entry);
	} else {
		assert_non_null(entry);
		assert_string_equal(entry->old, old);
		become = entry->new;
		assert_string_equal(become ? become : "unknown", new ? new : "unknown");
	}
	journal_free(journal);
}

/* --- The tests --- */

static void look_at_first_write(void)
{
	assert_journal("a", "1", NULL);
	assert_journal("b", "2", NULL);
	assert_value("a", "1");
}

static void test_apply_and_restore(_unused_ void **state)
{
	struct knob_plan plan = { 0 };

	set("a", "1");
	set("b", "2");
	set("c", "3");
	add(&plan, 0, "a", "10");
	add(&plan, 1, "b", "20");
	add(&plan, 1, "c", "3");
	add(&plan, 1, "none", "4");
	machine.at_first_write = look_at_first_write;
	assert_apply(0, &plan);
	assert_string_equal(machine.log, "a=10 b=20 ");
	assert_string_equal(word_of(&plan, "a"), "applied");
	assert_string_equal(word_of(&plan, "c"), "already");
	assert_string_equal(word_of(&plan, "none"), "unavailable");
	assert_int_equal(knob_plan_find(&plan, "var:none")->error, ENOENT);
	assert_journal("a", "1", "10");
	assert_journal("b", "2", "20");
	assert_journal("none", NULL, NULL);
	knob_plan_clear(&plan);
	machine.at_first_write = NULL;

	/* Once more: nothing is written, and what was there stays known. */
	forget_writes();
	add(&plan, 0, "a", "10");
	add(&plan, 1, "b", "20");
	assert_apply(0, &plan);
	assert_int_equal(machine.writes, 0);
	assert_string_equal(word_of(&plan, "a"), "applied");
	assert_string_equal(knob_plan_find(&plan, "var:a")->original, "1");
	assert_journal("a", "1", "10");
	knob_plan_clear(&plan);

	/* To something else: the old value is still the first. */
	add(&plan, 0, "a", "100");
	assert_apply(0, &plan);
	assert_journal("a", "1", "100");
	assert_journal("b", "2", "20");
	knob_plan_clear(&plan);

	forget_writes();
	{
		char words[256];

		assert_int_equal(restore_with(&engine_plain, words, sizeof(words)), 0);
		assert_non_null(strstr(words, "a:restored "));
		assert_non_null(strstr(words, "b:restored "));
	}
	assert_string_equal(machine.log, "b=2 a=1 ");
	assert_false(has_journal());
	forget_writes();
	assert_restore(0, "");
	assert_int_equal(machine.writes, 0);
}

static void test_orders(_unused_ void **state)
{
	struct knob_plan plan = { 0 };

	for (const char *name = "abcdef"; *name; name++)
		set((char[]){ *name, '\0' }, "0");
	add(&plan, 2, "a", "1");
	add(&plan, 0, "b", "1");
	add(&plan, 2, "c", "1");
	add(&plan, 70000, "d", "1");
	add(&plan, 0, "e", "1");
	add(&plan, 2, "f", "1");
	assert_apply(0, &plan);
	assert_string_equal(machine.log, "a=1 b=1 c=1 d=1 e=1 f=1 ");
	forget_writes();
	assert_restore(0, "d:restored a:restored c:restored f:restored b:restored e:restored ");
	assert_string_equal(machine.log, "d=0 a=0 c=0 f=0 b=0 e=0 ");
	knob_plan_clear(&plan);
}

/* The last knob fails: the others are turned back in the order of restoring. */
static void test_rollback(_unused_ void **state)
{
	static const int errors[] = { EPERM, EACCES, EBUSY, EINVAL, EIO, EROFS, ENOSPC };

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		struct knob_plan plan = { 0 };

		memset(&machine, 0, sizeof(machine));
		set("a", "0");
		set("b", "0");
		set("c", "0");
		set("bad", "0")->write_error = errors[i];
		set("never", "0");
		add(&plan, 0, "a", "1");
		add(&plan, 1, "b", "1");
		add(&plan, 0, "c", "1");
		add(&plan, 2, "bad", "1");
		add(&plan, 2, "never", "1");
		assert_apply(-errors[i], &plan);
		assert_int_equal(strncmp(machine.log, "a=1 b=1 c=1 bad=1 ", 18), 0);
		assert_non_null(strstr(machine.log, "b=0 a=0 c=0 "));
		assert_null(strstr(machine.log, "never"));
		assert_value("a", "0");
		assert_value("b", "0");
		assert_value("c", "0");
		assert_false(has_journal());
		knob_plan_clear(&plan);
	}
}

/* With a journal from before: it stays as it was, and restore gives back what was first. */
static void test_rollback_keeps_the_journal(_unused_ void **state)
{
	struct knob_plan plan = { 0 };

	set("a", "0");
	set("b", "0");
	set("bad", "0")->write_error = EIO;
	add(&plan, 0, "a", "1");
	assert_apply(0, &plan);
	knob_plan_clear(&plan);
	add(&plan, 0, "a", "2");
	add(&plan, 0, "b", "2");
	add(&plan, 0, "bad", "2");
	assert_apply(-EIO, &plan);
	knob_plan_clear(&plan);
	assert_value("a", "1");
	assert_value("b", "0");
	assert_journal("a", "0", "1");
	assert_journal("b", NULL, NULL);
	assert_restore(0, "a:restored ");
	assert_value("a", "0");
}

/* Turned, and then it jams. */
static void jam_a(const char *name, _unused_ const char *value)
{
	if (strcmp(name, "b") == 0)
		find("a")->write_error = EIO;
}

/* What cannot even be turned back stays in the journal, and restore may have more luck. */
static void test_rollback_fails(_unused_ void **state)
{
	struct engine_failure failure = { 0 };
	struct knob_plan plan = { 0 };

	set("a", "0");
	set("b", "0");
	set("bad", "0")->write_error = EPERM;
	add(&plan, 0, "a", "1");
	add(&plan, 0, "b", "1");
	add(&plan, 1, "bad", "1");
	machine.side_effect = jam_a;
	assert_int_equal(apply_by_journal(&engine_plain, &plan, &failure), -EPERM);
	assert_non_null(strstr(failure.what, "cannot set bad"));
	assert_non_null(strstr(failure.what, "test restore"));
	engine_failure_clear(&failure);
	knob_plan_clear(&plan);
	assert_value("a", "1");
	assert_value("b", "0");
	assert_journal("a", "0", NULL);
	machine.side_effect = NULL;
	assert_restore(-EIO, "bad:unchanged a:failed b:unchanged ");
	assert_journal("a", "0", NULL);
	assert_journal("b", NULL, NULL);
	find("a")->write_error = 0;
	assert_restore(0, "a:restored ");
	assert_value("a", "0");
	assert_false(has_journal());
}

static void test_may_be_refused(_unused_ void **state)
{
	struct engine strict = engine_plain;
	struct knob_plan plan = { 0 };

	set("a", "0");
	set("irq", "0")->write_error = EPERM;
	set("stubborn", "0")->stubborn = true;
	add(&plan, 0, "a", "1");
	add(&plan, 0, "irq", "1")->may_be_refused = true;
	add(&plan, 0, "stubborn", "1")->may_be_refused = true;
	assert_apply(0, &plan);
	assert_string_equal(word_of(&plan, "a"), "applied");
	assert_string_equal(word_of(&plan, "irq"), "denied");
	assert_int_equal(knob_plan_find(&plan, "var:irq")->error, EPERM);
	assert_string_equal(word_of(&plan, "stubborn"), "denied");
	knob_plan_clear(&plan);
	{
		char words[256];

		assert_int_equal(restore_with(&engine_plain, words, sizeof(words)), 0);
	}
	assert_value("a", "0");
	assert_false(has_journal());

	strict.strict = true;
	add(&plan, 0, "a", "1");
	add(&plan, 0, "irq", "1")->may_be_refused = true;
	assert_int_equal(apply_with(&strict, &plan), -EPERM);
	assert_value("a", "0");
	assert_false(has_journal());
	knob_plan_clear(&plan);
	add(&plan, 0, "a", "1");
	add(&plan, 0, "stubborn", "1")->may_be_refused = true;
	assert_int_equal(apply_with(&strict, &plan), -EINVAL);
	assert_value("a", "0");
	assert_false(has_journal());
	knob_plan_clear(&plan);
	/* One that is not there: before anything is written. */
	forget_writes();
	add(&plan, 0, "a", "1");
	add(&plan, 0, "none", "1");
	assert_int_equal(apply_with(&strict, &plan), -ENOENT);
	assert_int_equal(machine.writes, 0);
	knob_plan_clear(&plan);
}

/* That is there to be read and not to be written on this machine: a normal thing. */
static void test_unavailable(_unused_ void **state)
{
	static const int errors[] = { ENOENT, ENODEV, ENXIO, EOPNOTSUPP, 524 };

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		struct knob_plan plan = { 0 };
		char words[256];

		memset(&machine, 0, sizeof(machine));
		set("a", "0");
		set("none", "0")->write_error = errors[i];
		add(&plan, 0, "none", "1");
		add(&plan, 0, "a", "1");
		assert_apply(0, &plan);
		assert_string_equal(word_of(&plan, "none"), "unavailable");
		assert_string_equal(word_of(&plan, "a"), "applied");
		knob_plan_clear(&plan);
		assert_int_equal(restore_with(&engine_plain, words, sizeof(words)), 0);
		assert_value("a", "0");
		assert_false(has_journal());
	}
}

/* One that takes every text and keeps its own, and must not. */
static void test_stubborn(_unused_ void **state)
{
	struct engine_failure failure = { 0 };
	struct knob_plan plan = { 0 };

	set("a", "0");
	set("stubborn", "0")->stubborn = true;
	add(&plan, 0, "a", "1");
	add(&plan, 0, "stubborn", "1");
	assert_int_equal(apply_by_journal(&engine_plain, &plan, &failure), -EINVAL);
	assert_non_null(strstr(failure.what, "kept 0"));
	assert_string_equal(failure.path, "var:stubborn");
	engine_failure_clear(&failure);
	assert_value("a", "0");
	assert_false(has_journal());
	knob_plan_clear(&plan);
}

/* A limit is rounded to what the hardware has, and that counts as applied. */
static void round_limit(const char *name, const char *value)
{
	if (strcmp(name, "max") == 0 && strcmp(value, "2050000") == 0)
		set("max", "2000000");
}

static void test_rounded(_unused_ void **state)
{
	struct knob_plan plan = { 0 };

	set("max", "3000000");
	machine.side_effect = round_limit;
	add(&plan, 0, "max", "2050000")->kind = KNOB_FREQUENCY;
	assert_apply(0, &plan);
	assert_string_equal(word_of(&plan, "max"), "applied");
	assert_non_null(knob_plan_find(&plan, "var:max")->note);
	knob_plan_clear(&plan);
	assert_journal("max", "3000000", "2000000");
	assert_restore(0, "max:restored ");
	assert_value("max", "3000000");
}

/* SMT: off takes the siblings offline, on brings all of them online, also one that somebody had
 * taken offline by hand; and an interrupt of a CPU that goes is scattered. */
static void hotplug(const char *name, const char *value)
{
	if (strcmp(name, "control") != 0)
		return;
	if (strcmp(value, "off") == 0) {
		set("cpu2", "0");
		set("cpu3", "0");
		set("irq", "0-1");
		find("epp3")->read_error = EBUSY;
	} else {
		set("cpu2", "1");
		set("cpu3", "1");
		find("epp3")->read_error = 0;
		set("epp3", "default");
	}
}

static void make_smt(struct knob_plan *plan)
{
	add(plan, 0, "irq", NULL);
	add(plan, 0, "epp3", NULL);
	add(plan, 1, "cpu2", NULL);
	add(plan, 1, "cpu3", NULL);
	add(plan, 2, "control", "off");
}

static void test_side_effects(_unused_ void **state)
{
	struct knob_plan plan = { 0 };
	char words[256];

	set("control", "on");
	set("cpu2", "0"); /* by hand */
	set("cpu3", "1");
	set("irq", "3");
	set("epp3", "power");
	machine.side_effect = hotplug;
	make_smt(&plan);
	assert_apply(0, &plan);
	assert_string_equal(machine.log, "control=off ");
	assert_journal("cpu2", "0", "0");
	assert_journal("cpu3", "1", "0");
	assert_journal("irq", "3", "0-1");
	assert_journal("epp3", "power", NULL);
	knob_plan_clear(&plan);

	make_smt(&plan);
	forget_writes();
	assert_apply(0, &plan);
	assert_int_equal(machine.writes, 0);
	assert_journal("irq", "3", "0-1");
	knob_plan_clear(&plan);

	assert_int_equal(restore_with(&engine_plain, words, sizeof(words)), 0);
	assert_value("control", "on");
	assert_value("cpu2", "0");
	assert_value("cpu3", "1");
	assert_value("irq", "3");
	assert_value("epp3", "power");
	assert_false(has_journal());
}

/* The same, when what comes after SMT fails. */
static void test_side_effects_rolled_back(_unused_ void **state)
{
	struct knob_plan plan = { 0 };

	set("control", "on");
	set("cpu2", "0");
	set("cpu3", "1");
	set("irq", "3");
	set("epp3", "power");
	set("bad", "0")->write_error = EIO;
	machine.side_effect = hotplug;
	make_smt(&plan);
	add(&plan, 3, "bad", "1");
	assert_apply(-EIO, &plan);
	knob_plan_clear(&plan);
	assert_value("control", "on");
	assert_value("cpu2", "0");
	assert_value("cpu3", "1");
	assert_value("irq", "3");
	assert_value("epp3", "power");
	assert_false(has_journal());
}

/* A knob that is as wanted, until another one moves it; and when that is put back, again. */
static void couple(const char *name, const char *value)
{
	if (strcmp(name, "governor") == 0)
		set("epp", strcmp(value, "performance") == 0 ? "forced" : "balanced");
}

static void test_moved_by_another(_unused_ void **state)
{
	struct knob_plan plan = { 0 };
	char words[256];

	set("epp", "performance");
	set("governor", "powersave");
	machine.side_effect = couple;
	add(&plan, 0, "epp", "performance");
	add(&plan, 0, "governor", "performance");
	assert_apply(0, &plan);
	assert_value("epp", "performance");
	assert_value("governor", "performance");
	knob_plan_clear(&plan);
	assert_int_equal(restore_with(&engine_plain, words, sizeof(words)), 0);
	assert_value("governor", "powersave");
	assert_value("epp", "performance");
	assert_false(has_journal());
}

static void test_foreign(_unused_ void **state)
{
	struct engine force = engine_plain;
	struct knob_plan plan = { 0 };

	set("a", "0");
	set("b", "0");
	set("c", "0");
	add(&plan, 0, "a", "1");
	add(&plan, 0, "b", "1");
	add(&plan, 0, "c", "1");
	assert_apply(0, &plan);
	knob_plan_clear(&plan);
	set("b", "7");
	set("c", "0"); /* somebody has put it back already */

	add(&plan, 0, "b", "7");
	{
		struct engine_failure failure = { 0 };
		struct journal *journal = NULL;

		assert_int_equal(engine_load_journal(&engine_plain, &journal, &failure), 0);
		assert_int_equal(inspect_plan(&engine_plain, journal, &plan, &failure), 0);
		journal_free(journal);
		assert_non_null(strstr(knob_plan_find(&plan, "var:b")->note, "somebody else"));
	}
	knob_plan_clear(&plan);

	assert_restore(0, "a:restored b:foreign c:unchanged ");
	assert_value("b", "7");
	assert_journal("a", NULL, NULL);
	assert_journal("b", "0", "1");
	assert_restore(0, "b:foreign ");
	force.force = true;
	assert_restore_with(&force, 0, "b:restored ");
	assert_value("b", "0");
	assert_false(has_journal());
}

/* Another apply over what somebody else has changed: it is as asked for again, and the old value is
 * still that of the beginning. */
static void test_apply_over_foreign(_unused_ void **state)
{
	struct knob_plan plan = { 0 };

	set("a", "0");
	add(&plan, 0, "a", "1");
	assert_apply(0, &plan);
	knob_plan_clear(&plan);
	set("a", "7");
	add(&plan, 0, "a", "1");
	assert_apply(0, &plan);
	knob_plan_clear(&plan);
	assert_value("a", "1");
	assert_journal("a", "0", "1");
	assert_restore(0, "a:restored ");
}

static void test_restore_failures(_unused_ void **state)
{
	struct knob_plan plan = { 0 };

	set("a", "0");
	set("b", "0");
	set("c", "0");
	set("d", "0");
	add(&plan, 0, "a", "1");
	add(&plan, 0, "b", "1");
	add(&plan, 0, "c", "1");
	add(&plan, 0, "d", "1");
	assert_apply(0, &plan);
	knob_plan_clear(&plan);
	find("a")->write_error = EPERM;
	find("b")->read_error = ENODEV;
	find("c")->read_error = EIO;
	assert_restore(-EPERM, "a:failed b:gone c:failed d:restored ");
	assert_value("d", "0");
	assert_journal("a", "0", NULL);
	assert_journal("d", NULL, NULL);
	find("a")->write_error = 0;
	find("c")->read_error = 0;
	assert_restore(0, "a:restored c:restored ");
	assert_value("a", "0");
	assert_value("c", "0");
	assert_false(has_journal());
	/* One that keeps what it is. */
	add(&plan, 0, "a", "1");
	assert_apply(0, &plan);
	knob_plan_clear(&plan);
	find("a")->stubborn = true;
	assert_restore(-EINVAL, "a:failed ");
	assert_true(has_journal());
}

/* What the kernel has made of it by itself is nobody's change. */
static void test_kernels_change(_unused_ void **state)
{
	struct knob_plan plan = { 0 };

	set("a", "loose");
	set("b", "tight");
	add(&plan, 0, "a", "1");
	add(&plan, 0, "b", "1");
	assert_apply(0, &plan);
	knob_plan_clear(&plan);
	set("a", "drift");
	set("b", "drift");
	assert_restore(0, "a:restored b:foreign ");
	assert_value("a", "loose");
	assert_value("b", "drift");
}

/* It goes between being read and being written. */
static void test_goes_meanwhile(_unused_ void **state)
{
	struct knob_plan plan = { 0 };

	set("a", "0");
	add(&plan, 0, "a", "1");
	assert_apply(0, &plan);
	knob_plan_clear(&plan);
	find("a")->write_error = ENOENT;
	assert_restore(0, "a:gone ");
	assert_false(has_journal());
}

static void add_cpus(struct knob_plan *plan, enum knob_kind kind, const char *name, const char *old,
	const char *wanted)
{
	char path[64];

	set(name, old);
	snprintf(path, sizeof(path), "var:%s", name);
	assert_int_equal(knob_plan_add(plan, 0, kind, path, wanted, NULL, "%s", name), 0);
}

/* CPU 0 is on this machine, and CPU 8000, let us say, was. */
static void test_unplugged_cpus(_unused_ void **state)
{
	struct knob_plan plan = { 0 };

	add_cpus(&plan, KNOB_LIST, "refused", "0,8000", "7");
	add_cpus(&plan, KNOB_LIST, "clipped", "0,8000", "7");
	add_cpus(&plan, KNOB_LIST, "all", "8000", "7");
	add_cpus(&plan, KNOB_LIST, "other", "0,8000", "7");
	add_cpus(&plan, KNOB_LIST, "kept", "0,8000", "7");
	add_cpus(&plan, KNOB_WORD, "word", "8000", "7");
	assert_apply(0, &plan);
	knob_plan_clear(&plan);
	find("refused")->refused = "0,8000";
	find("clipped")->clipped = "0";
	find("all")->refused = "8000";
	find("other")->write_error = EPERM;
	find("word")->refused = "8000";
	assert_restore(-EPERM,
		"refused:restored clipped:restored all:gone other:failed kept:restored "
		"word:failed ");
	assert_value("refused", "0");
	assert_value("clipped", "0");
	assert_value("all", "7");
	/* Where the kernel takes CPUs that are not there, it gets them. */
	assert_value("kept", "0,8000");
	assert_journal("all", NULL, NULL);
	assert_journal("other", "0,8000", NULL);
}

/* --- CPUs that are offline --- */

#define ONLINE "/sys/devices/system/cpu/online"
#define PRESENT "/sys/devices/system/cpu/present"
#define POSSIBLE "/sys/devices/system/cpu/possible"
#define CPUSET "/run/cpuset.cpus"
#define CPUSET_NOPREFIX "/run/cpus"

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* CPUs 0-3, all online. */
static void plug_cpus(void)
{
	write_text("/run/present", "0-3\n");
	write_text("/run/online", "0-3\n");
	assert_int_equal(mount("/run/present", PRESENT, NULL, MS_BIND, NULL), 0);
	assert_int_equal(mount("/run/online", ONLINE, NULL, MS_BIND, NULL), 0);
}

static int setup_cpus(void **state)
{
	if (setup(state) < 0)
		return -1;
	plug_cpus();
	return 0;
}

static int teardown_cpus(void **state)
{
	(void)umount2(PRESENT, MNT_DETACH);
	(void)umount2(ONLINE, MNT_DETACH);
	(void)umount2(POSSIBLE, MNT_DETACH);
	return teardown(state);
}

static void assert_waits_for(const char *cpus)
{
	struct restore_rows rows = { 0 };
	struct engine_failure failure = { 0 };

	assert_int_equal(restore_journal(&engine_plain, &rows, &failure), 0);
	assert_string_equal(rows.awaited_cpus ? rows.awaited_cpus : "none", cpus);
	for (size_t i = 0; i < rows.n; i++)
		assert_int_equal(rows.items[i].again, rows.items[i].word == RESTORE_WAITING);
	restore_rows_clear(&rows);
}

/* Whatever the kernel makes of a set with a CPU that is offline: what can be had is put back now,
 * and the rest when it is online again. */
static void test_offline_cpus(_unused_ void **state)
{
	struct knob_plan plan = { 0 };

	add_cpus(&plan, KNOB_LIST, "clipped", "1-2", "0");
	add_cpus(&plan, KNOB_LIST, "refused", "1-2", "0");
	add_cpus(&plan, KNOB_MASK, "all", "2", "1");
	add_cpus(&plan, KNOB_LIST, "whole", "1-2", "0");
	add_cpus(&plan, KNOB_LIST, "kept", "1-2", "0");
	add_cpus(&plan, KNOB_LIST, "elsewhere", "2-3", "0");
	assert_apply(0, &plan);
	knob_plan_clear(&plan);
	write_text("/run/online", "0,2-3\n");
	find("clipped")->clipped = "2";
	find("refused")->refused = "1-2";
	find("all")->refused = "2";
	find("whole")->clipped = "2";
	find("whole")->whole = "1-2";
	assert_restore(0,
		"clipped:waiting refused:waiting all:waiting whole:unchanged kept:restored "
		"elsewhere:restored ");
	assert_value("clipped", "2");
	assert_value("refused", "2");
	assert_value("all", "1");
	assert_value("kept", "1-2");
	assert_value("elsewhere", "2-3");
	assert_journal("clipped", "1-2", NULL);
	assert_journal("refused", "1-2", NULL);
	assert_journal("all", "2", NULL);
	assert_journal("kept", NULL, NULL);
	/* Once more makes no difference, and its CPU does. */
	assert_waits_for("1");
	assert_true(has_journal());
	find("clipped")->clipped = NULL;
	find("refused")->refused = NULL;
	find("all")->refused = NULL;
	write_text("/run/online", "0-3\n");
	assert_restore(0, "clipped:restored refused:restored all:restored ");
	assert_value("clipped", "1-2");
	assert_value("refused", "1-2");
	assert_value("all", "2");
	assert_false(has_journal());
}

/* What is not for want of that CPU is a failure as ever. */
static void test_offline_cpus_excuse_nothing(_unused_ void **state)
{
	struct knob_plan plan = { 0 };

	add_cpus(&plan, KNOB_LIST, "other", "2-3", "0");
	add_cpus(&plan, KNOB_LIST, "less", "1-3", "0");
	add_cpus(&plan, KNOB_LIST, "error", "1-2", "0");
	add_cpus(&plan, KNOB_WORD, "word", "1", "0");
	assert_apply(0, &plan);
	knob_plan_clear(&plan);
	write_text("/run/online", "0,2-3\n");
	find("other")->refused = "2-3";
	find("less")->clipped = "2";
	find("error")->write_error = EPERM;
	find("word")->refused = "1";
	assert_restore(-EINVAL, "other:failed less:failed error:failed word:failed ");
}

/* One that was offline before is not missed. */
static void test_offline_before(_unused_ void **state)
{
	struct knob_plan plan = { 0 };

	write_text("/run/online", "0,2-3\n");
	add_cpus(&plan, KNOB_LIST, "clipped", "1-2", "0");
	assert_apply(0, &plan);
	knob_plan_clear(&plan);
	find("clipped")->clipped = "2";
	assert_restore(-EINVAL, "clipped:failed ");
}

static void add_whole(const char *name, const char *value, const char *whole)
{
	struct knob_plan plan = { 0 };

	add_cpus(&plan, KNOB_LIST, name, value, "0");
	find(name)->whole = whole;
	assert_apply(0, &plan);
	knob_plan_clear(&plan);
	find(name)->whole = "0";
}

/* As later kernels do with threads of the root cpuset. */
static void remember(const char *name, const char *value)
{
	if (strcmp(name, "remembered") == 0 && strcmp(value, "1-2") == 0)
		find(name)->whole = "1-2";
}

/* Of which the knob does not tell when it is read, as a thread: it is put back as well, now or
 * later. */
static void test_hidden_offline_cpu(_unused_ void **state)
{
	write_text("/run/online", "0,2-3\n");
	add_whole("remembered", "2", "1-2");
	add_whole("cut", "2", "1-2");
	add_whole("none", "", "1");
	assert_journal("remembered", "1-2", "0");
	assert_journal("cut", "1-2", "0");
	assert_journal("none", "1", "0");
	machine.side_effect = remember;
	find("remembered")->clipped = find("cut")->clipped = "2";
	find("none")->refused = "1";
	assert_restore(0, "remembered:restored cut:waiting none:waiting ");
	assert_journal("remembered", NULL, NULL);
	assert_journal("cut", "1-2", NULL);
	assert_journal("none", "1", NULL);
	assert_waits_for("1");
	write_text("/run/online", "0-3\n");
	find("cut")->clipped = find("none")->refused = NULL;
	assert_restore(0, "cut:restored none:restored ");
	assert_value("cut", "1-2");
	assert_value("none", "1");
	assert_false(has_journal());
}

static void remember_choice(const char *name, _unused_ const char *value)
{
	find(name)->whole = "0,2-3";
}

/* A choice that was forgotten shows only when that CPU is back. */
static void test_choice_of_all_online(_unused_ void **state)
{
	write_text("/run/online", "0,2-3\n");
	add_whole("chosen", "0,2-3", "0,2-3");
	assert_journal("chosen", "0,2-3", "0");
	set("chosen", "0,2-3")->whole = "0-3";
	forget_writes();
	machine.side_effect = remember_choice;
	assert_restore(0, "chosen:restored ");
	assert_string_equal(machine.log, "chosen=0,2-3 ");
	assert_false(has_journal());
	/* One that the kernel still knows. */
	machine.side_effect = NULL;
	add_whole("known", "0,2-3", "0,2-3");
	set("known", "0,2-3")->whole = "0,2-3";
	forget_writes();
	assert_restore(0, "known:unchanged ");
	assert_int_equal(machine.writes, 0);
}

/* smt-off, which has taken it, gives it back to whoever had it. */
static void test_hidden_cpu_of_smt_off(_unused_ void **state)
{
	_cleanup_(journal) struct journal *journal = NULL;

	assert_int_equal(journal_new("smt-off", &journal), 0);
	assert_int_equal(journal_add(journal, 0, KNOB_NUMBER, "/sys/devices/system/cpu/cpu1/online",
				 "cpu1", "1", "0"),
		0);
	assert_int_equal(journal_save(journal), 0);
	write_text("/run/online", "0,2-3\n");
	add_whole("cut", "2", "1-2");
	add_whole("none", "", "1");
	find("cut")->clipped = "2";
	find("none")->refused = "1";
	assert_restore(0, "cut:restored none:gone ");
	assert_value("cut", "2");
	assert_false(has_journal());
	assert_int_equal(journal_remove("smt-off"), 0);
}

static void forget(const char *name, const char *value)
{
	if (strcmp(name, "cpuset") == 0 && strcmp(value, "1") == 0)
		find("remembered")->whole = "2";
	remember(name, value);
}

/* Nor is it lost where the apply fails, though nothing shows of it. */
static void test_hidden_offline_cpu_rolled_back(_unused_ void **state)
{
	struct knob_plan plan = { 0 };

	write_text("/run/online", "0,2-3\n");
	set("cpuset", "0");
	add(&plan, 1, "cpuset", "1");
	set("refused", "0")->refused = "1";
	add(&plan, 1, "refused", "1");
	add_cpus(&plan, KNOB_LIST, "remembered", "2", "2");
	find("remembered")->whole = "1-2";
	find("remembered")->clipped = "2";
	machine.side_effect = forget;
	assert_apply(-EINVAL, &plan);
	knob_plan_clear(&plan);
	assert_string_equal(machine.log, "cpuset=1 refused=1 cpuset=0 remembered=1-2 ");
	assert_string_equal(find("remembered")->whole, "1-2");
	assert_false(has_journal());
}

/* Settings that come on top of what waits forget nothing of it. */
static void test_apply_over_waiting(_unused_ void **state)
{
	struct knob_plan plan = { 0 };

	add_cpus(&plan, KNOB_LIST, "a", "1-2", "0");
	assert_apply(0, &plan);
	knob_plan_clear(&plan);
	write_text("/run/online", "0,2-3\n");
	find("a")->clipped = "2";
	assert_restore(0, "a:waiting ");
	find("a")->clipped = NULL;
	add_cpus(&plan, KNOB_LIST, "a", "2", "3");
	add_cpus(&plan, KNOB_LIST, "b", "2", "3");
	assert_apply(0, &plan);
	knob_plan_clear(&plan);
	assert_journal("a", "1-2", "3");
	write_text("/run/online", "0-3\n");
	assert_restore(0, "a:restored b:restored ");
	assert_value("a", "1-2");
	assert_value("b", "2");
	assert_false(has_journal());
}

/* Another tool knew more of it than was written down here. */
static void test_waiting_is_over(_unused_ void **state)
{
	struct knob_plan plan = { 0 };

	add_cpus(&plan, KNOB_LIST, "more", "0-1", "0");
	add_cpus(&plan, KNOB_LIST, "less", "0-1", "0");
	assert_apply(0, &plan);
	knob_plan_clear(&plan);
	write_text("/run/online", "0,2-3\n");
	find("more")->clipped = find("less")->clipped = "0";
	assert_restore(0, "more:waiting less:waiting ");
	write_text("/run/online", "0-3\n");
	set("more", "0-2")->clipped = set("less", "0,2")->clipped = NULL;
	forget_writes();
	assert_restore(0, "more:unchanged less:restored ");
	assert_string_equal(machine.log, "less=0-1 ");
	assert_value("more", "0-2");
	assert_false(has_journal());
}

/* As the kernel cuts threads that nobody has written down: it is found while CPU 1 is offline. */
static int find_narrowed(
	const struct cpumask *missing, _unused_ struct journal *journal, struct knob_plan *plan)
{
	assert_int_equal(cpumask_weight(missing), 1);
	assert_true(cpumask_isset(missing, 1));
	return knob_plan_add(plan, 0, KNOB_WORD, "var:thread", "all", NULL, "thread");
}

static void test_narrowed_by_kernel(_unused_ void **state)
{
	struct engine engine = engine_plain;
	struct knob_plan plan = { 0 };

	engine.find_narrowed = find_narrowed;
	set("a", "1");
	set("thread", "all");
	add(&plan, 0, "a", "0");
	assert_apply(0, &plan);
	knob_plan_clear(&plan);
	write_text("/run/online", "0,2-3\n");
	for (int i = 0; i < 2; i++) {
		assert_restore_with(
			&engine, 0, i == 0 ? "a:restored thread:waiting " : "thread:waiting ");
		assert_journal("thread", "all", NULL);
	}
	write_text("/run/online", "0-3\n");
	set("thread", "0,2-3");
	assert_restore_with(&engine, 0, "thread:restored ");
	assert_value("thread", "all");
	assert_false(has_journal());
}

static void come_back(_unused_ const char *name, _unused_ const char *value)
{
	write_text("/run/online", "0-3\n");
}

/* A CPU that comes back in the middle of restore has been missed by threads all the same. */
static void test_narrowed_then_online(_unused_ void **state)
{
	struct engine engine = engine_plain;
	struct knob_plan plan = { 0 };
	char words[256];

	engine.find_narrowed = find_narrowed;
	set("a", "1");
	set("b", "1");
	set("thread", "all");
	add(&plan, 0, "a", "0");
	add(&plan, 1, "b", "0");
	assert_apply(0, &plan);
	knob_plan_clear(&plan);
	write_text("/run/online", "0,2-3\n");
	machine.side_effect = come_back;
	assert_int_equal(restore_with(&engine, words, sizeof(words)), 0);
	machine.side_effect = NULL;
	assert_string_equal(words, "b:restored a:restored thread:waiting ");
	set("thread", "0,2-3");
	assert_restore_with(&engine, 0, "thread:restored ");
	assert_false(has_journal());
}

static void go_away(_unused_ const char *name, _unused_ const char *value)
{
	write_text("/run/online", "0,2-3\n");
}

/* A CPU goes offline in the middle of an apply that fails, and threads lose it while that is
 * undone. */
static void test_narrowed_while_undoing(_unused_ void **state)
{
	struct engine engine = engine_plain;
	struct knob_plan plan = { 0 };

	engine.find_narrowed = find_narrowed;
	set("a", "1");
	set("bad", "1")->write_error = EIO;
	set("thread", "all");
	add(&plan, 0, "a", "0");
	add(&plan, 0, "bad", "0");
	machine.side_effect = go_away;
	assert_int_equal(apply_with(&engine, &plan), -EIO);
	knob_plan_clear(&plan);
	machine.side_effect = NULL;
	assert_value("a", "1");
	assert_journal("thread", "all", NULL);
	write_text("/run/online", "0-3\n");
	set("thread", "0,2-3");
	assert_restore_with(&engine, 0, "thread:restored ");
	assert_false(has_journal());
}

/* Killed somewhere in restore: what it had done already is not somebody else's work. */
static void test_restore_again(_unused_ void **state)
{
	struct knob_plan plan = { 0 };
	char words[256];

	set("governor", "powersave");
	set("epp", "x");
	add(&plan, 0, "governor", "performance");
	add(&plan, 0, "epp", "y");
	assert_apply(0, &plan);
	knob_plan_clear(&plan);
	/* Putting the governor back moves EPP, and then the write of EPP fails. */
	machine.side_effect = couple;
	find("epp")->write_error = EIO;
	assert_int_equal(restore_with(&engine_plain, words, sizeof(words)), -EIO);
	assert_value("governor", "powersave");
	assert_value("epp", "balanced");
	find("epp")->write_error = 0;
	assert_restore(0, "epp:restored ");
	assert_value("epp", "x");
	assert_false(has_journal());
}

/* --- The journal cannot be written --- */

static void make_pair(struct knob_plan *plan)
{
	add(plan, 0, "a", "1");
	add(plan, 0, "b", "1");
}

static void test_no_journal_no_write(_unused_ void **state)
{
	struct knob_plan plan = { 0 };

	set("a", "0");
	set("b", "0");
	make_pair(&plan);
	assert_true(fake_run_fill());
	assert_apply(-ENOSPC, &plan);
	knob_plan_clear(&plan);
	assert_true(fake_run_drain());

	make_pair(&plan);
	assert_true(fake_run_read_only(true));
	assert_apply(-EROFS, &plan);
	assert_true(fake_run_read_only(false));
	knob_plan_clear(&plan);

	assert_true(fake_run_mount("nr_inodes=1"));
	make_pair(&plan);
	assert_apply(-ENOSPC, &plan);
	knob_plan_clear(&plan);
	assert_true(fake_run_unmount());

	assert_int_equal(chmod("/run/quiesce", 0777), 0);
	make_pair(&plan);
	assert_apply(-EPERM, &plan);
	knob_plan_clear(&plan);

	assert_int_equal(machine.writes, 0);
	assert_value("a", "0");
	assert_value("b", "0");
	assert_false(has_journal());
}

/* Over a journal that stands, and still does afterwards. */
static void test_no_journal_over_one(_unused_ void **state)
{
	struct knob_plan plan = { 0 };

	set("a", "0");
	set("b", "0");
	add(&plan, 0, "a", "1");
	assert_apply(0, &plan);
	knob_plan_clear(&plan);
	forget_writes();
	add(&plan, 0, "b", "1");
	assert_true(fake_run_fill());
	assert_apply(-ENOSPC, &plan);
	knob_plan_clear(&plan);
	assert_int_equal(machine.writes, 0);
	assert_journal("a", "0", "1");
	assert_journal("b", NULL, NULL);
	/* To put things back needs no room. */
	assert_restore(0, "a:restored ");
	assert_value("a", "0");
	assert_false(has_journal());
}

static void fill(_unused_ const char *name, _unused_ const char *value)
{
	if (access("/run/ballast", F_OK) < 0)
		assert_true(fake_run_fill());
}

/* What the knobs have become cannot be written down: they are turned back. */
static void test_no_outcome(_unused_ void **state)
{
	struct knob_plan plan = { 0 };
	char words[256];

	set("a", "0");
	set("b", "0");
	make_pair(&plan);
	machine.side_effect = fill;
	assert_apply(-ENOSPC, &plan);
	assert_value("a", "0");
	assert_value("b", "0");
	knob_plan_clear(&plan);
	assert_true(fake_run_drain());
	machine.side_effect = NULL;
	assert_int_equal(restore_with(&engine_plain, words, sizeof(words)), 0);
	assert_value("a", "0");
	assert_false(has_journal());
}

static void test_damaged(_unused_ void **state)
{
	static const char *const texts[] = { "", "hello\n", "quiesce journal 1\n",
		"quiesce journal 2\nboot\tx\ntool\ttest\nknob\t0\t1\tword\tvar:a\ta\t5\t1\n" };

	set("a", "0");
	assert_int_equal(mkdir("/run/quiesce", 0755), 0);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct engine_failure failure = { 0 };
		struct knob_plan plan = { 0 };
		_cleanup_free_ char *after = NULL;
		struct journal *journal = NULL;
		char words[64];
		size_t length;
		FILE *stream = fopen(JOURNAL, "we");

		assert_non_null(stream);
		assert_true(fputs(texts[i], stream) >= 0);
		assert_int_equal(fclose(stream), 0);
		add(&plan, 0, "a", "1");
		assert_apply(-EBADMSG, &plan);
		assert_int_equal(engine_load_journal(&engine_plain, &journal, &failure), -EBADMSG);
		assert_null(journal);
		assert_non_null(strstr(failure.what, "nothing is touched"));
		engine_failure_clear(&failure);
		assert_int_equal(restore_with(&engine_plain, words, sizeof(words)), -EBADMSG);
		knob_plan_clear(&plan);
		assert_int_equal(file_read_all(JOURNAL, 4096, &after, &length), 0);
		assert_string_equal(after, texts[i]);
	}
	assert_int_equal(machine.writes, 0);
	assert_value("a", "0");
}

static void test_settled_and_empty(_unused_ void **state)
{
	struct knob_plan plan = { 0 };

	assert_apply(0, &plan);
	assert_int_equal(
		knob_plan_add_word(&plan, 0, KNOB_HOST_CONTROLLED, "var:a", "why", "a"), 0);
	set("a", "0");
	assert_apply(0, &plan);
	assert_string_equal(word_of(&plan, "a"), "host-controlled");
	assert_string_equal(knob_plan_find(&plan, "var:a")->note, "why");
	assert_int_equal(machine.writes, 0);
	assert_false(has_journal());
	knob_plan_clear(&plan);
	assert_restore(0, "");
}

/* A question that the machine does not pass: what was turned in this call is turned back, and no
 * more than that. */
static int fail_verify(struct knob_plan *plan, void *context)
{
	int *calls = context;

	assert_true(plan->n > 0);
	(*calls)++;
	return -EDOM;
}

static void test_verify(_unused_ void **state)
{
	int calls = 0;
	struct engine engine = engine_plain;
	struct engine_failure failure = { 0 };
	struct knob_plan plan = { 0 };

	set("a", "0");
	set("b", "0");
	add(&plan, 0, "a", "1");
	assert_apply(0, &plan);
	knob_plan_clear(&plan);

	engine.verify = fail_verify;
	engine.context = &calls;
	add(&plan, 0, "a", "2");
	add(&plan, 0, "b", "2");
	assert_int_equal(apply_by_journal(&engine, &plan, &failure), -EDOM);
	assert_null(failure.what);
	knob_plan_clear(&plan);
	assert_int_equal(calls, 1);
	assert_value("a", "1");
	assert_value("b", "0");
	assert_journal("a", "0", "1");
	assert_journal("b", NULL, NULL);

	/* Asked also when there is nothing to turn. */
	add(&plan, 0, "a", "1");
	assert_int_equal(apply_by_journal(&engine, &plan, &failure), -EDOM);
	knob_plan_clear(&plan);
	assert_int_equal(calls, 2);
	assert_value("a", "1");
	assert_restore(0, "a:restored ");
}

/* An apply was killed after its last write: the next one finds nothing to turn, and writes down
 * what the knobs have become, or nobody could tell somebody else's change from ours. */
static void test_unfinished(_unused_ void **state)
{
	struct journal *journal = NULL;
	struct knob_plan plan = { 0 };

	set("a", "1");
	set("b", "5");
	assert_int_equal(journal_new("test", &journal), 0);
	assert_int_equal(journal_add(journal, 0, KNOB_WORD, "var:a", "a", "0", NULL), 0);
	assert_int_equal(journal_add(journal, 0, KNOB_WORD, "var:b", "b", "5", NULL), 0);
	assert_int_equal(journal_save(journal), 0);
	journal_free(journal);
	add(&plan, 0, "a", "1");
	add(&plan, 0, "b", NULL);
	assert_apply(0, &plan);
	assert_int_equal(machine.writes, 0);
	assert_string_equal(word_of(&plan, "a"), "applied");
	assert_journal("a", "0", "1");
	assert_journal("b", "5", "5");
	knob_plan_clear(&plan);
	set("a", "7");
	assert_restore(0, "a:foreign b:unchanged ");
	assert_value("a", "7");
}

/* --- What is not known is not unchanged --- */

/* From the first write on nobody can read it. */
static void blind(const char *name, const char *value _unused_)
{
	find(name)->read_error = EIO;
}

/* Written and not read back, though it may be refused: a failure, and its original is kept. */
static void test_not_read_back(_unused_ void **state)
{
	struct knob_plan plan = { 0 };

	set("a", "0");
	set("b", "0");
	add(&plan, 0, "a", "1");
	add(&plan, 0, "b", "1")->may_be_refused = true;
	machine.side_effect = blind;
	assert_apply(-EIO, &plan);
	knob_plan_clear(&plan);
	machine.side_effect = NULL;
	/* Turned back as far as can be seen, which is not at all. */
	assert_journal("a", "0", NULL);
	assert_journal("b", "0", NULL);
	assert_restore(-EIO, "a:failed b:failed ");
	assert_true(has_journal());
	find("a")->read_error = find("b")->read_error = 0;
	assert_restore(0, "a:unchanged b:unchanged ");
	assert_value("a", "0");
	assert_value("b", "0");
	assert_false(has_journal());
}

/* The knob takes what is written to it, and from then on nobody can read it. */
static void take_and_blind(void)
{
	set("irq", "1")->read_error = EIO;
}

/* A knob that may be refused is not known to have refused if it cannot be read back: neither when
 * its write succeeded nor when it failed. So this is a failure, and the original is kept. */
static void test_refused_not_read_back(_unused_ void **state)
{
	static const int write_errors[] = { 0, EPERM };

	for (size_t i = 0; i < ARRAY_SIZE(write_errors); i++) {
		struct knob_plan plan = { 0 };

		memset(&machine, 0, sizeof(machine));
		set("irq", "0")->write_error = write_errors[i];
		machine.at_first_write = take_and_blind;
		add(&plan, 0, "irq", "1")->may_be_refused = true;
		assert_apply(-EIO, &plan);
		knob_plan_clear(&plan);
		assert_journal("irq", "0", NULL);
		find("irq")->read_error = find("irq")->write_error = 0;
		set("irq", "1");
		assert_restore(0, "irq:restored ");
		assert_value("irq", "0");
		assert_false(has_journal());
	}
}

/* Nothing is turned that could not be put back for want of a descriptor. */
static void test_cannot_look(_unused_ void **state)
{
	struct knob_plan plan = { 0 };

	set("a", "0");
	set("b", "0")->read_error = EMFILE;
	add(&plan, 0, "a", "1");
	add(&plan, 0, "b", NULL);
	assert_apply(-EMFILE, &plan);
	assert_int_equal(machine.writes, 0);
	assert_false(has_journal());
	/* Nor for any other reason, while it is there: turning "a" may change it. */
	find("b")->read_error = EACCES;
	assert_apply(-EACCES, &plan);
	knob_plan_clear(&plan);
	assert_int_equal(machine.writes, 0);
	assert_false(has_journal());

	find("b")->read_error = 0;
	add(&plan, 0, "a", "1");
	add(&plan, 0, "b", NULL);
	assert_apply(0, &plan);
	knob_plan_clear(&plan);
	find("b")->read_error = EMFILE;
	machine.writes = 0;
	assert_restore(-EMFILE, "");
	assert_int_equal(machine.writes, 0);
	assert_journal("a", "0", "1");
	find("b")->read_error = 0;
	assert_restore(0, "a:restored b:unchanged ");
	assert_false(has_journal());
}

/* Knobs that somebody else turns, late. */
static const struct knob_backend late_backends[] = {
	{ "var", read_variable, write_variable, .late = true },
	{ 0 },
};

/* A write that failed may come to it all the same: what shows of it proves nothing. */
static void test_late(_unused_ void **state)
{
	struct engine engine = { .tool = "test", .backends = late_backends, .lines = &lines };
	struct knob_plan plan = { 0 };

	set("ban", "0");
	find("ban")->write_error = ETIMEDOUT;
	find("ban")->write_errors = 1;
	add(&plan, 0, "ban", "1")->may_be_refused = true;
	assert_int_equal(apply_with(&engine, &plan), -ETIMEDOUT);
	knob_plan_clear(&plan);
	/* Told to be what it was, though it still was. */
	assert_string_equal(machine.log, "ban=1 ban=0 ");
	assert_false(has_journal());

	/* Killed while it waited. */
	{
		struct journal *journal = NULL;

		assert_int_equal(journal_new("test", &journal), 0);
		assert_int_equal(
			journal_add(journal, 0, KNOB_WORD, "var:ban", "ban", "0", NULL), 0);
		assert_int_equal(journal_save(journal), 0);
		journal_free(journal);
	}
	machine.log[0] = '\0';
	assert_restore_with(&engine, 0, "ban:restored ");
	assert_string_equal(machine.log, "ban=0 ");
	assert_false(has_journal());
}

/* A write that succeeded and does not show yet may come after the apply has ended. The journal says
 * nothing of what the knob has become, so that restore does not take it for somebody else's. */
static void test_comes_after_apply(_unused_ void **state)
{
	struct engine engine = { .tool = "test", .backends = late_backends, .lines = &lines };
	struct knob_plan plan = { 0 };

	set("ban", "0")->stubborn = true;
	add(&plan, 0, "ban", "1")->may_be_refused = true;
	assert_int_equal(apply_with(&engine, &plan), 0);
	assert_string_equal(word_of(&plan, "ban"), "denied");
	knob_plan_clear(&plan);
	assert_journal("ban", "0", NULL);

	set("ban", "1")->stubborn = false;
	assert_restore_with(&engine, 0, "ban:restored ");
	assert_value("ban", "0");
	assert_false(has_journal());
}

/* What the kernel says about something else than CPUs that are not there narrows no mask. */
static void test_not_narrowed(_unused_ void **state)
{
	static const int errors[] = { EINTR, EIO, ENOSPC, EBUSY, EPERM, EACCES };

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		struct knob_plan plan = { 0 };

		/* CPU 8000 is not there: masks often have bits of CPUs that never were. */
		set("mask", "0-8000");
		add_cpus(&plan, KNOB_LIST, "mask", "0-8000", "1");
		assert_apply(0, &plan);
		knob_plan_clear(&plan);
		find("mask")->write_error = errors[i];
		find("mask")->write_errors = 1;
		assert_restore(-errors[i], "mask:failed ");
		assert_value("mask", "1");
		assert_restore(0, "mask:restored ");
		assert_value("mask", "0-8000");
	}
}

/* Takes from this process, or gives back to it, the right to write to files that are read-only. */
static void override_modes(bool yes)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	assert_int_equal(syscall(SYS_capget, &header, data), 0);
	data[0].effective &= ~(1u << CAP_DAC_OVERRIDE);
	data[0].effective |= data[0].permitted & (unsigned)yes << CAP_DAC_OVERRIDE;
	assert_int_equal(syscall(SYS_capset, &header, data), 0);
}

/* The kernel answers EACCES for CPUs that the parent of a cpuset does not have, and for any file
 * that may not be written: only the file of a cpuset waits for a CPU then. */
static void test_denied_for_want_of_cpus(_unused_ void **state)
{
	static const struct {
		const char *path;
		int result;
		const char *words;
	} cases[] = {
		{ CPUSET, 0, "cpus:waiting " },
		{ CPUSET_NOPREFIX, 0, "cpus:waiting " },
		{ POSSIBLE, -EACCES, "cpus:failed " },
	};

	write_text(CPUSET, "1");
	write_text(CPUSET_NOPREFIX, "1");
	assert_int_equal(mount(CPUSET, CPUSET_NOPREFIX, NULL, MS_BIND, NULL), 0);
	assert_int_equal(mount(CPUSET, POSSIBLE, NULL, MS_BIND, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct knob_plan plan = { 0 };
		char text[FILE_ATTR_SIZE];

		assert_int_equal(
			knob_plan_add(&plan, 0, KNOB_LIST, cases[i].path, "0", NULL, "cpus"), 0);
		assert_apply(0, &plan);
		knob_plan_clear(&plan);
		write_text("/run/online", "0,2-3\n");
		assert_int_equal(chmod(CPUSET, 0444), 0);
		override_modes(false);
		assert_restore(cases[i].result, cases[i].words);
		override_modes(true);
		assert_int_equal(chmod(CPUSET, 0644), 0);
		write_text("/run/online", "0-3\n");
		assert_restore(0, "cpus:restored ");
		assert_true(file_read_attr(AT_FDCWD, CPUSET, text, sizeof(text)) >= 0);
		assert_string_equal(text, "1");
	}
}

/* --- Several setters on one knob --- */

static const char *const layer_tools[] = { "one", "two", "three" };

static void apply_layer_as(size_t which, const char *value, bool killed)
{
	struct engine engine = {
		.tool = layer_tools[which], .backends = backends, .lines = &lines
	};
	struct knob_plan plan = { 0 };
	struct journal *journal = NULL;
	struct journal_entry *entry;
	char *why = NULL;

	add(&plan, 0, "shared", value);
	assert_int_equal(apply_with(&engine, &plan), 0);
	knob_plan_clear(&plan);
	if (!killed)
		return;
	/* Killed before it could write down what it made of the knob. */
	assert_int_equal(journal_load(engine.tool, &journal, &why), 0);
	entry = journal_find(journal, "var:shared");
	free(TAKE_PTR(entry->new));
	assert_int_equal(journal_save(journal), 0);
	journal_free(journal);
}

static void apply_layer(size_t which, bool killed)
{
	apply_layer_as(which, layer_tools[which], killed);
}

static const size_t orders_of_three[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 },
	{ 2, 0, 1 }, { 2, 1, 0 } };

/* Restores the three setters in an order, after which the knob must be as it was, and nobody has
 * seen another one's value. */
static void assert_layers_go(const size_t order[3])
{
	for (size_t i = 0; i < 3; i++) {
		struct engine engine = {
			.tool = layer_tools[order[i]], .backends = backends, .lines = &lines
		};
		char words[256];

		assert_int_equal(restore_with(&engine, words, sizeof(words)), 0);
		assert_null(strstr(words, "foreign"));
	}
	assert_value("shared", "original");
	for (size_t i = 0; i < 3; i++) {
		struct journal *journal = NULL;
		char *why = NULL;

		assert_int_equal(journal_load(layer_tools[i], &journal, &why), -ENOENT);
	}
}

/* Three setters, of which any may have been killed, restored in every order. */
static void test_layers(_unused_ void **state)
{
	for (unsigned killed = 0; killed < 8; killed++) {
		for (size_t o = 0; o < ARRAY_SIZE(orders_of_three); o++) {
			set("shared", "original");
			for (size_t i = 0; i < 3; i++)
				apply_layer(i, killed & 1u << i);
			assert_layers_go(orders_of_three[o]);
		}
	}
}

/* One of the setters is applied once more, to another value, on top of the others. */
static void test_layers_applied_again(_unused_ void **state)
{
	for (size_t again = 0; again < 3; again++) {
		for (unsigned killed = 0; killed < 16; killed++) {
			for (size_t o = 0; o < ARRAY_SIZE(orders_of_three); o++) {
				set("shared", "original");
				for (size_t i = 0; i < 3; i++)
					apply_layer(i, killed & 1u << i);
				apply_layer_as(again, "again", killed & 8);
				assert_value("shared", "again");
				assert_layers_go(orders_of_three[o]);
			}
		}
	}
}

/* An apply on top of another setter that fails leaves both journals as they were: the upper one is
 * restored to the value of the lower one. */
static void test_layers_applied_again_in_vain(_unused_ void **state)
{
	struct engine one = { .tool = "one", .backends = backends, .lines = &lines };
	struct engine two = { .tool = "two", .backends = backends, .lines = &lines };
	struct knob_plan plan = { 0 };

	set("shared", "original");
	set("other", "1");
	apply_layer(0, false);
	apply_layer(1, false);
	add(&plan, 0, "shared", "again");
	add(&plan, 1, "other", "2");
	find("other")->write_error = EIO;
	assert_int_equal(apply_with(&one, &plan), -EIO);
	knob_plan_clear(&plan);
	assert_value("shared", "two");
	assert_restore_with(&two, 0, "shared:restored ");
	assert_value("shared", "one");
	assert_restore_with(&one, 0, "shared:restored ");
	assert_value("shared", "original");
}

/* A knob that a restore has left to somebody else belongs to the topmost layer when its setter is
 * applied again. */
static void test_layers_after_foreign(_unused_ void **state)
{
	static const size_t upper_first[] = { 1, 0 }, lower_first[] = { 0, 1 };
	static const size_t *const orders[] = { upper_first, lower_first };

	for (size_t o = 0; o < ARRAY_SIZE(orders); o++) {
		struct engine engines[] = {
			{ .tool = "one", .backends = backends, .lines = &lines },
			{ .tool = "two", .backends = backends, .lines = &lines }
		};
		char words[256];

		set("shared", "original");
		apply_layer(0, false);
		apply_layer(1, false);
		set("shared", "foreign");
		assert_restore_with(&engines[1], 0, "shared:foreign ");
		assert_restore_with(&engines[0], 0, "shared:handed-over ");
		/* The second time, what somebody else has set is what is put back. */
		apply_layer(0, false);
		apply_layer(1, false);
		for (size_t i = 0; i < 2; i++) {
			assert_int_equal(
				restore_with(&engines[orders[o][i]], words, sizeof(words)), 0);
			assert_null(strstr(words, "foreign"));
		}
		assert_value("shared", "foreign");
	}
}

/* What somebody else set in between is what the upper setter gives back, and the lower one says. */
static void test_foreign_between_layers(_unused_ void **state)
{
	struct engine one = { .tool = "one", .backends = backends, .lines = &lines };
	struct engine two = { .tool = "two", .backends = backends, .lines = &lines };
	char words[256];

	set("shared", "original");
	apply_layer(0, false);
	set("shared", "foreign");
	apply_layer(1, false);
	assert_restore_with(&one, 0, "shared:foreign ");
	assert_value("shared", "two");
	assert_int_equal(restore_with(&two, words, sizeof(words)), 0);
	assert_value("shared", "foreign");
	one.force = true;
	assert_int_equal(restore_with(&one, words, sizeof(words)), 0);
	assert_value("shared", "original");
}

/* One knob moves the other one. */
static void move_shared(const char *name, const char *value)
{
	if (strcmp(name, "mover") == 0 && strcmp(value, "1") == 0)
		set("shared", "moved");
}

/* A setter that is applied again, after another one has turned a knob that the first one had moved,
 * does not take what the other one has set for its own outcome. */
static void test_apply_below_layer(_unused_ void **state)
{
	static const char *const wanted[] = { "1", "2" };
	struct engine one = { .tool = "one", .backends = backends, .lines = &lines };
	struct engine two = { .tool = "two", .backends = backends, .lines = &lines };

	set("mover", "0");
	set("shared", "original");
	machine.side_effect = move_shared;
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		struct knob_plan plan = { 0 };

		add(&plan, 1, "mover", wanted[i]);
		add(&plan, 0, "shared", NULL);
		assert_int_equal(apply_with(&one, &plan), 0);
		knob_plan_clear(&plan);
		if (i == 0)
			apply_layer(1, false);
		assert_value("shared", "two");
	}
	/* The first setter may have moved the knob again, so it lies on top now. */
	assert_restore_with(&one, 0, "mover:restored shared:unchanged ");
	assert_restore_with(&two, 0, "shared:restored ");
	assert_value("shared", "original");
}

/* A journal that names what this setter never writes is refused. */
static void test_strange_path(_unused_ void **state)
{
	struct journal *journal = NULL;
	char words[256];

	assert_int_equal(journal_new("test", &journal), 0);
	assert_int_equal(journal_add(journal, 0, KNOB_WORD, "service:sshd", "a", "0", "1"), 0);
	assert_int_equal(journal_save(journal), 0);
	journal_free(journal);
	assert_int_equal(restore_with(&engine_plain, words, sizeof(words)), -EBADMSG);
	assert_true(has_journal());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define TEST_CPUS(name) cmocka_unit_test_setup_teardown(name, setup_cpus, teardown_cpus)

/* What the setter has read for its plan is the old value, and is not read again; what the knobs
 * have become is. */
static void test_seen_by_plan(_unused_ void **state)
{
	struct knob_plan plan = { 0 };

	set("a", "1");
	set("b", "3")->read_error = EIO;
	add(&plan, 0, "a", "2")->seen = strdup("0");
	add(&plan, 0, "b", "3")->seen = strdup("3");
	assert_non_null(plan.knobs[0].seen);
	assert_non_null(plan.knobs[1].seen);
	assert_apply(-EIO, &plan);
	find("b")->read_error = 0;
	assert_string_equal(find("a")->value, "0");
	knob_plan_clear(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_apply_and_restore),
		TEST(test_not_read_back),
		TEST(test_refused_not_read_back),
		TEST(test_cannot_look),
		TEST(test_late),
		TEST(test_comes_after_apply),
		TEST_CPUS(test_not_narrowed),
		TEST_CPUS(test_denied_for_want_of_cpus),
		TEST(test_layers),
		TEST(test_layers_applied_again),
		TEST(test_layers_applied_again_in_vain),
		TEST(test_layers_after_foreign),
		TEST(test_foreign_between_layers),
		TEST(test_apply_below_layer),
		TEST(test_strange_path),
		TEST(test_orders),
		TEST(test_rollback),
		TEST(test_rollback_keeps_the_journal),
		TEST(test_rollback_fails),
		TEST(test_may_be_refused),
		TEST(test_unavailable),
		TEST(test_stubborn),
		TEST(test_rounded),
		TEST(test_side_effects),
		TEST(test_side_effects_rolled_back),
		TEST(test_moved_by_another),
		TEST(test_foreign),
		TEST(test_apply_over_foreign),
		TEST(test_restore_failures),
		TEST(test_kernels_change),
		TEST(test_goes_meanwhile),
		TEST(test_unplugged_cpus),
		TEST_CPUS(test_offline_cpus),
		TEST_CPUS(test_offline_cpus_excuse_nothing),
		TEST_CPUS(test_offline_before),
		TEST_CPUS(test_hidden_offline_cpu),
		TEST_CPUS(test_choice_of_all_online),
		TEST_CPUS(test_hidden_cpu_of_smt_off),
		TEST_CPUS(test_hidden_offline_cpu_rolled_back),
		TEST_CPUS(test_apply_over_waiting),
		TEST_CPUS(test_waiting_is_over),
		TEST_CPUS(test_narrowed_by_kernel),
		TEST_CPUS(test_narrowed_then_online),
		TEST_CPUS(test_narrowed_while_undoing),
		TEST(test_restore_again),
		TEST(test_no_journal_no_write),
		TEST(test_no_journal_over_one),
		TEST(test_no_outcome),
		TEST(test_damaged),
		TEST(test_settled_and_empty),
		TEST(test_verify),
		TEST(test_seen_by_plan),
		TEST(test_unfinished),
	};

	if (!fake_run_enter())
		return 0;
	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
