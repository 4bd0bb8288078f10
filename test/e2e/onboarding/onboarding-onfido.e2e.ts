import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Images } from '../../../src/contexts/onboarding/store/images.js';
import { eventually } from '../../support/eventually.js';
import {
  confirmed,
  eventsOf,
  handIn,
  MERCHANT,
  onboardingOf,
  urlOf,
} from '../../support/onboarding/onboard.js';
import { Onfido } from '../../support/onboarding/onfido/onfido.js';
import { invoke } from '../../support/programs/cli.js';
import { pageUrl, startPeople, type People } from '../../support/onboarding/people.js';

const MASTER_KEY = '22'.repeat(32);
const JPEG = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(40_000, 7)]);

/** Callbacks of one decision, and how many are sent at a time. */
const [FLOOD, LANES] = [100, 16];

type Callback = ReturnType<Onfido['webhook']>;

describe('a service whose identities are checked by Onfido', () => {
  let onfido: Onfido;
  let people: People;
  let there: People;
  beforeAll(async () => {
    onfido = await Onfido.start();
    const options = {
      masterKey: MASTER_KEY,
      roles: 'worker,widget',
      env: { ...onfido.settings, RATE_LIMIT_PER_IP_PER_MINUTE: '1000000' },
    };
    people = await startPeople(options);
    there = await startPeople({ ...options, databaseUrl: urlOf(people) });
  });
  afterAll(async () => {
    await there?.close();
    await people.close();
    await onfido.shutDown();
  });

  async function handedIn(): Promise<string> {
    const userId = await confirmed(people);
    await handIn(people, userId, MERCHANT, JPEG);
    return userId;
  }
  const stageOf = async (userId: string): Promise<string> => (await onboardingOf(people, userId)).stage;
  const openCheck = () =>
    eventually(() => onfido.records.checks.find(({ status }) => status === 'in_progress'));
  const user = (...args: string[]) => invoke('user', { DATABASE_URL: urlOf(people), MASTER_KEY }, ...args);
  const statusOf = async ({ headers, body }: Callback, to = people, provider = 'onfido'): Promise<number> => {
    const url = `${pageUrl(to.module)}/callbacks/identity/${provider}`;
    return (await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) })).status;
  };

  it('waits during an outage, reports it, uploads the images once and passes after the webhook', async () => {
    await onfido.shutDown();
    const userId = await handedIn();
    const stuck = async (): Promise<string> => (await user('stuck', '--older-than', '0s')).printed;
    await eventually(async () => (await stuck()).includes('Onfido cannot be reached'));
    expect(await people.module.get(Images, { strict: false }).kinds(userId)).toHaveLength(2);
    await onfido.restart();
    await eventually(async () => (await stuck()).includes('under review'));
    expect(await people.module.get(Images, { strict: false }).kinds(userId)).toEqual([]);
    expect(onfido.records.checks).toHaveLength(1);
    const [check] = onfido.records.checks;
    onfido.complete(check!, 'clear');
    expect(await statusOf(onfido.webhook(check!.id))).toBe(200);
    await eventually(async () => (await stageOf(userId)) === 'completed');
  });

  it('deletes the person on erasure, also after an outage', async () => {
    const userId = await handedIn();
    onfido.complete(await openCheck(), 'clear');
    await eventually(async () => (await stageOf(userId)) === 'completed');
    const act = ['--reason', 'request'];
    await user('deactivate', userId, ...act);
    const applicants = (): readonly unknown[] => [...onfido.records.applicants.values()];
    const before = applicants().length;
    await onfido.shutDown();
    await eventually(async () =>
      user('erase', userId, '--yes', ...act).then(
        () => true,
        () => false,
      ),
    );
    expect(applicants()).toHaveLength(before);
    await onfido.restart();
    await eventually(async () => applicants().length === before - 1);
    const sql = 'select 1 from onboarding.verifications where user_id = $1';
    await eventually(async () => (await people.database.query(sql, [userId])).length === 0);
  });

  describe('whose next poll is an hour away: a callback', () => {
    let userId: string;
    let check: Awaited<ReturnType<typeof openCheck>>;
    beforeEach(async () => {
      userId = await handedIn();
      check = await openCheck();
      // None is in flight.
      await eventually(async () => {
        const postponed = await people.database.query(
          `update work.items set due_at = now() + interval '1 hour' where kind = 'onboarding.step' and key = $1
           and (state->>'polls')::int > 0 and lease is null and due_at > now() returning 1`,
          [userId],
        );
        return postponed.length === 1;
      });
    });

    const isDue = async (): Promise<boolean> => {
      const sql = `select from work.items where key = $1 and due_at > now() + interval '30 minutes'`;
      return (await people.database.query(sql, [userId])).length === 0;
    };
    const outcomes = async (): Promise<string[]> =>
      (await eventsOf(people, userId)).filter((type) => /kyc_(passed|failed)/.test(type));

    it('200: a valid one polls the provider, and a refused one does not', async () => {
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
      expect(await statusOf(good, people, 'sandbox')).toBe(404);
      expect(await isDue()).toBe(false);
      expect(await statusOf(good)).toBe(200);
      await eventually(async () => (await stageOf(userId)) === 'completed');
      expect(await outcomes()).toEqual(['kyc_passed.v1']);
    });

    it(`${FLOOD} of one decision, forged, repeated, shuffled, over two processes: one outcome`, async () => {
      onfido.complete(check, 'clear');
      const originals = Array.from({ length: FLOOD / 10 }, (_, n) =>
        onfido.webhook(check.id, new Date(Date.now() - n)),
      );
      // Six good copies of each, and four that are not; 7 and 100 have no common divisor, so that they are shuffled.
      const all = Array.from({ length: FLOOD }, (_, n) => {
        const [original, isGood] = [originals[((n * 7) % FLOOD) % originals.length]!, (n * 7) % 10 < 6];
        const body = isGood ? original.body : Buffer.concat([original.body, Buffer.from(' ')]);
        return { callback: { ...original, body }, isGood };
      });
      const statuses: Record<string, number> = {};
      const lane = async (_: unknown, from: number): Promise<void> => {
        for (let n = from; n < all.length; n += LANES) {
          const { callback, isGood } = all[n]!;
          const kind = `${isGood ? 'good' : 'forged'} ${await statusOf(callback, n % 2 === 0 ? people : there)}`;
          statuses[kind] = (statuses[kind] ?? 0) + 1;
        }
      };
      await Promise.all(Array.from({ length: LANES }, lane));
      expect(statuses).toEqual({ 'good 200': FLOOD * 0.6, 'forged 401': FLOOD * 0.4 });
      await eventually(async () => (await stageOf(userId)) === 'completed');
      expect(await outcomes()).toEqual(['kyc_passed.v1']);
    });
  });
});
