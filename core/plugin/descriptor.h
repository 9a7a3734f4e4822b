/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.yaml: what a plugin is called, what it needs, which options it takes. */
#ifndef PLUGIN_DESCRIPTOR_H
#define PLUGIN_DESCRIPTOR_H

#include "data/node.h"

#define DESCRIPTOR_FILE "plugin.yaml"

struct descriptor {
	enum assay_kind kind;
	struct assay_str name;
	struct assay_str version;
	struct assay_str summary;
	struct assay_str module;          /* shared object, without ending; empty: the kind's default module */
	const struct assay_node *aliases; /* list of text or NULL */
	const struct assay_node *needs;   /* `requires:` map or NULL: programs: [{name, ...}], files: [{path, ...}] */
	const struct assay_node *options; /* map: name -> {type, default, of, help}, or NULL */
	const struct assay_node *limits;  /* languages: {build: {...}, run: {...}}, or NULL */
	const struct assay_node *columns; /* datasets: {id: [...], required: [...], language: ...}, or NULL */
	const struct assay_node *root;    /* the whole file */
	const char *folder;               /* absolute */
};

/*
 * Reads FOLDER/plugin.yaml and checks every key, including those of the kind. `requires`, `options`, `limits` and
 * `columns` are checked to their leaves, so later readers meet no surprise.
 */
int descriptor_read(struct arena *arena, const char *folder, struct descriptor *ret, struct assay_error *err);
/*
 * The options of one instance: `given` (a map, or NULL) checked against the descriptor's, defaults filled in. Numbers
 * and booleans given as text (from a command line) are accepted. Errors name the place in `given`.
 */
int descriptor_options(struct arena *arena, const struct descriptor *descriptor, const struct assay_node *given,
                       const struct assay_node **ret, struct assay_error *err);
const char *descriptor_kind_name(enum assay_kind kind);                  /* "language" */
const char *descriptor_kind_folder(enum assay_kind kind);                /* "languages" */
bool descriptor_kind_parse(struct assay_str text, enum assay_kind *ret); /* either form */

#endif
