"""imrec batches, and what it writes."""
from case import files_below, plain, read

LEVELS = ("scalar", "avx2") # of kernels, beside the best that the machine has


def dump(case, out, words, count, start=None, cpu=None):
    """Writes COUNT batches of `words` into the case's folder OUT; returns what is said. `start`: from
    the position in that folder."""
    folder = f"{case.folder}/{out}"
    words = words.split() + ["--json", "--count", count, "--out", folder]
    if start is not None:
        words += ["--from", f"{case.folder}/{start}/position.json"]
    return case.run("imrec", "batches", *words, cpu=cpu)


def keep_each(case, out, said):
    """A sum for what is said, and one for each file."""
    case.keep_json(out + ".json", said)
    case.keep_files(f"{case.folder}/{out}")


def keep_whole(case, out, said):
    """One sum for all of it."""
    files = files_below(case.at(f"{case.folder}/{out}"))
    case.keep(out, plain(said) + b"".join(path.rsplit("/", 1)[1].encode() + b"\0" + read(path) for path in files))


def keep_position(case, out):
    case.keep_file(f"{case.folder}/{out}/position.json", out)


def dumped(words, count, levels=()):
    """A case of COUNT batches; kernels of each of `levels` must write the same as the best ones."""
    def run(case):
        keep_each(case, "all", dump(case, "all", words, count))
        for level in levels:
            dump(case, level, words, count, cpu=level)
            if not same_pixels(case, "all", level):
                case.lines.append((level, "differs from the best kernels"))
    return run


def same_pixels(case, a, b):
    here = [files_below(case.at(f"{case.folder}/{out}")) for out in (a, b)]
    return len(here[0]) == len(here[1]) and all(read(x) == read(y) for x, y in zip(*here))


def going_on(words):
    """All batches at once, and the same from a position in the middle."""
    def run(case):
        keep_each(case, "all", dump(case, "all", words, 12))
        dump(case, "half", words, 5)
        keep_position(case, "half")
        keep_whole(case, "rest", dump(case, "rest", words, 7, start="half"))
    return run
