// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/random.h"
#include "base/say.h"
#include "base/xalloc.h"
#include "judge/report/why.h"
#include "measure/program.h"
#include "measure/vary.h"

enum {
	ENVIRONMENT_LEVELS = 8,
	VARIABLE_LEVELS = 8,
	ARGV0_LEVELS = 4,
	DIRECTORY_LEVELS = 4,
	FILE_LEVELS = 4,
	FILE_SIZE_MAX = 256 * 1024 * 1024,
	STACK_STEP = 16,  /* the kernel aligns the stack (arch_align_stack()) */
	LINE = 64,	  /* bytes of a cache line */
	PAGE_LINES = 63,  /* of a page, without the last */
	LENGTH_STEP = 50, /* between lengths of paths, of which a name has at most 255 bytes */
	COPY_SIZE = 256 * 1024,
	/* Ten digits, which is as many as PYTHONHASHSEED may have (2^32 - 1 at most). */
	SEED_LEAST = 1000000000,
	SEED_MOST = 2147483647,
};

enum kind {
	ADDRESSES,
	ENVIRONMENT,
	ARGV0,
	DIRECTORY,
	PROGRAM_FILE,
	VARIABLE,
};

struct level {
	char *text;    /* that the launcher puts into its place, or NULL */
	double value;  /* in the result */
	uint32_t size; /* by how many bytes it moves the stack */
};

struct varied {
	char *name;
	enum kind kind;
	struct level levels[LAUNCH_MAX_LEVELS];
	size_t n_levels;
};

struct vary {
	const struct options *options;
	struct vary_program program;
	uint64_t seed;
	uint64_t random; /* of which the levels are drawn */
	struct varied items[LAUNCH_MAX_FACTORS];
	size_t n;
	char *folder;	  /* NULL: none is needed */
	struct text held; /* what is not varied, and why */
};

static const char *const names[] = {
	[ADDRESSES] = WHY_ADDRESSES,
	[ENVIRONMENT] = WHY_ENVIRONMENT,
	[ARGV0] = WHY_ARGV0,
	[DIRECTORY] = WHY_DIRECTORY,
	[PROGRAM_FILE] = WHY_FILE,
};
/* Those that programs are known to have: Python, Perl. Those of Ruby and Go cannot be set from
 * outside. */
static const char *const seeds[] = { "PYTHONHASHSEED", "PERL_HASH_SEED" };

static enum kind find_kind(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], name) == 0)
			return (enum kind)i;
	return VARIABLE;
}

static uint64_t draw(struct vary *vary, uint64_t n)
{
	return random_next(&vary->random) % n;
}

static struct level *add_level(struct varied *factor, char *text, double value, uint32_t size)
{
	struct level *level = &factor->levels[factor->n_levels++];

	*level = (struct level){ text, value, size };
	return level;
}

/* --- Levels --- */

/* Addresses are random unless something says otherwise. Returns why they are not, or NULL. */
static const char *find_fixed(void)
{
	char text[16];
	int old;

	if (file_read_attr(AT_FDCWD, "/proc/sys/kernel/randomize_va_space", text, sizeof(text)) ==
			0 &&
		strcmp(text, "0") == 0)
		return "kernel.randomize_va_space is 0";
	old = personality(0xffffffff);
	if (old >= 0 && old & ADDR_NO_RANDOMIZE)
		return "runpinned itself was started without (setarch -R)";
	/* What it does to this process, it does at the next execve(2); a container may forbid it.
	 */
	if (old < 0 || personality((unsigned long)old | ADDR_NO_RANDOMIZE) < 0)
		return "the kernel lets nobody switch that off here";
	(void)personality((unsigned long)old);
	return NULL;
}

static const char *add_addresses(struct vary *vary, struct varied *factor)
{
	const char *why = vary->options->no_aslr ? "--no-aslr" : find_fixed();

	if (why)
		return why;
	add_level(factor, NULL, 0, 0);
	add_level(factor, NULL, 1, 0);
	return NULL;
}

/* Each place of the stack within a cache line that there is comes twice, on lines of a page that
 * are drawn. */
static const char *add_environment(struct vary *vary, struct varied *factor)
{
	if (vary->options->env_pad != ENV_PAD_NONE)
		return "--env-pad";
	for (uint32_t i = 0; i < ENVIRONMENT_LEVELS; i++) {
		uint32_t bytes = (uint32_t)draw(vary, PAGE_LINES) * LINE +
			i % (LINE / STACK_STEP) * STACK_STEP;
		bool is_there = false;

		for (size_t k = 0; k < factor->n_levels; k++)
			is_there = is_there || factor->levels[k].size == bytes;
		if (is_there)
			i--;
		else
			add_level(factor, NULL, bytes, bytes);
	}
	return NULL;
}

/* The path with more slashes before the last part: it leads to the same file. What was found by its
 * name alone becomes a path, because a name cannot be longer. */
static const char *add_argv0(struct vary *vary, struct varied *factor)
{
	const char *word = vary->program.argv[0];
	const char *path = strchr(word, '/') ? word : vary->program.file;
	const char *last = strrchr(path, '/');

	if (!last)
		return "its path has no slash";
	for (uint32_t i = 0; i < ARGV0_LEVELS; i++) {
		uint32_t more = i == 0 ? 0 : i * LENGTH_STEP + (uint32_t)draw(vary, LENGTH_STEP);
		struct text t = { 0 };

		text_append_n(&t, path, (size_t)(last - path));
		for (uint32_t k = 0; k < more; k++)
			text_append(&t, "/");
		text_append(&t, last);
		add_level(factor, xptr(text_steal(&t)), (double)(strlen(path) + more), more);
	}
	return NULL;
}

static bool has_variable(const struct vary *vary, const char *name)
{
	return options_has_variable(vary->program.variables, name);
}

/* A new folder for what is made. It is that of a disk, if there is one: where a program's file lies
 * in memory may depend on that. */
static const char *make_folder(struct vary *vary)
{
	const char *places[] = { getenv("TMPDIR"), "/var/tmp", "/tmp" };

	for (size_t i = 0; !vary->folder && i < ARRAY_SIZE(places); i++) {
		_cleanup_free_ char *folder = NULL;

		if (!places[i] || places[i][0] != '/')
			continue;
		folder = xformat("%s/quiesce-vary-XXXXXX", places[i]);
		if (mkdtemp(folder))
			vary->folder = TAKE_PTR(folder);
	}
	return vary->folder ? NULL : "no folder can be made in $TMPDIR, /var/tmp or /tmp";
}

/* $PWD is what shells and others take for the working directory; a path through a link is as good
 * (environ(7), getcwd(3): get_current_dir_name()). What the kernel tells stays as it is, and so do
 * relative paths. */
static const char *add_directory(struct vary *vary, struct varied *factor)
{
	_cleanup_free_ char *here = getcwd(NULL, 0);
	const char *why;

	if (has_variable(vary, "PWD"))
		return "--env PWD";
	if (vary->options->clear_env)
		return "--clear-env";
	if (!here || here[0] != '/')
		return "its path is not known";
	why = make_folder(vary);
	if (why)
		return why;
	for (uint32_t i = 0; i < DIRECTORY_LEVELS; i++) {
		uint32_t more = i * LENGTH_STEP + 1 + (uint32_t)draw(vary, LENGTH_STEP);
		_cleanup_free_ char *text = xformat("PWD=%s/%0*d", vary->folder, (int)more, 0);
		const char *path = text + strlen("PWD=");

		if (symlink(here, path) < 0)
			return "no link to it can be made";
		add_level(factor, NULL, (double)strlen(path), (uint32_t)strlen(path))->text =
			TAKE_PTR(text);
	}
	return NULL;
}

static int copy_file(const char *from, const char *to)
{
	_cleanup_close_ int in = open(from, O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int out = -EBADF;
	_cleanup_free_ char *buf = xptr(malloc(COPY_SIZE));
	ssize_t n;

	if (in < 0)
		return -errno;
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	if (out < 0)
		return -errno;
	while ((n = read(in, buf, COPY_SIZE)) > 0) {
		int r = file_write_all(out, buf, (size_t)n);

		if (r < 0)
			return r;
	}
	/* That it is written back must not disturb the first runs. */
	return n < 0 || fsync(out) < 0 ? -errno : 0;
}

/* A script names the interpreter that is executed, which is no copy. */
static bool is_script(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char begin[2] = "";

	return fd >= 0 && read(fd, begin, sizeof(begin)) == sizeof(begin) && begin[0] == '#' &&
		begin[1] == '!';
}

static const char *find_no_copy(const struct vary *vary, bool is_asked)
{
	const char *file = vary->program.file;
	struct stat st;

	if (vary->program.hidden)
		return vary->program.hidden;
	if (is_script(file))
		return "it is a script";
	if (stat(file, &st) < 0 || st.st_size > FILE_SIZE_MAX)
		return "it is too large to be copied";
	/* Such as an interpreter, which looks for its files beside itself. */
	if (!is_asked && !strchr(vary->program.argv[0], '/'))
		return "the program is one of those in $PATH, which may need to be where they are";
	return NULL;
}

/* All are copies, in folders of their own, so that they differ in nothing but where they lie. */
static const char *add_file(struct vary *vary, struct varied *factor, bool is_asked)
{
	const char *file = vary->program.file, *slash = strrchr(file, '/');
	const char *why = find_no_copy(vary, is_asked);

	if (!why)
		why = make_folder(vary);
	if (why)
		return why;
	for (int i = 1; i <= FILE_LEVELS; i++) {
		_cleanup_free_ char *folder = xformat("%s/%d", vary->folder, i);
		_cleanup_free_ char *found = NULL;
		char *copy = xformat("%s/%s", folder, slash ? slash + 1 : file);

		add_level(factor, copy, i, 0);
		if (mkdir(folder, 0700) < 0 || copy_file(file, copy) < 0)
			return "it cannot be copied";
		if (program_resolve(copy, &found) < 0)
			return "a copy may not be executed (noexec?)";
	}
	return NULL;
}

static const char *add_variable(struct vary *vary, struct varied *factor)
{
	if (has_variable(vary, factor->name))
		return "--env";
	for (int i = 0; i < VARIABLE_LEVELS; i++) {
		uint64_t number = SEED_LEAST + draw(vary, SEED_MOST - SEED_LEAST);

		add_level(factor, xformat("%s=%" PRIu64, factor->name, number), (double)number, 0);
	}
	return NULL;
}

/* --- Factors --- */

static void clear_factor(struct varied *factor)
{
	for (size_t i = 0; i < factor->n_levels; i++)
		free(factor->levels[i].text);
	free(factor->name);
	*factor = (struct varied){ 0 };
}

/* Returns why it cannot be varied, or NULL. */
static const char *add_levels(struct vary *vary, struct varied *factor, bool is_asked)
{
	switch (factor->kind) {
	case ADDRESSES:
		return add_addresses(vary, factor);
	case ENVIRONMENT:
		return add_environment(vary, factor);
	case ARGV0:
		return add_argv0(vary, factor);
	case DIRECTORY:
		return add_directory(vary, factor);
	case PROGRAM_FILE:
		return add_file(vary, factor, is_asked);
	default:
		return add_variable(vary, factor);
	}
}

/* Removes what was made of a factor. */
static int remove_made(const struct vary *vary, const struct varied *factor)
{
	int r = 0;

	for (size_t i = 0; vary->folder && i < factor->n_levels; i++) {
		const char *path = factor->levels[i].text;
		_cleanup_free_ char *folder = NULL;

		if (factor->kind == DIRECTORY && unlink(strchr(path, '=') + 1) < 0 &&
			errno != ENOENT)
			r = -errno;
		if (factor->kind != PROGRAM_FILE)
			continue;
		if (unlink(path) < 0 && errno != ENOENT)
			r = -errno;
		folder = strndup(path, (size_t)(strrchr(path, '/') - path));
		if (!folder)
			r = -ENOMEM;
		else if (rmdir(folder) < 0 && errno != ENOENT)
			r = -errno;
	}
	return r;
}

static int add_factor(struct vary *vary, const char *name, bool is_asked)
{
	struct varied *factor = &vary->items[vary->n];
	const char *why;

	*factor = (struct varied){ .name = xptr(strdup(name)), .kind = find_kind(name) };
	user_enter(vary->options->user);
	why = add_levels(vary, factor, is_asked);
	if (why)
		(void)remove_made(vary, factor);
	user_leave(vary->options->user);
	if (!why) {
		vary->n++;
		return 0;
	}
	clear_factor(factor);
	if (is_asked) {
		say("--vary %s: %s", name, why);
		return -EINVAL;
	}
	text_appendf(&vary->held, "%s%s (%s)", vary->held.length > 0 ? ", " : "", name, why);
	return 0;
}

static int choose_seed(struct vary *vary)
{
	vary->seed = vary->options->seed;
	/* At most 2^53, which every JSON reader keeps exactly. */
	if (!vary->options->seeded) {
		if (getrandom(&vary->seed, sizeof(vary->seed), 0) < 0)
			return -errno;
		vary->seed >>= 11;
	}
	/* Other numbers than those by which runs draw. */
	vary->random = ~vary->seed;
	return 0;
}

static int add_factors(struct vary *vary)
{
	const struct options *o = vary->options;
	int r = 0;

	for (size_t i = 0; r == 0 && i < o->n_factors; i++)
		r = add_factor(vary, o->factors[i], true);
	for (size_t i = 0; r == 0 && o->n_factors == 0 && i < ARRAY_SIZE(names); i++)
		r = add_factor(vary, names[i], false);
	for (size_t i = 0; r == 0 && o->n_factors == 0 && i < ARRAY_SIZE(seeds); i++)
		r = add_factor(vary, seeds[i], false);
	return r;
}

int vary_new(const struct options *options, const struct vary_program *program, struct vary **ret)
{
	_cleanup_(vary) struct vary *vary = xptr(calloc(1, sizeof(*vary)));
	int r;

	vary->options = options;
	vary->program = *program;
	r = choose_seed(vary);
	if (r < 0) {
		say_errno(r, "cannot draw a seed");
		return r;
	}
	r = add_factors(vary);
	if (vary->held.failed)
		xalloc_fail();
	if (r < 0)
		return r;
	*ret = TAKE_PTR(vary);
	return 0;
}

static int try_remove(const struct vary *vary)
{
	int r = 0;

	user_enter(vary->options->user);
	for (size_t i = 0; i < vary->n; i++) {
		int error = remove_made(vary, &vary->items[i]);

		r = error < 0 ? error : r;
	}
	if (vary->folder && rmdir(vary->folder) < 0 && errno != ENOENT)
		r = -errno;
	user_leave(vary->options->user);
	return r;
}

void vary_remove(const struct vary *vary)
{
	if (vary)
		(void)try_remove(vary);
}

void vary_free(struct vary *vary)
{
	int r;

	if (!vary)
		return;
	r = try_remove(vary);
	if (r < 0)
		say_errno(r, "note: %s is left", vary->folder);
	for (size_t i = 0; i < vary->n; i++)
		clear_factor(&vary->items[i]);
	text_clear(&vary->held);
	free(vary->folder);
	free(vary);
}

/* --- Runs --- */

void vary_draw(const struct vary *vary, uint64_t run, uint32_t env_pad, struct launch_order *order)
{
	order->env_pad = env_pad;
	for (size_t f = 0; f < vary->n; f++) {
		const struct varied *factor = &vary->items[f];
		uint8_t level =
			(uint8_t)(random_at(vary->seed, run * vary->n + f) % factor->n_levels);
		uint32_t most = 0;

		order->levels[f] = level;
		for (size_t i = 0; i < factor->n_levels; i++)
			most = MAX(most, factor->levels[i].size);
		order->env_pad += factor->kind == ENVIRONMENT ? factor->levels[level].size
							      : most - factor->levels[level].size;
	}
}

size_t vary_count(const struct vary *vary)
{
	return vary ? vary->n : 0;
}

void vary_add_events(const struct vary *vary, struct series *series)
{
	for (size_t f = 0; f < vary_count(vary); f++) {
		_cleanup_free_ char *name = xformat(SERIES_LEVEL "%s", vary->items[f].name);

		series_add_event(series, name);
	}
}

void vary_get_levels(const struct vary *vary, const struct launch_order *order, double *ret)
{
	for (size_t f = 0; f < vary_count(vary); f++)
		ret[f] = vary->items[f].levels[order->levels[f]].value;
}

void vary_describe(const struct vary *vary, struct facts *facts)
{
	_cleanup_text_ struct text t = { 0 };

	for (size_t f = 0; f < vary->n; f++) {
		text_appendf(&t, "%s%s", f > 0 ? ", " : "", vary->items[f].name);
		if (vary->items[f].kind == ADDRESSES)
			facts_set_string(facts, "quiesce_aslr", "random or fixed (--vary)");
	}
	if (t.failed)
		xalloc_fail();
	facts_set_string(facts, WHY_VARIED, t.length > 0 ? t.data : "nothing");
	facts_set_integer(facts, WHY_SEED, (int64_t)vary->seed);
	if (vary->held.length > 0)
		facts_set_string(facts, WHY_HELD, vary->held.data);
	if (facts->failed)
		xalloc_fail();
}

/* --- For the launcher --- */

static enum launch_factor_kind find_launch_kind(enum kind kind)
{
	switch (kind) {
	case ADDRESSES:
		return LAUNCH_FACTOR_ADDRESSES;
	case ARGV0:
		return LAUNCH_FACTOR_ARGV0;
	case PROGRAM_FILE:
		return LAUNCH_FACTOR_PROGRAM;
	case DIRECTORY:
	case VARIABLE:
		return LAUNCH_FACTOR_VARIABLE;
	default:
		return LAUNCH_FACTOR_PADDING;
	}
}

void vary_append(const struct vary *vary, struct text *plan, struct launch_factor *ret)
{
	for (size_t f = 0; f < vary->n; f++) {
		const struct varied *factor = &vary->items[f];

		ret[f] = (struct launch_factor){
			.kind = find_launch_kind(factor->kind),
			.n_levels = (uint32_t)factor->n_levels,
			.levels = (uint32_t)plan->length,
		};
		for (size_t i = 0; i < factor->n_levels; i++) {
			const char *text = factor->levels[i].text ? factor->levels[i].text : "";

			text_append_n(plan, text, strlen(text) + 1);
		}
	}
}

bool vary_has_variable(const struct vary *vary, const char *text)
{
	for (size_t f = 0; f < vary_count(vary); f++) {
		const struct varied *factor = &vary->items[f];

		if (find_launch_kind(factor->kind) == LAUNCH_FACTOR_VARIABLE &&
			options_is_same_variable(factor->levels[0].text, text))
			return true;
	}
	return false;
}
