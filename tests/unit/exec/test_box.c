/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "base/clock.h"
#include "base/files.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>

static void assert_stream(const struct stream *stream, const char *text)
{
	assert_int_equal(stream->kept.len, strlen(text));
	assert_int_equal(stream->total_bytes, strlen(text));
	assert_string_equal(stream->kept.data ? stream->kept.data : "", text);
}

static void test_streams_and_code(void **state)
{
	struct step_record record;
	const struct limits limits = harness_limits();
	harness_shell(*state, "echo out; echo err >&2; echo mark >&3; exit 7", &limits, &record);
	assert_int_equal(record.status, STEP_FINISHED);
	assert_int_equal(record.return_code, 7);
	assert_stream(&record.stdout_stream, "out\n");
	assert_stream(&record.stderr_stream, "err\n");
	assert_stream(&record.mark_stream, "mark\n");
	assert_true(record.wall_ns > 0 && record.cpu_ns > 0 && record.memory_peak_bytes > 0);
	step_record_free(&record);
}

static void test_environment_and_descriptors(void **state)
{
	struct step_record record;
	const struct limits limits = harness_limits();
	const char *const list[] = {"ls", "/proc/self/fd", NULL}, *const env[] = {"env", NULL};
	setenv("ASSAY_TEST_SECRET", "x", 1);
	harness_run(*state, list, &limits, STR(""), false, &record);
	assert_stream(&record.stdout_stream, "0\n1\n2\n3\n"); /* 3 is the folder that ls reads */
	step_record_free(&record);

	harness_run(*state, env, &limits, STR(""), false, &record);
	const char *text = record.stdout_stream.kept.data;
	assert_ptr_equal(strstr(text, "HOME=/"), text);
	assert_non_null(strstr(text, "\nTMPDIR=/"));
	assert_non_null(strstr(text, "\nPATH=/usr/local/bin:/usr/bin:/bin\nLANG=C.UTF-8\n"));
	assert_null(strstr(text, "ASSAY_TEST_SECRET"));
	int lines = 0;
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 4);
	step_record_free(&record);
}

static void test_input(void **state)
{
	struct step_record record;
	struct limits limits = harness_limits();
	limits.output_bytes = 32 << 20;
	size_t size = 20 << 20;
	char *big = xmalloc(size);
	memset(big, 'a', size);
	const char *const cat[] = {"cat", NULL};
	harness_run(*state, cat, &limits, (struct assay_str){big, size}, false, &record);
	assert_int_equal(record.status, STEP_FINISHED);
	assert_int_equal(record.stdout_stream.kept.len, size);
	assert_memory_equal(record.stdout_stream.kept.data, big, size);
	step_record_free(&record);

	const char *const deaf[] = {"true", NULL};
	harness_run(*state, deaf, &limits, (struct assay_str){big, size}, false, &record);
	assert_int_equal(record.status, STEP_FINISHED);
	assert_int_equal(record.return_code, 0);
	step_record_free(&record);
	free(big);
}

static void test_output_is_capped_and_counted(void **state)
{
	struct step_record record;
	struct limits limits = harness_limits();
	limits.output_bytes = 1000;
	limits.flood_bytes = 100000;
	harness_shell(*state, "head -c 50000 /dev/zero; head -c 60000 /dev/zero >&2", &limits, &record);
	assert_int_equal(record.status, STEP_FINISHED);
	assert_int_equal(record.stdout_stream.kept.len, 1000);
	assert_int_equal(record.stdout_stream.total_bytes, 50000);
	assert_int_equal(record.stderr_stream.total_bytes, 60000);
	step_record_free(&record);

	harness_shell(*state, "yes", &limits, &record);
	assert_int_equal(record.status, STEP_OUTPUT_LIMIT);
	assert_string_equal(record.limit_hit, "output");
	step_record_free(&record);
}

static void test_exec_failure_is_no_exit_code(void **state)
{
	struct step_record record;
	const struct limits limits = harness_limits();
	const char *const missing[] = {"no-such-program", NULL};
	harness_run(*state, missing, &limits, STR(""), false, &record);
	assert_int_equal(record.status, STEP_ERROR);
	assert_int_equal(record.error.status, ASSAY_MISSING);
	assert_non_null(strstr(record.error.message, "no-such-program"));
	step_record_free(&record);

	harness_shell(*state, "exit 127", &limits, &record);
	assert_int_equal(record.status, STEP_FINISHED);
	assert_int_equal(record.return_code, 127);
	step_record_free(&record);
}

static void test_limits(void **state)
{
	struct step_record record;
	struct limits limits = harness_limits();
	limits.cpu_ns = INT64_C(300000000);
	harness_shell(*state, "( while :; do :; done ) & wait", &limits, &record);
	assert_int_equal(record.status, STEP_TIME_LIMIT);
	assert_string_equal(record.limit_hit, "cpu");
	assert_true(record.cpu_ns >= limits.cpu_ns);
	step_record_free(&record);

	limits = harness_limits();
	limits.memory_bytes = UINT64_C(32) << 20;
	harness_shell(*state, "head -c 200000000 /dev/zero | tail", &limits, &record);
	if (spawner_facts(((struct harness *)*state)->spawner)->has_memory) {
		assert_int_equal(record.status, STEP_MEMORY_LIMIT);
		assert_string_equal(record.limit_hit, "memory");
	}
	step_record_free(&record);

	limits = harness_limits();
	limits.wall_ns = INT64_C(2000000000);
	harness_shell(*state, "echo before; sleep 60", &limits, &record);
	assert_int_equal(record.status, STEP_TIME_LIMIT);
	assert_string_equal(record.limit_hit, "wall");
	assert_stream(&record.stdout_stream, "before\n");
	assert_true(record.wall_ns >= limits.wall_ns);
	step_record_free(&record);
}

static void test_signals_of_its_own_are_no_limits(void **state)
{
	struct step_record record;
	const struct limits limits = harness_limits();
	static const struct {
		const char *script;
		int signal;
	} rows[] = {{"kill -KILL $$", SIGKILL},
	            {"kill -XCPU $$", SIGXCPU},
	            {"kill -TERM $$", SIGTERM},
	            {"kill -ABRT $$", SIGABRT}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		harness_shell(*state, rows[i].script, &limits, &record);
		assert_int_equal(record.status, STEP_SIGNALLED);
		assert_int_equal(record.signal, rows[i].signal);
		assert_int_equal(record.return_code, -rows[i].signal);
		step_record_free(&record);
	}
}

static void test_what_is_left_is_killed(void **state)
{
	struct step_record record;
	const struct limits limits = harness_limits();
	harness_shell(*state, "sleep 600 & setsid sleep 600 & (setsid sleep 600 &) ; echo answer", &limits, &record);
	assert_int_equal(record.status, STEP_FINISHED);
	assert_stream(&record.stdout_stream, "answer\n");
	assert_true(record.left_processes >= 2);
	step_record_free(&record);
}

static void test_a_killed_keeper_is_the_programs_doing(void **state)
{
	struct step_record record;
	const struct limits limits = harness_limits();
	for (int i = 0; i < 3; i++) {
		harness_shell(*state, "kill -KILL $PPID; sleep 5", &limits, &record);
		assert_int_equal(record.status, STEP_SIGNALLED);
		step_record_free(&record);
	}
	harness_shell(*state, "echo fine", &limits, &record);
	assert_int_equal(record.status, STEP_FINISHED);
	step_record_free(&record);
}

static pid_t pid_of_spawner(void)
{
	pid_t pid = 0;
	FILE *file = popen("pgrep -n -P $PPID -x assay-spawner", "r");
	assert_int_equal(fscanf(file, "%d", &pid), 1);
	pclose(file);
	return pid;
}

static void test_a_killed_spawner_is_replaced(void **state)
{
	struct step_record record;
	const struct limits limits = harness_limits();
	for (int i = 0; i < 3; i++) {
		kill(pid_of_spawner(), SIGKILL);
		harness_shell(*state, "echo fine", &limits, &record);
		assert_int_equal(record.status, STEP_FINISHED);
		assert_stream(&record.stdout_stream, "fine\n");
		step_record_free(&record);
	}
}

struct canceller {
	int fd;
};

static void *cancel_soon(void *arg)
{
	clock_sleep_ns(INT64_C(100000000));
	eventfd_write(((struct canceller *)arg)->fd, 1);
	return NULL;
}

static void test_cancel(void **state)
{
	struct harness *harness = *state;
	struct step_record record;
	struct workspace workspace;
	struct canceller canceller = {.fd = eventfd(0, EFD_CLOEXEC)};
	const char *const argv[] = {"sleep", "60", NULL};
	const struct plan_step step = {.argv = argv, .env = harness_env, .limits = limits_default};
	const struct plan_box settings = {.isolation = "none"};
	pthread_t thread;
	assert_int_equal(workspace_make(&harness->scratch, &workspace, NULL), 0);
	const struct box box = {
	    .step = &step, .settings = &settings, .workspace = &workspace, .cancel_fd = canceller.fd};
	pthread_create(&thread, NULL, cancel_soon, &canceller);
	box_run(harness->link, &box, &record);
	pthread_join(thread, NULL);
	assert_int_equal(record.status, STEP_ERROR);
	assert_string_equal(record.error.message, "cancelled");
	step_record_free(&record);
	workspace_remove(&workspace);
	close(canceller.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_streams_and_code),
	    cmocka_unit_test(test_environment_and_descriptors),
	    cmocka_unit_test(test_input),
	    cmocka_unit_test(test_output_is_capped_and_counted),
	    cmocka_unit_test(test_exec_failure_is_no_exit_code),
	    cmocka_unit_test(test_limits),
	    cmocka_unit_test(test_signals_of_its_own_are_no_limits),
	    cmocka_unit_test(test_what_is_left_is_killed),
	    cmocka_unit_test(test_a_killed_keeper_is_the_programs_doing),
	    cmocka_unit_test(test_a_killed_spawner_is_replaced),
	    cmocka_unit_test(test_cancel),
	};
	return cmocka_run_group_tests(tests, harness_open, harness_close);
}
