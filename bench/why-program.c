// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program that is moved by one thing, for bench/why.
 *
 *	why-program nothing|argv0|WORK_SEED
 *
 * It works for about 3 ms: always as long; by a part longer that grows with the length of argv[0];
 * or by a quarter longer where the number in WORK_SEED is even, and by up to a quarter, which it
 * draws itself. In QUIESCE_FIGURES it says how much it has worked.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
	ROUNDS = 4000 * 1000,
};

int main(int argc, char *argv[])
{
	const char *by = argc > 1 ? argv[1] : "nothing", *seed = getenv("WORK_SEED");
	const char *path = getenv("QUIESCE_FIGURES");
	volatile uint32_t sum = 0;
	double work = 1;
	uint32_t drawn;
	FILE *file;

	if (getrandom(&drawn, sizeof(drawn), 0) != sizeof(drawn))
		return 1;
	if (strcmp(by, "argv0") == 0)
		work += (double)strlen(argv[0]) / 100;
	else if (strcmp(by, "WORK_SEED") == 0 && seed && *seed)
		work += ((seed[strlen(seed) - 1] - '0') % 2 == 0 ? 0.25 : 0) +
			0.25 * drawn / UINT32_MAX;
	for (uint32_t i = 0; i < (uint32_t)(work * ROUNDS); i++)
		sum = sum + i;
	file = path ? fopen(path, "ae") : NULL;
	if (!file)
		return 0;
	fprintf(file, "BenchmarkWork 1 %.6f s\n", work);
	return fclose(file) == 0 ? 0 : 1;
}
