// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "look/isol-check/check.h"

const char *finding_verdict_name(enum verdict verdict)
{
	static const char *const names[VERDICT_N] = {
		[VERDICT_OK] = "ok",
		[VERDICT_INFO] = "info",
		[VERDICT_UNKNOWN] = "unknown",
		[VERDICT_RISK] = "risk",
		[VERDICT_NOISE] = "noise",
	};

	return names[verdict];
}

static void append(struct text *text, const char *between, const char *format, va_list ap)
	__attribute__((format(printf, 3, 0)));

static void append(struct text *text, const char *between, const char *format, va_list ap)
{
	_cleanup_free_ char *part = NULL, *safe = NULL;

	if (vasprintf(&part, format, ap) < 0)
		xalloc_fail();
	/* Texts of files may hold control characters, and are shown on terminals and in JSON. */
	safe = xptr(text_escape_control(part));
	text_appendf(text, "%s%s", text->length > 0 ? between : "", safe);
	if (text->failed)
		xalloc_fail();
}

void finding_add(struct finding *finding, enum verdict verdict, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	append(&finding->seen, "; ", format, ap);
	va_end(ap);
	finding->verdict = MAX(finding->verdict, verdict);
}

void finding_add_path(struct finding *finding, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	append(&finding->path, ", ", format, ap);
	va_end(ap);
}

void finding_add_fix(struct finding *finding, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	append(&finding->fix, ", or ", format, ap);
	va_end(ap);
}

void finding_set_cpus(struct finding *finding, const struct cpumask *cpus)
{
	free(finding->cpus);
	finding->cpus = xptr(cpumask_format_list(cpus));
}

void finding_set_worst_cpu(struct finding *finding, struct host *host, int cpu)
{
	_cleanup_(cpumask) struct cpumask *mask = host_new_mask();

	if (cpumask_weight(host_cpus(host)) == 1)
		return;
	(void)cpumask_set(mask, cpu);
	finding_set_cpus(finding, mask);
}

void finding_add_no_tasks(struct finding *finding, const struct host *host)
{
	finding_add(finding, VERDICT_UNKNOWN, "%s",
		host_options(host)->recorded ? "a recorded machine has no processes"
					     : "/proc shows no processes");
}

void finding_add_few_tasks(struct finding *finding)
{
	finding_add(finding, VERDICT_UNKNOWN,
		"others may be hidden: no thread of the kernel can be seen");
}

void finding_add_unseen(struct finding *finding, const struct cpumask *unseen, const char *what)
{
	_cleanup_free_ char *list = xptr(cpumask_format_list(unseen));

	if (!cpumask_is_empty(unseen))
		finding_add(finding, VERDICT_UNKNOWN, "%s of CPU %s cannot be read", what, list);
}

int finding_add_mask(struct finding *finding, struct host *host, const char *path, char **ret_list)
{
	_cleanup_(cpumask) struct cpumask *mask = host_new_mask();
	char text[FILE_ATTR_SIZE];
	int r;

	finding_add_path(finding, "%s", path);
	r = host_read(path, text);
	if (r >= 0)
		r = xcheck(cpumask_parse_hex(text, mask));
	if (r < 0)
		return r;
	if (!cpumask_intersects(mask, host_cpus(host)))
		return 0;
	*ret_list = xptr(cpumask_format_list(mask));
	return 1;
}

void finding_add_not_watched(struct finding *finding, const struct host *host)
{
	if (host_options(host)->recorded)
		finding_add(finding, VERDICT_UNKNOWN, "a recorded machine stands still");
	else
		finding_add(finding, VERDICT_INFO, "not watched (--watch 0)");
}

void finding_clear(struct finding *finding)
{
	text_clear(&finding->seen);
	text_clear(&finding->path);
	text_clear(&finding->fix);
	free(finding->cpus);
	*finding = (struct finding){ 0 };
}

/* Adds why the check could not use the first path. */
static void add_why_unknown(struct finding *finding)
{
	const char *paths = finding->path.data ? finding->path.data : "";
	char path[PATH_MAX], text[FILE_ATTR_SIZE];
	int r;

	r = snprintf(path, sizeof(path), "%.*s", (int)strcspn(paths, ","), paths);
	r = path[0] == '/' && (size_t)r < sizeof(path) ? host_read(path, text) : -ENOENT;
	if (r == -ENOENT || r == -EISDIR)
		finding_add(finding, VERDICT_UNKNOWN, "this machine does not tell");
	else if (r == -EBADMSG)
		finding_add(finding, VERDICT_UNKNOWN, "that file was cut off");
	else if (r == -ENODATA)
		finding_add(finding, VERDICT_UNKNOWN, "there is nothing in that file");
	else if (r < 0)
		finding_add(finding, VERDICT_UNKNOWN, "cannot be read: %s", strerror(-r));
	else
		finding_add(finding, VERDICT_UNKNOWN, "what that file says is not understood");
}

void check_run(const struct check *check, struct host *host, struct finding *ret)
{
	*ret = (struct finding){ 0 };
	check->look(host, ret);
	if (ret->seen.length == 0)
		add_why_unknown(ret);
}
