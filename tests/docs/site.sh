#!/usr/bin/env bash
# site.sh SOURCE BUILD OUT - tools/docs_site makes a site of the documents without a fault, and the site is what it should be.
set -euo pipefail
"$1/tools/docs_site" "$3" "$2"
chromium=$(command -v chromium || true)
python3 "$1/tests/docs/check_site.py" "$3" ${chromium:+"$chromium"}
