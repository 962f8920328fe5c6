/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of runserved: what it shares with that of runpinned goes into its options. */
#ifndef QUIESCE_MEASURE_SERVE_ASKED_H
#define QUIESCE_MEASURE_SERVE_ASKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/options.h"
#include "measure/serve/service.h"

/* What --by names. */
enum asked_by {
	BY_CPU, /* CPU time of the service for a request */
	BY_THROUGHPUT,
	BY_LATENCY,
	BY_FIGURE, /* one that the load prints */
};

/* What only runserved has. */
struct asked {
	enum asked_by by;
	const char *load; /* --load; NULL with --http */
	const char *http; /* the path of --http */
	unsigned connections;
	char **load_words; /* as typed, split; owned by the options */
	bool has_socket;   /* {socket} stands somewhere */
	bool at_socket;	   /* the load goes there, not to {port} */
	/* What is run before each slice, outside of what counts; NULL: nothing. */
	char **warm_words;
	const char *warm_load; /* --warm-load; NULL: it was not given, and may fail */
	bool warm_is_ours;     /* the first word is httpload */
	double rate;	       /* requests/s of an open loop; 0: it is a closed one, or not known */
	double requests;       /* in each slice; 0: the load tells */
	unsigned slices;
	unsigned warm_slices; /* before them in a sitting; 0: as many as it takes */
	/* What is counted in a slice of its own: -e, "" for nothing; NULL: instructions, where this
	 * machine counts them. */
	const char *events;
	enum service_rest rest;
	const char *load_cpus; /* NULL: those of the services, or others, as --by wants it */
	enum service_ready ready;
	const char *probe;  /* --ready COMMAND; NULL: it is something else */
	char **probe_words; /* split; owned by the options; NULL: none */
	bool listen_fds;
	/* The names of services that only $PORT tells where to listen. Empty with --quiet. */
	const char *untold[OPTIONS_MAX_COMMANDS];
	size_t n_untold;
	int64_t ready_ns;
	int64_t end_ns;
};

/* As options_parse(). */
int asked_parse(int argc, char *argv[], struct options *ret, struct asked *ret_asked);
/* Once the services are expanded (measure/expand.h): finds where the load is to reach them. */
void asked_find_address(struct asked *asked, const struct options *options);

#endif
