# Whatever names a file or a folder may be a URI: file://, then the path as it stands.
make_images .
here=file://$PWD
im2rec --quiet --resize 32 "$here/source" "$here/a.rec"; echo "folder: $?"
im2rec --quiet --resize 32 source b.rec; cmp a.rec b.rec && cmp a.lst b.lst && echo "the same set"
sed "s|\t\([a-z]*/[0-9]*.jpg\)$|\t$here/source/\1|" a.lst >entries.lst
grep -c "	file:///" entries.lst
im2rec --quiet --resize 32 "$here/entries.lst" nowhere c.rec; echo "entries: $?"
cmp a.rec c.rec && echo "the same records"
cp a.lst given.lst
im2rec --quiet --resize 32 given.lst "$here/source" "$here/given.rec"; echo "root: $?"
cmp a.lst given.lst && ls given.packed.lst # the list that was given is left alone
im2rec --quiet --resize 32 file://b.lst file://source file://d.rec; echo "relative: $?"
mkdir -p both/images both/masks
cp source/ant/00.jpg both/images/a.jpg
python3 - <<'PY'
import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
rows = b"".join(b"\0" + b"\1" * 40 for _ in range(90))
open("both/masks/a.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 40, 90, 8, 0, 0, 0, 0))
                                     + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
PY
im2rec --quiet --pass-through "$here/both" pairs.rec && imrec info pairs.rec | grep masks
im2rec --quiet --pass-through --masks "$here/both/masks" --class-from flat both/images masks.rec && imrec info masks.rec | grep masks
printf '1\t0\tftp://bucket/a.jpg\n' >far.lst
im2rec --quiet --report skips far.lst source far.rec; echo "far: $?"
grep -o 'no store knows the scheme' skips
im2rec --quiet mem://source other.rec; echo "mem: $?"
im2rec --quiet --masks mem://masks source other.rec; echo "masks: $?"
