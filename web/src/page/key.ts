/** The reader's key: kept for this tab only. */
const NAME = "quire:key";

export function storedKey(): string | undefined {
  try {
    return sessionStorage.getItem(NAME) ?? undefined;
  } catch {
    return undefined;
  }
}

export function storeKey(key: string): void {
  try {
    if (key) sessionStorage.setItem(NAME, key);
    else sessionStorage.removeItem(NAME);
  } catch {
    // Without storage the key lives as long as the page.
  }
}
