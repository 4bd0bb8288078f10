import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OnfidoLab, type Person } from '../../../../../test/support/onfido/onfido-lab.js';
import type { Check } from '../../../../../test/support/onfido/records.js';
import type { OnfidoVerifier } from './onfido-verifier.js';

describe('the row of a verification that SQL leads to the clear check of another person', () => {
  let lab: OnfidoLab;
  let verifier: OnfidoVerifier;
  beforeAll(async () => {
    lab = await OnfidoLab.open();
    verifier = lab.verifier();
  });
  afterAll(() => lab.close());

  async function underReview(): Promise<{ readonly request: Person; readonly check: Check }> {
    const request = lab.person();
    expect(await verifier.decide(request)).toBe('under_review');
    return { request, check: lab.checksOf(request)[0]! };
  }

  it('passes no identity check; the identity check continues once the row names the own check again', async () => {
    const [ada, eve] = [await underReview(), await underReview()];
    lab.onfido.complete(ada.check, 'clear');
    const write = (check: string | null, applicant: string): Promise<unknown> =>
      lab.database.query(
        'update onboarding.verifications set check_reference = $2, applicant = $3 where verification_id = $1',
        [eve.request.verificationId, check, applicant],
      );
    for (const [check, applicant, message] of [
      [ada.check.id, eve.check.applicant_id, 'The check at Onfido belongs to another verification'],
      [ada.check.id, ada.check.applicant_id, 'changed outside the service'],
      [null, ada.check.applicant_id, 'changed outside the service'],
    ] as const) {
      await write(check, applicant);
      await expect(verifier.decide(eve.request)).rejects.toThrow(message);
    }
    await write(eve.check.id, eve.check.applicant_id);
    expect(await verifier.decide(eve.request)).toBe('under_review');
    expect(await verifier.decide(ada.request)).toEqual({ passed: true });
  });
});
