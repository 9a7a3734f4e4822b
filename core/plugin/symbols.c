/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/symbols.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/files.h"
#include <elf.h>
#include <limits.h>
#include <stdio.h>

#define MODULE_MAX ((size_t)64 << 20)

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_BYTE_ORDER ELFDATA2LSB
#else
#define OWN_BYTE_ORDER ELFDATA2MSB
#endif

/* A part of the file, or NULL when it does not lie within. */
static const void *part(const struct buffer *file, uint64_t offset, uint64_t size)
{
	return offset <= file->len && size <= file->len - offset ? file->data + offset : NULL;
}

/* A copy, for nothing says that a section header in a file lies where it may be read in place. */
static bool get_section(const struct buffer *file, const Elf64_Ehdr *head, size_t index, Elf64_Shdr *ret)
{
	if (index >= head->e_shnum || head->e_shoff > file->len)
		return false;
	const void *from = part(file, head->e_shoff + index * sizeof(*ret), sizeof(*ret));
	if (from)
		memcpy(ret, from, sizeof(*ret));
	return from;
}

static int check_symbol(const char *name, const char *wanted, int *count, struct assay_error *err)
{
	/* What linkers and sanitizers add to every object. */
	static const char *const usual[] = {"_init", "_fini", "_edata", "_end", "__bss_start"};
	for (size_t i = 0; i < COUNT_OF(usual); i++)
		if (!strcmp(name, usual[i]))
			return 0;
	if (!strncmp(name, "__asan", 6) || !strncmp(name, "__odr_asan", 10))
		return 0;
	if (strcmp(name, wanted))
		return error_set(err, ASSAY_INVALID, 0, "it also exports '%s'; build with -fvisibility=hidden", name);
	++*count;
	return 0;
}

static int check_table(const struct buffer *file, const Elf64_Shdr *table, const Elf64_Shdr *strings,
                       const char *wanted, struct assay_error *err)
{
	const char *symbols = part(file, table->sh_offset, table->sh_size);
	const char *names = part(file, strings->sh_offset, strings->sh_size);
	int count = 0;
	if (!symbols || !names || strings->sh_size == 0 || names[strings->sh_size - 1])
		return error_set(err, ASSAY_INVALID, 0, "its symbol table is damaged");
	for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;
		memcpy(&symbol, symbols + at, sizeof(symbol));
		bool is_exported = ELF64_ST_BIND(symbol.st_info) != STB_LOCAL && symbol.st_shndx != SHN_UNDEF &&
		                   symbol.st_name < strings->sh_size &&
		                   ELF64_ST_VISIBILITY(symbol.st_other) == STV_DEFAULT;
		int status = is_exported ? check_symbol(names + symbol.st_name, wanted, &count, err) : 0;
		if (status)
			return status;
	}
	return count == 1 ? 0 : error_set(err, ASSAY_INVALID, 0, "it does not export '%s'", wanted);
}

int symbols_check(const char *path, const char *module, struct assay_error *err)
{
	auto_buffer struct buffer file = {0};
	char wanted[NAME_MAX + sizeof("_LTX_assay_plugin")];
	snprintf(wanted, sizeof(wanted), "%s_LTX_assay_plugin", module);
	int status = file_read(path, MODULE_MAX, &file, err);
	if (status)
		return status;
	const Elf64_Ehdr *head = part(&file, 0, sizeof(*head));
	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_ident[EI_CLASS] != ELFCLASS64 ||
	    head->e_ident[EI_DATA] != OWN_BYTE_ORDER)
		return error_set(err, ASSAY_INVALID, 0, "'%s' is no 64-bit ELF file of this machine's byte order",
		                 path);
	for (size_t i = 0; i < head->e_shnum; i++) {
		Elf64_Shdr table, strings;
		if (get_section(&file, head, i, &table) && table.sh_type == SHT_DYNSYM &&
		    get_section(&file, head, table.sh_link, &strings))
			return check_table(&file, &table, &strings, wanted, err);
	}
	return error_set(err, ASSAY_INVALID, 0, "'%s' has no dynamic symbols", path);
}
