#!/usr/bin/env bash
# page.sh PHOTOS PAGE PYTHON... - runs what the page shows (run_page.py), with the first of these interpreters that is there.
# The exit status is 77 if a check of it was skipped; it prints what was.
set -euo pipefail
photos=$1 page=$2
shift 2
if grep -q pkg-config "$page"; then # an installed library
    prefix=$(mktemp -d)
    trap 'rm -rf "$prefix"' EXIT
    cmake --install "$IMREC_BUILD" --prefix "$prefix" >/dev/null
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name imrec.pc)")
    export PKG_CONFIG_PATH
fi
for python in "$@"; do
    if "$python" -c 'import imrec' 2>/dev/null; then
        status=0
        "$python" -W ignore "$(dirname "$0")/run_page.py" "$page" "$photos" || status=$?
        exit $status
    fi
done
echo "skipped: none of $* is there, or has imrec"
exit 77
