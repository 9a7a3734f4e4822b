/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unbiased estimator of pass@k: 1 - C(n - c, k) / C(n, k) for n samples of which c pass (M. Chen and others,
 * "Evaluating Large Language Models Trained on Code", 2021, section 2.1), as a product so that nothing overflows.
 */
#ifndef JUDGE_PASSK_H
#define JUDGE_PASSK_H

#include <stdint.h>

/* 0 <= passed <= samples, 1 <= k <= samples. */
double pass_at_k(int64_t samples, int64_t passed, int64_t k);

#endif
