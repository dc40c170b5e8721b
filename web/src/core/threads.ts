/** The reader's conversations, kept in this browser. */
import { cleanLine } from "./cleantext.ts";
import type { ChatResponse, Filters, Source } from "./wire.ts";

export type TurnStatus = "streaming" | "done" | "stopped" | "failed";

export interface Turn {
  id: string;
  question: string;
  filters?: Filters | undefined;
  selectedText?: string | undefined;
  status: TurnStatus;
  /** What has arrived of the answer; the whole of it once `response` is there. */
  text: string;
  cited: number[];
  sources: Source[];
  response?: ChatResponse | undefined;
  error?: { code: string; message: string; retryAfter?: number | undefined; traceId?: string | undefined } | undefined;
  rating?: "up" | "down" | undefined;
  /** Counts changes; a turn is changed in place while its answer arrives. */
  version?: number;
}

export interface Thread {
  id: string;
  bookId: string;
  title: string;
  named?: boolean;
  updatedAt: string;
  turns: Turn[];
}

const KEPT = 100;

/** A UUID (version 4) that also works where `crypto.randomUUID` is missing (plain http). */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export function newThread(bookId: string): Thread {
  return { id: newId(), bookId, title: "", updatedAt: new Date().toISOString(), turns: [] };
}

/** The id of this tab's reader: conversations and limits are kept by it, and it ends with the storage. */
export function visitorOf(storage: Storage | undefined): string {
  try {
    const known = storage?.getItem("quire:visitor");
    if (known) return known;
    const id = newId();
    storage?.setItem("quire:visitor", id);
    return id;
  } catch {
    return newId();
  }
}

/** Whether nothing was asked of the book: a greeting, thanks. */
export function isCourtesy(response: ChatResponse | undefined): boolean {
  return response !== undefined && response.clarification && !response.suggestions?.length;
}

/** A thread is called after its first question until the reader names it. */
export function titleOf(thread: Pick<Thread, "title" | "turns">): string {
  const first = thread.turns.find((turn) => !isCourtesy(turn.response)) ?? thread.turns[0];
  const title = cleanLine(thread.title || first?.question || "");
  return title.length > 80 ? title.slice(0, 79) + "…" : title || "New conversation";
}

/** Threads in a `Storage`; a full or forbidden storage loses old threads, never the current one. */
export class ThreadStore {
  constructor(
    private readonly storage: Storage | undefined,
    private readonly prefix = "quire:thread:",
  ) {}

  list(): Thread[] {
    const threads = this.#keys().map((key) => this.#read(key)).filter((thread) => thread !== undefined);
    return threads.sort((a, b) => b.updatedAt.localeCompare(a.updatedAt));
  }

  get(id: string): Thread | undefined {
    return this.#read(this.prefix + id);
  }

  save(thread: Thread): void {
    const value = JSON.stringify(thread);
    for (let tries = 0; tries < 10; tries++) {
      try {
        this.storage?.setItem(this.prefix + thread.id, value);
        break;
      } catch {
        if (!this.#dropOldest(thread.id)) return;
      }
    }
    if (this.#keys().length > KEPT) this.#dropOldest(thread.id);
  }

  remove(id: string): void {
    this.storage?.removeItem(this.prefix + id);
  }

  #keys(): string[] {
    try {
      return Object.keys(this.storage ?? {}).filter((key) => key.startsWith(this.prefix));
    } catch {
      return [];
    }
  }

  #read(key: string): Thread | undefined {
    try {
      const thread = JSON.parse(this.storage?.getItem(key) ?? "null") as Thread | null;
      if (!thread || !Array.isArray(thread.turns) || typeof thread.id !== "string") return undefined;
      for (const turn of thread.turns) if (turn.status === "streaming") turn.status = "stopped";
      return thread;
    } catch {
      return undefined;
    }
  }

  #dropOldest(except: string): boolean {
    const oldest = this.list().filter((thread) => thread.id !== except).at(-1);
    if (oldest) this.remove(oldest.id);
    return oldest !== undefined;
  }
}
