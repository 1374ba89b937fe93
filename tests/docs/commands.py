#!/usr/bin/env python3
"""commands.py SOURCE FOLDER... - every command of imrec, im2rec and ctf2bin that README.md, docs/, examples/ and packaging/
show is one that the programs, which are in the FOLDERs, take: known commands, options and parameters, values where they are needed, what is
required, enough operands. Nothing is run but --help, with which commands are compared; its examples are checked, too.

Checked are blocks of code, also several commands a line and those in quotes after sh -c; "..." at the end of a command
says that something is left out. Code in the text of a page (`imrec ls --fields`) may lack operands and what is required.
"""
import functools
import os
import pathlib
import re
import shlex
import subprocess
import sys

PROGRAMS = ("imrec", "im2rec", "ctf2bin")
BEFORE = {"!", "{", "if", "then", "else", "do", "while", "time", "exec", "sudo", "nohup", "env"}
LAUNCHERS = {"srun", "mpirun", "mpiexec", "xargs"}
OPTION = re.compile(r"^  --([\w-]+)(?:=((?:\S| (?! ))+))?", re.M)
KEY = re.compile(r"^  (\w+)=", re.M)
PAIR = re.compile(r"([A-Za-z0-9_.-]+)=")
MXNET = {"color", "nsplit", "part", "unchanged"}  # im2rec's, as its --help says in its text
LEFT_OUT = "..."


class Usage:
    """What --help says of one command."""

    def __init__(self, name, said):
        flags, _, keys = said.partition(", key=value after the operands:\n")
        self.name, self.examples = name, (re.search(r"^Examples:\n((?:  .*\n)+)", said, re.M) or [None, ""])[1]
        self.units = {found[1]: found[2] or "" for found in OPTION.finditer(flags)}
        self.required = {found[1] for found in OPTION.finditer(flags)
                         if "(required)" in re.split(r"^  --", flags[found.end():], maxsplit=1, flags=re.M)[0]}
        self.mentioned = set(re.findall(r"--([a-z][\w-]+)", flags))
        self.keys = set(KEY.findall(keys))
        self.forms = [self.form(words) for words in re.findall(rf"^(?:Usage:|      ) {name} (.*)", said, re.M)]

    def form(self, words):
        """(flags, number of operands, words) of one line of the usage."""
        flags, operands, rest = set(), 0, iter(re.sub(r"\[[^\]]*\]", "", words).split())
        for word in rest:
            if word.startswith("--"):
                name, equals, _ = word[2:].partition("=")
                flags.add(name)
                if self.units.get(name) and not equals:
                    next(rest)
            else:
                operands += 1
        return flags, operands, words

    def option(self, name, value):
        """Says what is wrong with --name=value; value is None where there is none."""
        positive = name[3:] if name.startswith("no-") else name
        if name not in self.units and not (positive in self.units and not self.units[positive]):
            return None if name in self.mentioned else f"there is no --{name}"
        unit = self.units.get(name, "")
        if value is None:
            return f"--{name} needs a value: {unit}" if unit and name != "tile" else None  # --tile is --tile=yes
        if f"{name}-of" in self.units and "=" in value:  # --precision NAME=double
            return None
        one_of = re.fullmatch(r"[a-z0-9]+(\|[a-z0-9]+)+", unit)
        return f"--{name} is one of {unit}, not {value}" if one_of and value not in unit.split("|") else None

    def pair(self, name):
        """Says what is wrong with name=..."""
        if name == "key" or name in self.keys:
            return None
        if name.replace("_", "-") in self.units:
            return None if self.name == "im2rec" else f"{name}= is no parameter, but there is --{name.replace('_', '-')}"
        if self.name == "im2rec":
            return None if name in MXNET else f"there is no parameter {name}="
        # Others than the iterator's are CNTK's, and names of a configuration.
        return f"there is no parameter {name}=" if "path_imgrec" in self.keys else None


@functools.lru_cache(None)
def usage(name):
    done = subprocess.run([*name.split(), "--help"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return Usage(name, done.stdout) if done.returncode == 0 else None


def read(u, arguments, complete):
    """(flags, number of operands, what is wrong) of arguments that follow the command's name."""
    flags, operands, wrong, rest = set(), 0, [], list(arguments)
    while rest:
        word = rest.pop(0)
        if word.startswith("--") and len(word) > 2:
            name, equals, value = word[2:].partition("=")
            name = name.replace("_", "-")
            if not equals and u.units.get(name) and rest and not rest[0].startswith("--") and \
                    not (name == "tile" and rest[0] not in u.units[name].split("|")):
                value, equals = rest.pop(0), "="
            if equals or rest or complete:  # `im2rec --masks` in a sentence
                wrong.append(u.option(name, value if equals else None))
            flags.add(name)
        elif PAIR.match(word) and (operands or u.name == "im2rec"):  # the first operand may be mix=...
            if not ({"minibatches", "augment"} & flags):
                wrong.append(u.pair(PAIR.match(word)[1]))
        elif word not in ("[OPTIONS]", LEFT_OUT):
            operands += 1
    return flags, operands, [w for w in wrong if w]


def check_one(words, complete):
    """What is wrong with a command, whose first word is the program."""
    if LEFT_OUT in words:
        complete = False
    words = [word.strip("[]") for word in words if word not in ("[OPTIONS]", "[key=value", "...]", "key=value...")]
    name = words.pop(0)
    if name == "imrec":
        if not words or not re.fullmatch("[a-z]+", words[0]):  # --version, COMMAND; "imrec 0.1.0"
            return []
        name = f"imrec {words.pop(0)}"
    u = usage(name)
    if u is None:
        return [] if name == "imrec help" else [f"there is no {name}"]
    if "--help" in words or "--version" in words:
        return []
    flags, operands, wrong = read(u, words, complete)
    if complete:
        wrong += [f"--{flag} is required" for flag in sorted(u.required - flags)]
        if not any(needs - u.required <= flags and operands >= count for needs, count, _ in u.forms):
            wrong.append("operands are missing: " + " or ".join(f"{name} {form}" for _, _, form in u.forms))
    return wrong


def simple_commands(tokens):
    """The words of each command of a line, without what a shell takes for itself."""
    words, skip = [], False
    for token in [*tokens, ";"]:
        if skip:
            skip = False
        elif set(token) <= set("<>&") and set(token) & set("<>"):
            skip = True
            if words and words[-1].isdigit():
                words.pop()
        elif set(token) <= set("();|&"):
            yield words
            words = []
        else:
            words.append(token)


def program_at(words):
    """Where in a simple command one of the programs is called; None: nowhere."""
    for i, word in enumerate(words):
        if word in PROGRAMS:
            return i
        if word not in BEFORE and word not in LAUNCHERS and not PAIR.match(word) and words[0] not in LAUNCHERS:
            return None
    return None


def split(text):
    lexer = shlex.shlex(text, posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    return list(lexer)


def check_tokens(tokens, complete):
    found = []
    for words in simple_commands(tokens):
        at = program_at(words)
        if at is not None:
            found.append((words[at:], check_one(words[at:], complete)))
        for word in words if at is None else []:  # sh -c '...'
            if re.search(r"\b(imrec|im2rec|ctf2bin) ", word) and " " in word.strip():
                found += check_tokens(split(word), complete)
    return found


def check_lines(lines):
    """(number of the line, command, what is wrong) of commands in lines of a shell."""
    i = 0
    while i < len(lines):
        first, text = i, lines[i]
        i += 1
        while i < len(lines) and i < first + 12 and re.search(r"\b(imrec|im2rec|ctf2bin) |^\s*\w+ ", text):
            if text.endswith("\\"):
                text = text[:-1]
            else:
                try:
                    split(text)
                    break
                except ValueError:  # a quotation is not closed in this line
                    pass
            text += " " + lines[i].strip()
            i += 1
        try:
            tokens = split(re.sub(r"^\s*\$ ", "", text))
        except ValueError:
            i = first + 1  # no shell: prose, or another language
            continue
        for words, wrong in check_tokens(tokens, complete=True):
            yield first, words, wrong


def blocks(text):
    """(first line, lines) of each block of code, fenced or indented; and the lines of text."""
    lines, found, prose = text.splitlines(), [], []
    i = 0
    while i < len(lines):
        fence = re.match(r"\s*```", lines[i])
        first = i + bool(fence)
        if fence:
            i = first
            while i < len(lines) and not lines[i].lstrip().startswith("```"):
                i += 1
            found.append((first, lines[first:i]))
            i += 1
        elif lines[i].startswith("    ") and (i == 0 or not lines[i - 1].strip()):
            while i < len(lines) and lines[i].startswith("    "):
                i += 1
            found.append((first, lines[first:i]))
        else:
            prose.append((i, lines[i]))
            i += 1
    return found, prose


def check_page(path):
    """(where, command, what is wrong) of all commands of a document or an example."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".c":
        text = re.sub(r"(?m)^ \*(?: |$)", "", text)  # comments
    found, prose = blocks(text)
    for first, lines in found:
        for i, words, wrong in check_lines(lines):
            yield f"{path}:{first + i + 1}", words, wrong
    for i, line in prose if path.suffix == ".md" else []:
        for code in re.findall(r"`((?:imrec|im2rec|ctf2bin) [^`]+)`", line):
            try:
                tokens = split(code)
            except ValueError:
                continue
            for words, wrong in check_tokens(tokens, complete=False):
                yield f"{path}:{i + 1}", words, wrong


def check_examples():
    """Those of --help."""
    names = ["im2rec", "ctf2bin", *(f"imrec {found}" for found in re.findall(
        r"^  (\w+) ", subprocess.run(["imrec", "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout, re.M))]
    for name in names:
        for _, words, wrong in check_lines(usage(name).examples.splitlines()):
            yield f"{name} --help", words, wrong


def pages(source):
    yield from (source / name for name in ("README.md", "CONTRIBUTING.md"))
    for folder in ("docs", "examples", "packaging"):
        yield from sorted(path for path in (source / folder).rglob("*") if path.suffix in (".md", ".c", ".py"))


def main(source, *folders):
    os.environ["PATH"] = os.pathsep.join([*folders, os.environ["PATH"]])
    count = bad = 0
    for found in (check_examples(), *map(check_page, pages(pathlib.Path(source)))):
        for where, words, wrong in found:
            count += 1
            bad += bool(wrong)
            for what in wrong:
                print(f"{where}: {what}: {' '.join(words)}")
    print(f"{count} commands, {bad} of them wrong")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
