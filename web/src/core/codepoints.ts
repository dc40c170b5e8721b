/** Offsets: the API counts Unicode code points, JavaScript counts UTF-16 units. */

/** The UTF-16 index of code point `offset` in `text` (clamped to its end). */
export function utf16Index(text: string, offset: number): number {
  let index = 0;
  for (let seen = 0; seen < offset && index < text.length; seen++) {
    index += text.codePointAt(index)! > 0xffff ? 2 : 1;
  }
  return index;
}

/** How many code points stand before UTF-16 index `index`. */
export function codePointIndex(text: string, index: number): number {
  let count = 0;
  for (let at = 0; at < index && at < text.length; count++) {
    at += text.codePointAt(at)! > 0xffff ? 2 : 1;
  }
  return count;
}

/** `text[start:end]` as Python would cut it. */
export function slice(text: string, start: number, end: number): string {
  const from = utf16Index(text, start);
  return text.slice(from, from + utf16Index(text.slice(from), end - start));
}
