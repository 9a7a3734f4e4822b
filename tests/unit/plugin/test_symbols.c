/* SPDX-License-Identifier: Apache-2.0 */
/* The symbol table's reader: right about real modules, and calm about files that lie. */
#include "support.h"
#include "plugin/symbols.h"
#include <elf.h>

static int check_broken(struct folder *folder, const char *name, struct assay_error *err)
{
	const char *path = arena_printf(folder->arena, "tests/plugins-broken/languages/%s/%s.so", name, name).ptr;
	return symbols_check(build_path(folder->arena, path), name, err);
}

static void test_modules(void **state)
{
	struct folder *folder = *state;
	struct assay_error err = {0};
	assert_int_equal(check_broken(folder, "sound", &err), 0);
	const char *command = build_path(folder->arena, "lib/assay/plugins/languages/command/command.so");
	assert_int_equal(symbols_check(command, "command", &err), 0);
	assert_int_equal(check_broken(folder, "two_symbols", &err), ASSAY_INVALID);
	assert_holds(err.message, "a_second_symbol");
	assert_int_equal(check_broken(folder, "no_symbol", &err), ASSAY_INVALID);
	assert_holds(err.message, "no_symbol_LTX_assay_plugin");
	assert_int_equal(symbols_check(command, "other", &err), ASSAY_INVALID);
	assert_holds(err.message, "command_LTX_assay_plugin");
	assert_int_not_equal(symbols_check(folder_path(folder, "absent.so"), "absent", &err), 0);
}

static void test_files_that_are_no_elf(void **state)
{
	static const struct assay_str files[] = {
	    {"", 0},
	    {"\177ELF", 4},
	    {"plain text, and rather more of it than an ELF header would take up in a file", 77}};
	struct folder *folder = *state;
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		struct assay_error err = {0};
		const char *path = folder_write(folder, "file.so", files[i]);
		assert_int_equal(symbols_check(path, "file", &err), ASSAY_INVALID);
		assert_holds(err.message, "no 64-bit ELF file");
	}
}

/* Every header field set to values that point astray, and every cut: an answer, and no read outside (ASan watches). */
static void test_damaged_files(void **state)
{
	static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	struct folder *folder = *state;
	auto_buffer struct buffer file = {0};
	const char *sound = build_path(folder->arena, "tests/plugins-broken/languages/sound/sound.so");
	assert_int_equal(file_read(sound, 16 << 20, &file, NULL), 0);
	Elf64_Ehdr head;
	memcpy(&head, file.data, sizeof(head));
	const size_t places[][2] = {{0, sizeof(head)},
	                            {head.e_shoff, head.e_shoff + (size_t)head.e_shnum * sizeof(Elf64_Shdr)}};
	for (size_t p = 0; p < COUNT_OF(places); p++) {
		for (size_t at = places[p][0]; at < places[p][1]; at++) {
			char before = file.data[at];
			file.data[at] = (char)values[at % sizeof(values)];
			symbols_check(folder_write(folder, "sound.so", buffer_str(&file)), "sound", NULL);
			file.data[at] = before;
		}
	}
	for (size_t len = 0; len < head.e_shoff; len += 1 + file.len / 200) {
		const char *path = folder_write(folder, "sound.so", (struct assay_str){file.data, len});
		assert_int_equal(symbols_check(path, "sound", NULL), ASSAY_INVALID);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    test_in_folder(test_modules),
	    test_in_folder(test_files_that_are_no_elf),
	    test_in_folder(test_damaged_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
