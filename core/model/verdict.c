/* SPDX-License-Identifier: Apache-2.0 */
#include "model/verdict.h"
#include "base/str.h"

static const char *const names[] = {
    [ASSAY_OUTCOME_NONE] = "none",
    [ASSAY_OUTCOME_ACCEPTED] = "accepted",
    [ASSAY_OUTCOME_WRONG_ANSWER] = "wrong_answer",
    [ASSAY_OUTCOME_RUNTIME_ERROR] = "runtime_error",
    [ASSAY_OUTCOME_TIME_LIMIT] = "time_limit",
    [ASSAY_OUTCOME_MEMORY_LIMIT] = "memory_limit",
    [ASSAY_OUTCOME_OUTPUT_LIMIT] = "output_limit",
    [ASSAY_OUTCOME_COMPILE_ERROR] = "compile_error",
    [ASSAY_OUTCOME_NO_CODE] = "no_code",
    [ASSAY_OUTCOME_INFRASTRUCTURE] = "infrastructure",
};

const char *outcome_name(enum assay_outcome outcome)
{
	return (size_t)outcome < COUNT_OF(names) ? names[outcome] : "unknown";
}

bool outcome_parse(struct assay_str text, enum assay_outcome *ret)
{
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		if (!str_is(text, names[i]))
			continue;
		*ret = (enum assay_outcome)i;
		return true;
	}
	return false;
}

enum assay_outcome outcome_of_step(const struct step_record *step)
{
	switch (step->status) {
	case STEP_FINISHED:
		return ASSAY_OUTCOME_NONE;
	case STEP_TIME_LIMIT:
		return ASSAY_OUTCOME_TIME_LIMIT;
	case STEP_MEMORY_LIMIT:
		return ASSAY_OUTCOME_MEMORY_LIMIT;
	case STEP_OUTPUT_LIMIT:
		return ASSAY_OUTCOME_OUTPUT_LIMIT;
	case STEP_PROCESS_LIMIT:
	case STEP_SIGNALLED:
		return ASSAY_OUTCOME_RUNTIME_ERROR;
	case STEP_ERROR:
		break;
	}
	return ASSAY_OUTCOME_INFRASTRUCTURE;
}

static struct json_object *test_json(const struct test_result *test, const struct record_json_options *options)
{
	struct json_object *map = json_map();
	json_add_str(map, "name", test->record.name);
	json_add_str(map, "outcome", str_of(outcome_name(test->outcome)));
	json_add_str(map, "detail", test->detail);
	json_add(map, "record", record_json(&test->record, options));
	return map;
}

void verdict_json_add(struct json_object *line, const struct verdict *verdict,
                      const struct record_json_options *options)
{
	bool is_open = verdict->outcome == ASSAY_OUTCOME_NONE || verdict->outcome == ASSAY_OUTCOME_INFRASTRUCTURE;
	struct json_object *tests = json_list();
	if (is_open)
		json_add(line, "accepted", NULL);
	else
		json_add_bool(line, "accepted", verdict->outcome == ASSAY_OUTCOME_ACCEPTED);
	json_add_str(line, "outcome", str_of(outcome_name(verdict->outcome)));
	json_add_str(line, "detail", verdict->detail);
	json_add_str(line, "extracted_code", verdict->extracted_code);
	if (verdict->extracted_type)
		json_add_str(line, "extracted_type", str_of(verdict->extracted_type));
	else
		json_add(line, "extracted_type", NULL);
	for (size_t i = 0; i < verdict->test_count; i++)
		json_push(tests, test_json(&verdict->tests[i], options));
	json_add(line, "tests", tests);
}
