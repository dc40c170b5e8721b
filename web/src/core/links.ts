/** Which addresses may be followed: those of the book, and no others. */

/** `url` when it stands under the book's base address, else nothing. */
export function inBook(url: string, baseUrl: string | null | undefined): string | undefined {
  if (!baseUrl) return undefined;
  let base: URL, target: URL;
  try {
    base = new URL(baseUrl);
    target = new URL(url, base.href.endsWith("/") ? base : base.href + "/");
  } catch {
    return undefined;
  }
  if (!/^https?:$/.test(target.protocol) || target.origin !== base.origin) return undefined;
  if (target.username || target.password) return undefined;
  const root = base.pathname.replace(/\/+$/, "");
  const path = decoded(target.pathname);
  if (path === undefined || /(^|\/)\.\.?(\/|$)|\\/.test(path)) return undefined;
  return target.pathname === root || target.pathname.startsWith(root + "/") ? target.href : undefined;
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
