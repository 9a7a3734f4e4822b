/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/layers.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/files.h"
#include <pthread.h>

struct entry {
	struct layer layer;          /* first: a layer's address is its entry's */
	struct entry *older, *newer; /* every entry, by last use */
	char key[DIGEST_HEX_SIZE];
	uint64_t bytes;
	int holders;
	bool is_built;
	bool is_forgotten; /* not found any more; freed by its last holder */
	struct assay_error error;
};

struct layers {
	const struct scratch *scratch;
	pthread_mutex_t lock;
	pthread_cond_t built;
	struct entry ring; /* sentinel: ring.newer is the oldest */
	size_t count;
	uint64_t bytes;
};

struct layers *layers_new(const struct scratch *scratch)
{
	struct layers *layers = xmalloc(sizeof(*layers));
	layers->scratch = scratch;
	layers->ring.older = layers->ring.newer = &layers->ring;
	pthread_mutex_init(&layers->lock, NULL);
	pthread_cond_init(&layers->built, NULL);
	return layers;
}

static void unlink_entry(struct entry *entry)
{
	entry->older->newer = entry->newer;
	entry->newer->older = entry->older;
}

static void link_newest(struct layers *layers, struct entry *entry)
{
	entry->older = layers->ring.older;
	entry->newer = &layers->ring;
	entry->older->newer = entry->newer->older = entry;
}

static void entry_free(struct entry *entry)
{
	workspace_remove(&entry->layer.workspace);
	step_record_free(&entry->layer.build);
	free(entry);
}

void layers_free(struct layers *layers)
{
	if (!layers)
		return;
	for (struct entry *entry = layers->ring.newer, *next; entry != &layers->ring; entry = next) {
		next = entry->newer;
		entry_free(entry);
	}
	pthread_cond_destroy(&layers->built);
	pthread_mutex_destroy(&layers->lock);
	free(layers);
}

/* With the lock held. 256 entries at most and a build behind every miss: a walk is cheap enough. */
static struct entry *find(struct layers *layers, const char *key)
{
	for (struct entry *entry = layers->ring.older; entry != &layers->ring; entry = entry->older)
		if (!memcmp(entry->key, key, sizeof(entry->key)))
			return entry;
	return NULL;
}

/* With the lock held: takes the entry out of the cache; it lives while somebody holds it. */
static void forget(struct layers *layers, struct entry *entry)
{
	unlink_entry(entry);
	layers->count--;
	layers->bytes -= entry->bytes;
	entry->is_forgotten = true;
}

/* With the lock held: takes out the oldest that nobody holds until the bounds are met; returns them as a list by
 * `newer`. */
static struct entry *evict(struct layers *layers)
{
	struct entry *evicted = NULL;
	struct entry *next;
	for (struct entry *entry = layers->ring.newer; entry != &layers->ring; entry = next) {
		next = entry->newer;
		if (layers->count <= LAYERS_MAX && layers->bytes <= LAYERS_MAX_BYTES)
			break;
		if (entry->holders > 0)
			continue;
		forget(layers, entry);
		entry->newer = evicted;
		evicted = entry;
	}
	return evicted;
}

/* A build that says something about the source, rather than about this moment. */
static bool is_repeatable(const struct step_record *build)
{
	return build->status == STEP_FINISHED;
}

static void build_entry(struct layers *layers, struct entry *entry, layer_build_fn build, void *arg)
{
	struct layer *layer = &entry->layer;
	if (workspace_make(layers->scratch, &layer->workspace, &entry->error) == 0 &&
	    build(arg, &layer->workspace, &layer->build, &entry->error) == 0)
		tree_size(layer->workspace.fd, &entry->bytes, &entry->error);

	pthread_mutex_lock(&layers->lock);
	layers->bytes += entry->bytes;
	entry->is_built = true;
	if (entry->error.status || !is_repeatable(&layer->build))
		forget(layers, entry);
	struct entry *evicted = evict(layers);
	pthread_cond_broadcast(&layers->built);
	pthread_mutex_unlock(&layers->lock);
	while (evicted) {
		struct entry *next = evicted->newer;
		entry_free(evicted);
		evicted = next;
	}
}

int layers_get(struct layers *layers, const char key[DIGEST_HEX_SIZE], layer_build_fn build, void *arg,
               struct layer **ret, struct assay_error *err)
{
	pthread_mutex_lock(&layers->lock);
	struct entry *entry = find(layers, key);
	bool is_mine = !entry;
	if (is_mine) {
		entry = xmalloc(sizeof(*entry));
		memcpy(entry->key, key, sizeof(entry->key));
		layers->count++;
	} else {
		unlink_entry(entry);
	}
	link_newest(layers, entry);
	entry->holders++;
	while (!is_mine && !entry->is_built)
		pthread_cond_wait(&layers->built, &layers->lock);
	pthread_mutex_unlock(&layers->lock);

	if (is_mine)
		build_entry(layers, entry, build, arg);
	if (entry->error.status) {
		int status = entry->error.status;
		if (err)
			*err = entry->error;
		layers_release(layers, &entry->layer);
		return status;
	}
	*ret = &entry->layer;
	return 0;
}

void layers_release(struct layers *layers, struct layer *layer)
{
	struct entry *entry = (struct entry *)layer;
	pthread_mutex_lock(&layers->lock);
	bool is_last = --entry->holders == 0 && entry->is_forgotten;
	pthread_mutex_unlock(&layers->lock);
	if (is_last)
		entry_free(entry);
}
