/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML to nodes, from libyaml's events. A configuration file is data: aliases, anchors, tags, duplicate keys, keys that
 * are not scalars and second documents are refused. Bounds: 1 MiB of text, depth 32, 50,000 values, 64 KiB a scalar
 * (libyaml alone needs 10 s for 128 KiB of "[").
 */
#ifndef DATA_YAML_H
#define DATA_YAML_H

#include "data/node.h"

/* `file` names the text in errors and is copied. The root is a map. */
int yaml_parse(struct arena *arena, struct assay_str text, const char *file, const struct assay_node **ret,
               struct assay_error *err);
int yaml_read(struct arena *arena, const char *path, const struct assay_node **ret, struct assay_error *err);

#endif
