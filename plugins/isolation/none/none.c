/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No confinement: the program sees the host as Assay's user does. The core's limits, deadlines, output caps and the end
 * of every process hold all the same; as root, `uid` at least takes privilege away.
 */
#include <assay/isolation.h>
#include <stdio.h>
#include <stdlib.h>

struct none {
	int64_t uid, gid;
	char identity[40]; /* as reported */
};

static void none_destroy(void *self)
{
	free(self);
}

static int read_options(struct none *self, const struct assay_host *host, const struct assay_node *options,
                        struct assay_error *err)
{
	const struct assay_node *uid = host->node_get(options, "uid"), *gid = host->node_get(options, "gid");
	int status = host->node_int(uid, &self->uid, err);
	if (status == ASSAY_OK)
		status = host->node_int(gid, &self->gid, err);
	if (status)
		return status;
	/* The largest is no id but the kernel's "no change". */
	if (self->uid < -1 || self->uid >= UINT32_MAX)
		return host->fail_at(err, uid, "%lld is no user id", (long long)self->uid);
	if (self->gid < -1 || self->gid >= UINT32_MAX)
		return host->fail_at(err, gid, "%lld is no group id", (long long)self->gid);
	if (self->gid >= 0 && self->uid == -1)
		return host->fail_at(err, gid, "a group id needs a user id: set 'uid' too");
	if (self->gid == -1)
		self->gid = self->uid;
	if (self->uid == -1)
		snprintf(self->identity, sizeof(self->identity), "none");
	else
		snprintf(self->identity, sizeof(self->identity), "uid-%lld", (long long)self->uid);
	return ASSAY_OK;
}

static int none_create(const struct assay_host *host, const struct assay_node *options, void **ret_self,
                       struct assay_error *err)
{
	struct none *self = (struct none *)calloc(1, sizeof(*self));
	if (!self)
		return host->fail(err, ASSAY_INTERNAL, 0, "out of memory");
	int status = read_options(self, host, options, err);
	if (status) {
		free(self);
		return status;
	}
	*ret_self = self;
	return ASSAY_OK;
}

static int none_probe(void *self_, const struct assay_probe_sink *sink, struct assay_error *err)
{
	const struct none *self = (const struct none *)self_;
	static const char missing[] = "this backend has none; run Assay in a container or virtual machine of its own";
	int status = sink->protection(sink->arg, "filesystem", "none", missing, err);
	if (status == ASSAY_OK)
		status = sink->protection(sink->arg, "network", "none", missing, err);
	return status ? status : sink->protection(sink->arg, "identity", self->identity, NULL, err);
}

static int none_plan(void *self_, const struct assay_box_sink *sink, struct assay_error *err)
{
	const struct none *self = (const struct none *)self_;
	int status = sink->protection(sink->arg, "filesystem", "none", err);
	if (status == ASSAY_OK)
		status = sink->protection(sink->arg, "network", "none", err);
	if (status == ASSAY_OK)
		status = sink->protection(sink->arg, "identity", self->identity, err);
	if (status == ASSAY_OK && self->uid >= 0)
		status = sink->identity(sink->arg, (uint32_t)self->uid, (uint32_t)self->gid, err);
	return status;
}

static const struct assay_isolation_ops ops = {sizeof(ops), none_create, none_destroy, none_probe, none_plan};

ASSAY_PLUGIN(none, ASSAY_KIND_ISOLATION, "1.0.0", &ops);
