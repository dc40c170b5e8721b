/** One conversation with a book: asks, streams, stops, retries; tells its listener of every change. */
import { ApiError, type Api } from "./api.ts";
import { newId, type Thread, type Turn } from "./threads.ts";
import type { ChatRequest, Filters, SelectionPlace } from "./wire.ts";

export interface Question {
  text: string;
  filters?: Filters | undefined;
  selectedText?: string | undefined;
  place?: SelectionPlace | undefined;
}

/** Pages whose selections the server can't find in its book (or doesn't look for). */
const placeless = new Set<string>();

export class Conversation {
  #abort: AbortController | undefined;

  constructor(
    readonly api: Api,
    public thread: Thread,
    private readonly changed: (turn: Turn) => void,
  ) {}

  get busy(): boolean {
    return this.#abort !== undefined;
  }

  async ask(question: Question): Promise<Turn> {
    const turn: Turn = {
      id: newId(), question: question.text, filters: question.filters,
      selectedText: question.selectedText, status: "streaming", text: "", cited: [], sources: [],
    };
    this.thread.turns = [...this.thread.turns, turn];
    await this.#run(turn, question.place);
    return turn;
  }

  /** Asks a question of this thread again, in its place. */
  async retry(turn: Turn): Promise<void> {
    Object.assign(turn, {
      status: "streaming", text: "", cited: [], sources: [], response: undefined, error: undefined, rating: undefined,
    });
    await this.#run(turn);
  }

  stop(): void {
    this.#abort?.abort();
  }

  async #run(turn: Turn, place?: SelectionPlace): Promise<void> {
    this.stop();
    const abort = (this.#abort = new AbortController());
    this.#touch(turn);
    try {
      await this.#stream(turn, abort.signal, place);
    } catch (error) {
      if (abort.signal.aborted) turn.status = "stopped";
      else fail(turn, error);
    } finally {
      if (this.#abort === abort) this.#abort = undefined;
      this.#touch(turn);
    }
  }

  async #stream(turn: Turn, signal: AbortSignal, place?: SelectionPlace): Promise<void> {
    const request = this.#request(turn, place);
    try {
      await this.#read(turn, request, signal);
    } catch (error) {
      if (!(request.selection && error instanceof ApiError && error.more.fields?.some((f) => f.startsWith("selection")))) {
        throw error;
      }
      placeless.add(request.selection.page_url);
      const { selection: _, ...rest } = request;
      await this.#read(turn, rest, signal);
    }
  }

  #request(turn: Turn, place?: SelectionPlace): ChatRequest {
    const filters = turn.filters && Object.keys(turn.filters).length > 0 ? turn.filters : undefined;
    return {
      query: turn.question,
      session_id: this.thread.id,
      ...(this.thread.bookId ? { book_id: this.thread.bookId } : {}),
      ...(filters ? { filters } : {}),
      ...(turn.selectedText ? { mode: "selected_text" as const, selected_text: turn.selectedText } : {}),
      ...(turn.selectedText && place && !placeless.has(place.page_url) ? { selection: place } : {}),
    };
  }

  async #read(turn: Turn, request: ChatRequest, signal: AbortSignal): Promise<void> {
    for await (const event of this.api.ask(request, signal)) {
      if (signal.aborted) throw new DOMException("stopped", "AbortError");
      switch (event.type) {
        case "chunk":
          turn.text += String(event.content ?? "");
          turn.cited = [...new Set([...turn.cited, ...(event.citations ?? [])])];
          break;
        case "sources": {
          const known = new Map(turn.sources.map((source) => [source.number, source]));
          for (const source of event.sources) known.set(source.number, source);
          turn.sources = [...known.values()].sort((a, b) => a.number - b.number);
          break;
        }
        case "done":
          turn.response = event.response;
          turn.text = event.response.answer;
          turn.sources = event.response.sources;
          turn.status = "done";
          break;
        case "error":
          throw new ApiError(event.error_code, event.message, { traceId: event.trace_id ?? undefined });
      }
      this.#touch(turn);
    }
  }

  #touch(turn: Turn): void {
    this.thread.updatedAt = new Date().toISOString();
    this.changed(turn);
  }
}

function fail(turn: Turn, error: unknown): void {
  turn.status = "failed";
  turn.error =
    error instanceof ApiError
      ? { code: error.code, message: error.message, retryAfter: error.more.retryAfter, traceId: error.more.traceId }
      : { code: "page_error", message: String(error) };
}
