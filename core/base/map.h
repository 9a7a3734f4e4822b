/* SPDX-License-Identifier: Apache-2.0 */
/* An ordered map from byte strings to pointers; O(log n) whatever the keys, so hostile keys cost nothing extra. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/defs.h"

struct map;

struct map *map_new(void);
void map_free(struct map *map); /* frees keys, not values; accepts NULL */
/* The place of the key's value, made with NULL in it when new; valid until map_free. The key is copied. */
void **map_slot(struct map *map, struct assay_str key);
/* The value, or NULL when the key is absent. */
void *map_get(const struct map *map, struct assay_str key);
size_t map_count(const struct map *map);

#endif
