/** Points a link at the quoted words (`#:~:text=`). */
import { inBook } from "./links.ts";
import { plainSegments } from "./markdown.ts";

const EDGE_WORDS = 6;

/** The `text=` directive that makes a browser scroll to the quote and mark it. */
export function textDirective(quote: string): string {
  const segments = plainSegments(quote);
  const first = words(segments[0]);
  const last = words(segments.at(-1));
  if (first.length === 0) return "";
  if (segments.length === 1 && first.length <= EDGE_WORDS * 2) return `text=${encode(first.join(" "))}`;
  return `text=${encode(first.slice(0, EDGE_WORDS).join(" "))},${encode(last.slice(-EDGE_WORDS).join(" "))}`;
}

function words(text: string | undefined): string[] {
  return (text ?? "").split(/\s+/).filter(Boolean);
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/-/g, "%2D");
}

/** The source's address with the quote marked, or nothing when it lies outside the book. */
export function sourceLink(sourceUrl: string, quote: string, baseUrl: string | null | undefined): string | undefined {
  const href = inBook(sourceUrl, baseUrl);
  if (!href) return undefined;
  const directive = textDirective(quote);
  if (!directive) return href;
  return href.includes("#") ? `${href}:~:${directive}` : `${href}#:~:${directive}`;
}
