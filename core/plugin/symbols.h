/* SPDX-License-Identifier: Apache-2.0 */
/* What a module exports, read from its ELF dynamic symbol table (System V ABI, chapter 5). */
#ifndef PLUGIN_SYMBOLS_H
#define PLUGIN_SYMBOLS_H

#include "base/defs.h"

/* ASSAY_INVALID unless the file defines exactly one global symbol, <module>_LTX_assay_plugin. */
int symbols_check(const char *path, const char *module, struct assay_error *err);

#endif
