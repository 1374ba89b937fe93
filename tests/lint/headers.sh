#!/usr/bin/env bash
# Each public header stands alone, in C11 and in C++, without a warning.
set -euo pipefail
bad=0
for header in include/imrec/*.h; do
    for language in 'cc -std=c11 -x c' 'c++ -std=c++11 -x c++'; do
        command -v "${language%% *}" >/dev/null || continue
        # shellcheck disable=SC2086
        printf '#include <imrec/%s>\nextern int something; /* C wants a declaration */\n' "${header##*/}" |
            $language -fsyntax-only -Wall -Wextra -Wpedantic -Werror -Iinclude - || bad=1
    done
done
exit $bad
