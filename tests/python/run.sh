#!/usr/bin/env bash
# run.sh PYTHON - runs the tests of the Python package; skipped where PYTHON lacks what they need.
if ! "$1" -c 'import pytest, numpy' >/dev/null 2>&1; then
    echo "skipped: $1 has no pytest or no numpy: tools/install_dependencies python"
    exit 77
fi
# A test that hangs says where, and ends the run.
exec "$1" -m pytest -q -p no:cacheprovider -o faulthandler_timeout=400 -o faulthandler_exit_on_timeout=true "$(dirname "$0")"
