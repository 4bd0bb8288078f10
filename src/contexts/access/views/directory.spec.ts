import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { testDatabase, type TestDatabase } from '../../../../test/support/postgres.js';
import { newId } from '../../../kernel/ids.js';
import type { ExchangeKeyEvent } from '../domain/exchange-key.js';
import type { MerchantEvent } from '../domain/merchant.js';
import { DirectoryView, validSecrets } from './directory.js';
import { directoryProjection } from './directory-projection.js';

type AccessEvent = MerchantEvent | ExchangeKeyEvent;

const at = '2026-01-02T03:04:05.000Z';
const later = '2026-01-03T03:04:05.000Z';
const [ACME, KEY, OTHER] = [newId(), newId(), newId()];
const [FIRST, SECOND, THIRD, FOURTH] = [newId(), newId(), newId(), newId()];
const merchant = { merchant_id: ACME };
const key = { key_id: KEY, merchant_id: ACME };

const MERCHANT: AccessEvent[] = [
  { type: 'merchant.registered.v1', data: { ...merchant, name: 'Acme', registered_at: at } },
  privateKeyIssued(FIRST, at),
  privateKeyIssued(SECOND, later),
  { type: 'merchant.key_revoked.v1', data: { ...merchant, key_id: FIRST, revoked_at: at } },
  { type: 'merchant.ip_allow_list_set.v1', data: { ...merchant, cidrs: ['10.0.0.0/8'], at } },
  {
    type: 'merchant.embedding_set.v1',
    data: { ...merchant, origins: ['https://acme.example'], callbacks: ['acme:'], shown_as: 'ACME!', at },
  },
  { type: 'merchant.suspended.v1', data: { ...merchant, at } },
];

const EXCHANGE_KEY: AccessEvent[] = [
  keyIssued(KEY, at),
  secretIssued(THIRD, at),
  secretIssued(FOURTH, later),
  { type: 'exchange_key.secret_revoked.v1', data: { ...key, secret_id: THIRD, revoked_at: later } },
  { type: 'exchange_key.addresses_set.v1', data: { ...key, cidrs: ['10.0.0.0/8'], at } },
  {
    type: 'exchange_key.page_set.v1',
    data: { ...key, logo: 'data:,', help_url: 'https://a.example/', terms_url: null, at },
  },
  { type: 'exchange_key.revoked.v1', data: { ...key, revoked_at: later } },
];

function privateKeyIssued(key_id: string, issued_at: string): AccessEvent {
  const data = { ...merchant, key_id, sealed_private_key: `sealed ${key_id}`, issued_at };
  return { type: 'merchant.key_issued.v1', data };
}

function keyIssued(key_id: string, issued_at: string): AccessEvent {
  const signing = { demands_signature: true, memo_signing: 'full' as const };
  return {
    type: 'exchange_key.issued.v1',
    data: { ...merchant, key_id, label: 'Shop', ...signing, issued_at },
  };
}

function secretIssued(secret_id: string, issued_at: string): AccessEvent {
  const data = { ...key, secret_id, sealed_secret: `sealed ${secret_id}`, issued_at };
  return { type: 'exchange_key.secret_issued.v1', data };
}

const secretRow = (secretId: string, issuedAt: string, revokedAt: string | null) => ({
  secretId,
  sealedSecret: `sealed ${secretId}`,
  issuedAt: new Date(issuedAt),
  expiresAt: null,
  rollingUntil: null,
  revokedAt: revokedAt === null ? null : new Date(revokedAt),
});

describe('the directory', () => {
  let db: TestDatabase;
  let view: DirectoryView;
  const apply = (events: readonly AccessEvent[]): Promise<void> => {
    const recorded = events.map((event, n) => ({
      ...event,
      id: newId(),
      metadata: {},
      stream: 'of-no-account',
      revision: n,
      position: String(n + 1),
      recordedAt: new Date(at),
    }));
    return db.database.transaction((tx) => directoryProjection.apply(recorded, tx));
  };

  beforeAll(async () => {
    db = await testDatabase();
    view = new DirectoryView(db.database);
  });
  afterAll(() => db.drop());
  beforeEach(() => db.database.query('truncate access.merchants, access.credentials, access.secrets'));

  it('shows a merchant and an exchange key with their secrets, also when every event comes twice', async () => {
    const history = [...MERCHANT, ...EXCHANGE_KEY];
    await apply(history);
    const rows = async () => [await view.merchant(ACME), await view.exchangeKey(KEY)];
    const once = await rows();
    await apply(history);
    for (const event of history) await apply([event, event]);
    expect(await rows()).toEqual(once);
    expect(once).toEqual([
      {
        merchantId: ACME,
        name: 'Acme',
        status: 'suspended',
        cidrs: ['10.0.0.0/8'],
        origins: ['https://acme.example'],
        callbacks: ['acme:'],
        displayName: 'ACME!',
        requestsPerMinute: null,
        registeredAt: new Date(at),
        secrets: [secretRow(FIRST, at, at), secretRow(SECOND, later, null)],
      },
      {
        keyId: KEY,
        merchantId: ACME,
        label: 'Shop',
        demandsSignature: true,
        memoSigning: 'full',
        withdrawAddresses: [],
        logo: 'data:,',
        helpUrl: 'https://a.example/',
        termsUrl: null,
        cidrs: ['10.0.0.0/8'],
        issuedAt: new Date(at),
        revokedAt: new Date(later),
        secrets: [secretRow(THIRD, at, later), secretRow(FOURTH, later, null)],
      },
    ]);
  });

  it('finds a credential under its own kind alone', async () => {
    await apply([...MERCHANT, ...EXCHANGE_KEY]);
    expect(await view.merchant(KEY)).toBeNull();
    expect(await view.exchangeKey(ACME)).toBeNull();
    for (const unknown of [view.merchant(newId()), view.exchangeKey(newId())])
      expect(await unknown).toBeNull();
  });

  it('shows a reinstated merchant as active', async () => {
    await apply([...MERCHANT, { type: 'merchant.reinstated.v1', data: { ...merchant, at } }]);
    expect((await view.merchant(ACME))?.status).toBe('active');
  });

  it('lists merchants, and the exchange keys of one merchant or of all, the oldest first', async () => {
    await apply([...MERCHANT.slice(0, 1), keyIssued(OTHER, later), keyIssued(KEY, at)]);
    expect((await view.merchants()).map((each) => [each.name, each.secrets])).toEqual([['Acme', []]]);
    const keys = async (merchantId?: string) =>
      (await view.exchangeKeys(merchantId)).map(({ keyId }) => keyId);
    expect(await keys()).toEqual([KEY, OTHER]);
    expect(await keys(ACME)).toEqual([KEY, OTHER]);
    expect(await keys(newId())).toEqual([]);
  });

  it('counts the sealed secrets of a kind that are valid, and whose credential is', async () => {
    const sealed = async (kind: 'api_key' | 'exchange_key') =>
      (await db.database.query<{ sealed: string }>(validSecrets(kind))).map((each) => each.sealed);
    await apply([...MERCHANT, ...EXCHANGE_KEY.slice(0, -1)]);
    expect(await sealed('api_key')).toEqual([`sealed ${SECOND}`]);
    expect(await sealed('exchange_key')).toEqual([`sealed ${FOURTH}`]);
    await apply(EXCHANGE_KEY.slice(-1));
    expect(await sealed('exchange_key')).toEqual([]);
  });

  it('names the next secret of a kind that expires, or did within a day, and that has no successor', async () => {
    await apply([keyIssued(KEY, at)]);
    const hour = 3_600_000;
    const add = async (hours: number, over = 'false, null, null'): Promise<Date> => {
      const expiresAt = new Date(Date.now() + hours * hour);
      await db.database.query(
        `insert into access.secrets (secret_id, credential_id, issued_at, expires_at, is_pending, rolling_until, revoked_at)
         values ($1, $2, now(), $3, ${over})`,
        [newId(), KEY, expiresAt],
      );
      return expiresAt;
    };
    const lasting = newId();
    await db.database.query(
      'insert into access.secrets (secret_id, credential_id, issued_at) values ($1, $2, now())',
      [lasting, KEY],
    );
    for (const over of ['true, null, null', 'false, now(), null', 'false, null, now()']) await add(2, over);
    await add(-25);
    expect(await view.nextExpiries()).toEqual([]);
    const kind = 'exchange_key';
    const first = await add(240);
    expect(await view.nextExpiries()).toEqual([{ kind, expiresAt: first }]);
    const expired = await add(-23);
    expect(await view.nextExpiries()).toEqual([{ kind, expiresAt: expired }]);
    // Its replacement is revoked, so that it is the only one left.
    await db.database.query('update access.secrets set revoked_at = now() where rolling_until is null');
    const [last] = await view.nextExpiries();
    expect(Math.abs(last!.expiresAt.getTime() - Date.now())).toBeLessThan(hour);
    await db.database.query('update access.credentials set revoked_at = now()');
    expect(await view.nextExpiries()).toEqual([]);
  });
});
