// SPDX-License-Identifier: GPL-2.0-or-later
/* The empty program: what it takes is what starting and ending any static program takes. runpinned
 * measures it by the same path as the benchmark and prints it beside the result. */
int main(void)
{
	return 0;
}
