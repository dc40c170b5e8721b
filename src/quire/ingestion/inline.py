"""Inline Markdown as plain words: what a reader hears when a sentence is read aloud."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

_MARKUP = re.compile(r"[*_`\[\]<>{}&\\~$^]")
_BESIDES_CODE = re.compile(r"[*_\[\]<>{}&\\~$^]|``")
_CODE = re.compile(r"(?<![\\`])(`{1,3})([^`]{1,2000}+(?:`++[^`]{1,2000}+){0,200}?)\1(?!`)")
_HELD = re.compile("\ue000(\\d+)\ue001")
_IMAGE = re.compile(
    r"!\[([^\[\]]{0,1000})\](?:\((?:[^()\n]|\([^()\n]*\)){0,2000}\)|\[[^\[\]]{0,300}\])"
)
_LINK = re.compile(
    r"\[((?:[^\[\]]|\[[^\[\]]{0,300}\]){0,1000})\]"
    r"(?:\((?:[^()]|\([^()]*\)){0,2000}\)|\[[^\[\]]{0,300}\])"
)
_FOOTNOTE_MARK = re.compile(r"\[\^[^\]\s]{1,200}\]:?")
_AUTOLINK = re.compile(r"<((?:https?://|mailto:|ftp://)[^\s<>]{1,2000})>")
_COMMENT = re.compile(
    r"<!--(?:[^-<]|-(?!->)|<(?!!--))*+-->|\{/\*(?:[^*{]|\*(?!/\})|\{(?!/\*))*+\*/\}"
)
_TAG = re.compile(
    r"</?[A-Za-z][\w.:-]*"
    r"(?:[^<>\"'{}`]|\"[^\"]{0,2000}\"|'[^']{0,2000}'|\{(?:[^{}]|\{[^{}]{0,2000}\}){0,2000}\}){0,400}+>"
    r"|</?>|<[!?][A-Za-z\[][^<>]{0,500}>"
)
_RAISED = re.compile(r"<(sup|sub)>([^<>]{1,60})</\1>", re.IGNORECASE)
_ABOVE = str.maketrans("0123456789+-−=()in", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁱⁿ")
_BELOW = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_ATTRIBUTES = re.compile(
    r"\{\s*[:#.][^{}\n]{0,300}\}|\{\*[^{}]{0,500}\*\}|\{\{[^{}]{0,500}\}\}|\{%[^{}]{0,500}%\}"
)
_EXPRESSION = re.compile(r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]{0,500}\}){0,500}\}){0,1000}\}")
_STAR = re.compile(r"(?<![*\\])\*(?![*\s])([^*]{0,2000}[^*\s\\])\*(?!\*)")
_STARS = re.compile(
    r"(?<!\\)\*\*(?!\s|\*\*)([^*]{0,2000}+(?:\*(?!\*)[^*]{0,2000}+){0,2000}+)(?<![\s\\])\*\*"
)
_BAR = re.compile(r"(?<![\w\\])_(?![_\s])([^_]{0,2000}(?:_[^_\s]+){0,50}[^_\s\\])_(?!\w)")
_BARS = re.compile(r"(?<![\w\\])__(?![_\s])([^_]{0,2000}(?:_[^_\s]+){0,50}[^_\s\\])__(?!\w)")
_STRUCK = re.compile(r"~~([^~]{1,2000})~~")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def words(text: str, *, mdx: bool = False) -> str:
    """A run of inline Markdown as one line of plain text.

    Emphasis and escapes are undone, links give their text, images their alt text, code spans
    their code; raised and lowered characters stay so; tags, comments, footnote marks and
    `{#ids}` go, and in MDX `{expressions}`. Meant for pieces of a few kilobytes.
    """
    if _MARKUP.search(text):
        text = _without_markup(text, mdx, change=raised)
    return " ".join(text.split())


def raised(text: str) -> str:
    """`2<sup>7</sup>` as `2⁷`: without its tags alone it would be another number."""
    return _RAISED.sub(_raised, text) if "<s" in text or "<S" in text else text


def _raised(found: re.Match[str]) -> str:
    sign, table = ("^", _ABOVE) if found[1].lower() == "sup" else ("_", _BELOW)
    inner = found[2].strip()
    if all(ord(letter) in table for letter in inner):
        return inner.translate(table)
    if "[" in inner or (sign == "^" and len(inner) > 1 and inner.isalpha()):
        return inner  # a note's mark, or the end of "4th"
    return f"{sign}{inner}" if inner.isalnum() else f"{sign}({inner})"


def heading_text(text: str) -> str:
    """A heading as plain text; unlike `words`, it keeps `{expressions}` in MDX too."""
    return " ".join(slug_text(text).split())


def slug_text(text: str) -> str:
    """A heading as the slug functions of site generators see it: every blank counts."""
    return _without_markup(text, mdx=False, change=str) if _MARKUP.search(text) else text


def _without_markup(text: str, mdx: bool, change: Callable[[str], str]) -> str:
    if not _BESIDES_CODE.search(text):
        return text.replace("`", "")
    held: list[str] = []
    if "`" in text:
        text = _CODE.sub(lambda found: _hold(held, found), text)
    if "<" in text or "{/*" in text:
        text = _COMMENT.sub(" ", text)
        text = _bare(_AUTOLINK, text)
        text = _TAG.sub("", change(text))
    if "{" in text:
        text = _ATTRIBUTES.sub("", text)
        if mdx:
            text = _EXPRESSION.sub("", text)
    if "[" in text:
        text = _FOOTNOTE_MARK.sub("", text) if "[^" in text else text
        text = _bare(_IMAGE, text) if "![" in text else text
        for _ in range(2):  # a link's text may hold another
            if "](" in text or "][" in text:
                text = _bare(_LINK, text)
    if "*" in text:
        text = text.replace("***", "**")
        if text.count("*") > 2 * text.count("**"):
            text = _bare(_STAR, text)
        text = _bare(_STARS, text)
    if "_" in text:
        text = _bare(_BARS, _bare(_BAR, text.replace("___", "__")))
    if "~" in text:
        text = _bare(_STRUCK, text)
    if "\\" in text:
        text = _bare(_ESCAPE, text)
    if "&" in text:
        text = html.unescape(text)
    if held:
        text = _HELD.sub(lambda found: _recall(held, found), text)
    return text


def _bare(pattern: re.Pattern[str], text: str) -> str:
    """Every match replaced by its only group; much faster than a template in Python 3.11."""
    return "".join(pattern.split(text))


def _hold(held: list[str], found: re.Match[str]) -> str:
    """Put a code span aside, and a mark in its place."""
    code = found.group(2)
    if len(code) > 2 and code[0] == code[-1] == " ":
        code = code[1:-1]
    held.append(code)
    return f"\ue000{len(held) - 1}\ue001"


def _recall(held: list[str], found: re.Match[str]) -> str:
    number = int(found.group(1)) if len(found.group(1)) < 9 else len(held)
    return held[number] if number < len(held) else ""
