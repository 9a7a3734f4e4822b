/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"
#include "base/arena.h"
#include <nettle/base64.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>

void digest_init(struct digest *digest)
{
	sha256_init(&digest->context);
}

void digest_field(struct digest *digest, struct assay_str bytes)
{
	uint64_t len = bytes.len;
	sha256_update(&digest->context, sizeof(len), (const uint8_t *)&len);
	sha256_update(&digest->context, bytes.len, (const uint8_t *)(bytes.ptr ? bytes.ptr : ""));
}

static void to_hex(char *text, const uint8_t *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < len; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	text[2 * len] = 0;
}

void digest_hex(struct digest *digest, char text[DIGEST_HEX_SIZE])
{
	uint8_t value[SHA256_DIGEST_SIZE];
	sha256_digest(&digest->context, sizeof(value), value);
	to_hex(text, value, sizeof(value));
}

void base64_append(struct buffer *out, struct assay_str bytes)
{
	char *end = buffer_reserve(out, BASE64_ENCODE_RAW_LENGTH(bytes.len));
	base64_encode_raw(end, bytes.len, (const uint8_t *)(bytes.ptr ? bytes.ptr : ""));
	out->len += BASE64_ENCODE_RAW_LENGTH(bytes.len);
	out->data[out->len] = 0;
}

void random_bytes(void *bytes, size_t len)
{
	for (char *at = bytes; len > 0;) {
		ssize_t n = getrandom(at, len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) { /* cannot happen on a kernel that runs us, and there is no safe way on */
			perror("assay: getrandom");
			abort();
		}
		at += n;
		len -= (size_t)n;
	}
}

void hex_append(struct buffer *out, const void *bytes, size_t len)
{
	to_hex(buffer_reserve(out, 2 * len), bytes, len);
	out->len += 2 * len;
}
