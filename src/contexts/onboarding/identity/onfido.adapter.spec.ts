import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  DETAILS,
  failure,
  IMAGES,
  JPEG,
  OnfidoHarness,
  UNAVAILABLE,
  type Person,
} from '../../../../test/support/onboarding/onfido/onfido-harness.js';
import type { Fault } from '../../../../test/support/exchange/provider-server.js';
import { NO_FACE, type Check } from '../../../../test/support/onboarding/onfido/records.js';
import { newId } from '../../../kernel/ids.js';
import en from '../words/en.json' with { type: 'json' };
import { OnfidoVerifier } from './onfido.adapter.js';

let harness: OnfidoHarness;
beforeAll(async () => {
  harness = await OnfidoHarness.open();
});
afterEach(() => harness.onfido.recover());
afterAll(() => harness.close());

describe('identity checks by Onfido', () => {
  it('are under review once Onfido has all data, and pass if the result is clear', async () => {
    const ada = harness.person();
    expect(await harness.verifier().decide(ada)).toBe('under_review');
    const [applicant] = harness.applicantsOf(ada);
    expect(applicant!.fields).toMatchObject({ first_name: 'Ada', last_name: 'Lovelace', dob: '1815-12-10' });
    expect(applicant!.documents.map(({ side }) => side).sort()).toEqual(['back', 'front']);
    expect(applicant!.livePhotos).toHaveLength(1);
    expect(ada.handed).toBeGreaterThan(0);
    harness.onfido.requests.length = 0;
    expect(await harness.verifier().decide(ada)).toBe('under_review');
    expect(harness.onfido.requests).toEqual([`GET /checks/${harness.checksOf(ada)[0]!.id}`]);
    harness.onfido.complete(harness.checksOf(ada)[0]!, 'clear');
    expect(await harness.verifier().decide(ada)).toEqual({ passed: true });
  });

  it('send a single name in both fields that Onfido requires', async () => {
    const details = { first_name: 'Sukarno', last_name: null, date_of_birth: '1901-06-06' };
    const person = harness.person({ details });
    expect(await harness.verifier().decide(person)).toBe('under_review');
    expect(harness.applicantsOf(person)[0]!.fields).toMatchObject({
      first_name: 'Sukarno',
      last_name: 'Sukarno',
    });
  });

  const expired = { data_validation: { breakdown: { document_expiration: { result: 'consider' } } } };
  const unclear = { result: 'unidentified' };
  const unsupported = { ...unclear, breakdown: { supported_document: unclear } };
  it.each([
    ['reasonExpired', 'document', 'caution', expired],
    ['reasonUnreadable', 'document', 'caution', { image_integrity: unclear }],
    ['reasonUnsupported', 'document', 'caution', { image_integrity: unsupported }],
    ['reasonDetails', 'document', 'caution', { data_comparison: { result: 'consider' } }],
    ['reasonFace', 'facial_similarity_photo', 'caution', { face_comparison: { result: 'consider' } }],
    ['reasonNotLive', 'facial_similarity_photo', 'caution', { visual_authenticity: { result: 'consider' } }],
    ['reasonVerification', 'document', 'caution', { police_record: { result: 'consider' } }],
    ['reasonVerification', 'document', 'caution', 'nonsense'],
    // A suspected fraud is not explained.
    ['reasonVerification', 'document', 'suspected', expired],
  ] as const)('fail with the reason %s after the report %s', async (reason, name, sub_result, breakdown) => {
    const ada = harness.person();
    await harness.verifier().decide(ada);
    harness.onfido.complete(harness.checksOf(ada)[0]!, 'consider', [
      { name, result: 'consider', sub_result, breakdown },
    ]);
    expect(await harness.verifier().decide(ada)).toEqual({ passed: false, reason: en[reason] });
  });

  const front = (bytes: Buffer) =>
    IMAGES.map((image) => (image.kind === 'document_front' ? { ...image, bytes } : image));
  it.each([
    ['bytes that are no image', { pictures: front(Buffer.alloc(40_000)) }, en.reasonUnreadable],
    ['a picture that is too small', { pictures: front(JPEG.subarray(0, 2000)) }, en.reasonSize],
    [
      'a picture that is too large',
      { pictures: front(Buffer.concat([JPEG, Buffer.alloc(4 << 20)])) },
      en.reasonSize,
    ],
    [
      'a selfie without a face',
      { pictures: [IMAGES[1]!, { ...IMAGES[2]!, bytes: Buffer.concat([JPEG, Buffer.from(NO_FACE)]) }] },
      en.reasonSelfie,
    ],
    ['no selfie', { pictures: IMAGES.slice(0, 2) }, en.reasonGone],
    ['a name with a semicolon', { details: { ...DETAILS, first_name: 'A;da' } }, en.reasonName],
  ])('are refused permanently, and no check is opened, because of %s', async (_, over, reason) => {
    const ada = harness.person(over);
    expect(await failure(harness.verifier().decide(ada))).toMatchObject({
      name: 'ProviderRefused',
      message: reason,
    });
    expect(harness.checksOf(ada)).toEqual([]);
    expect(ada.handed).toBe(0);
  });

  it.each<[string, Fault]>([
    ['resets the connection', 'reset'],
    ['redirects', { status: 307, body: '' }],
    ['responds with 429', { status: 429, body: '{"error":{"type":"rate_limit","message":"Lovelace"}}' }],
    ['responds with 500', { status: 500, body: '<html>Lovelace</html>' }],
    ['responds with no JSON', { status: 200, body: 'Lovelace' }],
    ['responds with null', { status: 201, body: 'null' }],
  ])('are unavailable while Onfido %s, without personal data in the error', async (_, fault) => {
    const ada = harness.person();
    for (const nth of [0, 1, 3, 7]) {
      harness.onfido.faults = [...Array<Fault>(nth).fill(null), fault];
      const another = harness.person({ ...ada, verificationId: newId() });
      const error = await failure(harness.verifier().decide(another));
      expect(error).toMatchObject(UNAVAILABLE);
      expect(inspect(error, { depth: 9 })).not.toMatch(/Lovelace|1815|token-of/);
    }
  });

  it('are unavailable while Onfido rejects the API token', async () => {
    const account = { ...harness.onfido.account, onfidoApiToken: 'another' };
    const other = new OnfidoVerifier(account, harness.verifications());
    expect(await failure(other.decide(harness.person()))).toMatchObject({
      message: 'Onfido does not accept our token (401)',
    });
  });

  it.each([
    ['an unknown status', { status: 'done' }],
    ['a complete check without a result', { status: 'complete', result: null }],
    ['a check without an id', { id: null }],
  ])('are unavailable if Onfido responds with %s', async (_, lies) => {
    const ada = harness.person();
    harness.onfido.lie = (response, request) =>
      request === 'POST /checks' ? { ...response, ...lies } : response;
    expect(await failure(harness.verifier().decide(ada))).toMatchObject(UNAVAILABLE);
  });
});

describe('a verification whose row was changed to the clear check of another person', () => {
  async function underReview(): Promise<{ readonly request: Person; readonly check: Check }> {
    const request = harness.person();
    expect(await harness.verifier().decide(request)).toBe('under_review');
    return { request, check: harness.checksOf(request)[0]! };
  }

  it('does not pass, and continues once the row names its own check again', async () => {
    const [ada, eve] = [await underReview(), await underReview()];
    const verifier = harness.verifier();
    harness.onfido.complete(ada.check, 'clear');
    const write = (check: string | null, applicant: string): Promise<unknown> =>
      harness.database.query(
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
