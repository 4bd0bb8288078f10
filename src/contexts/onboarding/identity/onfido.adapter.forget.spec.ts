import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  failure,
  OnfidoHarness,
  UNAVAILABLE,
  type Person,
} from '../../../../test/support/onboarding/onfido/onfido-harness.js';
import { Sealer } from '../../../platform/sealing/sealer.js';
import { Verifications } from './verifications.store.js';

const CHANGED = { message: expect.stringContaining('changed outside the service') as unknown };

let harness: OnfidoHarness;
beforeAll(async () => {
  harness = await OnfidoHarness.open();
});
afterEach(() => harness.onfido.recover());
afterAll(() => harness.close());

describe('the erasure of a person at Onfido', () => {
  it('succeeds once no check is in progress and can be repeated', async () => {
    const ada = harness.person();
    await harness.verifier().decide(ada);
    const [applicant] = harness.applicantsOf(ada);
    expect(await failure(harness.verifier().forget(ada.userId))).toMatchObject(UNAVAILABLE);
    harness.onfido.complete(harness.checksOf(ada)[0]!, 'clear');
    harness.onfido.faults = ['done, then reset'];
    expect(await failure(harness.verifier().forget(ada.userId))).toMatchObject(UNAVAILABLE);
    await harness.verifier().forget(ada.userId);
    await harness.verifier().forget(ada.userId);
    expect(harness.onfido.records.deleted).toContain(applicant!.id);
    expect(harness.onfido.records.applicants.has(applicant!.id)).toBe(false);
  });

  it('makes a concurrent process delete its new applicant and send no data of the person', async () => {
    class Meanwhile extends Verifications {
      override async keepApplicant(id: string, provider: string, userId: string, applicant: string) {
        await this.forget(id, provider);
        return super.keepApplicant(id, provider, userId, applicant);
      }
    }
    const ada = harness.person();
    const late = harness.verifier(undefined, new Meanwhile(harness.database, new Sealer(randomBytes(32))));
    expect(await failure(late.decide(ada))).toMatchObject(UNAVAILABLE);
    expect(harness.applicantsOf(ada)).toEqual([]);
    expect(harness.onfido.requests.map((request) => request.split(' ')[0])).toEqual(['POST', 'DELETE']);
  });
});

describe('a verification whose row was changed to the applicant of another person', () => {
  /** Ada is under review, with a check that is over. */
  async function reviewed(): Promise<{ readonly ada: Person; readonly applicant: string }> {
    const ada = harness.person();
    await harness.verifier().decide(ada);
    harness.onfido.complete(harness.checksOf(ada)[0]!, 'clear');
    return { ada, applicant: harness.applicantsOf(ada)[0]!.id };
  }
  const set = (of: Person, change: string, value: string | null): Promise<unknown> =>
    harness.database.query(`update onboarding.verifications set ${change} where verification_id = $1`, [
      of.verificationId,
      value,
    ]);
  const requestsAbout = (applicant: string): readonly string[] =>
    harness.onfido.requests.filter((request) => request.includes(applicant));

  it('sends and reads no data of that applicant and continues once the row is restored', async () => {
    const { applicant } = await reviewed();
    const eve = harness.person();
    await harness.verifications().open(eve.verificationId, 'onfido', eve.userId);
    await set(eve, 'applicant = $2', applicant);
    const before = requestsAbout(applicant);
    expect(await failure(harness.verifier().decide(eve))).toMatchObject(CHANGED);
    expect(requestsAbout(applicant)).toEqual(before);
    await set(eve, 'applicant = $2', null);
    expect(await harness.verifier().decide(eve)).toBe('under_review');
  });

  it.each([
    ['its row names that applicant', 'applicant = $2'],
    ['the row of that person names its user', 'user_id = $2'],
  ])('never lets an erasure delete the other applicant: %s', async (_how, change) => {
    const [{ ada, applicant }, eve] = [await reviewed(), await reviewed()];
    const changed = change.startsWith('user_id') ? ada : eve.ada;
    const [forged, right] = changed === ada ? [eve.ada.userId, ada.userId] : [applicant, eve.applicant];
    await set(changed, change, forged);
    expect(await failure(harness.verifier().forget(eve.ada.userId))).toMatchObject(CHANGED);
    expect(harness.onfido.records.deleted).not.toContain(applicant);
    await set(changed, change, right);
    await harness.verifier().forget(eve.ada.userId);
    expect(harness.onfido.records.deleted).toContain(eve.applicant);
    expect(harness.onfido.records.deleted).not.toContain(applicant);
  });

  it('makes an erasure fail until an applicant that was removed from the row is restored', async () => {
    const { ada, applicant } = await reviewed();
    await set(ada, 'applicant = $2', null);
    expect(await failure(harness.verifier().forget(ada.userId))).toMatchObject(CHANGED);
    await set(ada, 'applicant = $2', applicant);
    await harness.verifier().forget(ada.userId);
    expect(harness.onfido.records.deleted).toContain(applicant);
  });
});
