/* SPDX-License-Identifier: Apache-2.0 */
/* Accepted or not, and why. */
#ifndef MODEL_VERDICT_H
#define MODEL_VERDICT_H

#include "model/record.h"
#include <assay/dataset.h>

/* "accepted", "wrong_answer", ...; ASSAY_OUTCOME_NONE is "none". */
const char *outcome_name(enum assay_outcome outcome);
bool outcome_parse(struct assay_str text, enum assay_outcome *ret);
/* The outcome of a step that did not end by itself, or ended by a signal; ASSAY_OUTCOME_NONE when it finished. */
enum assay_outcome outcome_of_step(const struct step_record *step);

struct test_result {
	enum assay_outcome outcome; /* NONE when the case was not run */
	struct assay_str detail;
	struct record record;
};

struct verdict {
	enum assay_outcome outcome;
	struct assay_str detail; /* one line for people */
	struct assay_str extracted_code;
	const char *extracted_type; /* NULL when nothing was extracted */
	struct test_result *tests;
	size_t test_count;
};

/* Adds accepted, outcome, detail, extracted_code, extracted_type and tests to a result line. */
void verdict_json_add(struct json_object *line, const struct verdict *verdict,
                      const struct record_json_options *options);

#endif
