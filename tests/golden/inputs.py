"""The source data of the golden files: the same bytes on every machine and from every build."""
import json
import os
import struct
import zlib

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz", "corpus", "image")
FORMATS = """
    444.jpg a.gif a.tif a.webp animated_exif.webp animated_lossless_flags_1.webp animated_lossy_alpha.webp
    animated_opaque_no_alpha.webp baseline.jpg baseline.jpg.gz beyond_both_transparent.gif bit.bmp cmyk.jpg
    disposal_2.gif exif6.jpg grey.jpg grey.png groups.webp interlaced.gif lossless.webp lzw.tif no_canvas_shifted.gif
    no_last_block.gif no_palette_transparent.gif outside_transparent.gif palette.bmp palette.png planes.tif
    progressive.jpg rgb.bmp rgb.png rgba.png tiles.tif truncated.jpg
""".split()
ANIMALS = ("cat", "dog", "fox")


class Dice:
    """A generator of numbers that no version of Python changes."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n


def write(root, path, data):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def copy(source, root, path):
    with open(source, "rb") as f:
        write(root, path, f.read())


def table(rows):
    """Lines of a .lst file."""
    return "".join("\t".join(str(value) for value in row) + "\n" for row in rows)


# ---- images -----------------------------------------------------------------------------------------


def stored(data):
    """A zlib stream without compression: no library decides its bytes."""
    out = b"\x78\x01"
    pieces = [data[i:i + 65535] for i in range(0, len(data), 65535)]
    for i, piece in enumerate(pieces):
        out += struct.pack("<BHH", i == len(pieces) - 1, len(piece), len(piece) ^ 0xFFFF) + piece
    return out + struct.pack(">I", zlib.adler32(data))


def png(width, height, kind, rows, palette=b""):
    """A PNG of 8 bits: `kind` is its colour type, `rows` are bytes."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0))
    pixels = chunk(b"IDAT", stored(b"".join(b"\0" + row for row in rows)))
    return b"\x89PNG\r\n\x1a\n" + head + (chunk(b"PLTE", palette) if palette else b"") + pixels + chunk(b"IEND", b"")


def jpeg_size(path):
    """Width and height, from the frame's header."""
    with open(path, "rb") as f:
        data = f.read()
    at = 2
    while data[at + 1] not in (0xC0, 0xC1, 0xC2):
        at += 2 + struct.unpack(">H", data[at + 2:at + 4])[0]
    height, width = struct.unpack(">HH", data[at + 5:at + 9])
    return width, height


def make_photos(case, folder, count, seed):
    """Photos in folders by class; returns their paths in it, in the order of their numbers."""
    case.run("make_photos", folder, "--size", "small", "--count", count, "--seed", seed)
    found = []
    for name in os.listdir(case.at(folder)):
        photos = os.listdir(case.at(f"{folder}/{name}"))
        found += [f"{name}/{photo}" for photo in photos]
        if not photos:
            os.rmdir(case.at(f"{folder}/{name}"))
    return sorted(found, key=lambda path: path.rsplit("_", 1)[1])


def make_mixed(root):
    """Images of every format that is read; the last one is not whole."""
    for i, name in enumerate(FORMATS):
        copy(os.path.join(CORPUS, name), root, f"in/mixed/{'even' if i % 2 == 0 else 'odd'}/{name}")


def make_bad(root, photos):
    """Ten photos, among files that are none or not whole."""
    for path in photos[:10]:
        copy(f"{root}/in/photos/{path}", root, "in/bad/" + path)
    with open(f"{root}/in/photos/{photos[10]}", "rb") as f:
        whole = f.read()
    folder = "in/bad/" + os.path.dirname(photos[0])
    write(root, folder + "/empty.jpg", b"")
    write(root, folder + "/text.jpg", b"no image")
    write(root, folder + "/torn.jpg", whole[:len(whole) // 2])
    write(root, folder + "/noise.jpg", whole[:700] + bytes(300) + whole[1000:])


def make_colours(root):
    """PNGs of one, two, three and four channels, and of a palette."""
    dice = Dice(11)
    for kind, channels in ((0, 1), (2, 3), (3, 1), (4, 2), (6, 4)):
        for i in range(2):
            width, height = 41 + dice.below(30), 37 + dice.below(30)
            rows = [bytes((x * (k + 3) + y * 5 + dice.below(40)) % 256 for x in range(width) for k in range(channels))
                    for y in range(height)]
            palette = bytes((i * 7 + k * 90) % 256 for i in range(256) for k in range(3)) if kind == 3 else b""
            write(root, f"in/colours/png/{kind}_{i}.png", png(width, height, kind, rows, palette))


def make_ppm(root):
    """Nine images in one file: what the source of the examples reads."""
    dice, out = Dice(23), b""
    for i in range(9):
        width, height = 40 + dice.below(20), 36 + dice.below(20)
        out += b"P6\n# label %d\n%d %d\n255\n" % (i % 4, width, height)
        out += bytes((x * 3 + y * 2 + k * 50 + dice.below(60)) % 256
                     for y in range(height) for x in range(width) for k in range(3))
    write(root, "in/all.ppm", out)


def make_sounds(root):
    """Saw teeth with noise, of one channel and of two."""
    dice = Dice(17)
    for i in range(6):
        channels, frames = 1 + i // 4, 700 + 90 * i
        values = [t * (i + 2) % 160 * 45 - 3600 + dice.below(300) for t in range(frames) for _ in range(channels)]
        data = struct.pack(f"<{len(values)}h", *values)
        head = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, channels, 8000, 16000 * channels, 2 * channels, 16)
        body = b"WAVE" + head + struct.pack("<4sI", b"data", len(data)) + data
        write(root, f"in/sounds/{'low' if i % 2 else 'high'}/{i}.wav", b"RIFF" + struct.pack("<I", len(body)) + body)


# ---- masks, boxes, keypoints, lists -----------------------------------------------------------------


def objects_of(dice, width, height):
    """One to three boxes: class, corners in px."""
    out = []
    for _ in range(1 + dice.below(3)):
        x, y = dice.below(width - 24), dice.below(height - 24)
        right, bottom = x + 8 + dice.below(width - x - 12), y + 8 + dice.below(height - y - 12)
        out.append((dice.below(3), x, y, right, bottom))
    return out


def mask_of(width, height, objects, palette):
    rows = [bytearray(width) for _ in range(height)]
    for c, x0, y0, x1, y1 in objects:
        for y in range(y0, y1):
            rows[y][x0:x1] = bytes([c + 1]) * (x1 - x0)
    return png(width, height, 3 if palette else 0, rows, bytes(range(12)) if palette else b"")


def box_words(width, height, box):
    c, x0, y0, x1, y1 = box
    return [c] + [f"{a / b:.6f}" for a, b in ((x0, width), (y0, height), (x1, width), (y1, height))]


def point_words(width, height, box):
    """Two keypoints of a box, the second one hidden."""
    _, x0, y0, x1, y1 = box
    inset = (x1 - x0) // 4
    return [f"{(x0 + inset) / width:.6f}", f"{(y0 + y1) // 2 / height:.6f}", 2,
            f"{(x1 - inset) / width:.6f}", f"{(y0 + 2) / height:.6f}", 1]


def voc_of(name, width, height, objects):
    text = f"<annotation><filename>{name}</filename><size><width>{width}</width><height>{height}</height></size>"
    for c, *corners in objects:
        text += f"<object><name>{ANIMALS[c]}</name><difficult>{c % 2}</difficult><bndbox>"
        for tag, value in zip(("xmin", "ymin", "xmax", "ymax"), corners):
            text += f"<{tag}>{value + (tag[1:] == 'min')}</{tag}>"
        text += "</bndbox></object>"
    return text + "</annotation>\n"


class Told:
    """What is said of the images in in/marked/: lists, COCO's JSON, VOC's XML."""

    def __init__(self):
        self.lists = {"boxes": [], "points": [], "poses": []}
        categories = [{"id": 7 * c + 3, "name": name} for c, name in enumerate(ANIMALS)]
        self.coco = {"images": [], "annotations": [], "categories": categories}

    def add(self, i, name, width, height, objects):
        self.coco["images"].append({"id": 100 - i, "file_name": name, "width": width, "height": height})
        for c, x0, y0, x1, y1 in objects:
            self.coco["annotations"].append(
                {"id": len(self.coco["annotations"]), "image_id": 100 - i, "category_id": 7 * c + 3,
                 "bbox": [x0, y0, x1 - x0, y1 - y0], "iscrowd": i % 4 == 1})
        if not objects:
            return
        boxes = [box_words(width, height, box) for box in objects]
        points = [point_words(width, height, box) for box in objects]
        both = sum((box + point for box, point in zip(boxes, points)), [])
        self.lists["boxes"].append([i, 2, 5] + sum(boxes, []) + ["all/" + name])
        self.lists["points"].append([i, 2, 11] + both + ["all/" + name])
        self.lists["poses"].append([i, objects[0][0]] + points[0] + ["all/" + name])


def make_marked(root, photos):
    """Thirteen photos with masks; the last one has no object."""
    dice, told = Dice(5), Told()
    for i, path in enumerate(photos[:13]):
        name = os.path.basename(path)
        copy(f"{root}/in/photos/{path}", root, "in/marked/images/all/" + name)
        width, height = jpeg_size(f"{root}/in/photos/{path}")
        objects = objects_of(dice, width, height) if i < 12 else []
        write(root, f"in/marked/masks/all/{name[:-4]}.png", mask_of(width, height, objects, i % 3 == 0))
        told.add(i, name, width, height, objects)
        if objects:
            write(root, f"in/told/voc/{name[:-4]}.xml", voc_of(name, width, height, objects))
    write(root, "in/told/coco.json", json.dumps(told.coco))
    write(root, "in/told/names.txt", "dog\ncat\nfox\n")
    write(root, "in/told/fewer.txt", "dog\ncat\n")
    for name, rows in told.lists.items():
        write(root, f"in/told/{name}.lst", table(rows))


def make_lists(root, photos):
    """Lists of photos: one label, others, whole ones about the end of float32's, three; boxes of a turned image."""
    known = [(100 + 3 * i, i, path) for i, path in enumerate(photos[:24])]
    write(root, "in/lists/one.lst", table((id, i % 4, path) for id, i, path in known))
    write(root, "in/lists/new.lst", table((id, 7 - i % 4, i / 8, path) for id, i, path in known))
    write(root, "in/lists/wide.lst", table((id, 16777212 + i, path) for id, i, path in known))
    write(root, "in/lists/three.lst", table((500 - i, i % 4, i / 4, -i, path) for _, i, path in known[:16]))
    write(root, "in/lists/exif.lst", table([(1, 2, 5, 0, 0.1, 0.2, 0.5, 0.6, "even/exif6.jpg"),
                                            (2, 2, 5, 1, 0, 0, 1, 0.25, "even/exif6.jpg")]))
    write(root, "in/lists/classes.txt", "class0\nclass1\nclass2\nclass3\n")


# ---- texts of CNTK ----------------------------------------------------------------------------------


def number(dice):
    return ("%d", "%.3f", "%.2e")[dice.below(3)] % ((dice.below(20001) - 10000) / 100)


def numbers(dice, n):
    return " ".join(number(dice) for _ in range(n))


def sequence(dice, name, samples):
    """Lines of a sequence: x of 3 dense values, w of up to 20 sparse ones, and one sample y."""
    out = []
    for i in range(samples):
        line = f"{name} |x {numbers(dice, 3)}".lstrip()
        if dice.below(5):
            indices = sorted({dice.below(20) for _ in range(1 + dice.below(4))})
            line += " |w " + " ".join(f"{k}:{number(dice)}" for k in indices)
        if i == 0:
            line += " |y " + number(dice)
        out.append(line + (" |# a comment" if dice.below(7) == 0 else ""))
    return out


def make_texts(root):
    dice = Dice(31)
    ids = [3 + 5 * i for i in range(60)]
    lengths = [1 + dice.below(6) for _ in ids]
    main = [line for i, n in zip(ids, lengths) for line in sequence(dice, i, n)]
    bad = list(main)
    bad[5], bad[40], bad[41] = bad[5].replace("|x ", "|x oops "), bad[40] + " |q 1", "|x"
    bad[90] = bad[90].split()[0] + " |w 20:1"
    texts = {
        "main": main,
        "second": [line for i in range(20) for line in sequence(dice, 1000 + i, 1 + dice.below(4))],
        "beside": [f"{i} |z {numbers(dice, 2)}" for i in reversed(ids)],
        "fewer": [f"{i} |z {numbers(dice, 2)}" for i in ids[:45]],
        "even": [f"{i} |x {numbers(dice, 3)} |w {dice.below(20)}:{number(dice)}"
                 for i, n in zip(ids, lengths) for _ in range(n)],
        "bad": bad,
    }
    for name, rows in texts.items():
        write(root, f"in/texts/{name}.ctf", "\n".join(rows) + "\n")
    write(root, "in/texts/lines.ctf", "\r\n".join(line for _ in range(50) for line in sequence(dice, "", 1)))
    write(root, "in/texts/main.txt", "x x dense 3\nwords w sparse 20\ny y dense 1\n")
    write(root, "in/texts/typed.txt", "x x dense 3 double\nwords w sparse 20\n")
    for name, text in CONFIGURATIONS.items():
        write(root, "in/texts/" + name, text)


INPUTS = """input = [
    x = [ dim = 3 ; format = "dense" ]
    words = [ alias = "w" ; dim = 20 ; format = "sparse" ]
    y = [ dim = 1 ; format = "dense" ]
]"""
CONFIGURATIONS = {
    "reader.cntk": f"""
precision = "double"
reader = [
    readerType = "CNTKTextFormatReader" ; file = "in/texts/main.ctf" ; randomize = true ; randomizationWindow = 30
    {INPUTS}
]
""",
    "whole.cntk": f"""
command = Train:Test
data = "in/texts"
Train = [
    action = "train" ; SGD = [ minibatchSize = 8 ; epochSize = 50 ]
    reader = [ readerType = "CNTKTextFormatReader" ; file = "$data$/main.ctf"
        {INPUTS} ]
]
Test = [
    action = "test" ; minibatchSize = 3
    reader = [ readerType = "CNTKTextFormatReader" ; file = "$data$/second.ctf" ; randomize = false
        {INPUTS} ]
]
""",
    "joint.cntk": f"""
reader = [ randomize = true ; verbosity = 0 ; deserializers = (
    [ type = "CNTKTextFormatDeserializer" ; module = "CNTKTextFormatReader" ; file = "in/texts/main.ctf"
        {INPUTS} ] :
    [ type = "CNTKTextFormatDeserializer" ; module = "CNTKTextFormatReader" ; file = "in/texts/beside.ctf"
        input = [ z = [ dim = 2 ; format = "dense" ] ] ] ) ]
""",
}
CONFIGURATIONS["missing.cntk"] = CONFIGURATIONS["joint.cntk"].replace("beside", "fewer")


def make(case):
    """Makes all below ROOT/in."""
    os.makedirs(case.at("in"))
    photos = make_photos(case, "in/photos", 40, 3)
    make_photos(case, "in/more", 6, 4)
    make_mixed(case.root)
    make_bad(case.root, photos)
    make_colours(case.root)
    make_ppm(case.root)
    make_sounds(case.root)
    make_marked(case.root, photos)
    make_lists(case.root, photos)
    make_texts(case.root)
