import { expect, test } from "vitest";
import { EventParser, readEvents } from "../src/core/sse.ts";

test("events may arrive in any pieces", () => {
  const text = ': keepalive\n\nevent: chunk\nid: 1\ndata: {"a":\ndata: 1}\n\ndata: x\r\n\r\n';
  for (let cut = 1; cut < text.length; cut++) {
    const parser = new EventParser();
    const events = [...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))];
    expect(events, `cut at ${cut}`).toEqual([
      { event: "chunk", data: '{"a":\n1}', id: "1" },
      { event: "message", data: "x", id: "1" },
    ]);
  }
});
test("an unfinished event is not delivered", () => expect(new EventParser().push("data: x\n")).toEqual([]));
test("bytes that split a character are joined", async () => {
  const bytes = new TextEncoder().encode("data: آپ\n\n");
  const body = new ReadableStream<Uint8Array>({ start(c) { for (const b of bytes) c.enqueue(new Uint8Array([b])); c.close(); } });
  const events = [];
  for await (const event of readEvents(body)) events.push(event.data);
  expect(events).toEqual(["آپ"]);
});
