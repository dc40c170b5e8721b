"""A second family of unanswerable questions, by word lists: the kind of answer asked for, order of names, words that exclude each other.

python adversarial2.py .data/pack2      # reads train.json.xz, writes edits2.json.xz (same form as the edits inside)"""

import json
import lzma
import random
import re
import sys
from pathlib import Path

from adversarial import SOURCES, finder, kind, names

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
MORE = {*SOURCES, "docs_heading", "docs", "medquad"}


def edit(q: str, rng: random.Random) -> tuple[str, str] | None:
    ways = []
    words = re.findall(r"[A-Za-z]+", q)
    hits = [w for w in words if w.lower() in MATES]
    if hits:
        w = rng.choice(hits)
        new = rng.choice(MATES[w.lower()])
        ways += [
            (
                "adv_mate",
                re.sub(rf"\b{w}\b", new.capitalize() if w[0].isupper() else new, q, count=1),
            )
        ] * 2
    es = [e for e in names(q) if kind(e) == "name"]
    if len(es) >= 2 and not finder(es[1]).search(es[0]) and not finder(es[0]).search(es[1]):
        a, b = es[:2]
        ways.append(("adv_order", finder(a).sub("\0", q).replace(b, a).replace("\0", b)))
    for head, others in OPEN.items():
        if q.lower().startswith(head + " "):
            new = rng.choice(others)
            ways.append(("adv_open", (new if q[0].isupper() else new.lower()) + q[len(head) :]))
    ways = [w for w in ways if w[1].lower() != q.lower()]
    return rng.choice(ways) if ways else None


def main() -> None:
    pack = Path(sys.argv[1])
    data = json.load(lzma.open(pack / "train.json.xz"))
    rng, out = random.Random(23), []
    for i, r in enumerate(data["rows"]):
        if r["y"] == 1 and r["src"] in MORE and r["src"] != "qamr":
            got = edit(r["q"], rng)
            if got:
                out.append({"of": i, "y": 0, "src": got[0], "q": got[1]})
    (pack / "edits2.json.xz").write_bytes(
        lzma.compress(json.dumps(out, ensure_ascii=False, separators=(",", ":")).encode(), preset=4)
    )
    counts = {}
    for e in out:
        counts[e["src"], data["rows"][e["of"]]["src"]] = (
            counts.get((e["src"], data["rows"][e["of"]]["src"]), 0) + 1
        )
    print(len(out), counts, (pack / "edits2.json.xz").stat().st_size)
    for e in rng.sample(out, 25):
        print(e["src"], "|", data["rows"][e["of"]]["q"], "|", e["q"])


if __name__ == "__main__":
    main()
