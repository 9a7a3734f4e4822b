/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spawn sheet: a fixed head, then argv and env as NUL-terminated strings. A memfd rather than the message itself,
 * for a socket message is bounded by the send buffer and a command line by nothing smaller than ARG_MAX.
 */
#include "exec/wire.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/files.h"
#include <sys/mman.h>
#include <sys/stat.h>

struct sheet_head {
	struct limits limits;
	uint32_t uid, gid;
	uint32_t has_identity;
	uint32_t argc, envc;
};

/* Returns how many they are. */
static uint32_t strings_append(struct buffer *out, const char *const *strings)
{
	uint32_t count = 0;
	for (; strings && strings[count]; count++)
		buffer_append(out, strings[count], strlen(strings[count]) + 1);
	return count;
}

int sheet_write(const struct limits *limits, bool has_identity, uid_t uid, gid_t gid, const char *const *argv,
                const char *const *env, struct assay_error *err)
{
	struct sheet_head head;
	memset(&head, 0, sizeof(head));
	head.limits = *limits;
	head.uid = uid;
	head.gid = gid;
	head.has_identity = has_identity;

	auto_buffer struct buffer text = {0};
	buffer_append(&text, &head, sizeof(head));
	head.argc = strings_append(&text, argv);
	head.envc = strings_append(&text, env);
	memcpy(text.data, &head, sizeof(head));

	auto_close int fd = memfd_create("assay-sheet", MFD_CLOEXEC);
	if (fd < 0)
		return error_set(err, ASSAY_SYSTEM, errno, "cannot make a memfd");
	if (file_write_all(fd, buffer_str(&text)))
		return error_set(err, ASSAY_SYSTEM, errno, "cannot write the command to a memfd");
	return steal_fd(&fd);
}

/* Points `list` at `count` strings from *text on; false when they do not fit before `end`. */
static bool strings_take(char **list, uint32_t count, char **text, const char *end)
{
	for (uint32_t i = 0; i < count; i++) {
		size_t room = (size_t)(end - *text);
		char *nul = memchr(*text, 0, room);
		if (!nul)
			return false;
		list[i] = *text;
		*text = nul + 1;
	}
	list[count] = NULL;
	return true;
}

int sheet_read(int fd, struct spawn_sheet *ret, struct assay_error *err)
{
	struct stat st;
	struct sheet_head head;
	if (fstat(fd, &st) || st.st_size < (off_t)sizeof(head) || pread(fd, &head, sizeof(head), 0) != sizeof(head))
		return error_set(err, ASSAY_INTERNAL, errno, "the spawn sheet is cut short");
	size_t len = (size_t)st.st_size - sizeof(head);
	if (head.argc == 0 || head.argc > len || head.envc > len)
		return error_set(err, ASSAY_INTERNAL, 0, "the spawn sheet has %u arguments", head.argc);

	size_t pointers = ((size_t)head.argc + head.envc + 2) * sizeof(char *);
	auto_free char **block = xmalloc(pointers + len);
	char *text = (char *)block + pointers;
	for (size_t done = 0; done < len;) {
		ssize_t n = pread(fd, text + done, len - done, (off_t)(sizeof(head) + done));
		if (n <= 0)
			return error_set(err, ASSAY_INTERNAL, n < 0 ? errno : 0, "the spawn sheet is cut short");
		done += (size_t)n;
	}
	const char *end = text + len;
	if (!strings_take(block, head.argc, &text, end) || !strings_take(block + head.argc + 1, head.envc, &text, end))
		return error_set(err, ASSAY_INTERNAL, 0, "the spawn sheet lacks strings");

	ret->limits = head.limits;
	ret->has_identity = head.has_identity;
	ret->uid = head.uid;
	ret->gid = head.gid;
	ret->argv = block;
	ret->env = block + head.argc + 1;
	block = NULL;
	return 0;
}
