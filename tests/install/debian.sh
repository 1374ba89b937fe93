#!/usr/bin/env bash
# debian.sh SOURCE FOLDER - debian/ builds the four packages, lintian finds nothing, what was compiled is hardened, and
# autopkgtest passes the tests of debian/tests in a chroot of Debian. Needs root, dpkg-buildpackage, lintian, autopkgtest and
# mmdebstrap.
set -euo pipefail
source=$1 folder=$2
for command in dpkg-buildpackage dh lintian autopkgtest mmdebstrap; do
    command -v $command >/dev/null || { echo "skipped: no $command: tools/install_dependencies packages" && exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root, for a chroot" && exit 77; }
version=$(sed -n '1s/.*(\(.*\)-[^-]*).*/\1/p' "$source/debian/changelog")
rm -rf "$folder" && mkdir -p "$folder/imrec-$version"
cd "$source"
{ git ls-files -z 2>/dev/null || find . -path ./build -prune -o -type f -print0; } | tar --null -T - -cf - | tar -C "$folder/imrec-$version" -xf -
cd "$folder"
tar --exclude debian -czf "imrec_$version.orig.tar.gz" "imrec-$version"
cd "imrec-$version"
dpkg-checkbuilddeps || { echo "skipped: packages are missing" && exit 77; }
dpkg-buildpackage -us -uc >../log 2>&1 || { tail -30 ../log && exit 1; }
cd ..
lintian --allow-root --fail-on error,warning --suppress-tags bad-distribution-in-changes-file,initial-upload-closes-no-bugs ./*.changes
for deb in libimrec1_ imrec-tools_ python3-imrec_; do dpkg-deb -x "$deb"*.deb built; done
bash "$source/tests/lint/hardening.sh" built/usr/bin/* built/usr/lib/*/libimrec.so.1 built/usr/lib/python3/dist-packages/imrec/*.so
root=$folder/root
finish() { rm -rf --one-file-system "$root"; }
trap finish EXIT
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
unshare --mount --propagation private mmdebstrap --quiet --variant=minbase --include=gcc,libc6-dev,pkg-config "$suite" "$root" >/dev/null
cp /etc/resolv.conf "$root/etc"
# shellcheck disable=SC2016
env -u TMPDIR unshare --mount --propagation private bash -euc 'mount -t proc proc "$1/proc" && autopkgtest --apt-upgrade \
    --summary-file summary ./*.changes -- chroot "$1"' bash "$root" >log 2>&1 </dev/null || { tail -40 log && exit 1; }
cat summary
