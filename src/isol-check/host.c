// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/say.h"
#include "isol-check/host.h"
#include "isol-check/pick.h"

struct host {
	struct host_options options;
	struct cpumask *cpus;
	char *cpus_text;
	char *cpus_reason;
	struct topology *topology;
	struct isolation *isolation;
	struct bootline *bootline;
	/* What was looked for and is not there need not be looked for again. */
	bool has_read_bootline;
	bool failed;
};

/* Says what is wrong with the text of -c. */
static int parse_cpus(const char *list, const struct topology *topology, struct cpumask *ret)
{
	_cleanup_free_ char *what = NULL, *have = NULL;
	struct cpumask_error error;
	int r;

	r = cpumask_parse_list(list, topology->n_cpus, ret, &error);
	if (r == -EINVAL || r == -ERANGE) {
		what = cpumask_format_error(&error);
		say("-c: '%s' is not a CPU list: %s", list, what ? what : error.reason);
		return -EINVAL;
	}
	if (r < 0)
		return r;
	if (cpumask_is_empty(ret)) {
		say("-c: '%s' names no CPU", list);
		return -EINVAL;
	}
	cpumask_for_each (cpu, ret) {
		if (cpumask_isset(topology->present, cpu))
			continue;
		have = cpumask_format_list(topology->present);
		say("-c: CPU %d does not exist (present: %s)", cpu, have ? have : "?");
		return -EINVAL;
	}
	return 0;
}

static int set_reason(struct host *host, const char *reason)
{
	host->cpus_reason = strdup(reason);
	return host->cpus_reason ? 0 : -ENOMEM;
}

/* The isolated ones, else those that would be picked. */
static int choose_default(struct host *host)
{
	const struct isolation *isolation = host_isolation(host);

	if (!isolation)
		return -ENOMEM;
	cpumask_and(host->cpus, isolation->isolated, host->topology->online);
	if (!cpumask_is_empty(host->cpus))
		return set_reason(host, "all that are isolated");
	return pick_choose(host->topology, isolation, host->options.recorded, 1, host->cpus,
		&host->cpus_reason);
}

static int choose_cpus(struct host *host)
{
	int r;

	if (host->options.cpus) {
		r = parse_cpus(host->options.cpus, host->topology, host->cpus);
		if (r == 0)
			r = set_reason(host, "as asked");
	} else {
		r = choose_default(host);
	}
	if (r < 0)
		return r;
	host->cpus_text = cpumask_format_list(host->cpus);
	return host->cpus_text ? 0 : -ENOMEM;
}

int host_new(const struct host_options *options, struct host **ret)
{
	_cleanup_(host) struct host *host = calloc(1, sizeof(*host));
	int r;

	if (!host)
		return -ENOMEM;
	host->options = *options;
	r = cpumask_new(&host->cpus);
	if (r < 0)
		return r;
	r = topology_read(&host->topology);
	if (r < 0) {
		say_errno(r, "cannot read which CPUs this machine has");
		return r;
	}
	r = choose_cpus(host);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(host);
	return 0;
}

void host_free(struct host *host)
{
	if (!host)
		return;
	cpumask_free(host->cpus);
	free(host->cpus_text);
	free(host->cpus_reason);
	topology_free(host->topology);
	isolation_free(host->isolation);
	bootline_free(host->bootline);
	free(host);
}

const struct host_options *host_options(const struct host *host)
{
	return &host->options;
}

bool host_has_failed(const struct host *host)
{
	return host->failed;
}

void host_fail(struct host *host)
{
	host->failed = true;
}

const struct cpumask *host_cpus(const struct host *host)
{
	return host->cpus;
}

const char *host_cpus_text(const struct host *host)
{
	return host->cpus_text;
}

const char *host_cpus_reason(const struct host *host)
{
	return host->cpus_reason;
}

const struct topology *host_topology(const struct host *host)
{
	return host->topology;
}

const struct isolation *host_isolation(struct host *host)
{
	if (!host->isolation && isolation_read(&host->isolation) < 0)
		host->failed = true;
	return host->isolation;
}

/* Keeps in mind that memory was short. */
static void note_error(struct host *host, int r)
{
	host->failed = host->failed || r == -ENOMEM;
}

const struct bootline *host_bootline(struct host *host)
{
	if (!host->has_read_bootline)
		note_error(host, bootline_read(host->topology->n_cpus, &host->bootline));
	host->has_read_bootline = true;
	return host->bootline;
}

int host_read(const char *path, char *buf)
{
	return file_read_attr(AT_FDCWD, path, buf, FILE_ATTR_SIZE);
}

int host_readf(char *buf, const char *format, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(path, sizeof(path), format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	return host_read(path, buf);
}
