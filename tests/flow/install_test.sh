#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An author's way: install, build the examples from the installed tree alone, check them, run them.
# usage: install_test.sh BUILD_DIR
set -eu
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
	echo "install_test: $*" >&2
	exit 1
}

# same WANTED COMMAND...: the command's output is that line.
same() {
	wanted=$1
	shift
	got=$("$@") || fail "'$*' exited with $?"
	[ "$got" = "$wanted" ] || fail "'$*' gave '$got', not '$wanted'"
}

cmake --install "$build" --prefix "$work/prefix" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "cmake --install"; }
unset ASSAY_PLUGIN_PATH ASSAY_CONF
assay=$work/prefix/bin/assay
# The installed tree may move: its .pc file is told where it lies.
config=$(find "$work/prefix" -name assay.pc)
[ -n "$config" ] || fail "no assay.pc was installed"
PKG_CONFIG_PATH=$(dirname "$config")
export PKG_CONFIG_PATH
export PKG_CONFIG="pkg-config --define-variable=prefix=$work/prefix"
[ "$($PKG_CONFIG --variable=abi_major assay)" = 1 ] || fail "assay.pc names no abi_major"
[ -d "$($PKG_CONFIG --variable=plugindir assay)/languages" ] || fail "assay.pc's plugindir holds no languages"

# The headers are C11 and C++, each on its own, without warnings.
for path in "$work"/prefix/include/assay/*.h; do
	header=$(basename "$path")
	echo "#include <assay/$header>" >"$work/one.c"
	# shellcheck disable=SC2046
	cc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only $($PKG_CONFIG --cflags assay) "$work/one.c" ||
		fail "$header is not C11"
	if command -v c++ >/dev/null; then
		# shellcheck disable=SC2046
		c++ -Wall -Wextra -Werror -fsyntax-only -x c++ $($PKG_CONFIG --cflags assay) "$work/one.c" ||
			fail "$header is not C++"
	fi
done

cp -R "$work/prefix/share/assay/examples" "$work/examples"
make -s -C "$work/examples/language-c-plugin" CFLAGS="-O2 -Wall -Wextra -Wpedantic -Werror" || fail "make"
for plugin in language-c-plugin/languages/arith language-yaml-plugin/languages/awk; do
	"$assay" check "$work/examples/$plugin" >"$work/log" || { cat "$work/log" >&2; fail "assay check $plugin"; }
done
for plugin in "$work"/prefix/lib/assay/plugins/*/*/plugin.yaml; do
	"$assay" check "$(dirname "$plugin")" >"$work/log" || { cat "$work/log" >&2; fail "assay check $plugin"; }
done

cd "$work"
echo '6 * (3 + 4)' >x.arith
same 42 "$assay" run --plugin-path examples/language-c-plugin --language arith x.arith
same 42 "$assay" run --plugin-path examples/language-c-plugin x.arith
same 42 env ASSAY_PLUGIN_PATH="$work/examples/language-yaml-plugin:$work/examples/language-c-plugin" "$assay" run x.arith
# shellcheck disable=SC2016
echo '{ total += $2 } END { print total }' >x.awk
printf 'a,1\nb,2\n' >input
same 3 "$assay" run --plugin-path examples/language-yaml-plugin --language awk --stdin input x.awk
echo 'print(40 + 2)' >x.py
same 42 "$assay" run --language python x.py
if "$assay" run --language arith x.arith >"$work/log" 2>&1; then
	fail "a language outside of every plugin path was found"
fi
echo "install_test: passed"
