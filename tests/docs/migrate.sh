#!/usr/bin/env bash
# migrate.sh PHOTOS SOURCE - runs the pages of docs/migrate/ whose peers are large, each with its own environment. A page
# of which something was skipped does not fail; nothing passes if all were skipped.
set -euo pipefail
photos=$1 source=$2
status=77
for pair in mxnet:mxnet tfdata:tensorflow dali:dali ffcv:ffcv; do
    result=0
    "$(dirname "$0")/page.sh" "$photos" "$source/docs/migrate/${pair%:*}.md" "$source/build/venv_${pair#*:}/bin/python" || result=$?
    echo "docs/migrate/${pair%:*}.md: $result"
    case $result in
    0) status=0 ;;
    77) ;;
    *) exit "$result" ;;
    esac
done
exit $status
