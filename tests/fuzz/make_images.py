#!/usr/bin/env python3
"""Makes corpus/image, corpus/jpeg_header and corpus/baseline: one small image of each kind (needs Pillow)."""
import gzip
import io
import pathlib
import random
import sys

from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "codec"))
import make_first_frames  # noqa: E402

CORPUS = pathlib.Path(__file__).parent / "corpus"
IMAGE = ("image",)
JPEG = ("image", "jpeg_header", "baseline")
scene = Image.new("RGB", (24, 18))
scene.putdata([(x * 9 % 256, y * 13 % 256, x * y % 256) for y in range(18) for x in range(24)])


def save(name, form, image=scene, folders=IMAGE, **how):
    out = io.BytesIO()
    image.save(out, form, **how)
    write(name, out.getvalue(), folders)
    return out.getvalue()


def write(name, data, folders):
    for folder in folders:
        (CORPUS / folder).mkdir(parents=True, exist_ok=True)
        (CORPUS / folder / name).write_bytes(data)


baseline = save("baseline.jpg", "JPEG", folders=JPEG, quality=70)
write("truncated.jpg", baseline[:-40], JPEG)
write("baseline.jpg.gz", gzip.compress(baseline, mtime=0), IMAGE)
write("bomb.gz", gzip.compress(baseline[:-40] + bytes(200000), mtime=0), IMAGE)  # more than 64 times its size
save("422.jpg", "JPEG", folders=("baseline",), quality=50, subsampling=1)
save("optimal.jpg", "JPEG", folders=("baseline",), quality=97, optimize=True)
save("restart.jpg", "JPEG", folders=("baseline",), quality=60, restart_marker_blocks=1)
save("progressive.jpg", "JPEG", folders=JPEG, quality=70, progressive=True)
save("444.jpg", "JPEG", folders=JPEG, quality=90, subsampling=0)
save("grey.jpg", "JPEG", scene.convert("L"), folders=JPEG)
save("cmyk.jpg", "JPEG", scene.convert("CMYK"), folders=JPEG)
exif = Image.Exif()
exif[0x112] = 6
save("exif6.jpg", "JPEG", folders=JPEG, exif=exif.tobytes())
# Of sizes that are no whole number of blocks, with something in every block: what regions are cut from.
noise = Image.frombytes("RGB", (101, 77), random.Random(1).randbytes(101 * 77 * 3))
wide = noise.resize((509, 387), Image.Resampling.BICUBIC)
save("wide420.jpg", "JPEG", wide, ("baseline",), quality=12)
save("wide422.jpg", "JPEG", wide.resize((260, 201)), ("baseline",), quality=10, subsampling=1, restart_marker_rows=2)
save("wide444.jpg", "JPEG", wide.resize((131, 277)), ("baseline",), quality=10, subsampling=0)
save("widegrey.jpg", "JPEG", wide.convert("L").resize((333, 140)), ("baseline",), quality=15)
save("rgb.png", "PNG")
save("palette.png", "PNG", scene.convert("P"))
save("rgba.png", "PNG", scene.convert("RGBA"))
save("grey.png", "PNG", scene.convert("L"))
save("a.gif", "GIF", scene.convert("P"))
save("a.webp", "WEBP", quality=60)
save("lossless.webp", "WEBP", lossless=True)
save("a.tif", "TIFF")
save("lzw.tif", "TIFF", compression="tiff_lzw")
save("rgb.bmp", "BMP")
save("palette.bmp", "BMP", scene.convert("P"))
save("bit.bmp", "BMP", scene.convert("1"))

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import make_hostile  # noqa: E402

write("groups.webp", make_hostile.webp_lossless(32, 32, True), IMAGE)
write("planes.tif", make_hostile.tiff(20, 15, planes=True), IMAGE)
write("tiles.tif", make_hostile.tiff(20, 15, tile=16), IMAGE)

FRAMES = ("interlaced.gif", "no_palette_transparent.gif", "disposal_2.gif", "beyond_both_transparent.gif",
          "no_canvas_shifted.gif", "outside_transparent.gif", "no_last_block.gif", "animated_lossless_flags_1.webp",
          "animated_lossy_alpha.webp", "animated_exif.webp", "animated_opaque_no_alpha.webp")
for name, data in make_first_frames.cases():
    if name in FRAMES:
        write(name, data, IMAGE)
