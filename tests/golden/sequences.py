"""CNTK's texts and binary files: minibatches, positions, ranks, conversions, and what is told of them."""
import json
import os
import shutil

from case import lines

TEXTS = "in/texts/"
X = "input.x.format=dense input.x.dim=3"
WORDS = "input.words.alias=w input.words.format=sparse input.words.dim=20"
MAIN = f"{X} {WORDS} input.y.format=dense input.y.dim=1"
CHUNKS = "chunk_size_in_bytes=600"
SOURCES = {
    "text": f"{TEXTS}main.ctf {MAIN}",
    "two": f"{TEXTS}main.ctf;{TEXTS}second.ctf {MAIN}",
    "lines": f"{TEXTS}lines.ctf {MAIN}",
    "even": f"{TEXTS}even.ctf {X} {WORDS}",
    "binary": "out/convert/main/new.cbf",
    "chunks": "out/convert/chunks/new.cbf",
    "reader": TEXTS + "reader.cntk",
    "joint": TEXTS + "joint.cntk",
}

ORDERS = lines("""
    randomize=0
    randomize=1
    randomization_seed=3
    minibatch_size_in_samples=1
    minibatch_size_in_samples=7 max_sweeps=3
    minibatch_size_in_samples=10*2+30
    epoch_size=25
    epoch_size=25 label_stream=x max_sweeps=2
    max_samples=40
    randomization_window=2 max_sweeps=2
    sample_based_randomization_window=1 randomization_window=20 max_sweeps=2
    precision=double
    threads=1
    threads=4 prefetch=5
    keep_data_in_memory=1 max_sweeps=3
    randomize=0 max_sweeps=2 epoch_size=FULL_DATA_SWEEP
    truncated=false truncation_length=2
    truncation_length=2
""")
TRUNCATED = lines("""
    truncation_length=3 randomize=0
    truncation_length=2 minibatch_size_in_samples=6 max_sweeps=2
    truncated=true truncation_length=1
    truncation_length=4 precision=double
    truncation_length=2 epoch_size=30
    truncation_length=2 max_samples=50
    truncation_length=3 randomization_window=2 chunk_size_in_bytes=400
    truncation_length=2 input.x.defines_mb_size=1
""")
IN_CHUNKS = lines("""
    randomize=0
    randomize=1
    randomization_window=1
    randomization_window=3 max_sweeps=3
    keep_data_in_memory=1 max_sweeps=2
    sample_based_randomization_window=1 randomization_window=30
    threads=3 prefetch=1
    max_samples=90 max_sweeps=0
""")
OF_TEXT = lines("""
    skip_sequence_ids=1
    skip_sequence_ids=1 frame_mode=0 randomize=0
    frame_mode=1
    input.y.defines_mb_size=1
    input.x.precision=double
    memory_limit=1000
""")
CACHED = lines("""
    randomize=0
    max_sweeps=2
    chunk_size_in_bytes=600
    skip_sequence_ids=1
    input.y.defines_mb_size=1
    ignore_unknown_inputs=1
""")
# NAME: text, header and options of ctf2bin, or of imrec convert.
CONVERTED = lines("""
    threads_1: main.ctf main.txt --chunk-size 700 --threads 1
    threads_3: main.ctf main.txt --chunk-size 700 --threads 3
    double: main.ctf main.txt --precision double
    typed: main.ctf typed.txt --ignore-unknown-inputs
    unknown: main.ctf typed.txt
    one double: main.ctf main.txt --precision-of y=double
    size by y: main.ctf main.txt --defines-mb-size y
    lines: lines.ctf main.txt
    single lines: main.ctf main.txt --skip-sequence-ids
    bad: bad.ctf main.txt
    bad that is dropped: bad.ctf main.txt --max-errors 9
    reader: main.ctf reader.cntk
    action: main.ctf whole.cntk --action test
    imrec: second.ctf main.txt
    imrec chunks: second.ctf main.txt --chunk-size 300 --threads 2
    imrec types: second.ctf main.txt --precision-of y=double --defines-mb-size x
    imrec double: second.ctf main.txt --precision double
    imrec action: second.ctf whole.cntk --action Train
""")


# ---- minibatches ------------------------------------------------------------------------------------


def stream(case, name, words, *more):
    """All that is printed is data: values, ids, positions."""
    said = case.run("imrec", "minibatches", *words.split(), *more)
    case.keep(name, said)
    return said.decode().splitlines()


def continue_from(case, line, words):
    """From the position in a line that was printed."""
    here = case.folder + "/here.json"
    with open(case.at(here), "w", encoding="utf-8") as f:
        json.dump(json.loads(line)["position"], f)
    stream(case, "rest", words, "--from", here)


def going_on(words):
    """All minibatches, and those behind the third one again."""
    words = words if "size_in_samples" in words else words + " minibatch_size_in_samples=9"
    def run(case):
        printed = stream(case, "all", words)
        if len(printed) > 3:
            continue_from(case, printed[2], words)
    return run


def of_ranks(words, count):
    def run(case):
        for rank in range(count):
            printed = stream(case, f"rank{rank}", f"{words} rank={rank}")
        if len(printed) > 3:
            continue_from(case, printed[1], f"{words} rank={count - 1}")
    return run


def minibatches():
    for source, where in SOURCES.items():
        for words in ORDERS + (TRUNCATED if source == "even" else ()):
            yield f"minibatch/{source} {words}", going_on(f"{where} {words}")
    for source in "text", "two", "reader":
        for words in IN_CHUNKS:
            yield f"minibatch/{source} chunks {words}", going_on(f"{SOURCES[source]} {CHUNKS} {words}")
    for source in "text", "chunks", "joint", "even":
        last = "truncation_length=2 randomize=0" if source == "even" else "epoch_size=30"
        for mode in "global", "local":
            for count in 2, 3:
                for words in "randomize=0", "randomize=1 max_sweeps=2", last:
                    full = f"{SOURCES[source]} minibatch_size_in_samples=12 rank_mode={mode} num_ranks={count} {words}"
                    yield f"rank/{source} {mode} of {count} {words}", of_ranks(full, count)


def readers():
    for action in "train", "Test", "eval":
        yield "reader/whole action=" + action, going_on(f"{TEXTS}whole.cntk action={action}")
    yield "reader/whole", going_on(TEXTS + "whole.cntk")
    moved = f"{TEXTS}whole.cntk action=test data=nowhere file={TEXTS}main.ctf input.x.precision=double"
    yield "reader/moved", going_on(moved)
    for missing in "error", "drop":
        yield "reader/missing_ids=" + missing, going_on(f"{TEXTS}missing.cntk missing_ids={missing}")
    for words in OF_TEXT:
        yield "reader/text " + words, going_on(f"{SOURCES['text']} {words}")
    for words in "frame_mode=1", "frame_mode=1 truncation_length=2", "skip_sequence_ids=1":
        yield "reader/lines " + words, going_on(f"{SOURCES['lines']} {words}")
    for errors in 0, 3, 9:
        for words in "randomize=0", "randomize=1 " + CHUNKS:
            full = f"{TEXTS}bad.ctf {MAIN} max_errors={errors} trace_level=0 {words}"
            yield f"reader/bad max_errors={errors} {words}", going_on(full)
    yield "reader/unknown", going_on(f"{TEXTS}main.ctf {X}")
    yield "reader/ignored", going_on(f"{TEXTS}main.ctf {X} ignore_unknown_inputs=1")


def cached(words):
    """The index is written beside the text, and used by the second run."""
    def run(case):
        text = case.folder + "/text.ctf"
        shutil.copyfile(case.at(TEXTS + "main.ctf"), case.at(text))
        os.utime(case.at(text), (1600000000, 1600000000)) # which the index holds
        for name in "first", "second":
            stream(case, name, f"{text} {MAIN} cache_index=1 minibatch_size_in_samples=9 {words}")
        case.keep_files()
    return run


# ---- conversions ------------------------------------------------------------------------------------


def converted(text, header, *words, program="ctf2bin"):
    """To binary and back, and what the toolbox tells of it."""
    def run(case):
        new, text_path, header_path = case.folder + "/new.cbf", TEXTS + text, TEXTS + header
        if program == "ctf2bin":
            full = ["--json", "--input", text_path, "--header", header_path, "--output", new]
        else:
            full = ["convert", "--json", "--header", header_path, text_path, new]
        case.keep_json("json", case.run(program, *full, *words))
        if os.path.exists(case.at(new)):
            to_text(case, new)
            for command in "info", "verify":
                case.keep_json(command, case.run("imrec", command, "--json", new))
            case.keep("cat", case.run("imrec", "cat", "--json", new))
            case.keep("text", case.run("imrec", "cat", new))
        case.keep_files()
    return run


def to_text(case, binary):
    words = ["--header", case.folder + "/again.txt", binary, case.folder + "/again.ctf"]
    case.keep_json("back", case.run("imrec", "convert", "--json", *words))


def stored_images(name):
    def run(case):
        to_text(case, f"out/pack/{name}/set.cbf")
        case.keep_files()
    return run


def conversions():
    """Later cases read these two."""
    yield "convert/main", converted("main.ctf", "main.txt")
    yield "convert/chunks", converted("main.ctf", "main.txt", "--chunk-size", 700)


def more_conversions():
    for line in CONVERTED:
        name, words = line.split(": ")
        yield "convert/" + name, converted(*words.split(), program="imrec" if name.startswith("imrec") else "ctf2bin")
    for name in "pixels", "pixels_grey":
        yield "convert/" + name, stored_images(name)


def told(*words):
    def run(case):
        for command in "info", "verify":
            case.keep_json(command, case.run("imrec", command, "--json", *words))
        case.keep("cat", case.run("imrec", "cat", *words))
        case.keep("json", case.run("imrec", "cat", "--json", *words))
        case.keep("one", case.run("imrec", "cat", words[0], 13, *words[1:]))
    return run


def descriptions():
    for name, words in (("main", MAIN), ("lines", MAIN), ("bad", MAIN), ("bad", MAIN + " max_errors=9"), ("main", X),
                        ("second", X + " ignore_unknown_inputs=1"), ("beside", "input.z.format=dense input.z.dim=2")):
        short = words.replace(MAIN, "whole").replace(X, "x")
        yield f"text/{name} {short}", told(f"{TEXTS}{name}.ctf", *words.split())
    yield "text/reader", told(f"--config={TEXTS}reader.cntk")
    yield "text/action", told(f"--config={TEXTS}whole.cntk", "action=test")
    for words in CACHED:
        yield "cache/" + words, cached(words)


def cases():
    for family in minibatches, readers, more_conversions, descriptions:
        yield from family()
