"""Reference reader: question and passages in, scored sentences, spans and confidences out (numpy, tokenizers, onnxruntime).

from read import Reader
reader = Reader("reader-int8.onnx", "tokenizer.json")
result = reader.read("Who acquired WhatsApp?", [("Company > History", "In 2014 Facebook acquired …"), …], cosines=[…])
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime
from encode import CLS, NO_SENTENCE, SEP, context, question_ids, tokenizer

SPAN, RELEVANCE, COSINE, LENGTH = (
    0.6,
    1.5,
    15.0,
    0.7,
)  # weights of a sentence's score beside its evidence (tune.py)
LONGEST_SPAN = 40  # word pieces


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
        found = []
        for p, c in enumerate(contexts):
            begin = len(q) + 2
            row = token[p, begin : begin + len(c["ids"])]
            prior = RELEVANCE * float(first[p, 1]) + (
                COSINE * cosines[p] if cosines is not None else 0.0
            )
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
                        + LENGTH * float(np.log(len(c["text"][s:e].split())))
                        + prior,
                        (int(off[a, 0]), int(off[b, 1])),
                    )
                )
        found.sort(key=lambda s: -s.score)
        return Reading(found, first[:, 0], first[:, 1])
