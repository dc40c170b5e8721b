"""A saved run as one HTML page that a person looks at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from quire.evaluation import charts
from quire.evaluation.comparison import LOWER_IS_BETTER
from quire.evaluation.runs import Number, Run

WORST = 20
_MAX_SECTIONS = 40
_SHARES = frozenset(
    {
        *("ndcg@10", "mrr@10", "recall@1", "recall@5", "recall@10"),
        *("false_answer_rate", "false_refusal_rate", "auroc", "ece"),
        *("answer_contained", "answer_recall", "citation_exact", "citation_relevant"),
    }
)

_STYLE = """
:root { --ink:#1d2430; --muted:#667085; --grid:#e3e7ee; --paper:#fff; --card:#f7f8fa;
        --accent:#3767c8; --second:#c8542f; }
@media (prefers-color-scheme: dark) { :root { --ink:#e7eaf0; --muted:#98a2b3; --grid:#303744;
        --paper:#14181f; --card:#1c222c; --accent:#7ea6f5; --second:#f09a6f; } }
* { box-sizing:border-box } body { margin:0; background:var(--paper); color:var(--ink);
  font:15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width:1000px; margin:0 auto; padding:32px 20px 80px }
h1 { font-size:26px; margin:0 0 4px } h2 { font-size:19px; margin:40px 0 10px }
svg { max-width:100%; height:auto } .muted { color:var(--muted) }
.pair { display:flex; flex-wrap:wrap; gap:28px } .pair figure { margin:0 }
figcaption { font-weight:600; margin-bottom:6px }
table { border-collapse:collapse; width:100%; font-size:14px }
th, td { text-align:left; padding:5px 10px; border-bottom:1px solid var(--grid);
  vertical-align:top }
td.n, th.n { text-align:right; font-variant-numeric:tabular-nums }
details { background:var(--card); border:1px solid var(--grid); border-radius:8px; margin:8px 0;
  padding:8px 14px } summary { cursor:pointer } .tag { display:inline-block; font-size:12px;
  border:1px solid var(--grid); border-radius:10px; padding:0 8px; margin-left:6px }
.bad { color:var(--second) } blockquote { margin:6px 0 6px 2px; padding-left:12px;
  border-left:3px solid var(--grid) } code { font-size:13px; overflow-wrap:anywhere }
"""


def render(run: Run) -> str:
    """The whole page; nothing in it is fetched from anywhere."""
    body = [_head(run), _measures(run)]
    if run.kind == "answers":
        body.append(_curves(run))
    body += [_groups(run), _map(run), _worst(run)]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(run.name)}</title><style>{_STYLE}</style></head>"
        f"<body><main>{''.join(body)}</main></body></html>\n"
    )


def _head(run: Run) -> str:
    what = "Answers" if run.kind == "answers" else "Retrieval"
    facts = " · ".join(f"{escape(k)} {escape(str(v))}" for k, v in run.settings.items())
    notes = "".join(f"<p class=muted>Note: {escape(note)}</p>" for note in run.notes)
    return (
        f"<h1>{what}: {escape(run.name.split('-', 2)[-1])}</h1>"
        f"<p class=muted>{escape(run.created_at)} · {run.metrics['n']} questions<br>"
        f"<code>{escape(run.corpus)}</code><br><code>{escape(run.questions_file)}</code><br>"
        f"{facts}</p>{notes}"
    )


def _measures(run: Run) -> str:
    shares = {k: float(v) for k, v in run.metrics.items() if k in _SHARES and v is not None}
    other = {k: v for k, v in run.metrics.items() if k not in _SHARES and v is not None}
    cells = "".join(
        f"<tr><td>{escape(k)}</td><td class=n>{_number(v)}</td></tr>" for k, v in other.items()
    )
    return (
        "<h2>Measures</h2><p class=muted>Whiskers are 95 % bootstrap intervals; "
        "↓ marks measures where less is better.</p>"
        + charts.interval_bars(shares, run.intervals, lower_is_better=LOWER_IS_BETTER)
        + f'<table style="width:auto;margin-top:14px">{cells}</table>'
    )


def _curves(run: Run) -> str:
    found: list[str] = []
    if run.curves.get("reliability"):
        found.append(
            "<figure><figcaption>Reliability of the confidence</figcaption>"
            + charts.reliability_diagram(run.curves["reliability"])
            + "</figure>"
        )
    if run.curves.get("refusal"):
        found.append(
            "<figure><figcaption>Refusal: precision and recall</figcaption>"
            + charts.refusal_curve(run.curves["refusal"], _operating_point(run))
            + "</figure>"
        )
    return f"<h2>Confidence</h2><div class=pair>{''.join(found)}</div>" if found else ""


def _operating_point(run: Run) -> tuple[float, float] | None:
    """Recall and precision of the refusals as they happened."""
    labelled = [row for row in run.questions if row["answerable"] is not None]
    refused = [row for row in labelled if not row["answered"]]
    cannot = [row for row in labelled if not row["answerable"]]
    if not refused or not cannot:
        return None
    right = sum(not row["answerable"] for row in refused)
    return right / len(cannot), right / len(refused)


def _groups(run: Run) -> str:
    if not run.groups:
        return ""
    names = list(next(iter(run.groups.values())))
    head = "".join(f"<th class=n>{escape(name)}</th>" for name in names)
    rows = "".join(
        f"<tr><td>{escape(group)}</td>"
        + "".join(f"<td class=n>{_number(values.get(name))}</td>" for name in names)
        + "</tr>"
        for group, values in run.groups.items()
    )
    return f"<h2>Kinds of question</h2><table><tr><th></th>{head}</tr>{rows}</table>"


def _map(run: Run) -> str:
    rows = page_shares(run)
    if not rows:
        return ""
    what = "answered from the right page" if run.kind == "answers" else "found among the first five"
    return (
        "<h2>What the book answers</h2>"
        f"<p class=muted>One tile per page that questions ask for: the share {what}; "
        "red is none, green is all. Hover for the page.</p>" + charts.heat_map(rows)
    )


def page_shares(run: Run) -> dict[str, list[tuple[str, float, int]]]:
    """Section → its pages with the share of their questions that went well, and how many."""
    outcomes: dict[str, list[float]] = {}
    for row in run.questions:
        good = row["values"]["recall@5"] if run.kind == "retrieval" else float(row["right"])
        for page in row["relevant"]:
            outcomes.setdefault(page.partition("#")[0], []).append(good)
    sections: dict[str, list[tuple[str, float, int]]] = {}
    for page in sorted(outcomes):
        values = outcomes[page]
        share = sum(values) / len(values)
        sections.setdefault(_section(page), []).append((page, share, len(values)))
    if len(sections) > _MAX_SECTIONS:
        most = sorted(sections, key=lambda name: -sum(n for _, _, n in sections[name]))
        sections = {name: sections[name] for name in sorted(most[:_MAX_SECTIONS])}
    return sections


def _section(page: str) -> str:
    folder, slash, _ = page.rpartition("/")
    return folder if slash else (page.partition(":")[0] if ":" in page else "pages")


def _worst(run: Run) -> str:
    rows = list(_worst_rows(run))[:WORST]
    if not rows:
        return "<h2>Worst questions</h2><p>None: every question went well.</p>"
    return "<h2>Worst questions</h2>" + "".join(_question(row, run.kind) for row in rows)


def _worst_rows(run: Run) -> Iterable[Mapping[str, Any]]:
    if run.kind == "retrieval":
        missed = [row for row in run.questions if row["values"]["ndcg@10"] < 1]
        return sorted(missed, key=lambda r: (r["values"]["ndcg@10"], -(r["rank"] or 1e9), r["id"]))
    wrong = [row for row in run.questions if not row["right"] and row["answerable"] is not None]
    # the surest mistakes first: answered what it should not, or refused what it should answer
    return sorted(
        wrong,
        key=lambda r: (-(r["probability"] if r["answered"] else 1 - r["probability"]), r["id"]),
    )


def _question(row: Mapping[str, Any], kind: str) -> str:
    relevant = ", ".join(row["relevant"]) or "refuse"
    if kind == "retrieval":
        tag = f"rank {row['rank']}" if row["rank"] else "not found"
        detail = ""
    else:
        tag = "asked back" if row["asked_back"] else "answered" if row["answered"] else "refused"
        detail = f"<blockquote>{escape(row['text'][:1200])}</blockquote>" if row["text"] else ""
    searched = row.get("searched") or row.get("standalone")
    if searched and searched != row["question"]:
        detail = f"<p class=muted>searched as: {escape(searched)}</p>" + detail
    passages = "".join(_passage(passage, row["relevant"]) for passage in row["passages"])
    return (
        f"<details><summary>{escape(row['question'][:400])}"
        f'<span class="tag bad">{escape(tag)}</span>'
        f"<span class=tag>{row['probability']:.2f}</span></summary>"
        f"<p>expected: <code>{escape(relevant)}</code></p>{detail}"
        f"<table><tr><th>page</th><th class=n>score</th><th>passage</th></tr>{passages}</table>"
        "</details>"
    )


def _passage(passage: Mapping[str, Any], relevant: list[str]) -> str:
    right = any(name.partition("#")[0] == passage["page"] for name in relevant)
    mark = " ✓" if right else ""
    return (
        f"<tr><td><code>{escape(passage['page'])}</code>{mark}<br>"
        f"<span class=muted>{escape(passage['heading'])}</span></td>"
        f"<td class=n>{passage['score']:.2f}</td><td>{escape(passage['excerpt'])}</td></tr>"
    )


def _number(value: Number) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}"
