"""Manual pages, of the few macros that the programs write, as Markdown. A macro that is not known is an error."""
import re

from words import escape, span


def unescaped(text):
    return text.replace(r"\-", "-").replace(r"\&", "").replace(r"\(aq", "'").replace(r"\e", "\\")


def inline(text):
    """Words in bold are code, words in italics are emphasized."""
    out, at = [], 0
    for found in re.finditer(r"\\f([BI])(.*?)\\f[RP]", text):
        out.append(escape(unescaped(text[at:found.start()])))
        word = unescaped(found[2])
        out.append(span(word) if found[1] == "B" else f"*{escape(word)}*")
        at = found.end()
    return "".join(out) + escape(unescaped(text[at:]))


def plain(text):
    return unescaped(re.sub(r"\\f[BIRP]", "", text))


def page(path):
    lines = path.read_text().splitlines()
    name = path.stem
    out, paragraph = [f"# {name}(1)"], []

    def flush():
        if paragraph:
            out.append("\n".join(paragraph))
            paragraph.clear()

    while lines:
        line = lines.pop(0)
        macro, _, rest = line.partition(" ") if line.startswith(".") else ("", "", "")
        if macro == ".EX":
            flush()
            block = []
            while lines[0] != ".EE":
                block.append(plain(lines.pop(0)))
            lines.pop(0)
            out.append("```text\n" + "\n".join(block) + "\n```")
        elif macro in (".SH", ".SS", ".PP"):
            flush()
            if macro != ".PP":
                title = plain(rest.strip('"'))
                out.append(("## " if macro == ".SH" else "### ") + escape(title.capitalize() if macro == ".SH" else title))
        elif macro == ".TP":
            flush()
            paragraph.append(inline(lines.pop(0)))
            paragraph.append(":   " + inline(lines.pop(0)))
            while lines and not lines[0].startswith("."):
                paragraph.append("    " + inline(lines.pop(0)))
            flush()
        elif macro == ".B":
            flush()
            block = []
            while macro == ".B":  # a program, its operands, and perhaps others of that form
                block.append(f"{plain(rest)} {plain(lines.pop(0))}")
                if lines[0] == ".br":
                    lines.pop(0)
                macro, _, rest = lines[0].partition(" ")
                if macro == ".B":
                    lines.pop(0)
            out.append("```text\n" + "\n".join(block) + "\n```")
        elif macro == ".TH" or macro == ".br":
            continue
        elif macro:
            raise SystemExit(f"{path}: {line}: a macro that tools/site/manuals.py does not know")
        else:
            paragraph.append(inline(line))
    flush()
    return "\n\n".join(out) + "\n"
