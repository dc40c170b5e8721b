"""Question-passage pairs from the documentation inside source distributions of permissively licensed packages.

Headings become questions about their section, API entries questions about their first sentence, definitions "What is X?".
Nothing here is labelled by hand; `ev` is given only where the construction says which sentence answers."""

import random
import re
import tarfile
from pathlib import Path

from text import normal, sentences

UNDER = re.compile(r"^([=\-~^\"'#*+.:_`])\1{2,}\s*$")
SKIP_FILE = re.compile(
    r"change|release|whatsnew|whats_new|locale|news|history|licen|copying|authors|contribut|/api/generated|test",
    re.I,
)
GENERIC = set(
    "introduction overview notes note see also examples example usage parameters returns arguments options description summary "
    "background details reference references other miscellaneous misc getting started installation install features basic basics "
    "advanced general index contents table of contents api module attributes methods classes functions conclusion next steps "
    "prerequisites requirements tests testing links resources motivation rationale abstract status todo faq tutorial".split()
)
API = re.compile(
    r"^(\s*)\.\. (?:py:|std:|c:|js:)?(function|class|method|classmethod|staticmethod|attribute|data|setting|option|envvar|confval|"
    r"django-admin|templatetag|templatefilter|fieldlookup|exception|decorator|describe|cmdoption|program)::\s*(.+?)\s*$"
)
ROLE = re.compile(r":[a-zA-Z:+_-]+:`~?!?\.?([^`<]*?)(?:\s*<[^`>]*>)?`")


def clean_inline(line: str) -> str:
    line = ROLE.sub(
        lambda m: (
            "`" + m.group(1).split(".")[-1] + "`"
            if "." in m.group(1) and " " not in m.group(1)
            else m.group(1)
        ),
        line,
    )
    line = re.sub(r"``([^`]+)``", r"`\1`", line)
    line = re.sub(r"`([^`<]+?)\s*<[^`>]+>`_{1,2}", r"\1", line)
    line = re.sub(r"`([^`]+)`_{1,2}", r"\1", line)
    line = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", line)
    line = re.sub(r"\|([A-Za-z][^|\n]{0,30})\|", r"\1", line)
    return re.sub(r"\{#[^}]*\}|<a [^>]*>|</a>", "", line)


def rst_sections(text: str):
    """(level, heading, body lines) of a reStructuredText or Markdown page."""
    lines, out, order, i = text.split("\n"), [(0, "", [])], [], 0
    fence = False
    while i < len(lines):
        line = lines[i]
        if line.lstrip().startswith(("```", "~~~")):
            fence = not fence
        md = re.match(r"^(#{1,5})\s+(.+?)\s*#*\s*$", line) if not fence else None
        if md:
            out.append((len(md.group(1)), clean_inline(md.group(2)), []))
        elif (
            not fence
            and i + 1 < len(lines)
            and line.strip()
            and UNDER.match(lines[i + 1])
            and len(lines[i + 1].strip()) >= len(line.strip()) - 1
            and not line.startswith((" ", ".."))
            and not UNDER.match(line)
        ):
            over = bool(out[-1][2]) and bool(UNDER.match(out[-1][2][-1]))
            if over:
                out[-1][2].pop()
            key = (lines[i + 1][0], over)
            if key not in order:
                order.append(key)
            out.append((order.index(key) + 1, clean_inline(line.strip()), []))
            i += 1
        else:
            out[-1][2].append(line)
        i += 1
    return out


def body_text(lines: list[str]) -> str:
    """Readable text of a section: directives unwrapped, code kept as fenced blocks."""
    out, i = [], 0
    while i < len(lines):
        line = lines[i]
        m = re.match(r"^(\s*)\.\. ([\w:+-]+)::\s*(.*)$", line)
        if m or re.match(r"^\s*\.\.(\s|$)", line):
            name = m.group(2) if m else ""
            indent = len(line) - len(line.lstrip())
            block = []
            i += 1
            while i < len(lines) and (
                not lines[i].strip() or len(lines[i]) - len(lines[i].lstrip()) > indent
            ):
                block.append(lines[i])
                i += 1
            while block and not block[-1].strip():
                block.pop()
            while block and re.match(r"^\s*(:[\w-]+:.*)?$", block[0]):
                block.pop(0)
            pad = min((len(x) - len(x.lstrip()) for x in block if x.strip()), default=0)
            block = [x[pad:] for x in block]
            if re.search(r"code|parsed-literal|ipython|doctest|console|prompt", name):
                out += ["", "```", *block, "```", ""]
            elif re.search(
                r"note|warning|tip|admonition|versionadded|versionchanged|deprecated|important|caution|hint|attention|danger|topic|seealso",
                name,
            ) or API.match(line):
                head = m.group(3) if API.match(line) or name in ("admonition", "topic") else ""
                out += [
                    "",
                    *([f"`{head}`"] if head and API.match(line) else [head] if head else []),
                    *body_text(block).split("\n"),
                    "",
                ]
            continue
        if line.rstrip().endswith("::"):
            out.append(line.rstrip()[:-1])
            indent = len(line) - len(line.lstrip())
            block, i = [], i + 1
            while i < len(lines) and (
                not lines[i].strip() or len(lines[i]) - len(lines[i].lstrip()) > indent
            ):
                block.append(lines[i])
                i += 1
            while block and not block[-1].strip():
                block.pop()
            while block and not block[0].strip():
                block.pop(0)
            if block:
                pad = min(len(x) - len(x.lstrip()) for x in block if x.strip())
                out += ["", "```", *[x[pad:] for x in block], "```", ""]
            continue
        out.append(clean_inline(line))
        i += 1
    text = "\n".join(out)
    text = re.sub(r"^:\w[\w-]*:.*$", "", text, flags=re.M)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def windows(text: str, words: int = 170) -> list[str]:
    """Consecutive pieces of at most about `words` words, cut between sentences."""
    out, start, count, last = [], None, 0, 0
    for a, b in sentences(text):
        n = len(text[a:b].split())
        if start is not None and count + n > words:
            out.append(text[start:last])
            start, count = None, 0
        if start is None:
            start = a
        count, last = count + n, b
    if start is not None:
        out.append(text[start:last])
    return out


GERUND = {
    "using": "use",
    "writing": "write",
    "running": "run",
    "setting": "set",
    "getting": "get",
    "making": "make",
    "creating": "create",
    "defining": "define",
    "configuring": "configure",
    "handling": "handle",
    "managing": "manage",
    "customizing": "customize",
    "serving": "serve",
    "overriding": "override",
    "deleting": "delete",
    "saving": "save",
    "updating": "update",
    "caching": "cache",
    "executing": "execute",
    "generating": "generate",
    "providing": "provide",
    "changing": "change",
    "enabling": "enable",
    "disabling": "disable",
    "removing": "remove",
    "storing": "store",
    "sharing": "share",
    "choosing": "choose",
    "writeing": "write",
    "moving": "move",
    "combining": "combine",
    "parsing": "parse",
    "retrieving": "retrieve",
    "upgrading": "upgrade",
    "including": "include",
    "specifying": "specify",
    "applying": "apply",
    "modifying": "modify",
    "querying": "query",
    "mapping": "map",
    "splitting": "split",
    "stopping": "stop",
    "plotting": "plot",
    "putting": "put",
    "dropping": "drop",
    "debugging": "debug",
    "logging": "log",
    "wrapping": "wrap",
    "isolating": "isolate",
    "encoding": "encode",
    "decoding": "decode",
    "invoking": "invoke",
    "raising": "raise",
    "releasing": "release",
    "replacing": "replace",
    "resizing": "resize",
    "subclassing": "subclass",
    "processing": "process",
    "passing": "pass",
    "accessing": "access",
}


def verb(word: str) -> str | None:
    low = word.lower()
    if low in GERUND:
        return GERUND[low]
    if not low.endswith("ing") or len(low) < 7:
        return None
    stem = low[:-3]
    if stem[-1] == stem[-2] and stem[-1] not in "sl":
        return stem[:-1]
    return (
        stem + "e"
        if re.search(r"(at|iz|is|yz|ag|ov|iv|ur|ut|us|rg|nc|rs|iev|eas|id|ul)$", stem)
        else stem
    )


def ask(heading: str, title: str, rng: random.Random) -> list[str]:
    h = re.sub(r"^[\d.]+\s+", "", heading).strip(" :`*")
    h = h.replace("`", "")
    if h.endswith("?"):
        return [h]
    words = h.split()
    low = h[0].lower() + h[1:] if len(words[0]) > 1 and words[0][1:].islower() else h
    out = []
    if low.lower().startswith("how to "):
        out.append("How do I " + h[7:] + "?")
    elif verb(words[0]) and len(words) > 1:
        out += [
            "How do I " + verb(words[0]) + " " + " ".join(words[1:]) + "?",
            "how to " + verb(words[0]) + " " + " ".join(words[1:]),
        ]
    elif re.match(r"^(why|what|when|where|which|who|how)\b", low, re.I):
        out.append(h + "?")
    else:
        out += [
            rng.choice(
                [
                    f"What is {low}?",
                    f"How does {low} work?",
                    f"Tell me about {low}",
                    f"{low}",
                    f"Explain {low}",
                    f"What are {low}?" if low.endswith("s") else f"What does {low} mean?",
                ]
            )
        ]
    name = title.strip("`")
    if (
        rng.random() < 0.4
        and normal(name)
        and normal(name) not in normal(h)
        and len(name.split()) <= 5
    ):
        out.append(f"{low} {rng.choice(['in', 'with', 'for', '-'])} {name}")
    return out


VERBS = {
    "return": "get",
    "returns": "get",
    "get": "get",
    "gets": "get",
    "set": "set",
    "sets": "set",
    "create": "create",
    "creates": "create",
    "add": "add",
    "adds": "add",
    "remove": "remove",
    "removes": "remove",
    "compute": "compute",
    "computes": "compute",
    "check": "check",
    "checks": "check",
    "convert": "convert",
    "converts": "convert",
    "write": "write",
    "read": "read",
    "send": "send",
    "sends": "send",
    "start": "start",
    "starts": "start",
    "stop": "stop",
    "run": "run",
    "runs": "run",
    "delete": "delete",
    "deletes": "delete",
    "load": "load",
    "register": "register",
    "registers": "register",
    "enable": "enable",
    "enables": "enable",
    "disable": "disable",
    "make": "make",
    "find": "find",
    "update": "update",
    "updates": "update",
    "open": "open",
    "close": "close",
    "wait": "wait",
    "print": "print",
    "render": "render",
    "renders": "render",
    "generate": "generate",
    "generates": "generate",
    "define": "define",
    "specify": "specify",
    "specifies": "specify",
    "configure": "configure",
    "configures": "configure",
    "apply": "apply",
    "replace": "replace",
    "merge": "merge",
    "split": "split",
    "sort": "sort",
    "count": "count",
    "validate": "validate",
    "limit": "limit",
    "limits": "limit",
    "execute": "execute",
    "executes": "execute",
    "build": "build",
    "install": "install",
    "show": "show",
    "display": "show",
    "displays": "show",
    "calculate": "calculate",
}


def api_question(name: str, kind: str, first: str, rng: random.Random) -> str:
    short = re.split(r"[(\s=]", name)[0].split(".")[-1] or name
    m = re.match(r"^([A-Z][a-z]+) (.{8,110}?)[.:;]?$", first.split(". ")[0])
    if m and m.group(1).lower() in VERBS and rng.random() < 0.55:
        rest = m.group(2)
        return rng.choice(
            [
                f"How do I {VERBS[m.group(1).lower()]} {rest}?",
                f"how to {VERBS[m.group(1).lower()]} {rest}",
                f"How can I {VERBS[m.group(1).lower()]} {rest}?",
            ]
        )
    return rng.choice(
        [
            f"What does {short} do?",
            f"What is {short}?",
            f"what is {short} for",
            f"What is the purpose of {short}?",
            f"When should I use {short}?",
            f"{short} {kind}",
        ]
    )


def pages(folder: Path):
    for archive in sorted(folder.glob("*.tar.gz")):
        project = re.sub(r"-[\d.]+\.tar\.gz$", "", archive.name)
        with tarfile.open(archive) as tar:
            for member in tar:
                name = member.name
                if (
                    member.isfile()
                    and re.search(r"/docs?/.*\.(rst|md|txt)$", name)
                    and not SKIP_FILE.search(name.split("/", 1)[1])
                    and 400 < member.size < 400_000
                ):
                    yield (
                        project,
                        name,
                        tar.extractfile(member)
                        .read()
                        .decode("utf8", "replace")
                        .replace("\r\n", "\n")
                        .expandtabs(4),
                    )


def build(folder: Path, seed: int = 7, per_project: int = 900):
    """(passages, rows): passages are [heading path, text]; rows as in reader_train, `same` = passages of the same section."""
    rng = random.Random(seed)
    passages, by_project = [], {}
    for project, _name, text in pages(folder):
        rows = by_project.setdefault(project, [])
        stack: list[tuple[int, str]] = []
        for level, heading, lines in rst_sections(text):
            if level:
                stack = [s for s in stack if s[0] < level] + [(level, heading)]
            path = [h for _, h in stack]
            text_ = body_text(lines)
            if len(text_.split()) >= 15:
                ids = []
                for piece in windows(text_)[:8]:
                    ids.append(len(passages))
                    passages.append([" > ".join(path), piece])
                parent = " > ".join(path[:-1])
                title = path[0] if len(path) > 1 else project.replace("_", " ")
                if heading and 3 <= len(heading) <= 90 and not heading.startswith("<"):
                    if set(normal(heading).split()) <= GENERIC:
                        questions = (
                            [f"{path[-2]} {heading.lower()}"]
                            if len(path) > 1 and not set(normal(path[-2]).split()) <= GENERIC
                            else []
                        )
                    else:
                        questions = ask(heading, title, rng)
                    for q in questions:
                        rows.append(
                            {
                                "q": q,
                                "p": ids[0],
                                "y": 1,
                                "src": "docs_heading",
                                "same": ids[1:],
                                "t": parent,
                            }
                        )
                for i in ids:
                    for a, b in sentences(passages[i][1]):
                        s = passages[i][1][a:b]
                        m = re.match(
                            r"^(?:(?:A|An|The) )?(`?[A-Za-z][\w./-]*`?(?: [\w`./-]+){0,3}?) (is|are) ((?:a|an|the|used|responsible|one)\b.{25,})",
                            s,
                            re.S,
                        )
                        if m and not re.match(
                            r"^(and|but|or|as|because|though|although|usually|where|while|since|also|so|then|thus|however|optional|not|to|by|with|from|at|on|after|before|until|unless|often|now|how|why|who|whether|its|your|our|their|my|no|any|every|either|neither|it|this|that|there|these|those|he|she|they|which|what|if|for|in|when|you|we|here|all|one|some|such|note|each|both|default|value|result|reason|same|only|first|following|another|example|idea|goal|purpose|main|other|next|last|most)\b",
                            m.group(1),
                            re.I,
                        ):
                            term = m.group(1).replace("`", "")
                            q = rng.choice(
                                [
                                    f"What {m.group(2)} {term}?",
                                    f"what {m.group(2)} {term}",
                                    f"Define {term}",
                                    f"What does {term} mean?",
                                    f"Explain what {term} {m.group(2)}.",
                                ]
                            )
                            rows.append(
                                {
                                    "q": q,
                                    "p": i,
                                    "y": 1,
                                    "src": "docs_def",
                                    "ev": [[a, b]],
                                    "same": ids,
                                }
                            )
            # API entries
            i = 0
            while i < len(lines):
                m = API.match(lines[i])
                i += 1
                if not m:
                    continue
                indent, block = len(m.group(1)), []
                while (
                    i < len(lines)
                    and (not lines[i].strip() or len(lines[i]) - len(lines[i].lstrip()) > indent)
                    and not (API.match(lines[i]) and len(block) > 2)
                ):
                    block.append(lines[i])
                    i += 1
                pad = min((len(x) - len(x.lstrip()) for x in block if x.strip()), default=0)
                entry = body_text([x[pad:] for x in block])
                if len(entry.split()) < 12:
                    continue
                piece = windows(f"`{m.group(3)}`\n\n{entry}", 150)[0]
                spans = sentences(piece)
                if len(spans) < 2 or len(piece.split()) < 15:
                    continue
                a, b = (
                    spans[1] if len(spans) > 1 and spans[0][1] <= len(m.group(3)) + 3 else spans[0]
                )
                passages.append([" > ".join(path), piece])
                q = api_question(
                    m.group(3), m.group(2), piece[a:b].replace("`", "").replace("\n", " "), rng
                )
                rows.append(
                    {"q": q, "p": len(passages) - 1, "y": 1, "src": "docs_api", "ev": [[a, b]]}
                )
    rows = []
    for project in sorted(by_project):
        mine = by_project[project]
        rng.shuffle(mine)
        rows += mine[:per_project]
    return passages, rows
