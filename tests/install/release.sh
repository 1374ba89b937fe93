#!/usr/bin/env bash
# release.sh SOURCE FOLDER - what tools/dev/release does with what is built: refusals (no date, files that were not committed, a
# folder that exists), checksums and their signature, recipes with the checksum, the same bytes again. Wheels are empty files
# here: tests/long wheels builds real ones.
set -euo pipefail
source=$1 folder=$2
for command in git gpg; do
    command -v $command >/dev/null || { echo "skipped: no $command" && exit 77; }
done
git -C "$source" rev-parse --is-inside-work-tree >/dev/null 2>&1 || { echo "skipped: no repository" && exit 77; }
[ -x "$source/build/venv/bin/python" ] || { echo "skipped: no build/venv: tools/install_dependencies python" && exit 77; }
fail() { echo "$@" && exit 1; }
rm -rf "$folder" && mkdir -p "$folder/tree/build"
GNUPGHOME=$(mktemp -d "${TMPDIR:-/tmp}/imrec-gpg-XXXXXX") # short, as gpg's socket lies there
export GNUPGHOME
finish() {
    gpgconf --kill all
    rm -rf "$GNUPGHOME"
}
trap finish EXIT
gpg --batch --quiet --passphrase '' --quick-generate-key 'imrec test <test@example.org>' ed25519 sign never 2>"$folder/log"

cd "$source"
git ls-files -z | tar --null -T - --ignore-failed-read -cf - | tar -C "$folder/tree" -xf -
ln -s "$source/build/venv" "$folder/tree/build/venv"
cd "$folder/tree"
cat >tools/dev/build_wheel <<'WHEEL'
#!/usr/bin/env bash
set -euo pipefail
mkdir -p "build/wheels/$2/needs" && echo '{}' >"build/wheels/$2/needs/imrec.cdx.json"
echo "$SOURCE_DATE_EPOCH" >"$3/imrec-0-cp39-abi3-manylinux_2_28_$2.whl"
WHEEL
version=$(sed -n 's/.*IMREC_VERSION_STRING "\(.*\)".*/\1/p' include/imrec/version.h)
commit() { git add -A && git -c user.name=test -c user.email=test@example.org commit -q -m test; }
refused() { # WHY
    if tools/dev/release ../released >../log 2>&1; then fail "released, and $1"; fi
    grep -q "$1" ../log || { cat ../log && fail "does not say: $1"; }
    [ ! -e ../released/SHA256SUMS ] || fail "left what looks like a release"
}
git init -q && sed -i "s/^## $version .*/## $version (not released)/" CHANGELOG.md && commit
refused 'gives no date'
sed -i "s/^## $version .*/## $version (2030-01-02)/" CHANGELOG.md
refused 'differs from what was committed'
commit
mkdir ../released
refused 'exists'
rmdir ../released
sed -i 's/^imrec (/imrec (9/' debian/changelog
refused 'debian/changelog has'
git checkout -q debian/changelog

tools/dev/release --key test@example.org ../released >../log 2>&1 || { cat ../log && fail "no release"; }
tools/dev/release ../again >../log 2>&1 || { cat ../log && fail "no second release"; }
cd ../released
sha256sum --quiet -c SHA256SUMS
gpg --quiet --verify SHA256SUMS.asc SHA256SUMS 2>../log || { cat ../log && fail "the signature is wrong"; }
[ "$(wc -l <SHA256SUMS)" -eq $(($(find . -type f | wc -l) - 2)) ] || fail "a file has no checksum"
cmp SHA256SUMS ../again/SHA256SUMS || fail "made again, a file has other bytes"
sum=$(sha256sum "imrec-$version.tar.gz" | cut -d' ' -f1)
tar -xf "imrec-$version-recipes.tar.gz"
for recipe in conda/meta.yaml homebrew/imrec.rb; do
    grep -q "$sum" "packaging/$recipe" || fail "$recipe has another checksum"
done
