import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EVENT_STORE, type EventStore } from '../../src/platform/event-store/port.js';
import { newId } from '../../src/kernel/ids.js';
import { RegisterMerchant } from '../../src/contexts/access/contract.js';
import { SANDBOX_NAMES } from '../../src/contexts/onboarding/adapters/sandbox-providers.js';
import { SMS_INBOX, type SmsInbox } from '../../src/contexts/onboarding/application/ports.js';
import { CreateUser } from '../../src/contexts/users/application/create-user.js';
import { eventually } from '../support/eventually.js';
import { BROWSER, upload } from '../support/onboard.js';
import { pageUrl, plainTicket, startPeople, type People } from '../support/people.js';
import { dropTestDatabase, testDatabaseUrl } from '../support/postgres.js';
import { expectInOrder } from '../support/in-order.js';

const DETAILS = {
  ...{ first_name: 'Ada', last_name: 'Lovelace', date_of_birth: '1985-12-10' },
  ...{ terms_version: 'sandbox', privacy_version: 'sandbox' },
};
const HOUR_SECONDS = 3600;

describe('what a person in the widget may do how often', () => {
  const masterKey = randomBytes(32).toString('hex');
  let databaseUrl: string;
  let processes: readonly People[];
  let merchantId: string;
  let phones = 0;

  beforeAll(async () => {
    databaseUrl = await testDatabaseUrl();
    const start = (): Promise<People> => startPeople({ databaseUrl, masterKey, roles: 'worker,widget' });
    processes = [await start(), await start()];
    ({ merchantId } = await processes[0]!.commandBus.execute(new RegisterMerchant('Shop')));
  });
  afterAll(async () => {
    for (const people of processes) await people.close();
    await expectInOrder(databaseUrl);
    await dropTestDatabase(databaseUrl);
  });

  interface Visitor {
    readonly userId: string;
    step(name: string, body?: object, process?: number): Promise<{ response: Response; body: StepResponse }>;
    events(type: string): Promise<number>;
  }
  interface StepResponse {
    readonly stage?: string;
    readonly session?: string;
    readonly detail?: string;
  }

  /** A person whose phone is verified. */
  async function visitor(): Promise<Visitor> {
    const [people] = processes as [People];
    const [userId, phone] = [newId(), `+1555${String(++phones).padStart(7, '0')}`];
    await people.commandBus.execute(
      new CreateUser(merchantId, { phone_number: phone }, plainTicket(userId), {}),
    );
    let session = '';
    const step: Visitor['step'] = async (name, body = {}, process = 0) => {
      const url = pageUrl(processes[process]!.module);
      const response = await fetch(`${url}/onboarding/${merchantId}/${userId}/${name}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${session}` },
        body: JSON.stringify(body),
      });
      return { response, body: (await response.json()) as StepResponse };
    };
    await step('code', { browser: BROWSER, phone_number: phone });
    const code = people.module.get<SmsInbox>(SMS_INBOX, { strict: false }).lastCode(phone) ?? '';
    session = (await step('phone', { browser: BROWSER, phone_number: phone, code })).body.session!;
    const store = people.module.get<EventStore>(EVENT_STORE, { strict: false });
    const events = async (type: string): Promise<number> =>
      (await store.readStream(`onboarding-${userId}`)).filter((event) => event.type === type).length;
    return { userId, step, events };
  }

  it('confirms the same details once', async () => {
    const { step, events } = await visitor();
    for (let time = 0; time < 5; time += 1) {
      const responses = await Promise.all([step('details', DETAILS), step('details', DETAILS, 1)]);
      for (const { body } of responses) expect(body.stage).toBe('details_confirmed');
    }
    expect(await events('onboarding.details_confirmed.v1')).toBe(1);
  });

  it('changes details 20 times a day, in any process', async () => {
    const { step, events } = await visitor();
    const statuses: number[] = [];
    for (let time = 0; time < 25; time += 1) {
      const { response } = await step('details', { ...DETAILS, first_name: `Ada ${time}` }, time % 2);
      statuses.push(response.status);
    }
    expect(statuses).toEqual([...Array<number>(20).fill(200), ...Array<number>(5).fill(429)]);
    expect(await events('onboarding.details_confirmed.v1')).toBe(20);
  });

  it('has the identity checked 3 times an hour, in any process, and then gets 429 with a retry-after', async () => {
    const { userId, step, events } = await visitor();
    await step('details', { ...DETAILS, last_name: SANDBOX_NAMES.rejected });
    for (let time = 0; time < 3; time += 1) {
      await upload(processes[0]!, userId);
      expect((await step('identity', {}, time % 2)).response.status).toBe(200);
      await eventually(async () => (await step('state')).body.stage === 'kyc_failed');
    }
    const { response, body } = await step('identity', {}, 1);
    expect(response.status).toBe(429);
    expect(body.detail).toMatch(
      /^Your identity was checked 3 times within an hour; try again in \d+ minutes$/,
    );
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(response.headers.get('retry-after'))).toBeLessThanOrEqual(HOUR_SECONDS);
    expect(await events('onboarding.kyc_submitted.v1')).toBe(3);
    expect((await step('state')).body.stage).toBe('kyc_failed');
  });
});
