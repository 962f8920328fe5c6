// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "measure/serve/account.h"
#include "measure/serve/group.h"
#include "measure/serve/listener.h"
#include "measure/serve/merge.h"

#define HEADING                                                                               \
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  " \
	"timeout inode                                                     \n"

/* As Linux 6.1 writes them: a listener, a connection of the same port, one in TIME_WAIT. */
static const char tcp[] = HEADING
	"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 "
	"41234 1 0000000000000000 100 0 0 10 0                     \n"
	"   1: 0100007F:1F90 0100007F:D2A4 01 00000000:00000000 00:00000000 00000000  1000        0 "
	"41300 1 0000000000000000 20 4 30 10 -1                    \n"
	"   2: 0100007F:1F90 0100007F:D2A6 06 00000000:00000000 03:00001778 00000000     0        0 "
	"0 3 0000000000000000                                      \n"
	"   3: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
	"17 1 0000000000000000 100 0 0 10 0                        \n"
	"   4: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
	"41999 1 0000000000000000 100 0 0 10 0                     \n";
static const char tcp6[] =
	"  sl  local_address                         remote_address                        st ...\n"
	"   0: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A "
	"00000000:00000000 00:00000000 00000000     0        0 52000 1 0000000000000000 100 0 0 10 0\n";

static size_t parse_of_port(const char *text, uint16_t port, uint64_t inodes[], size_t n)
{
	return listener_parse(text, &(struct address){ .port = port }, inodes, n);
}

static size_t parse_of_file(const char *text, const char *path, uint64_t inodes[], size_t n)
{
	return listener_parse(text, &(struct address){ .socket = path }, inodes, n);
}

static void test_finds_listeners(void **state)
{
	uint64_t inodes[LISTENER_MAX];
	size_t n;

	(void)state;
	n = parse_of_port(tcp, 8080, inodes, 0);
	assert_int_equal(n, 2);
	assert_int_equal(inodes[0], 41234);
	assert_int_equal(inodes[1], 41999);
	n = parse_of_port(tcp6, 8080, inodes, n);
	assert_int_equal(n, 3);
	assert_int_equal(inodes[2], 52000);
	assert_int_equal(parse_of_port(tcp, 22, inodes, 0), 1);
	assert_int_equal(parse_of_port(tcp, 53924, inodes, 0), 0);
	assert_int_equal(parse_of_port("", 22, inodes, 0), 0);
	assert_int_equal(parse_of_port("0: 1:16 0:0 0A 0 0 0 0 0\n", 22, inodes, 0), 0);
	assert_int_equal(parse_of_port("0: 1:16 0:0 0A 0 0 0 0 0 x 1\n", 22, inodes, 0), 0);
}

/* As Linux 6.1 writes them: a listener, a connection that it has accepted, a client, one of another
 * path that begins with this one, a socket of packets that listens, and a path with a blank. */
static const char unix_sockets[] =
	"Num       RefCount Protocol Flags    Type St Inode Path\n"
	"0000000086c9fc61: 00000002 00000000 00010000 0001 01 21404 /run/a/socket\n"
	"0000000086c9fc62: 00000003 00000000 00000000 0001 03 21500 /run/a/socket\n"
	"0000000086c9fc63: 00000003 00000000 00000000 0001 03  1679\n"
	"0000000086c9fc64: 00000002 00000000 00010000 0001 01 21405 /run/a/socket2\n"
	"0000000086c9fc65: 00000002 00000000 00010000 0005 01  7 /run/a/socket\n"
	"0000000086c9fc66: 00000002 00000000 00010000 0001 01 21406 /run/a b/socket\n"
	"0000000086c9fc67: 00000002 00000000 00000000 0001 01 21407 /run/a/socket\n"
	"x\n";

static void test_finds_listeners_of_files(void **state)
{
	uint64_t inodes[LISTENER_MAX];

	(void)state;
	assert_int_equal(parse_of_file(unix_sockets, "/run/a/socket", inodes, 0), 2);
	assert_int_equal(inodes[0], 21404);
	assert_int_equal(inodes[1], 7);
	assert_int_equal(parse_of_file(unix_sockets, "/run/a b/socket", inodes, 2), 3);
	assert_int_equal(inodes[2], 21406);
	assert_int_equal(parse_of_file(unix_sockets, "/run/a", inodes, 0), 0);
	assert_int_equal(
		parse_of_file(unix_sockets, "/run/a/socket", inodes, LISTENER_MAX), LISTENER_MAX);
}

static void test_no_more_than_there_is_room_for(void **state)
{
	uint64_t inodes[LISTENER_MAX + 1];
	char text[LISTENER_MAX * 2 * 64] = "";
	size_t length = 0;

	(void)state;
	inodes[LISTENER_MAX] = 7;
	for (unsigned i = 0; i < LISTENER_MAX * 2; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length,
			"%u: 0100007F:0016 0:0 0A 0:0 0:0 0 0 0 %u 1\n", i, i + 1);
	assert_int_equal(parse_of_port(text, 22, inodes, 0), LISTENER_MAX);
	assert_int_equal(inodes[LISTENER_MAX], 7);
}

static void test_reads_files_of_cgroups(void **state)
{
	struct group_cpu cpu;

	(void)state;
	assert_int_equal(
		group_parse_stat("usage_usec 380800\nuser_usec 300000\nsystem_usec 80800\n", &cpu),
		0);
	assert_int_equal(cpu.ns, 380800000);
	assert_int_equal(cpu.user_ns, 300000000);
	assert_int_equal(cpu.system_ns, 80800000);
	assert_int_equal(group_parse_stat("usage_usec 5\nuser_usec x\n", &cpu), 0);
	assert_int_equal(cpu.ns, 5000);
	assert_int_equal(cpu.user_ns, -1);
	assert_int_equal(cpu.system_ns, -1);
	assert_int_equal(group_parse_stat("user_usec 1\n", &cpu), -ENODATA);
	assert_int_equal(group_parse_stat("usage_usec x\n", &cpu), -ENODATA);
	assert_int_equal(group_parse_stat("usage_usec 18446744073709551615\n", &cpu), -ENODATA);
	assert_true(group_is_frozen("populated 1\nfrozen 1\n"));
	assert_false(group_is_frozen("populated 1\nfrozen 0\n"));
}

static void add_slice(struct account *account, double cpu, double p99)
{
	account_set(account, "cpu", "s", BETTER_LOWER, 0, cpu);
	if (isfinite(p99))
		account_set(account, "p99", "s", BETTER_LOWER, 1e-6, p99);
	account_end_slice(account);
}

static void test_sittings_are_medians_of_their_slices(void **state)
{
	struct account account = { .slices_a_sitting = 3 };
	double sittings, slices;

	(void)state;
	add_slice(&account, 10, NAN);
	add_slice(&account, 12, 5);
	add_slice(&account, 50, 7);
	add_slice(&account, 14, 9);
	add_slice(&account, 13, NAN);
	add_slice(&account, 15, NAN);
	assert_int_equal(account_count_sittings(&account), 2);
	assert_float_equal(account_of_sitting(&account, account_find(&account, "cpu"), 0), 12, 0);
	assert_float_equal(account_of_sitting(&account, account_find(&account, "cpu"), 1), 14, 0);
	/* Slices in which it is not known are left out. */
	assert_float_equal(account_of_sitting(&account, account_find(&account, "p99"), 0), 6, 0);
	assert_float_equal(account_of_sitting(&account, account_find(&account, "p99"), 1), 9, 0);
	assert_float_equal(account_median(&account, "cpu"), 13.5, 0);
	assert_true(isnan(account_median(&account, "p50")));
	assert_null(account_find(&account, "p50"));
	account_deviations(&account, "cpu", &sittings, &slices);
	assert_true(sittings > 0 && slices > sittings);
	/* A sitting that did not come to its end. */
	add_slice(&account, 99, 99);
	assert_int_equal(account_count_sittings(&account), 2);
	account_drop_rest(&account);
	assert_int_equal(account.n_slices, 6);
	assert_float_equal(account_median(&account, "cpu"), 13.5, 0);
	account_clear(&account);
}

static void test_evidence_of_slices_is_summed_up(void **state)
{
	struct evidence sum, slice;

	(void)state;
	evidence_clear(&sum);
	evidence_clear(&slice);
	slice.steal_ns = 5;
	slice.irq_device = 2;
	slice.softirqs[3] = 700; /* NET_RX */
	slice.softirqs[4] = 1;	 /* BLOCK */
	slice.voluntary_switches = 9;
	slice.core_shares[EVIDENCE_BEFORE] = 7000;
	slice.elsewhere = 1;
	slice.n_irq_lines = 1;
	slice.irq_line[0] = 4;
	slice.irq_count[0] = 2;
	merge_evidence(&sum, &slice, true);
	slice.throttles = 0;
	slice.core_shares[EVIDENCE_BEFORE] = 9900;
	slice.elsewhere = -1;
	merge_evidence(&sum, &slice, false);
	assert_int_equal(sum.steal_ns, 10);
	assert_int_equal(sum.irq_device, 4);
	assert_int_equal(sum.softirqs[4], 2);
	/* Requests come by these. */
	assert_int_equal(sum.softirqs[3], -1);
	assert_int_equal(sum.voluntary_switches, 18);
	assert_int_equal(sum.core_shares[EVIDENCE_BEFORE], 7000);
	assert_int_equal(sum.elsewhere, 1);
	/* It was not known of the first slice. */
	assert_true(sum.throttles < 0);
	assert_int_equal(sum.n_irq_lines, 1);
	assert_int_equal(sum.irq_count[0], 4);
	slice.steal_ns = -1;
	merge_evidence(&sum, &slice, false);
	assert_int_equal(sum.steal_ns, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_listeners),
		cmocka_unit_test(test_finds_listeners_of_files),
		cmocka_unit_test(test_no_more_than_there_is_room_for),
		cmocka_unit_test(test_reads_files_of_cgroups),
		cmocka_unit_test(test_sittings_are_medians_of_their_slices),
		cmocka_unit_test(test_evidence_of_slices_is_summed_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
