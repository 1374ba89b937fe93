#!/usr/bin/env bash
# manuals.sh FOLDER - man finds nothing to warn about in the manual pages made from the tables.
set -euo pipefail
if ! command -v man >/dev/null || ! command -v troff >/dev/null; then
    echo "skipped: no man or troff"
    exit 77
fi
for page in "$1"/im2rec.1 "$1"/ctf2bin.1 "$1"/imrec.1; do
    warnings=$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=100 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
    [ -z "$warnings" ] || { echo "$page:" "$warnings" && exit 1; }
    man -l "$page" | grep -q '^EXIT STATUS' || { echo "$page: no EXIT STATUS" && exit 1; }
done
