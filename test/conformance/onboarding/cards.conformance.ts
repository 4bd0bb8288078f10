import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CardIssuer, CardRequest } from '../../../src/contexts/onboarding/providers/providers.ports.js';
import { newId } from '../../../src/kernel/ids.js';
import { EMAIL, expectRefusal, expectUnavailable, PERSON, PHONE, theOne, type Outside } from './support.js';

interface CardsUnderTest {
  /** Opens the issuer as another process. */
  open(): CardIssuer;
  /** The request of a person whose first attempt alone is refused. */
  refusedAtFirst(request: CardRequest): CardRequest;
  readonly outside: Outside | null;
  cleanUp(): Promise<void>;
}

export function describeCardIssuer(name: string, prepare: () => Promise<CardsUnderTest>): void {
  describe(`${name} as an issuer of cards`, () => {
    let under: CardsUnderTest;
    let issuer: CardIssuer;
    beforeAll(async () => {
      under = await prepare();
      issuer = under.open();
    });
    afterAll(() => under.cleanUp());

    const person = (): CardRequest => ({
      userId: newId(),
      details: PERSON,
      phoneNumber: PHONE,
      email: EMAIL,
      attempt: 1,
    });

    it('gives a user one card, even if it is requested again, by another process or at a further attempt', async () => {
      const ada = person();
      const first = await issuer.issue(ada);
      expect(await issuer.issue(ada)).toEqual(first);
      expect(await under.open().issue(ada)).toEqual(first);
      expect(await issuer.issue({ ...ada, attempt: 2 })).toEqual(first);
      expect(await issuer.issue(person())).not.toEqual(first);
    });

    it('gives one card, however many requests are concurrent', async () => {
      const ada = person();
      const other = under.open();
      const one = await theOne(Array.from({ length: 6 }, (_, n) => (n % 2 ? issuer : other).issue(ada)));
      expect(await issuer.issue(ada)).toEqual(one);
    });

    it('refuses permanently without quoting the person, and a further attempt gets a card', async () => {
      const ada = under.refusedAtFirst(person());
      await expectRefusal(issuer.issue(ada));
      const second = { ...ada, attempt: 2 };
      const card = await issuer.issue(second);
      expect(await under.open().issue(second)).toEqual(card);
    });

    it('is unavailable during an outage, discloses nothing of the person and continues afterwards', async () => {
      if (under.outside === null) return;
      const ada = person();
      await under.outside.shutDown();
      await expectUnavailable(issuer.issue(ada));
      await under.outside.restart();
      const card = await issuer.issue(ada);
      expect(await issuer.issue(ada)).toEqual(card);
    });

    it('erases a person any number of times, even an unknown one', async () => {
      const ada = person();
      await issuer.issue(ada);
      await issuer.forget(ada.userId);
      await under.open().forget(ada.userId);
      await issuer.forget(newId());
    });
  });
}
