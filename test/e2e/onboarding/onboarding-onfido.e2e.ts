import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { en } from '../../../src/contexts/onboarding/words/en.js';
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
import { invoke } from '../../support/programs/operator.js';
import { pageUrl, startPeople, type People } from '../../support/onboarding/people.js';

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
    await onfido.shutDown();
  });

  async function handedIn(): Promise<string> {
    const userId = await confirmed(people);
    await handIn(people, userId, MERCHANT, JPEG);
    return userId;
  }

  const post = (path: string, { headers, body }: ReturnType<Onfido['webhook']>): Promise<Response> =>
    fetch(`${pageUrl(people.module)}${path}`, {
      method: 'POST',
      headers,
      body: new Uint8Array(body),
    });

  it('waits during an outage, reports it, uploads the images once and passes after the webhook', async () => {
    await onfido.shutDown();
    const userId = await handedIn();
    const stuck = async (): Promise<string> =>
      (await invoke('user', { DATABASE_URL: urlOf(people), MASTER_KEY }, 'stuck', '--older-than', '0s'))
        .printed;
    await eventually(async () => (await stuck()).includes('Onfido cannot be reached'));
    expect(await people.module.get(Images, { strict: false }).kinds(userId)).toHaveLength(2);
    await onfido.restart();
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

  it('gives the person a reason in words of this service', async () => {
    const userId = await handedIn();
    const found = await eventually(async () =>
      onfido.records.checks.find(({ status }) => status === 'in_progress'),
    );
    const breakdown = { image_integrity: { result: 'unidentified' } };
    onfido.complete(found!, 'consider', [
      { name: 'document', result: 'consider', sub_result: 'rejected', breakdown },
    ]);
    await eventually(async () => (await onboardingOf(people, userId)).stage === 'kyc_failed');
    expect(await onboardingOf(people, userId)).toMatchObject({ reason: en.reasonUnreadable });
  });

  it('deletes the person on erasure, also after an outage', async () => {
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
        'request',
        '--actor',
        'a',
      );
    await user('deactivate', userId);
    const applicants = (): readonly unknown[] => [...onfido.records.applicants.values()];
    const before = applicants().length;
    await onfido.shutDown();
    await eventually(async () =>
      user('erase', userId, '--yes').then(
        () => true,
        () => false,
      ),
    );
    expect(applicants()).toHaveLength(before);
    await onfido.restart();
    await eventually(async () => applicants().length === before - 1);
    await eventually(
      async () =>
        (await people.database.query('select 1 from onboarding.verifications where user_id = $1', [userId]))
          .length === 0,
    );
  });
});
