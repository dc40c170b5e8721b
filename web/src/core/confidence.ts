/** How sure an answer is, in words. */
import type { ChatResponse } from "./wire.ts";

export interface ConfidenceWords {
  /** Two words that fit on a badge. */
  label: string;
  /** What the answer rests on. */
  summary: string;
  /** What the label means. */
  explanation: string;
}

const LABELS = {
  high: ["Strong match", "The passages speak directly to the question."],
  medium: ["Good match", "The passages speak to the question; details may need the lesson around them."],
  low: ["Weak match", "The passages touch on the question. Read the quotes before you rely on this."],
  insufficient: ["No match", "No passage speaks to the question well enough, so there is no answer."],
} as const;

export function confidenceWords(response: ChatResponse): ConfidenceWords {
  const [label, meaning] = LABELS[response.confidence_level] ?? LABELS.low;
  const passages = new Set(response.sources.map((s) => s.chunk_id ?? s.number)).size;
  const pages = new Set(response.sources.map((s) => s.source_file || s.source_url)).size;
  if (response.mode === "selected_text") {
    return {
      label: response.should_answer ? "From your selection" : "Not in your selection",
      summary: "",
      explanation: "Nothing else was searched: every sentence is backed by words inside your selection.",
    };
  }
  const chance = Math.round(response.confidence * 100);
  return {
    label,
    summary: passages === 0 ? "" : `answered from ${count(passages, "passage")}${pages > 1 ? ` on ${pages} pages` : ""}`,
    explanation:
      `${meaning} Quire puts the chance that they answer it at ${chance} in 100. ` +
      "Every sentence was checked: its quote stands word for word in the book.",
  };
}

function count(n: number, noun: string): string {
  return n === 1 ? `1 ${noun}` : `${n} ${noun}s`;
}

const REFUSALS: Record<string, string> = {
  no_passages: "No passage fits this question.",
  low_confidence: "Some passages come near, but none answers this.",
  off_topic: "Nothing in it comes close to this question.",
  unsupported_draft: "Nothing that could be said was backed by the book’s own words.",
  unsafe_request: "This can’t be answered here.",
};

/** Why there is no answer, in one sentence. */
export function refusalWords(response: ChatResponse): string {
  return REFUSALS[response.refusal_reason ?? ""] ?? "The book doesn’t answer this.";
}
