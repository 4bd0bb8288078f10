import { callerOf } from './merchant-directory.js';
import type { RequestState } from './request-state.js';
import type { Problem } from './problem.js';
import { SMALL_BYTES } from './request-body.js';

/** One client's share of all bytes: a part of this. */
const SHARES = 4;

export const BUSY: Problem = {
  status: 503,
  detail: 'The service is busy: too many large requests and responses are under way',
  headers: { 'retry-after': '1' },
};

/**
 * The bytes of request bodies and of responses not yet taken, of the whole process and of each client: an address while
 * its request is read, the merchant or its key once that is known. What is above the bound is refused; what small requests hold above
 * it is bounded by the number of connections.
 */
export class BytesInHand {
  private total = 0;
  private readonly held = new Map<string, number>();

  constructor(private readonly limit: number) {}

  /** Counts bytes of a request's body; false when there is no room for them. */
  takeBody(edge: RequestState, bytes: number): boolean {
    if (edge.over) return false;
    if (!this.fits(edge.client, edge.bodyBytes, bytes)) return false;
    edge.bodyBytes += bytes;
    this.add(edge.client, bytes);
    return true;
  }

  /** Counts the bytes of a response; false when there is no room for them, and they are not counted unless they must go. */
  takeResponse(edge: RequestState, bytes: number, mustGo: boolean): boolean {
    if (edge.over) return true;
    const holder = responderOf(edge);
    if (!this.fits(holder, 0, bytes) && !mustGo) return false;
    edge.responseBytes += bytes;
    this.add(holder, bytes);
    return true;
  }

  /** The response is over, or its client gone. */
  release(edge: RequestState): void {
    edge.over = true;
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
  }
}

function responderOf({ merchant, client }: RequestState): string {
  return merchant === null ? client : callerOf(merchant);
}
