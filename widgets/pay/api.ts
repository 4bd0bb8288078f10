import type {
  PageCalls,
  PayFacts,
  PayOrder,
  PayQuote,
} from '../../src/contexts/exchange/http/pay/page-types.js';

export type { PayFacts, PayOrder, PayQuote };
export type Offer = PayFacts['offers'][number];

/** A response that is no success, in words for the person. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Three heartbeats of the server. */
const SILENCE_MS = 45_000;
const AWAY = 'We cannot reach the service. Check your connection and try again.';

interface ProblemDetails {
  readonly detail?: string;
  readonly errors?: Readonly<Record<string, readonly string[]>>;
}

/** What is said of a status; the words of the service where they are for people. */
function wordsFor(status: number, { detail, errors = {} }: ProblemDetails): string {
  if (status === 401 || status === 403) return 'This page is no longer valid. Open the link again.';
  if (status === 429) return 'Too many requests. Wait a minute and try again.';
  if (status >= 500) return 'We are having trouble. Try again in a moment.';
  const [wrong] = Object.entries(errors);
  // Of the parameters that people fill in, all are amounts.
  if (wrong?.[0].startsWith('amount')) return `What you send ${wrong[1][0]}.`;
  return detail ?? AWAY;
}

/** The calls of the page, as the server has them; each carries the session. */
export class Api {
  /** How far the server's clock is ahead of this one, in ms. */
  private ahead = 0;

  constructor(readonly session: string) {}

  /** The server's time: what it says of expiries is measured by it, whatever this device's clock says. */
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

  act(id: string, action: 'mark_as_paid' | 'cancel'): Promise<PayOrder> {
    return this.call(`orders/${id}/${action}`, {});
  }

  /**
   * Every state of an order from now on; ends with its last one. Connects again by itself, later each time; `lost` tells
   * whether the connection is. Rejects with a {@link Refusal} when it is no use.
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
          if (order.is_final) return;
        }
      } catch (error) {
        if (error instanceof Refusal && [401, 403, 404].includes(error.status)) throw error;
      }
      if (performance.now() - connected > 10_000) failures = 0;
      lost(failures > 0);
      await pause(Math.min(500 * 2 ** failures, 15_000) * (0.75 + Math.random() / 2), signal);
    }
  }

  private async *events(id: string, signal: AbortSignal): AsyncGenerator<PayOrder> {
    const response = await this.send(`orders/${id}/events`, { signal });
    let text = '';
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      // Where a phone slept or a network went, nobody says that the connection is gone.
      const silence = setTimeout(() => void reader.cancel(), SILENCE_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
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
      throw new Refusal(0, AWAY);
    });
    if (response.ok) return response;
    const problem = (await response.json().catch(() => ({}))) as ProblemDetails;
    throw new Refusal(response.status, wordsFor(response.status, problem));
  }

  private timed<T extends { readonly now: number }>(response: T): T {
    this.ahead = response.now - Date.now();
    return response;
  }
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
