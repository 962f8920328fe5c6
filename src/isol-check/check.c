// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isol-check/check.h"

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
		part = NULL;
	/* Texts of files may hold control characters, and are shown on terminals and in JSON. */
	safe = part ? text_escape_control(part) : NULL;
	if (!safe) {
		text->failed = true;
		return;
	}
	if (text->length > 0)
		text_append(text, between);
	text_append(text, safe);
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
	finding->cpus = cpumask_format_list(cpus);
	finding->failed = finding->failed || !finding->cpus;
}

void finding_set_worst_cpu(struct finding *finding, struct host *host, int cpu)
{
	_cleanup_(cpumask) struct cpumask *mask = host_new_mask(host);

	if (!mask || cpumask_weight(host_cpus(host)) == 1)
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

void finding_add_unseen(
	struct finding *finding, struct host *host, const struct cpumask *unseen, const char *what)
{
	_cleanup_free_ char *list = NULL;

	if (cpumask_is_empty(unseen))
		return;
	list = host_format(host, unseen);
	finding_add(
		finding, VERDICT_UNKNOWN, "%s of CPU %s cannot be read", what, list ? list : "?");
}

int finding_add_mask(struct finding *finding, struct host *host, const char *path, char **ret_list)
{
	_cleanup_(cpumask) struct cpumask *mask = host_new_mask(host);
	char text[FILE_ATTR_SIZE];
	char *list;
	int r;

	finding_add_path(finding, "%s", path);
	r = mask ? host_read(path, text) : -ENOMEM;
	if (r >= 0)
		r = cpumask_parse_hex(text, mask);
	if (r < 0)
		return r;
	if (!cpumask_intersects(mask, host_cpus(host)))
		return 0;
	list = host_format(host, mask);
	if (!list)
		return -ENOMEM;
	*ret_list = list;
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

int check_run(const struct check *check, struct host *host, struct finding *ret)
{
	struct finding finding = { 0 };

	check->look(host, &finding);
	if (finding.seen.length == 0 && !finding.seen.failed)
		add_why_unknown(&finding);
	if (finding.failed || finding.seen.failed || finding.path.failed || finding.fix.failed ||
		host_has_failed(host)) {
		finding_clear(&finding);
		return -ENOMEM;
	}
	*ret = finding;
	return 0;
}
