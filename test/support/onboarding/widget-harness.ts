import { randomBytes } from 'node:crypto';
import { equal } from 'node:assert/strict';
import { newId } from '../../../src/kernel/ids.js';
import { REQUIRED_IMAGES } from '../../../src/contexts/onboarding/identity/image-kind.js';
import { UpdateMerchant } from '../../../src/contexts/access/merchants/merchants.commands.js';
import { createMerchant } from '../../../sandbox/issuing.js';
import { CreateUser } from '../../../src/contexts/users/users/users.commands.js';
import { JPEG } from './images.js';
import { eventsOf } from './onboard.js';
import { pageUrl, plainTicket, startPeople, type People, type PeopleOptions } from './people.js';

export const DETAILS = {
  first_name: 'Ada',
  last_name: 'Lovelace',
  date_of_birth: '1985-12-10',
  terms_version: 'sandbox',
  privacy_version: 'sandbox',
};
export const TERMS = {
  ONBOARDING_TERMS_URL: 'https://disburse.example/terms',
  ONBOARDING_TERMS_VERSION: '2026-11',
  ONBOARDING_PRIVACY_URL: 'https://disburse.example/privacy',
  ONBOARDING_PRIVACY_VERSION: '7',
};
let phones = 0;

export interface Visitor {
  readonly userId: string;
  readonly phone: string;
  /** The secret nonce of the page. */
  readonly browser: string;
  page(init?: RequestInit, query?: Record<string, string> | [string, string][]): Promise<Response>;
  step(name: string, body?: object, headers?: Record<string, string>): Promise<Response>;
  /** Uploads the images of every verification and submits them. */
  handIn(headers: Record<string, string>): Promise<Response>;
  upload(kind: string, image: Buffer, headers?: Record<string, string>): Promise<Response>;
  /** Enters the code of the sandbox's phone. Returns the header of the later steps. */
  signIn(headers?: Record<string, string>): Promise<{ readonly authorization: string }>;
}

/** The widget of one service, with a merchant and users. */
export class Widget {
  private constructor(
    readonly people: People,
    readonly merchantId: string,
  ) {}

  static async start(
    env: Readonly<Record<string, string>> = {},
    override?: PeopleOptions['override'],
  ): Promise<Widget> {
    const people = await startPeople({ roles: 'worker,widget', env, override });
    const { merchantId } = await createMerchant(people.commandBus, 'Shop');
    return new Widget(people, merchantId);
  }

  get url(): string {
    return pageUrl(this.people.module);
  }

  async visitor(phone = `+1555${String(++phones).padStart(7, '0')}`): Promise<Visitor> {
    const userId = newId();
    const profile = { phone_number: phone };
    await this.people.commandBus.execute(new CreateUser(this.merchantId, profile, plainTicket(userId), {}));
    return visitorAt(this.url, this.merchantId, userId, phone);
  }

  async eventsOf({ userId }: Visitor): Promise<string[]> {
    return (await eventsOf(this.people, userId)).map((type) => `onboarding.${type}`);
  }

  async codesOf({ userId }: Visitor): Promise<number> {
    return (
      await this.people.database.query('select 1 from onboarding.phone_codes where user_id = $1', [userId])
    ).length;
  }

  async embed(embedding: NonNullable<UpdateMerchant['parameters']['embedding']>): Promise<void> {
    await this.people.commandBus.execute(new UpdateMerchant(this.merchantId, { embedding }));
  }

  async framersFor(visitor: Visitor): Promise<string | undefined> {
    const response = await visitor.page({ method: 'HEAD' });
    equal(response.status, 200);
    return framersOf(response);
  }

  close(): Promise<void> {
    return this.people.close();
  }
}

/** A visitor of the page of a user at `url`, and the calls of the page. */
export function visitorAt(url: string, merchantId: string, userId: string, phone: string): Visitor {
  const browser = randomBytes(16).toString('hex');
  const address = `${url}/onboarding?merchant_id=${merchantId}&user_id=${userId}`;
  const post = (
    name: string,
    body: RequestInit['body'],
    headers: Record<string, string>,
  ): Promise<Response> =>
    fetch(`${url}/onboarding/${merchantId}/${userId}/${name}`, {
      method: 'POST',
      headers,
      body,
      duplex: 'half',
    } as RequestInit);
  const step: Visitor['step'] = (name, body = {}, headers = {}) =>
    post(name, JSON.stringify({ browser, ...body }), { 'content-type': 'application/json', ...headers });
  const upload: Visitor['upload'] = (kind, image, headers = {}) =>
    post(`images/${kind}`, image as RequestInit['body'], { 'content-type': 'image/jpeg', ...headers });
  return {
    userId,
    phone,
    browser,
    page: (init, query = {}) => fetch(`${address}&${new URLSearchParams(query).toString()}`, init),
    step,
    upload,
    async handIn(headers) {
      for (const kind of REQUIRED_IMAGES) equal((await upload(kind, JPEG, headers)).status, 200);
      return step('identity', {}, headers);
    },
    async signIn(headers = {}) {
      equal((await step('code', { phone_number: phone }, headers)).status, 200);
      const { code } = (await (await step('inbox', {}, headers)).json()) as { code: string };
      const verified = await step('phone', { phone_number: phone, code }, headers);
      equal(verified.status, 200);
      return { authorization: `Bearer ${((await verified.json()) as { session: string }).session}` };
    },
  };
}

/** Returns the `frame-ancestors` of the page's policy, undefined without the directive. */
export function framersOf(response: Response): string | undefined {
  const policy = response.headers.get('content-security-policy') ?? '';
  return /frame-ancestors [^;]*/.exec(policy)?.[0];
}
