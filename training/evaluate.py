"""The measured sets on the GPU: hybrid retrieval once, then any reader over the candidates."""

import json
import lzma

import numpy as np
import torch
from encode import MAX_SENTENCES, NO_SENTENCE, contexts_of, question_ids, tokenizer
from metrics import auroc, crossfit, holds, ndcg, page_recall, same
from model import Store, embed_all, segment_lse, segment_mean

BOOKS = ("ray", "rust", "anthropic", "robolearn", "agentfactory", "scifact")
TOP = 30  # candidates a question
READ = 5  # passages read for an answer


def rrf(lists, weights, k=60):
    score: dict[int, float] = {}
    for ids, w in zip(lists, weights, strict=True):
        for rank, i in enumerate(ids):
            score[i] = score.get(i, 0) + w / (k + rank + 1)
    return sorted(score, key=lambda i: -score[i])


def pages_of(ids, chunks):
    return list(dict.fromkeys(chunks[i][2] for i in ids))


class Bench:
    def __init__(self, sets, tok_path, workers):
        self.sets, tok = sets, tokenizer(tok_path)
        pairs, questions, self.first = [], [], {}
        for name, s in sets.items():
            if name == "rgb":
                self.first[name] = (len(pairs), len(questions))
                for case in s:
                    pairs += [("", d) for d in case["docs"]]
                    questions.append(case["question"])
            else:
                self.first[name] = (len(pairs), len(questions))
                pairs += [(c[0], c[1]) for c in s["chunks"]]
                questions += [q["question"] for q in s["questions"]]
        self.contexts = contexts_of(pairs, tok_path, workers)
        self.pairs, self.questions = pairs, questions
        self.q_ids = question_ids(tok, questions)
        self.tok = tok

    def place(self, body, device):
        """The GPU part: embeddings and retrieval."""
        self.device = device
        self.store = Store(self.q_ids, self.contexts, device)
        self.vc = embed_all(body, [c["ids"] for c in self.contexts], device)
        self.vq = embed_all(body, self.q_ids, device)
        self.retrieve()
        self.sentence_vectors(self.tok, body)

    def retrieve(self):
        self.cand, self.cos, self.lists = {}, {}, {}
        for name, s in self.sets.items():
            c0, q0 = self.first[name]
            if name == "rgb":
                at, rows = 0, []
                for case in s:
                    rows.append(list(range(at, at + len(case["docs"]))))
                    at += len(case["docs"])
                self.cand[name] = rows
                continue
            n, m = len(s["chunks"]), len(s["questions"])
            sims = self.vq[q0 : q0 + m] @ self.vc[c0 : c0 + n].T
            dense = sims.topk(min(60, n), 1).indices.tolist()
            self.lists[name] = [(d, q["bm25"]) for d, q in zip(dense, s["questions"], strict=True)]
            self.cand[name] = [rrf(l, (1, 1))[:TOP] for l in self.lists[name]]
            take = lambda i, ids: [round(float(x), 4) for x in sims[i, ids]]
            self.cos[name] = [take(i, ids) for i, ids in enumerate(self.cand[name])]

    def sentence_vectors(self, tok, body):
        """For the baseline: MiniLM cosine of question and sentence."""
        need = set()
        for name in ("squad2", "rgb", "mtrag", "sample"):
            if name in self.sets:
                c0, _ = self.first[name]
                need |= {c0 + c for ids in self.cand[name] for c in ids[:READ]}
        texts, self.sent_at = [], {}
        for c in sorted(need):
            self.sent_at[c] = len(texts)
            texts += [self.pairs[c][1][a:b] for a, b in self.contexts[c]["spans"][:MAX_SENTENCES]]
        self.vs = embed_all(body, question_ids_long(tok, texts), self.device)

    def sentence_cos(self, name, qi, ids):
        c0, q0 = self.first[name]
        out = []
        for c in ids:
            n = len(self.contexts[c0 + c]["spans"][:MAX_SENTENCES])
            a = self.sent_at[c0 + c]
            out.append((self.vs[a : a + n] @ self.vq[q0 + qi]).cpu().numpy())
        return out

    @torch.no_grad()
    def read(self, models, name, depth):
        """Per question and candidate: answerable, relevant, per sentence (evidence, span)."""
        models = models if isinstance(models, list) else [models]
        c0, q0 = self.first[name]
        qs = [q0 + i for i, ids in enumerate(self.cand[name]) for _ in ids[:depth]]
        cs = [c0 + c for ids in self.cand[name] for c in ids[:depth]]
        flat = []
        for a in range(0, len(qs), 1500):
            q, c = (torch.tensor(x[a : a + 1500], device=self.device) for x in (qs, cs))
            b = self.store.batch(q, c, torch.zeros(len(q), dtype=torch.bool, device=self.device))
            token, first = 0, 0
            for m in models:
                with torch.autocast(self.device, torch.bfloat16):
                    t, f = m(b)
                token, first = token + t / len(models), first + f / len(models)
            where = torch.nonzero(b["number"] != NO_SENTENCE).squeeze(1)
            item = b["item"][where]
            slot = item * MAX_SENTENCES + b["number"][where]
            used, inv = torch.unique(slot, return_inverse=True)
            ev = segment_mean(token[where, 2], inv, len(used))
            top = lambda x: x.new_full((len(used),), -1e4).scatter_reduce(0, inv, x, "amax")
            lse = lambda x: segment_lse(x, item, len(q))[used // MAX_SENTENCES]
            s, e = top(token[where, 0]), top(token[where, 1])
            span = (
                torch.stack([ev, s + e, lse(token[where, 0]) + lse(token[where, 1])], 1)
                .cpu()
                .numpy()
            )
            used = used.cpu().numpy()
            bounds = np.searchsorted(used, np.arange(len(q) + 1) * MAX_SENTENCES)
            first = first.cpu().numpy()
            for i in range(len(q)):
                u = used[bounds[i] : bounds[i + 1]] % MAX_SENTENCES
                flat.append((first[i, 0], first[i, 1], u, span[bounds[i] : bounds[i + 1]]))
        out, at = [], 0
        for ids in self.cand[name]:
            n = len(ids[:depth])
            out.append(flat[at : at + n])
            at += n
        return out

    def sentence_text(self, name, c, number):
        c0, _ = self.first[name]
        a, b = self.contexts[c0 + c]["spans"][number]
        return self.pairs[c0 + c][1][a:b]

    def baseline(self) -> dict:
        out = {}
        s = self.sets["squad2"]
        hits, right = [], []
        for i, q in enumerate(s["questions"]):
            if q["answerable"]:
                ids = self.cand["squad2"][i][:READ]
                cos = self.sentence_cos("squad2", i, ids)
                p = max(range(len(ids)), key=lambda j: cos[j].max() if len(cos[j]) else -1)
                hits.append(
                    holds(self.sentence_text("squad2", ids[p], int(cos[p].argmax())), q["answers"])
                )
                right.append([s["chunks"][c][2] in q["relevant"] for c in self.cand["squad2"][i]])
        out["squad2_sentence"] = float(np.mean(hits))
        out["squad2_hit1"] = float(np.mean([r[0] for r in right]))
        out["squad2_r5"] = float(np.mean([any(r[:5]) for r in right]))
        top = np.array([c[0] for c in self.cos["squad2"]])
        y = np.array([q["answerable"] for q in s["questions"]])
        out["squad2_auroc"] = auroc(top[y], top[~y])
        for case in ("noise_0.0", "noise_0.4", "noise_0.8", "counterfactual"):
            hits = []
            for i, q in enumerate(self.sets["rgb"]):
                if q["case"] == case:
                    ids = self.cand["rgb"][i]
                    cos = self.sentence_cos("rgb", i, ids)
                    p = max(range(len(ids)), key=lambda j: cos[j].max() if len(cos[j]) else -1)
                    hits.append(
                        holds(self.sentence_text("rgb", ids[p], int(cos[p].argmax())), q["answers"])
                    )
            out["rgb_" + case] = float(np.mean(hits))
        label = np.array([q["answerability"] for q in self.sets["mtrag"]["questions"]])
        top = np.array([max(c) for c in self.cos["mtrag"]])
        out["mtrag_auroc"] = auroc(top[label == "ANSWERABLE"], top[label == "UNANSWERABLE"])
        y = np.array([q["answerable"] for q in self.sets["robolearn"]["questions"]])
        top = np.array([max(c) for c in self.cos["robolearn"]])
        out["robolearn_auroc"] = auroc(top[y], top[~y])
        if "sample" in self.sets:
            hits = []
            for i, q in enumerate(self.sets["sample"]["questions"]):
                if q["answerable"]:
                    ids = self.cand["sample"][i][:READ]
                    cos = self.sentence_cos("sample", i, ids)
                    p = max(range(len(ids)), key=lambda j: cos[j].max() if len(cos[j]) else -1)
                    hits.append(
                        same(
                            self.sentence_text("sample", ids[p], int(cos[p].argmax())), q["answers"]
                        )
                    )
            y = np.array([bool(q["answerable"]) for q in self.sets["sample"]["questions"]])
            top = np.array([max(c) for c in self.cos["sample"]])
            out["sample_sentence"], out["sample_auroc"] = (
                float(np.mean(hits)),
                auroc(top[y], top[~y]),
            )
        for name in BOOKS:
            s = self.sets[name]
            keep = [i for i, q in enumerate(s["questions"]) if q["relevant"]]
            ranked = [pages_of(rrf(self.lists[name][i], (1, 1)), s["chunks"]) for i in keep]
            truth = [s["questions"][i]["relevant"] for i in keep]
            out[f"{name}_r5"] = page_recall(ranked, truth)
            if name == "scifact":
                out["scifact_ndcg"] = ndcg(ranked, truth)
        return {k: round(v, 4) for k, v in out.items()}

    def choose(self, cands, cos=None, alpha=0.15, beta=1.0, gamma=10.0):
        """(candidate, sentence, score) with the best evidence + alpha * span + beta * relevance + gamma * the passage's cosine."""
        best = (0, 0, -1e9)
        for j, (_ans, rel, u, v) in enumerate(cands):
            if len(u):
                x = v[:, 0] + alpha * v[:, 1] + beta * rel + (gamma * cos[j] if cos else 0)
                k = int(x.argmax())
                if x[k] > best[2]:
                    best = (j, int(u[k]), float(x[k]))
        return best

    def features(self, name, read, depth=READ):
        """What a confidence is made of: cosine, BM25 top, answerable, evidence, relevance, span margin of the passages read."""
        rows = []
        for i, cands in enumerate(read):
            cands = cands[:depth]
            ans = np.array([c[0] for c in cands])
            rel = np.array([c[1] for c in cands])
            ev = np.array([c[3][:, 0].max() if len(c[2]) else -10 for c in cands])
            span = np.array([(c[3][:, 1] - c[3][:, 2]).max() if len(c[2]) else -10 for c in cands])
            raw = np.array([c[3][:, 1].max() if len(c[2]) else -10 for c in cands])
            cos = max(self.cos[name][i]) if name in self.cos else 0.0
            rows.append(
                [
                    cos,
                    ans.max(),
                    ev.max(),
                    rel.max(),
                    span[ans.argmax()],
                    raw.max(),
                    (ans + ev).max(),
                    np.sort(ans)[-2:].mean(),
                ]
            )
        return np.array(rows)

    def measure(self, models, books=BOOKS) -> dict:
        out = {}
        read = self.read(models, "squad2", 10)
        s = self.sets["squad2"]
        y = np.array([q["answerable"] for q in s["questions"]])
        for label, depth, alpha, beta, gamma in (
            ("", 5, 0.15, 1, 10),
            ("_nocos", 5, 0.15, 1, 0),
            ("_ev", 5, 0, 0, 0),
            ("_top10", 10, 0.15, 1, 10),
        ):
            hits = []
            for i, q in enumerate(s["questions"]):
                if q["answerable"]:
                    j, k, _ = self.choose(
                        read[i][:depth], self.cos["squad2"][i], alpha, beta, gamma
                    )
                    hits.append(
                        holds(
                            self.sentence_text("squad2", self.cand["squad2"][i][j], k), q["answers"]
                        )
                    )
            out["squad2_sentence" + label] = float(np.mean(hits))
        order = [max(range(len(r)), key=lambda j: r[j][1]) for r in read]
        out["squad2_hit1_rel"] = float(
            np.mean(
                [
                    s["chunks"][self.cand["squad2"][i][order[i]]][2] in q["relevant"]
                    for i, q in enumerate(s["questions"])
                    if q["answerable"]
                ]
            )
        )
        x = self.features("squad2", read)
        for k, label in enumerate(("cos", "ans", "ev", "rel", "margin", "span", "ans+ev", "ans2")):
            if k in (1, 2, 5, 6):
                out[f"squad2_auroc_{label}"] = auroc(x[y, k], x[~y, k])
        out["squad2_auroc"] = crossfit(x, y.astype(float))
        read = self.read(models, "rgb", 10)
        for case in ("noise_0.0", "noise_0.4", "noise_0.8", "counterfactual"):
            hits = []
            for i, q in enumerate(self.sets["rgb"]):
                if q["case"] == case:
                    j, k, _ = self.choose(read[i])
                    hits.append(
                        holds(self.sentence_text("rgb", self.cand["rgb"][i][j], k), q["answers"])
                    )
            out["rgb_" + case] = float(np.mean(hits))
        x = self.features("rgb", read)
        case = np.array([q["case"] for q in self.sets["rgb"]])
        out["rgb_refusal_auroc"] = auroc(
            x[np.char.startswith(case, "noise"), 1], x[case == "negative_rejection", 1]
        )
        read = self.read(models, "mtrag", 10)
        x = self.features("mtrag", read)
        label = np.array([q["answerability"] for q in self.sets["mtrag"]["questions"]])
        keep = (label == "ANSWERABLE") | (label == "UNANSWERABLE")
        for k, n in ((1, "ans"), (2, "ev"), (3, "rel")):
            out[f"mtrag_auroc_{n}"] = auroc(
                x[label == "ANSWERABLE", k], x[label == "UNANSWERABLE", k]
            )
        out["mtrag_auroc"] = crossfit(x[keep], (label[keep] == "ANSWERABLE").astype(float))
        read = self.read(models, "robolearn", 30)
        x = self.features("robolearn", read)
        y = np.array([q["answerable"] for q in self.sets["robolearn"]["questions"]])
        for k, n in ((1, "ans"), (3, "rel")):
            out[f"robolearn_auroc_{n}"] = auroc(x[y, k], x[~y, k])
        out["robolearn_auroc"] = crossfit(x, y.astype(float))
        if "sample" in self.sets:
            read = self.read(models, "sample", 10)
            s = self.sets["sample"]
            hits = []
            for i, q in enumerate(s["questions"]):
                if q["answerable"]:
                    j, k, _ = self.choose(read[i], self.cos["sample"][i])
                    hits.append(
                        same(
                            self.sentence_text("sample", self.cand["sample"][i][j], k), q["answers"]
                        )
                    )
            out["sample_sentence"] = float(np.mean(hits))
            x = self.features("sample", read)
            y = np.array([bool(q["answerable"]) for q in s["questions"]])
            out["sample_auroc_ans"] = auroc(x[y, 1], x[~y, 1])
            out["sample_auroc"] = crossfit(x, y.astype(float))
        for name in books:
            s = self.sets[name]
            read = self.read(models, name, TOP)
            keep = [i for i, q in enumerate(s["questions"]) if q["relevant"]]
            truth = [s["questions"][i]["relevant"] for i in keep]
            for label, w in (("rel", 0), ("fused", 1)):
                ranked = []
                for i in keep:
                    ids = self.cand[name][i]
                    by = [ids[j] for j in sorted(range(len(ids)), key=lambda j: -read[i][j][1])]
                    ranked.append(
                        pages_of(
                            by if not w else rrf([*self.lists[name][i], by], (1, 1, 2)), s["chunks"]
                        )
                    )
                out[f"{name}_r5_{label}"] = page_recall(ranked, truth)
        return {k: round(float(v), 4) for k, v in out.items()}

    def dump(self, model, path):
        """Everything a combination can be tuned on, on the slow machine."""
        out = {}
        for name in self.sets:
            read = self.read(model, name, 10 if name not in BOOKS else TOP)
            rows = []
            for _i, cands in enumerate(read):
                rows.append(
                    [
                        [
                            round(float(a), 3),
                            round(float(r), 3),
                            u.tolist(),
                            [[round(float(z), 2) for z in y] for y in v]
                            if name not in ("agentfactory", "scifact", "ray", "rust")
                            else [],
                        ]
                        for a, r, u, v in cands
                    ]
                )
            out[name] = {"cand": self.cand[name], "cos": self.cos.get(name), "read": rows}
        path.write_bytes(lzma.compress(json.dumps(out, separators=(",", ":")).encode(), preset=3))


def question_ids_long(tok, texts):
    return [
        np.array(e.ids[:254], np.int32) for e in tok.encode_batch(texts, add_special_tokens=False)
    ]


def overall(m: dict) -> float:
    return (
        m["squad2_sentence"]
        + m["squad2_auroc"]
        + 0.5 * m["rgb_noise_0.4"]
        + 0.5 * m["mtrag_auroc"]
        + m.get("sample_sentence", 0)
    )
