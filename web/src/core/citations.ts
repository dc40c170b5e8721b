/** Turns `[1]` in a rendered answer into citation buttons, and answers into text to paste. */
import { clean, cleanLine } from "./cleantext.ts";
import { plainText } from "./markdown.ts";
import { sourceLink } from "./quotelink.ts";
import type { Source } from "./wire.ts";
import type { Turn } from "./threads.ts";

const MARK = /\s*\[(\d{1,3})\]/g;

/** Replaces the marks of known citations under `root`; `make` builds the button of one. */
export function placeCitations(root: Node, known: Set<number>, make: (number: number) => Node): void {
  for (const node of textNodes(root)) {
    if (node.parentElement?.closest("code, pre, a")) continue;
    const text = node.data;
    const pieces: (string | Node)[] = [];
    let at = 0;
    for (const match of text.matchAll(MARK)) {
      const number = Number(match[1]);
      if (!known.has(number)) continue;
      const before = text.slice(at, match.index);
      const word = /\S{1,24}$/.exec(before)?.[0] ?? "";
      pieces.push(before.slice(0, before.length - word.length), glued(word, make(number)));
      at = match.index + match[0].length;
    }
    if (at === 0) continue;
    pieces.push(text.slice(at));
    node.replaceWith(...pieces.filter((piece) => piece !== ""));
  }
}

/** Keeps a citation on the line of the word it follows. */
function glued(word: string, button: Node): Node {
  const span = document.createElement("span");
  span.className = "glued";
  span.append(word, button);
  return span;
}

/** The text nodes under `root`, in order. */
export function textNodes(root: Node): Text[] {
  const document = root.ownerDocument ?? (root as Document);
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const nodes: Text[] = [];
  while (walker.nextNode()) nodes.push(walker.currentNode as Text);
  return nodes;
}

/** Where a source stands, for people: "Quality of service › Reliability". */
export function sourceTitle(source: Pick<Source, "page_title" | "section_heading">): string {
  const page = cleanLine(source.page_title);
  const section = cleanLine(source.section_heading);
  return section && section !== page ? (page ? `${page} › ${section}` : section) : page || "Untitled page";
}

/** The answer and its sources as Markdown, ready to paste. */
export function copyText(turn: Turn, baseUrl: string | null | undefined): string {
  const lines = [clean(turn.text).trim()];
  const sources = turn.sources.map((source) => {
    const address = sourceLink(source.source_url, source.quote, baseUrl);
    const quote = plainText(source.quote);
    return `[${source.number}] ${sourceTitle(source)}: “${quote}”${address ? `\n    ${address}` : ""}`;
  });
  if (sources.length > 0) lines.push("", "Sources", ...sources);
  return lines.join("\n") + "\n";
}
