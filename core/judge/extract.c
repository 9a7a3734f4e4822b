/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over the lines finds all fences; which block is the answer is chosen afterwards. No regular expressions, so
 * a hostile completion costs no more than its length.
 */
#include "judge/extract.h"
#include "base/buffer.h"
#include "base/str.h"
#include <ctype.h>
#include <strings.h>

/* Tags that models write, and the language they mean. */
static const struct {
	const char *language;
	const char *tags; /* lower case, blank-separated */
} tag_table[] = {
    {"python", "python py python3 py3 ipython pytest"},
    {"cpp", "cpp c++ cxx cc"},
    {"c", "c h"},
    {"nodejs", "nodejs node javascript js"},
    {"typescript", "typescript ts"},
    {"go", "go golang"},
    {"java", "java"},
    {"php", "php"},
    {"csharp", "csharp c# cs"},
    {"bash", "bash sh shell zsh"},
    {"rust", "rust rs"},
    {"sql", "sql sqlite"},
    {"d", "d dlang"},
    {"julia", "julia jl"},
    {"lua", "lua"},
    {"perl", "perl pl"},
    {"R", "r"},
    {"ruby", "ruby rb"},
    {"scala", "scala"},
    {"kotlin", "kotlin kt"},
    {"swift", "swift"},
    {"racket", "racket rkt"},
    {"verilog", "verilog systemverilog sv v"},
    {"lean", "lean lean4"},
    {"cuda", "cuda cu"},
    {"html", "html"},
};

/* strchr() also finds the NUL at the end of the set. */
static bool is_one_of(char c, const char *set)
{
	return c && strchr(set, c);
}

/* "python title=x", "{.python}", "python:main.py": the first word counts. */
static struct assay_str tag_word(struct assay_str tag)
{
	tag = str_trim(tag);
	while (tag.len > 0 && (tag.ptr[0] == '{' || tag.ptr[0] == '.'))
		tag = str_slice(tag, 1, tag.len);
	size_t len = 0;
	while (len < tag.len && !isspace((unsigned char)tag.ptr[len]) && !is_one_of(tag.ptr[len], "{}:,"))
		len++;
	return str_slice(tag, 0, len);
}

static bool equal_without_case(struct assay_str a, struct assay_str b)
{
	return a.len == b.len && (a.len == 0 || strncasecmp(a.ptr, b.ptr, a.len) == 0);
}

struct assay_str extract_tag_language(struct assay_str tag)
{
	struct assay_str word, wanted = tag_word(tag);
	for (size_t i = 0; i < COUNT_OF(tag_table); i++)
		for (struct assay_str rest = str_of(tag_table[i].tags); str_next_word(&rest, &word);)
			if (equal_without_case(word, wanted))
				return str_of(tag_table[i].language);
	return STR("");
}

/* A language that the table does not know, of a plugin from elsewhere, is tagged with its own name. */
static bool is_tagged(struct assay_str info, struct assay_str language)
{
	struct assay_str canonical = extract_tag_language(language);
	return language.len > 0 && (equal_without_case(tag_word(info), language) ||
	                            (canonical.len > 0 && str_equal(extract_tag_language(info), canonical)));
}

/* What follows the last "</think>": reasoning before the answer holds drafts. An open one has no answer after it. */
static struct assay_str skip_thinking(struct assay_str text)
{
	for (;;) {
		ptrdiff_t end = str_find(text, STR("</think>"));
		if (end < 0)
			break;
		text = str_slice(text, (size_t)end + 8, text.len);
	}
	return str_starts_with(str_trim(text), STR("<think>")) ? STR("") : text;
}

struct fence {
	char mark; /* '`' or '~' */
	size_t length;
	size_t indent;  /* columns; a tab ends at a multiple of four */
	bool is_inline; /* text stands before it */
	struct assay_str info;
};

/* CommonMark 0.30, section 4.5, but with any indentation: models put fences into lists. */
static bool read_fence(struct assay_str line, struct fence *ret)
{
	size_t begin = 0, indent = 0;
	for (; begin < line.len && (line.ptr[begin] == ' ' || line.ptr[begin] == '\t'); begin++)
		indent = line.ptr[begin] == '\t' ? (indent / 4 + 1) * 4 : indent + 1;
	if (begin == line.len || (line.ptr[begin] != '`' && line.ptr[begin] != '~'))
		return false;
	size_t end = begin;
	while (end < line.len && line.ptr[end] == line.ptr[begin])
		end++;
	struct assay_str info = str_trim(str_slice(line, end, line.len));
	if (end - begin < 3 || (line.ptr[begin] == '`' && memchr(info.ptr ? info.ptr : "", '`', info.len)))
		return false;
	*ret = (struct fence){.mark = line.ptr[begin], .length = end - begin, .indent = indent, .info = info};
	return true;
}

/* Four columns further in is text, as in CommonMark: the docstring of a function in the block may hold a fence. */
static bool closes(const struct fence *open, const struct fence *fence)
{
	return fence->mark == open->mark && fence->length >= open->length && fence->info.len == 0 &&
	       fence->indent < open->indent + 4;
}

/* "Here it is: ```python": no fence for CommonMark, but models write it. The tag must be that of a known language. */
static bool read_inline_fence(struct assay_str line, struct fence *ret)
{
	const char *last = line.len ? memrchr(line.ptr, '`', line.len) : NULL;
	size_t end = last ? (size_t)(last - line.ptr) + 1 : 0, begin = end;
	while (begin > 0 && line.ptr[begin - 1] == '`')
		begin--;
	*ret = (struct fence){
	    .mark = '`', .length = end - begin, .is_inline = true, .info = str_trim(str_slice(line, end, line.len))};
	return end - begin >= 3 && extract_tag_language(ret->info).len > 0;
}

/* A block that is open: where it begins, and what it is. */
struct block {
	struct fence fence;
	size_t begin, end;
	bool is_complete;
};

/* True when `block` is a better answer than `best`: complete before unfinished, the wanted language before others. */
static bool is_better(const struct block *block, const struct block *best, struct assay_str language)
{
	if (best->begin == 0)
		return true;
	if (block->is_complete != best->is_complete)
		return block->is_complete;
	return is_tagged(block->fence.info, language) && !is_tagged(best->fence.info, language);
}

/* The best block; begin is 0 when there is none (a block's text never begins at 0). */
static struct block find_block(struct assay_str text, struct assay_str language)
{
	struct block best = {0}, block = {0};
	bool is_open = false;
	size_t at = 0;
	struct assay_str rest = text, line;
	while (str_cut(&rest, '\n', &line)) {
		size_t line_begin = at;
		struct fence fence;
		at += line.len + 1;
		if (!read_fence(line, &fence) && (is_open || !read_inline_fence(line, &fence)))
			continue;
		/* A tagged fence after one that words stand before: those words only spoke of fences. */
		if (!is_open || (block.fence.is_inline && fence.info.len > 0)) {
			block = (struct block){.fence = fence, .begin = at};
			is_open = true;
		} else if (closes(&block.fence, &fence)) {
			block.end = line_begin;
			block.is_complete = true;
			is_open = false;
			if (is_better(&block, &best, language))
				best = block;
		}
	}
	if (is_open && block.begin <= text.len) {
		block.end = text.len;
		block.is_complete = false;
		if (is_better(&block, &best, language))
			best = block;
	}
	return best;
}

/* The block's lines without the fence's indentation and without carriage returns at their ends. */
static struct assay_str block_code(struct arena *arena, struct assay_str text, const struct block *block)
{
	auto_buffer struct buffer code = {0};
	struct assay_str rest = str_slice(text, block->begin, block->end), line;
	while (str_cut(&rest, '\n', &line)) {
		size_t strip = 0;
		for (size_t column = 0; column < block->fence.indent && strip < line.len &&
		                        (line.ptr[strip] == ' ' || line.ptr[strip] == '\t');
		     strip++)
			column = line.ptr[strip] == '\t' ? (column / 4 + 1) * 4 : column + 1;
		line = str_slice(line, strip, line.len);
		if (str_ends_with(line, STR("\r")))
			line.len--;
		buffer_append_str(&code, line);
		buffer_append_char(&code, '\n');
	}
	return arena_copy(arena, buffer_str(&code));
}

/* "import a", "import a, b", "import a as b", "from a import b"; not "from here on" or "import is a statement". */
static bool is_import(struct assay_str line)
{
	struct assay_str keyword, name, word;
	if (!str_next_word(&line, &keyword) || !str_next_word(&line, &name))
		return false;
	bool has_more = str_next_word(&line, &word);
	if (str_is(keyword, "from"))
		return has_more && str_is(word, "import");
	return str_is(keyword, "import") &&
	       (!has_more || str_is(word, "as") || word.ptr[0] == '#' || str_ends_with(name, STR(",")));
}

static bool is_definition(struct assay_str line)
{
	static const char *const words[] = {"def ", "class ", "async def "};
	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (str_starts_with(line, str_of(words[i])))
			return str_find(line, STR("(")) >= 0 || str_find(line, STR(":")) >= 0;
	return false;
}

/*
 * Python without a fence: from the first line that can only be code, on through everything indented, blank, or itself a
 * beginning, up to prose. Imports alone are no answer.
 */
static struct assay_str find_python(struct arena *arena, struct assay_str text)
{
	auto_buffer struct buffer code = {0};
	struct assay_str rest = text, line;
	size_t kept = 0;
	bool has_definition = false;
	while (str_cut(&rest, '\n', &line)) {
		if (str_ends_with(line, STR("\r")))
			line.len--;
		bool is_blank = str_trim(line).len == 0;
		bool begins = !is_blank && line.ptr[0] != ' ' && line.ptr[0] != '\t' &&
		              (is_definition(line) || is_import(line) || line.ptr[0] == '@');
		if (!begins && (code.len == 0 || (!is_blank && !is_one_of(line.ptr[0], " \t#)]}")))) {
			if (has_definition)
				break;
			buffer_clear(&code);
			continue;
		}
		has_definition = has_definition || is_definition(line);
		buffer_append_str(&code, line);
		buffer_append_char(&code, '\n');
		if (!is_blank)
			kept = code.len;
	}
	return has_definition ? arena_copy(arena, (struct assay_str){code.data, kept}) : STR("");
}

struct assay_extraction extract_code(struct arena *arena, struct assay_str completion, struct assay_str language)
{
	struct assay_extraction result = {.size = sizeof(result), .type = "empty", .code = STR("")};
	struct assay_str text = skip_thinking(completion);
	struct block block = find_block(text, language);
	if (block.begin > 0) {
		result.code = block_code(arena, text, &block);
		result.type = block.is_complete ? "fenced" : "incomplete_fenced";
	} else if (language.len == 0 || str_is(extract_tag_language(language), "python")) {
		result.code = find_python(arena, text);
		result.type = result.code.len > 0 ? "heuristic" : "empty";
	}
	if (str_trim(result.code).len == 0) {
		result.code = STR("");
		result.type = "empty";
	}
	return result;
}
