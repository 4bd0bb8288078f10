import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { send, type ApiResponse, type Credentials } from '../../../support/http/signed-client.js';
import { PHOTO } from '../../../support/onboarding/images.js';
import type { Twilio } from '../../../support/onboarding/twilio/twilio.js';
import { CREATE_USER, keyed } from '../payouts.js';
import { Senders } from '../senders.js';
import type { ServiceProcess } from '../../../../bench/support/service.js';
import { between, oneOf } from '../suite.js';
import { type Verdict, Tally } from '../verdict.js';
import type { Onfido } from '../../../support/onboarding/onfido/onfido.js';
import type { Check } from '../../../support/onboarding/onfido/records.js';

/** The nonce of every page. Its hash includes the user. */
const BROWSER = 'b0'.repeat(16);
const ATTEMPT_MS = 20_000;
const PAUSE_MS = 300;
/** Codes are at least 30 s apart. */
const GIVE_UP_MS = 400_000;
const DETAILS = {
  first_name: 'Ada',
  last_name: 'Lovelace',
  date_of_birth: '1985-12-10',
  terms_version: 'sandbox',
  privacy_version: 'sandbox',
};

/** People at the page, who retry each step at any process until it is accepted. */
export class Persons extends Senders {
  /** Users who submitted their identity. The service does the rest. */
  readonly handedIn: string[] = [];
  private phones = 0;

  constructor(
    private readonly targets: () => readonly ServiceProcess[],
    private readonly merchant: Credentials,
    private readonly twilio: Twilio,
    verdict: Verdict,
  ) {
    super(verdict, PAUSE_MS, GIVE_UP_MS);
  }

  protected override async round(): Promise<void> {
    const phone = `+1555${String((this.phones += 1)).padStart(7, '0')}`;
    const id = await this.create(phone);
    const session = id === null ? null : await this.verify(id, phone);
    if (id === null || session === null) return;
    const headers = { authorization: `Bearer ${session}` };
    const steps: readonly (readonly [name: string, send: () => Promise<ApiResponse>])[] = [
      ['details', () => this.step(id, 'details', DETAILS, headers)],
      ['document_front', () => this.upload(id, 'document_front', headers)],
      ['selfie', () => this.upload(id, 'selfie', headers)],
      ['identity', () => this.step(id, 'identity', {}, headers)],
    ];
    for (const [name, send] of steps) if ((await this.untilFinal(name, [200], send)) === null) return;
    this.handedIn.push(id);
  }

  private async create(phone: string): Promise<string | null> {
    const key = randomUUID();
    const body = JSON.stringify({ phone_number: phone, email: `ada${phone.slice(1)}@example.com` });
    const created = await this.untilFinal('user', [201], () => {
      const headers = { ...keyed(this.merchant, CREATE_USER.path, body, key).headers };
      return post(oneOf(this.targets()).baseUrl + CREATE_USER.path, body, headers);
    });
    return created === null ? null : created.json<{ user: { id: string } }>().user.id;
  }

  /** Returns the session of a person who entered the code. Requests a new code after a failure. */
  private async verify(id: string, phone: string): Promise<string | null> {
    const began = performance.now();
    const person = { browser: BROWSER, phone_number: phone };
    let tried: string | null = null;
    while (performance.now() - began < GIVE_UP_MS && !this.abandoned) {
      const sent = await this.attempt('code', () => this.step(id, 'code', person));
      const code = this.twilio.lastCode(phone);
      if (code !== null && code !== tried) {
        const done = await this.attempt('phone', () => this.step(id, 'phone', { ...person, code }));
        if (done?.status === 200) return done.json<{ session: string }>().session;
        // A lost response may have used up the code. A wrong one is not tried again.
        if (done?.status === 422) tried = code;
      }
      if (sent?.status === 429) break;
      await sleep(between(500, 2000));
    }
    this.verdict.expect(false, 'a person enters a code');
    return null;
  }

  private step(
    id: string,
    name: string,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse> {
    const type = { 'content-type': 'application/json' };
    return post(this.urlOf(id, name), JSON.stringify(body), { ...type, ...headers });
  }

  private upload(id: string, kind: string, headers: Record<string, string>): Promise<ApiResponse> {
    const type = { 'content-type': 'image/jpeg' };
    return post(this.urlOf(id, `images/${kind}`), PHOTO, { ...type, ...headers });
  }

  private urlOf(id: string, path: string): string {
    return `${oneOf(this.targets()).widgetUrl}/onboarding/${this.merchant.apiKey}/${id}/${path}`;
  }
}

/** Retries are needed because a stopped process does not respond. */
const post = (url: string, body: string | Buffer, headers: Record<string, string>): Promise<ApiResponse> =>
  send(url, { method: 'POST', body, headers, signal: AbortSignal.timeout(ATTEMPT_MS) });

/** The arrival of a decision's webhook. Early ones precede the decision. */
const WEBHOOKS = ['once', 'once', 'twice', 'late', 'early', 'never'] as const;
const WEBHOOK_MS = 10_000;

/** Onfido's side: decides each check after a while, and sends its webhook by WEBHOOKS. */
export class Decisions {
  readonly tally = new Tally();
  private readonly seen = new Set<string>();
  private readonly pending = new Set<Promise<void>>();
  private running = true;
  private readonly work: Promise<void>;

  constructor(
    private readonly onfido: Onfido,
    private readonly targets: () => readonly ServiceProcess[],
    private readonly maxMs: number,
  ) {
    this.work = this.watch();
  }

  async stop(): Promise<void> {
    this.running = false;
    await this.work;
    await Promise.all(this.pending);
  }

  private async watch(): Promise<void> {
    while (this.running) {
      for (const check of this.onfido.records.checks.filter(({ id }) => !this.seen.has(id))) {
        this.seen.add(check.id);
        const decided = this.decide(check).finally(() => this.pending.delete(decided));
        this.pending.add(decided);
      }
      await sleep(50);
    }
  }

  private async decide(check: Check): Promise<void> {
    const how = oneOf(WEBHOOKS);
    if (how === 'early') await this.send(check.id);
    await sleep(between(0, 3000));
    this.onfido.complete(check, 'clear');
    if (how === 'late') await sleep(between(0, Math.min(20_000, this.maxMs)));
    this.tally.add(how);
    const webhook = this.onfido.webhook(check.id);
    if (how === 'twice') await Promise.all([this.send(check.id, webhook), this.send(check.id, webhook)]);
    else if (how !== 'never') await this.send(check.id, webhook);
  }

  /** Sends to any process, without a retry. */
  private async send(id: string, { headers, body } = this.onfido.webhook(id)): Promise<void> {
    const url = `${oneOf(this.targets()).widgetUrl}/callbacks/identity/onfido`;
    await send(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(WEBHOOK_MS) }).then(
      ({ status }) => this.tally.add(`webhook ${status}`),
      () => this.tally.add('webhook without response'),
    );
  }
}
