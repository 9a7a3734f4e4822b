/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of ABI 1.0 on 64-bit systems, as modules in the field were built with it. A line that no longer holds is a
 * broken ABI: put the member back, or raise the major. New members come at the end of a table, and get a line here.
 */
#include <assay/dataset.h>
#include <assay/isolation.h>
#include <assay/language.h>
#include <assay/plugin.h>

#define SIZE(type, bytes)  _Static_assert(sizeof(struct type) >= (bytes), #type " has shrunk")
#define FIXED(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type " has another size")
#define MEMBER(type, member, place)                                                                                    \
	_Static_assert(offsetof(struct type, member) == (place), #type "." #member " has moved")

_Static_assert(ASSAY_ABI_MAJOR == 1, "another major has another layout file");
_Static_assert(sizeof(void *) == 8, "this file speaks of 64-bit systems");

FIXED(assay_error, 504);
MEMBER(assay_error, status, 0);
MEMBER(assay_error, sys_errno, 4);
MEMBER(assay_error, line, 8);
MEMBER(assay_error, column, 12);
MEMBER(assay_error, file, 16);
MEMBER(assay_error, message, 144);

FIXED(assay_str, 16);
MEMBER(assay_str, ptr, 0);
MEMBER(assay_str, len, 8);

SIZE(assay_extraction, 32);
MEMBER(assay_extraction, size, 0);
MEMBER(assay_extraction, type, 8);
MEMBER(assay_extraction, code, 16);

SIZE(assay_comparison, 40);
MEMBER(assay_comparison, size, 0);
MEMBER(assay_comparison, mode, 8);
MEMBER(assay_comparison, absolute_tolerance, 24);
MEMBER(assay_comparison, relative_tolerance, 32);

SIZE(assay_host, 160);
MEMBER(assay_host, size, 0);
MEMBER(assay_host, abi_major, 4);
MEMBER(assay_host, abi_minor, 6);
MEMBER(assay_host, log, 8);
MEMBER(assay_host, fail, 16);
MEMBER(assay_host, fail_at, 24);
MEMBER(assay_host, node_kind, 32);
MEMBER(assay_host, node_count, 40);
MEMBER(assay_host, node_get, 48);
MEMBER(assay_host, node_at, 56);
MEMBER(assay_host, node_key, 64);
MEMBER(assay_host, node_str, 72);
MEMBER(assay_host, node_int, 80);
MEMBER(assay_host, node_real, 88);
MEMBER(assay_host, node_bool, 96);
MEMBER(assay_host, node_parse, 104);
MEMBER(assay_host, alloc, 112);
MEMBER(assay_host, format, 120);
MEMBER(assay_host, nonce, 128);
MEMBER(assay_host, substitute, 136);
MEMBER(assay_host, extract, 144);
MEMBER(assay_host, compare, 152);

SIZE(assay_plugin, 40);
MEMBER(assay_plugin, magic, 0);
MEMBER(assay_plugin, size, 4);
MEMBER(assay_plugin, abi_major, 8);
MEMBER(assay_plugin, abi_minor, 10);
MEMBER(assay_plugin, kind, 12);
MEMBER(assay_plugin, name, 16);
MEMBER(assay_plugin, version, 24);
MEMBER(assay_plugin, ops, 32);

SIZE(assay_source, 48);
MEMBER(assay_source, size, 0);
MEMBER(assay_source, scope, 8);
MEMBER(assay_source, code, 16);
MEMBER(assay_source, options, 32);
MEMBER(assay_source, memory_bytes, 40);

SIZE(assay_plan_sink, 32);
MEMBER(assay_plan_sink, size, 0);
MEMBER(assay_plan_sink, arg, 8);
MEMBER(assay_plan_sink, file, 16);
MEMBER(assay_plan_sink, step, 24);

SIZE(assay_language_ops, 32);
MEMBER(assay_language_ops, size, 0);
MEMBER(assay_language_ops, create, 8);
MEMBER(assay_language_ops, destroy, 16);
MEMBER(assay_language_ops, plan, 24);

SIZE(assay_probe_sink, 24);
MEMBER(assay_probe_sink, size, 0);
MEMBER(assay_probe_sink, arg, 8);
MEMBER(assay_probe_sink, protection, 16);

SIZE(assay_box_sink, 32);
MEMBER(assay_box_sink, size, 0);
MEMBER(assay_box_sink, arg, 8);
MEMBER(assay_box_sink, protection, 16);
MEMBER(assay_box_sink, identity, 24);

SIZE(assay_isolation_ops, 40);
MEMBER(assay_isolation_ops, size, 0);
MEMBER(assay_isolation_ops, create, 8);
MEMBER(assay_isolation_ops, destroy, 16);
MEMBER(assay_isolation_ops, probe, 24);
MEMBER(assay_isolation_ops, plan, 32);

SIZE(assay_problem, 24);
MEMBER(assay_problem, size, 0);
MEMBER(assay_problem, scope, 8);
MEMBER(assay_problem, row, 16);

SIZE(assay_submission, 48);
MEMBER(assay_submission, size, 0);
MEMBER(assay_submission, problem, 8);
MEMBER(assay_submission, completion, 16);
MEMBER(assay_submission, language, 32);

SIZE(assay_prompt_sink, 24);
MEMBER(assay_prompt_sink, size, 0);
MEMBER(assay_prompt_sink, arg, 8);
MEMBER(assay_prompt_sink, prompt, 16);

SIZE(assay_case, 88);
MEMBER(assay_case, size, 0);
MEMBER(assay_case, name, 8);
MEMBER(assay_case, stdin_data, 24);
MEMBER(assay_case, secret, 40);
MEMBER(assay_case, mark, 56);
MEMBER(assay_case, cpu_ns, 64);
MEMBER(assay_case, wall_ns, 72);
MEMBER(assay_case, memory_bytes, 80);

SIZE(assay_case_sink, 48);
MEMBER(assay_case_sink, size, 0);
MEMBER(assay_case_sink, arg, 8);
MEMBER(assay_case_sink, extracted, 16);
MEMBER(assay_case_sink, source, 24);
MEMBER(assay_case_sink, test, 32);
MEMBER(assay_case_sink, reject, 40);

SIZE(assay_observation, 96);
MEMBER(assay_observation, size, 0);
MEMBER(assay_observation, name, 8);
MEMBER(assay_observation, secret, 24);
MEMBER(assay_observation, return_code, 40);
MEMBER(assay_observation, stdout_data, 48);
MEMBER(assay_observation, stderr_data, 64);
MEMBER(assay_observation, mark_data, 80);

SIZE(assay_check_sink, 24);
MEMBER(assay_check_sink, size, 0);
MEMBER(assay_check_sink, arg, 8);
MEMBER(assay_check_sink, outcome, 16);

SIZE(assay_dataset_ops, 48);
MEMBER(assay_dataset_ops, size, 0);
MEMBER(assay_dataset_ops, create, 8);
MEMBER(assay_dataset_ops, destroy, 16);
MEMBER(assay_dataset_ops, prompt, 24);
MEMBER(assay_dataset_ops, cases, 32);
MEMBER(assay_dataset_ops, check, 40);

#define NUMBER(name, value) _Static_assert((int)(name) == (value), #name " has another value")

NUMBER(ASSAY_KIND_LANGUAGE, 1);
NUMBER(ASSAY_KIND_ISOLATION, 2);
NUMBER(ASSAY_KIND_DATASET, 3);
NUMBER(ASSAY_OK, 0);
NUMBER(ASSAY_INVALID, -1);
NUMBER(ASSAY_MISSING, -2);
NUMBER(ASSAY_SYSTEM, -3);
NUMBER(ASSAY_LIMIT, -4);
NUMBER(ASSAY_INTERNAL, -5);
NUMBER(ASSAY_NODE_NULL, 0);
NUMBER(ASSAY_NODE_BOOL, 1);
NUMBER(ASSAY_NODE_INT, 2);
NUMBER(ASSAY_NODE_REAL, 3);
NUMBER(ASSAY_NODE_STRING, 4);
NUMBER(ASSAY_NODE_LIST, 5);
NUMBER(ASSAY_NODE_MAP, 6);
NUMBER(ASSAY_PHASE_BUILD, 1);
NUMBER(ASSAY_PHASE_RUN, 2);
NUMBER(ASSAY_OUTCOME_NONE, 0);
NUMBER(ASSAY_OUTCOME_ACCEPTED, 1);
NUMBER(ASSAY_OUTCOME_WRONG_ANSWER, 2);
NUMBER(ASSAY_OUTCOME_RUNTIME_ERROR, 3);
NUMBER(ASSAY_OUTCOME_TIME_LIMIT, 4);
NUMBER(ASSAY_OUTCOME_MEMORY_LIMIT, 5);
NUMBER(ASSAY_OUTCOME_OUTPUT_LIMIT, 6);
NUMBER(ASSAY_OUTCOME_COMPILE_ERROR, 7);
NUMBER(ASSAY_OUTCOME_NO_CODE, 8);
NUMBER(ASSAY_OUTCOME_INFRASTRUCTURE, 9);
_Static_assert(ASSAY_PLUGIN_MAGIC == 0x59535341u, "the magic has changed");
