#!/bin/sh
# SPDX-License-Identifier: MIT
# Goal: the same types come out of every kind of file: DWARF 2, 4 and 5, of gcc and clang, 32 and 64
# bits, both byte orders, relocated, compressed, with type units, split; BTF raw, in ELF, in packed
# kernels.
# Method: the files in the corpora of the fuzzers were compiled from one source; what layout-dump
# prints of each is compared with what one of them is known to hold.
#
# usage: formats.sh LAYOUT-DUMP CORPUS-FOLDER
set -u
dump=$(realpath "$1")
corpus=$2
expected=$(cd "$(dirname "$0")" && pwd)/expected
bad=0
count=0

# same NAME FILE...: each prints expected/NAME.
same() {
    name=$1
    shift
    for file; do
        count=$((count + 1))
        if ! "$dump" "$corpus/$file" 2>&1 | diff "$expected/$name" - >/dev/null; then
            echo "$file: differs (< expected, > found):"
            "$dump" "$corpus/$file" 2>&1 | diff "$expected/$name" - | head -n 10
            bad=1
        fi
    done
}

cd "$corpus" || exit 1
dwarf=layout-dwarf
same wide $dwarf/gcc-2 $dwarf/gcc-4 $dwarf/gcc-5 $dwarf/clang-4 $dwarf/clang-5 $dwarf/dwarf64
same wide $dwarf/types-4 $dwarf/types-5 $dwarf/zlib $dwarf/zlib-gnu
same wide $dwarf/split-dwo $dwarf/split-dwo-4
same wide $dwarf/be-aarch64 $dwarf/be-powerpc64 $dwarf/be-riscv64 $dwarf/be-s390x
same narrow $dwarf/be-mips $dwarf/be-powerpc $dwarf/be-armv7
same i386 $dwarf/be-i386
same cpp $dwarf/cpp-5
same wide layout-btf/little layout-btf/big layout-btf/encoded
same wide layout-image/gzip layout-image/xz layout-image/zstd layout-image/lz4
same wide layout-image/bzimage-gzip layout-image/bzimage-xz layout-image/bzimage-zstd
same wide layout-image/bzimage-lz4 layout-image/zboot layout-image/plain-btf layout-image/nested
echo "$count files compared"
exit $bad
