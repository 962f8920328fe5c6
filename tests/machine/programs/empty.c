// SPDX-License-Identifier: GPL-2.0-or-later
/* The least that there is to measure. */
int main(void)
{
	return 0;
}
