/** Tells the server how an answer was. */
import { ApiError, type Api } from "./api.ts";
import type { Thread, Turn } from "./threads.ts";

/** Sends a rating; false when this server does not store any. */
export async function sendRating(api: Api, thread: Thread, turn: Turn, reason?: string): Promise<boolean> {
  const { response } = turn;
  const id = response?.exchange_id != null ? { exchange_id: response.exchange_id } : { trace_id: response?.metadata.trace_id ?? null };
  try {
    await api.sendFeedback({ session_id: response?.session_id ?? thread.id, ...id, rating: turn.rating, ...(reason ? { reason } : {}) });
  } catch (error) {
    if (error instanceof ApiError && (error.more.status === 404 || error.more.status === 405)) return false;
  }
  return true;
}
