/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "base/buffer.h"
#include "judge/extract.h"

static void check(const char *text, const char *language, const char *type, const char *code)
{
	auto_arena struct arena *arena = arena_new();
	struct assay_extraction found = extract_code(arena, str_of(text), str_of(language));
	assert_string_equal(found.type, type);
	assert_int_equal(found.code.len, strlen(code));
	if (found.code.len)
		assert_memory_equal(found.code.ptr, code, found.code.len);
}

static void test_fences(void **state)
{
	(void)state;
	check("Hi\n```python\nx = 1\n```\nbye", "python", "fenced", "x = 1\n");
	check("```\nx\n```", "python", "fenced", "x\n");
	check("```py\r\nx\r\ny\r\n```\r\n", "python", "fenced", "x\ny\n");
	check("~~~python\nx\n~~~\n", "python", "fenced", "x\n");
	check("- here:\n  ```python\n  if x:\n      y\n  ```\n", "python", "fenced", "if x:\n    y\n");
	check("```bash\nls\n```\n```python\nx\n```\n", "python", "fenced", "x\n");
	check("```bash\nls\n```\n```text\ny\n```\n", "python", "fenced", "ls\n"); /* none is Python: the first */
	check("```python\na\n```\n```python\nb\n```\n", "python", "fenced", "a\n");
	check("````python\ns = '''\n```\n'''\n````\n", "python", "fenced", "s = '''\n```\n'''\n");
	check("```python\nx = 1", "python", "incomplete_fenced", "x = 1\n");
	check("```cpp\nint a;\n```\n```python\nx = 1", "python", "fenced", "int a;\n"); /* complete before unfinished */
	check("```{.python}\nx\n```", "python", "fenced", "x\n");
	check("```C++\nx\n```", "cpp", "fenced", "x\n");
	check("```python\n\n```", "python", "empty", "");
	check("```", "python", "empty", "");
	check("a `b` ```c``` d", "python", "empty", "");
}

/* A closing fence stands where its opening one does: what lies four columns further in is the code's own. */
static void test_fences_within_code(void **state)
{
	(void)state;
	check("```python\ndef f():\n    '''\n    ```\n    f()\n    ```\n    '''\n    return 1\n```\n", "python",
	      "fenced", "def f():\n    '''\n    ```\n    f()\n    ```\n    '''\n    return 1\n");
	check("```python\nx\n   ```\nbye", "python", "fenced", "x\n");
	check("```python\ns = '''\n\t```\n'''\n```", "python", "fenced", "s = '''\n\t```\n'''\n");
	check("\t```python\n\tif x:\n\t\ty\n\t```", "python", "fenced", "if x:\n\ty\n");
	check("    ```python\n\tx\n    ```", "python", "fenced", "x\n"); /* a tab is as wide as four blanks */
	check("```python\n~~~\n```", "python", "fenced", "~~~\n");
	check("~~~~\n~~~\n~~~~", "", "fenced", "~~~\n");
}

static void test_fences_behind_words(void **state)
{
	(void)state;
	check("Sure: ```cpp\nint a;\n```\nbye", "cpp", "fenced", "int a;\n");
	check("Sure: ```python\nx = 1", "python", "incomplete_fenced", "x = 1\n");
	check("Sure: ```brainfuck\n+\n", "cpp", "empty", ""); /* not a tag that is known: it may be prose */
	check("I use ```python\nas you asked.\n```python\nx\n```", "python", "fenced", "x\n");
	check("Two backticks ``python\nx\n", "cpp", "empty", "");
}

/* Languages of plugins from elsewhere have no line in the table, and need none. */
static void test_languages(void **state)
{
	(void)state;
	check("```sh\nls\n```\n```awk\n{ print }\n```", "awk", "fenced", "{ print }\n");
	check("```sh\nls\n```\n```Awk\n{ print }\n```", "awk", "fenced", "{ print }\n");
	check("```sh\nls\n```\n```python\nx\n```", "pytest", "fenced", "x\n");
	check("```sh\nls\n```\n```js\nx\n```", "nodejs", "fenced", "x\n");
	check("```sh\nls\n```\n```r\nx\n```", "R", "fenced", "x\n");
	check("```\nx\n```\n```zig\ny\n```", "awk", "fenced", "x\n"); /* unknown is not equal to unknown */
	check("def f():\n  pass", "pytest", "heuristic", "def f():\n  pass\n");
}

static void test_thinking(void **state)
{
	(void)state;
	check("<think>```python\ndraft\n```</think>\n```python\nfinal\n```", "python", "fenced", "final\n");
	check("<think>\n```python\ndraft\n```\n", "python", "empty", "");
	check("x</think>y</think>```\nz\n```", "", "fenced", "z\n");
}

static void test_no_fence(void **state)
{
	(void)state;
	check("Sure!\nimport os\n\ndef f():\n    return 1\n\nThat is it.", "python", "heuristic",
	      "import os\n\ndef f():\n    return 1\n");
	check("just words", "python", "empty", "");
	check("import is a word here", "python", "empty", "");
	check("def f():\n  pass", "cpp", "empty", "");
	check("", "", "empty", "");
	check("import os is what I need.\nSo:\ndef f():\n    return 1\n", "python", "heuristic",
	      "def f():\n    return 1\n");
	check("from here on:\ndef f():\n    return 1\n", "python", "heuristic", "def f():\n    return 1\n");
	check("import os\nThat would do, but:\nimport re\ndef f(): pass\nBye.\ndef g(): pass", "python", "heuristic",
	      "import re\ndef f(): pass\n");
	check("import os\n", "python", "empty", "");
	check("class of problems", "python", "empty", "");
	check("@cache\r\nasync def f(\r\n    x\r\n):\r\n    pass\r\n", "python", "heuristic",
	      "@cache\nasync def f(\n    x\n):\n    pass\n");
	check("import a, b\nimport c as d\nimport e  # note\nfrom f import *\nclass G: pass", "python", "heuristic",
	      "import a, b\nimport c as d\nimport e  # note\nfrom f import *\nclass G: pass\n");
}

static void test_tags(void **state)
{
	(void)state;
	assert_str(extract_tag_language(STR("py")), "python");
	assert_str(extract_tag_language(STR(" Python3 title=x")), "python");
	assert_str(extract_tag_language(STR("R")), "R");
	assert_str(extract_tag_language(STR("c#")), "csharp");
	assert_str(extract_tag_language(STR("brainfuck")), "");
	assert_str(extract_tag_language(STR("")), "");
	assert_str(extract_tag_language(STR("py\0")), "");
	assert_str(extract_tag_language(STR("pytho")), "");
	assert_str(extract_tag_language(STR("{}")), "");
}

/* Ten times the length takes about ten times the work; a quadratic search would not end within the test's limit. */
static void test_hostile_lengths(void **state)
{
	(void)state;
	static const char *const units[] = {
	    "```\n",      "`",   "~~~",           "</think>", "<think>", "```python\n```\n",
	    "def f():\n", " \n", "import a\nx\n", "a ```c\n", "\t"};
	for (size_t i = 0; i < COUNT_OF(units); i++) {
		auto_arena struct arena *arena = arena_new();
		auto_buffer struct buffer text = {0};
		while (text.len < 4000000)
			buffer_append_str(&text, str_of(units[i]));
		extract_code(arena, buffer_str(&text), STR("python"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_fences),
	    cmocka_unit_test(test_fences_within_code),
	    cmocka_unit_test(test_fences_behind_words),
	    cmocka_unit_test(test_languages),
	    cmocka_unit_test(test_thinking),
	    cmocka_unit_test(test_no_fence),
	    cmocka_unit_test(test_tags),
	    cmocka_unit_test(test_hostile_lengths),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
