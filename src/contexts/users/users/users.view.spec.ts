import { beforeAll, describe, expect, it } from '@jest/globals';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { decodeCursor } from '../../../platform/postgres/page-cursor.js';
import { newId } from '../../../kernel/ids.js';
import { type UserFilter, UsersView, usersProjection } from './users.view.js';

const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';
const DAY = (n: number): string => `2026-01-0${n}T00:00:00.000Z`;

interface Person {
  readonly user_id: string;
  readonly merchant_id: string;
}

function event(type: string, person: Person, data: object): RecordedEvent {
  return { type, data: { ...person, ...data } } as unknown as RecordedEvent;
}
const created = (person: Person, at = DAY(1), external_id: string | null = null): RecordedEvent =>
  event('user.created.v1', person, { external_id, created_at: at, phone_number: 'sealed', email: null });
const activated = (person: Person, at = DAY(2), issuer_wallet_address = ADDRESS): RecordedEvent =>
  event('user.activated.v1', person, { issuer_wallet_address, activated_at: at });
const deactivating = (person: Person, at = DAY(3)): RecordedEvent =>
  event('user.deactivation_started.v1', person, { at });
const left = (person: Person, at = DAY(4)): RecordedEvent => event('user.deactivated.v1', person, { at });
const erased = (person: Person, at = DAY(5)): RecordedEvent => event('user.erased.v1', person, { at });

describe('the read model of users', () => {
  let rows: UsersView;
  let merchant_id: string;

  const db = onTestDatabase();

  beforeAll(() => {
    rows = new UsersView(db.database, undefined as never);
    merchant_id = newId();
  });

  const person = (merchant = merchant_id): Person => ({ user_id: newId(), merchant_id: merchant });
  const apply = (...events: RecordedEvent[]): Promise<void> =>
    db.database.transaction((tx) => usersProjection.apply(events, tx));
  const one = async ({ user_id }: Person): Promise<object> => {
    const [row] = (await rows.page(null, { user_ids: [user_id], page_size: 10 })).rows;
    const sql = 'select changed_at from users.users where user_id = $1';
    return { ...row, ...(await db.database.query(sql, [user_id]))[0] };
  };
  const idsOf = async (
    merchants: readonly string[] | null,
    filter: Omit<UserFilter, 'page_size'> = {},
  ): Promise<string[]> => {
    const seen: string[] = [];
    for (let next: UserFilter | null = { ...filter, page_size: 2 }; next !== null;) {
      const { rows: page, next_cursor } = await rows.page(merchants, next);
      seen.push(...page.map(({ id }) => id));
      next = next_cursor === null ? null : { ...next, page_cursor: decodeCursor(next_cursor)! };
    }
    return seen;
  };

  it.each([1, 2, 3, 10])('has the same rows for repeated events in batches of %i', async (size) => {
    const user = person();
    const life = [
      created(user, DAY(1), 'c-7'),
      activated(user),
      deactivating(user),
      left(user),
      erased(user),
    ];
    const twice = life.flatMap((each, at) => [each, ...life.slice(0, at + 1)]);
    for (let from = 0; from < twice.length; from += size) await apply(...twice.slice(from, from + size));
    await apply(life[0]!);
    await apply(life[2]!);
    expect(await one(user)).toEqual({
      id: user.user_id,
      merchant_id,
      external_id: 'c-7',
      account_state: 'erased',
      created_at: new Date(DAY(1)),
      issuer_wallet_address: ADDRESS,
      changed_at: new Date(DAY(5)),
    });
  });

  it('lists users newest first and each once across pages, with single and combined filters', async () => {
    const [mine, other] = [newId(), newId()];
    const people = Array.from({ length: 9 }, (_, n) => person(n % 3 === 0 ? other : mine));
    await apply(...people.map((each, n) => created(each, DAY(n + 1), `${mine}-${n % 2}`)));
    const wallets = people.map((_, n) => `0x${mine.replaceAll('-', '').slice(0, 32)}ABCDEF0${n}`);
    await apply(...people.slice(0, 5).map((each, n) => activated(each, DAY(2), wallets[n])));
    const newest = people.map(({ user_id }) => user_id).reverse();
    const where = (test: (n: number) => boolean): string[] => newest.filter((_, n) => test(8 - n));
    expect(await idsOf([mine, other])).toEqual(newest);
    expect((await idsOf(null)).filter((id) => newest.includes(id))).toEqual(newest);
    expect(await idsOf([mine])).toEqual(where((n) => n % 3 !== 0));
    expect(await idsOf([other], { state: 'active' })).toEqual(where((n) => n === 0 || n === 3));
    expect(await idsOf([mine, other], { state: 'onboarding' })).toEqual(where((n) => n > 4));
    expect(await idsOf(null, { external_id: `${mine}-1` })).toEqual(where((n) => n % 2 === 1));
    expect(await idsOf(null, { wallet: wallets[4]!.toLowerCase() })).toEqual(where((n) => n === 4));
    expect(await idsOf([mine], { wallet: wallets[3]! })).toEqual([]);
    expect(await idsOf([], { state: 'active' })).toEqual([]);
    expect(await idsOf(null, { user_ids: [] })).toEqual([]);
    expect(await rows.merchants()).toEqual(expect.arrayContaining([mine, other]));
  });

  it('finds the user of a wallet in any letter case, and only for the merchant of the user', async () => {
    const user = person(newId());
    await apply(created(user), activated(user));
    for (const form of [ADDRESS, ADDRESS.toLowerCase(), ` ${ADDRESS} `])
      expect(await rows.idOfWallet(user.merchant_id, form)).toBe(user.user_id);
    expect(await rows.idOfWallet(newId(), ADDRESS)).toBeNull();
    expect(await rows.idOfWallet(user.merchant_id, '0x\u0000')).toBeNull();
  });
});
