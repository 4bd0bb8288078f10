import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SANDBOX_NAMES, SandboxSms } from '../../../src/contexts/onboarding/adapters/sandbox-providers.js';
import { SMS_SENDER } from '../../../src/contexts/onboarding/application/ports.js';
import { newId } from '../../../src/kernel/ids.js';
import { CreateUser } from '../../../src/contexts/users/application/create-user.js';
import { RegisterMerchant } from '../../../src/contexts/access/contract.js';
import { eventually } from '../../support/eventually.js';
import { BROWSER, eventsOf, upload } from '../../support/onboarding/onboard.js';
import { pageUrl, plainTicket, startPeople, type People } from '../../support/onboarding/people.js';

let merchantId: string;
const MASTER_KEY = '22'.repeat(32);
const CODES_A_DAY = 10;

const DETAILS = {
  first_name: 'Ada',
  last_name: 'Lovelace',
  date_of_birth: '1985-12-10',
  terms_version: 'sandbox',
  privacy_version: 'sandbox',
};

interface StepResponse {
  readonly status: number;
  readonly detail?: string;
  readonly stage?: string;
  readonly session?: string;
  readonly retryAfter: number;
}

/** The sandbox's phones, counted over all processes of this file; while `down`, nothing is sent. */
class CountedSms extends SandboxSms {
  static sent: string[] = [];
  static down = false;
  static readonly latest = new Map<string, string>();

  override async send(phone: string, { code }: { readonly code: string }): Promise<void> {
    // As a real network would: time for another request to come in between.
    await new Promise((resolve) => setTimeout(resolve, 50));
    if (CountedSms.down) throw new Error(`could not send ${code} to ${phone}`);
    CountedSms.sent.push(phone);
    CountedSms.latest.set(phone, code);
  }
}

describe('codes and quotas of a person over two processes', () => {
  const processes: People[] = [];
  let urls: string[];
  let phones = 0;

  beforeAll(async () => {
    const override: NonNullable<Parameters<typeof startPeople>[0]>['override'] = (builder) =>
      builder.overrideProvider(SMS_SENDER).useValue(new CountedSms());
    const options = { masterKey: MASTER_KEY, roles: 'worker,widget', override };
    processes.push(await startPeople(options));
    ({ merchantId } = await processes[0]!.commandBus.execute(new RegisterMerchant('Shop')));
    const { connectionString } = processes[0]!.database.pool.options;
    processes.push(await startPeople({ ...options, databaseUrl: connectionString! }));
    urls = processes.map(({ module }) => pageUrl(module));
  });
  afterAll(async () => {
    for (const people of processes.reverse()) await people.close();
  });

  const createUser = async (): Promise<{ userId: string; phone: string }> => {
    const [userId, phone] = [newId(), `+1555${String(++phones).padStart(7, '0')}`];
    const { commandBus } = processes[0]!;
    await commandBus.execute(new CreateUser(merchantId, { phone_number: phone }, plainTicket(userId), {}));
    const query = new URLSearchParams({ merchant_id: merchantId, user_id: userId });
    expect((await fetch(`${urls[0]}/onboarding?${query.toString()}`)).status).toBe(200);
    return { userId, phone };
  };
  const step = async (
    userId: string,
    name: string,
    body: object = {},
    at = 0,
    session = '',
  ): Promise<StepResponse> => {
    const response = await fetch(`${urls[at]}/onboarding/${merchantId}/${userId}/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${session}` },
      body: JSON.stringify({ browser: BROWSER, ...body }),
    });
    const { status, headers } = response;
    return {
      ...((await response.json()) as object),
      status,
      retryAfter: Number(headers.get('retry-after')),
    };
  };
  /** The steps of a person whose phone is verified. */
  const signedIn = async () => {
    const { userId, phone } = await createUser();
    await step(userId, 'code', { phone_number: phone });
    const code = CountedSms.latest.get(phone);
    const { session } = await step(userId, 'phone', { phone_number: phone, code });
    const next = (name: string, body = {}, at = 0) => step(userId, name, body, at, session);
    return { userId, next };
  };
  const eventsOfType = async (userId: string, type: string): Promise<number> =>
    (await eventsOf(processes[0]!, userId)).filter((each) => each === type).length;
  /** As if the codes of the user were that much older. */
  const age = async (userId: string, interval: string): Promise<void> => {
    await processes[0]!.database.query(
      'update onboarding.phone_codes set sent_at = sent_at - $2::interval where user_id = $1',
      [userId, interval],
    );
  };
  const sentTo = (phone: string): number => CountedSms.sent.filter((each) => each === phone).length;

  it('are sent once for concurrent requests to two processes', async () => {
    const { userId, phone } = await createUser();
    const requests = Array.from({ length: 6 }, (_, i) =>
      step(userId, 'code', { phone_number: phone }, i % 2),
    );
    const statuses = (await Promise.all(requests)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 409, 409, 409, 409, 409]);
    expect(sentTo(phone)).toBe(1);
  });

  it('are sent ten times in a day by all processes together, and again when the window has moved on', async () => {
    const { userId, phone } = await createUser();
    const statuses: number[] = [];
    for (let round = 0; round < CODES_A_DAY + 2; round += 1) {
      statuses.push((await step(userId, 'code', { phone_number: phone }, round % 2)).status);
      await age(userId, '30 seconds');
    }
    // One address leaves some of them to others.
    expect(statuses).toEqual([...Array<number>(6).fill(200), ...Array<number>(6).fill(429)]);
    expect(sentTo(phone)).toBe(6);
    const code = CountedSms.latest.get(phone);
    expect(code).toMatch(/^[0-9 ]{23}$/);
    expect((await step(userId, 'phone', { phone_number: phone, code })).status).toBe(200);
    await age(userId, '1 day');
    expect((await step(userId, 'phone', { phone_number: phone, code })).status).toBe(422);
    expect((await step(userId, 'code', { phone_number: phone })).status).toBe(200);
    expect(CountedSms.latest.get(phone)).toMatch(/^[0-9]{6}$/);
  });

  it('evaluate five of 50 parallel guesses over two processes, and refuse the right code afterwards', async () => {
    const { userId, phone } = await createUser();
    expect((await step(userId, 'code', { phone_number: phone })).status).toBe(200);
    const code = CountedSms.latest.get(phone)!;
    const guesses = Array.from({ length: 50 }, (_, index) => {
      const guess = String((Number(code) + 1 + index) % 1_000_000).padStart(6, '0');
      return step(userId, 'phone', { phone_number: phone, code: guess }, index % 2);
    });
    const responses = await Promise.all(guesses);
    expect(responses.map(({ status }) => status)).toEqual(guesses.map(() => 422));
    expect(responses.filter(({ detail }) => detail === 'code is wrong')).toHaveLength(4);
    expect((await step(userId, 'phone', { phone_number: phone, code })).status).toBe(422);
  });

  it('confirm the same details once', async () => {
    const { userId, next } = await signedIn();
    for (let time = 0; time < 5; time += 1) {
      const responses = await Promise.all([next('details', DETAILS), next('details', DETAILS, 1)]);
      for (const { stage } of responses) expect(stage).toBe('details_confirmed');
    }
    expect(await eventsOfType(userId, 'details_confirmed.v1')).toBe(1);
  });

  it('check an identity 3 times an hour, and then respond 429 with a retry-after', async () => {
    const { userId, next } = await signedIn();
    await next('details', { ...DETAILS, last_name: SANDBOX_NAMES.rejected });
    for (let time = 0; time < 3; time += 1) {
      await upload(processes[0]!, userId);
      expect((await next('identity', {}, time % 2)).status).toBe(200);
      await eventually(async () => (await next('state')).stage === 'kyc_failed');
    }
    const refused = await next('identity', {}, 1);
    expect(refused).toMatchObject({
      status: 429,
      detail: expect.stringMatching(
        /^Your identity was checked 3 times within an hour; try again in \d+ minutes$/,
      ),
    });
    expect(refused.retryAfter).toBeGreaterThan(0);
    expect(refused.retryAfter).toBeLessThanOrEqual(3600);
    expect(await eventsOfType(userId, 'kyc_submitted.v1')).toBe(3);
    expect((await next('state')).stage).toBe('kyc_failed');
  });
});
