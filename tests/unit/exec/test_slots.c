/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "base/clock.h"
#include "exec/slots.h"
#include <pthread.h>

/* A job that notes the order in which its units ran. */
struct counted {
	struct job job;
	char name;
	size_t more; /* units that unit 0 adds */
	int units_run, finishes;
	bool is_unit0_over;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char order[256];
static size_t order_len;

static void run_unit(struct job *job, size_t unit, struct slot *slot)
{
	struct counted *counted = (struct counted *)job;
	assert_non_null(slot->link);
	pthread_mutex_lock(&lock);
	order[order_len++] = counted->name;
	counted->units_run++;
	if (unit > 0)
		assert_true(counted->is_unit0_over);
	pthread_mutex_unlock(&lock);
	clock_sleep_ns(INT64_C(2000000));
	if (unit == 0) {
		job->units = 1 + counted->more;
		counted->is_unit0_over = true;
	}
}

static void finish(struct job *job)
{
	((struct counted *)job)->finishes++;
}

static void test_units_and_finish(void **state)
{
	struct harness *harness = *state;
	struct slots *slots;
	struct counted jobs[6];
	assert_int_equal(slots_open(harness->spawner, 3, &slots, NULL), 0);
	order_len = 0;
	for (size_t i = 0; i < COUNT_OF(jobs); i++) {
		jobs[i] = (struct counted){
		    .job = {.run = run_unit, .finish = finish, .units = 1}, .name = (char)('a' + i), .more = i};
		slots_submit(slots, &jobs[i].job);
	}
	slots_wait(slots);
	for (size_t i = 0; i < COUNT_OF(jobs); i++) {
		assert_int_equal(jobs[i].units_run, 1 + i);
		assert_int_equal(jobs[i].finishes, 1);
	}
	slots_close(slots);
}

/* On one slot, a long job that came first lets short ones through in turn. */
static void test_jobs_take_turns(void **state)
{
	struct harness *harness = *state;
	struct slots *slots;
	struct counted jobs[] = {
	    {.job = {.run = run_unit, .finish = finish, .units = 1}, .name = 'L', .more = 20},
	    {.job = {.run = run_unit, .finish = finish, .units = 1}, .name = 's', .more = 1},
	};
	assert_int_equal(slots_open(harness->spawner, 1, &slots, NULL), 0);
	order_len = 0;
	for (size_t i = 0; i < COUNT_OF(jobs); i++)
		slots_submit(slots, &jobs[i].job);
	slots_wait(slots);
	slots_close(slots);
	order[order_len] = 0;
	const char *last_short = strrchr(order, 's');
	assert_non_null(last_short);
	assert_true(last_short - order < 6);
}

static void *submit_all(void *arg)
{
	struct slots *slots = arg;
	static struct counted jobs[64];
	for (size_t i = 0; i < COUNT_OF(jobs); i++) {
		jobs[i] = (struct counted){.job = {.run = run_unit, .finish = finish, .units = 1}, .name = 'x'};
		slots_submit(slots, &jobs[i].job);
	}
	return jobs;
}

/* More jobs than the backlog holds: submitting blocks instead of piling up, and all get done. */
static void test_backlog(void **state)
{
	struct harness *harness = *state;
	struct slots *slots;
	pthread_t thread;
	void *result;
	assert_int_equal(slots_open(harness->spawner, 2, &slots, NULL), 0);
	order_len = 0;
	pthread_create(&thread, NULL, submit_all, slots);
	pthread_join(thread, &result);
	slots_wait(slots);
	assert_int_equal(order_len, 64);
	for (size_t i = 0; i < 64; i++)
		assert_int_equal(((struct counted *)result)[i].finishes, 1);
	slots_close(slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_units_and_finish),
	    cmocka_unit_test(test_jobs_take_turns),
	    cmocka_unit_test(test_backlog),
	};
	return cmocka_run_group_tests(tests, harness_open, harness_close);
}
