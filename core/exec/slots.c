/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/slots.h"
#include "base/arena.h"
#include "base/error.h"
#include <pthread.h>
#include <signal.h>

struct slots {
	pthread_mutex_t lock;
	pthread_cond_t has_work, has_room;
	struct job *first, *last; /* jobs with a unit that may start now, in turn */
	size_t unfinished, backlog;
	bool is_closing;
	int count;
	struct slot *slots;
	pthread_t *threads;
	struct start {
		struct slots *slots;
		struct slot *slot;
	} * starts;
};

static void push(struct slots *slots, struct job *job)
{
	job->next = NULL;
	if (slots->last)
		slots->last->next = job;
	else
		slots->first = job;
	slots->last = job;
	pthread_cond_signal(&slots->has_work);
}

static struct job *pop(struct slots *slots)
{
	struct job *job = slots->first;
	if (job) {
		slots->first = job->next;
		if (!slots->first)
			slots->last = NULL;
	}
	return job;
}

/* With the lock held: the next unit in turn; its job goes to the back when it has more that may start. */
static struct job *take_unit(struct slots *slots, size_t *ret_unit)
{
	struct job *job = pop(slots);
	if (!job)
		return NULL;
	*ret_unit = job->started++;
	if (*ret_unit > 0 && job->started < job->units)
		push(slots, job);
	return job;
}

/* With the lock held: true when that was the job's last unit. */
static bool end_unit(struct slots *slots, struct job *job, size_t unit)
{
	job->ended++;
	if (unit == 0 && job->units > 1)
		push(slots, job);
	return job->ended == job->units;
}

static void *work(void *arg)
{
	struct slots *slots = ((struct start *)arg)->slots;
	struct slot *slot = ((struct start *)arg)->slot;
	pthread_mutex_lock(&slots->lock);
	for (;;) {
		size_t unit;
		struct job *job = take_unit(slots, &unit);
		if (!job) {
			if (slots->is_closing)
				break;
			pthread_cond_wait(&slots->has_work, &slots->lock);
			continue;
		}
		pthread_mutex_unlock(&slots->lock);
		job->run(job, unit, slot);
		pthread_mutex_lock(&slots->lock);
		if (!end_unit(slots, job, unit))
			continue;
		pthread_mutex_unlock(&slots->lock);
		job->finish(job);
		pthread_mutex_lock(&slots->lock);
		slots->unfinished--;
		pthread_cond_broadcast(&slots->has_room);
	}
	pthread_mutex_unlock(&slots->lock);
	return NULL;
}

/* Threads start with all signals blocked: they are for the main thread. */
static int start_thread(struct slots *slots, int index, struct assay_error *err)
{
	sigset_t all, before;
	sigfillset(&all);
	slots->starts[index] = (struct start){slots, &slots->slots[index]};
	pthread_sigmask(SIG_BLOCK, &all, &before);
	int failure = pthread_create(&slots->threads[index], NULL, work, &slots->starts[index]);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failure ? error_set(err, ASSAY_SYSTEM, failure, "cannot start a thread") : 0;
}

int slots_open(struct spawner *spawner, int count, struct slots **ret, struct assay_error *err)
{
	struct slots *slots = xmalloc(sizeof(*slots));
	pthread_mutex_init(&slots->lock, NULL);
	pthread_cond_init(&slots->has_work, NULL);
	pthread_cond_init(&slots->has_room, NULL);
	slots->backlog = 2 * (size_t)count + 2;
	slots->slots = xmalloc((size_t)count * sizeof(*slots->slots));
	slots->threads = xmalloc((size_t)count * sizeof(*slots->threads));
	slots->starts = xmalloc((size_t)count * sizeof(*slots->starts));
	int status = 0;
	for (int i = 0; i < count && status == 0; i++) {
		status = spawner_connect(spawner, &slots->slots[i].link, err);
		if (status == 0)
			status = start_thread(slots, i, err);
		if (status == 0)
			slots->count++;
		else
			spawner_disconnect(slots->slots[i].link);
	}
	if (status) {
		slots_close(slots);
		return status;
	}
	*ret = slots;
	return 0;
}

void slots_close(struct slots *slots)
{
	if (!slots)
		return;
	slots_wait(slots);
	pthread_mutex_lock(&slots->lock);
	slots->is_closing = true;
	pthread_cond_broadcast(&slots->has_work);
	pthread_mutex_unlock(&slots->lock);
	for (int i = 0; i < slots->count; i++) {
		pthread_join(slots->threads[i], NULL);
		spawner_disconnect(slots->slots[i].link);
	}
	pthread_cond_destroy(&slots->has_room);
	pthread_cond_destroy(&slots->has_work);
	pthread_mutex_destroy(&slots->lock);
	free(slots->starts);
	free(slots->threads);
	free(slots->slots);
	free(slots);
}

void slots_submit(struct slots *slots, struct job *job)
{
	pthread_mutex_lock(&slots->lock);
	while (slots->unfinished >= slots->backlog)
		pthread_cond_wait(&slots->has_room, &slots->lock);
	slots->unfinished++;
	push(slots, job);
	pthread_mutex_unlock(&slots->lock);
}

void slots_wait(struct slots *slots)
{
	pthread_mutex_lock(&slots->lock);
	while (slots->unfinished > 0)
		pthread_cond_wait(&slots->has_room, &slots->lock);
	pthread_mutex_unlock(&slots->lock);
}
