/** What the page's address says. It stays behind the `#`, so that no question reaches a server's log. */
import type { Filters } from "./wire.ts";

export type Place =
  | { kind: "home" }
  | { kind: "thread"; id: string }
  | { kind: "ask"; question: string; bookId: string | undefined; filters: Filters };

export function parsePlace(hash: string): Place {
  const parameters = new URLSearchParams(hash.replace(/^#\/?/, ""));
  const question = parameters.get("q")?.trim();
  const thread = parameters.get("t");
  if (question) {
    return { kind: "ask", question: question.slice(0, 2000), bookId: parameters.get("book") ?? undefined, filters: parseFilters(parameters.get("f")) };
  }
  return thread && /^[0-9a-f-]{36}$/.test(thread) ? { kind: "thread", id: thread } : { kind: "home" };
}

export function placeHash(place: Place): string {
  if (place.kind === "home") return "";
  if (place.kind === "thread") return `#t=${place.id}`;
  const parameters = new URLSearchParams({ q: place.question });
  if (place.bookId) parameters.set("book", place.bookId);
  if (Object.keys(place.filters).length > 0) parameters.set("f", JSON.stringify(place.filters));
  return `#${parameters}`;
}

function parseFilters(text: string | null): Filters {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return value && typeof value === "object" && !Array.isArray(value) ? (value as Filters) : {};
  } catch {
    return {};
  }
}
