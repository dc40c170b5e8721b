/** What the author's routes send. */
import type { Book } from "../core/wire.ts";

export interface Overview {
  books?: Book[];
  questions?: number;
  answered?: number;
  refused?: number;
  sessions?: number;
  rated_up?: number;
  rated_down?: number;
}

export interface Job {
  job_id: string | number;
  book_id: string;
  mode: string;
  status: "queued" | "running" | "completed" | "failed" | "cancelled";
  files_discovered?: number | null;
  files_processed?: number;
  files_skipped?: number;
  files_failed?: number;
  chunks_created?: number;
  chunks_deleted?: number;
  started_at?: string | null;
  completed_at?: string | null;
  duration_seconds?: number | null;
  error_message?: string | null;
}

export interface GapGroup {
  section?: { title: string; source_url?: string } | string | null;
  count: number;
  questions: { question: string; count?: number; last_asked_at?: string | null }[];
}

export interface WeakAnswer {
  question: string;
  confidence?: number | null;
  confidence_level?: string | null;
  rating?: "up" | "down" | null;
  reason?: string | null;
  asked_at?: string | null;
}

export interface Explained {
  id: string;
  page_title: string;
  section_title?: string | null;
  source_url: string;
  text: string;
  dense_rank?: number | null;
  dense_score?: number | null;
  bm25_rank?: number | null;
  bm25_score?: number | null;
  fused_rank?: number | null;
  fused_score?: number | null;
  rerank_rank?: number | null;
  rerank_score?: number | null;
}

export interface UsageDay {
  date: string;
  questions?: number;
  answered?: number;
  refused?: number;
  errors?: number;
  p50_ms?: number | null;
  p95_ms?: number | null;
}

export interface Key {
  id: string;
  name?: string | null;
  prefix?: string;
  scopes?: string[];
  scope?: string;
  book_id?: string | null;
  origins?: string[];
  created_at?: string;
  last_used_at?: string | null;
  revoked_at?: string | null;
}
