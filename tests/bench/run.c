/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run costs: bare posix_spawn + waitpid against a whole box (workspace, spawner, keeper, cgroup, channels,
 * record, removal), for a program that does nothing and for a small Python one, at 1 and 2 runs at a time. The two are
 * measured turn by turn, so that the noise of the machine falls on both alike.
 *
 *   bench_run [ROUNDS]
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "exec/box.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

static const char *const env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", NULL};

struct command {
	const char *title;
	const char *const *argv;
};

static const char *const true_argv[] = {"/bin/true", NULL};
static const char *const python_argv[] = {"/usr/bin/python3", "-c", "print(1)", NULL};
static const struct command commands[] = {{"/bin/true", true_argv}, {"python3 -c 'print(1)'", python_argv}};

struct worker {
	const struct command *command;
	const struct scratch *scratch;
	struct spawner *spawner;
	int rounds;
	int64_t *bare_ns, *box_ns;
};

static void fail(const struct assay_error *err)
{
	char text[ERROR_TEXT_MAX];
	fprintf(stderr, "bench_run: %s\n", error_format(err, text, sizeof(text)));
	exit(1);
}

static void run_bare(const struct command *command)
{
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	pid_t pid;
	if (posix_spawn(&pid, command->argv[0], &actions, NULL, (char *const *)command->argv, (char *const *)env) == 0)
		waitpid(pid, NULL, 0);
	posix_spawn_file_actions_destroy(&actions);
}

static void run_box(const struct worker *worker, struct spawner_link *link)
{
	struct assay_error err = {0};
	struct workspace workspace;
	if (workspace_make(worker->scratch, &workspace, &err))
		fail(&err);
	const struct plan_step step = {.argv = worker->command->argv, .env = env, .limits = limits_default};
	const struct plan_box settings = {.isolation = "none"};
	const struct box box = {.step = &step, .settings = &settings, .workspace = &workspace, .cancel_fd = -1};
	struct step_record record;
	box_run(link, &box, &record);
	if (record.status != STEP_FINISHED || record.return_code != 0)
		fail(&record.error);
	step_record_free(&record);
	workspace_remove(&workspace);
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct assay_error err = {0};
	struct spawner_link *link;
	if (spawner_connect(worker->spawner, &link, &err))
		fail(&err);
	for (int i = 0; i < worker->rounds; i++) {
		int64_t start_ns = clock_now_ns();
		run_bare(worker->command);
		int64_t middle_ns = clock_now_ns();
		run_box(worker, link);
		worker->bare_ns[i] = middle_ns - start_ns;
		worker->box_ns[i] = clock_now_ns() - middle_ns;
	}
	spawner_disconnect(link);
	return NULL;
}

static int compare_times(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static double percentile_ms(int64_t *times, int count, int percent)
{
	qsort(times, (size_t)count, sizeof(*times), compare_times);
	return (double)times[(count - 1) * percent / 100] / 1e6;
}

static void measure(struct worker model, int slots)
{
	size_t total = (size_t)slots * (size_t)model.rounds;
	int64_t *bare_ns = xmalloc(total * sizeof(*bare_ns)), *box_ns = xmalloc(total * sizeof(*box_ns));
	struct worker workers[8];
	pthread_t threads[8];
	for (int i = 0; i < slots; i++) {
		workers[i] = model;
		workers[i].bare_ns = bare_ns + i * model.rounds;
		workers[i].box_ns = box_ns + i * model.rounds;
		pthread_create(&threads[i], NULL, work, &workers[i]);
	}
	for (int i = 0; i < slots; i++)
		pthread_join(threads[i], NULL);
	double bare50 = percentile_ms(bare_ns, (int)total, 50), bare99 = percentile_ms(bare_ns, (int)total, 99);
	double box50 = percentile_ms(box_ns, (int)total, 50), box99 = percentile_ms(box_ns, (int)total, 99);
	printf("%-24s %5d   %8.2f %8.2f   %8.2f %8.2f   %+8.2f %+8.2f\n", model.command->title, slots, bare50, bare99,
	       box50, box99, box50 - bare50, box99 - bare99);
	free(bare_ns);
	free(box_ns);
}

/* assay-spawner of the build tree: this program lies in build/bench/. */
static const char *spawner_path(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 64);
	path[MAX(n, 0)] = 0;
	for (int up = 0; up < 2 && strrchr(path, '/'); up++)
		*strrchr(path, '/') = 0;
	return strcat(path, "/libexec/assay/assay-spawner");
}

int main(int argc, char **argv)
{
	struct assay_error err = {0};
	struct scratch scratch;
	struct spawner *spawner;
	char path[4096];
	signal(SIGPIPE, SIG_IGN);
	if (spawner_start(spawner_path(path, sizeof(path)), &spawner, &err) || scratch_open(&scratch, &err) ||
	    spawner_guard(spawner, scratch.parent_fd, scratch.name, &err))
		fail(&err);
	int rounds = argc > 1 ? atoi(argv[1]) : 300;
	printf("milliseconds a run             bare posix_spawn      assay, 'none'         difference\n");
	printf("%-24s %5s   %8s %8s   %8s %8s   %8s %8s\n", "command", "slots", "p50", "p99", "p50", "p99", "p50",
	       "p99");
	for (size_t i = 0; i < COUNT_OF(commands); i++)
		for (int slots = 1; slots <= 2; slots++)
			measure(
			    (struct worker){
			        .command = &commands[i], .scratch = &scratch, .spawner = spawner, .rounds = rounds},
			    slots);
	scratch_close(&scratch);
	spawner_stop(spawner);
	return 0;
}
