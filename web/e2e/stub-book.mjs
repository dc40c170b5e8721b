/** The sample book, cut and searched just well enough for the stub server. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const STOP = new Set("a an and are as at be by can do does for from how i in slowly tell me is it its my of on or so that the this to what when where which who why with you your".split(" "));

const uuid = (text) => {
  const hex = createHash("sha1").update(text).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};
const words = (text) => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((w) => !STOP.has(w)).map((w) => w.replace(/(ing|es|s)$/, ""));
const slug = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}\s-]/gu, "").trim().replace(/\s+/g, "-");
const length = (text) => [...text].length;

function pagesUnder(root) {
  return readdirSync(root, { recursive: true })
    .map(String)
    .filter((file) => /\.mdx?$/.test(file) && !file.split("/").some((part) => part.startsWith("_")))
    .sort();
}

/** All chunks of the book at `root`; offsets count code points of each file. */
export function readBook(root, baseUrl) {
  const chunks = [];
  for (const file of pagesUnder(root)) {
    const source = readFileSync(join(root, file), "utf8");
    const front = /^---\n[\s\S]*?\n---\n/.exec(source)?.[0] ?? "";
    const title = /title: "?([^"\n]+)"?/.exec(front)?.[1] ?? /^# (.+)$/m.exec(source)?.[1] ?? file;
    const path = file.replace(/\.mdx?$/, "").split("/").map((p) => p.replace(/^\d+[-_.]/, "")).join("/").replace(/\/?README$/, "");
    const parent = uuid(`${file}:parent`);
    let at = front.length;
    let section = title;
    for (const text of source.slice(front.length).split(/(?<=\n)(?=## )/)) {
      const heading = /^##+ (.+)$/m.exec(text)?.[1];
      section = heading ? heading.replace(/\s*\{#.*\}/, "") : section;
      const anchor = heading ? (/\{#([^}]+)\}/.exec(heading)?.[1] ?? slug(heading)) : "";
      const start = length(source.slice(0, at));
      chunks.push({
        id: uuid(`${file}:${at}`), text, char_start: start, char_end: start + length(text),
        line_start: source.slice(0, at).split("\n").length,
        page_title: title, section_title: section, source_file: file, parent_doc_id: parent,
        source_url: `${baseUrl}/${path}${anchor ? `#${anchor}` : ""}`, words: new Set(words(text)),
      });
      at += text.length;
    }
  }
  return chunks;
}

/** The best sentences for a question: `{ chunk, quote, start, score }`, best first. */
export function findSentences(chunks, question, limit = 3) {
  const wanted = [...new Set(words(question))];
  const rarity = Object.fromEntries(wanted.map((w) => [w, Math.log(1 + chunks.length / (1 + chunks.filter((c) => c.words.has(w)).length))]));
  const total = wanted.reduce((sum, w) => sum + rarity[w], 0) || 1;
  const found = [];
  for (const chunk of chunks) {
    if (!wanted.some((w) => chunk.words.has(w))) continue;
    const prose = chunk.text.replace(/```[\s\S]*?```/g, (code) => " ".repeat(code.length));
    for (const match of prose.matchAll(/[^\n.|][^\n.|]{30,300}\./g)) {
      const quote = match[0].trim();
      if (/^[-#|:>/*]|^import|^\d|\]\(/.test(quote)) continue;
      const have = new Set(words(quote));
      const head = new Set(words(`${chunk.section_title} ${chunk.page_title}`));
      const score = wanted.reduce((sum, w) => sum + rarity[w] * (have.has(w) ? 1 : head.has(w) ? 0.35 : 0), 0) / total;
      const start = match.index + match[0].indexOf(quote);
      found.push({ chunk, quote: chunk.text.slice(start, start + quote.length), start, score });
    }
  }
  found.sort((a, b) => b.score - a.score);
  const best = found[0]?.score ?? 0;
  return found.filter((f) => f.score > 0.5 && f.score > best * 0.7).slice(0, limit).concat(best <= 0.5 ? found.slice(0, 3).map((f) => ({ ...f, near: true })) : []);
}

/** A citation of `found` as the API sends it. */
export function sourceOf({ chunk, quote, start, score }, number) {
  const from = chunk.char_start + length(chunk.text.slice(0, start));
  const line = chunk.line_start + chunk.text.slice(0, start).split("\n").length - 1;
  return {
    number, source_url: chunk.source_url, page_title: chunk.page_title, section_heading: chunk.section_title,
    chunk_text: chunk.text.slice(0, 500), relevance_score: Math.min(1, score), chunk_id: chunk.id,
    source_file: chunk.source_file, quote, char_start: from, char_end: from + length(quote),
    line_start: line, line_end: line + quote.split("\n").length - 1, highlight: null, cosine: 0.5,
  };
}

