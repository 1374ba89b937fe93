"""Text of headers, docstrings and manuals as Markdown."""
import re
import textwrap

CODE = re.compile(r"`[^`\n]+`|(?<![\w/`])(?:(?:struct |enum )?imrec_\w+(?:\(\))?|IMREC_\w+|docs/[\w/]+\.md)(?![\w`])")


def escape(text):
    """Characters that Markdown would take as its own."""
    return re.sub(r"([\\`*_<>\[\]|~{}#$])", r"\\\1", text)


def span(code):
    """`code`, which may contain backticks."""
    fence = "``" if "`" in code else "`"
    return f"{fence}{code}{fence}"


def inline(text, known=None):
    """A paragraph: names are code, and those that `known` has (headers.Names) lead to their declaration."""
    out, at = [], 0
    for found in CODE.finditer(text):
        out.append(escape(text[at:found.start()]))
        label = known.get(found[0]) if known else None
        if found[0][0] == "`":
            out.append(found[0])
        elif found[0].startswith("docs/"):
            out.append(f"[{found[0]}](/{found[0][len('docs/'):]})")
        else:
            out.append(f"[{span(found[0])}](#{label})" if label else span(found[0]))
        at = found.end()
    return "".join(out) + escape(text[at:])


def paragraphs(text, known=None, terms=False):
    """Text in paragraphs. Lines that are indented are kept as they are; with `terms`, `name: text` and `name  text`, whose
    further lines are indented, are a list of definitions."""
    out, lines = [], textwrap.dedent(text).strip("\n").splitlines()
    while lines:
        if not lines[0].strip():
            lines.pop(0)
            continue
        block = [lines.pop(0)]
        indented = block[0][0] == " "
        while lines and lines[0].strip() and (indented or terms or lines[0][0] != " "):
            if indented and lines[0][0] != " ":
                break
            block.append(lines.pop(0))
        if indented:
            out.append("```text\n" + textwrap.dedent("\n".join(block)) + "\n```")
        elif terms and re.match(r"[\w, ]+(:| {2,})\S?", block[0]) and (len(block) == 1 or any(b[0] == " " for b in block)):
            out.append(definitions(block, known))
        else:
            out.append(inline(" ".join(" ".join(block).split()), known))
    return "\n\n".join(out)


def definitions(block, known):
    out = []
    for line in block:
        begin = re.match(r"([\w, ]+?)(?:: | {2,}|:$)(.*)", line)
        if line[0] != " " and begin:
            out.append([begin[1], begin[2]])
        elif out:
            out[-1][1] += " " + line.strip()
        else:
            out.append([line, ""])
    return "\n".join(f"- {span(name)}: {inline(' '.join(text.split()), known)}" for name, text in out)
