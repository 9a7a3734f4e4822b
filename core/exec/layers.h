/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compile once: what a build step left in its workspace is a layer, found again by the digest of all that went into it
 * and reused by every case and every request of the same source. Layers are read-only by convention: a case gets a copy
 * of the files. A bounded cache; the least recently used layer that nobody holds goes first.
 */
#ifndef EXEC_LAYERS_H
#define EXEC_LAYERS_H

#include "base/digest.h"
#include "exec/scratch.h"
#include "model/record.h"

struct layers;

struct layer {
	struct workspace workspace;
	struct step_record build; /* how it was built; the same for all who share it */
};

#define LAYERS_MAX       256
#define LAYERS_MAX_BYTES (UINT64_C(1) << 30)

struct layers *layers_new(const struct scratch *scratch);
void layers_free(struct layers *layers); /* nobody may hold a layer; accepts NULL */

/* Builds into the empty workspace and fills in the record. An error is a failure of Assay. */
typedef int (*layer_build_fn)(void *arg, const struct workspace *workspace, struct step_record *record,
                              struct assay_error *err);
/*
 * The layer of `key`, built by the caller's thread when it is not there, waited for when another thread is building it.
 * Hold it until layers_release(). A build that was ended by a limit or by a failure of ours is shared with those who
 * wait for it and then forgotten. Any thread.
 */
int layers_get(struct layers *layers, const char key[DIGEST_HEX_SIZE], layer_build_fn build, void *arg,
               struct layer **ret, struct assay_error *err);
void layers_release(struct layers *layers, struct layer *layer);

#endif
