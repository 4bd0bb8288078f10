import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Onfido } from '../../../../../test/support/onfido/onfido.js';
import type { Check } from '../../../../../test/support/onfido/records.js';
import { testDatabase, type TestDatabase } from '../../../../../test/support/postgres.js';
import { newId } from '../../../../kernel/ids.js';
import type { IdentityRequest } from '../../application/ports.js';
import { Verifications } from '../../store/verifications.js';
import { OnfidoVerifier } from './onfido-verifier.js';

const JPEG = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(40_000, 7)]);

describe('the row of a verification that SQL leads to the clear check of another person', () => {
  let db: TestDatabase;
  let onfido: Onfido;
  let verifier: OnfidoVerifier;
  beforeAll(async () => {
    [db, onfido] = await Promise.all([testDatabase(), Onfido.start()]);
    verifier = new OnfidoVerifier(onfido.account, new Verifications(db.database));
  });
  afterAll(() => Promise.all([db.drop(), onfido.goAway()]));

  async function underReview(): Promise<{ readonly request: IdentityRequest; readonly check: Check }> {
    const request: IdentityRequest = {
      ...{ verificationId: newId(), userId: newId() },
      details: { firstName: 'Ada', lastName: 'Lovelace', dateOfBirth: '1815-12-10' },
      images: async () =>
        (['document_front', 'selfie'] as const).map((kind) => ({ kind, type: 'image/jpeg', bytes: JPEG })),
      handedOver: async () => undefined,
    };
    expect(await verifier.decide(request)).toBe('under_review');
    return {
      request,
      check: onfido.records.checks.find(({ tags }) => tags.includes(request.verificationId))!,
    };
  }

  it('passes no identity check; the identity check continues once the row names the own check again', async () => {
    const [ada, eve] = [await underReview(), await underReview()];
    onfido.complete(ada.check, 'clear');
    const write = (check: string | null, applicant: string): Promise<unknown> =>
      db.database.query(
        'update onboarding.verifications set check_reference = $2, applicant = $3 where verification_id = $1',
        [eve.request.verificationId, check, applicant],
      );
    for (const [check, applicant] of [
      [ada.check.id, eve.check.applicant_id],
      [ada.check.id, ada.check.applicant_id],
      [null, ada.check.applicant_id],
    ] as const) {
      await write(check, applicant);
      await expect(verifier.decide(eve.request)).rejects.toMatchObject({
        message: 'The check at Onfido belongs to another verification',
      });
    }
    await write(eve.check.id, eve.check.applicant_id);
    expect(await verifier.decide(eve.request)).toBe('under_review');
    expect(await verifier.decide(ada.request)).toEqual({ passed: true });
  });
});
