/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 over a sequence of fields, each hashed with its length first, so that no two sequences hash alike. Nettle. */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include "base/buffer.h"
#include <nettle/sha2.h>

struct digest {
	struct sha256_ctx context;
};

#define DIGEST_HEX_SIZE 65 /* with the final NUL */

void digest_init(struct digest *digest);
void digest_field(struct digest *digest, struct assay_str bytes);
/* Ends the digest; text is NUL-terminated. */
void digest_hex(struct digest *digest, char text[DIGEST_HEX_SIZE]);

/* Base64 with padding, RFC 4648 section 4, appended. */
void base64_append(struct buffer *out, struct assay_str bytes);
/* Random bytes from the kernel. */
void random_bytes(void *bytes, size_t len);
/* Lower-case hexadecimal, appended. */
void hex_append(struct buffer *out, const void *bytes, size_t len);

#endif
