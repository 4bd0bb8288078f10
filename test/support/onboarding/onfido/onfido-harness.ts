import { randomBytes } from 'node:crypto';
import { ok } from 'node:assert/strict';
import type { IdentityRequest } from '../../../../src/contexts/onboarding/providers/providers.ports.js';
import { OnfidoVerifier } from '../../../../src/contexts/onboarding/identity/onfido.adapter.js';
import type { IdentityImage } from '../../../../src/contexts/onboarding/identity/image-kind.js';
import { Verifications } from '../../../../src/contexts/onboarding/identity/verifications.store.js';
import { newId } from '../../../../src/kernel/ids.js';
import type { Database } from '../../../../src/platform/postgres/database.js';
import { Sealer } from '../../../../src/platform/sealing/sealer.js';
import { testDatabase, type TestDatabase } from '../../postgres.js';
import { Onfido } from './onfido.js';

export const DETAILS = { first_name: 'Ada', last_name: 'Lovelace', date_of_birth: '1815-12-10' };
export const JPEG = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(40_000, 7)]);
export const IMAGES: readonly IdentityImage[] = [
  { kind: 'document_back', type: 'image/jpeg', bytes: JPEG },
  { kind: 'document_front', type: 'image/jpeg', bytes: JPEG },
  { kind: 'selfie', type: 'image/jpeg', bytes: JPEG },
];
export const UNAVAILABLE = { name: 'ProviderUnavailable' };

export interface Person extends IdentityRequest {
  handed: number;
}

/** A verifier over a database and a local Onfido. */
export class OnfidoHarness {
  private readonly sealer = new Sealer(randomBytes(32));

  private constructor(
    private readonly db: TestDatabase,
    readonly onfido: Onfido,
  ) {}

  static async open(): Promise<OnfidoHarness> {
    return new OnfidoHarness(await testDatabase(), await Onfido.start());
  }

  async close(): Promise<void> {
    await Promise.all([this.db.drop(), this.onfido.shutDown()]);
  }

  get database(): Database {
    return this.db.database;
  }

  verifications(): Verifications {
    return new Verifications(this.database, this.sealer);
  }

  verifier(times = { timeoutMs: 30_000, claimSeconds: 60 }, store = this.verifications()): OnfidoVerifier {
    return new OnfidoVerifier(this.onfido.account, store, times);
  }

  /** A person whose pictures are deleted here after the upload. */
  person(over: Partial<IdentityRequest> & { pictures?: readonly IdentityImage[] } = {}): Person {
    const { pictures = IMAGES, ...rest } = over;
    const person: Person = {
      verificationId: newId(),
      userId: newId(),
      details: DETAILS,
      handed: 0,
      images: () => Promise.resolve(person.handed > 0 ? [] : pictures),
      deleteImages: () => {
        person.handed += 1;
        return Promise.resolve();
      },
      ...rest,
    };
    return person;
  }

  applicantsOf({ verificationId }: IdentityRequest) {
    return [...this.onfido.records.applicants.values()].filter(
      ({ fields, checks }) =>
        fields['last_name'] === verificationId || checks.some(({ tags }) => tags.includes(verificationId)),
    );
  }

  checksOf({ verificationId }: IdentityRequest) {
    return this.onfido.records.checks.filter(({ tags }) => tags.includes(verificationId));
  }
}

export async function failure(call: Promise<unknown>): Promise<Error> {
  const error: unknown = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  ok(error instanceof Error);
  return error as Error;
}
