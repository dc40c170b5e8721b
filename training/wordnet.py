"""Words that exclude each other, from WordNet's files (Debian's wordnet-base): antonyms, and sisters under one hypernym."""

from pathlib import Path

POS = {"1": "noun", "2": "verb", "3": "adj", "4": "adv", "5": "adj"}


class WordNet:
    def __init__(self, folder: Path):
        self.tags: dict[str, dict[str, int]] = {}  # lemma → part of speech → how often tagged
        for line in (folder / "cntlist.rev").read_text().splitlines():
            key, _, count = line.split()
            lemma, rest = key.split("%")
            by = self.tags.setdefault(lemma, {})
            by[POS[rest[0]]] = by.get(POS[rest[0]], 0) + int(count)
        self.first: dict[
            tuple[str, str], list[str]
        ] = {}  # (lemma, pos) → synsets, most usual first
        self.words: dict[tuple[str, str], list[str]] = {}  # (pos, synset) → words
        self.links: dict[tuple[str, str], list[tuple]] = {}
        for pos in ("noun", "verb", "adj", "adv"):
            for line in (folder / f"index.{pos}").read_text().splitlines():
                if not line.startswith(" "):
                    f = line.split()
                    self.first[f[0], pos] = f[-int(f[2]) :]
            for line in (folder / f"data.{pos}").read_text().splitlines():
                if line.startswith(" "):
                    continue
                f = line.split("|")[0].split()
                n = int(f[3], 16)
                self.words[pos, f[0]] = [w.split("(")[0] for w in f[4 : 4 + 2 * n : 2]]
                at = 5 + 2 * n
                self.links[pos, f[0]] = [
                    tuple(f[at + 4 * i : at + 4 * i + 4]) for i in range(int(f[4 + 2 * n]))
                ]

    def pos(self, lemma: str) -> str | None:
        """The part of speech a word nearly always has."""
        by = self.tags.get(lemma, {})
        best = max(by, key=lambda p: by[p], default=None)
        return best if best and by[best] >= 0.7 * sum(by.values()) else None

    def antonyms(self, lemma: str) -> list[str]:
        pos, out = self.pos(lemma), []
        for synset in self.first.get((lemma, pos), [])[:2] if pos else []:
            words = self.words[pos, synset]
            for symbol, target, _, where in self.links[pos, synset]:
                if symbol == "!" and words[int(where[:2], 16) - 1].lower() == lemma:
                    out.append(self.words[pos, target][int(where[2:], 16) - 1])
        return [w for w in dict.fromkeys(out) if w.isalpha() and w.islower()]

    def sisters(self, lemma: str) -> list[str]:
        """Other kinds of what a noun's most usual sense is a kind of; only words in use."""
        synsets = self.first.get((lemma, "noun"), [])[:1] if self.pos(lemma) == "noun" else []
        out = []
        for synset in synsets:
            own = self.words["noun", synset]
            for symbol, parent, *_ in self.links["noun", synset]:
                if symbol == "@":
                    below = [t for s, t, *_ in self.links["noun", parent] if s == "~"]
                    if len(below) <= 60:
                        out += [w for t in below for w in self.words["noun", t] if w not in own]
        return [
            w for w in dict.fromkeys(out) if w.isalpha() and w.islower() and self.pos(w) == "noun"
        ]


def forms(word: str):
    """(lemma, how to give another lemma the same ending)."""
    yield word, lambda w: w
    if word.endswith("s"):
        yield word[:-1], lambda w: w + ("es" if w.endswith(("s", "x", "ch", "sh")) else "s")
    if word.endswith("ed"):
        yield word[:-1], lambda w: w + ("d" if w.endswith("e") else "ed")
        yield word[:-2], lambda w: w + ("d" if w.endswith("e") else "ed")
