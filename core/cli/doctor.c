/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "cli/common.h"
#include "data/json.h"
#include "pipeline/planner.h"
#include "plugin/host.h"
#include "sys/probe.h"
#include <assay/isolation.h>
#include <stdio.h>

struct doctor {
	struct places places;
	bool as_json;
	bool has_fatal;
	struct json_object *host, *isolation, *languages;
	struct buffer packages;
	struct map *noted;   /* which packages are in it */
	const char *backend; /* whose protections are being told */
};

enum { KEY_JSON = 2000 };

static const struct argp_option options[] = {{"json", KEY_JSON, NULL, 0, "Print JSON", 0}, {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct doctor *doctor = state->input;
	if (key == ARGP_KEY_INIT)
		state->child_inputs[0] = &doctor->places;
	else if (key == KEY_JSON)
		doctor->as_json = true;
	else if (key == ARGP_KEY_ARG)
		argp_error(state, "'%s' is no option", value);
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static const struct argp_child children[] = {{&places_argp, 0, "Where things are:", 90}, {0}};
static const struct argp argp = {options,  parse, NULL, "Say what this host can do, and what to install.",
                                 children, NULL,  NULL};

/* One line of the table and one object of the JSON form. */
static void tell(struct doctor *doctor, struct json_object *list, const char *name, const char *value,
                 const char *missing)
{
	struct json_object *map = json_map();
	json_add_str(map, "name", str_of(name));
	json_add_str(map, "value", str_of(value));
	json_add_str(map, "missing", str_of(missing));
	json_push(list, map);
	if (!doctor->as_json)
		printf("  %-4s %-18s %s%s%s\n", *missing ? "--" : "ok", name, value, *missing ? "; " : "", missing);
}

static void tell_host(void *arg, const struct probe_row *row)
{
	struct doctor *doctor = arg;
	doctor->has_fatal |= row->is_fatal;
	tell(doctor, doctor->host, row->name, row->value, row->missing);
}

static int tell_protection(void *arg, const char *protection, const char *mechanism, const char *missing,
                           struct assay_error *err)
{
	(void)err;
	struct doctor *doctor = arg;
	char name[80];
	snprintf(name, sizeof(name), "%s: %s", doctor->backend, protection);
	tell(doctor, doctor->isolation, name, mechanism, missing ? missing : "");
	return 0;
}

static void probe_backend(struct doctor *doctor, const struct plugin *plugin)
{
	const struct assay_isolation_ops *ops = plugin->module->ops;
	const struct assay_probe_sink sink = {.size = sizeof(sink), .arg = doctor, .protection = tell_protection};
	auto_arena struct arena *arena = arena_new();
	const struct assay_node *defaults;
	struct assay_error err = {0};
	void *self = NULL;
	doctor->backend = plugin->name;
	if (descriptor_options(arena, &plugin->descriptor, NULL, &defaults, &err) == 0 &&
	    ops->create(&host_services, defaults, &self, &err) == 0)
		ops->probe(self, &sink, &err);
	if (err.status)
		tell(doctor, doctor->isolation, plugin->name, "cannot be probed", err.message);
	ops->destroy(self);
}

static bool is_there(const struct assay_node *need)
{
	struct assay_str subject;
	if (node_str(node_get(need, "path"), &subject, NULL) == 0)
		return access(subject.ptr, R_OK) == 0;
	return node_str(node_get(need, "name"), &subject, NULL) || toolchain_has(PLANNER_PATH, subject.ptr);
}

/* Adds the packages of what is missing to the one line that installs all, each once. */
static void note_packages(struct doctor *doctor, const struct plugin *plugin)
{
	static const char *const lists[] = {"programs", "files"};
	for (size_t k = 0; k < COUNT_OF(lists) && plugin->missing.len; k++) {
		const struct assay_node *list = node_get(plugin->descriptor.needs, lists[k]);
		for (size_t i = 0; i < node_count(list); i++) {
			struct assay_str package;
			if (is_there(node_at(list, i)) ||
			    node_str(node_get(node_at(list, i), "package"), &package, NULL))
				continue;
			void **slot = map_slot(doctor->noted, package);
			if (!*slot)
				buffer_printf(&doctor->packages, " %.*s", STR_ARG(package));
			*slot = doctor;
		}
	}
}

static void tell_plugins(struct doctor *doctor, const struct registry *registry)
{
	char text[ERROR_TEXT_MAX];
	if (!doctor->as_json)
		printf("isolation\n");
	for (size_t i = 0; i < registry_count(registry); i++) {
		const struct plugin *plugin = registry_at(registry, i);
		if (plugin->kind == ASSAY_KIND_ISOLATION && !plugin->problem.status)
			probe_backend(doctor, plugin);
	}
	if (!doctor->as_json)
		printf("plugins\n");
	for (size_t i = 0; i < registry_count(registry); i++) {
		const struct plugin *plugin = registry_at(registry, i);
		if (plugin->problem.status)
			tell(doctor, doctor->languages, plugin->name, "broken",
			     error_format(&plugin->problem, text, sizeof(text)));
		else if (plugin->kind == ASSAY_KIND_LANGUAGE)
			tell(doctor, doctor->languages, plugin->name, plugin->missing.len ? "unavailable" : "ready",
			     plugin->missing.len ? plugin->missing.ptr : "");
		note_packages(doctor, plugin);
	}
}

static void print_end(struct doctor *doctor)
{
	auto_json struct json_object *map = json_map();
	json_add_bool(map, "usable", !doctor->has_fatal);
	json_add(map, "host", doctor->host);
	json_add(map, "isolation", doctor->isolation);
	json_add(map, "plugins", doctor->languages);
	json_add_str(map, "install", buffer_str(&doctor->packages));
	if (doctor->as_json) {
		auto_buffer struct buffer text = {0};
		json_print(map, &text);
		printf("%s\n", text.data);
	} else if (doctor->packages.len > 0) {
		printf("\nTo install what is missing:\n  apt-get install%s\n", doctor->packages.data);
	}
}

int verb_doctor(int argc, char **argv)
{
	struct doctor doctor = {0};
	struct assay_error err = {0};
	struct registry *registry = NULL;
	argp_parse(&argp, argc, argv, 0, NULL, &doctor);
	int status = places_complete(&doctor.places, &err);
	if (status == 0)
		status = places_open_registry(&doctor.places, &registry, &err);
	if (status == 0) {
		const char *temp = getenv("TMPDIR");
		doctor.host = json_list();
		doctor.isolation = json_list();
		doctor.languages = json_list();
		doctor.noted = map_new();
		if (!doctor.as_json)
			printf("host\n");
		probe_host(temp && *temp == '/' ? temp : "/tmp", tell_host, &doctor);
		tell_plugins(&doctor, registry);
		print_end(&doctor);
	}
	buffer_free(&doctor.packages);
	map_free(doctor.noted);
	registry_close(registry);
	places_close(&doctor.places);
	if (status)
		return report(&err);
	return doctor.has_fatal ? EXIT_HOST : EXIT_OK;
}
