# SPDX-License-Identifier: MIT
# A thin front for Meson: every target is one script of scripts/, which says more in its head.

PREFIX ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
export JOBS

.PHONY: all deps demo check check-quick check-san check-long check-traces fidelity coverage bench reproduce \
	install clean help

all:
	@scripts/deps --check
	@scripts/build build

deps:
	@scripts/deps

demo:
	@scripts/deps --lenient
	@scripts/demo

check:
	@scripts/deps --lenient
	@scripts/check

check-quick:
	@scripts/deps --check
	@scripts/check quick

check-san:
	@scripts/deps --lenient
	@scripts/check san

check-long:
	@scripts/deps --lenient
	@scripts/check long

check-traces:
	@scripts/deps --check
	@scripts/check traces

# Not part of check: needs the recordings of ../shared, takes minutes on a slow machine.
fidelity:
	@scripts/deps --check
	@scripts/build build
	@build/tests/fidelity/fidelity $(FIDELITY)

coverage:
	@scripts/deps --lenient
	@scripts/coverage

bench:
	@scripts/deps --check
	@scripts/build build
	@scripts/bench

# Writes the tables of docs/reproduction.md anew; some minutes on two CPUs.
reproduce:
	@scripts/deps --check
	@scripts/build build
	@scripts/reproduce

install:
	@scripts/deps --check
	@scripts/build build $(if $(PREFIX),-Dprefix=$(PREFIX))
	@meson install -C build --no-rebuild

clean:
	rm -rf build build-* demo-out

help:
	@echo 'make              build everything that the installed packages allow, in build/'
	@echo 'make deps         install missing packages (Debian, Ubuntu), or print the command'
	@echo 'make demo         replay the sample under several kernels and policies, draw the curves'
	@echo 'make check        all tests, gcc and clang, style and layers: under 5 minutes'
	@echo 'make check-quick  one compiler and the short tests: under 1 minute'
	@echo 'make check-san    the tests under ASan, UBSan and TSan'
	@echo 'make check-long   long tests, fuzzing'
	@echo 'make check-traces miss ratios of the public traces of ../shared'
	@echo 'make fidelity     compare with recordings of real kernels; FIDELITY="--only 7.3/pread"'
	@echo 'make coverage     line coverage of src/reclaim and src/memcg, at least 90 %'
	@echo 'make bench        benchmarks'
	@echo 'make reproduce    the five documents again: docs/reproduction.md'
	@echo 'make install      install below PREFIX (default: /usr/local); DESTDIR is honoured'
	@echo 'make clean        remove what the targets above made'
