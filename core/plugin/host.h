/* SPDX-License-Identifier: Apache-2.0 */
/* The services table handed to every plugin. A scope is an arena. */
#ifndef PLUGIN_HOST_H
#define PLUGIN_HOST_H

#include "base/arena.h"

extern const struct assay_host host_services;

static inline struct assay_scope *scope_of(struct arena *arena)
{
	return (struct assay_scope *)arena;
}
static inline struct arena *arena_of(struct assay_scope *scope)
{
	return (struct arena *)scope;
}

#endif
