import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SmsSender } from '../../../src/contexts/onboarding/providers/providers.ports.js';
import { CODE, expectRefusal, expectUnavailable, PHONE, type Outside } from './support.js';

interface SmsUnderTest {
  readonly sender: SmsSender;
  lastCode(phoneNumber: string): string | null;
  readonly outside: Outside | null;
  /** Lets the number refuse messages; null if no number can. */
  readonly refuse: ((phoneNumber: string) => void) | null;
  cleanUp(): Promise<void>;
}

export function describeSmsSender(name: string, prepare: () => Promise<SmsUnderTest>): void {
  describe(`${name} as a sender of codes`, () => {
    let under: SmsUnderTest;
    beforeAll(async () => {
      under = await prepare();
    });
    afterAll(() => under.cleanUp());

    const send = (code: string, phone = PHONE): Promise<void> =>
      under.sender.send(phone, { code, text: `${code} is your code`, validSeconds: 600 });

    it('sends each code to its own number, even if it is repeated', async () => {
      await send('111111');
      await send(CODE);
      await send(CODE);
      await send('222222', '+15550002222');
      expect([PHONE, '+15550002222', '+15550003333'].map((phone) => under.lastCode(phone))).toEqual([
        CODE,
        '222222',
        null,
      ]);
    });

    it('is unavailable during an outage, discloses nothing of the person and continues afterwards', async () => {
      if (under.outside === null) return;
      await under.outside.shutDown();
      await expectUnavailable(send(CODE));
      await under.outside.restart();
      await send('333333');
      expect(under.lastCode(PHONE)).toBe('333333');
    });

    it('refuses a number that accepts no messages permanently, without quoting it', async () => {
      if (under.refuse === null) return;
      under.refuse(PHONE);
      await expectRefusal(send(CODE));
      await expectRefusal(send(CODE));
    });
  });
}
