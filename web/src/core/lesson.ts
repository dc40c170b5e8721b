/** A lesson put together from its chunks, and the cited words marked in it. */
import { textNodes } from "./citations.ts";
import { clean } from "./cleantext.ts";
import { utf16Index } from "./codepoints.ts";
import { blocks, render } from "./markdown.ts";
import type { Chunk } from "./wire.ts";

/** A stretch of the source file; code point offsets, end exclusive. */
export interface Span {
  start: number;
  end: number;
}

interface Piece {
  text: string;
  /** Where the piece begins in the source file. */
  start: number;
}

/** The chunks' texts in order, overlaps shown once; a gap starts a new piece. */
export function pieces(chunks: Chunk[]): Piece[] {
  const found: Piece[] = [];
  let end = -1;
  for (const chunk of [...chunks].sort((a, b) => a.char_start - b.char_start)) {
    if (chunk.char_end <= end) continue;
    const last = found.at(-1);
    if (last && chunk.char_start <= end) {
      last.text += chunk.text.slice(utf16Index(chunk.text, end - chunk.char_start));
    } else {
      found.push({ text: chunk.text, start: chunk.char_start });
    }
    end = chunk.char_end;
  }
  return found;
}

/** Renders the lesson; returns its elements and the first mark (to scroll to). */
export function renderLesson(
  chunks: Chunk[], cited: Span | undefined, baseUrl: string | null | undefined,
): { content: DocumentFragment; mark: Element | undefined } {
  const content = document.createDocumentFragment();
  let mark: Element | undefined;
  for (const piece of pieces(chunks)) {
    // `clean` may shorten the text, so that offsets are looked up before it.
    const from = cited ? utf16Index(piece.text, cited.start - piece.start) : 0;
    const to = cited ? utf16Index(piece.text, cited.end - piece.start) : 0;
    const inside = cited !== undefined && cited.start >= piece.start && from < to;
    const text = clean(piece.text);
    const start = inside ? clean(piece.text.slice(0, from)).length : -1;
    const end = inside ? clean(piece.text.slice(0, to)).length : -1;
    for (const block of blocks(text)) {
      if (/^(?:import|export)\s/.test(block.source)) continue;
      const box = document.createElement("div");
      box.className = "block";
      box.append(render(block.source, { baseUrl, html: "strip" }));
      if (!box.textContent?.trim()) continue;
      content.append(box);
      if (!inside || block.end <= start || block.start >= end) continue;
      const quoted = text.slice(Math.max(start, block.start), Math.min(end, block.end));
      const made = markWords(box, quoted) ?? markAll(box);
      mark ??= made;
    }
  }
  return { content, mark };
}

/**
 * Wraps the words of `quoted` (Markdown) inside `root` in `<mark>`; returns the first mark.
 * Only letters and digits are compared: markup, table bars and white space don't count.
 */
export function markWords(root: Node, quoted: string): Element | undefined {
  const wanted = letters(quoted.replace(/\]\([^)\s]*\)/g, "]").replace(/\{#[^}]*\}/g, ""));
  if (!wanted) return undefined;
  const nodes = textNodes(root);
  const at: [Text, number][] = [];
  let folded = "";
  for (const node of nodes) {
    for (let index = 0; index < node.data.length; ) {
      const character = String.fromCodePoint(node.data.codePointAt(index)!);
      const letter = letters(character);
      for (let i = 0; i < letter.length; i++) at.push([node, index]);
      folded += letter;
      index += character.length;
    }
  }
  const found = folded.indexOf(wanted);
  if (found < 0) return undefined;
  const [firstNode, firstOffset] = at[found]!;
  const [lastNode, lastOffset] = at[found + wanted.length - 1]!;
  const last = String.fromCodePoint(lastNode.data.codePointAt(lastOffset)!).length;
  let endNode = lastNode;
  let end = lastOffset + last;
  // The punctuation that ends the quote belongs to it, also behind an element (`code`.).
  const closing = /[^\p{L}\p{N}\s]+$/u.test(quoted.trimEnd()) ? /^[.!?…:;,”’"')\]]+/ : /^(?!)/;
  end += closing.exec(endNode.data.slice(end))?.[0].length ?? 0;
  const next = nodes[nodes.indexOf(endNode) + 1];
  const more = next && end === endNode.data.length ? closing.exec(next.data)?.[0].length : undefined;
  if (next && more) [endNode, end] = [next, more];
  return wrap(nodes, firstNode, firstOffset, endNode, end);
}

function markAll(root: Node): Element | undefined {
  const nodes = textNodes(root).filter((node) => node.data.trim());
  const first = nodes[0], last = nodes.at(-1);
  return first && last ? wrap(nodes, first, 0, last, last.data.length) : undefined;
}

function wrap(nodes: Text[], first: Text, start: number, last: Text, end: number): Element | undefined {
  let mark: Element | undefined;
  const from = nodes.indexOf(first), to = nodes.indexOf(last);
  for (const node of nodes.slice(from, to + 1)) {
    const range = document.createRange();
    range.setStart(node, node === first ? start : 0);
    range.setEnd(node, node === last ? end : node.data.length);
    if (!range.toString().trim()) continue;
    const element = document.createElement("mark");
    range.surroundContents(element);
    mark ??= element;
  }
  return mark;
}

function letters(text: string): string {
  return text.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

/** The paragraph of `text` (a chunk that begins at `start`) around a span, and the span inside it. */
export function paragraphAround(text: string, start: number, span: Span): { before: string; quote: string; after: string } | undefined {
  if (span.start < start) return undefined;
  const from = utf16Index(text, span.start - start);
  const to = utf16Index(text, span.end - start);
  if (to <= from) return undefined;
  const first = text.lastIndexOf("\n\n", from - 1);
  const last = text.indexOf("\n\n", to);
  return {
    before: text.slice(first < 0 ? 0 : first + 2, from),
    quote: text.slice(from, to),
    after: text.slice(to, last < 0 ? text.length : last),
  };
}
