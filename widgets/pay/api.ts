import type { Messages } from '../../src/contexts/exchange/http/pay/pay-types.js';
import type {
  PageCalls,
  PayFacts,
  PayOrder,
  PayQuote,
  Transfer,
} from '../../src/contexts/exchange/http/pay/pay-types.js';

export type { PayFacts, PayOrder, PayQuote, Transfer };
export type Action = 'mark_as_paid' | 'cancel' | 'test_payment';
export type Offer = PayFacts['offers'][number];

/** A response that is no success. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    /** The first wrong parameter. */
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

/** Three heartbeats of the server. */
const IDLE_MS = 45_000;
/** The interval at which an ended order is read, because deposits may still arrive. */
const LATE_MS = 15_000;

interface ProblemDetails {
  readonly errors?: Readonly<Record<string, readonly string[]>>;
}

/** The calls of the page, as the server has them; each carries the session. */
export class Api {
  /** The milliseconds by which the server's clock is ahead of this one. */
  private ahead = 0;

  constructor(readonly session: string) {}

  /** The server's time: what it says of expiries is measured by it, not by this device's clock. */
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
   * Every state of an order from now on, also after its last status. Connects again automatically, with a longer pause each
   * time; `lost` says whether there is no connection. Rejects with a {@link Refusal} that no retry changes.
   */
  async follow(
    id: string,
    seen: (order: PayOrder) => void,
    lost: (is: boolean) => void,
    signal: AbortSignal,
  ): Promise<void> {
    for (let failures = 0; !signal.aborted; failures += 1) {
      const connected = performance.now();
      try {
        for await (const order of this.events(id, signal)) {
          lost(false);
          seen(order);
          if (order.is_final) return await this.followLate(id, seen, signal);
        }
      } catch (error) {
        if (isLasting(error)) throw error;
      }
      if (performance.now() - connected > 10_000) failures = 0;
      lost(failures > 0);
      await pause(Math.min(500 * 2 ** failures, 15_000) * (0.75 + Math.random() / 2), signal);
    }
  }

  /** Follows deposits that arrive after the end. */
  private async followLate(id: string, seen: (order: PayOrder) => void, signal: AbortSignal): Promise<void> {
    for (;;) {
      await pause(LATE_MS, signal);
      if (signal.aborted) return;
      try {
        if (document.visibilityState === 'visible') seen(await this.order(id));
      } catch (error) {
        if (isLasting(error)) throw error;
      }
    }
  }

  private async *events(id: string, signal: AbortSignal): AsyncGenerator<PayOrder> {
    const response = await this.send(`orders/${id}/events`, { signal });
    let text = '';
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      // This timeout detects a dead connection, which no event reports after sleep or a lost network.
      const idle = setTimeout(() => void reader.cancel(), IDLE_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(idle));
      if (done) return;
      const frames = (text + value).split('\n\n');
      text = frames.pop()!;
      for (const frame of frames) {
        const data = /^data: (.*)$/m.exec(frame);
        if (data) yield this.timed(JSON.parse(data[1]!) as PayOrder);
      }
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

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
