/* SPDX-License-Identifier: Apache-2.0 */
/* Over glibc's balanced tree (tsearch(3)). */
#include "base/map.h"
#include "base/arena.h"
#include "base/str.h"
#include <search.h>

struct pair {
	struct assay_str key;
	void *value;
	char bytes[];
};

struct map {
	void *root;
	size_t count;
};

static int compare_pairs(const void *a, const void *b)
{
	const struct assay_str x = ((const struct pair *)a)->key, y = ((const struct pair *)b)->key;
	size_t len = MIN(x.len, y.len);
	int order = len ? memcmp(x.ptr, y.ptr, len) : 0;
	return order ? order : (x.len > y.len) - (x.len < y.len);
}

struct map *map_new(void)
{
	return xmalloc(sizeof(struct map));
}

void map_free(struct map *map)
{
	if (!map)
		return;
	tdestroy(map->root, free);
	free(map);
}

void **map_slot(struct map *map, struct assay_str key)
{
	struct pair *pair = xmalloc(sizeof(*pair) + key.len);
	if (key.len)
		memcpy(pair->bytes, key.ptr, key.len);
	pair->key = (struct assay_str){pair->bytes, key.len};
	struct pair **found = tsearch(pair, &map->root, compare_pairs);
	if (!found)
		abort();
	if (*found == pair)
		map->count++;
	else
		free(pair);
	return &(*found)->value;
}

void *map_get(const struct map *map, struct assay_str key)
{
	const struct pair wanted = {.key = key};
	struct pair *const *found = tfind(&wanted, &map->root, compare_pairs);
	return found ? (*found)->value : NULL;
}

size_t map_count(const struct map *map)
{
	return map->count;
}
