// SPDX-License-Identifier: GPL-2.0-or-later
/* The empty program. It takes as long as it takes to start and to end any static program. runpinned
 * measures it in the same way as the benchmark and prints its time beside the result. */
int main(void)
{
	return 0;
}
