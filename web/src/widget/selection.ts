/** What the reader selected on the page: its text, where it stands, and the way back from offsets to words. */
import { codePointIndex, utf16Index } from "../core/codepoints.ts";

export const LIMIT = 10_000;
const CONTENT = "article, main, [role=main], .markdown, .md-content, .vp-doc, #content";
const BLOCKS = "address,article,aside,blockquote,dd,div,dl,dt,figcaption,figure,h1,h2,h3,h4,h5,h6,header,hr,li,main,nav,ol,p,pre,section,table,tr,ul,br";

interface Stretch {
  node: Text;
  from: number;
  /** Where the stretch begins in the text. */
  at: number;
  length: number;
}

export class Selected {
  readonly text: string;
  readonly truncated: boolean;
  readonly pageUrl: string;
  /** Code points from the start of the page's content. */
  readonly start: number;
  readonly end: number;
  #stretches: Stretch[];

  constructor(readonly range: Range) {
    const { text, stretches } = read(range);
    this.text = text.slice(0, LIMIT);
    this.truncated = text.length > LIMIT;
    this.#stretches = stretches;
    this.pageUrl = location.href.replace(/#.*$/, "");
    this.start = offsetInContent(range);
    this.end = this.start + codePointIndex(this.text, this.text.length);
  }

  /** The range on the page of code points `start`–`end` of the text, if it is still there. */
  rangeOf(start: number, end: number): Range | undefined {
    const first = this.#locate(utf16Index(this.text, start), false);
    const last = this.#locate(utf16Index(this.text, end), true);
    if (!first || !last || !first.node.isConnected || !last.node.isConnected) return undefined;
    const range = document.createRange();
    try {
      range.setStart(first.node, first.offset);
      range.setEnd(last.node, last.offset);
    } catch {
      return undefined;
    }
    return range;
  }

  #locate(index: number, isEnd: boolean): { node: Text; offset: number } | undefined {
    for (const { node, from, at, length } of this.#stretches) {
      const inside = isEnd ? index > at && index <= at + length : index >= at && index < at + length;
      if (inside) return { node, offset: from + index - at };
    }
    return undefined;
  }
}

/** The reader's selection, unless it is empty, in a form, or in the widget itself. */
export function currentSelection(own: Node): Selected | undefined {
  const selection = document.getSelection();
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return undefined;
  const range = selection.getRangeAt(0);
  const holder = range.commonAncestorContainer;
  const element = holder instanceof Element ? holder : holder.parentElement;
  if (!element || own.contains(element) || element.closest("input, textarea, [contenteditable]")) return undefined;
  const selected = new Selected(range.cloneRange());
  return /[\p{L}\p{N}]{2}/u.test(selected.text) ? selected : undefined;
}

function read(range: Range): { text: string; stretches: Stretch[] } {
  const root = range.commonAncestorContainer;
  const nodes: Text[] = [];
  if (root instanceof Text) nodes.push(root);
  else {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) if (range.intersectsNode(walker.currentNode)) nodes.push(walker.currentNode as Text);
  }
  let text = "";
  let block: Element | null | undefined;
  const stretches: Stretch[] = [];
  for (const node of nodes) {
    if (!node.parentElement || isSilent(node.parentElement)) continue;
    const from = node === range.startContainer ? range.startOffset : 0;
    const to = node === range.endContainer ? range.endOffset : node.data.length;
    const piece = node.data.slice(from, to);
    if (!piece.trim() && (text === "" || /\s$/.test(text))) continue;
    const holder = node.parentElement?.closest(BLOCKS);
    if (block !== undefined && holder !== block && !text.endsWith("\n")) text += "\n";
    block = holder;
    stretches.push({ node, from, at: text.length, length: piece.length });
    text += piece;
  }
  return { text, stretches };
}

/** What readers don't select: anchors of headings, labels and line numbers of code, scripts. */
function isSilent(element: Element): boolean {
  return element.closest("script, style, noscript, [aria-hidden=true], .hash-link, .headerlink, .header-anchor") !== null
    || getComputedStyle(element).userSelect === "none";
}

function offsetInContent(range: Range): number {
  const holder = range.startContainer;
  const element = holder instanceof Element ? holder : holder.parentElement;
  const before = document.createRange();
  before.setStart(element?.closest(CONTENT) ?? document.body, 0);
  before.setEnd(range.startContainer, range.startOffset);
  const text = before.toString();
  return codePointIndex(text, text.length);
}
