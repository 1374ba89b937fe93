"""The public headers as pages: a heading for each declaration, its comment as text, and the declaration itself."""
import re

from words import escape, paragraphs

NAMES = re.compile(r"^(struct|enum) (imrec_\w+)(?= \{|;)|^#(define) (IMREC_\w+)|^(typedef) .*?\b(imrec_\w+)\(|()\b(imrec_\w+)\(", re.M)
PARAMETERS = "/reference/parameters.md"


def comment(text):
    """What a comment says, without its marks."""
    text = re.sub(r"^/\*+ ?|\s*\*/$", "", text.strip())
    return re.sub(r"(?m)^ ?\*(?: (?! )|(?= {2})|$)", "", text)


def cut(source):
    """(comment, code) of each group of declarations; the first one is the header itself."""
    source = re.sub(r"/\* clang-format \w+ \*/\n", "", source)
    source = re.sub(r"(?m)^#(?:ifndef|ifdef|endif|include).*\n|^#define IMREC_\w+_H\n", "", source)
    source = re.sub(r'(?m)^extern "C" \{\n|^\}\n(?=\s*\Z)', "", source)
    source = re.sub(r"(?m)^\}\n(?=\s*/\*.*\*/\s*\Z)", "", source)
    groups, said, code = [], "", []
    lines = source.splitlines()
    while lines:
        line = lines.pop(0)
        if line.startswith("/*"):
            if code:
                groups.append((said, "\n".join(code)))
            elif said:
                groups.append((said, ""))
            block = [line]
            while "*/" not in block[-1]:
                block.append(lines.pop(0))
            said, code = comment("\n".join(block)), []
        elif line.strip():
            begin = len(code)
            code.append(line)
            while code[-1].endswith("\\") if line.startswith("#") else not ended("\n".join(code[begin:])):
                code.append(lines.pop(0))
        elif code:
            groups.append((said, "\n".join(code)))
            said, code = "", []
        elif said and not groups:
            groups.append((said, ""))
            said = ""
    if said or code:
        groups.append((said, "\n".join(code)))
    return groups


def ended(code):
    """No brace, parenthesis or comment is open, and the last line ends a declaration."""
    bare = re.sub(r"/\*.*?\*/|\"(?:\\.|[^\"])*\"", "", code, flags=re.S)
    if "/*" in bare or any(bare.count(a) != bare.count(b) for a, b in ("{}", "()")):
        return False
    last = [line for line in bare.rstrip().splitlines() if line.strip()][-1:]
    return not last or last[0].rstrip()[-1] in ";}"


def declared(code):
    """(kind, name) of what a group declares, in its order; kind: struct, enum, define, typedef, or nothing for a function."""
    bare = re.sub(r"/\*.*?\*/", "", code, flags=re.S)
    bare = re.sub(r"(?s)(static inline [^{]*)\{.*?^\}", r"\1;", bare, flags=re.M)
    bare = re.sub(r"(?ms)^((?:struct|enum) \w+) \{.*?\};", r"\1 {;", bare)
    found = []
    for piece in bare.split(";"):
        for match in NAMES.finditer(piece.strip() + ";"):
            kind, name = (g for g in match.groups() if g is not None)
            if (kind, name) not in found:
                found.append((kind, name))
            if kind != "define":
                break
    return found


def label(kind, name):
    """The anchor of a declaration. Anchors know no capital letters: a macro may have a function's name."""
    return f"{kind}-{name}" if kind else name


def is_forward(kind, name, code):
    return kind in ("struct", "enum") and not re.search(rf"(?m)^{kind} {name} \{{", code)


def heading(names):
    """What a group is called: a function that takes a size stands for itself only without the inline one."""
    shown = [(k, n) for k, n in names if not (n.endswith("_sized") and (k, n[:-len("_sized")]) in names)]
    text = [f"{k} {n}" if k in ("struct", "enum") else n if k else f"{n}()" for k, n in shown]
    return ", ".join(text[:4]) + (", ..." if len(text) > 4 else "")


TABLE = re.compile(r"#define (\w+)\(X\) (?:/\*.*\*/ )?\\\n((?:.*\\\n)*.*)")


def without_rows(code):
    """A table is on a page of its own."""
    return TABLE.sub(r"#define \1(X) /* a row for each parameter */", code)


def fields(rows, tables):
    """The fields that the rows of a table, and of tables in it, are in a struct."""
    out = ""
    for table, kind, name in re.findall(r"(?m)^ *(?:(\w+)\(X\)|X\(([^,]+), *(\w+),)", rows):
        out += fields(tables[table], tables) if table else f"    {kind}{'' if kind.endswith('*') else ' '}{name};\n"
    return out


class Names:
    """Where each declaration is, of all headers: the definition of a struct, else the first place that names it."""

    def __init__(self, headers):
        self.homes = {}
        self.tables = {name: rows for path in headers for name, rows in TABLE.findall(path.read_text())}
        for forward in (False, True):
            for path in headers:
                for _, code in cut(path.read_text()):
                    for kind, name in declared(code):
                        if is_forward(kind, name, code) == forward:
                            self.homes.setdefault(label(kind, name), (path.name, forward))

    def with_fields(self, code):
        """A struct with its fields instead of the macro that makes them."""
        return re.sub(r"(?m)^ *(\w+_PARAMS)\(IMREC_FIELD\)\n", lambda found: fields(self.tables[found[1]], self.tables), code)

    def get(self, text):
        """The label that a name in a text means, or None."""
        kind, _, name = text.removesuffix("()").rpartition(" ")
        kinds = [kind] if kind else ["", "struct", "enum", "define", "typedef"]
        return next((label(k, name) for k in kinds if label(k, name) in self.homes), None)


def about(said):
    """The comment that a header begins with, without the header's name."""
    said = re.sub(r"^imrec/\w+\.h - ", "", said)
    return said[:1].upper() + said[1:]


def summary(path):
    """Its first sentence, for a table."""
    said = " ".join(about(cut(path.read_text())[0][0]).split())
    return escape(re.split(r"(?<=[^.]\.)(?: |$)", said)[0])


def page(path, known):
    groups = cut(path.read_text())
    out = [f"# `imrec/{path.name}`", paragraphs(about(groups[0][0]), known)]
    if groups[0][1]:
        groups.insert(0, ("", ""))
        groups[1] = ("", groups[1][1])
    for said, code in groups[1:]:
        if not code:
            out.append(paragraphs(said, known))
            continue
        names = declared(code)
        labels = [label(*n) for n in names if known.homes.get(label(*n)) == (path.name, is_forward(*n, code))]
        out.append("\n".join(f"({n})=" for n in labels if labels))
        out.append(f"## {heading(names)}".replace("_", r"\_"))
        out.append(paragraphs(said, known))
        short = known.with_fields(without_rows(code))
        out.append(f"```c\n{short}\n```")
        if short != code:
            out.append(f"[The parameters, with their defaults]({PARAMETERS}).")
    return "\n\n".join(piece for piece in out if piece) + "\n"
