/* SPDX-License-Identifier: Apache-2.0 */
/* The backend that confines nothing: it says so, and its one option is an identity. */
#include "support.h"
#include "data/yaml.h"
#include "plugin/host.h"
#include "plugin/registry.h"
#include <assay/isolation.h>

struct seen {
	struct protection {
		char name[32], mechanism[64];
		bool is_missing;
	} probed[8], planned[8];
	size_t probed_count, planned_count;
	int identities;
	uint32_t uid, gid;
};

static void keep(struct protection *into, const char *name, const char *mechanism)
{
	snprintf(into->name, sizeof(into->name), "%s", name);
	snprintf(into->mechanism, sizeof(into->mechanism), "%s", mechanism);
}

static int take_probe(void *arg, const char *name, const char *mechanism, const char *missing, struct assay_error *err)
{
	(void)err;
	struct seen *seen = arg;
	assert_true(seen->probed_count < COUNT_OF(seen->probed));
	seen->probed[seen->probed_count].is_missing = missing;
	keep(&seen->probed[seen->probed_count++], name, mechanism);
	return 0;
}

static int take_plan(void *arg, const char *name, const char *mechanism, struct assay_error *err)
{
	(void)err;
	struct seen *seen = arg;
	assert_true(seen->planned_count < COUNT_OF(seen->planned));
	keep(&seen->planned[seen->planned_count++], name, mechanism);
	return 0;
}

static int take_identity(void *arg, uint32_t uid, uint32_t gid, struct assay_error *err)
{
	(void)err;
	struct seen *seen = arg;
	seen->identities++;
	seen->uid = uid;
	seen->gid = gid;
	return 0;
}

static int plan_with(struct folder *folder, const char *given, struct seen *seen, struct assay_error *err)
{
	struct plugin plugin;
	const char *roots[] = {build_path(folder->arena, "lib/assay/plugins"), NULL};
	const char *path = build_path(folder->arena, "lib/assay/plugins/isolation/none");
	const struct assay_node *node = NULL, *options;
	void *self = NULL;
	assert_int_equal(registry_read_plugin(folder->arena, path, roots, &plugin, NULL), 0);
	assert_int_equal(plugin.problem.status, 0);
	if (given)
		assert_int_equal(yaml_parse(folder->arena, str_of(given), "given.yaml", &node, NULL), 0);
	const struct assay_isolation_ops *ops = plugin.module->ops;
	int status = descriptor_options(folder->arena, &plugin.descriptor, node, &options, err);
	if (status == 0)
		status = ops->create(&host_services, options, &self, err);
	if (status)
		return status;
	const struct assay_probe_sink probe = {.size = sizeof(probe), .arg = seen, .protection = take_probe};
	const struct assay_box_sink box = {
	    .size = sizeof(box), .arg = seen, .protection = take_plan, .identity = take_identity};
	assert_int_equal(ops->probe(self, &probe, err), 0);
	assert_int_equal(ops->plan(self, &box, err), 0);
	ops->destroy(self);
	return 0;
}

static void test_it_says_that_there_is_nothing(void **state)
{
	struct seen seen = {0};
	assert_int_equal(plan_with(*state, NULL, &seen, NULL), 0);
	assert_int_equal(seen.planned_count, 3);
	assert_int_equal(seen.probed_count, 3);
	for (size_t i = 0; i < 3; i++) {
		/* What is reported is what was announced. */
		assert_string_equal(seen.planned[i].name, seen.probed[i].name);
		assert_string_equal(seen.planned[i].mechanism, seen.probed[i].mechanism);
		assert_string_equal(seen.planned[i].mechanism, "none");
	}
	assert_string_equal(seen.planned[0].name, "filesystem");
	assert_true(seen.probed[0].is_missing);
	assert_int_equal(seen.identities, 0);
}

static void test_identities(void **state)
{
	struct seen seen = {0};
	assert_int_equal(plan_with(*state, "uid: 65534\n", &seen, NULL), 0);
	assert_int_equal(seen.identities, 1);
	assert_int_equal(seen.uid, 65534);
	assert_int_equal(seen.gid, 65534);
	assert_string_equal(seen.planned[2].mechanism, "uid-65534");
	seen = (struct seen){0};
	assert_int_equal(plan_with(*state, "uid: 0\ngid: 4294967294\n", &seen, NULL), 0);
	assert_int_equal(seen.identities, 1);
	assert_int_equal(seen.uid, 0);
	assert_int_equal(seen.gid, 4294967294u);
}

static void test_numbers_that_are_no_ids(void **state)
{
	static const char *const given[] = {"uid: -2\n",         "uid: 4294967295\n",    "uid: 99999999999\n",
	                                    "uid: 1\ngid: -2\n", "gid: 4294967295\n",    "gid: 5\n",
	                                    "uid: nobody\n",     "uid: -1\ngid: 65534\n"};
	for (size_t i = 0; i < COUNT_OF(given); i++) {
		struct seen seen = {0};
		struct assay_error err = {0};
		if (plan_with(*state, given[i], &seen, &err) != ASSAY_INVALID)
			fail_msg("accepted: %s", given[i]);
		assert_string_equal(err.file, "given.yaml");
		assert_true(err.line > 0);
		assert_int_equal(seen.identities, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    test_in_folder(test_it_says_that_there_is_nothing),
	    test_in_folder(test_identities),
	    test_in_folder(test_numbers_that_are_no_ids),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
