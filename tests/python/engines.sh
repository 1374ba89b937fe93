#!/usr/bin/env bash
# engines.sh VENV PYTHON - the tests of imrec.distributed with Ray, Spark and Dask, which pip installs into VENV (1.3 GB);
# skipped where they cannot be had. Spark needs java: tests without it are skipped.
set -euo pipefail
venv=$1
complete() { [ -x "$venv/bin/python" ] && "$venv/bin/python" -c 'import cffi, distributed, numpy, pyspark, pytest, ray.data, tqdm' 2>/dev/null; }
if ! complete; then
    "$2" -m venv --clear "$venv"
    if ! "$venv/bin/pip" --disable-pip-version-check -q install cffi numpy pytest tqdm distributed pyspark 'ray[data]' || ! complete; then
        echo "skipped: pip cannot install ray, pyspark and distributed into $venv"
        exit 77
    fi
fi
here=$(dirname "$0")
exec "$venv/bin/python" -m pytest -q -p no:cacheprovider -rs "$here/test_engines.py" "$here/test_engine_rows.py"
