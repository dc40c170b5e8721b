"""Makes Markdown safe to show: no images, no HTML, no hidden text, no links out of the book."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from quire.answering import markup
from quire.ingestion.inline import raised

_CODE: Final = re.compile(
    r"(?P<fence>^[ \t]*(?P<mark>`{3,}+|~{3,}+)[^\n]*\n.*?(?:^[ \t]*(?P=mark)[`~]*[ \t]*$|\Z))"
    r"|(?<![\\`])(?P<ticks>`+)(?!`)(?:[^\n]|\n(?!\s*\n))*?(?<!`)(?P=ticks)(?!`)"
    r"|(?<![\\!])\[(?=[^\[\]\n]*`)(?P<label>(?:[^\[\]`\n]++|`[^`\n]++`)*+)\]"
    r"(?:\(\s*<?(?P<url>[^()\s<>]*)>?[^()\n]*\)|\[[^\[\]\n]*\])",
    re.DOTALL | re.MULTILINE,
)
"""Fences, code spans, and links whose label has a code span in it."""
_ACTIVE: Final = re.compile(
    r"<(script|style|iframe|svg|object|template|noscript|title|textarea)\b.*?(?:</\1\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)|<[!?][^>]*(?:>|\Z)", re.DOTALL)
_TAG: Final = re.compile(r"</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*|/)?>")
_IMAGE: Final = re.compile(r"!\[[^\[\]]*\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])?")
_LINK: Final = re.compile(
    r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(\s*<?([^()\s<>]*(?:\([^()]*\)[^()\s<>]*)*)>?[^()]*\)"
)
_REFERENCE: Final = re.compile(r"\[(?=[^\[\]]*[^\d\s\[\]])([^\[\]]++)\]\[[^\[\]]*\]")
_DEFINITION: Final = re.compile(r"^[ \t]*\[[^\[\]]+\]:.*$", re.MULTILINE)
_AUTOLINK: Final = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\s]*|[^<>\s@]+@[^<>\s]+)>")
_BARE: Final = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9+.-]{0,31}://|www\.)[^\s<>`\x00]+"
    r"|(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+",
    re.IGNORECASE,
)
_MARK: Final = re.compile(
    r"(?:(?<![ \t])[ \t]++)?(?<!\w)\[\^?\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\]|\[\^?[1-9]\d{0,2}\]"
)
_UNSEEN: Final = re.compile(r"[ \t]*#(?:[ \t]|\Z)")
"""A line of Rust that rustdoc and mdBook compile and don't show; no other line begins so."""
_FOOTNOTE: Final = re.compile(r"\[\^[^\[\]\s]++\]:?")
_HEADING: Final = re.compile(
    r"^[ \t]*#{1,6}[ \t]+|(?:(?<![ \t])[ \t]++)?\{#[^{}\n]*+\}[ \t]*$", re.MULTILINE
)
_TRAILING: Final = re.compile(r"(?<![ \t])[ \t]++\n")


def safe_markdown(text: str, base_url: str | None = None) -> str:
    """The text with code kept as code and every live or hidden thing taken out.

    A link stays only if it leads to `base_url` or below; any other becomes its words. Bare
    addresses become inline code, since renderers make them live. Citation marks are taken out:
    only the answer's own numbering adds them. Idempotent for what it returns.
    """

    def prose(text: str) -> str:
        return _prose(text, base_url)

    def code(match: re.Match[str]) -> str:
        if match["label"] is None:
            return _code(match)
        label = outside_code(match["label"], prose, code=code)
        return f"[{label}]({match['url']})" if leads_into(match["url"] or "", base_url) else label

    text = outside_code(markup.visible(text), prose, code=code)
    return _TRAILING.sub("\n", text).strip()


def outside_code(
    text: str,
    change: Callable[[str], str],
    *,
    code: Callable[[re.Match[str]], str] = lambda match: match.group(),
) -> str:
    """The text with every piece that is no code changed, and code kept (or given to `code`)."""
    result, end = "", 0
    for match in _CODE.finditer(text):
        result = _joined(_joined(result, change(text[end : match.start()])), code(match))
        end = match.end()
    return _joined(result, change(text[end:]))


def _joined(one: str, other: str) -> str:
    """Two pieces side by side: no backtick meets another's or is escaped, fences stand alone."""
    if other.startswith("`"):
        one = one.rstrip("\\")
    starts = other.startswith(("```", "~~~")) and "\n" in other
    if one and other and (starts or re.search(r"\n(?:`{3,}|~{3,})\Z", one)):
        one = one.rstrip(" \t")
        apart = not one or one.endswith("\n") or other.startswith("\n")
        return one + other if apart else f"{one}\n{other}"
    return f"{one} {other}" if one.endswith("`") and other.startswith("`") else one + other


def _code(match: re.Match[str]) -> str:
    if match["fence"] is None:
        return " ".join(map(str.strip, match.group().split("\n")))  # shown on one line
    mark = match["mark"]
    first, *inner = match.group().rstrip().split("\n")
    if inner and inner[-1].strip().startswith(mark):
        inner.pop()
    language = re.match(r"[ \t]*[`~]+[ \t]*([\w+#.-]*)", first)
    if language and language[1].lower() in ("rust", "rs"):
        inner = [line for line in inner if not _UNSEEN.match(line)]
    return "\n".join((mark + (language[1] if language else ""), *inner, mark))


def _prose(text: str, base_url: str | None) -> str:
    kept: list[str] = []

    def link(match: re.Match[str]) -> str:
        label, url = match[1], match[2]
        if not label.strip() or not leads_into(url, base_url):
            return label
        kept.append(f"[{_inert(_BARE.sub(_as_code, label))}]({url})")
        return f"\x00{len(kept) - 1}\x00"

    text = re.sub(r"(?<!\\)\\++(?=[\[\]!<>])", "", text.replace("`", ""))
    for _ in range(4):
        before = text
        text = _ACTIVE.sub("", text)
        text = _COMMENT.sub("", text)
        text = _IMAGE.sub("", text)
        text = _DEFINITION.sub("", text)
        text = _REFERENCE.sub(r"\1", text)
        text = _MARK.sub("", _FOOTNOTE.sub("", text))
        text = _LINK.sub(link, text)
        text = _AUTOLINK.sub(r"\1", text)
        text = raised(text)
        text = _TAG.sub(lambda m: "" if _is_html(m.group()) else m.group(), text)
        if text == before:
            break
    text = _HEADING.sub("", text)
    text = re.sub(r"(?<!\\)\\++`", "`", _BARE.sub(_as_code, text))
    text = re.sub("(?<!!)!++(?=\x00)", "", _inert(text))
    return re.sub("\x00(\\d+)\x00", lambda m: kept[int(m[1])], text)


def _inert(text: str) -> str:
    """Whatever still looks like a link, an image or a tag loses its teeth."""
    text = re.sub(r"!(?=\[)", "", text)
    text = re.sub(r"\](?=\(|\[|:)", "] ", text)
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)


def _as_code(match: re.Match[str]) -> str:
    url = match.group()
    tail = ""
    while url and url[-1] in ".,;:!?)]}'\"*_":
        url, tail = url[:-1], url[-1] + tail
    return f"`{url}`{tail}" if url else tail


_HTML_NAMES: Final = (
    "a abbr acronym address applet area article aside audio b base basefont bdi bdo big blink "
    "blockquote body br button canvas caption center cite code col colgroup data datalist dd "
    "del details dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form "
    "frame frameset h1 h2 h3 h4 h5 h6 head header hr html i iframe image img input ins isindex "
    "kbd keygen label legend li link listing main map mark marquee math menu meta meter nav "
    "noframes noscript object ol optgroup option output p param picture plaintext portal pre "
    "progress q rp rt ruby s samp script section select slot small source spacer span strike "
    "strong style sub summary sup svg table tbody td template textarea tfoot th thead time "
    "title tr track tt u ul var video wbr xmp "
)
_HTML: Final = frozenset(_HTML_NAMES.split())


def _is_html(tag: str) -> bool:
    name = re.match(r"</?([A-Za-z][A-Za-z0-9-]*)", tag)
    return bool(name) and (name[1].lower() in _HTML or "=" in tag)  # type: ignore[index]


def leads_into(url: str, base_url: str | None) -> bool:
    """Whether the address is the base URL or lies below it, with no trick in between."""
    if not base_url or re.search(r"[\s\\\x00-\x1f@]|&#|%2e|/\.\.?(?:/|$)", url, re.IGNORECASE):
        return False
    try:
        parts, base = urlsplit(url), urlsplit(base_url)
        same = (
            parts.scheme in ("http", "https")
            and parts.scheme == base.scheme
            and parts.hostname == base.hostname
            and parts.port == base.port
        )
    except ValueError:
        return False
    root = base.path.rstrip("/")
    return same and (parts.path == root or parts.path.startswith(root + "/") or not root)
