/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugin ABI, version 1: what every kind of plugin shares.
 *
 * A module is a shared object that exports exactly one function, made by ASSAY_PLUGIN(). It links to nothing of
 * Assay: host services arrive as a table when an instance is created. One header per kind stands beside this one.
 *
 * Rules that hold for every op of every kind:
 *  - Ownership: each pointer argument is borrowed until the op returns. Results are pushed into a sink, which copies
 *    them. Nothing allocated on one side is freed by the other.
 *  - Threads: create() and destroy() run on the start-up thread, alone. All other ops may run on several threads at
 *    once on the same instance, so an instance is read-only after create().
 *  - Errors: an op returns ASSAY_OK or a negative assay_status and then has filled *err (host->fail() does both).
 *    A failing *program* is never an error of an op; it is data in a record.
 *  - Growth: every table begins with its size in bytes and grows only at its end. Test with ASSAY_HAS() before using
 *    a member younger than ABI 1.0. Both majors must be equal for a module to load.
 *  - Units stand in names: _ns nanoseconds, _bytes bytes. Zero means "not set" unless a comment says otherwise.
 */
#ifndef ASSAY_PLUGIN_H
#define ASSAY_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_ABI_MAJOR    1
#define ASSAY_ABI_MINOR    0
#define ASSAY_PLUGIN_MAGIC 0x59535341u /* "ASSY", little-endian */

/* True when table `t` reaches as far as member `m` and the member is not NULL. */
#define ASSAY_HAS(t, m) ((t)->size >= offsetof(__typeof__(*(t)), m) + sizeof((t)->m) && (t)->m)

#if defined(__GNUC__)
#define ASSAY_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#define ASSAY_EXPORT                      __attribute__((visibility("default")))
#else
#define ASSAY_PRINTF(format_index, first)
#define ASSAY_EXPORT
#endif

enum assay_kind {
	ASSAY_KIND_LANGUAGE = 1,
	ASSAY_KIND_ISOLATION = 2,
	ASSAY_KIND_DATASET = 3,
};

enum assay_status {
	ASSAY_OK = 0,
	ASSAY_INVALID = -1,  /* what a caller or a file gave is wrong; saying it again will not help */
	ASSAY_MISSING = -2,  /* this host lacks something: a toolchain, a kernel feature, a permission */
	ASSAY_SYSTEM = -3,   /* a system call failed; sys_errno says how */
	ASSAY_LIMIT = -4,    /* one of Assay's own bounds was reached: a queue, a size, a depth */
	ASSAY_INTERNAL = -5, /* a fault in Assay or in a plugin */
};

/*
 * Why something failed. Plain data of fixed size (504 bytes, less than PIPE_BUF), so that it can be filled without
 * allocating and crosses a pipe in one piece. `file`, `line` and `column` (1-based, 0 unknown) name the place in a
 * configuration file or the line of a JSON Lines file; file[0] == 0 when there is none.
 */
struct assay_error {
	int32_t status;    /* enum assay_status */
	int32_t sys_errno; /* 0 when no system call is to blame */
	uint32_t line;
	uint32_t column;
	char file[128];
	char message[360];
};

/* A run of bytes, borrowed. Not NUL-terminated unless a comment says so; may hold NULs. {NULL, 0} is empty. */
struct assay_str {
	const char *ptr;
	size_t len;
};

/* One value of a configuration file or of a JSON document; opaque, immutable, read through the host. */
struct assay_node;

enum assay_node_kind {
	ASSAY_NODE_NULL = 0,
	ASSAY_NODE_BOOL = 1,
	ASSAY_NODE_INT = 2,
	ASSAY_NODE_REAL = 3,
	ASSAY_NODE_STRING = 4, /* every YAML scalar too: its type is decided by who reads it */
	ASSAY_NODE_LIST = 5,
	ASSAY_NODE_MAP = 6,
};

/* Memory of one request: freed as a whole when the request ends. Used by one thread at a time. */
struct assay_scope;

/* How code was found in a completion; the words are those of the `extracted_type` field of results. */
struct assay_extraction {
	uint32_t size;
	const char *type;      /* "fenced", "incomplete_fenced", "heuristic", "raw" or "empty"; static */
	struct assay_str code; /* lives in the scope */
};

/* How two outputs are compared; see compare() below. */
struct assay_comparison {
	uint32_t size;
	struct assay_str mode;     /* "exact", "tokens", "float" or "sandboxfusion"; empty means "tokens" */
	double absolute_tolerance; /* of mode "float"; both zero means 1e-9 */
	double relative_tolerance;
};

/*
 * Services of the host. The table outlives every instance. All functions may be called from any thread unless their
 * scope argument says otherwise.
 */
struct assay_host {
	uint32_t size;
	uint16_t abi_major;
	uint16_t abi_minor;

	/* level: 0 error, 1 warning, 2 notice, 3 debug. */
	void (*log)(int level, const char *format, ...) ASSAY_PRINTF(2, 3);
	/* Fills *err (which may be NULL) and returns `status`. */
	int (*fail)(struct assay_error *err, int status, int sys_errno, const char *format, ...) ASSAY_PRINTF(4, 5);
	/* The same with the place of `where`; the status is ASSAY_INVALID. */
	int (*fail_at)(struct assay_error *err, const struct assay_node *where, const char *format, ...)
	    ASSAY_PRINTF(3, 4);

	/* Nodes. NULL stands for "absent" and is accepted everywhere: its kind is ASSAY_NODE_NULL, its count 0. */
	enum assay_node_kind (*node_kind)(const struct assay_node *node);
	size_t (*node_count)(const struct assay_node *node);                                 /* of a list or map */
	const struct assay_node *(*node_get)(const struct assay_node *map, const char *key); /* NULL when absent */
	const struct assay_node *(*node_at)(const struct assay_node *node, size_t index);    /* of a list or map */
	struct assay_str (*node_key)(const struct assay_node *map, size_t index);            /* NUL-terminated */
	/* Typed reads; an error names the place. A string read is NUL-terminated and lives as long as the node. */
	int (*node_str)(const struct assay_node *node, struct assay_str *ret, struct assay_error *err);
	int (*node_int)(const struct assay_node *node, int64_t *ret, struct assay_error *err);
	int (*node_real)(const struct assay_node *node, double *ret, struct assay_error *err);
	int (*node_bool)(const struct assay_node *node, int *ret, struct assay_error *err);
	/* Parses JSON text (a column that holds JSON as a string); the result lives in `scope`. */
	int (*node_parse)(struct assay_scope *scope, struct assay_str json, const struct assay_node **ret,
	                  struct assay_error *err);

	/* Zeroed memory that lives as long as `scope`; never NULL. */
	void *(*alloc)(struct assay_scope *scope, size_t bytes);
	/* printf into `scope`; NUL-terminated. */
	struct assay_str (*format)(struct assay_scope *scope, const char *format, ...) ASSAY_PRINTF(2, 3);
	/* `bytes` random bytes from the kernel, as 2 * bytes lower-case hexadecimal digits; NUL-terminated. */
	struct assay_str (*nonce)(struct assay_scope *scope, size_t bytes);

	/* Expands ${name} in `text` from pairs of names and values; an unknown name is an error. */
	int (*substitute)(struct assay_scope *scope, struct assay_str text, const struct assay_str (*pairs)[2],
	                  size_t count, struct assay_str *ret, struct assay_error *err);
	/*
	 * Finds code in a completion of a chat model. `language` is a canonical language name ("python") and prefers
	 * blocks so tagged; empty takes the first block of any language.
	 */
	int (*extract)(struct assay_scope *scope, struct assay_str completion, struct assay_str language,
	               struct assay_extraction *ret, struct assay_error *err);
	/*
	 * Compares a program's output with the expected one. *ret_equal is 1 or 0; when 0, *ret_difference says in
	 * one line where they part (lives in the scope).
	 */
	int (*compare)(struct assay_scope *scope, const struct assay_comparison *how, struct assay_str actual,
	               struct assay_str expected, int *ret_equal, struct assay_str *ret_difference,
	               struct assay_error *err);
};

/* What a module is; static and constant. */
struct assay_plugin {
	uint32_t magic; /* ASSAY_PLUGIN_MAGIC */
	uint32_t size;
	uint16_t abi_major;
	uint16_t abi_minor;
	uint32_t kind;    /* enum assay_kind */
	const char *name; /* equals the module's file name without its ending; a C identifier */
	const char *version;
	const void *ops; /* struct assay_<kind>_ops of the kind */
};

typedef const struct assay_plugin *(*assay_plugin_fn)(void);

/* libltdl looks for <module>_LTX_<symbol> first, so modules can also be linked into one static program. */
#define ASSAY_PLUGIN(module, kind_, version_, ops_)                                                                    \
	ASSAY_EXPORT const struct assay_plugin *module##_LTX_assay_plugin(void);                                       \
	const struct assay_plugin *module##_LTX_assay_plugin(void)                                                     \
	{                                                                                                              \
		static const struct assay_plugin plugin = {                                                            \
		    ASSAY_PLUGIN_MAGIC,                                                                                \
		    sizeof(struct assay_plugin),                                                                       \
		    ASSAY_ABI_MAJOR,                                                                                   \
		    ASSAY_ABI_MINOR,                                                                                   \
		    (kind_),                                                                                           \
		    #module,                                                                                           \
		    (version_),                                                                                        \
		    (ops_),                                                                                            \
		};                                                                                                     \
		return &plugin;                                                                                        \
	}                                                                                                              \
	typedef int assay_plugin_needs_a_semicolon_##module

#ifdef __cplusplus
}
#endif

#endif
