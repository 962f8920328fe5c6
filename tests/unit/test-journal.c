// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>

#include "base/file.h"
#include "base/text.h"
#include "fake-run.h"
#include "quiet/engine/journal.h"

#define BOOT "1f0c8a52-5d0e-4a57-9f3b-000000000001"
#define HEAD "quiesce journal 2\nboot\t" BOOT "\ntool\tfreq-pin\n"
#define KNOB "knob\t2\t7\tnumber\t/sys/a\tcpu0 a\t1\t0\n"

/* A text with the checksum behind its last "end\tCOUNT", where that is a line: malloc'd. */
static char *seal(const char *text)
{
	const char *end = NULL, *newline;
	uint64_t sum = 0xcbf29ce484222325u;
	char *sealed;

	for (const char *found = strstr(text, "\nend\t"); found;
		found = strstr(found + 1, "\nend\t"))
		end = found + 1;
	newline = end ? strchr(end, '\n') : NULL;
	if (!newline)
		return strdup(text);
	for (const char *byte = text; byte <= newline; byte++)
		sum = (sum ^ (unsigned char)(byte < newline ? *byte : '\t')) * 0x100000001b3u;
	assert_true(asprintf(&sealed, "%.*s\t%016" PRIx64 "%s", (int)(newline - text), text, sum,
			    newline) > 0);
	return sealed;
}

static struct journal *new_journal(void)
{
	struct journal *journal;

	assert_int_equal(journal_new("freq-pin", &journal), 0);
	return journal;
}

static void assert_same(const struct journal *a, const struct journal *b)
{
	assert_string_equal(a->tool, b->tool);
	assert_true(!a->online == !b->online);
	if (a->online)
		assert_string_equal(a->online, b->online);
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		const struct journal_entry *x = &a->entries[i], *y = &b->entries[i];

		assert_int_equal(x->group, y->group);
		assert_true(x->since == y->since);
		assert_int_equal(x->kind, y->kind);
		assert_string_equal(x->path, y->path);
		assert_string_equal(x->name, y->name);
		assert_string_equal(x->old, y->old);
		assert_true(!x->new == !y->new);
		if (x->new)
			assert_string_equal(x->new, y->new);
		assert_int_equal(x->left_alone, y->left_alone);
		assert_int_equal(x->waits_for_cpu, y->waits_for_cpu);
		assert_int_equal(x->role, y->role);
		assert_int_equal(x->free, y->free);
	}
}

static struct journal *parse(const char *text)
{
	_cleanup_free_ char *why = NULL;
	struct journal *journal = NULL;
	int r = journal_parse(text, "freq-pin", BOOT, &journal, &why);

	if (r < 0)
		print_message("# %d: %s\n", r, why ? why : "");
	assert_int_equal(r, 0);
	return journal;
}

static void test_format(_unused_ void **state)
{
	_cleanup_(journal) struct journal *journal = new_journal();
	_cleanup_free_ char *empty = journal_format(journal, BOOT), *text = NULL;
	_cleanup_free_ char *wanted_empty = seal(HEAD "end\t0\n"), *wanted = NULL;

	assert_string_equal(empty, wanted_empty);
	assert_int_equal(journal_add(journal, 2, KNOB_NUMBER, "/sys/a", "cpu0 a", "1", "0"), 0);
	assert_int_equal(journal_add(journal, 0, KNOB_CHOICE, "x:b\tc", "", "a\nb\\t", NULL), 0);
	assert_int_equal(journal_add(journal, 1, KNOB_NUMBER, "/sys/b", "b", "1", "0"), 0);
	assert_int_equal(journal_add(journal, 1, KNOB_LIST, "/sys/c", "c", "1", NULL), 0);
	journal->entries[2].left_alone = true;
	journal->entries[3].waits_for_cpu = true;
	journal->entries[3].role = JOURNAL_KEPT;
	journal->entries[2].role = JOURNAL_SAME;
	journal->entries[3].free = true;
	journal->entries[1].free = true;
	for (size_t i = 0; i < journal->n; i++)
		journal->entries[i].since = 7;
	assert_int_equal(text_replace(&journal->online, "0-3,8"), 0);
	text = journal_format(journal, BOOT);
	wanted = seal(
		HEAD "online\t0-3,8\n" KNOB "knob\t0\t7\tchoice\tx:b\\tc\t\ta\\nb\\\\t\t\\?\tfree\n"
		     "same\t1\t7\tnumber\t/sys/b\tb\t1\t0\tleft\n"
		     "kept\t1\t7\tlist\t/sys/c\tc\t1\t\\?\tfree\twaits\nend\t4\n");
	assert_string_equal(text, wanted);
}

static void test_round_trip(_unused_ void **state)
{
	static const char *const odd[] = { "", " ", "\t", "\n", "\\", "\\?", "\\\\?", "\\t", "?",
		"a\tb", "a\nb\n", "end\t0\n", "knob", "\r", "\x01\x7f\xff", "(null)", "\xc3\xa4",
		"\\n\\", "a very long name that has blanks in it and \"quotes\" and 'quotes'" };
	_cleanup_(journal) struct journal *journal = new_journal(), *back = NULL;
	_cleanup_free_ char *text = NULL, *huge = malloc(200001);
	enum knob_kind kind = KNOB_WORD;

	assert_non_null(huge);
	memset(huge, '\t', 200000);
	huge[200000] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(odd); j++) {
			char path[128];

			snprintf(path, sizeof(path), "/sys/%zu/%s", i, odd[j]);
			assert_int_equal(journal_add(journal, (unsigned)(i * 50), kind, path,
						 odd[i], odd[j], (i + j) % 5 ? odd[i] : NULL),
				0);
			journal->entries[journal->n - 1].left_alone = (i + j) % 3 == 0;
			journal->entries[journal->n - 1].waits_for_cpu = (i + j) % 3 == 1;
			journal->entries[journal->n - 1].role = (enum journal_role)((i + j) % 3);
			journal->entries[journal->n - 1].free = (i + j) % 4 > 1;
			kind = kind == KNOB_FREQUENCY ? KNOB_WORD : (enum knob_kind)(kind + 1);
		}
	}
	assert_int_equal(journal_add(journal, 1000, KNOB_MASK, "/sys/huge", huge, huge, huge), 0);
	assert_int_equal(text_replace(&journal->online, "0-511"), 0);
	text = journal_format(journal, BOOT);
	back = parse(text);
	assert_same(journal, back);
}

static void test_many(_unused_ void **state)
{
	enum {
		N = 5000
	};
	_cleanup_(journal) struct journal *journal = new_journal(), *back = NULL, *copy = NULL;
	_cleanup_free_ char *text = NULL;
	char path[64];

	for (unsigned i = 0; i < N; i++) {
		/* Neither forwards nor backwards, and looked up in between. */
		snprintf(path, sizeof(path), "/proc/irq/%u/smp_affinity", i * 7919 % N);
		assert_null(journal_find(journal, path));
		assert_int_equal(journal_add(journal, i % 3, KNOB_MASK, path, "irq", "ff",
					 i % 2 ? "f" : NULL),
			0);
		assert_string_equal(journal_find(journal, path)->path, path);
		journal_find(journal, path)->left_alone = i % 5 == 0;
		journal_find(journal, path)->waits_for_cpu = i % 5 == 1;
	}
	text = journal_format(journal, BOOT);
	back = parse(text);
	assert_same(journal, back);
	assert_int_equal(journal_copy(back, &copy), 0);
	assert_same(journal, copy);
	for (unsigned i = 0; i < N; i++) {
		snprintf(path, sizeof(path), "/proc/irq/%u/smp_affinity", i);
		assert_string_equal(journal_find(copy, path)->path, path);
		snprintf(path, sizeof(path), "/proc/irq/%u/smp_affinity_list", i);
		assert_null(journal_find(copy, path));
	}
	assert_null(journal_find(copy, ""));
	assert_null(journal_find(copy, "/zzz"));
}

static void test_damaged(_unused_ void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "", "no journal of quiesce" },
		{ "\n", "no journal of quiesce" },
		{ "hello\n", "no journal of quiesce" },
		{ "quiesce journal", "no journal of quiesce" },
		{ "Quiesce journal 1\n", "no journal of quiesce" },
		{ "quiesce journal 1\nboot\t" BOOT "\ntool\tfreq-pin\nend\t0\n",
			"another version" },
		{ "quiesce journal 20\n", "another version" },
		{ "quiesce journal 2 \n", "another version" },
		{ "quiesce journal 2\r\n", "another version" },
		{ "quiesce journal 2", "line 2" },
		{ "quiesce journal 2\n", "line 2" },
		{ "quiesce journal 2\nboot " BOOT "\ntool\tfreq-pin\nend\t0\n", "line 2" },
		{ "quiesce journal 2\ntool\tfreq-pin\nboot\t" BOOT "\nend\t0\n", "line 2" },
		{ "quiesce journal 2\nboot\t" BOOT "\n", "line 3" },
		{ "quiesce journal 2\nboot\t" BOOT "\ntool freq-pin\nend\t0\n", "line 3" },
		{ "quiesce journal 2\nboot\t" BOOT "\ntool\tsmt-off\nend\t0\n",
			"belongs to smt-off" },
		{ "quiesce journal 2\nboot\t" BOOT "\ntool\tfreq-pi\nend\t0\n",
			"belongs to freq-pi" },
		{ "quiesce journal 2\nboot\t" BOOT "\ntool\t\nend\t0\n", "belongs to" },
		{ HEAD, "end is missing" },
		{ HEAD KNOB, "end is missing" },
		{ HEAD KNOB "end\t1", "line 5" },
		{ HEAD KNOB "end\t0\n", "line 5" },
		{ HEAD KNOB "end\t2\n", "line 5" },
		{ HEAD KNOB "end\t\n", "line 5" },
		{ HEAD KNOB "end\t+1\n", "line 5" },
		{ HEAD KNOB "end\t1 \n", "line 5" },
		{ HEAD KNOB "end\t1\t\n", "line 5" },
		{ HEAD KNOB "end\n", "line 5" },
		{ HEAD KNOB "end\t1\n\n", "line 5" },
		{ HEAD KNOB "end\t1\n" KNOB "end\t2\n", "line 5" },
		{ HEAD KNOB "end\t18446744073709551617\n", "line 5" },
		{ HEAD "\n" KNOB "end\t1\n", "line 4" },
		{ HEAD KNOB "\nend\t1\n", "line 5" },
		{ HEAD "knob\nend\t1\n", "line 4" },
		{ HEAD "knob\t2\t7\tnumber\t/sys/a\tname\t1\nend\t1\n", "line 4" },
		{ HEAD "knob\t2\t7\tnumber\t/sys/a\tname\t1\t0\t0\nend\t1\n", "line 4" },
		{ HEAD "knob\t2\t7\tnumber\t/sys/a\tname\t1\t0\tleft\t\nend\t1\n", "line 4" },
		{ HEAD "knob\t2\t7\tnumber\t/sys/a\tname\t1\t0\t\nend\t1\n", "line 4" },
		{ HEAD "knob\t2\t7\tnumber\t/sys/a\tname\t1\t0\twaits\tleft\nend\t1\n", "line 4" },
		{ HEAD "knob\t2\t7\tnumber\t/sys/a\tname\t1\t0\tfree\t\nend\t1\n", "line 4" },
		{ HEAD "knob\t2\t7\tnumber\t/sys/a\tname\t1\t0\tleft\tfree\nend\t1\n", "line 4" },
		{ HEAD "keptnumber\t2\t7\t/sys/a\tname\t1\t0\nend\t1\n", "line 4" },
		{ HEAD "kept \t2\t7\tnumber\t/sys/a\tname\t1\t0\nend\t1\n", "line 4" },
		{ HEAD "online\t\nend\t0\n", "line 4" },
		{ HEAD "online\t0-\nend\t0\n", "line 4" },
		{ HEAD "online\t0-3", "line 4" },
		{ HEAD "online 0-3\nend\t0\n", "line 4" },
		{ HEAD "online\t0-3\n", "end is missing" },
		{ HEAD "online\t0-3\nonline\t0-3\nend\t0\n", "line 5" },
		{ HEAD KNOB "online\t0-3\nend\t1\n", "line 5" },
		{ HEAD "know\t2\tnumber\t/sys/a\tname\t1\t0\nend\t1\n", "line 4" },
		{ HEAD "knob\t\t7\tnumber\t/sys/a\tname\t1\t0\nend\t1\n", "line 4" },
		{ HEAD "knob\t-1\t7\tnumber\t/sys/a\tname\t1\t0\nend\t1\n", "line 4" },
		{ HEAD "knob\t4294967296\t7\tnumber\t/sys/a\tname\t1\t0\nend\t1\n", "line 4" },
		{ HEAD "knob\t2\t7\tnumbers\t/sys/a\tname\t1\t0\nend\t1\n", "line 4" },
		{ HEAD "knob\t2\t7\t\t/sys/a\tname\t1\t0\nend\t1\n", "line 4" },
		{ HEAD "knob\t2\t7\tnumber\t\tname\t1\t0\nend\t1\n", "line 4" },
		{ HEAD "knob\t2\t7\tnumber\t/sys/\\a\tname\t1\t0\nend\t1\n", "line 4" },
		{ HEAD "knob\t2\t7\tnumber\t/sys/a\tname\\\t1\t0\nend\t1\n", "line 4" },
		{ HEAD "knob\t2\t7\tnumber\t/sys/a\tname\t\\?\t0\nend\t1\n", "line 4" },
		{ HEAD "knob\t2\t7\tnumber\t/sys/a\tname\t1\t0\\\nend\t1\n", "line 4" },
		{ HEAD "knob\t2\t7\tnumber\t/sys/a\tname\t1\t\\?x\nend\t1\n", "line 4" },
		{ HEAD KNOB KNOB "end\t2\n", "/sys/a twice" },
		{ HEAD KNOB
			"knob\t3\t7\tword\t/sys/b\tb\t1\t0\nknob\t3\t7\tword\t/sys/a\tc\t5\t6\nend\t3\n",
			"/sys/a twice" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *why = NULL, *text = seal(cases[i].text);
		struct journal *journal = NULL;

		assert_int_equal(journal_parse(text, "freq-pin", BOOT, &journal, &why), -EBADMSG);
		assert_null(journal);
		assert_non_null(why);
		if (!strstr(why, cases[i].why))
			assert_string_equal(why, cases[i].why);
	}
}

/* No bit can flip: neither the values that are put back, nor anything else. */
static void test_flipped(_unused_ void **state)
{
	_cleanup_(journal) struct journal *journal = new_journal();
	_cleanup_free_ char *text = NULL;

	assert_int_equal(journal_add(journal, 2, KNOB_NUMBER, "/sys/a", "cpu0 a", "1", "0"), 0);
	assert_int_equal(journal_add(journal, 2, KNOB_MASK, "/proc/irq/1/b", "b", "f", NULL), 0);
	assert_int_equal(text_replace(&journal->online, "0-7"), 0);
	text = journal_format(journal, BOOT);
	for (size_t i = 0; i < 8 * strlen(text); i++) {
		_cleanup_free_ char *why = NULL;
		struct journal *back = NULL;

		text[i / 8] ^= (char)(1 << i % 8);
		assert_int_equal(journal_parse(text, "freq-pin", BOOT, &back, &why), -EBADMSG);
		assert_non_null(why);
		text[i / 8] ^= (char)(1 << i % 8);
	}
}

/* Root writes what the journal says where the journal says: only where a setter would. */
static void test_paths(_unused_ void **state)
{
	static const char *const ours[] = { "/sys/a", "/proc/sys/kernel/x",
		"/proc/irq/1/smp_affinity", "/sys/..a/b..", "/dev/cpuset/a/cpuset.cpus",
		"/dev/cpuset/cpus", "thread:1@2", "cgroup:/sys/fs/cgroup/x" };
	static const char *const not_ours[] = { "", "/", "/etc/passwd", "/proc/1/mem", "/sys",
		"/sys/../etc/passwd", "/sys/a/..", "/proc/sys/../1/mem", "etc/passwd", ":a",
		"a:", "thread", "A:b", "../cpus", "/dev/../cpus", "/cpu" };

	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (!journal_path_is_ours(ours[i]))
			fail_msg("%s is refused", ours[i]);
	for (size_t i = 0; i < ARRAY_SIZE(not_ours); i++) {
		_cleanup_(journal) struct journal *journal = new_journal(), *back = NULL;
		_cleanup_free_ char *text = NULL, *why = NULL;

		if (journal_path_is_ours(not_ours[i]))
			fail_msg("%s is taken", not_ours[i]);
		assert_int_equal(journal_add(journal, 0, KNOB_WORD, not_ours[i], "a", "1", "2"), 0);
		text = journal_format(journal, BOOT);
		assert_int_equal(journal_parse(text, "freq-pin", BOOT, &back, &why), -EBADMSG);
		assert_non_null(strstr(why, "line 4"));
	}
}

/* A writer that died, a disk that was full: what is left is refused, wherever it was cut. Also of
 * another boot: only a whole one is known to be of another boot. */
static void test_cut(_unused_ void **state)
{
	static const char *const boots[] = { BOOT, "1f0c8a52-5d0e-4a57-9f3b-000000000002" };
	_cleanup_(journal) struct journal *journal = new_journal();
	_cleanup_free_ char *text = NULL;
	size_t length;

	for (unsigned i = 0; i < 12; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/sys/%u\t", i);
		assert_int_equal(journal_add(journal, i, KNOB_WORD, path, "a\\b", "old\n",
					 i % 2 ? "n\\ew" : NULL),
			0);
	}
	assert_int_equal(text_replace(&journal->online, "0-7"), 0);
	text = journal_format(journal, BOOT);
	length = strlen(text);
	for (size_t b = 0; b < ARRAY_SIZE(boots); b++) {
		for (size_t cut = 0; cut <= length; cut++) {
			_cleanup_free_ char *part = strndup(text, cut), *why = NULL;
			_cleanup_(journal) struct journal *back = NULL;
			int r = journal_parse(part, "freq-pin", boots[b], &back, &why);

			if (cut == length)
				assert_int_equal(r, b == 0 ? 0 : -ESTALE);
			else
				assert_int_equal(r, -EBADMSG);
			assert_int_equal(back != NULL, r == 0);
			assert_int_equal(why != NULL, r == -EBADMSG);
		}
	}
}

/* --- In /run --- */

static int setup_run(_unused_ void **state)
{
	return fake_run_mount("size=256k") ? 0 : -1;
}

static int teardown_run(_unused_ void **state)
{
	return fake_run_unmount() ? 0 : -1;
}

static void write_file(const char *path, const char *text, size_t length)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, length), length);
	close(fd);
}

static void assert_load(int wanted, const char *phrase)
{
	_cleanup_(journal) struct journal *journal = NULL;
	_cleanup_free_ char *why = NULL;

	assert_int_equal(journal_load("freq-pin", &journal, &why), wanted);
	assert_int_equal(journal != NULL, wanted == 0);
	if (phrase && (!why || !strstr(why, phrase)))
		assert_string_equal(why ? why : "", phrase);
}

static struct journal *two_entries(void)
{
	struct journal *journal = new_journal();

	assert_int_equal(journal_add(journal, 1, KNOB_WORD, "/sys/a", "a", "1", "2"), 0);
	assert_int_equal(journal_add(journal, 0, KNOB_LIST, "/sys/b", "b", "", NULL), 0);
	return journal;
}

static void assert_mode(const char *path, mode_t mode)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_mode, mode);
}

static void test_save_and_load(_unused_ void **state)
{
	_cleanup_(journal) struct journal *journal = two_entries(), *back = NULL;
	_cleanup_free_ char *why = NULL;
	mode_t mask = umask(0077);

	assert_load(-ENOENT, NULL);
	assert_int_equal(journal_save(journal), 0);
	umask(mask);
	assert_mode("/run/quiesce", S_IFDIR | 0755);
	assert_mode("/run/quiesce/freq-pin.journal", S_IFREG | 0644);
	assert_int_equal(journal_load("freq-pin", &back, &why), 0);
	assert_same(journal, back);
	/* Over the old one. */
	assert_int_equal(journal_add(journal, 2, KNOB_WORD, "/sys/c", "c", "1", "2"), 0);
	assert_int_equal(journal_save(journal), 0);
	journal_free(TAKE_PTR(back));
	assert_int_equal(journal_load("freq-pin", &back, &why), 0);
	assert_same(journal, back);
	assert_int_equal(journal_remove("freq-pin"), 0);
	assert_load(-ENOENT, NULL);
	assert_int_equal(journal_remove("freq-pin"), 0);
}

static void test_load_damaged(_unused_ void **state)
{
	_cleanup_(journal) struct journal *journal = two_entries();
	_cleanup_free_ char *text = NULL, *other_boot = NULL;
	size_t length;

	assert_int_equal(journal_save(journal), 0);
	assert_int_equal(
		file_read_all("/run/quiesce/freq-pin.journal", 1 << 20, &text, &length), 0);
	write_file("/run/quiesce/freq-pin.journal", text, length);
	assert_load(0, NULL);
	write_file("/run/quiesce/freq-pin.journal", text, length - 1);
	assert_load(-EBADMSG, "line 6");
	write_file("/run/quiesce/freq-pin.journal", "", 0);
	assert_load(-EBADMSG, "no journal");
	text[length / 2] = '\0';
	write_file("/run/quiesce/freq-pin.journal", text, length);
	assert_load(-EBADMSG, "NUL");
	write_file("/run/quiesce/freq-pin.journal", "\0", 1);
	assert_load(-EBADMSG, "NUL");
	other_boot = seal(HEAD "end\t0\n");
	write_file("/run/quiesce/freq-pin.journal", other_boot, strlen(other_boot));
	assert_load(-ENOENT, NULL); /* of another boot */
	assert_int_equal(unlink("/run/quiesce/freq-pin.journal"), 0);
	assert_int_equal(mkdir("/run/quiesce/freq-pin.journal", 0755), 0);
	assert_load(-EISDIR, NULL);
}

/* An error counts unless there is no journal, or a damaged one. */
static void test_which_errors_count(_unused_ void **state)
{
	static const int counting[] = { -EIO, -EACCES, -EISDIR, -ENOMEM, -EMFILE, -EINTR, -EFBIG,
		-ENODATA };

	for (size_t i = 0; i < ARRAY_SIZE(counting); i++)
		assert_true(journal_error_counts(counting[i]));
	assert_false(journal_error_counts(-ENOENT));
	assert_false(journal_error_counts(-EBADMSG));
	assert_false(journal_error_counts(0));
}

/* Nothing is written where somebody else could have laid something. */
static void test_directory(_unused_ void **state)
{
	_cleanup_(journal) struct journal *journal = two_entries();

	assert_int_equal(symlink("/run/elsewhere", "/run/quiesce"), 0);
	assert_int_equal(mkdir("/run/elsewhere", 0755), 0);
	assert_true(journal_save(journal) < 0);
	assert_true(journal_lock(0) < 0);
	assert_int_equal(access("/run/elsewhere/freq-pin.journal", F_OK), -1);
	assert_int_equal(access("/run/elsewhere/lock", F_OK), -1);
	assert_int_equal(unlink("/run/quiesce"), 0);

	write_file("/run/quiesce", "", 0);
	assert_int_equal(journal_save(journal), -ENOTDIR);
	assert_int_equal(unlink("/run/quiesce"), 0);

	assert_int_equal(mkdir("/run/quiesce", 0755), 0);
	assert_int_equal(chmod("/run/quiesce", 0777), 0);
	assert_int_equal(journal_save(journal), -EPERM);
	assert_int_equal(journal_lock(0), -EPERM);
	assert_int_equal(chmod("/run/quiesce", 0775), 0);
	assert_int_equal(journal_save(journal), -EPERM);
	assert_int_equal(chmod("/run/quiesce", 0700), 0);
	assert_int_equal(journal_save(journal), 0);
	assert_mode("/run/quiesce", S_IFDIR | 0755);
}

static void assert_only_the_old_one(const struct journal *old)
{
	_cleanup_(journal) struct journal *back = NULL;
	_cleanup_free_ char *why = NULL;

	assert_int_equal(journal_load("freq-pin", &back, &why), 0);
	assert_same(old, back);
}

static void test_no_room(_unused_ void **state)
{
	_cleanup_(journal) struct journal *journal = two_entries();
	char value[3000];

	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	assert_true(fake_run_fill());
	assert_int_equal(journal_save(journal), -ENOSPC);
	assert_load(-ENOENT, NULL);
	assert_true(fake_run_drain());
	assert_int_equal(journal_save(journal), 0);
	assert_true(fake_run_fill());
	{
		_cleanup_(journal) struct journal *more = two_entries();

		assert_int_equal(journal_add(more, 0, KNOB_WORD, "/sys/c", "c", value, value), 0);
		assert_int_equal(journal_save(more), -ENOSPC);
	}
	assert_only_the_old_one(journal);
	assert_true(fake_run_drain());
	assert_true(fake_run_read_only(true));
	assert_int_equal(journal_save(journal), -EROFS);
	assert_true(journal_lock(0) < 0);
	assert_only_the_old_one(journal);
	assert_int_equal(journal_remove("freq-pin"), -EROFS);
	assert_true(fake_run_read_only(false));
	assert_int_equal(journal_remove("freq-pin"), 0);
}

/* No journal is written that is too large to be read. */
static void test_too_large(_unused_ void **state)
{
	_cleanup_(journal) struct journal *journal = two_entries(), *large = two_entries();
	_cleanup_free_ char *text = NULL;
	struct journal_entry entry = {
		.path = (char[]){ "/sys/c" },
		.name = (char[]){ "c" },
		.old = (char[]){ "" },
		.new = (char[]){ "" },
	};
	size_t length;
	char *value;

	assert_int_equal(journal_save(journal), 0);
	assert_int_equal(journal_add_copy(large, &entry), 0);
	text = journal_format(large, BOOT);
	length = (64 << 20) + 1 - strlen(text);
	value = malloc(length + 1);
	assert_non_null(value);
	memset(value, 'x', length);
	value[length] = '\0';
	free(large->entries[large->n - 1].old);
	large->entries[large->n - 1].old = value;
	assert_int_equal(journal_save(large), -EFBIG);
	value[length - 1] = '\0';
	/* The limit is not what is in the way of one byte less. */
	assert_int_equal(journal_save(large), -ENOSPC);
	assert_only_the_old_one(journal);
}

/* Not even the directory can be made. */
static void test_no_inode(_unused_ void **state)
{
	_cleanup_(journal) struct journal *journal = two_entries();

	assert_true(fake_run_mount("nr_inodes=1"));
	assert_int_equal(journal_save(journal), -ENOSPC);
	assert_int_equal(journal_lock(0), -ENOSPC);
	assert_true(fake_run_unmount());
}

/* What a writer that was killed between link(2) and rename(2) leaves goes with the next journal. */
static void test_leavings(_unused_ void **state)
{
	_cleanup_(journal) struct journal *journal = two_entries();

	assert_int_equal(journal_save(journal), 0);
	write_file("/run/quiesce/.freq-pin.journal.0123abcd.tmp", "x", 1);
	write_file("/run/quiesce/.smt-off.journal.0123abcd.tmp", "x", 1);
	assert_int_equal(journal_remove("freq-pin"), 0);
	assert_int_equal(access("/run/quiesce/.freq-pin.journal.0123abcd.tmp", F_OK), -1);
	assert_int_equal(access("/run/quiesce/.smt-off.journal.0123abcd.tmp", F_OK), 0);
	write_file("/run/quiesce/.freq-pin.journal.0123abcd.tmp", "x", 1);
	assert_int_equal(journal_remove("freq-pin"), 0);
	assert_int_equal(access("/run/quiesce/.freq-pin.journal.0123abcd.tmp", F_OK), -1);
}

static void test_lock(_unused_ void **state)
{
	struct timespec hold = { .tv_nsec = 200 * 1000 * 1000 };
	int first = journal_lock(0), second, ready[2], status;
	const mode_t mode = S_IFREG | 0600;
	char byte;
	pid_t pid;

	assert_true(first >= 0);
	/* Whoever can open it can hold it. */
	assert_mode("/run/quiesce/lock", mode);
	assert_int_equal(journal_lock(0), -EAGAIN);
	close(first);
	second = journal_lock(0);
	assert_true(second >= 0);
	close(second);

	/* Another process that lets go of it in time. */
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int fd = journal_lock(0);

		if (fd < 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		nanosleep(&hold, NULL);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(journal_lock(0), -EAGAIN);
	second = journal_lock(20);
	assert_true(second >= 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(ready[0]);
	close(ready[1]);

	/* A child has a copy of the descriptor, and lives on. */
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		pause();
		_exit(1);
	}
	journal_unlock(&second);
	second = journal_lock(0);
	assert_true(second >= 0);
	journal_unlock(&second);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_cut),
		cmocka_unit_test_setup_teardown(test_save_and_load, setup_run, teardown_run),
		cmocka_unit_test_setup_teardown(test_load_damaged, setup_run, teardown_run),
		cmocka_unit_test(test_which_errors_count),
		cmocka_unit_test_setup_teardown(test_directory, setup_run, teardown_run),
		cmocka_unit_test_setup_teardown(test_no_room, setup_run, teardown_run),
		cmocka_unit_test_setup_teardown(test_too_large, setup_run, teardown_run),
		cmocka_unit_test_setup_teardown(test_no_inode, setup_run, teardown_run),
		cmocka_unit_test_setup_teardown(test_leavings, setup_run, teardown_run),
		cmocka_unit_test_setup_teardown(test_lock, setup_run, teardown_run),
	};

	if (!fake_run_enter())
		return 0;
	return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
