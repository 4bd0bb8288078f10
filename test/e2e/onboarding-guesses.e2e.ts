import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import { SMS_INBOX, type SmsInbox } from '../../src/contexts/onboarding/application/ports.js';
import { SendPhoneCode } from '../../src/contexts/onboarding/application/send-phone-code.js';
import { StartOnboarding } from '../../src/contexts/onboarding/application/start-onboarding.js';
import { VerifyPhone, type WrongCode } from '../../src/contexts/onboarding/application/verify-phone.js';
import { CreateUser } from '../../src/contexts/users/application/create-user.js';
import { MAX_ATTEMPTS } from '../../src/contexts/onboarding/store/phone-codes.js';
import { BROWSER, MERCHANT, onboardingOf, REQUEST, urlOf } from '../support/onboard.js';
import { plainTicket, startPeople, type People } from '../support/people.js';

/** GUESSES=10000 for all of them. */
const GUESSES = Number(process.env['GUESSES'] ?? 500);
const LANES = 64;
const MASTER_KEY = '33'.repeat(32);

describe('parallel guesses of a code over two processes', () => {
  let people: readonly [People, People];
  beforeAll(async () => {
    const first = await startPeople({ masterKey: MASTER_KEY, roles: 'api' });
    people = [first, await startPeople({ masterKey: MASTER_KEY, roles: 'api', databaseUrl: urlOf(first) })];
  });
  afterAll(async () => {
    await people[1].close();
    await people[0].close();
  });

  it('are evaluated five times at most, and the right one comes too late', async () => {
    const [first] = people;
    const [userId, phone] = [newId(), '+15559990001'];
    await first.commandBus.execute(
      new CreateUser(MERCHANT, { phone_number: phone }, plainTicket(userId), {}),
    );
    await first.commandBus.execute(new StartOnboarding(MERCHANT, userId));
    await first.commandBus.execute(new SendPhoneCode(MERCHANT, userId, REQUEST));
    const right = first.module.get<SmsInbox>(SMS_INBOX, { strict: false }).lastCode(phone)!;
    const guesses = Array.from({ length: GUESSES }, (_, index) => {
      const guess = String((Number(right) + 1 + index) % 1_000_000).padStart(6, '0');
      // The last ones are right.
      return index < GUESSES - 10 ? guess : right;
    });
    let next = 0;
    let accepted = 0;
    const attemptsLeft: (number | null)[] = [];
    const lane = async (): Promise<void> => {
      for (let index = next++; index < guesses.length; index = next++) {
        const command = new VerifyPhone(MERCHANT, userId, phone, guesses[index]!, BROWSER);
        await people[index % 2]!.commandBus.execute(command).then(
          () => (accepted += 1),
          (error: WrongCode) => attemptsLeft.push(error.attemptsLeft),
        );
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    expect(attemptsLeft).toEqual(
      expect.arrayContaining(Array.from({ length: MAX_ATTEMPTS }, (_, evaluated) => evaluated)),
    );
    expect(attemptsLeft.filter((left) => left !== 0)).toHaveLength(MAX_ATTEMPTS - 1);
    expect(accepted).toBe(0);
    expect((await onboardingOf(first, userId)).stage).toBe('started');
  });
});
