import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { REASONS } from '../../src/contexts/onboarding/adapters/onfido/onfido-reasons.js';
import { Images } from '../../src/contexts/onboarding/store/images.js';
import { eventually } from '../support/eventually.js';
import { confirmed, eventsOf, handIn, MERCHANT, onboardingOf, urlOf } from '../support/onboard.js';
import { Onfido } from '../support/onfido/onfido.js';
import { invoke } from '../support/operator.js';
import { pageUrl, startPeople, type People } from '../support/people.js';

const MASTER_KEY = '22'.repeat(32);
const JPEG = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(40_000, 7)]);

describe('a service whose identities are checked by Onfido', () => {
  let onfido: Onfido;
  let people: People;
  beforeAll(async () => {
    onfido = await Onfido.start();
    people = await startPeople({
      masterKey: MASTER_KEY,
      roles: 'worker,widget',
      env: onfido.settings,
    });
  });
  afterAll(async () => {
    await people.close();
    await onfido.goAway();
  });

  async function handedIn(): Promise<string> {
    const userId = await confirmed(people);
    await handIn(people, userId, MERCHANT, JPEG);
    return userId;
  }

  const post = (path: string, { headers, body }: ReturnType<Onfido['webhook']>): Promise<Response> =>
    fetch(`${pageUrl(people.module)}${path}`, {
      ...{ method: 'POST', headers, body: new Uint8Array(body) },
    });

  it('waits while it is away, says so, hands the images over once and passes after the webhook', async () => {
    await onfido.goAway();
    const userId = await handedIn();
    const stuck = async (): Promise<string> =>
      (await invoke('user', { DATABASE_URL: urlOf(people), MASTER_KEY }, 'stuck', '--older-than', '0s'))
        .printed;
    await eventually(async () => (await stuck()).includes('Onfido cannot be reached'));
    expect(await people.module.get(Images, { strict: false }).kinds(userId)).toHaveLength(2);
    await onfido.comeBack();
    await eventually(async () => (await stuck()).includes('under review'));
    expect(await people.module.get(Images, { strict: false }).kinds(userId)).toEqual([]);
    expect(onfido.records.checks).toHaveLength(1);
    const [check] = onfido.records.checks;
    await people.database.query(
      `update work.items set due_at = now() + interval '1 hour' where kind = 'onboarding.step'`,
    );
    onfido.complete(check!, 'clear');
    expect(
      (await post('/callbacks/identity/onfido', onfido.webhook(check!.id, new Date(), 'forged'))).status,
    ).toBe(401);
    expect((await post('/callbacks/identity/sandbox', onfido.webhook(check!.id))).status).toBe(404);
    expect((await post('/callbacks/identity/onfido', onfido.webhook(check!.id))).status).toBe(200);
    await eventually(async () => (await onboardingOf(people, userId)).stage === 'completed');
    expect((await eventsOf(people, userId)).filter((type) => type.startsWith('kyc_passed'))).toHaveLength(1);
  });

  it('looks again after a webhook that is neither old, from the future, malformed nor repeated', async () => {
    const userId = await handedIn();
    const check = await eventually(async () =>
      onfido.records.checks.find(({ status }) => status === 'in_progress'),
    );
    /** The next look by itself is an hour away, and nobody is looking now: a lease holds for a minute. */
    const asleep = () =>
      eventually(async () => {
        const rows = await people.database.query(
          `update work.items set due_at = now() + interval '1 hour' where kind = 'onboarding.step' and key = $1
           and (state->>'polls')::int > 0 and lease is null and due_at > now() returning 1`,
          [userId],
        );
        return rows.length === 1;
      });
    const isDue = async (): Promise<boolean> =>
      (
        await people.database.query(
          `select 1 from work.items where key = $1 and due_at > now() + interval '30 minutes'`,
          [userId],
        )
      ).length === 0;
    const statusOf = async (webhook: ReturnType<Onfido['webhook']>): Promise<number> =>
      (await post('/callbacks/identity/onfido', webhook)).status;
    const looks = (): number =>
      onfido.requests.filter((request) => request === `GET /checks/${check!.id}`).length;
    const at = (minutes: number) => onfido.webhook(check!.id, new Date(Date.now() + minutes * 60_000));
    await asleep();
    const before = looks();
    expect(await statusOf(at(-25 * 60))).toBe(401);
    expect(await statusOf(at(6))).toBe(401);
    for (const text of [
      'nonsense',
      '{}',
      'null',
      '{"payload":{"resource_type":"check","object":{"id":"x"}}}',
    ])
      expect([text, await statusOf(onfido.signed(text))]).toEqual([text, 400]);
    expect([await isDue(), looks()]).toEqual([false, before]);
    const webhook = at(-23 * 60);
    expect(await statusOf(webhook)).toBe(200);
    await eventually(async () => looks() > before);
    await asleep();
    const once = looks();
    expect(await statusOf(webhook)).toBe(200);
    expect([await isDue(), looks()]).toEqual([false, once]);
    expect(await statusOf(at(4))).toBe(200);
    await eventually(async () => looks() > once);
    onfido.complete(check!, 'clear');
    await people.database.query('update work.items set due_at = now() where key = $1', [userId]);
    await eventually(async () => (await onboardingOf(people, userId)).stage === 'completed');
  });

  it('tells the person in our own words why not', async () => {
    const userId = await handedIn();
    const found = await eventually(async () =>
      onfido.records.checks.find(({ status }) => status === 'in_progress'),
    );
    const breakdown = { image_integrity: { result: 'unidentified' } };
    onfido.complete(found!, 'consider', [
      { name: 'document', result: 'consider', sub_result: 'rejected', breakdown },
    ]);
    await eventually(async () => (await onboardingOf(people, userId)).stage === 'kyc_failed');
    expect(await onboardingOf(people, userId)).toMatchObject({ reason: REASONS.unreadable });
  });

  it('deletes the person when they are erased, also after it was away', async () => {
    const userId = await handedIn();
    const found = await eventually(async () =>
      onfido.records.checks.find(({ status }) => status === 'in_progress'),
    );
    onfido.complete(found!, 'clear');
    await eventually(async () => (await onboardingOf(people, userId)).stage === 'completed');
    const user = (...args: string[]) =>
      invoke(
        'user',
        { DATABASE_URL: urlOf(people), MASTER_KEY },
        ...args,
        '--reason',
        'asked',
        '--actor',
        'a',
      );
    await user('deactivate', userId);
    const applicants = (): readonly unknown[] => [...onfido.records.applicants.values()];
    const before = applicants().length;
    await onfido.goAway();
    await eventually(async () =>
      user('erase', userId, '--yes').then(
        () => true,
        () => false,
      ),
    );
    expect(applicants()).toHaveLength(before);
    await onfido.comeBack();
    await eventually(async () => applicants().length === before - 1);
    await eventually(
      async () =>
        (await people.database.query('select 1 from onboarding.verifications where user_id = $1', [userId]))
          .length === 0,
    );
  });
});
