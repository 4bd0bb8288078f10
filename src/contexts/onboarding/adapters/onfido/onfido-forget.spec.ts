import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { failure, OnfidoLab, UNAVAILABLE } from '../../../../../test/support/onfido/onfido-lab.js';
import { Verifications } from '../../store/verifications.js';

let lab: OnfidoLab;
beforeAll(async () => {
  lab = await OnfidoLab.open();
});
afterEach(() => lab.onfido.recover());
afterAll(() => lab.close());

describe('a person who is forgotten', () => {
  it('is deleted at Onfido, once no check is under way; a repeat is harmless', async () => {
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
      override async keepApplicant(verificationId: string, provider: string, applicant: string) {
        await this.forget(verificationId, provider);
        return super.keepApplicant(verificationId, provider, applicant);
      }
    }
    const ada = lab.person();
    const late = lab.verifier(undefined, new Meanwhile(lab.database));
    expect(await failure(late.decide(ada))).toMatchObject(UNAVAILABLE);
    expect(lab.applicantsOf(ada)).toEqual([]);
    expect(lab.onfido.requests.map((request) => request.split(' ')[0])).toEqual(['POST', 'DELETE']);
  });
});
