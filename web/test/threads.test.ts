import { beforeEach, expect, test } from "vitest";
import { newId, newThread, ThreadStore, titleOf } from "../src/core/threads.ts";
import type { ChatResponse } from "../src/core/wire.ts";

beforeEach(() => localStorage.clear());
const turn = (question: string, status = "done" as const) => ({ id: newId(), question, status, text: "", cited: [], sources: [] });

test("ids are what the API takes as a session id", () => {
  expect(newId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
test("threads come back, newest first; a broken one is left out", () => {
  const store = new ThreadStore(localStorage);
  const old = { ...newThread("b"), updatedAt: "2024-01-01", turns: [turn("old")] };
  const young = { ...newThread("b"), updatedAt: "2025-01-01", turns: [turn("young")] };
  store.save(old);
  store.save(young);
  localStorage.setItem("quire:thread:x", "{broken");
  expect(store.list().map(titleOf)).toEqual(["young", "old"]);
  store.remove(old.id);
  expect(store.list()).toHaveLength(1);
});
test("an answer that was cut by leaving the page counts as stopped", () => {
  const store = new ThreadStore(localStorage);
  const thread = { ...newThread("b"), turns: [{ ...turn("q"), status: "streaming" as const }] };
  store.save(thread);
  expect(store.get(thread.id)!.turns[0]!.status).toBe("stopped");
});
test("a full storage drops the oldest threads, never the current one", () => {
  const kept = new Map<string, string>();
  const small = {
    setItem(key: string, value: string) {
      if (!kept.has(key) && kept.size >= 2) throw new DOMException("full", "QuotaExceededError");
      kept.set(key, value);
      Object.assign(small, { [key]: value });
    },
    getItem: (key: string) => kept.get(key) ?? null,
    removeItem(key: string) { kept.delete(key); delete (small as Record<string, unknown>)[key]; },
  } as unknown as Storage;
  const store = new ThreadStore(small);
  const threads = ["2024-01-01", "2024-01-02", "2024-01-03"].map((updatedAt) => ({ ...newThread("b"), updatedAt, turns: [turn(updatedAt)] }));
  for (const thread of threads) store.save(thread);
  expect(store.list().map(titleOf)).toEqual(["2024-01-03", "2024-01-02"]);
});
test("a thread is called after its first question, not after a greeting", () => {
  const hello = { ...turn("Hello!"), response: { clarification: true, suggestions: [] } as unknown as ChatResponse };
  expect(titleOf({ title: "", turns: [hello] })).toBe("Hello!");
  expect(titleOf({ title: "", turns: [hello, turn("What is a node?")] })).toBe("What is a node?");
  const which = { ...turn("Actions"), response: { clarification: true, suggestions: [{ title: "A", source_url: "/a" }] } as unknown as ChatResponse };
  expect(titleOf({ title: "", turns: [which, turn("Another")] })).toBe("Actions");
});
test("no storage is no error", () => {
  const store = new ThreadStore(undefined);
  store.save(newThread("b"));
  expect(store.list()).toEqual([]);
});
