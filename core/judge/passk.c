/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/passk.h"

double pass_at_k(int64_t samples, int64_t passed, int64_t k)
{
	/* C(n-c, k) / C(n, k) is the product of (1 - k/i) over i from n-c+1 to n. */
	double none_passes = 1.0;
	if (samples - passed < k)
		return 1.0;
	for (int64_t i = samples - passed + 1; i <= samples; i++)
		none_passes *= 1.0 - (double)k / (double)i;
	return 1.0 - none_passes;
}
