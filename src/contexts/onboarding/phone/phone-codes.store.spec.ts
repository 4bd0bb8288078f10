import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { testDatabase, type TestDatabase } from '../../../../test/support/postgres.js';
import { newId } from '../../../kernel/ids.js';
import { Database } from '../../../platform/postgres/database.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import {
  MAX_ATTEMPTS,
  MAX_CODES_A_DAY,
  MAX_CODES_OF_AN_ADDRESS,
  MAX_SHORT_CODES_A_DAY,
  MAX_SHORT_CODES_OF_AN_ADDRESS,
  PhoneCodes,
  type CodeOrigin,
  type PhoneCode,
  type Tried,
} from './phone-codes.store.js';
import { onboardingConfig } from '../onboarding.config.js';

const PHONE = '+15550001111';
const CODES_PER_ADDRESS = 20;
const SHORT = /^[0-9]{6}$/;
const LONG = /^[0-9]{3}( [0-9]{3}){5}$/;

let addresses = 0;
const anywhere = (): string => `203.0.113.${++addresses}`;
const nonce = (): string => randomBytes(16).toString('hex');
const wrong = (code: string): string => (code === '123456' ? '654321' : '123456');

describe('one-time codes', () => {
  let db: TestDatabase;
  let second: Database;
  let codes: PhoneCodes;
  let processes: readonly PhoneCodes[];

  beforeAll(async () => {
    db = await testDatabase();
    second = await Database.connect({ url: db.url, poolSize: 6 });
    const config = { ...onboardingConfig({}), onboardingCodesPerAddress: CODES_PER_ADDRESS };
    const keyedHash = new KeyedHash(randomBytes(32));
    processes = [db.database, second].map((database) => new PhoneCodes(database, keyedHash, config));
    [codes] = processes as [PhoneCodes];
  });
  afterAll(async () => {
    await second.onApplicationShutdown();
    await db.drop();
  });

  /** A browser of a user, at its own address. */
  const browserOf = (userId: string, request: CodeOrigin = { browser: nonce(), address: anywhere() }) => ({
    request,
    issue: (): Promise<PhoneCode> => codes.issue(userId, PHONE, request),
    redeem: (code: string, phone = PHONE): Promise<Tried> =>
      codes.redeem(userId, phone, request.browser, code),
  });

  it('can be entered in groups, in digits of other scripts and with invisible marks from copied text', async () => {
    const { issue, redeem } = browserOf(newId());
    const { code } = await issue();
    const digits = code.replace(/[0-9]/g, (digit) => String.fromCodePoint(0x660 + Number(digit)));
    expect(await redeem(`\ufeff${digits.slice(0, 3)} \u200b${digits.slice(3)}\u200f`)).toBe('right');
  });

  /** As if it were that long ago. */
  const age = async (userId: string, interval: string): Promise<void> => {
    await db.database.query(
      `update onboarding.phone_codes set sent_at = sent_at - $2::interval where user_id = $1`,
      [userId, interval],
    );
  };

  it('can be used once', async () => {
    const { issue, redeem } = browserOf(newId());
    const { code } = await issue();
    expect(code).toMatch(SHORT);
    const tries = await Promise.all([redeem(code), redeem(code)]);
    expect(tries.filter((each) => each === 'right')).toHaveLength(1);
    expect(await redeem(code)).toBe(0);
  });

  it('are sent once for concurrent requests of one browser to two processes', async () => {
    const [userId, request] = [newId(), { browser: nonce(), address: anywhere() }];
    const all = await Promise.allSettled(
      Array.from({ length: 6 }, (_, n) => processes[n % 2]!.issue(userId, PHONE, request)),
    );
    const refused = all.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    expect(refused).toEqual(Array(5).fill(expect.objectContaining({ code: 'invalid_transition' })));
  });

  it('allow five of 50 parallel guesses over two processes and are invalid afterwards', async () => {
    const userId = newId();
    const { issue, redeem, request } = browserOf(userId);
    const { code } = await issue();
    const guesses = Array.from({ length: 50 }, (_, n) => {
      const guess = String((Number(code) + 1 + n) % 1_000_000).padStart(6, '0');
      return processes[n % 2]!.redeem(userId, PHONE, request.browser, guess);
    });
    const tried = (await Promise.all(guesses)).map(Number).sort((a, b) => b - a);
    expect(tried).toEqual([4, 3, 2, 1, ...Array<number>(46).fill(0)]);
    expect(await redeem(code)).toBe(0);
  });

  it('are invalid after five wrong guesses', async () => {
    const { issue, redeem } = browserOf(newId());
    const { code } = await issue();
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1)
      expect(await redeem(wrong(code))).toBe(MAX_ATTEMPTS - attempt);
    expect(await redeem(` ${code.slice(0, 3)} ${code.slice(3)}`)).toBe('right');
    const next = await issue();
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) await redeem(wrong(next.code));
    expect(await redeem(next.code)).toBe(0);
  });

  it('expire after ten minutes, or after a day if they are long', async () => {
    const userId = newId();
    const { issue, redeem } = browserOf(userId);
    const { code } = await issue();
    await age(userId, '9 minutes 50 seconds');
    expect(await redeem(wrong(code))).toBe(MAX_ATTEMPTS - 1);
    await age(userId, '11 seconds');
    expect(await redeem(code)).toBe(0);
    const { code: long } = await longCodeOf(userId);
    await age(userId, '23 hours 59 minutes');
    expect(await redeem(long)).toBe('right');
    await age(userId, '2 minutes');
    expect(await redeem(long)).toBeNull();
  });

  it('are valid only for the browser that requested them, its user and the phone number', async () => {
    const [userId, other] = [newId(), newId()];
    const [mine, stranger] = [browserOf(userId), browserOf(userId)];
    const { code } = await mine.issue();
    const theirs = await stranger.issue();
    for (let guesses = 0; guesses < 2 * MAX_ATTEMPTS; guesses += 1)
      await stranger.redeem(guesses === 0 ? code : wrong(theirs.code));
    expect(await stranger.redeem(theirs.code)).toBe(0);
    expect(await browserOf(other, mine.request).redeem(code)).toBe(0);
    expect(await mine.redeem(code, '+15550002222')).toBe(MAX_ATTEMPTS - 1);
    expect(await mine.redeem(code)).toBe('right');
  });

  it('are replaced by the next code of the same browser', async () => {
    const userId = newId();
    const { issue, redeem, request } = browserOf(userId);
    const first = await issue();
    const second = await browserOf(userId, { ...request, address: anywhere() }).issue();
    if (second.code !== first.code) expect(await redeem(first.code)).toBe(MAX_ATTEMPTS - 1);
    expect(await redeem(second.code)).toBe('right');
  });

  it('can be requested every 30 seconds from one address, and from other addresses in between', async () => {
    const userId = newId();
    const { issue, request } = browserOf(userId);
    await issue();
    await expect(issue()).rejects.toMatchObject({ code: 'invalid_transition' });
    await expect(browserOf(userId, { ...request, browser: nonce() }).issue()).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterSeconds: expect.any(Number),
    });
    expect((await browserOf(userId).issue()).code).toMatch(SHORT);
    await age(userId, '30 seconds');
    expect((await issue()).code).toMatch(SHORT);
  });

  /** Requests codes from ever new addresses until one is long. */
  async function longCodeOf(userId: string): Promise<PhoneCode> {
    for (;;) {
      const issued = await browserOf(userId).issue();
      if (issued.isLong) return issued;
    }
  }

  it('have six digits six times a day and 18 digits for the four messages after that', async () => {
    const userId = newId();
    const sent = await Promise.all(Array.from({ length: MAX_CODES_A_DAY }, () => browserOf(userId).issue()));
    const forms = sent.map(({ code }) => (SHORT.test(code) ? 'short' : LONG.test(code) ? 'long' : code));
    expect(forms.filter((form) => form === 'short')).toHaveLength(MAX_SHORT_CODES_A_DAY);
    expect(forms.filter((form) => form === 'long')).toHaveLength(MAX_CODES_A_DAY - MAX_SHORT_CODES_A_DAY);
    await expect(browserOf(userId).issue()).rejects.toMatchObject({
      code: 'rate_limited',
      fields: { code: ['use the code of 18 digits that was sent to the phone'] },
    });
    // The holder of the phone signs in, in any browser, any number of times.
    for (const { code } of sent.filter(({ isLong }) => isLong))
      for (const browser of [browserOf(userId), browserOf(userId)])
        expect(await browser.redeem(code)).toBe('right');
    await age(userId, '24 hours');
    expect((await browserOf(userId).issue()).code).toMatch(SHORT);
  });

  it.each([
    ['the user', MAX_CODES_A_DAY, anywhere],
    ['an address', MAX_CODES_OF_AN_ADDRESS, () => '198.51.100.1'],
  ])(
    'include one more long code after the limit of %s, once no earlier SMS can still arrive',
    async (_limit, messages, address) => {
      const userId = newId();
      const issue = (): Promise<PhoneCode> =>
        browserOf(userId, { browser: nonce(), address: address() }).issue();
      for (let sent = 0; sent < messages; sent += 1) {
        await issue();
        await age(userId, '30 seconds');
      }
      const refused = { code: 'rate_limited', fields: { code: expect.anything() } };
      await age(userId, '9 hours 59 minutes');
      await expect(issue()).rejects.toMatchObject(refused);
      await age(userId, '1 minute');
      const { code, isLong } = await issue();
      expect(isLong).toBe(true);
      expect(await browserOf(userId).redeem(code)).toBe('right');
      await expect(issue()).rejects.toMatchObject(refused);
      await age(userId, '9 hours 59 minutes');
      await expect(issue()).rejects.toMatchObject(refused);
    },
  );

  it('become long before one address reaches its limit; other addresses still get short codes', async () => {
    const userId = newId();
    const address = anywhere();
    const forms: boolean[] = [];
    for (let sent = 0; sent < MAX_CODES_OF_AN_ADDRESS; sent += 1) {
      forms.push((await browserOf(userId, { browser: nonce(), address }).issue()).isLong);
      await age(userId, '30 seconds');
    }
    expect(forms.filter((isLong) => !isLong)).toHaveLength(MAX_SHORT_CODES_OF_AN_ADDRESS);
    expect(forms.slice(MAX_SHORT_CODES_OF_AN_ADDRESS)).toEqual([true, true]);
    await expect(browserOf(userId, { browser: nonce(), address }).issue()).rejects.toMatchObject({
      code: 'rate_limited',
      fields: { code: expect.anything() },
    });
    expect((await browserOf(userId).issue()).isLong).toBe(false);
  });

  it('can be requested a limited number of times a day from one address, for all users together', async () => {
    const address = anywhere();
    const requested = await Promise.allSettled(
      Array.from({ length: CODES_PER_ADDRESS + 5 }, () =>
        browserOf(newId(), { browser: nonce(), address }).issue(),
      ),
    );
    expect(requested.filter(({ status }) => status === 'fulfilled')).toHaveLength(CODES_PER_ADDRESS);
    const userId = newId();
    await expect(browserOf(userId, { browser: nonce(), address }).issue()).rejects.toMatchObject({
      code: 'rate_limited',
      fields: {},
    });
    expect((await browserOf(userId).issue()).code).toMatch(SHORT);
  });

  it('that were not sent count towards the daily limit only if the provider charged for them', async () => {
    const [userId, other] = [newId(), newId()];
    for (let sent = 0; sent < 2 * MAX_CODES_A_DAY; sent += 1)
      await codes.notSent((await browserOf(userId).issue()).id, false);
    for (let sent = 0; sent < MAX_CODES_A_DAY; sent += 1)
      await codes.notSent((await browserOf(other).issue()).id, true);
    await expect(browserOf(other).issue()).rejects.toMatchObject({ code: 'rate_limited' });
  });

  it('that could not be sent are invalid, but count towards the limit if a guess was entered', async () => {
    const userId = newId();
    for (let outage = 0; outage < MAX_SHORT_CODES_A_DAY; outage += 1) {
      const { issue, redeem } = browserOf(userId);
      const { id, code, isLong } = await issue();
      expect(isLong).toBe(false);
      expect(await redeem(wrong(code))).toBe(MAX_ATTEMPTS - 1);
      await codes.notSent(id, false);
      expect(await redeem(code)).toBe(0);
    }
    const { id, code, isLong } = await browserOf(userId).issue();
    expect(isLong).toBe(true);
    await codes.notSent(id, true);
    expect(await browserOf(userId).redeem(code)).toBeNull();
  });

  it('are deleted once they no longer count towards a limit', async () => {
    const [userId, other] = [newId(), newId()];
    await browserOf(userId).issue();
    await browserOf(other).issue();
    await age(userId, '24 hours');
    await codes.deleteOld();
    const rows = await db.database.query<{ user_id: string }>(
      'select user_id from onboarding.phone_codes where user_id in ($1, $2)',
      [userId, other],
    );
    expect(rows.map(({ user_id }) => user_id)).toEqual([other]);
  });

  it('are stored as hashes only, like the nonce of the browser and the address', async () => {
    const userId = newId();
    const { issue, request } = browserOf(userId);
    const { code } = await issue();
    const [row] = await db.database.query<{ text: string; code_hash: string }>(
      'select kept::text as text, code_hash from onboarding.phone_codes kept where user_id = $1',
      [userId],
    );
    expect(row!.code_hash).toMatch(/^[0-9a-f]{64}$/);
    for (const secret of [request.browser, request.address!]) expect(row!.text).not.toContain(secret);
    expect(row!.code_hash).not.toBe(code);
  });
});
