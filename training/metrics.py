"""Figures from scores, shared by the GPU harness and the int8 check (numpy only)."""

import numpy as np
from text import normal


def auroc(yes, no) -> float:
    """Probability that a positive scores above a negative (ties half)."""
    x = np.concatenate([yes, no])
    order = np.argsort(x, kind="stable")
    rank = np.empty(len(x))
    rank[order] = np.arange(1, len(x) + 1)
    _, inverse, count = np.unique(x, return_inverse=True, return_counts=True)
    mean = np.bincount(inverse, rank) / count
    return float(
        (mean[inverse][: len(yes)].sum() - len(yes) * (len(yes) + 1) / 2) / (len(yes) * len(no))
    )


def flat(answers) -> list[str]:
    return [a for x in answers for a in (flat(x) if isinstance(x, list) else [x])]


def holds(sentence: str, answers) -> bool:
    """Does the sentence contain one of the answers (case-folded)?"""
    s = sentence.casefold()
    return any(a.casefold() in s for a in flat(answers) if a)


def same(sentence: str, answers) -> bool:
    """For answers that are sentences: one contains the other, or four fifths of the answer's words are in the sentence."""
    s = normal(sentence)
    words = set(s.split())
    for a in flat(answers):
        t = normal(a)
        if not t:
            continue
        if t in s or (len(s.split()) >= 5 and s in t):
            return True
        w = t.split()
        if len(w) >= 4 and sum(x in words for x in w) >= 0.8 * len(w):
            return True
    return False


def page_recall(ranked_pages: list[list[str]], relevant: list[list[str]], k: int = 5) -> float:
    return float(
        np.mean(
            [
                len(set(r[:k]) & set(t)) / len(set(t))
                for r, t in zip(ranked_pages, relevant, strict=True)
            ]
        )
    )


def ndcg(ranked: list[list[str]], relevant: list[list[str]], k: int = 10) -> float:
    out = []
    for r, t in zip(ranked, relevant, strict=True):
        gain = sum(1 / np.log2(i + 2) for i, p in enumerate(r[:k]) if p in set(t))
        out.append(gain / sum(1 / np.log2(i + 2) for i in range(min(k, len(set(t))))))
    return float(np.mean(out))


def logistic(x: np.ndarray, y: np.ndarray, l2: float = 1e-2, steps: int = 60) -> np.ndarray:
    """Weights (bias last) of an L2-regularised logistic regression by Newton's method."""
    x = np.c_[x, np.ones(len(x))]
    w = np.zeros(x.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        h = (x * (p * (1 - p))[:, None]).T @ x / len(x) + l2 * np.eye(len(w))
        w -= np.linalg.solve(h, x.T @ (p - y) / len(x) + l2 * w)
    return w


def crossfit(x: np.ndarray, y: np.ndarray, folds: int = 5, seed: int = 0) -> float:
    """AUROC of a logistic combination, each fold scored by weights fitted on the others."""
    x = (x - x.mean(0)) / (x.std(0) + 1e-9)
    fold = np.random.default_rng(seed).integers(0, folds, len(y))
    score = np.zeros(len(y))
    for f in range(folds):
        w = logistic(x[fold != f], y[fold != f])
        score[fold == f] = np.c_[x, np.ones(len(x))][fold == f] @ w
    return auroc(score[y == 1], score[y == 0])
