/** Server-sent events over `fetch` (EventSource can send neither a body nor a key). */

export interface ServerEvent {
  event: string;
  data: string;
  id: string;
}

/** The events of a response body, in order; ends when the body does. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader();
  const parser = new EventParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.push(value);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Splits text into events; what is incomplete waits for the next piece. */
export class EventParser {
  #rest = "";
  #event = "";
  #data: string[] = [];
  #id = "";

  push(text: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    this.#rest += text;
    for (;;) {
      const end = /\r\n|\n|\r(?=[\s\S])/.exec(this.#rest);
      if (!end) return events;
      const line = this.#rest.slice(0, end.index);
      this.#rest = this.#rest.slice(end.index + end[0].length);
      if (line !== "") this.#field(line);
      else if (this.#data.length > 0) events.push(this.#take());
      else this.#event = "";
    }
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#event = value;
    else if (name === "id") this.#id = value;
  }

  #take(): ServerEvent {
    const event = { event: this.#event || "message", data: this.#data.join("\n"), id: this.#id };
    this.#event = "";
    this.#data = [];
    return event;
  }
}
