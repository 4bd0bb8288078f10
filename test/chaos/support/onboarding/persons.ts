import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { signed, type Credentials } from '../../../../bench/support/sign.js';
import { PHOTO } from '../../../support/images.js';
import type { Twilio } from '../../../support/twilio/twilio.js';
import { between, oneOf } from '../suite.js';
import { Tally, type Verdict } from '../verdict.js';

/** Where one process takes requests. */
export interface Door {
  readonly api: string;
  readonly widget: string;
}

/** The nonce of everybody's page: hashed with the user, it is another one for each. */
const BROWSER = 'b0'.repeat(16);
const ATTEMPT_MS = 20_000;
/** Codes are at least 30 s apart. */
const GIVE_UP_MS = 400_000;
const DETAILS = {
  ...{ first_name: 'Ada', last_name: 'Lovelace', date_of_birth: '1985-12-10' },
  ...{ terms_version: 'sandbox', privacy_version: 'sandbox' },
};

interface Said {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

/** People who go through the page, each step again until it is taken, at whichever process there is. */
export class Persons {
  /** Users whose identity is handed in: the rest is the service's. */
  readonly handedIn: string[] = [];
  readonly tally = new Tally();
  private workers: Promise<void>[] = [];
  private running = true;
  private giveUpMs = GIVE_UP_MS;
  private phones = 0;

  constructor(
    private readonly doors: () => readonly Door[],
    private readonly merchant: Credentials,
    private readonly twilio: Twilio,
    private readonly verdict: Verdict,
  ) {}

  start(count: number): void {
    const failed = (error: Error): void => this.verdict.expect(false, 'people go on', error.stack);
    this.workers = Array.from({ length: count }, () => this.work().catch(failed));
  }

  /** Nobody begins any more; resolves when everybody who began has handed in. */
  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.workers);
  }

  /** Nobody goes on: the suite has failed. */
  abandon(): void {
    this.running = false;
    this.giveUpMs = 0;
  }

  private async work(): Promise<void> {
    while (this.running) {
      const phone = `+1555${String((this.phones += 1)).padStart(7, '0')}`;
      const id = await this.created(phone);
      const session = id === null ? null : await this.verified(id, phone);
      if (id === null || session === null) return;
      const headers = { authorization: `Bearer ${session}` };
      const confirmed = await this.insist('details', () => this.step(id, 'details', DETAILS, headers));
      const uploaded = confirmed && (await this.uploaded(id, headers));
      const submitted =
        uploaded && (await this.insist('identity', () => this.step(id, 'identity', {}, headers)));
      if (submitted) this.handedIn.push(id);
      await sleep(between(0, 300));
    }
  }

  private async uploaded(id: string, headers: Record<string, string>): Promise<boolean> {
    for (const kind of ['document_front', 'selfie'])
      if ((await this.insist(kind, () => this.upload(id, kind, headers))) === null) return false;
    return true;
  }

  private async created(phone: string): Promise<string | null> {
    const key = randomUUID();
    const made = await this.insist(
      'created',
      async () => {
        const email = `ada${phone.slice(1)}@example.com`;
        const body = JSON.stringify({ phone_number: phone, email });
        const path = '/merchants/v1/users';
        const { headers } = signed(this.merchant, 'POST', path, body, { 'idempotency-key': `"${key}"` });
        return said(await fetch(oneOf(this.doors()).api + path, { ...post(body), headers }));
      },
      201,
    );
    return made === null ? null : ((made.json['user'] as { id: string }).id ?? null);
  }

  /** The session of whoever entered the code; asks for another when the one that came does not do. */
  private async verified(id: string, phone: string): Promise<string | null> {
    const began = performance.now();
    let tried: string | null = null;
    while (performance.now() - began < this.giveUpMs) {
      const asked = await this.attempt('code', () =>
        this.step(id, 'code', { browser: BROWSER, phone_number: phone }),
      );
      const code = this.twilio.lastCode(phone);
      if (code !== null && code !== tried) {
        const done = await this.attempt('phone', () =>
          this.step(id, 'phone', { browser: BROWSER, phone_number: phone, code }),
        );
        if (done?.status === 200) return done.json['session'] as string;
        // Without a response it may be used up, or not; a wrong one is not tried again.
        if (done?.status === 422) tried = code;
      }
      if (asked?.status === 429) break;
      await sleep(between(500, 2000));
    }
    this.verdict.expect(false, 'a person enters a code');
    return null;
  }

  private step(id: string, name: string, body: object, headers: Record<string, string> = {}): Promise<Said> {
    const init = post(JSON.stringify(body));
    return fetch(this.urlOf(id, name), {
      ...init,
      headers: { 'content-type': 'application/json', ...headers },
    }).then(said);
  }

  private upload(id: string, kind: string, headers: Record<string, string>): Promise<Said> {
    const init = post(new Uint8Array(PHOTO));
    return fetch(this.urlOf(id, `images/${kind}`), {
      ...init,
      headers: { 'content-type': 'image/jpeg', ...headers },
    }).then(said);
  }

  private urlOf(id: string, path: string): string {
    return `${oneOf(this.doors()).widget}/onboarding/${this.merchant.apiKey}/${id}/${path}`;
  }

  /** Null when no response came, or none that counts. */
  private async attempt(what: string, send: () => Promise<Said>): Promise<Said | null> {
    const response = await send().catch((error: Error & { cause?: { code?: string } }) => {
      this.tally.add(error.cause?.code ?? error.name);
      return null;
    });
    if (response !== null) this.tally.add(`${what} ${response.status}`);
    return response;
  }

  private async insist(what: string, send: () => Promise<Said>, wanted = 200): Promise<Said | null> {
    const began = performance.now();
    while (performance.now() - began < this.giveUpMs) {
      const response = await this.attempt(what, send);
      if (response?.status === wanted) return response;
      if (response !== null && ![409, 503].includes(response.status)) {
        this.verdict.expect(false, `${what}: got ${response.status}`, response.json);
        return null;
      }
      await sleep(between(50, 500));
    }
    this.verdict.expect(false, `${what}: no final response after ${GIVE_UP_MS / 1000} s`);
    return null;
  }
}

/** A process that stands still responds to nobody: people try again. */
function post(body: string | Uint8Array<ArrayBuffer>): RequestInit {
  return { method: 'POST', body, signal: AbortSignal.timeout(ATTEMPT_MS) };
}

async function said(response: Response): Promise<Said> {
  const text = await response.text();
  try {
    return { status: response.status, json: JSON.parse(text) as Said['json'] };
  } catch {
    return { status: response.status, json: { text } };
  }
}
