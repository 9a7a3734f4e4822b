/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code out of a chat model's completion. Fences are those of CommonMark (``` and ~~~, three or more, closed by a fence
 * at least as long), opened at any indentation, and also behind words when the tag is a known one ("Here: ```python");
 * everything in a <think>...</think> section before the answer is passed over. Words of the result's type are those of
 * SandboxFusion's `extracted_type`, and "raw" where nothing was to be extracted.
 */
#ifndef JUDGE_EXTRACT_H
#define JUDGE_EXTRACT_H

#include "base/arena.h"

/*
 * The first complete block tagged with `language` (aliases count), else the first complete block; failing that, an
 * unfinished fence to the end of the text ("incomplete_fenced"); failing that, for Python, lines that look like code
 * ("heuristic"); failing that "empty". `language` empty: the first block. The code is copied into the arena, "\r\n"
 * turned to "\n". Time is linear in the completion.
 */
struct assay_extraction extract_code(struct arena *arena, struct assay_str completion, struct assay_str language);
/* The canonical language of a fence's tag ("py" -> "python"), or the empty view. */
struct assay_str extract_tag_language(struct assay_str tag);

#endif
