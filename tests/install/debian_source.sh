#!/usr/bin/env bash
# debian_source.sh SOURCE FOLDER - tools/dev/debian_source with an apt-get of its own: the newest version whose files the
# mirror has, once; the machine's own lists, or a suite of its mirror; status 77 and a sentence where there is none.
set -euo pipefail
source=$1 folder=$2
fail() { echo "$@" && exit 1; }
rm -rf "$folder" && mkdir -p "$folder/bin"
tool() { cat >"$folder/bin/$1" && chmod +x "$folder/bin/$1"; }
tool apt-cache <<'TOOL'
#!/usr/bin/env bash
printf 'Version: %s\n' 1.9-1 1.10-1 1:1.2-3 1.10-1
TOOL
tool apt-get <<'TOOL'
#!/usr/bin/env bash
for last; do if [[ $last = Dir::Etc::sourcelist=* ]]; then cat "${last#*=}" >"$CALLS.list"; fi; done
echo "${last#*=}" >>"$CALLS"
[ "$last" = update ] || [ "${last#*=}" = "$MIRROR_HAS" ]
TOOL
tool dpkg-source <<'TOOL'
#!/usr/bin/env bash
mkdir "${@: -1}"
TOOL
PATH=$folder/bin:$PATH
export CALLS=$folder/calls

got() { # HAS WANTED CALLS [SUITE]: of a mirror that has version HAS, the folder WANTED after these calls of apt-get
    local folder_of
    rm -f "$CALLS"
    folder_of=$(MIRROR_HAS=$1 "$source/tools/dev/debian_source" "$folder/$2" name "${@:4}" 2>"$folder/said") || fail "$(cat "$folder/said")"
    [ "$folder_of" = "$folder/$2/name-${2#*-}" ] || fail "of $1: $folder_of"
    [ "$(paste -sd ' ' "$CALLS" 2>/dev/null || true)" = "$3" ] || fail "of $1, calls of apt-get: $(cat "$CALLS")"
}
got 1:1.2-3 a-1.2-3 'update 1:1.2-3'
got 1.9-1 b-1.9-1 'update 1:1.2-3 1.10-1 1.9-1' # a list that is ahead of the files
got 1.9-1 b-1.9-1 ''                            # kept
touch -d '3 days ago' "$folder/b-1.9-1/.apt/updated" && rmdir "$folder/b-1.9-1/name-1.9-1"
got 1.9-1 b-1.9-1 'update 1:1.2-3 1.10-1 1.9-1' # old lists are fetched again
if grep -qsE '^(URIs:|deb) .*https?:[^ ]*/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources; then
    got 1.10-1 c-1.10-1 'update 1:1.2-3 1.10-1' sid
    grep -qE '^deb-src \[signed-by=[^ ]*debian[^ ]*\] https?://[^ ]*/debian sid main$' "$CALLS.list" || fail "the list: $(cat "$CALLS.list")"
fi

status=0
MIRROR_HAS=none "$source/tools/dev/debian_source" "$folder/none" name >"$folder/out" 2>"$folder/said" || status=$?
[ "$status" = 77 ] || fail "without files: status $status"
[ ! -s "$folder/out" ] || fail "without files: $(cat "$folder/out")"
grep -q 'no source of name' "$folder/said" || fail "without files: $(cat "$folder/said")"
