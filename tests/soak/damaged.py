"""Sets that tests/soak/soak.py reads, and damage at places that it knows."""
import shutil

FRAME = 8  # magic and length of a record
HEAD = 24  # flag, label, ids of an image record


class Shard:
    """Where the records of a shard are: [begin, end) of each id."""

    def __init__(self, rec):
        self.rec = rec
        rows = [line.split("\t") for line in rec.with_suffix(".idx").read_text().splitlines()]
        places = sorted((int(at), int(number)) for number, at in rows)
        ends = [at for at, _ in places[1:]] + [rec.stat().st_size]
        self.places = {number: (at, end) for (at, number), end in zip(places, ends)}

    def touched(self, begin, end):
        return {number for number, (at, to) in self.places.items() if at < end and to > begin}


class Damaged:
    """A copy of a set with damage. `touched`: ids of records of which a byte differs. `ranges`: (file, begin, end) of damage."""

    def __init__(self, folder, stem):
        self.folder, self.stem = folder, stem
        self.touched, self.ranges, self.cut = set(), [], False

    def note(self, shard, begin, end):
        self.touched |= shard.touched(begin, end)
        self.ranges.append((shard.rec.name, begin, end))


def flip(rng, data, shard, out, low, high):
    """A bit of one byte of a record, from `low` on and before `high`."""
    at, end = rng.choice(sorted(shard.places.values()))
    place = rng.randrange(at + low, min(at + high, end))
    data[place] ^= 1 << rng.randrange(8)
    out.note(shard, place, place + 1)


def zero(rng, data, shard, out):
    """Zeros, within a record or over some. The padding at its end is zeros before."""
    begin = rng.randrange(shard.rec.stat().st_size - 1)
    end = min(len(data), begin + rng.choice([1, 64, 512, 4096]))
    there = [i for i in range(begin, end) if data[i] != 0]
    if there:
        data[begin:end] = bytes(end - begin)
        out.note(shard, there[0], there[-1] + 1)


def cut(rng, data, shard, out):
    """The end is missing: part of the last record, or some more."""
    begin = sorted(at for at, _ in shard.places.values())[-rng.randrange(1, 3)]
    place = rng.randrange(begin + 1, len(data))
    out.note(shard, place, len(data))
    out.cut = True
    del data[place:]


def damage(rng, source, folder, stem, kinds):
    """Copies a set, and damages it `kinds` times."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    out = Damaged(folder, stem)
    for kind in sorted(kinds, key=lambda k: k == "cut"):  # what cuts comes last
        rec = rng.choice(sorted(folder.glob(f"{stem}*.rec")))
        shard, data = Shard(source / rec.name), bytearray(rec.read_bytes())
        if kind == "frame":
            flip(rng, data, shard, out, 0, FRAME)
        elif kind == "head":
            flip(rng, data, shard, out, FRAME, FRAME + HEAD)
        elif kind == "image":
            flip(rng, data, shard, out, FRAME + HEAD, 1 << 30)
        elif kind == "zero":
            zero(rng, data, shard, out)
        elif kind == "cut":
            cut(rng, data, shard, out)
        rec.write_bytes(data)
    return out
