import { callerOf } from './merchant-directory.js';
import type { RequestState } from './request-state.js';

/** Every request may hold this much: small ones pass while large ones are refused. */
export const SMALL_BYTES = 16_384;

/** One client's share of all bytes: a part of this. */
const SHARES = 4;

/** The longest wait of a page for memory, and the most pages of one client that wait. */
const WAIT_MS = 5000;
const MAX_WAITING = 256;

interface WaitingPage {
  readonly edge: RequestState;
  readonly bytes: number;
  end(hasRoom: boolean): void;
}

/**
 * The bytes of request bodies and of responses not yet sent, of the process and of each client: an address while its
 * request is read, the merchant or its key once that is known. Above the bound large ones are refused.
 */
export class MemoryBudget {
  private total = 0;
  private readonly held = new Map<string, number>();
  /** The waiting pages by client, in the order of their arrival. */
  private readonly lines = new Map<string, WaitingPage[]>();

  constructor(
    private readonly limit: number,
    private readonly waitMs = WAIT_MS,
  ) {}

  /** Reserves bytes for a request's body; false when they exceed the budget. */
  reserveBody(edge: RequestState, bytes: number): boolean {
    if (edge.isReleased) return false;
    if (!this.fits(edge.client, edge.bodyBytes, bytes)) return false;
    edge.bodyBytes += bytes;
    this.add(edge.client, bytes);
    return true;
  }

  /**
   * Reserves bytes for a response, in place of those reserved for it before; false when they exceed the budget, unless the
   * response is required.
   */
  reserveResponse(edge: RequestState, bytes: number, isRequired: boolean): boolean {
    if (edge.isReleased) return true;
    const holder = responderOf(edge);
    const more = bytes - edge.responseBytes;
    if (more > 0 && !this.fits(holder, 0, more) && !isRequired) return false;
    edge.responseBytes = bytes;
    this.add(holder, more);
    return true;
  }

  /** Does what {@link reserveResponse} does once there is room. False after a while, or when too many of the client wait. */
  async awaitResponse(edge: RequestState, bytes: number): Promise<boolean> {
    const holder = responderOf(edge);
    const line = this.lines.get(holder) ?? [];
    if (line.length === 0 && this.reserveResponse(edge, bytes, false)) return true;
    if (line.length >= MAX_WAITING) return false;
    this.lines.set(holder, line);
    return new Promise((resolve) => {
      const end = (hasRoom: boolean): void => {
        clearTimeout(timer);
        line.splice(line.indexOf(page), 1);
        if (line.length === 0) this.lines.delete(holder);
        resolve(hasRoom);
      };
      const timer = setTimeout(end, this.waitMs, false);
      const page = { edge, bytes, end };
      line.push(page);
    });
  }

  /** Called once the response was sent or its client is gone. */
  release(edge: RequestState): void {
    edge.isReleased = true;
    if (edge.bodyBytes > 0) this.add(edge.client, -edge.bodyBytes);
    if (edge.responseBytes > 0) this.add(responderOf(edge), -edge.responseBytes);
  }

  private fits(holder: string, already: number, bytes: number): boolean {
    if (already + bytes <= SMALL_BYTES) return true;
    const ofHolder = (this.held.get(holder) ?? 0) + bytes;
    return ofHolder <= this.limit / SHARES && this.total + bytes <= this.limit;
  }

  private add(holder: string, bytes: number): void {
    this.total += bytes;
    const left = (this.held.get(holder) ?? 0) + bytes;
    if (left === 0) this.held.delete(holder);
    else this.held.set(holder, left);
    if (bytes < 0) for (const line of [...this.lines.values()]) this.admit(line);
  }

  private admit(line: readonly WaitingPage[]): void {
    for (let [first] = line; first !== undefined; [first] = line) {
      const { edge, bytes } = first;
      if (edge.isReleased) first.end(false);
      else if (this.reserveResponse(edge, bytes, false)) first.end(true);
      else return;
    }
  }
}

function responderOf({ merchant, client }: RequestState): string {
  return merchant === null ? client : callerOf(merchant);
}
