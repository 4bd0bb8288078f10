import type { Messages } from '../../src/contexts/exchange/pay/pay.dto.js';
import type {
  PageCalls,
  PayFacts,
  PayOrder,
  PayQuote,
  Transfer,
} from '../../src/contexts/exchange/pay/pay.dto.js';

export type { PayFacts, PayOrder, PayQuote, Transfer };
export type Action = 'mark_as_paid' | 'cancel' | 'test_payment';
export type Offer = PayFacts['offers'][number];

/** An error response. Status 0 means no response. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    /** The first wrong parameter, or null. */
    readonly parameter: string | null = null,
  ) {
    super(`refused with ${status}`);
  }

  /** The message for the person. */
  get messageKey(): keyof Messages {
    const { status } = this;
    if (status === 0) return 'troubleUnreachable';
    if (status === 401 || status === 403) return 'troubleSession';
    if (status === 404) return 'troubleMissing';
    if (status === 409) return 'troubleMoved';
    if (status === 429) return 'troubleOften';
    return status >= 500 ? 'troubleServer' : 'troubleEntry';
  }
}

/** The interval at which an open order is read. */
const FOLLOW_MS = 3_000;
/** The interval for an ended order, whose deposits may still arrive, and for a hidden tab. */
const LATE_MS = 15_000;

interface ProblemDetails {
  readonly errors?: Readonly<Record<string, readonly string[]>>;
}

/** The API of the pay page. Every call contains the session. */
export class Api {
  /** The milliseconds by which the server's clock is ahead of this one. */
  private ahead = 0;

  constructor(readonly session: string) {}

  /** Returns the server's time in epoch ms, because the clock of the device may be wrong. */
  now(): number {
    return Date.now() + this.ahead;
  }

  quote(query: PageCalls['quote']): Promise<PayQuote> {
    return this.call(`quote?${new URLSearchParams({ ...query }).toString()}`);
  }

  create(order: PageCalls['create']): Promise<PayOrder> {
    return this.call('orders', order);
  }

  order(id: string): Promise<PayOrder> {
    return this.call(`orders/${id}`);
  }

  act(id: string, action: Action): Promise<PayOrder> {
    return this.call(`orders/${id}/${action}`, {});
  }

  /**
   * Passes the states of an order to `seen` until `signal` aborts, also after the final status. Failures are
   * retried after growing delays, with `lost(true)`. Rejects with a {@link Refusal} that no retry changes.
   */
  async follow(
    id: string,
    seen: (order: PayOrder) => void,
    lost: (is: boolean) => void,
    signal: AbortSignal,
  ): Promise<void> {
    for (let failures = 0; !signal.aborted;) {
      let pauseMs = FOLLOW_MS;
      try {
        const order = await this.order(id);
        if (signal.aborted) return;
        failures = 0;
        lost(false);
        seen(order);
        if (order.is_final || document.visibilityState === 'hidden') pauseMs = LATE_MS;
      } catch (error) {
        if (isLasting(error)) throw error;
        failures += 1;
        lost(failures > 1);
        pauseMs = Math.min(500 * 2 ** failures, LATE_MS) * (0.75 + Math.random() / 2);
      }
      await pause(pauseMs, signal);
    }
  }

  private async call<T extends { readonly now: number }>(path: string, body?: object): Promise<T> {
    const init = body && {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    };
    const response = await this.send(path, init ?? {});
    return this.timed((await response.json()) as T);
  }

  private async send(path: string, init: RequestInit): Promise<Response> {
    const headers = { ...init.headers, authorization: `Bearer ${this.session}` };
    const response = await fetch(`/widget/api/${path}`, { ...init, headers }).catch(() => {
      throw new Refusal(0);
    });
    if (response.ok) return response;
    const problem = (await response.json().catch(() => ({}))) as ProblemDetails;
    throw new Refusal(response.status, Object.keys(problem.errors ?? {})[0]);
  }

  private timed<T extends { readonly now: number }>(response: T): T {
    this.ahead = response.now - Date.now();
    return response;
  }
}

function isLasting(error: unknown): boolean {
  return error instanceof Refusal && [401, 403, 404].includes(error.status);
}

/** Waits `ms`, or until the tab becomes visible or hidden or `signal` aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = new AbortController();
    const end = (): void => {
      clearTimeout(timer);
      over.abort();
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, over);
    document.addEventListener('visibilitychange', end, over);
  });
}
