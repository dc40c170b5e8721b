"""Tables of the documentation inside source distributions as passages, with questions about their rows.

    python tables.py .data/pack3 SDISTS ../../shared/data    # adds passages and rows (docs_table) to the end of train.json.xz

Markdown, list, grid and simple tables, and definition lists of at least three terms written as tables, all as Markdown: training text
had none, a book has many. A row is the evidence; what is asked for is a cell by the row's first one, or the first one by a cell."""

import itertools
import json
import lzma
import random
import re
import sys
from pathlib import Path

from build_data import dump, grams, measured_text
from docs_pairs import clean_inline, pages, rst_sections
from text import sentences

SHORT = 7  # words of a cell that a question names
WIDE, LONG = 6, 24  # columns, rows
SPOKEN = re.compile(r"descr|mean|purpose|note|comment|detail|explan|what|use|effect|behavio|defin", re.I)  # fmt: skip
HEADS = (("Name", "Description"), ("Option", "Meaning"), ("Term", "Description"), ("Name", "What it does"), ("Setting", "Purpose"))  # fmt: skip


def cell(text: str) -> str:
    return re.sub(r"\s+", " ", clean_inline(text)).replace("|", "/").strip()


def piped(lines: list[str], at: int):
    """A Markdown table whose second line is at `at`."""
    split = lambda x: [cell(c) for c in re.split(r"(?<!\\)\|", x.strip().strip("|"))]
    end = at + 1
    while end < len(lines) and "|" in lines[end]:
        end += 1
    return [split(lines[at - 1]), *map(split, lines[at + 1 : end])], end


def listed(lines: list[str], at: int):
    """`.. list-table::` at `at`."""
    indent, end, rows = len(lines[at]) - len(lines[at].lstrip()), at + 1, []
    while end < len(lines) and (
        not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > indent
    ):
        m = re.match(r"\s*(\*\s+-|-)(?:\s+(.*))?$", lines[end])
        if m and m.group(1) != "-":
            rows.append([m.group(2) or ""])
        elif m and rows:
            rows[-1].append(m.group(2) or "")
        elif rows and lines[end].strip():
            rows[-1][-1] += " " + lines[end].strip()
        end += 1
    return [[cell(c) for c in r] for r in rows], end


def ruled(lines: list[str], at: int):
    """A grid table (`+---+`) or a simple one (`=== ===`) whose first rule is at `at`."""
    rule = lines[at].rstrip()
    if "+" in rule:
        cuts = [i for i, c in enumerate(rule) if c == "+"]
        spans = list(itertools.pairwise(cuts))
        rows, end, row = [], at + 1, None
        while end < len(lines) and lines[end].lstrip()[:1] in ("|", "+"):
            if lines[end].lstrip()[0] == "+":
                row = None
            else:
                part = [lines[end][a + 1 : b].strip() for a, b in spans]
                if row is None:
                    rows.append(row := part)
                else:
                    row[:] = [f"{x} {y}".strip() for x, y in zip(row, part, strict=True)]
            end += 1
    else:
        starts = [m.start() for m in re.finditer(r"=+", rule)]
        spans = list(zip(starts, [*starts[1:], None], strict=True))
        rows, end, rules = [], at + 1, 1
        while end < len(lines) and rules < 3 and end - at < 80:
            line = lines[end]
            if re.match(r"^\s*={2,}( +={2,})+\s*$", line):
                rules += 1
            elif line.strip():
                part = [line[a:b].strip() for a, b in spans]
                if part[0] or not rows:
                    rows.append(part)
                else:
                    rows[-1] = [f"{x} {y}".strip() for x, y in zip(rows[-1], part, strict=True)]
            end += 1
        if rules < 3:
            rows = []
    return [[cell(c) for c in r] for r in rows], end


def defined(lines: list[str], at: int, rng: random.Random):
    """A definition list, or bullets that begin with a term: at least three."""
    rows, end = [list(rng.choice(HEADS))], at
    while end < len(lines):
        line = lines[end]
        bullet = re.match(r"^[-*] (\*\*[^*]+\*\*|`+[^`]+`+)\s*(?:[:–—-]|--)\s+(\S.*)$", line)
        below = lines[end + 1] if end + 1 < len(lines) else ""
        if bullet:
            term, said = bullet.groups()
        elif (
            re.match(r"^\S.{1,50}$", line)
            and not line.startswith(("..", ":", "-", "*", "|", "+", "="))
            and re.match(r"^ {2,8}\S", below)
            and not line.rstrip().endswith((":", ".", ","))
        ):
            term, said = line, ""
        else:
            break
        end += 1
        while end < len(lines) and (re.match(r"^\s+\S", lines[end]) and not lines[end].strip().startswith(("..", ">>>"))):  # fmt: skip
            said += " " + lines[end].strip()
            end += 1
        while end < len(lines) and not lines[end].strip():
            end += 1
        rows.append([cell(term.replace("**", "")), cell(said)])
    return (rows, end) if len(rows) > 3 else ([], at)


def found(lines: list[str], rng: random.Random):
    """(line, rows) of the tables of a section, the header first."""
    i = 0
    while i < len(lines):
        line, rows, end = lines[i], [], i + 1
        if i and "|" in line and "-" in line and re.match(r"^\s*\|?[\s:|-]+$", line) and "|" in lines[i - 1]:  # fmt: skip
            rows, end = piped(lines, i)
        elif re.match(r"^\s*\.\. list-table::", line):
            rows, end = listed(lines, i)
        elif re.match(r"^\s*\+-{2,}[-+]+\+\s*$", line) or re.match(r"^\s*={2,}( +={2,})+\s*$", line):  # fmt: skip
            rows, end = ruled(lines, i)
        elif line.strip():
            rows, end = defined(lines, i, rng)
            end = max(end, i + 1)
        if rows:
            yield i, rows
        i = end


def fits(rows: list[list[str]]) -> bool:
    wide = len(rows[0])
    return (
        2 <= wide <= WIDE
        and len(rows) >= 3
        and all(len(r) == wide and 0 < len(r[0].split()) <= 10 for r in rows)
        and len({r[0] for r in rows}) == len(rows)
        and sum(bool(c) for r in rows for c in r) > 0.8 * wide * len(rows)
        and all(re.search(r"[A-Za-z]", c) and len(c.split()) < 6 for c in rows[0])
    )


def asked(head: list[str], rows: list[list[str]], r: list[str], rng: random.Random) -> list[str]:
    """Questions that this row answers and no other."""
    out, plain = [], lambda x: x.replace("`", "").replace("*", "").strip()
    lower = lambda x: x if re.search(r"[A-Z].*[A-Z]", x) else x.lower()
    key, first = plain(r[0]), lower(plain(head[0]))
    for k in range(1, len(r)):
        value, name = plain(r[k]), lower(plain(head[k]))
        if not value or len(key.split()) > SHORT:
            continue
        if SPOKEN.search(name) or len(value.split()) > 8:
            out += [f"What does {key} do?", f"What is {key}?", f"What is {key} for?", f"What does {key} mean?", f"what is the {name} of {key}"]  # fmt: skip
        else:
            out += [f"What is the {name} of {key}?", f"Which {name} does {key} have?", f"What {name} does {key} use?", f"{name} of {key}", f"What is {key}'s {name}?"]  # fmt: skip
            if len(value.split()) <= 5 and sum(x[k] == r[k] for x in rows) == 1:
                out += [f"Which {first} has the {name} {value}?", f"Which {first} has a {name} of {value}?", f"What {first} is for {value}?"]  # fmt: skip
    return rng.sample(out, min(2, len(out)))


def build(folder: Path, seed: int = 11, per_project: int = 500):
    rng, passages, rows = random.Random(seed), [], []
    count: dict[str, int] = {}
    for project, _name, text in pages(folder):
        stack: list[tuple[int, str]] = []
        for level, heading, lines in rst_sections(text):
            if level:
                stack = [s for s in stack if s[0] < level] + [(level, heading)]
            path = " > ".join(h for _, h in stack)
            for at, table in found(lines, rng):
                if not fits(table) or count.get(project, 0) > per_project:
                    continue
                head, body = table[0], table[1:LONG]
                before = " ".join(x.strip() for x in lines[max(0, at - 6) : at - 1] if x.strip())
                before = cell(before)[-250:] if re.match(r"^[\w\s`,.'():-]+$", before or "!") else ""  # fmt: skip
                line = lambda r: "| " + " | ".join(r) + " |"
                for a in range(0, len(body), 8):
                    part = [r for r in body[a : a + 8] if len(line(r)) < 500]
                    if len(part) < 2:
                        continue
                    top = [line(head), "|" + " --- |" * len(head)]
                    text_ = "\n".join([*([before, ""] if before and not a else []), *top, *map(line, part)])  # fmt: skip
                    spans = {text_[x:y]: [x, y] for x, y in sentences(text_)}
                    passages.append([path, text_])
                    for r in part:
                        if line(r) in spans:
                            for q in asked(head, body, r, rng):
                                rows.append({"q": q, "p": len(passages) - 1, "y": 1, "src": "docs_table", "ev": [spans[line(r)]]})  # fmt: skip
                                count[project] = count.get(project, 0) + 1
    return passages, rows


def main() -> None:
    pack, sdists, measured = Path(sys.argv[1]), Path(sys.argv[2]), set()
    passages, rows = build(sdists)
    print(len(passages), "passages", len(rows), "rows")
    for text in measured_text(Path(sys.argv[3])):
        measured |= grams(text)
    clean = [len(grams(p[1]) & measured) <= 2 for p in passages]
    data = json.load(lzma.open(pack / "train.json.xz"))
    first, new = len(data["P"]), {}
    for i, p in enumerate(passages):
        if clean[i]:
            new[i] = first + len(new)
            data["P"].append(p)
    data["rows"] += [{**r, "p": new[r["p"]]} for r in rows if r["p"] in new]
    print(len(new), "passages kept")
    dump(pack / "train.json.xz", data)


if __name__ == "__main__":
    main()
