import { callerOf } from './merchant-directory.js';
import type { RequestState } from './request-state.js';

/** Every request may hold this much: small ones pass while large ones are refused. */
export const SMALL_BYTES = 16_384;

/** The part of all bytes that one client may hold: a quarter. */
const SHARES = 4;

/**
 * The bound on the bytes of request bodies and of responses not yet sent, of the process and of each client: an address
 * while its request is read, the merchant or its key once that is known. Above the bound large ones are refused.
 */
export class MemoryBudget {
  private total = 0;
  private readonly held = new Map<string, number>();

  constructor(private readonly limit: number) {}

  /** Reserves bytes for a request's body; false when they exceed the budget. */
  reserveBody(edge: RequestState, bytes: number): boolean {
    if (edge.isReleased) return false;
    if (edge.bodyBytes + bytes > SMALL_BYTES && !this.fits(edge.client, bytes)) return false;
    edge.bodyBytes += bytes;
    this.add(edge.client, bytes);
    return true;
  }

  /** Reserves bytes for a response; false when they exceed the budget, unless the response is required. */
  reserveResponse(edge: RequestState, bytes: number, isRequired: boolean): boolean {
    if (edge.isReleased) return true;
    if (bytes > SMALL_BYTES && !isRequired && !this.hasRoom(edge, bytes)) return false;
    this.add(responderOf(edge), bytes - edge.responseBytes);
    edge.responseBytes = bytes;
    return true;
  }

  /** True while a response of so many bytes to the client of the request would be within the budget. */
  hasRoom(edge: RequestState, bytes: number): boolean {
    return this.fits(responderOf(edge), bytes);
  }

  /** Called once the response was sent or its client is gone. */
  release(edge: RequestState): void {
    edge.isReleased = true;
    if (edge.bodyBytes > 0) this.add(edge.client, -edge.bodyBytes);
    if (edge.responseBytes > 0) this.add(responderOf(edge), -edge.responseBytes);
  }

  private fits(holder: string, bytes: number): boolean {
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
