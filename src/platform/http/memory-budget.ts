import { setTimeout as sleep } from 'node:timers/promises';
import { PAGE_BYTES } from '../postgres/list-page.js';
import { callerOf } from './merchant-directory.js';
import type { RequestState } from './request-state.js';

/** Every request may hold this much: small ones pass while large ones are refused. */
export const SMALL_BYTES = 16_384;

/** The part of all bytes that one client may hold: a quarter. */
const SHARES = 4;
/** How long a list waits for the memory of its page, and how often it tries. */
const PAGE_WAIT_MS = 5000;
const PAGE_RETRY_MS = 20;

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
    const more = bytes - edge.responseBytes;
    if (bytes > SMALL_BYTES && !isRequired && !this.fits(responderOf(edge), more)) return false;
    this.add(responderOf(edge), more);
    edge.responseBytes = bytes;
    return true;
  }

  /**
   * Reserves what a page of a list may take before the database reads it, and waits for other responses to the same client:
   * many clients that read nothing would each have one built. False when there was no room in time.
   */
  async reservePage(edge: RequestState): Promise<boolean> {
    const bytes = Math.min(PAGE_BYTES, this.limit / SHARES);
    const deadline = performance.now() + PAGE_WAIT_MS;
    while (!this.reserveResponse(edge, bytes, false)) {
      if (performance.now() > deadline) return false;
      await sleep(PAGE_RETRY_MS);
    }
    return true;
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
