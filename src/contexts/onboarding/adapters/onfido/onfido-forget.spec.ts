import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  failure,
  OnfidoLab,
  UNAVAILABLE,
  type Person,
} from '../../../../../test/support/onfido/onfido-lab.js';
import { Sealer } from '../../../../platform/sealing/sealer.js';
import { Verifications } from '../../store/verifications.js';

const CHANGED = { message: expect.stringContaining('changed outside the service') as unknown };

let lab: OnfidoLab;
beforeAll(async () => {
  lab = await OnfidoLab.open();
});
afterEach(() => lab.onfido.recover());
afterAll(() => lab.close());

describe('a person who is forgotten', () => {
  it('is deleted at Onfido, once no check is in progress; a repeat is harmless', async () => {
    const ada = lab.person();
    await lab.verifier().decide(ada);
    const [applicant] = lab.applicantsOf(ada);
    expect(await failure(lab.verifier().forget(ada.userId))).toMatchObject(UNAVAILABLE);
    lab.onfido.complete(lab.checksOf(ada)[0]!, 'clear');
    lab.onfido.faults = ['done, then reset'];
    expect(await failure(lab.verifier().forget(ada.userId))).toMatchObject(UNAVAILABLE);
    await lab.verifier().forget(ada.userId);
    await lab.verifier().forget(ada.userId);
    expect(lab.onfido.records.deleted).toContain(applicant!.id);
    expect(lab.onfido.records.applicants.has(applicant!.id)).toBe(false);
  });

  it('is not described to Onfido by a process that was making the applicant meanwhile', async () => {
    class Meanwhile extends Verifications {
      override async keepApplicant(id: string, provider: string, userId: string, applicant: string) {
        await this.forget(id, provider);
        return super.keepApplicant(id, provider, userId, applicant);
      }
    }
    const ada = lab.person();
    const late = lab.verifier(undefined, new Meanwhile(lab.database, new Sealer(randomBytes(32))));
    expect(await failure(late.decide(ada))).toMatchObject(UNAVAILABLE);
    expect(lab.applicantsOf(ada)).toEqual([]);
    expect(lab.onfido.requests.map((request) => request.split(' ')[0])).toEqual(['POST', 'DELETE']);
  });
});

describe('the row of a verification that SQL leads to the applicant of another person', () => {
  /** Ada is under review, with a check that is over. */
  async function reviewed(): Promise<{ readonly ada: Person; readonly applicant: string }> {
    const ada = lab.person();
    await lab.verifier().decide(ada);
    lab.onfido.complete(lab.checksOf(ada)[0]!, 'clear');
    return { ada, applicant: lab.applicantsOf(ada)[0]!.id };
  }
  const set = (of: Person, change: string, value: string | null): Promise<unknown> =>
    lab.database.query(`update onboarding.verifications set ${change} where verification_id = $1`, [
      of.verificationId,
      value,
    ]);
  const requestsAbout = (applicant: string): readonly string[] =>
    lab.onfido.requests.filter((request) => request.includes(applicant));

  it('hands nothing to that applicant and reads nothing of it, and continues once the row is right', async () => {
    const { applicant } = await reviewed();
    const eve = lab.person();
    await lab.verifications().open(eve.verificationId, 'onfido', eve.userId);
    await set(eve, 'applicant = $2', applicant);
    const before = requestsAbout(applicant);
    expect(await failure(lab.verifier().decide(eve))).toMatchObject(CHANGED);
    expect(requestsAbout(applicant)).toEqual(before);
    await set(eve, 'applicant = $2', null);
    expect(await lab.verifier().decide(eve)).toBe('under_review');
  });

  it.each([
    ['by its own row', 'applicant = $2'],
    ['by the row of that person', 'user_id = $2'],
  ])('deletes only its own applicant at an erasure, %s', async (_how, change) => {
    const [{ ada, applicant }, eve] = [await reviewed(), await reviewed()];
    const changed = change.startsWith('user_id') ? ada : eve.ada;
    const [forged, right] = changed === ada ? [eve.ada.userId, ada.userId] : [applicant, eve.applicant];
    await set(changed, change, forged);
    expect(await failure(lab.verifier().forget(eve.ada.userId))).toMatchObject(CHANGED);
    expect(lab.onfido.records.deleted).not.toContain(applicant);
    await set(changed, change, right);
    await lab.verifier().forget(eve.ada.userId);
    expect(lab.onfido.records.deleted).toContain(eve.applicant);
    expect(lab.onfido.records.deleted).not.toContain(applicant);
  });

  it('does not keep the applicant at Onfido: an erasure waits for a row whose applicant was removed', async () => {
    const { ada, applicant } = await reviewed();
    await set(ada, 'applicant = $2', null);
    expect(await failure(lab.verifier().forget(ada.userId))).toMatchObject(CHANGED);
    await set(ada, 'applicant = $2', applicant);
    await lab.verifier().forget(ada.userId);
    expect(lab.onfido.records.deleted).toContain(applicant);
  });
});
