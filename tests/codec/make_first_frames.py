"""GIF and WebP files that decoders disagree about, and what Pillow makes of their first frame.

make_first_frames.py > first_frames.json: the files and Pillow's pixels, for test_first_frames.c.
tests/python/test_first_frames.py imports cases() and asks the Pillow that is installed.
"""
import io
import json
import struct

PALETTE = [(10, 200, 30), (250, 5, 60), (0, 0, 255), (255, 255, 0), (7, 77, 177), (128, 0, 64), (90, 91, 92), (1, 2, 3)]
RAMP = [(i, i, i) for i in range(8)]


# ---- GIF ------------------------------------------------------------------------------------------------------


def colours(palette):
    return b"".join(bytes(c) for c in palette)


def packed(palette):
    """The flags of a palette: there is one, of that size."""
    return 0 if palette is None else 0x80 | (len(palette).bit_length() - 2)


def sub_blocks(data):
    out = b"".join(bytes([len(data[i:i + 255])]) + data[i:i + 255] for i in range(0, len(data), 255))
    return out + b"\0"


def lzw(indices, bits=3):
    """Codes of bits + 1 bits, cleared before they would grow."""
    clear, end, n, at, out, codes = 1 << bits, (1 << bits) + 1, 0, 0, 0, []
    for i, index in enumerate(indices):
        if i % ((1 << bits) - 2) == 0:
            codes.append(clear)
        codes.append(index)
    for code in codes + [end]:
        out |= code << at
        at += bits + 1
    n = (at + 7) // 8
    return bytes([bits]) + sub_blocks(out.to_bytes(n, "little"))


def interlaced(rows):
    order = [*range(0, len(rows), 8), *range(4, len(rows), 8), *range(2, len(rows), 4), *range(1, len(rows), 2)]
    return [rows[y] for y in order]


def frame(x, y, w, h, palette=None, interlace=False, most=8, bits=3):
    rows = [[(3 * r + 5 * c + r * c) % most for c in range(w)] for r in range(h)]
    rows = interlaced(rows) if interlace else rows
    head = b"," + struct.pack("<HHHHB", x, y, w, h, packed(palette) | (0x40 if interlace else 0))
    return head + (colours(palette) if palette else b"") + lzw([i for r in rows for i in r], bits)


def control(transparent=None, disposal=0, delay=10):
    flags = disposal << 2 | (transparent is not None)
    return b"!\xf9\x04" + struct.pack("<BHB", flags, delay, transparent or 0) + b"\0"


def gif(w, h, *blocks, palette=PALETTE, background=0, version=b"89a"):
    head = b"GIF" + version + struct.pack("<HHBBB", w, h, packed(palette), background, 0)
    return head + (colours(palette) if palette else b"") + b"".join(blocks) + b";"


COMMENT = b"!\xfe" + sub_blocks(b"a comment")
LOOP = b"!\xff\x0bNETSCAPE2.0" + sub_blocks(b"\x01\0\0")
OTHER = [(200, 201, 202), (50, 60, 70), (0, 128, 0), (33, 44, 55)]


def gifs():
    yield "plain.gif", gif(9, 7, frame(0, 0, 9, 7))
    yield "87a.gif", gif(9, 7, frame(0, 0, 9, 7), version=b"87a")
    yield "interlaced.gif", gif(9, 13, frame(0, 0, 9, 13, interlace=True))
    yield "interlaced_three_rows.gif", gif(9, 3, frame(0, 0, 9, 3, interlace=True))
    yield "local_palette.gif", gif(6, 5, frame(0, 0, 6, 5, palette=OTHER, most=4))
    yield "local_palette_alone.gif", gif(6, 5, frame(0, 0, 6, 5, palette=OTHER, most=4), palette=None)
    yield "no_palette.gif", gif(6, 5, frame(0, 0, 6, 5), palette=None)
    yield "no_palette_transparent.gif", gif(6, 5, control(3), frame(0, 0, 6, 5), palette=None)
    yield "grey_ramp.gif", gif(6, 5, frame(0, 0, 6, 5), palette=RAMP)
    yield "grey_ramp_transparent.gif", gif(6, 5, control(2), frame(0, 0, 6, 5), palette=RAMP)
    yield "local_grey_ramp.gif", gif(6, 5, frame(0, 0, 6, 5, palette=RAMP), palette=None)
    yield "behind_the_palette.gif", gif(6, 5, frame(0, 0, 6, 5, most=8), palette=OTHER)
    yield "transparent.gif", gif(9, 7, control(2), frame(0, 0, 9, 7))
    yield "transparent_behind_the_palette.gif", gif(9, 7, control(200), frame(2, 1, 4, 4))
    yield "transparent_named_twice.gif", gif(9, 7, control(2), control(5), frame(1, 1, 5, 5))
    yield "transparent_taken_back.gif", gif(9, 7, control(2), control(None), frame(1, 1, 5, 5))
    for background in (0, 3, 250):
        yield f"undersized_background_{background}.gif", gif(9, 7, frame(2, 3, 4, 3), background=background)
        yield (f"undersized_transparent_background_{background}.gif",
               gif(9, 7, control(4), frame(2, 3, 4, 3), background=background))
    yield "undersized_no_palette.gif", gif(9, 7, frame(2, 3, 4, 3), palette=None, background=3)
    yield "undersized_local_palette.gif", gif(9, 7, frame(2, 3, 4, 3, palette=OTHER, most=4), background=1)
    for disposal in range(8):
        yield f"disposal_{disposal}.gif", gif(9, 7, control(1, disposal), frame(1, 2, 5, 4), control(None, disposal),
                                              frame(0, 0, 9, 7, palette=OTHER, most=4), background=5)
        yield f"disposal_{disposal}_opaque.gif", gif(9, 7, control(None, disposal), frame(1, 2, 5, 4),
                                                     frame(0, 0, 3, 3), background=5)
    yield "beyond_the_right.gif", gif(5, 7, frame(2, 1, 6, 4))
    yield "beyond_the_bottom.gif", gif(9, 4, frame(2, 1, 6, 7))
    yield "beyond_both_transparent.gif", gif(5, 4, control(6), frame(3, 2, 6, 7))
    yield "outside.gif", gif(5, 4, frame(9, 8, 3, 2), background=2)
    yield "outside_transparent.gif", gif(5, 4, control(0), frame(9, 8, 3, 2), background=2)
    yield "no_canvas.gif", gif(0, 0, frame(0, 0, 6, 5))
    yield "no_canvas_shifted.gif", gif(0, 0, frame(3, 2, 6, 5))
    yield "no_height.gif", gif(9, 0, frame(0, 0, 6, 5))
    yield "later_frame_larger.gif", gif(5, 4, frame(0, 0, 5, 4), frame(0, 0, 9, 9))
    yield "extensions.gif", gif(9, 7, COMMENT, LOOP, control(3), COMMENT, frame(0, 0, 9, 7), COMMENT)
    yield "no_trailer.gif", gif(9, 7, frame(0, 0, 9, 7))[:-1]
    yield "no_last_block.gif", gif(9, 7, frame(0, 0, 9, 7))[:-2]
    yield "eight_bits.gif", gif(9, 7, frame(0, 0, 9, 7, most=256, bits=8))


# ---- WebP -----------------------------------------------------------------------------------------------------


def chunk(name, body):
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def riff(*chunks):
    body = b"WEBP" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def u24(n):
    return struct.pack("<I", n)[:3]


def extended(w, h, flags):
    return chunk(b"VP8X", struct.pack("<I", flags) + u24(w - 1) + u24(h - 1))


def bitstream(image, **how):
    """The chunks of a still WebP, without VP8X."""
    out = io.BytesIO()
    image.save(out, "WEBP", **how)
    data, at, kept = out.getvalue(), 12, []
    while at < len(data):
        n = struct.unpack("<I", data[at + 4:at + 8])[0]
        if data[at:at + 4] in (b"ALPH", b"VP8 ", b"VP8L"):
            kept.append(data[at:at + 8 + n + n % 2])
        at += 8 + n + n % 2
    return b"".join(kept)


def anmf(x, y, image, flags=0, **how):
    w, h = image.size
    return chunk(b"ANMF", u24(x // 2) + u24(y // 2) + u24(w - 1) + u24(h - 1) + u24(100) + bytes([flags])
                 + bitstream(image, **how))


def anim(background=0):
    return chunk(b"ANIM", struct.pack("<IH", background, 0))


ANIMATED, EXIF, ALPHA = 2, 8, 16


def webps():
    from PIL import Image

    def scene(w, h, mode):
        image = Image.new("RGBA", (w, h))
        image.putdata([(x * 21 % 256, y * 33 % 256, x * y * 7 % 256, (x + y) * 37 % 256)
                       for y in range(h) for x in range(w)])
        return image.convert(mode)

    exact = {"lossless": True, "exact": True}
    clear, solid = scene(9, 7, "RGBA"), scene(9, 7, "RGB")
    second = anmf(0, 0, scene(4, 4, "RGB"), lossless=True)
    yield "still_lossless.webp", riff(bitstream(solid, **exact))
    yield "still_alpha.webp", riff(extended(9, 7, ALPHA), bitstream(clear, **exact))
    yield "still_lossy.webp", riff(bitstream(solid, quality=80))
    yield "still_lossy_alpha.webp", riff(extended(9, 7, ALPHA), bitstream(clear, quality=80, alpha_quality=90))
    for name, image, how in (("lossless", clear, exact), ("opaque", solid, exact), ("lossy", solid, {"quality": 80}),
                             ("lossy_alpha", clear, {"quality": 80})):
        yield f"animated_{name}.webp", riff(extended(9, 7, ANIMATED | ALPHA), anim(), anmf(0, 0, image, **how), second)
        for flags in range(4):
            yield (f"animated_{name}_flags_{flags}.webp",
                   riff(extended(21, 16, ANIMATED | ALPHA), anim(0x80ff4020), anmf(4, 6, image, flags, **how), second))
        yield (f"animated_{name}_no_alpha.webp",
               riff(extended(21, 16, ANIMATED), anim(0xff102030), anmf(2, 2, image, **how), second))
    yield "animated_one_frame.webp", riff(extended(9, 7, ANIMATED | ALPHA), anim(), anmf(0, 0, clear, **exact))
    yield ("animated_exif.webp", riff(extended(9, 7, ANIMATED | ALPHA | EXIF), anim(), anmf(0, 0, clear, **exact), second,
                                      chunk(b"EXIF", b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0")))
    yield ("animated_unknown_chunk.webp",
           riff(extended(9, 7, ANIMATED | ALPHA), chunk(b"abcd", b"\x01\x02\x03"), anim(), anmf(0, 0, clear, **exact), second))


# ---- all ------------------------------------------------------------------------------------------------------


def cases():
    """(name, bytes) of each file."""
    yield from gifs()
    yield from webps()


def main():
    from PIL import Image
    out = []
    for name, data in cases():
        image = Image.open(io.BytesIO(data))
        alpha = image.convert("RGBA").getchannel("A")
        assert image.convert("RGB").tobytes() == image.convert("RGBA").convert("RGB").tobytes()
        out.append({"name": name, "file": data.hex(), "size": list(image.size), "alpha": alpha.tobytes().hex(),
                    "rgb": image.convert("RGB").tobytes().hex()})
    print("[" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in out) + "]")


if __name__ == "__main__":
    main()
