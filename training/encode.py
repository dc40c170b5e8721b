"""How a question and a passage become tokens: [CLS] question [SEP] heading path : passage [SEP], type 0 up to the first [SEP], then 1."""

import multiprocessing as mp

import numpy as np
from text import sentences
from tokenizers import Tokenizer

CLS, SEP = 101, 102
MAX_QUESTION, MAX_TITLE, MAX_CONTEXT = 64, 40, 300  # word pieces; a whole input is at most 367
MAX_SENTENCES = 60
NO_SENTENCE = 255


def question_ids(tokenizer, questions: list[str]) -> list[np.ndarray]:
    return [
        np.array(e.ids[:MAX_QUESTION], np.int32)
        for e in tokenizer.encode_batch(questions, add_special_tokens=False)
    ]


def context(tokenizer, title: str, text: str) -> dict:
    """ids, sentence number per token (NO_SENTENCE for the heading path), character offsets, sentence ranges."""
    head = tokenizer.encode(title, add_special_tokens=False).ids[-MAX_TITLE:] if title else []
    head = [*head, tokenizer.token_to_id(":")] if head else []
    enc = tokenizer.encode(text, add_special_tokens=False)
    keep = MAX_CONTEXT - len(head)
    spans = sentences(text)
    offsets = np.array(enc.offsets[:keep], np.int32).reshape(-1, 2)
    number = (
        np.searchsorted([a for a, _ in spans], offsets[:, 0], "right") - 1
        if spans
        else np.zeros(len(offsets), int)
    )
    number = np.clip(number, 0, MAX_SENTENCES - 1)
    return {
        "ids": np.array([*head, *enc.ids[:keep]], np.int32),
        "sentence": np.concatenate([np.full(len(head), NO_SENTENCE), number]).astype(np.uint8),
        "offsets": offsets,
        "head": len(head),
        "spans": spans,
        "text": text,
    }


def _init(path):
    global TOK
    TOK = tokenizer(path)


def tokenizer(path) -> Tokenizer:
    t = Tokenizer.from_file(str(path))
    t.no_padding()
    t.no_truncation()
    return t


def _contexts(pairs):
    return [context(TOK, title, text) for title, text in pairs]


def contexts_of(pairs, tok_path, workers):
    step = 400
    with mp.get_context("fork").Pool(workers, _init, (str(tok_path),)) as pool:
        return [
            c
            for part in pool.imap(
                _contexts, [pairs[i : i + step] for i in range(0, len(pairs), step)]
            )
            for c in part
        ]
