import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../../../test/support/eventually.js';
import { Onfido, ONFIDO_TOKEN, type Fault } from '../../../../../test/support/onfido/onfido.js';
import { NO_FACE } from '../../../../../test/support/onfido/records.js';
import { testDatabase, type TestDatabase } from '../../../../../test/support/postgres.js';
import { newId } from '../../../../kernel/ids.js';
import type { IdentityRequest } from '../../application/ports.js';
import type { IdentityImage } from '../../domain/identity-image.js';
import { Verifications } from '../../store/verifications.js';
import { REASONS } from './onfido-reasons.js';
import { OnfidoVerifier } from './onfido-verifier.js';

const DETAILS = { firstName: 'Ada', lastName: 'Lovelace', dateOfBirth: '1815-12-10' };
const JPEG = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(40_000, 7)]);
const IMAGES: readonly IdentityImage[] = [
  { kind: 'document_back', type: 'image/jpeg', bytes: JPEG },
  { kind: 'document_front', type: 'image/jpeg', bytes: JPEG },
  { kind: 'selfie', type: 'image/jpeg', bytes: JPEG },
];
const UNAVAILABLE = { name: 'ProviderUnavailable' };

let db: TestDatabase;
let onfido: Onfido;
beforeAll(async () => {
  [db, onfido] = await Promise.all([testDatabase(), Onfido.start()]);
});
afterEach(() => onfido.recover());
afterAll(() => Promise.all([db.drop(), onfido.goAway()]));

interface Person extends IdentityRequest {
  handed: number;
}

/** A person whose pictures are deleted here once they are handed over. */
function person(over: Partial<IdentityRequest> & { pictures?: readonly IdentityImage[] } = {}): Person {
  const { pictures = IMAGES, ...rest } = over;
  const made: Person = {
    ...{ verificationId: newId(), userId: newId(), details: DETAILS, handed: 0 },
    images: () => Promise.resolve(made.handed > 0 ? [] : pictures),
    handedOver: () => {
      made.handed += 1;
      return Promise.resolve();
    },
    ...rest,
  };
  return made;
}

function verifier(times = { timeoutMs: 2000, claimSeconds: 60 }, store = new Verifications(db.database)) {
  return new OnfidoVerifier(onfido.account, store, times);
}

const applicantsOf = ({ verificationId }: IdentityRequest) =>
  [...onfido.records.applicants.values()].filter(
    ({ fields, checks }) =>
      fields['last_name'] === verificationId || checks.some(({ tags }) => tags.includes(verificationId)),
  );
const checksOf = ({ verificationId }: IdentityRequest) =>
  onfido.records.checks.filter(({ tags }) => tags.includes(verificationId));

async function failure(call: Promise<unknown>): Promise<Error> {
  const error: unknown = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(Error);
  return error as Error;
}

describe('identities checked by Onfido', () => {
  it('are under review once everything is handed over, and pass when the check is clear', async () => {
    const ada = person();
    expect(await verifier().decide(ada)).toBe('under_review');
    const [applicant] = applicantsOf(ada);
    expect(applicant!.fields).toMatchObject({ first_name: 'Ada', last_name: 'Lovelace', dob: '1815-12-10' });
    expect(applicant!.documents.map(({ side }) => side).sort()).toEqual(['back', 'front']);
    expect(applicant!.livePhotos).toHaveLength(1);
    expect(ada.handed).toBeGreaterThan(0);
    onfido.requests.length = 0;
    expect(await verifier().decide(ada)).toBe('under_review');
    expect(onfido.requests).toEqual([`GET /checks/${checksOf(ada)[0]!.id}`]);
    onfido.complete(checksOf(ada)[0]!, 'clear');
    expect(await verifier().decide(ada)).toEqual({ passed: true });
  });

  it.each([
    [
      'expired',
      'document',
      { data_validation: { breakdown: { document_expiration: { result: 'consider' } } } },
    ],
    [
      'unreadable',
      'document',
      {
        image_integrity: { breakdown: { image_quality: { result: 'unidentified' } }, result: 'unidentified' },
      },
    ],
    [
      'unsupported',
      'document',
      {
        image_integrity: {
          result: 'unidentified',
          breakdown: { supported_document: { result: 'unidentified' } },
        },
      },
    ],
    ['details', 'document', { data_comparison: { result: 'consider' } }],
    ['face', 'facial_similarity_photo', { face_comparison: { result: 'consider' } }],
    ['notLive', 'facial_similarity_photo', { visual_authenticity: { result: 'consider' } }],
    ['verification', 'document', { police_record: { result: 'consider' } }],
    ['verification', 'document', 'nonsense'],
  ] as const)('fail in our own words: %s, by the report %s', async (reason, name, breakdown) => {
    const ada = person();
    await verifier().decide(ada);
    onfido.complete(checksOf(ada)[0]!, 'consider', [
      { name, result: 'consider', sub_result: 'caution', breakdown },
    ]);
    expect(await verifier().decide(ada)).toEqual({ passed: false, reason: REASONS[reason] });
  });

  it('tell nobody that a fraud is suspected', async () => {
    const ada = person();
    await verifier().decide(ada);
    const breakdown = { data_validation: { breakdown: { document_expiration: { result: 'consider' } } } };
    onfido.complete(checksOf(ada)[0]!, 'consider', [
      { name: 'document', sub_result: 'suspected', breakdown },
    ]);
    expect(await verifier().decide(ada)).toEqual({ passed: false, reason: REASONS.verification });
  });

  const front = (bytes: Buffer) =>
    IMAGES.map((image) => (image.kind === 'document_front' ? { ...image, bytes } : image));
  it.each([
    ['a picture that is none', { pictures: front(Buffer.alloc(40_000)) }, REASONS.unreadable],
    ['a picture that is too small', { pictures: front(JPEG.subarray(0, 2000)) }, REASONS.size],
    [
      'a picture that is too large',
      { pictures: front(Buffer.concat([JPEG, Buffer.alloc(4 << 20)])) },
      REASONS.size,
    ],
    [
      'a selfie without a face',
      { pictures: [IMAGES[1]!, { ...IMAGES[2]!, bytes: Buffer.concat([JPEG, Buffer.from(NO_FACE)]) }] },
      REASONS.selfie,
    ],
    ['no selfie', { pictures: IMAGES.slice(0, 2) }, REASONS.gone],
    ['a name that it does not take', { details: { ...DETAILS, firstName: 'A;da' } }, REASONS.name],
  ])('are refused for good with %s, and no check is opened', async (_, over, reason) => {
    const ada = person(over);
    expect(await failure(verifier().decide(ada))).toMatchObject({ name: 'ProviderRefusal', reason });
    expect(checksOf(ada)).toEqual([]);
    expect(ada.handed).toBe(0);
  });

  it.each<[string, Fault]>([
    ['breaks off', 'reset'],
    ['hangs', 'hang'],
    ['sends a byte now and then', 'trickle'],
    ['sends far too much', 'huge'],
    ['leads elsewhere', 'redirect'],
    ['responds with 429', { status: 429, body: '{"error":{"type":"rate_limit","message":"Lovelace"}}' }],
    ['responds with 500', { status: 500, body: '<html>Lovelace</html>' }],
    ['responds with no JSON', { status: 200, body: 'Lovelace' }],
    ['responds with null', { status: 201, body: 'null' }],
  ])('wait while Onfido %s, and nothing that it says or was sent goes on', async (_, fault) => {
    const ada = person();
    const calls = 8;
    for (let nth = 0; nth < calls; nth += 1) {
      onfido.faults = [...Array.from({ length: nth }, () => null), fault];
      const error = await failure(
        verifier({ timeoutMs: 250, claimSeconds: 2 }).decide(person({ ...ada, verificationId: newId() })),
      );
      expect(error).toMatchObject(UNAVAILABLE);
      expect(inspect(error, { depth: 9 })).not.toMatch(/Lovelace|1815|token-of/);
    }
  });

  it('wait with a token that is not accepted, and while Onfido is away', async () => {
    const other = new OnfidoVerifier(
      { ...onfido.account, onfidoApiToken: 'another' },
      new Verifications(db.database),
    );
    expect(await failure(other.decide(person()))).toMatchObject({
      message: 'Onfido does not accept our token (401)',
    });
    await onfido.goAway();
    expect(await failure(verifier().decide(person()))).toMatchObject(UNAVAILABLE);
    await onfido.comeBack();
    expect(await verifier().decide(person())).toBe('under_review');
    expect(ONFIDO_TOKEN).not.toBe('another');
  });

  it.each([
    ['a status that nobody knows', { status: 'done' }],
    ['complete without a result', { status: 'complete', result: null }],
    ['a check without an id', { id: null }],
  ])('wait when Onfido tells of %s', async (_, lies) => {
    const ada = person();
    onfido.lie = (response, request) => (request === 'POST /checks' ? { ...response, ...lies } : response);
    expect(await failure(verifier().decide(ada))).toMatchObject(UNAVAILABLE);
  });
});

describe('a process that dies in the middle', () => {
  /** Decides until it comes, each time as a process of its own. */
  const until = (ada: Person) =>
    eventually(
      async () =>
        (await verifier({ timeoutMs: 2000, claimSeconds: 2 })
          .decide(ada)
          .catch(() => null)) === 'under_review',
    );

  const once = (ada: Person) => {
    expect(checksOf(ada)).toHaveLength(1);
    const [applicant] = applicantsOf(ada).filter(({ checks }) => checks.length > 0);
    expect(applicant!.documents.map(({ side }) => side).sort()).toEqual(['back', 'front']);
    expect(applicant!.livePhotos).toHaveLength(1);
    // One that nobody heard of tells nothing of the person.
    const others = applicantsOf(ada).filter(({ checks }) => checks.length === 0);
    for (const { fields } of others) expect(JSON.stringify(fields)).not.toMatch(/Ada|Lovelace|1815/);
  };

  const CALLS = 11;
  it.each(Array.from({ length: CALLS }, (_, nth) => nth))(
    'at request %i, which Onfido never got, or did: one check',
    async (nth) => {
      for (const fault of ['reset', 'done, then reset'] as const) {
        const ada = person();
        onfido.faults = [...Array.from({ length: nth }, () => null), fault];
        await until(ada);
        once(ada);
      }
    },
  );

  it('at any statement, before or after it: one check', async () => {
    const methods = ['open', 'keepApplicant', 'claimCheck', 'checked'] as const;
    for (const method of methods)
      for (const after of [false, true]) {
        const ada = person();
        const store = new Verifications(db.database);
        const original = store[method].bind(store) as (...args: unknown[]) => Promise<unknown>;
        Object.assign(store, {
          [method]: async (...args: unknown[]) => {
            if (after) await original(...args);
            throw new Error('dead');
          },
        });
        expect(await failure(verifier(undefined, store).decide(ada))).toMatchObject({ message: 'dead' });
        await db.database.query('update onboarding.verifications set check_claimed_until = null');
        await until(ada);
        once(ada);
      }
  });

  it('leaves one check also where many processes go on at the same time', async () => {
    const ada = person();
    const all = Array.from({ length: 8 }, () =>
      verifier({ timeoutMs: 5000, claimSeconds: 60 })
        .decide(ada)
        .catch(() => null),
    );
    await Promise.all(all);
    await eventually(
      async () =>
        (await verifier()
          .decide(ada)
          .catch(() => null)) === 'under_review',
    );
    once(ada);
  });

  it('counts the older of two checks, should there be two', async () => {
    const ada = person();
    await verifier().decide(ada);
    const [applicant] = applicantsOf(ada);
    const [first] = applicant!.checks;
    applicant!.checks.unshift({
      ...first!,
      id: newId(),
      created_at: '2099-01-01T00:00:00.000Z',
      status: 'complete',
      result: 'clear',
    });
    await db.database.query('update onboarding.verifications set check_reference = null');
    expect(await verifier().decide(ada)).toBe('under_review');
  });
});

describe('a person who is forgotten', () => {
  it('is deleted at Onfido, once no check is under way; a repeat is harmless', async () => {
    const ada = person();
    await verifier().decide(ada);
    const [applicant] = applicantsOf(ada);
    expect(await failure(verifier().forget(ada.userId))).toMatchObject(UNAVAILABLE);
    onfido.complete(checksOf(ada)[0]!, 'clear');
    onfido.faults = ['done, then reset'];
    expect(await failure(verifier().forget(ada.userId))).toMatchObject(UNAVAILABLE);
    await verifier().forget(ada.userId);
    await verifier().forget(ada.userId);
    expect(onfido.records.deleted).toContain(applicant!.id);
    expect(onfido.records.applicants.has(applicant!.id)).toBe(false);
  });

  it('is not described to Onfido by a process that was making the applicant meanwhile', async () => {
    class Meanwhile extends Verifications {
      override async keepApplicant(verificationId: string, provider: string, applicant: string) {
        await this.forget(verificationId, provider);
        return super.keepApplicant(verificationId, provider, applicant);
      }
    }
    const ada = person();
    const late = verifier(undefined, new Meanwhile(db.database));
    expect(await failure(late.decide(ada))).toMatchObject(UNAVAILABLE);
    expect(applicantsOf(ada)).toEqual([]);
    expect(onfido.requests.map((request) => request.split(' ')[0])).toEqual(['POST', 'DELETE']);
  });
});
