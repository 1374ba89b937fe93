#!/usr/bin/env bash
# debian.sh SOURCE FOLDER - debian/ builds the four packages, lintian finds nothing, and in a chroot of Debian, into which they
# are installed, the tests of debian/tests pass. Needs root, dpkg-buildpackage, lintian and mmdebstrap.
set -euo pipefail
source=$1 folder=$2
for command in dpkg-buildpackage dh lintian mmdebstrap; do
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
lintian --fail-on error,warning --suppress-tags bad-distribution-in-changes-file,initial-upload-closes-no-bugs ./*.changes
root=$folder/root
finish() { rm -rf --one-file-system "$root"; }
trap finish EXIT
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
unshare --mount --propagation private mmdebstrap --quiet --variant=minbase --include=gcc,libc6-dev,pkg-config "$suite" "$root" >/dev/null
mkdir "$root/packages" && cp ./*.deb "$root/packages" && cp /etc/resolv.conf "$root/etc"
cp -r "imrec-$version" "$root/imrec"
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive bash -euc "$1"; }
inside 'apt-get update -qq && rm -f /packages/*-dbgsym* && apt-get install -qq -y --no-install-recommends /packages/*.deb' >log 2>&1 || { tail -20 log && exit 1; }
for test in programs library python; do
    inside "export AUTOPKGTEST_TMP=\$(mktemp -d) && cd /imrec && debian/tests/$test"
    echo "works: debian/tests/$test"
done
