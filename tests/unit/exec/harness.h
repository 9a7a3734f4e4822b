/* SPDX-License-Identifier: Apache-2.0 */
/* A spawner, a scratch folder and a link, for tests that run real boxes. */
#ifndef TESTS_EXEC_HARNESS_H
#define TESTS_EXEC_HARNESS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "exec/box.h"
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

struct harness {
	struct spawner *spawner;
	struct scratch scratch;
	struct spawner_link *link;
};

/* The test lies in build/tests/, the spawner in build/libexec/assay/. */
static inline void harness_spawner_path(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 64);
	path[n > 0 ? n : 0] = 0;
	for (int up = 0; up < 2 && strrchr(path, '/'); up++)
		*strrchr(path, '/') = 0;
	strcat(path, "/libexec/assay/assay-spawner");
}

static inline int harness_open(void **state)
{
	static struct harness harness;
	struct assay_error err = {0};
	char path[4096];
	harness_spawner_path(path, sizeof(path));
	signal(SIGPIPE, SIG_IGN);
	if (spawner_start(path, &harness.spawner, &err) || scratch_open(&harness.scratch, &err) ||
	    spawner_guard(harness.spawner, harness.scratch.parent_fd, harness.scratch.name, &err) ||
	    spawner_connect(harness.spawner, &harness.link, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return -1;
	}
	*state = &harness;
	return 0;
}

static inline int harness_close(void **state)
{
	struct harness *harness = *state;
	spawner_disconnect(harness->link);
	scratch_close(&harness->scratch);
	spawner_stop(harness->spawner);
	return 0;
}

static const char *const harness_env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", NULL};

static inline struct limits harness_limits(void)
{
	struct limits limits = limits_default;
	limits.cpu_ns = INT64_C(5000000000);
	limits.wall_ns = INT64_C(10000000000);
	return limits;
}

/* Runs argv under the limits in a workspace of its own. */
static inline void harness_run(struct harness *harness, const char *const *argv, const struct limits *limits,
                               struct assay_str input, bool has_mark, struct step_record *record)
{
	struct workspace workspace;
	struct assay_error err = {0};
	assert_int_equal(workspace_make(&harness->scratch, &workspace, &err), 0);
	const struct plan_step step = {.argv = argv, .env = harness_env, .limits = *limits};
	const struct plan_box settings = {.isolation = "none"};
	const struct box box = {.step = &step,
	                        .settings = &settings,
	                        .workspace = &workspace,
	                        .stdin_data = input,
	                        .has_mark = has_mark,
	                        .cancel_fd = -1};
	box_run(harness->link, &box, record);
	workspace_remove(&workspace);
}

static inline void harness_shell(struct harness *harness, const char *script, const struct limits *limits,
                                 struct step_record *record)
{
	const char *const argv[] = {"bash", "-c", script, NULL};
	harness_run(harness, argv, limits, STR(""), true, record);
}

#endif
