/** The reader's conversations: those this browser holds, and those only the server knows. */
import type { Api } from "./api.ts";
import { cleanLine } from "./cleantext.ts";
import { newThread, ThreadStore, titleOf, type Thread, type Turn } from "./threads.ts";
import type { Filters, SessionMessage, SessionSummary } from "./wire.ts";

export interface ThreadEntry {
  id: string;
  title: string;
  updatedAt: string;
}

export class ThreadShelf {
  #remote: SessionSummary[] = [];

  constructor(
    private readonly api: Api,
    private readonly store: ThreadStore,
  ) {}

  /** Asks the server for its list; without an answer there is none. */
  async refresh(): Promise<void> {
    this.#remote = await this.api.sessions().catch(() => []);
  }

  /** All conversations, the last active one first. */
  entries(): ThreadEntry[] {
    const local = this.store.list().map((thread) => ({ id: thread.id, title: titleOf(thread), updatedAt: thread.updatedAt }));
    const held = new Set(local.map((entry) => entry.id));
    const remote = this.#remote
      .filter((session) => session.id && !held.has(session.id))
      .map((session) => ({ id: session.id, title: cleanLine(session.title) || "Conversation", updatedAt: session.updated_at }));
    return [...local, ...remote].sort((a, b) => b.updatedAt.localeCompare(a.updatedAt));
  }

  /** A conversation of this browser, or the server's with all its proof. */
  async find(id: string, bookId: string): Promise<Thread | undefined> {
    const own = this.store.get(id);
    if (own) return own;
    const messages = await this.api.sessionMessages(id).catch(() => []);
    if (messages.length === 0) return undefined;
    const known = this.#remote.find((session) => session.id === id);
    const turns = turnsOf(id, messages);
    const book = known?.book_id ?? turns.find((turn) => turn.response)?.response?.book_id ?? bookId;
    return { ...newThread(book), id, title: known?.title ?? "", turns };
  }

  save(thread: Thread): void {
    this.store.save(thread);
  }

  rename(id: string, title: string, current: Thread): void {
    const thread = id === current.id ? current : this.store.get(id);
    if (thread) this.store.save(Object.assign(thread, { title, named: true }));
    this.#remote = this.#remote.map((session) => (session.id === id ? { ...session, title } : session));
    void this.api.renameSession(id, title).catch(() => undefined);
  }

  remove(id: string): void {
    this.store.remove(id);
    this.#remote = this.#remote.filter((session) => session.id !== id);
    void this.api.deleteSession(id).catch(() => undefined);
  }
}

/** The turns of a stored conversation; an answer without its `response` has only its words. */
export function turnsOf(id: string, messages: SessionMessage[]): Turn[] {
  const turns: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === "user") {
      turns.push({ id: `${id}:${index}`, question: message.content, selectedText: message.selected_text ?? undefined, status: "stopped", text: "", cited: [], sources: [] });
      continue;
    }
    const turn = turns.at(-1);
    if (!turn) continue;
    turn.text = message.content;
    turn.status = "done";
    if (!message.response) continue;
    turn.response = message.response;
    turn.sources = message.response.sources ?? [];
    turn.cited = turn.sources.map((source) => source.number);
    turn.filters = message.response.applied_filters as Filters;
  }
  return turns;
}
