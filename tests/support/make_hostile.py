#!/usr/bin/env python3
"""make_hostile.py FOLDER [SCALE]: small files of images that take much memory, one of each kind.

At SCALE 1 the largest have 12 million pixels. Nothing but the standard library.
"""
import base64
import gzip
import pathlib
import struct
import sys
import zlib


# ---- JPEG -----------------------------------------------------------------------------------------------------


def segment(marker, body):
    return bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body


def table(kind, symbols):
    """A Huffman table: the first symbol has the code 0, the second 10."""
    counts = [1, 1][:len(symbols)] + [0] * (16 - len(symbols))
    return segment(0xC4, bytes([kind]) + bytes(counts) + bytes(symbols))


def bits(text, n=1):
    """The bits, n times, as entropy-coded bytes; what is left is filled up with ones."""
    whole = text * n
    whole += "1" * (-len(whole) % 8)
    return int(whole, 2).to_bytes(len(whole) // 8, "big").replace(b"\xff", b"\xff\0")


def scan(components, begin, end, data):
    body = bytes([len(components)]) + b"".join(bytes([c, 0]) for c in components) + bytes([begin, end, 0])
    return segment(0xDA, body) + data


def end_of_bands(blocks):
    """Blocks without an AC coefficient: runs of up to 32767 of them (the symbol 0xE0, code 0)."""
    out = ""
    while blocks >= 16384:
        n = min(blocks, 32767)
        out += "0" + format(n - 16384, "014b")
        blocks -= n
    return bits(out + "10" * blocks) if out or blocks else b""


def jpeg(w, h, components=3, h_factor=1, v_factor=1, progressive=False, adobe=False):
    across, down = -(-w // (8 * h_factor)), -(-h // (8 * v_factor))
    factors = [(h_factor, v_factor)] + [(1, 1)] * (components - 1)
    frame = struct.pack(">BHHB", 8, h, w, components)
    frame += b"".join(bytes([i + 1, a << 4 | b, 0]) for i, (a, b) in enumerate(factors))
    out = b"\xff\xd8" + segment(0xDB, b"\0" + bytes([16] * 64)) + segment(0xC2 if progressive else 0xC0, frame)
    if adobe:
        out += segment(0xEE, b"Adobe\0\x64\0\0\0\0\2")
    out += table(0x00, [0]) + table(0x10, [0xE0, 0] if progressive else [0])
    each = [across * a * down * b for a, b in factors]
    every = list(range(1, components + 1))
    if not progressive:
        return out + scan(every, 0, 63, bits("0", 2 * sum(each))) + b"\xff\xd9"
    out += scan(every, 0, 0, bits("0", sum(each)))
    for c, (a, b) in enumerate(factors):
        blocks = -(-w * a // (8 * h_factor)) * -(-h * b // (8 * v_factor)) if components > 1 else each[0]
        out += scan([c + 1], 1, 63, end_of_bands(blocks))
    return out + b"\xff\xd9"


# ---- PNG ------------------------------------------------------------------------------------------------------


def png(w, h, kind, depth, interlaced=False, more=b""):
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[kind]

    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    def rows(width, height):
        return (1 + -(-width * channels * depth // 8)) * height if width and height else 0

    passes = [(0, 8, 0, 8), (4, 8, 0, 8), (0, 4, 4, 8), (2, 4, 0, 4), (0, 2, 2, 4), (1, 2, 0, 2), (0, 1, 1, 2)]
    n = sum(rows(-(-(w - x) // a), -(-(h - y) // b)) for x, a, y, b in passes) if interlaced else rows(w, h)
    packer = zlib.compressobj(9)
    data = packer.compress(bytes(n)) + packer.flush()
    out = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, depth, kind, 0, 0, interlaced))
    if more:
        out += chunk(b"iCCP", b"profile\0\0" + more)
    if kind == 3:
        out += chunk(b"PLTE", bytes(range(6)))
    return out + chunk(b"IDAT", data) + chunk(b"IEND", b"")


# ---- GIF, BMP -------------------------------------------------------------------------------------------------


def gif(w, h, frame_w, frame_h):
    """A frame of index 0 on a canvas: codes of 3 bits, cleared after each two."""
    codes = (("001" + "000" * 2) * (frame_w * frame_h // 2 + 1) + "101")[::-1]  # clear is 4, the end 5, from the right
    data = bytearray()
    at = 0
    text = codes[::-1]
    value = int(text[::-1], 2)
    data = value.to_bytes(-(-len(text) // 8), "little")
    blocks = b"".join(bytes([len(data[i:i + 255])]) + data[i:i + 255] for i in range(at, len(data), 255))
    return (b"GIF89a" + struct.pack("<HHBBB", w, h, 0x81, 0, 0) + bytes(range(12))
            + b"," + struct.pack("<HHHHB", 0, 0, frame_w, frame_h, 0) + b"\x02" + blocks + b"\0;")


def bmp_rle(w, h):
    palette = bytes(range(8))
    head = struct.pack("<IiiHHIIiiII", 40, w, h, 1, 8, 1, 2, 0, 0, 2, 0)
    return b"BM" + struct.pack("<IHHI", 0, 0, 0, 14 + len(head) + len(palette)) + head + palette + b"\0\1"


# ---- WebP -----------------------------------------------------------------------------------------------------


class Bits:
    """From the lowest bit up, as WebP's lossless coding has them."""

    def __init__(self):
        self.parts = []

    def put(self, value, n):
        self.parts.append(format(value, f"0{n}b")[::-1])

    def done(self):
        text = "".join(self.parts)
        text += "0" * (-len(text) % 8)
        return int(text[::-1], 2).to_bytes(len(text) // 8, "little")


def riff(name, body):
    chunk = name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)
    return b"RIFF" + struct.pack("<I", 4 + len(chunk)) + b"WEBP" + chunk


def single(out, n=5):
    """n codes of one symbol, 0: its pixels take no bits."""
    for _ in range(n):
        out.put(1, 4)


def webp_lossless(w, h, groups=False):
    out = Bits()
    out.put(0x2F, 8)
    out.put(w - 1, 14)
    out.put(h - 1, 14)
    out.put(0, 4)
    out.put(0, 2)  # no transform, no colour cache
    if not groups:
        out.put(0, 1)
        single(out)
        return riff(b"VP8L", out.done())
    out.put(1, 1)  # codes of its own for each 4 x 4 pixels, numbered by an image of green and red
    out.put(0, 3)
    out.put(0, 1)
    for symbols in (280, 256):
        out.put(0, 1)
        out.put(8, 4)
        for length in (17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8):
            out.put(length in (0, 8), 3)
        out.put(0, 1)
        for s in range(symbols):
            out.put(s < 256, 1)
    single(out, 3)
    across, down = -(-w // 4), -(-h // 4)
    for i in range(across * down):
        for part in (i % 256, i // 256 % 256):
            out.put(int(format(part, "08b")[::-1], 2), 8)
    for _ in range(min(across * down, 65536)):
        single(out)
    return riff(b"VP8L", out.done())


# 1200 x 900 px of one colour, by libwebp; the second with alpha
LOSSY = ("c-jl{baPw6$-ofq>J$(bV4*Mr$iDE3VJ@TA29_3P`<Z7RXImPrTdBaotYFNUnfI_fQE-J=WacA=!yG#;`D-^7$^A}wV*BmniR!nL"
         "Cw#xHuK0eNpY#2kIqmyyx{3r6L<EeWT)McUoBD>5BK?E^(%Xui^tBUJ+Trw3su=o!gB>V*#Fb>j_A@vPfVYvQ&nfBA$4)_J?7He0"
         "8V1n&An7?SG4xOT-*3;Xn+FyC!^kj@`4A{=(J`R;(2~F5uio_mEsmz}>=}?$fRMhhZ+bS4;%H$lJwiuAa$rkiivWgyzpwtcuHF3e"
         "uJ_;2pZkAqR<PQtf5GczT~oOC7olD83#MNB%d&3z3)PbSj@nCqamJ!aeidP0U@S9zz`(dmfPvw0%IcepUsZCB1u4GrxY@JB`O3u2"
         "k{%t3M_({7a|s_{U@lQ$U_2%!lfdq`e|h}n^)Ih~d8?+qTjHX|o0<hv%IpHXtd$SV(%8embVGoF(a*ghr)8$bEwetu!ulNheH<K#"
         ">*p?3c>Ig;j?BwQzNsw_ey!cPxN?f^e4eh4A9v^MJ3V8vYGX>|zBzR+%{#6yeX+m$n&Zwat@$BeSS@A0wFM~c>*FY_I`q@VexKaq"
         "xar}Wrr0KHTx~h1D!w-`G_#6f;*@tLX;DQA@A;p2cVFmg|9&)OQAYNG6uXqh!@nOLFiSK$Arzn~QDu_m_3^_Dn=LGch1I`*^p`O`"
         "T+gt7ir`8oHLZEemh!KZme)}}qM~-=@SipIoZrRwAMbQ5tx?^(kHep1mBDT0%r8%-)tp=)t<RvMahm-LujHhZ_J_GI+r{@Ea8$6i"
         "<6G~e-oP#XOPp!tYwqhOwNE(8DXIZ2bl6f@{YU>|B`4Q}c?^0>n;*`S){nC*o5&+DW8x#BlxoKA>nVq?_cI6{j$<(2yO4u-`g+B`"
         "pI8*+Q)d~goK)*<^3q?bKlOBH`+7Ov_Vb;QA}t^IKKy<CBGmTpzn89WG=Zv4e0{U%S6~gN<I(r;*A(#uxg7$k`N~@Q!Qf`qC!boA"
         "1faK0d~i6$!oUCkG$c8e")
LOSSY_ALPHA = ("c-jl{baP|jVqge&bqWXzu!sOM83cfMJqtrKGlQc~fQJi^$H?z6Ay@iV*$H=-Hv$|g|1R|hy8Pe#^L+ik&-4HPd2auoAoD6O&~$}a"
         "oD2*XUNOvN)Y`z(!fZeD%;RiJBfXUh9Lx&FoSAtK%M%4xh(%^TVmQpP(~`e-Q<2>7lqa^|PM)ZKJ9)zQ+v<w%xA{5W&zaM{@20Cr"
         "AVEaH2+F04JG!ZFC@IoE_%FS!*hybIQKcPDAEk<+4>;I?!be<5Hf%qG!vJ_2S^Auk9)0W-WX7(mj-g=yy$_O};}S#v#Q**F%({6{"
         ";XjNF1DOwj(iR;9nh!1c8~*BDAJF1x3eTPaNd*Y$3;U*L<0y_6*3u(%G$aSMG`0v}`1kwjf9u-KKks_~4gI<Q=VrNIZPN-iPQCP("
         "W!>}_swMj!wU_?ljMcy3^|G!h-202ruJ{EglCLxv7?|E<A7EfEQD9&^b~1bu^DB>=JxiRgOx!H#(Y{hS&1j;4bN2-XHWBp(2DTRt"
         "49q<`76<s|*8A;W9)EfL%UeF-Wrm9aZ~S!BcvG`rN|}4BNniy7>jnh|raAo#H#v<0x8%wsJ^FW}zD7XcaJ;pf<MA)dJ1j44lGWxs"
         "_%*uN?XyO;ouugF$7MHbryHtyGo9F6Yw@R(y>Pwv#d`5I%|%y2?N+|vDzbjdv%s}hM&Qxc)=w4nHMYn0>a9=Js5%z7nzPAEziQE{"
         "OJ5k3HSc7c+498kp8SdF;tNIj-*=sKxp2MVM9oR&_U}g<at`HAP+1UU@FnBS)W;7EDl<5e9)17*QSJ@v;W);64dtK~pHN$0FZm!d"
         "y9oCV58sXLKO^dd-|5%)3pKs^;ay!LFi$Wfahu!amnU_8PIfShWAF%^#{WXfSmh-Dq1%`F^y?d%9Lj2B<7W6Xi0OaPV-3D0zJ5~p"
         "geDs&pQ(=@G-f>d{v&?TCm~Tq8-`eK_QNJ-aeHdsDoH3BDj!if@r_x0-O2X#atz9Cdl>Soodl%y<D7p#;c&1!ZIb3W$yb<VO1xLR"
         "_H<$XI2&pH`9hmCIUmSA{C)kxs_Nf=FLmDt2CAC)`ljobML&d^yYJtRcp|f;w-u=771!$riJQJYnei**fP07M#0QO2IDoA@0OEaU"
         "e*")


def webp_lossy(packed):
    return zlib.decompress(base64.b85decode(packed))


# ---- TIFF -----------------------------------------------------------------------------------------------------


def tiff(w, h, samples=3, depth=8, tile=0, planes=False, compressed=True, claimed=0):
    unit_w, unit_h = (tile, tile) if tile else (w, h)
    per_unit = unit_w * unit_h * depth // 8 * (1 if planes else samples)
    units = (-(-w // unit_w)) * (-(-h // unit_h)) * (samples if planes else 1)
    data = zlib.compress(bytes(min(per_unit, 1 << 28)), 1) if compressed else bytes(per_unit)
    tags = [(256, 4, [w]), (257, 4, [h]), (258, 3, [depth] * samples), (259, 3, [8 if compressed else 1]),
            (262, 3, [2 if samples >= 3 else 1]), (277, 3, [samples]), (284, 3, [2 if planes else 1])]
    if samples == 4:
        tags.append((338, 3, [2]))
    if tile:
        tags += [(322, 4, [tile]), (323, 4, [tile]), (324, 4, [8] * units), (325, 4, [len(data)] * units)]
    else:
        tags += [(273, 4, [8] * units), (278, 4, [h]), (279, 4, [len(data)] * units)]
    for i in range(claimed):  # all of them the same bytes
        tags.append((60000 + i, 1, len(data)))
    at, late, entries = 8 + len(data) + len(data) % 2, b"", b""
    table_at = at + 2 + 12 * len(tags) + 4
    for tag, kind, values in sorted(tags, key=lambda t: t[0]):
        if isinstance(values, int):
            entries += struct.pack("<HHII", tag, kind, values, 8)
            continue
        body = struct.pack("<" + ("H" if kind == 3 else "I") * len(values), *values)
        if len(body) > 4:
            place = struct.pack("<I", table_at + len(late))
            late += body + b"\0" * (len(body) % 2)
        else:
            place = body.ljust(4, b"\0")
        entries += struct.pack("<HHI", tag, kind, len(values)) + place
    return (struct.pack("<2sHI", b"II", 42, at) + data + b"\0" * (len(data) % 2)
            + struct.pack("<H", len(tags)) + entries + b"\0\0\0\0" + late)


# ---- all ------------------------------------------------------------------------------------------------------


def files(scale):
    side = int(2000 * scale ** 0.5) // 16 * 16
    wide = side + side // 2
    yield "progressive444.jpg", jpeg(wide, 2 * side, progressive=True)
    yield "progressive420.jpg", jpeg(wide, 2 * side, h_factor=2, v_factor=2, progressive=True)
    yield "progressive_grey.jpg", jpeg(wide, 2 * side, components=1, progressive=True)
    yield "progressive_cmyk.jpg", jpeg(wide, side, components=4, progressive=True, adobe=True)
    yield "progressive_cut.jpg", jpeg(wide, 2 * side, progressive=True)[:-9]
    yield "baseline.jpg", jpeg(wide, 2 * side, h_factor=2, v_factor=2)
    yield "baseline_cmyk.jpg", jpeg(wide, side, components=4, adobe=True)
    yield "line.jpg", jpeg(65500, 1)
    yield "column.jpg", jpeg(1, 65500)
    yield "strip.jpg", jpeg(65500, 8, progressive=True)
    yield "bomb.jpg.gz", gzip.compress(jpeg(64, 64) + bytes(64 << 20), mtime=0)
    yield "interlaced16.png", png(wide, side, 6, 16, True)
    yield "interlaced.png", png(wide, side, 2, 8, True)
    yield "plain16.png", png(wide, side, 6, 16)
    yield "palette.png", png(wide, 2 * side, 3, 1)
    yield "profile.png", png(64, 64, 2, 8, False, zlib.compress(bytes(60 << 20), 9))
    yield "canvas.gif", gif(wide, 2 * side, 4, 4)
    yield "frame.gif", gif(side // 2, side // 2, side // 2, side // 2)
    yield "run_length.bmp", bmp_rle(wide, 2 * side)
    yield "lossless.webp", webp_lossless(wide, 2 * side)
    yield "groups.webp", webp_lossless(512, 512, True)
    yield "lossy.webp", webp_lossy(LOSSY)
    yield "lossy_alpha.webp", webp_lossy(LOSSY_ALPHA)
    yield "strips.tif", tiff(wide, side)
    yield "deep.tif", tiff(wide, side, depth=16)
    yield "alpha.tif", tiff(wide, side, samples=4)
    yield "planes.tif", tiff(wide, side, planes=True)
    yield "tiles.tif", tiff(wide, side, tile=512)
    yield "tile_bomb.tif", tiff(64, 64, tile=4096)
    yield "tags.tif", tiff(256, 256, samples=1, compressed=False, claimed=2000)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files(float(sys.argv[2]) if len(sys.argv) > 2 else 1):
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
