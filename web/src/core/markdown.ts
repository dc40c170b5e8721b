/** Markdown → DOM, for text nobody vouches for: no raw HTML, no images, links into the book only. */
import DOMPurify from "dompurify";
import { Marked, type MarkedExtension, type Token, type Tokens } from "marked";

import { clean } from "./cleantext.ts";
import { inBook } from "./links.ts";

const TAGS = ["p", "br", "strong", "em", "del", "code", "pre", "ul", "ol", "li", "blockquote", "hr",
  "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "a"];
const ATTRIBUTES = ["href", "start"];
/** Beyond this a text is shown as it is: no answer is that long, and no parser is fast on everything. */
const PARSE_LIMIT = 20_000;
/** A lesson is split in one go and rendered block by block. */
const SPLIT_LIMIT = 400_000;
/** Emphasis is matched pair by pair: thousands of stray marks in one paragraph would take minutes. */
const MARKS_LIMIT = 400;
const AUTOLINK_LIMIT = 2_000;

export interface RenderOptions {
  /** Links that do not stand under this address are shown as plain text. */
  baseUrl?: string | null | undefined;
  /** "show" prints markup as text (an answer); "strip" keeps its content only (a page's MDX). */
  html?: "show" | "strip";
}

let options: RenderOptions = {};

const rules: MarkedExtension = {
  gfm: true,
  tokenizer: {
    // Reference definitions would let one line of text redirect every [1] in the answer.
    def: () => undefined,
    reflink: () => undefined,
    emStrong: (_source, masked) => (crowded(masked) ? undefined : false),
    url: (source) => (source.length > AUTOLINK_LIMIT ? undefined : false),
  },
  renderer: {
    html({ text }: Tokens.HTML | Tokens.Tag): string {
      if (options.html !== "strip") return escape(text);
      return text.trimStart().startsWith("<!--") ? "" : escape(text.replace(/<\/?[A-Za-z][^>]*>|<\/?>/g, ""));
    },
    image({ text }: Tokens.Image): string {
      return escape(text);
    },
    link({ href, tokens }: Tokens.Link): string {
      const label = this.parser.parseInline(tokens);
      const target = inBook(href, options.baseUrl);
      return target ? `<a href="${escape(target)}">${label}</a>` : label;
    },
    heading({ depth, tokens }: Tokens.Heading): string {
      const level = Math.min(6, depth + 2);
      return `<h${level}>${this.parser.parseInline(withoutAnchor(tokens))}</h${level}>\n`;
    },
    code({ text }: Tokens.Code): string {
      return `<pre><code>${escape(text)}</code></pre>\n`;
    },
    checkbox({ checked }: Tokens.Checkbox): string {
      return checked ? "☑ " : "☐ ";
    },
  },
  extensions: [
    {
      // Docusaurus's `:::note Title` … `:::`
      name: "admonition",
      level: "block",
      start: (source: string) => source.match(/^:::/m)?.index,
      tokenizer(source: string) {
        const match = /^:::+[ \t]*([A-Za-z]+)?[ \t]*(?:\[([^\]\n]*)\]|([^\n]*))\n([\s\S]*?)(?:\n:::+[ \t]*(?:\n+|$)|$(?![\s\S]))/.exec(source);
        if (!match) return undefined;
        const title = (match[2] || match[3] || match[1] || "").trim();
        return {
          type: "admonition",
          raw: match[0],
          title,
          tokens: this.lexer.blockTokens(match[4] ?? "", []),
        };
      },
      renderer(token) {
        const body = this.parser.parse((token.tokens ?? []) as Token[]);
        const title = escape(String(token["title"] ?? ""));
        return `<blockquote>${title ? `<p><strong>${title}</strong></p>` : ""}${body}</blockquote>\n`;
      },
    },
  ],
};

const marked = new Marked(rules);

let counted = { text: "", crowded: false };

/** Whether a paragraph holds too many marks; asked again and again for the same one. */
function crowded(paragraph: string): boolean {
  if (counted.text !== paragraph) counted = { text: paragraph, crowded: (paragraph.match(/[*_]/g)?.length ?? 0) > MARKS_LIMIT };
  return counted.crowded;
}

function withoutAnchor(tokens: Token[]): Token[] {
  const last = tokens.at(-1);
  if (last?.type !== "text") return tokens;
  const text = last as Tokens.Text;
  const cut = text.text.replace(/\s*\{#[^}]*\}\s*$/, "");
  return [...tokens.slice(0, -1), { ...text, text: cut, raw: cut }];
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** A fragment that holds only the elements of `TAGS`; safe to insert. */
export function render(source: string, renderOptions: RenderOptions = {}): DocumentFragment {
  const text = clean(source);
  if (text.length > PARSE_LIMIT) return plain(text);
  options = renderOptions;
  let html: string;
  try {
    html = marked.parse(text, { async: false });
  } catch {
    return plain(text);
  } finally {
    options = {};
  }
  const fragment = DOMPurify.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOWED_URI_REGEXP: /^https?:\/\//i,
    RETURN_DOM_FRAGMENT: true,
  });
  for (const link of fragment.querySelectorAll("a")) {
    const href = inBook(link.getAttribute("href") ?? "", renderOptions.baseUrl);
    if (!href) {
      link.replaceWith(...link.childNodes);
      continue;
    }
    link.href = href;
    link.target = "_blank";
    link.rel = "noopener noreferrer";
  }
  for (const block of fragment.querySelectorAll("p, li, td, th, h3, h4, h5, h6, blockquote")) {
    block.setAttribute("dir", "auto");
  }
  for (const block of fragment.querySelectorAll("pre, table")) wrapScrollable(block);
  return fragment;
}

/** Wide blocks scroll inside their own box, which the keyboard can reach. */
function wrapScrollable(block: Element): void {
  const box = block.ownerDocument.createElement("div");
  box.className = "scroll";
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", block.localName === "pre" ? "Code" : "Table");
  block.replaceWith(box);
  box.append(block);
}

function plain(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  const block = document.createElement("p");
  block.textContent = text;
  block.setAttribute("dir", "auto");
  fragment.append(block);
  return fragment;
}

export interface Block {
  source: string;
  /** UTF-16 offsets in the text that was split. */
  start: number;
  end: number;
}

/** The top-level blocks of a text, in order; together they cover it. `source` must be `clean`. */
export function blocks(source: string): Block[] {
  if (source.length > SPLIT_LIMIT) return [{ source, start: 0, end: source.length }];
  const found: Block[] = [];
  let at = 0;
  for (const token of marked.lexer(source)) {
    const start = source.indexOf(token.raw, at);
    const from = start < 0 ? at : start;
    at = from + token.raw.length;
    if (token.type !== "space") found.push({ source: token.raw, start: from, end: at });
  }
  return found;
}

/** The words of a quote as a page shows them, one entry per block or table cell. */
export function plainSegments(quote: string): string[] {
  const rows = clean(quote)
    .split(/\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)]|#{1,6}|>|\|)\s*)/)
    .flatMap((row) => (/^\s*\|.*\|\s*$/.test(row) ? row.split("|") : [row]));
  return rows
    .map((row) => plainText(row.replace(/^\s*(?:[-*+]|\d+[.)]|#{1,6}|>)\s+/, "")))
    .filter((segment) => /[\p{L}\p{N}]/u.test(segment));
}

/** A line of Markdown without its markup. */
export function plainText(source: string): string {
  // Most titles and many sentences hold no markup at all.
  if (!/[\\`*_~[\]<>&#|!:@\n]|^\s*[-+\d]/.test(source)) return clean(source).replace(/\s+/g, " ").trim();
  const fragment = render(source, { html: "strip" });
  return (fragment.textContent ?? "").replace(/\s+/g, " ").trim();
}
