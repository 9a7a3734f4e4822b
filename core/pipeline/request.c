/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/request.h"
#include "base/arena.h"

struct request *request_new(void)
{
	struct request *request = xmalloc(sizeof(*request));
	request->arena = arena_new();
	return request;
}

void request_free(struct request *request)
{
	if (!request)
		return;
	arena_free(request->arena);
	free(request);
}
