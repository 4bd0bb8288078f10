import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type {
  IdentityRequest,
  IdentityVerifier,
} from '../../../src/contexts/onboarding/providers/providers.ports.js';
import type { Details } from '../../../src/contexts/onboarding/onboardings/onboarding.js';
import { newId } from '../../../src/kernel/ids.js';
import { PHOTO } from '../../support/onboarding/images.js';
import { expectUnavailable, PERSON, theOne, type Outside } from './support.js';

interface IdentityUnderTest {
  /** Opens the verifier as another process. */
  open(): IdentityVerifier;
  /** A person whose identity is not decided at once. */
  readonly reviewed: Partial<Details>;
  decided(request: IdentityRequest, passed: boolean): Promise<void>;
  /** The number of the person's verifications at the provider. */
  verifications(userId: string): Promise<number>;
  readonly outside: Outside | null;
  cleanUp(): Promise<void>;
}

export function describeIdentityVerifier(name: string, prepare: () => Promise<IdentityUnderTest>): void {
  describe(`${name} as a verifier of identities`, () => {
    let under: IdentityUnderTest;
    let verifier: IdentityVerifier;
    beforeAll(async () => {
      under = await prepare();
      verifier = under.open();
    });
    afterAll(() => under.cleanUp());

    /** A person whose images are deleted here after the upload. */
    function person(): IdentityRequest & { isHandedOver: boolean } {
      const images = (['document_front', 'selfie'] as const).map((kind) => ({
        kind,
        type: 'image/jpeg' as const,
        bytes: PHOTO,
      }));
      const request = {
        verificationId: newId(),
        userId: newId(),
        details: { ...PERSON, ...under.reviewed },
        isHandedOver: false,
        images: () => Promise.resolve(request.isHandedOver ? [] : images),
        deleteImages: () => {
          request.isHandedOver = true;
          return Promise.resolve();
        },
      };
      return request;
    }

    it.each([true, false])('is under review until its final decision: %s', async (passed) => {
      const ada = person();
      expect(await verifier.decide(ada)).toBe('under_review');
      expect(await verifier.decide(ada)).toBe('under_review');
      expect(ada.isHandedOver).toBe(true);
      await under.decided(ada, passed);
      const outcome = await verifier.decide(ada);
      expect(outcome).toEqual(passed ? { passed } : { passed, reason: expect.stringMatching(/^\w.{10,}/) });
      expect(await under.open().decide(ada)).toEqual(outcome);
    });

    it('starts one verification, however many requests are concurrent', async () => {
      const ada = person();
      const other = under.open();
      await theOne(Array.from({ length: 6 }, (_, n) => (n % 2 ? verifier : other).decide(ada)));
      expect(await verifier.decide(ada)).toBe('under_review');
      expect(await under.verifications(ada.userId)).toBe(1);
    });

    it('is unavailable during an outage, retains the images and continues afterwards', async () => {
      if (under.outside === null) return;
      const ada = person();
      await under.outside.shutDown();
      await expectUnavailable(verifier.decide(ada));
      expect(ada.isHandedOver).toBe(false);
      await under.outside.restart();
      expect(await verifier.decide(ada)).toBe('under_review');
      expect(await under.verifications(ada.userId)).toBe(1);
    });

    it('erases a person any number of times, even an unknown one', async () => {
      const ada = person();
      await verifier.decide(ada);
      await under.decided(ada, true);
      await verifier.decide(ada);
      await verifier.forget(ada.userId);
      await under.open().forget(ada.userId);
      await verifier.forget(newId());
    });
  });
}
