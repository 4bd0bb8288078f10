import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { testDatabase, type TestDatabase } from '../../../../test/support/postgres.js';
import { newId } from '../../../kernel/ids.js';
import type { JsonObject } from '../../../platform/event-store/port.js';
import type { CredentialEvent, CredentialIssued } from './credentials.js';
import type { MerchantEvent } from '../merchants/merchant.js';
import { CredentialIndex, sealedSecrets } from './credentials.view.js';
import { directoryProjection } from '../merchants/directory.view.js';

const at = '2026-01-02T03:04:05.000Z';
const later = '2026-01-03T03:04:05.000Z';
const [ACME, KEY, FIRST, SECOND, PRIVATE] = [newId(), newId(), newId(), newId(), newId()];

const OWNER = { owner_id: ACME, merchant_id: ACME };
const issued = (
  kind: 'payouts' | 'exchange',
  credential_id: string,
  over: object = {},
): CredentialIssued => ({
  type: 'credential.issued.v1',
  data: {
    ...{ ...OWNER, credential_id, kind, key_id: kind === 'payouts' ? ACME : KEY, name: 'Shop' },
    ...{ scopes: [], merchants: [ACME], addresses: [], withdraw_addresses: ['w1'], demands_signing: true },
    ...{ memo_signing: 'full', expires_at: null, sealed_secret: `sealed ${credential_id}` },
    ...{ secret_hash: `hash ${credential_id}`, is_pending: false, at },
    ...over,
  },
});
const HISTORY: CredentialEvent[] = [
  issued('payouts', PRIVATE),
  issued('exchange', FIRST, { is_pending: true }),
  { type: 'credential.activated.v1', data: { ...OWNER, credential_id: FIRST, at } },
  {
    type: 'credential.rolled.v1',
    data: { ...OWNER, credential_id: FIRST, replaced_by: SECOND, until: later, at },
  },
  issued('exchange', SECOND),
  { type: 'credential.restricted.v1', data: { ...OWNER, key_id: KEY, addresses: ['10.0.0.0/8'], at } },
  {
    type: 'credential.page_set.v1',
    data: { ...OWNER, key_id: KEY, logo: null, help_url: null, terms_url: null, at },
  },
  { type: 'credential.revoked.v1', data: { ...OWNER, credential_id: FIRST, at: later } },
];

describe('the index of credentials', () => {
  let db: TestDatabase;
  let index: CredentialIndex;
  const apply = (events: readonly (CredentialEvent | MerchantEvent)[]): Promise<void> => {
    const recorded = events.map((event, n) => ({
      ...event,
      data: event.data as unknown as JsonObject,
      id: newId(),
      metadata: {},
      stream: 'of-no-account',
      revision: n,
      position: String(n + 1),
      recordedAt: new Date(at),
    }));
    return db.database.transaction((tx) => directoryProjection.apply(recorded, tx));
  };
  const rows = (): Promise<unknown[]> =>
    db.database.query('select * from access.credentials order by created_at, kind, revoked_at nulls last');

  beforeAll(async () => {
    db = await testDatabase();
    index = new CredentialIndex(db.database, undefined as never);
  });
  afterAll(() => db.drop());
  beforeEach(() => db.database.query('truncate access.credentials'));

  it('has one row per credential, even if every event is applied twice', async () => {
    await apply(HISTORY);
    const once = await rows();
    await apply(HISTORY);
    for (const event of HISTORY) await apply([event, event]);
    expect(await rows()).toEqual(once);
    const exchange = {
      ...{
        owner_id: ACME,
        kind: 'exchange',
        key_id: KEY,
        merchant_id: ACME,
        operator_id: null,
        name: 'Shop',
      },
      ...{ scopes: [], merchants: [ACME], addresses: ['10.0.0.0/8'], withdraw_addresses: ['w1'] },
      ...{ demands_signing: true, memo_signing: 'full', is_pending: false },
      ...{ created_at: new Date(at), expires_at: null },
    };
    expect(once).toMatchObject([
      { ...exchange, credential_id: FIRST, rolling_until: new Date(later), revoked_at: new Date(later) },
      { ...exchange, credential_id: SECOND, rolling_until: null, revoked_at: null },
      { credential_id: PRIVATE, kind: 'payouts', key_id: ACME, addresses: [] },
    ]);
  });

  it('checks with one query which of several merchant ids are registered', async () => {
    const data = { merchant_id: ACME, name: 'Acme', registered_at: at };
    await apply([{ type: 'merchant.registered.v1', data }]);
    const query = jest.spyOn(db.database, 'query');
    const sameLane = `${KEY.slice(0, -2)}${ACME.slice(-2)}`;
    expect(await Promise.all([ACME, sameLane, ACME].map((id) => index.isMerchant(id)))).toEqual([
      true,
      false,
      true,
    ]);
    expect(query).toHaveBeenCalledTimes(1);
    query.mockRestore();
    expect([await index.areMerchants([ACME, ACME]), await index.areMerchants([ACME, KEY])]).toEqual([
      true,
      false,
    ]);
  });

  it('finds the owner of an exchange key or of a secret, and the exchange key of a credential', async () => {
    await apply(HISTORY);
    expect(await index.ownerOfKey(KEY)).toBe(ACME);
    expect(await index.ownerOfKey(ACME)).toBeNull();
    expect(await index.ownerOfSecret(`hash ${PRIVATE}`)).toBe(ACME);
    expect(await index.ownerOfSecret('hash')).toBeNull();
    expect(await index.findExchangeKey(SECOND)).toBe(KEY);
    expect(await index.findExchangeKey(KEY)).toBe(KEY);
  });

  it('lists the sealed secrets of a kind, without the revoked ones', async () => {
    const sealed = async (kind: 'payouts' | 'exchange') =>
      (await db.database.query<{ sealed: string }>(sealedSecrets(kind))).map((each) => each.sealed);
    await apply(HISTORY);
    expect(await sealed('payouts')).toEqual([`sealed ${PRIVATE}`]);
    expect(await sealed('exchange')).toEqual([`sealed ${SECOND}`]);
  });

  it('finds the next expiry of each kind, ignoring replaced credentials and expiries over a day ago', async () => {
    const hour = 3_600_000;
    const add = async (hours: number, over: object = {}): Promise<Date> => {
      const expiresAt = new Date(Date.now() + hours * hour);
      await apply([issued('exchange', newId(), { expires_at: expiresAt.toISOString(), ...over })]);
      return expiresAt;
    };
    const change = (sql: string): Promise<unknown> => db.database.query(`update access.credentials ${sql}`);
    await add(2, { is_pending: true });
    await add(2);
    await change('set rolling_until = now() where not is_pending');
    await add(2);
    await change('set revoked_at = now() where not is_pending and rolling_until is null');
    await apply([issued('exchange', newId())]);
    await add(-25);
    expect(await index.nextExpiries()).toEqual([]);
    const kind = 'exchange';
    const first = await add(240);
    expect(await index.nextExpiries()).toEqual([{ kind, expiresAt: first }]);
    const expired = await add(-23);
    expect(await index.nextExpiries()).toEqual([{ kind, expiresAt: expired }]);
    // The replacement is revoked, so the credential is the only one of its key.
    await change('set revoked_at = now() where rolling_until is null');
    const [last] = await index.nextExpiries();
    expect(Math.abs(last!.expiresAt.getTime() - Date.now())).toBeLessThan(hour);
    await change('set revoked_at = now()');
    expect(await index.nextExpiries()).toEqual([]);
  });
});
