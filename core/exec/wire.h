/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What crosses the sockets between front, spawner, keeper and stem. All are built together and run on one machine, so
 * these are plain structs in host order; everything of variable length is a "spawn sheet" in a memfd.
 *
 *   front --(PREPARE + control socket)--> spawner --(clone)--> keeper --(clone)--> stem
 *     ^------(pidfd of the keeper)-----------'
 *   front --(START: sheet and channels)-------------------> keeper --(the same)--> stem, which becomes the program
 *     ^------(report)-----------------------------------------'
 */
#ifndef EXEC_WIRE_H
#define EXEC_WIRE_H

#include "model/limits.h"
#include "sys/cgroup.h"
#include "sys/fdpass.h"

/* Descriptors the spawner program starts with. */
#define SPAWNER_SOCKET_FD 3

/* First message of a spawner: what it found. */
struct spawner_hello {
	enum cgroup_version cgroup_version;
	bool has_memory, has_processes, has_cpu;
	char reason[200];
};

enum spawner_request_kind {
	SPAWNER_LINK = 1, /* front -> spawner on the first socket, with one end of a new link */
	SPAWNER_SCRATCH =
	    2, /* on the first socket, with the scratch folder's parent: what to remove when the front dies */
	SPAWNER_PREPARE = 3, /* on a link, with the keeper's end of a control socket; answered by a spawner_reply */
	SPAWNER_MOP_UP = 4,  /* on a link: the keeper of box `sequence` died; kill and remove what it left */
};

struct spawner_request {
	uint32_t kind;
	uint64_t sequence;     /* of the box; names its cgroup */
	char scratch_name[32]; /* of SPAWNER_SCRATCH */
};

/*
 * START, front -> keeper -> stem: one byte, and descriptors in this order. The mark channel is last and optional.
 */
#define KEEPER_START 's'
enum spawn_fd { SPAWN_SHEET, SPAWN_WORKSPACE, SPAWN_STDIN, SPAWN_STDOUT, SPAWN_STDERR, SPAWN_MARK };
#define SPAWN_FD_MIN 5
#define SPAWN_FD_MAX 6

struct spawner_reply {
	struct assay_error error; /* status 0: the keeper's pidfd comes with this */
};

/* The command, as the keeper gets it: pointers into one block. */
struct spawn_sheet {
	struct limits limits;
	bool has_identity;
	uid_t uid;
	gid_t gid;
	char **argv;
	char **env;
};

/* Writes a sheet into a new memfd; returns the descriptor or a negative status. */
int sheet_write(const struct limits *limits, bool has_identity, uid_t uid, gid_t gid, const char *const *argv,
                const char *const *env, struct assay_error *err);
/* Reads one back; everything is in one block that free(ret->argv) releases. */
int sheet_read(int fd, struct spawn_sheet *ret, struct assay_error *err);

/* front -> keeper, once the program runs: one byte. The end of the socket (a dead front) means the same. */
#define KEEPER_STOP 'x'
/* stem -> keeper: one byte, when it is in its cgroup. Then, instead of running, one struct assay_error. */
#define STEM_READY 'r'

enum keeper_end {
	KEEPER_EXITED = 1,  /* the program ended by itself */
	KEEPER_CPU = 2,     /* killed at the CPU limit */
	KEEPER_WALL = 3,    /* killed at the wall limit */
	KEEPER_MEMORY = 4,  /* the kernel killed part of it for memory, the keeper the rest */
	KEEPER_STOPPED = 5, /* killed because the front asked */
	KEEPER_FAILED = 6,  /* never ran, or could not be watched: error says why */
};

/* keeper -> front, once, when nothing of the box is left. */
struct keeper_report {
	enum keeper_end end;
	bool is_signalled;
	int code; /* exit code or signal */
	int left_processes;
	int64_t wall_ns;
	int64_t cpu_ns;
	uint64_t memory_peak_bytes;
	uint64_t oom_kills;
	uint64_t process_denied;
	struct assay_error error;
};

#endif
