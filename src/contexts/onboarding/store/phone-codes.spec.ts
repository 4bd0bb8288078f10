import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { testDatabase, type TestDatabase } from '../../../../test/support/postgres.js';
import { newId } from '../../../kernel/ids.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { MAX_ATTEMPTS, MAX_CODES_A_DAY, PhoneCodes } from './phone-codes.js';

const PHONE = '+15550001111';

describe('one-time codes', () => {
  let db: TestDatabase;
  let codes: PhoneCodes;

  beforeAll(async () => {
    db = await testDatabase();
    codes = new PhoneCodes(db.database, new KeyedHash(randomBytes(32)));
  });
  afterAll(() => db.drop());

  const wrong = (code: string): string => (code === '123456' ? '654321' : '123456');

  it('are good once', async () => {
    const userId = newId();
    const code = await codes.issue(userId, PHONE);
    expect(code).toMatch(/^[0-9]{6}$/);
    const tries = await Promise.all([codes.redeem(userId, PHONE, code), codes.redeem(userId, PHONE, code)]);
    expect(tries.filter((each) => each === 'right')).toHaveLength(1);
    expect(await codes.redeem(userId, PHONE, code)).toBe(0);
  });

  it('are good for a few tries', async () => {
    const userId = newId();
    const code = await codes.issue(userId, PHONE);
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1) {
      expect(await codes.redeem(userId, PHONE, wrong(code))).toBe(MAX_ATTEMPTS - attempt);
    }
    expect(await codes.redeem(userId, PHONE, code)).toBe('right');
    const next = await codes.issue(userId, PHONE);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1)
      await codes.redeem(userId, PHONE, wrong(next));
    expect(await codes.redeem(userId, PHONE, next)).toBe(0);
  });

  it('run out', async () => {
    const userId = newId();
    const code = await codes.issue(userId, PHONE);
    await db.database.query(`update onboarding.phone_codes set expires_at = now() where user_id = $1`, [
      userId,
    ]);
    expect(await codes.redeem(userId, PHONE, code)).toBe(0);
  });

  it('are replaced by the next one, and are good for their own user and number alone', async () => {
    const [userId, other] = [newId(), newId()];
    const first = await codes.issue(userId, PHONE);
    const again = async (code: string): Promise<string> => {
      await codes.notSent(userId, PHONE, code, true);
      return codes.issue(userId, PHONE);
    };
    let second = await again(first);
    while (second === first) second = await again(second);
    expect(await codes.redeem(userId, PHONE, first)).toBe(MAX_ATTEMPTS - 1);
    expect(await codes.redeem(other, PHONE, second)).toBe(0);
    expect(await codes.redeem(userId, '+15550002222', second)).toBe(MAX_ATTEMPTS - 2);
    expect(await codes.redeem(userId, PHONE, second)).toBe('right');
  });

  it('count towards the day when something was charged for them, sent or not', async () => {
    const [userId, other] = [newId(), newId()];
    for (let sent = 0; sent < 2 * MAX_CODES_A_DAY; sent += 1)
      await codes.notSent(userId, PHONE, await codes.issue(userId, PHONE), false);
    for (let sent = 0; sent < MAX_CODES_A_DAY; sent += 1)
      await codes.notSent(other, PHONE, await codes.issue(other, PHONE), true);
    await expect(codes.issue(other, PHONE)).rejects.toMatchObject({ code: 'rate_limited' });
  });

  it('do not stand in the database', async () => {
    const userId = newId();
    const code = await codes.issue(userId, PHONE);
    const rows = await db.database.query<{ text: string }>(
      'select code_hash as text from onboarding.phone_codes where user_id = $1',
      [userId],
    );
    expect(rows[0]!.text).toMatch(/^[0-9a-f]{64}$/);
    expect(rows[0]!.text).not.toBe(code);
  });
});
