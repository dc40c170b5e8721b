/** The HTTP client: every call ends in a value or an `ApiError`. */
import { readEvents } from "./sse.ts";
import type {
  Book, ChatRequest, Chunk, Lesson, SessionMessage, SessionSummary, StreamEvent,
} from "./wire.ts";

/** What went wrong, by the API's `error_code`; `unreachable` and `interrupted` are our own. */
export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly more: { status?: number; retryAfter?: number; traceId?: string; fields?: string[] } = {},
  ) {
    super(message);
    this.name = "ApiError";
  }
}

export interface ApiOptions {
  /** Where the API lives, with a trailing slash. */
  base: string;
  key?: string | undefined;
  /** An id this browser made up, for sites where many readers share one key. */
  visitor?: string | undefined;
}

type Json = Record<string, unknown>;

export class Api {
  base: string;
  key: string | undefined;
  visitor: string | undefined;

  constructor({ base, key, visitor }: ApiOptions) {
    this.base = base.endsWith("/") ? base : base + "/";
    this.key = key;
    this.visitor = visitor;
  }

  async books(): Promise<Book[]> {
    const body = await this.get("books");
    return list<Book>(body, "books");
  }

  /** The events of one answer. Throws `interrupted` when the stream ends without `done` or `error`. */
  async *ask(request: ChatRequest, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    const response = await this.#fetch("chat/stream", {
      method: "POST",
      headers: { Accept: "text/event-stream", "Content-Type": "application/json" },
      body: JSON.stringify(request),
      signal,
    });
    if (!response.body) throw new ApiError("interrupted", "the answer had no body");
    let ended = false;
    try {
      for await (const { data } of readEvents(response.body)) {
        const event = parseEvent(data);
        if (!event) continue;
        yield event;
        if (event.type === "done" || event.type === "error") {
          ended = true;
          return;
        }
      }
    } catch (error) {
      if (signal.aborted || error instanceof ApiError) throw error;
      throw new ApiError("interrupted", "the connection was lost while the answer was on its way");
    }
    if (!ended) throw new ApiError("interrupted", "the answer broke off");
  }

  async chunk(id: string, bookId: string): Promise<Chunk | undefined> {
    const body = await this.get(`chunks/${encodeURIComponent(id)}`, { book_id: bookId });
    const chunks = list<Chunk>(body, "chunks", "results");
    return chunks.find((chunk) => chunk.id === id) ?? ((body as Json)["text"] ? (body as Chunk) : undefined);
  }

  async lesson(parentId: string, bookId: string): Promise<Lesson> {
    return (await this.get(`documents/${encodeURIComponent(parentId)}`, { book_id: bookId })) as Lesson;
  }

  /** Titles of the book's pages, from its `llms.txt`. */
  async pageTitles(bookId: string): Promise<string[]> {
    const response = await this.#fetch(`llms.txt?${new URLSearchParams({ book_id: bookId })}`, {});
    const text = await response.text();
    return [...text.matchAll(/^- \[([^\]\n]+)\]\(/gm)].map((match) => match[1] as string);
  }

  async sessions(): Promise<SessionSummary[]> {
    const body = await this.get("sessions");
    return list<Json>(body, "sessions", "threads").map((item) => ({
      id: text(item["session_id"] ?? item["thread_id"] ?? item["id"]),
      title: text(item["title"] ?? item["topic_summary"] ?? item["first_question"]),
      book_id: item["book_id"] as string | undefined,
      updated_at: text(item["updated_at"]),
    }));
  }

  async sessionMessages(id: string): Promise<SessionMessage[]> {
    const body = await this.get(`sessions/${encodeURIComponent(id)}`);
    return list<SessionMessage>(body, "messages");
  }

  renameSession(id: string, title: string): Promise<unknown> {
    return this.send("PATCH", `sessions/${encodeURIComponent(id)}`, { title });
  }

  deleteSession(id: string): Promise<unknown> {
    return this.send("DELETE", `sessions/${encodeURIComponent(id)}`);
  }

  sendFeedback(feedback: Json): Promise<unknown> {
    return this.send("POST", "feedback", feedback);
  }

  async alive(): Promise<boolean> {
    try {
      await this.#fetch("livez", { cache: "no-store" });
      return true;
    } catch (error) {
      return error instanceof ApiError && error.code !== "unreachable" && (error.more.status ?? 0) < 500;
    }
  }

  async get(path: string, query: Record<string, string | number | undefined> = {}): Promise<unknown> {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== "") search.set(name, String(value));
    }
    const suffix = search.size > 0 ? `?${search}` : "";
    const response = await this.#fetch(path + suffix, { headers: { Accept: "application/json" } });
    return await json(response);
  }

  async send(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await this.#fetch(path, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return response.status === 204 ? undefined : await json(response).catch(() => undefined);
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.key) headers.set("Authorization", `Bearer ${this.key}`);
    if (this.visitor) headers.set("X-Visitor-Id", this.visitor);
    let response: Response;
    try {
      response = await fetch(new URL(path, this.base), {
        ...init, headers, credentials: "omit", redirect: "error", referrerPolicy: "no-referrer",
      });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw new ApiError("unreachable", "the server can't be reached");
    }
    if (!response.ok) throw await problem(response);
    return response;
  }
}

function parseEvent(data: string): StreamEvent | undefined {
  try {
    const event = JSON.parse(data) as StreamEvent;
    return event && typeof event === "object" && "type" in event ? event : undefined;
  } catch {
    return undefined;
  }
}

async function problem(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => ({}))) as Json;
  const details = (body["details"] ?? {}) as { fields?: { field: string }[]; field?: string };
  return new ApiError(
    text(body["error_code"]) || `http_${response.status}`,
    text(body["message"]) || response.statusText,
    {
      status: response.status,
      retryAfter: Number(response.headers.get("Retry-After")) || undefined,
      traceId: text(body["trace_id"]) || undefined,
      fields: [...(details.fields ?? []).map((item) => item.field), ...(details.field ? [details.field] : [])],
    },
  );
}

async function json(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    throw new ApiError("internal_error", "the server's answer is not JSON");
  }
}

function list<T>(body: unknown, ...names: string[]): T[] {
  if (Array.isArray(body)) return body as T[];
  for (const name of names) {
    const value = (body as Json | null)?.[name];
    if (Array.isArray(value)) return value as T[];
  }
  return [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : value == null ? "" : String(value);
}
