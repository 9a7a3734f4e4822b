/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract any plugin must keep, tested from outside: descriptor, module, one exported symbol, create with the
 * default options, destroy of NULL, ops that answer well-formed and malformed input with results or errors, no
 * descriptor leaked. A dataset type's tests/good.jsonl and tests/bad.jsonl, where it has them, hold samples of what
 * must become cases or a rejection: {"row": {...}, "completion": text, "language": text or absent}, one a line.
 * Backs `assay check`.
 */
#ifndef PLUGIN_CONTRACT_H
#define PLUGIN_CONTRACT_H

#include "base/defs.h"

/* One line a check; `detail` is "" when it passed. */
typedef void (*contract_report_fn)(void *arg, const char *check, bool passed, const char *detail);

/* Checks the plugin in `folder`; `roots` as for the registry (where `module:` may be found). Returns the failures. */
int contract_check(const char *folder, const char *const *roots, contract_report_fn report, void *arg);

#endif
