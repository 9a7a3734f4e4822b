/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules from disk; the only file that includes libltdl. Start-up thread only, before any other thread exists:
 * libltdl is not thread-safe. Modules are never unloaded.
 */
#ifndef PLUGIN_LOADER_H
#define PLUGIN_LOADER_H

#include "base/defs.h"

/*
 * Opens `path` (absolute) and checks what it exports: the one symbol, magic, size, both ABI numbers, kind, name and the
 * completeness of its ops. `where_file` and `where_line` place errors (the descriptor's `module:`). The true reason of
 * a failed load (a missing dependency, an undefined symbol) is in the message.
 */
int loader_open(const char *path, const char *module, enum assay_kind kind, const char *where_file, uint32_t where_line,
                const struct assay_plugin **ret, struct assay_error *err);

#endif
