"""The shared vectors: what MXNet and CNTK made, read by the programs. The root has them as vectors/."""
import json
import os

from dump import LEVELS, dumped

MXNET, CNTK = "vectors/mxnet/", "vectors/cntk/"


def load(shared, path):
    with open(os.path.join(shared, path), encoding="utf-8") as f:
        return json.load(f)


# ---- MXNet ------------------------------------------------------------------------------------------


def option(key, value):
    """An option of ImageRecordIter as the vectors have it."""
    if key.startswith("path_"):
        return f"{key}={MXNET}{value}"
    if key == "mean_img":
        return "mean_img=MEAN"
    if isinstance(value, list):
        return f"{key}={','.join(str(v) for v in value)}"
    return f"{key}={int(value) if isinstance(value, bool) else value}"


def batch_of(entry):
    words = " ".join(option(key, value) for key, value in entry["args"].items())
    def run(case):
        mean = case.folder + "/mean.bin"
        dumped(words.replace("MEAN", mean), 1, LEVELS)(case)
        if "MEAN" in words:
            case.keep_file(mean)
    return run


def told(rec):
    def run(case):
        for command in "info", "ls", "verify":
            case.keep_json(command, case.run("imrec", command, "--json", rec))
        for keys in "id", "counter":
            case.run("imrec", "index", "--keys", keys, "--out", f"{case.folder}/{keys}.idx", rec)
        case.keep_json("repair", case.run("imrec", "repair", "--json", rec, case.folder + "/new.rec"))
        case.keep_files()
    return run


def records(shared):
    for path in sorted(os.listdir(os.path.join(shared, "mxnet"))) + ["split/magic.rec", "split/pack.rec"]:
        rec = path if path.endswith(".rec") else path + "/a.rec"
        if os.path.exists(os.path.join(shared, "mxnet", rec)):
            yield "record/" + rec, told(MXNET + rec)
    for parts in range(1, 8):
        for part in range(parts):
            words = f"{MXNET}split/pack.rec data_shape=3,8,8 batch_size=4 on_error=skip verbose=0"
            yield f"part/{part} of {parts}", dumped(f"{words} num_parts={parts} part_index={part}", 6)


def packed(words):
    def run(case):
        full = words.split() + ["--no-shuffle", "--class-from", "flat", MXNET + "src", case.folder + "/new.rec"]
        case.keep_json("json", case.run("im2rec", "--json", *full))
        case.keep_files()
    return run


def listed(words):
    def run(case):
        case.run("im2rec", "--quiet", "--list", *words.split(), MXNET + "listtree", case.folder + "/new")
        case.keep_files()
    return run


def mxnet(shared):
    for name, entry in load(shared, "mxnet/pixels.json").items():
        yield "pixels/" + name, batch_of(entry)
    yield from records(shared)
    for words in ("--resize 256", "--pass-through", "--resize 128 --center-crop", "--resize 200 --color 0",
                  "--resize 96 --encoding png --quality 3"):
        yield "packed/" + words, packed(words)
    for words in ("", "--no-shuffle", "--chunks 2", "--train-ratio 0.5 --test-ratio 0.25", "--class-from leaf",
                  "--exts .bmp"):
        yield "listed/" + words, listed(words)


# ---- CNTK -------------------------------------------------------------------------------------------


def inputs(streams):
    words = []
    for s in streams:
        name = s["name"]
        words += [f"input.{name}.format={'sparse' if s.get('sparse') else 'dense'}", f"input.{name}.dim={s['dim']}"]
        if s.get("alias"):
            words.append(f"input.{name}.alias={s['alias']}")
        if s.get("mb"):
            words.append(f"input.{name}.definesMBSize=true")
    return words


def source(entry):
    """The file, and the keys that the entry's parameters ask for."""
    params = entry["params"]
    words = [CNTK + entry["file"], "traceLevel=0"] + inputs(params["streams"])
    for key, value in {**params.get("deser", {}), **params.get("options", {})}.items():
        if key not in ("max_errors", "trace_level") and not key.startswith("randomization_window_in_"):
            words.append(f"{key}={str(value).lower() if isinstance(value, bool) else value}")
    return words + [f"minibatchSize={params.get('mb', 1 << 20)}"]


def ranks(params):
    return [f"num_ranks={params.get('workers', 1)}", f"rank={params.get('rank', 0)}"]


def in_order(entry):
    """All minibatches, also with a chunk for each sequence."""
    words = source(entry) + ["randomize=false"]
    if "max_sweeps" not in entry["params"].get("options", {}):
        words.append("max_sweeps=1")
    if entry["params"].get("workers", 1) != 1:
        words += ranks(entry["params"]) + ["rank_mode=local"]
    def run(case):
        for name, more in (("all", ()), ("tiny", ("chunkSizeInBytes=1", "threads=3", "prefetch=1"))):
            case.keep(name, case.run("imrec", "minibatches", "--count", 60, *words, *more))
    return run


def randomized(entry):
    options = entry["params"]["options"]
    chunks = options.get("randomization_window_in_chunks", 0)
    window = chunks or options.get("randomization_window_in_samples", 1)
    words = source(entry) + [f"randomizationWindow={window}", f"sampleBasedRandomizationWindow={int(chunks == 0)}"]
    def run(case):
        for mode in "global", "local":
            full = words + ranks(entry["params"]) + ["rank_mode=" + mode]
            case.keep(mode, case.run("imrec", "minibatches", "--count", 60, *full))
    return run


def binary(entry):
    def run(case):
        if "cbf" in entry:
            path = CNTK + entry["cbf"]
            for precision in "float", "double":
                words = ["randomize=false", "minibatchSize=1000000", "precision=" + precision, "type=binary"]
                case.keep(precision, case.run("imrec", "minibatches", path, *words))
            for command in "info", "verify", "cat":
                case.keep_json(command, case.run("imrec", command, "--json", path))
        if entry["kind"] == "ctf2bin":
            words = ["--input", CNTK + entry["file"], "--header", CNTK + entry["header"]]
            words += ["--chunk-size", entry["chunk_size"], "--precision", entry["precision"]]
            words += ["--output", case.folder + "/new.cbf"]
            case.keep_json("json", case.run("ctf2bin", "--json", *words))
            case.keep_files()
    return run


def cntk(shared):
    manifest = load(shared, "cntk/MANIFEST.json")
    for entry in manifest["ctf"] + manifest["unit"] + manifest["cbf"]:
        if entry["kind"] == "ctf" and "file" in entry:
            yield "text/" + entry["name"], in_order(entry)
        else:
            yield "binary/" + entry["name"], binary(entry)
    for entry in manifest["random"]:
        yield "random/" + entry["name"], randomized(entry)


def cases(shared):
    yield from mxnet(shared)
    yield from cntk(shared)
