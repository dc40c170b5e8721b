"""Reference reader: question and passages in, scored sentences, spans and confidences out (numpy, tokenizers, onnxruntime).

from read import Reader
reader = Reader("reader-int8.onnx", "tokenizer.json")
result = reader.read("Who acquired WhatsApp?", [("Company > History", "In 2014 Facebook acquired …"), …], cosines=[…])
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime
from encode import CLS, NO_SENTENCE, SEP, context, question_ids, tokenizer

# Weights of a sentence's score beside its evidence (tune.py): best span, cosine of question and passage, ln(words),
# share of the question's words it holds; a question, an introduction or a scrap seldom answers.
SPAN, COSINE, LENGTH, OVERLAP, SELDOM = 0.6, 30.0, 1.0, 5.0, -10.0
STOP = frozenset(
    "a an the of in on at to for from by with is are was were be been do does did what which who whom whose when where "
    "why how can could i you it its this that these those and or as not no if my your their his her me we they he she "
    "there have has had should would will many much".split()
)
LONGEST_SPAN = 40  # word pieces


def words(text: str) -> set[str]:
    """Content words, each cut to six letters (a crude stem)."""
    return {w[:6] for w in re.findall(r"\w+", text.lower()) if w not in STOP}


def beside(asked: set[str], sentence: str, cosine: float) -> float:
    """What is added to evidence + SPAN * span; `asked` are the question's words."""
    length = len(sentence.split())
    seldom = (length < 4) + sentence.rstrip().endswith(("?", ":"))
    share = len(asked & words(sentence)) / max(1, len(asked))
    return COSINE * cosine + LENGTH * math.log(length) + OVERLAP * share + SELDOM * seldom


@dataclass(frozen=True)
class Sentence:
    passage: int
    start: int  # characters, in the passage's text
    end: int
    evidence: float
    span: float
    score: float
    answer: tuple[int, int]  # the exact span inside the sentence, characters of the passage's text


@dataclass(frozen=True)
class Reading:
    sentences: list[Sentence]  # best first
    answerable: np.ndarray  # logit per passage
    relevant: np.ndarray  # logit per passage


class Reader:
    def __init__(self, graph: str | Path, tokenizer_file: str | Path, threads: int = 0):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.session = onnxruntime.InferenceSession(
            str(graph), options, providers=["CPUExecutionProvider"]
        )
        self.tokenizer = tokenizer(tokenizer_file)

    def logits(self, pairs: list[tuple[np.ndarray, dict]]) -> tuple[np.ndarray, np.ndarray]:
        """Padded forward of (question ids, context) pairs: token logits (n, tokens, 3), passage logits (n, 2)."""
        rows = [np.concatenate([[CLS], q, [SEP], c["ids"], [SEP]]) for q, c in pairs]
        ids = np.zeros((len(rows), max(map(len, rows))), np.int32)
        kinds, mask = np.zeros_like(ids), np.zeros_like(ids)
        for i, (row, (q, _)) in enumerate(zip(rows, pairs, strict=True)):
            ids[i, : len(row)], mask[i, : len(row)], kinds[i, len(q) + 2 : len(row)] = row, 1, 1
        return self.session.run(
            ["token_logits", "passage_logits"],
            {"input_ids": ids, "token_type_ids": kinds, "attention_mask": mask},
        )

    def read(
        self, question: str, passages: list[tuple[str, str]], cosines: list[float] | None = None
    ) -> Reading:
        """passages are (title > heading path, text); cosines of question and passage sharpen the choice between passages."""
        q = question_ids(self.tokenizer, [question])[0]
        contexts = [context(self.tokenizer, title, text) for title, text in passages]
        token, first = self.logits([(q, c) for c in contexts])
        found, asked = [], words(question)
        for p, c in enumerate(contexts):
            begin = len(q) + 2
            row = token[p, begin : begin + len(c["ids"])]
            for number in np.unique(c["sentence"][c["sentence"] != NO_SENTENCE]):
                at = np.nonzero(c["sentence"] == number)[0]
                start, end, evidence = row[at].T
                mean = float(evidence.mean())
                span = float(start.max() + end.max())
                total = start[:, None] + end[None]
                allowed = np.tri(len(at), dtype=bool).T & np.tri(
                    len(at), k=LONGEST_SPAN, dtype=bool
                )
                total = np.where(allowed, total, -np.inf)
                a, b = np.unravel_index(int(total.argmax()), total.shape)
                off = c["offsets"][at - c["head"]]
                s, e = c["spans"][number]
                found.append(
                    Sentence(
                        p,
                        s,
                        e,
                        mean,
                        span,
                        mean
                        + SPAN * span
                        + beside(asked, c["text"][s:e], cosines[p] if cosines else 0.0),
                        (int(off[a, 0]), int(off[b, 1])),
                    )
                )
        found.sort(key=lambda s: -s.score)
        return Reading(found, first[:, 0], first[:, 1])
