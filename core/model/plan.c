/* SPDX-License-Identifier: Apache-2.0 */
#include "model/plan.h"
#include "base/str.h"
#include <stdio.h>

bool protections_set(struct protections *protections, const char *name, const char *mechanism)
{
	size_t i = 0;
	while (i < protections->count && strcmp(protections->items[i].name, name))
		i++;
	if (i == PROTECTIONS_MAX)
		return false;
	protections->items[i].name = name;
	protections->items[i].mechanism = mechanism;
	protections->count = MAX(protections->count, i + 1);
	return true;
}

struct json_object *protections_json(const struct protections *protections)
{
	struct json_object *map = json_map();
	for (size_t i = 0; i < protections->count; i++)
		json_add_str(map, protections->items[i].name, str_of(protections->items[i].mechanism));
	return map;
}

static struct json_object *list_json(const char *const *list)
{
	struct json_object *array = json_list();
	for (; *list; list++)
		json_push_str(array, str_of(*list));
	return array;
}

static struct json_object *step_json(const struct plan_step *step)
{
	if (!step->argv)
		return NULL;
	struct json_object *map = json_map();
	json_add(map, "argv", list_json(step->argv));
	json_add(map, "env", list_json(step->env));
	json_add(map, "limits", limits_json(&step->limits));
	return map;
}

static struct json_object *file_json(const struct plan_file *file)
{
	struct json_object *map = json_map();
	char mode[8];
	snprintf(mode, sizeof(mode), "%04o", (unsigned)file->mode & 07777);
	json_add_str(map, "path", file->path);
	json_add_str(map, "mode", str_of(mode));
	json_add_int(map, "bytes", (int64_t)file->content.len);
	return map;
}

static struct json_object *box_json(const struct plan_box *box)
{
	struct json_object *map = json_map();
	json_add_str(map, "isolation", str_of(box->isolation));
	if (box->has_identity) {
		json_add_int(map, "uid", box->uid);
		json_add_int(map, "gid", box->gid);
	}
	json_add(map, "protections", protections_json(&box->protections));
	return map;
}

struct json_object *plan_json(const struct plan *plan)
{
	struct json_object *map = json_map(), *files = json_list();
	for (size_t i = 0; i < plan->file_count; i++)
		json_push(files, file_json(&plan->files[i]));
	json_add_str(map, "language", str_of(plan->language));
	json_add(map, "files", files);
	json_add(map, "build", step_json(&plan->build));
	json_add(map, "run", step_json(&plan->run));
	json_add(map, "box", box_json(&plan->box));
	return map;
}
