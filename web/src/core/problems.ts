/** Errors in plain words: what happened, and what the reader can do. */
import { ApiError } from "./api.ts";

export interface Problem {
  title: string;
  advice: string;
  /** The same question may succeed later. */
  retry: boolean;
  /** A key is needed, or another one. */
  key?: boolean;
  /** The server is away; look for it and say when it is back. */
  away?: boolean;
  traceId?: string | undefined;
}

const WORDS: Record<string, Omit<Problem, "traceId">> = {
  unreachable: {
    title: "The server can’t be reached.",
    advice: "Your question is kept here. We keep looking and will say when the server is back.",
    retry: true, away: true,
  },
  interrupted: {
    title: "The connection was lost before the answer was complete.",
    advice: "What arrived so far is shown above. Ask again for the whole answer.",
    retry: true, away: true,
  },
  shutting_down: {
    title: "The server is restarting.",
    advice: "That takes a moment. Ask again when it is back.",
    retry: true, away: true,
  },
  rate_limited: { title: "That was many questions in a short time.", advice: "Please wait a moment.", retry: true },
  overloaded: { title: "Many people are asking right now.", advice: "Please try again in a moment.", retry: true },
  retrieval_unavailable: { title: "The book’s index doesn’t answer right now.", advice: "Please try again in a moment.", retry: true },
  model_unavailable: { title: "The language model doesn’t answer right now.", advice: "Please try again in a moment.", retry: true },
  storage_unavailable: { title: "Conversations can’t be stored right now.", advice: "Please try again in a moment.", retry: true },
  unauthorized: { title: "This server asks for a key.", advice: "Enter the key you were given.", retry: true, key: true },
  forbidden: { title: "This key may not do that.", advice: "Use another key, or ask whoever runs the server.", retry: true, key: true },
  not_found: { title: "That is no longer there.", advice: "It may have been deleted or belong to someone else.", retry: false },
  payload_too_large: { title: "That is too long.", advice: "Shorten it and ask again.", retry: false },
  embedder_mismatch: { title: "The book’s index was made with another model.", advice: "Whoever runs the server needs to rebuild it.", retry: false },
};

/** What to tell the reader about `error`. */
export function explain(error: unknown): Problem {
  if (!(error instanceof ApiError)) {
    return { title: "Something went wrong on this page.", advice: "Please try again.", retry: true };
  }
  const { traceId, retryAfter } = error.more;
  const known = WORDS[error.code];
  if (known) {
    const wait = retryAfter && !known.away ? ` You can ask again in ${seconds(retryAfter)}.` : "";
    return { ...known, advice: wait && error.code !== "unauthorized" ? wait.trim() : known.advice, traceId };
  }
  if (error.code === "validation_error") {
    return { title: "The server didn’t accept this question.", advice: sentence(error.message), retry: false, traceId };
  }
  return { title: "Something went wrong on the server.", advice: "Please try again.", retry: true, traceId };
}

function seconds(value: number): string {
  const whole = Math.ceil(value);
  if (whole < 90) return whole === 1 ? "1 second" : `${whole} seconds`;
  return `${Math.ceil(whole / 60)} minutes`;
}

function sentence(text: string): string {
  const trimmed = text.trim();
  if (!trimmed) return "Please change it and ask again.";
  return trimmed[0]!.toUpperCase() + trimmed.slice(1) + (/[.!?]$/.test(trimmed) ? "" : ".");
}
