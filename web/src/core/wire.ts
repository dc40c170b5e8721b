/** The wire: what the HTTP API sends and takes (the mirror of `quire/api/schemas.py`). */

export type ConfidenceLevel = "high" | "medium" | "low" | "insufficient";
export type Mode = "general" | "selected_text";
export type FilterValue = string | number | string[] | number[];
export type Filters = Record<string, FilterValue>;

/** Where a selection stands on the reader's page; offsets count code points of the page's text. */
export interface SelectionPlace {
  page_url: string;
  char_start: number;
  char_end: number;
}

export interface ChatRequest {
  query: string;
  book_id?: string;
  session_id?: string;
  mode?: Mode;
  selected_text?: string;
  selection?: SelectionPlace;
  filters?: Filters;
}

export interface Source {
  number: number;
  source_url: string;
  page_title: string;
  section_heading: string;
  chunk_text: string;
  quote: string;
  /** Offsets count code points of the source file (or of the selection). */
  char_start: number;
  char_end: number;
  line_start: number;
  line_end: number;
  relevance_score: number;
  chunk_id: string | null;
  source_file: string;
  /** The exact answer inside the quote, relative to `char_start`. */
  highlight?: [number, number] | null;
}

export interface Suggestion {
  title: string;
  source_url: string;
}

export interface Metadata {
  query_time_ms: number;
  chunks_retrieved: number;
  model: string;
  tokens_used?: number;
  trace_id?: string | null;
}

export interface ChatResponse {
  answer: string;
  sources: Source[];
  mode: Mode;
  metadata: Metadata;
  book_id: string;
  session_id: string | null;
  timestamp: string;
  confidence: number;
  confidence_level: ConfidenceLevel;
  should_answer: boolean;
  refusal_reason: string | null;
  clarification: boolean;
  applied_filters: Record<string, unknown>;
  suggestions: Suggestion[];
  standalone_question: string;
  /** Names the stored exchange, for feedback; absent when nothing was stored. */
  exchange_id?: string | number | null;
}

export type StreamEvent =
  | { type: "chunk"; content: string; citations?: number[] }
  | { type: "sources"; sources: Source[] }
  | { type: "done"; metadata: Metadata; response: ChatResponse }
  | { type: "error"; error_code: string; message: string; trace_id?: string | null; retryable?: boolean };

export interface Taxonomy {
  modules?: string[];
  tiers?: number[];
  proficiency_levels?: string[];
  layers?: string[];
  chapters?: [number, number] | null;
}

export interface Book {
  id: string;
  title: string;
  base_url: string | null;
  pages?: number;
  chunks?: number;
  last_ingested_at?: string | null;
  taxonomy?: Taxonomy;
  /** Questions to start with, when the author gave some. */
  examples?: string[];
}

export interface Chunk {
  id: string;
  text: string;
  char_start: number;
  char_end: number;
  section_title?: string | null;
  source_url: string;
  page_title?: string;
  parent_doc_id?: string | null;
}

export interface Lesson {
  parent_doc_id: string;
  book_id?: string;
  page_title: string;
  source_url: string;
  source_file: string;
  chunks: Chunk[];
}

export interface SessionSummary {
  id: string;
  title: string;
  book_id?: string;
  updated_at: string;
}

export interface SessionMessage {
  role: "user" | "assistant";
  content: string;
  timestamp?: string;
  confidence?: number | null;
  /** What the reader had selected; on their message. */
  selected_text?: string | null;
  /** The whole answer as it was sent; on the assistant's message. */
  response?: ChatResponse | null;
}
