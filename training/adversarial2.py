"""A second family of unanswerable questions: the kind of answer asked for, order of names, words that exclude each other, negation.

python adversarial2.py .data/pack3 /usr/share/wordnet    # reads train.json.xz, writes edits2.json.xz (same form as the edits inside)

Only for prose with short answers: on documentation headings and yes/no questions such changes often leave the answer standing."""

import json
import lzma
import random
import re
import sys
from pathlib import Path

import numpy as np
from adversarial import finder, kind, names
from safetensors.numpy import load_file
from tokenizers import Tokenizer
from wordnet import WordNet, forms

SETS = """first second third last final
largest smallest oldest newest longest shortest highest lowest fastest slowest
most least
biggest smallest
best worst
north south east west
northern southern eastern western
january february march april may june july august september october november december
monday tuesday wednesday thursday friday saturday sunday
before after during
increase decrease
increased decreased
minimum maximum
men women
male female
king queen emperor
father mother brother sister son daughter
won lost
begin end
began ended
started ended
start stop restart
enable disable
enabled disabled
add remove
create delete update
insert delete
install uninstall
read write
open close
input output
client server
public private
local remote
global local
synchronous asynchronous
sync async
encode decode
serialize deserialize
encrypt decrypt
push pull
import export
upload download
horizontal vertical
left right
always never
allowed forbidden
required optional
static dynamic
parent child
source target
lists tuples dictionaries sets
list tuple dictionary set
string integer float
linux windows macos
python java rust
http https ftp
json yaml xml csv
row column
rows columns
train test
training validation
memory disk
thread process
threads processes
class function module
author publisher
founder owner
born died
birth death
married divorced
causes treatments
symptoms causes
treat diagnose prevent
city country state
president governor mayor
summer winter
day night
rise fall
rich poor
young old
large small
early late
strong weak
positive negative
win lose
buy sell
import export
above below
inside outside
more fewer
higher lower
faster slower
common rare""".splitlines()
MATES: dict[str, list[str]] = {}
for line in SETS:
    for w in line.split():
        MATES.setdefault(w, []).extend(x for x in line.split() if x != w)
OPEN = {
    "when did": ["Why did", "Where did", "How did"],
    "when was": ["Why was", "Where was", "How was"],
    "when were": ["Why were", "Where were"],
    "where did": ["When did", "Why did", "How did"],
    "where was": ["When was", "Why was"],
    "where were": ["When were", "Why were"],
    "where is": ["Why is", "When is"],
    "why did": ["When did", "Where did"],
    "why was": ["When was", "Where was"],
    "why is": ["When is", "Where is"],
    "why does": ["When does", "Where does"],
    "how did": ["When did", "Why did", "Where did"],
    "how does": ["Why does", "When does"],
    "how do i": ["Why should I", "When should I", "Who can"],
    "what year": ["What month", "What city", "What country"],
    "in what year": ["In what city", "In what month"],
    "what is": ["Who invented", "How much does", "How old is"],
    "how many": ["How many more", "What percentage of"],
    "who was": ["How old was", "Where was"],
    "what did": ["When did", "Why did"],
    "what does": ["Since when does", "Who decided that"],
    "what country": ["What year", "What language"],
    "what city": ["What year", "What street"],
    "which year": ["Which month"],
    "what are": ["Who created", "When were"],
}
MORE = {"squad", "squad_sent", "nq", "iirc", "fairytale", "quac", "covidqa", "qasper"}
NOT = re.compile(r"\b(did|does|do|was|were|is|are|could|has|have|had|would|should)\b(?!n)", re.I)
SIMILAR = 0.42  # cosine of MiniLM's input vectors above which two nouns may name the same thing


class Exclusive:
    """Another word for a question's word, of the same form, that cannot be true along with it."""

    def __init__(self, folder: Path, pack: Path):
        self.net, self.cache = WordNet(folder), {}
        t = load_file(pack / "init.safetensors")
        v = t["embeddings.word_embeddings.weight.q"] * t["embeddings.word_embeddings.weight.scale"]
        v = v - v.mean(0)
        self.vectors = v / (np.linalg.norm(v, axis=1, keepdims=True) + 1e-6)
        self.tok = Tokenizer.from_file(str(pack / "tokenizer.json"))

    def far(self, a: str, b: str) -> bool:
        i, j = self.tok.token_to_id(a), self.tok.token_to_id(b)
        return (
            i is not None and j is not None and float(self.vectors[i] @ self.vectors[j]) < SIMILAR
        )

    def __call__(self, word: str) -> tuple[list[str], list[str]]:
        """(antonyms, sisters)"""
        if word not in self.cache:
            opposite, sisters = [], []
            for lemma, ending in forms(word):
                if len(lemma) > 2 and not opposite and not sisters:
                    opposite = [ending(w) for w in self.net.antonyms(lemma)]
                    sisters = [ending(w) for w in self.net.sisters(lemma) if self.far(lemma, w)]
            self.cache[word] = opposite, sisters
        return self.cache[word]


def replaced(q: str, word: str, new: str) -> str:
    return re.sub(rf"\b{word}\b", new.capitalize() if word[0].isupper() else new, q, count=1)


def edits(q: str, evidence: str, other: Exclusive, rng: random.Random) -> list[tuple[str, str]]:
    """Up to one edit of each kind."""
    ways: dict[str, list[str]] = {}
    fits = lambda new: not re.search(rf"\b{new}\b", f"{evidence} {q}", re.I)
    for w in re.findall(r"[A-Za-z]+", q)[1:]:
        opposite, sisters = other(w.lower())
        for new in [*MATES.get(w.lower(), []), *opposite]:
            if fits(new):
                ways.setdefault("adv_mate", []).append(replaced(q, w, new))
        if w.islower() and len(w) > 3:
            ways.setdefault("adv_sister", []).extend(
                replaced(q, w, new)
                for new in rng.sample(sisters, min(2, len(sisters)))
                if fits(new)
            )
    es = [e for e in names(q) if kind(e) == "name"]
    if len(es) >= 2 and not finder(es[1]).search(es[0]) and not finder(es[0]).search(es[1]):
        a, b = es[:2]
        ways["adv_order"] = [finder(a).sub("\0", q).replace(b, a).replace("\0", b)]
    for head, others in OPEN.items():
        if q.lower().startswith(head + " "):
            new = rng.choice(others)
            ways["adv_open"] = [(new if q[0].isupper() else new.lower()) + q[len(head) :]]
    if rng.random() < 0.3 and (m := NOT.search(q)):
        ways["adv_not"] = [q[: m.end()] + "n't" + q[m.end() :]]
    return [
        (name, rng.choice(good))
        for name, found in ways.items()
        if (good := [x for x in found if x.lower() != q.lower()])
    ]


def main() -> None:
    pack, wordnet = Path(sys.argv[1]), Path(sys.argv[2])
    data = json.load(lzma.open(pack / "train.json.xz"))
    other = Exclusive(wordnet, pack)
    rng, out = random.Random(23), []
    for i, r in enumerate(data["rows"]):
        if r["y"] == 1 and r["src"] in MORE:
            text = data["P"][r["p"]][1]
            a, b = r.get("span") or (r.get("ev") or [[0, 0]])[0]
            found = edits(r["q"], text[max(0, a - 150) : b + 150], other, rng)
            for name, q in rng.sample(found, min(2, len(found))):
                out.append({"of": i, "y": 0, "src": name, "q": q})
    (pack / "edits2.json.xz").write_bytes(
        lzma.compress(json.dumps(out, ensure_ascii=False, separators=(",", ":")).encode(), preset=4)
    )
    print(len(out), (pack / "edits2.json.xz").stat().st_size)
    for e in rng.sample(out, 40):
        print(e["src"], "|", data["rows"][e["of"]]["q"], "|", e["q"])


if __name__ == "__main__":
    main()
