// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdbool.h>
#include <string.h>

#include "base/macro.h"
#include "judge/result/recognize.h"

/* Each mark is how that tool begins its output, or a name or words that no other one writes. */
static const struct {
	const char *mark;
	enum {
		AT_THE_BEGINNING,
		AT_A_LINE, /* at the beginning of any line */
		IN_TEXT,   /* anywhere, in what is no JSON */
		IN_JSON,   /* anywhere, in what begins as JSON does */
	} where;
	const char *what;
} kinds[] = {
	{ "\"machine_info\"", IN_JSON,
		"a result of pytest-benchmark, which only bench-report reads, as pytest-benchmark writes it" },
	{ "\"jmhVersion\"", IN_JSON,
		"a result of JMH, which only bench-report reads, as JMH writes it" },
	{ "\"complexityN\"", IN_JSON,
		"nanobench's own JSON is not read, but what it renders with its template pyperf is" },
	{ "\"fio version\"", IN_JSON,
		"a result of fio, which only bench-report reads, as fio writes it" },
	{ "\"retransmits\"", IN_JSON,
		"a result of iperf3 is read by bench-report --harness iperf3-json" },
	{ "\"version\":\t\"iperf ", IN_JSON,
		"a result of iperf3 is read by bench-report --harness iperf3-json" },
	{ "\"sampling_mode\"", IN_JSON,
		"a result of criterion, which only bench-report reads, as criterion writes it" },
	{ "\"median_abs_dev\"", IN_JSON,
		"a result of criterion, which only bench-report reads, as criterion writes it" },
	{ "\"directory_name\"", IN_JSON,
		"a result of criterion, which only bench-report reads, as criterion writes it" },
	{ "\"result_columns\"", IN_JSON,
		"a result of asv, which only bench-report reads, as asv writes it" },
	{ "\"BenchmarkDotNetVersion\"", IN_JSON, "a result of BenchmarkDotNet is not read" },
	{ "\"Action\":\"output\"", IN_JSON,
		"the output of go test -json, which only bench-report reads" },
	{ "\xfd"
	  "7zXZ",
		AT_THE_BEGINNING, "compressed by xz: decompress it first" },
	{ "\x28\xb5\x2f\xfd", AT_THE_BEGINNING, "compressed by zstd: decompress it first" },
	{ "BZh", AT_THE_BEGINNING, "compressed by bzip2: decompress it first" },
	{ "PK\x03\x04", AT_THE_BEGINNING, "an archive of zip: unpack it first" },
	{ "\xff\xfe", AT_THE_BEGINNING, "a text in UTF-16: convert it to UTF-8 first" },
	{ "\xfe\xff", AT_THE_BEGINNING, "a text in UTF-16: convert it to UTF-8 first" },
	{ "\x7f"
	  "ELF",
		AT_THE_BEGINNING, "a program, and not its result" },
	{ "PERFILE2", AT_THE_BEGINNING, "a recording of perf is not read" },
	{ "<!DOCTYPE html", AT_THE_BEGINNING, "a page, and not a result" },
	{ "<html", AT_THE_BEGINNING, "a page, and not a result" },
	{ "<Catch", IN_TEXT, "a result of Catch2 is not read" },
	{ "<testsuite", IN_TEXT, "a report of JUnit is not read" },
	{ "<?xml", AT_THE_BEGINNING, "XML is not read" },
	{ "goos: ", AT_A_LINE, "the output of Go's benchmarks, which only bench-report reads" },
	{ " ns/op", IN_TEXT, "the output of Go's benchmarks, or of JMH, is not read" },
	{ " ... bench: ", IN_TEXT,
		"the output of Rust's benchmarks: bench-report --harness libtest reads it" },
	{ "Timer precision: ", AT_A_LINE,
		"the output of divan: bench-report --harness divan reads it" },
	{ "thrpt: ", IN_TEXT,
		"the output of criterion: bench-report reads its folder, target/criterion, and "
		"with --harness criterion the output" },
	{ "                        time:   [", IN_TEXT,
		"the output of criterion: bench-report reads its folder, target/criterion, and "
		"with --harness criterion the output" },
	{ "command,mean,stddev,", AT_THE_BEGINNING,
		"hyperfine's CSV is not read, but what it writes with --export-json is" },
	{ "| Command | Mean ", AT_THE_BEGINNING,
		"hyperfine's table is not read, but what it writes with --export-json is" },
	{ "  Time (mean \xc2\xb1 ", IN_TEXT,
		"hyperfine's output is not read, but what it writes with --export-json is" },
	{ "name,iterations,real_time,", AT_A_LINE,
		"google-benchmark's CSV is not read, but its JSON is: --benchmark_out=FILE" },
	{ " CPU   Iterations", IN_TEXT,
		"google-benchmark's output is not read, but its JSON is: --benchmark_out=FILE" },
	{ "Mean +- std dev: ", IN_TEXT,
		"pyperf's output is not read, but what it writes with -o is" },
	{ " Performance counter stats for ", IN_TEXT,
		"the output of perf stat is not read, but with -x, or -j it is" },
	{ "|             ns/", IN_TEXT,
		"nanobench's output: bench-report --harness nanobench reads it, and without that "
		"what it renders with its template pyperf" },
	{ " from exec to exit, ", IN_TEXT,
		"what runpinned prints is not read, but what it writes with -o is" },
	{ "run,warmup,", AT_THE_BEGINNING,
		"runpinned's table is not read, but what it writes with -o is" },
	{ "name,run,warmup,", AT_THE_BEGINNING,
		"runpinned's table is not read, but what it writes with -o is" },
};

static bool is_at(const char *head, size_t size, const char *at, const char *mark)
{
	size_t length = strlen(mark);

	return length <= size - (size_t)(at - head) && memcmp(at, mark, length) == 0;
}

static bool is_found(const char *head, size_t size, const char *mark, bool at_a_line)
{
	const char *at = head;

	while ((at = memmem(at, size - (size_t)(at - head), mark, strlen(mark)))) {
		if (!at_a_line || at == head || at[-1] == '\n')
			return true;
		at++;
	}
	return false;
}

const char *recognize(const char *head, size_t size)
{
	static const char blank[] = { ' ', '\t', '\r', '\n' };
	size_t blanks = 0;
	bool is_json;

	while (blanks < size && memchr(blank, head[blanks], sizeof(blank)))
		blanks++;
	is_json = blanks < size && (head[blanks] == '{' || head[blanks] == '[');
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const char *mark = kinds[i].mark;

		if ((kinds[i].where == IN_JSON) == is_json &&
			(kinds[i].where == AT_THE_BEGINNING
					? is_at(head, size, head, mark)
					: is_found(head, size, mark, kinds[i].where == AT_A_LINE)))
			return kinds[i].what;
	}
	return NULL;
}
