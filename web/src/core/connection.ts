/** Looks for a server that went away, and says when it is back. */
import type { Api } from "./api.ts";

export class ConnectionWatch {
  #timer = 0;
  #watching = false;

  constructor(
    private readonly api: Api,
    private readonly back: () => void,
    private readonly pause = 1500,
  ) {}

  get away(): boolean {
    return this.#watching;
  }

  /** Starts looking; calls `back` once the server answers. */
  start(): void {
    if (this.#watching) return;
    this.#watching = true;
    this.#later(this.pause);
  }

  stop(): void {
    this.#watching = false;
    clearTimeout(this.#timer);
  }

  #later(pause: number): void {
    this.#timer = window.setTimeout(() => void this.#look(pause), pause);
  }

  async #look(pause: number): Promise<void> {
    const alive = await this.api.alive();
    if (!this.#watching) return;
    if (!alive) return this.#later(Math.min(10_000, pause * 1.4));
    this.stop();
    this.back();
  }
}
