/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "base/error.h"
#include "pipeline/pipeline.h"
#include <fcntl.h>

static struct registry *registry;
static char folder[64], file[128];

/* The plugins of the build tree: this test lies in build/tests/. */
static int set_up(void **state)
{
	(void)state;
	static char root[4096];
	ssize_t n = readlink("/proc/self/exe", root, sizeof(root) - 64);
	root[n > 0 ? n : 0] = 0;
	for (int up = 0; up < 2 && strrchr(root, '/'); up++)
		*strrchr(root, '/') = 0;
	strcat(root, "/lib/assay/plugins");
	static const char *roots[] = {root, NULL};
	strcpy(folder, "/tmp/pipeline-test-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(file, sizeof(file), "%s/p.yaml", folder);
	return registry_open(roots, "/usr/bin:/bin", &registry, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	registry_close(registry);
	unlink(file);
	return rmdir(folder);
}

static int open_text(const char *text, struct pipeline **ret, char whole[ERROR_TEXT_MAX])
{
	struct assay_error err = {0};
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	int status = pipeline_open(registry, folder, file, ret, &err);
	error_format(&err, whole, ERROR_TEXT_MAX);
	return status;
}

static void test_good(void **state)
{
	(void)state;
	struct pipeline *pipeline;
	char whole[ERROR_TEXT_MAX];
	assert_int_equal(open_text("pipeline: p\n"
	                           "isolation: {use: none, options: {uid: 65534}}\n"
	                           "limits: {cpu: 2s, memory: 64MiB}\n"
	                           "build_limits: {cpu: 9s}\n"
	                           "stages: [extract, build, run]\n"
	                           "stop: first_failure\n"
	                           "require: [memory-cgroup]\n"
	                           "record: {output: 1KiB}\n",
	                           &pipeline, whole),
	                 0);
	assert_string_equal(pipeline->name, "p");
	assert_int_equal(pipeline->stages, STAGE_EXTRACT | STAGE_BUILD | STAGE_RUN);
	assert_int_equal(pipeline->run_limits.cpu_ns, INT64_C(2000000000));
	assert_int_equal(pipeline->build_limits.cpu_ns, INT64_C(9000000000));
	assert_true(pipeline->stop_at_first_failure);
	assert_int_equal(pipeline->record_output_bytes, 1024);
	pipeline_close(pipeline);
}

#define HEAD "pipeline: p\nisolation: none\n"

static void test_bad(void **state)
{
	(void)state;
	static const struct {
		const char *text, *where, *what;
	} rows[] = {
	    {HEAD "stages: [build, run]\nstgaes: 1\n", "p.yaml:4:9: ", "did you mean 'stages'?"},
	    {HEAD "stages: [biuld]\n", "p.yaml:3:10: ", "did you mean 'build'?"},
	    {HEAD "stages: [run]\n", "p.yaml:3:10: ", "needs 'build'"},
	    {HEAD "stages: [build, run, judge]\n", "p.yaml:3:22: ", "needs 'extract'"},
	    {HEAD "stages: [run, build]\n", "p.yaml:3:10: ", "needs 'build'"},
	    {HEAD "stages: [build, build]\n", "p.yaml:3:17: ", "too late"},
	    {HEAD "stages: []\n", "p.yaml:3:9: ", "at least one stage"},
	    {HEAD "stages: [build]\nlimits: {cpu: 10}\n", "p.yaml:4:15: ", "such as 10s"},
	    {HEAD "stages: [build]\nlimits: {memroy: 1GiB}\n", "p.yaml:4:18: ", "did you mean 'memory'?"},
	    {HEAD "stages: [build]\nlimits: {memory: 1KiB}\n", "p.yaml:4:18: ", "below 4MiB"},
	    {HEAD "stages: [build]\nstop: frist_failure\n", "p.yaml:4:7: ", "did you mean 'first_failure'?"},
	    {"pipeline: p\nisolation: noen\nstages: [build]\n", "p.yaml:2:12: ", "did you mean 'none'?"},
	    {"pipeline: p\nisolation: {use: none, options: {uidd: 1}}\nstages: [build]\n",
	     "p.yaml:2:40: ", "did you mean 'uid'?"},
	    {"pipeline: p\nstages: [build]\n", "p.yaml:1:1: ", "'isolation' is missing"},
	    {"pipeline: p\nisolation: none\nstages: [build\n", "p.yaml:4:1: ", ""},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct pipeline *pipeline;
		char whole[ERROR_TEXT_MAX];
		assert_int_not_equal(open_text(rows[i].text, &pipeline, whole), 0);
		if (!strstr(whole, rows[i].where) || !strstr(whole, rows[i].what))
			fail_msg("row %zu says: %s", i, whole);
	}
	struct pipeline *pipeline;
	struct assay_error err = {0};
	assert_int_equal(pipeline_open(registry, folder, "nosuch", &pipeline, &err), ASSAY_INVALID);
	assert_contains(err.message, "nosuch");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_good), cmocka_unit_test(test_bad)};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
