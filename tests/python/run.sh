#!/usr/bin/env bash
# run.sh PYTHON - runs the tests of the Python package; skipped where PYTHON lacks what they need.
if ! "$1" -c 'import pytest, numpy' >/dev/null 2>&1; then
    echo "skipped: $1 has no pytest or no numpy: tools/install_dependencies python"
    exit 77
fi
tests=$(dirname "$0")
# A sanitizer looks at the library that Python loads: not at programs that a test starts, at pages, or at examples.
apart=()
if [[ ${LD_PRELOAD:-} == *libasan* ]]; then
    for name in programs view_serve hostile_names examples readme top engines engine_rows distributed distributed_rows show torch_job; do
        apart+=("--ignore=$tests/test_$name.py")
    done
fi
# A test that hangs says where, and ends the run.
exec "$1" -m pytest -q -p no:cacheprovider -o faulthandler_timeout=400 -o faulthandler_exit_on_timeout=true \
    ${apart[@]+"${apart[@]}"} "$tests"
