/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object that is no plugin. */
int no_symbol_answer(void);

int no_symbol_answer(void)
{
	return 42;
}
