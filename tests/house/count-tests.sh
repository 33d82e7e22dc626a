#!/bin/sh
# SPDX-License-Identifier: MIT
# Goal: scripts/count-tests counts cases of cmocka programs, and programs of other kinds as one.
# usage: count-tests.sh SCRIPTS-FOLDER
set -u
log=$(mktemp) || exit 99
trap 'rm -f "$log"' EXIT
failures=0

# try EXPECTED: Meson's JSON log is standard input.
try() {
    cat >"$log"
    got=$("$1/count-tests" "$log" 2>/dev/null)
    [ "$got" = "$2" ] && return
    echo "expected '$2', got '$got' for: $(cat "$log")"
    failures=$((failures + 1))
}

try "$1" '2 0 0' <<'END'
{"name": "a", "stdout": "", "result": "OK", "returncode": 0}
{"name": "b", "result": "OK", "returncode": 0}
END
try "$1" '3 0 1' <<'END'
{"name": "a", "stdout": "[ OK ] x\n[  PASSED  ] 3 test(s).\n[  SKIPPED ] 1 test(s), listed below:\n[  SKIPPED ] y\n", "result": "OK"}
END
try "$1" '4 2 0' <<'END'
{"name": "a", "stdout": "[  PASSED  ] 4 test(s).\n", "stderr": "[  FAILED  ] 2 test(s), listed below:\n[  FAILED  ] y\n", "result": "FAIL"}
END
try "$1" '0 1 0' <<'END'
{"name": "crash", "stdout": "said \"result\": \"OK\" and died", "result": "ERROR"}
END
try "$1" '0 1 1' <<'END'
{"name": "slow", "result": "TIMEOUT"}
{"name": "absent", "result": "SKIP"}
END
exit $((failures > 0))
