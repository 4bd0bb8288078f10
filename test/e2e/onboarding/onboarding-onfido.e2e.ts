import { afterAll, describe, expect, it } from '@jest/globals';
import { Images } from '../../../src/contexts/onboarding/identity/images.store.js';
import { eventually } from '../../support/eventually.js';
import { submitted, eventsOf, onboardingOf } from '../../support/onboarding/onboard.js';
import { Onfido } from '../../support/onboarding/onfido/onfido.js';
import { pageUrl, startPeople } from '../../support/onboarding/people.js';

const MASTER_KEY = '22'.repeat(32);

type Callback = ReturnType<Onfido['webhook']>;

const onfido = await Onfido.start();
const options = {
  masterKey: MASTER_KEY,
  roles: 'worker,widget',
  env: { ...onfido.settings, RATE_LIMIT_PER_IP_PER_MINUTE: '1000000' },
};
const people = await startPeople(options);

describe('a service whose identity checks are by Onfido', () => {
  afterAll(async () => {
    await people.close();
    await onfido.shutDown();
  });

  const stageOf = async (userId: string): Promise<string> => (await onboardingOf(people, userId)).stage;
  const openCheck = () =>
    eventually(() => onfido.records.checks.find(({ status }) => status === 'in_progress'));
  const statusOf = async ({ headers, body }: Callback, provider = 'onfido'): Promise<number> => {
    const url = `${pageUrl(people.module)}/callbacks/identity/${provider}`;
    return (await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) })).status;
  };

  it('waits during an outage, uploads the images once and completes the onboarding after the webhook', async () => {
    await onfido.shutDown();
    const userId = await submitted(people);
    const step = async () => {
      const sql = `select cause, (state->>'polls')::int as polls from work.items where kind = 'onboarding.step' and key = $1`;
      return (await people.database.query<{ cause: string | null; polls: number | null }>(sql, [userId]))[0];
    };
    await eventually(async () => (await step())?.cause?.includes('Onfido cannot be reached') === true);
    expect(await people.module.get(Images, { strict: false }).kinds(userId)).toHaveLength(2);
    await onfido.restart();
    await eventually(async () => (await step())?.cause === null && ((await step())?.polls ?? 0) > 0);
    expect(await people.module.get(Images, { strict: false }).kinds(userId)).toEqual([]);
    expect(onfido.records.checks).toHaveLength(1);
    const [check] = onfido.records.checks;
    onfido.complete(check!, 'clear');
    expect(await statusOf(onfido.webhook(check!.id))).toBe(200);
    await eventually(async () => (await stageOf(userId)) === 'completed');
  });

  it('200: polls the provider on a valid callback before the next poll is due, and not on a refused one', async () => {
    const userId = await submitted(people);
    const check = await openCheck();
    const postponed = `update work.items set due_at = now() + interval '1 hour' where kind = 'onboarding.step'
      and key = $1 and (state->>'polls')::int > 0 and lease is null and due_at > now() returning 1`;
    await eventually(async () => (await people.database.query(postponed, [userId])).length === 1);
    onfido.complete(check, 'clear');
    const good = onfido.webhook(check.id);
    const later = (minutes: number): Date => new Date(Date.now() + minutes * 60_000);
    for (const [callback, status] of [
      [onfido.webhook(check.id, new Date(), 'forged'), 401],
      [onfido.webhook(check.id, later(-60 * 25)), 401],
      [onfido.signed('{}'), 400],
      [{ ...good, body: Buffer.alloc(20_000, 'a') }, 413],
      [onfido.webhook('00000000-unknown'), 200],
    ] as const)
      expect(await statusOf(callback)).toBe(status);
    expect(await statusOf(good, 'sandbox')).toBe(404);
    const waiting = `select from work.items where key = $1 and due_at > now() + interval '30 minutes'`;
    expect(await people.database.query(waiting, [userId])).toHaveLength(1);
    for (let times = 0; times < 2; times += 1) expect(await statusOf(good)).toBe(200);
    await eventually(async () => (await stageOf(userId)) === 'completed');
    expect(await statusOf(good)).toBe(200);
    const types = await eventsOf(people, userId);
    expect(types.filter((type) => /kyc_(passed|failed)/.test(type))).toEqual(['kyc_passed.v1']);
  });
});
