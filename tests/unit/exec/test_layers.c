/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "base/clock.h"
#include "base/files.h"
#include "exec/layers.h"
#include <pthread.h>
#include <stdatomic.h>

struct builder {
	atomic_int builds;
	enum step_status status;
	int error;
};

static int build(void *arg, const struct workspace *workspace, struct step_record *record, struct assay_error *err)
{
	struct builder *builder = arg;
	atomic_fetch_add(&builder->builds, 1);
	clock_sleep_ns(INT64_C(20000000));
	record->status = builder->status;
	buffer_append(&record->stdout_stream.kept, "built", 5);
	if (builder->error)
		return error_set(err, builder->error, 0, "no luck");
	return file_write_beneath(workspace->fd, STR("main"), STR("binary"), 0755, err);
}

static void make_key(char key[DIGEST_HEX_SIZE], unsigned number)
{
	struct digest digest;
	digest_init(&digest);
	digest_field(&digest, (struct assay_str){(const char *)&number, sizeof(number)});
	digest_hex(&digest, key);
}

static void test_built_once(void **state)
{
	struct harness *harness = *state;
	struct layers *layers = layers_new(&harness->scratch);
	struct builder builder = {.status = STEP_FINISHED};
	char key[DIGEST_HEX_SIZE];
	struct layer *first, *second;
	make_key(key, 1);
	assert_int_equal(layers_get(layers, key, build, &builder, &first, NULL), 0);
	assert_int_equal(layers_get(layers, key, build, &builder, &second, NULL), 0);
	assert_ptr_equal(first, second);
	assert_int_equal(builder.builds, 1);
	layers_release(layers, first);
	layers_release(layers, second);
	layers_free(layers);
}

struct getter {
	struct layers *layers;
	struct builder *builder;
	const char *key;
};

static void *get_and_release(void *arg)
{
	struct getter *getter = arg;
	struct layer *layer;
	assert_int_equal(layers_get(getter->layers, getter->key, build, getter->builder, &layer, NULL), 0);
	assert_string_equal(layer->build.stdout_stream.kept.data, "built");
	layers_release(getter->layers, layer);
	return NULL;
}

static void test_others_wait_for_the_builder(void **state)
{
	struct harness *harness = *state;
	struct layers *layers = layers_new(&harness->scratch);
	struct builder builder = {.status = STEP_FINISHED};
	char key[DIGEST_HEX_SIZE];
	pthread_t threads[8];
	make_key(key, 2);
	struct getter getter = {layers, &builder, key};
	for (size_t i = 0; i < COUNT_OF(threads); i++)
		pthread_create(&threads[i], NULL, get_and_release, &getter);
	for (size_t i = 0; i < COUNT_OF(threads); i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(builder.builds, 1);
	layers_free(layers);
}

/* A time limit says something about the moment, a failure of ours about us: neither is kept. */
static void test_what_is_not_repeatable_is_forgotten(void **state)
{
	struct harness *harness = *state;
	struct layers *layers = layers_new(&harness->scratch);
	struct builder slow = {.status = STEP_TIME_LIMIT}, broken = {.status = STEP_FINISHED, .error = ASSAY_SYSTEM};
	char key[DIGEST_HEX_SIZE];
	struct layer *layer;
	struct assay_error err = {0};
	make_key(key, 3);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(layers_get(layers, key, build, &slow, &layer, NULL), 0);
		layers_release(layers, layer);
	}
	assert_int_equal(slow.builds, 2);
	make_key(key, 4);
	for (int i = 0; i < 2; i++)
		assert_int_equal(layers_get(layers, key, build, &broken, &layer, &err), ASSAY_SYSTEM);
	assert_string_equal(err.message, "no luck");
	assert_int_equal(broken.builds, 2);
	layers_free(layers);
}

static void test_bounded(void **state)
{
	struct harness *harness = *state;
	struct layers *layers = layers_new(&harness->scratch);
	struct builder builder = {.status = STEP_FINISHED};
	char key[DIGEST_HEX_SIZE];
	struct layer *layer, *held;
	make_key(key, 1000);
	assert_int_equal(layers_get(layers, key, build, &builder, &held, NULL), 0);
	for (unsigned i = 0; i < LAYERS_MAX / 8; i++) {
		make_key(key, 2000 + i);
		assert_int_equal(layers_get(layers, key, build, &builder, &layer, NULL), 0);
		layers_release(layers, layer);
	}
	/* What is held is there still. */
	auto_buffer struct buffer text = {0};
	assert_int_equal(file_read_beneath(held->workspace.fd, STR("main"), 100, &text, NULL, NULL), 0);
	assert_string_equal(text.data, "binary");
	layers_release(layers, held);
	layers_free(layers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_built_once),
	    cmocka_unit_test(test_others_wait_for_the_builder),
	    cmocka_unit_test(test_what_is_not_repeatable_is_forgotten),
	    cmocka_unit_test(test_bounded),
	};
	return cmocka_run_group_tests(tests, harness_open, harness_close);
}
