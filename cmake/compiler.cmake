# SPDX-License-Identifier: Apache-2.0
# Warnings, hardening and sanitizers, the same for the program, the plugins and the tests.
add_library(assay_flags INTERFACE)
target_compile_definitions(assay_flags INTERFACE _GNU_SOURCE)
target_compile_options(assay_flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2
  -Wimplicit-fallthrough -Wpointer-arith -Wwrite-strings -Wundef
  $<$<BOOL:${ASSAY_WERROR}>:-Werror>)
if(ASSAY_FUZZ)
  target_compile_options(assay_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(ASSAY_SANITIZE)
  target_compile_options(assay_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(assay_flags INTERFACE -fsanitize=address,undefined)
else()
  target_compile_options(assay_flags INTERFACE
    $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2> -fstack-protector-strong -fstack-clash-protection)
endif()
target_link_options(assay_flags INTERFACE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
