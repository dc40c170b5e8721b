import { expect, test } from "vitest";
import { Api } from "../src/core/api.ts";
import { ThreadShelf, turnsOf } from "../src/core/shelf.ts";
import { newThread, ThreadStore } from "../src/core/threads.ts";
import type { ChatResponse, SessionMessage, SessionSummary } from "../src/core/wire.ts";

const response = { answer: "A. [1]", sources: [{ number: 1, quote: "A." }], book_id: "b", should_answer: true, applied_filters: { module: "ros2" } } as unknown as ChatResponse;
const messages: SessionMessage[] = [
  { role: "user", content: "why?", selected_text: "because" },
  { role: "assistant", content: "A. [1]", response },
  { role: "user", content: "and now?" },
];

class FakeApi extends Api {
  sent: string[] = [];
  constructor() { super({ base: "http://x/" }); }
  override sessions = async (): Promise<SessionSummary[]> => [{ id: "far", title: "Far away", book_id: "b", updated_at: "2030" }, { id: "near", title: "Old title", updated_at: "2029" }];
  override sessionMessages = async (id: string): Promise<SessionMessage[]> => (id === "far" ? messages : []);
  override renameSession = async (id: string, title: string): Promise<unknown> => this.sent.push(`${id}=${title}`);
  override deleteSession = async (id: string): Promise<unknown> => this.sent.push(`-${id}`);
}

test("a stored conversation comes back with its proof", () => {
  const [first, second] = turnsOf("far", messages);
  expect(first).toMatchObject({ question: "why?", selectedText: "because", status: "done", text: "A. [1]", cited: [1], filters: { module: "ros2" } });
  expect(first!.response).toBe(response);
  expect(second).toMatchObject({ question: "and now?", status: "stopped" });
});

test("own and the server's conversations are one list", async () => {
  const storage = new Map<string, string>();
  const kept = Object.assign(Object.create({ setItem: (k: string, v: string) => { storage.set(k, v); kept[k] = v; }, getItem: (k: string) => storage.get(k) ?? null, removeItem: (k: string) => { storage.delete(k); delete kept[k]; } }), {}) as Storage;
  const api = new FakeApi();
  const shelf = new ThreadShelf(api, new ThreadStore(kept));
  const near = { ...newThread("b"), id: "near", title: "Near", updatedAt: "2031" };
  shelf.save(near);
  await shelf.refresh();
  expect(shelf.entries().map((entry) => entry.title)).toEqual(["Near", "Far away"]);
  expect((await shelf.find("far", "other"))?.bookId).toBe("b");
  expect(await shelf.find("unknown", "b")).toBeUndefined();
  shelf.rename("far", "Renamed", near);
  shelf.remove("near");
  expect(shelf.entries().map((entry) => entry.title)).toEqual(["Renamed"]);
  expect(api.sent).toEqual(["far=Renamed", "-near"]);
});
