import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { testDatabase, type TestDatabase } from '../../../../test/support/postgres.js';
import { newId } from '../../../kernel/ids.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import type { ExchangeKeyEvent } from '../domain/exchange-key.js';
import { ExchangeKeysView, exchangeKeysProjection } from './keys.js';

const at = '2026-01-02T03:04:05.000Z';
const later = '2026-01-03T03:04:05.000Z';
const [KEY, OTHER, MERCHANT, FIRST, SECOND] = [newId(), newId(), newId(), newId(), newId()];
const key = { key_id: KEY, merchant_id: MERCHANT };

const issued = (keyId: string, issuedAt: string): ExchangeKeyEvent => ({
  type: 'exchange_key.issued.v1',
  data: {
    ...{ ...key, key_id: keyId, label: 'Shop', demands_signature: true, memo_signing: 'full' as const },
    issued_at: issuedAt,
  },
});
const secret = (secretId: string, issuedAt: string): ExchangeKeyEvent => ({
  type: 'exchange_key.secret_issued.v1',
  data: { ...key, secret_id: secretId, sealed_secret: `sealed ${secretId}`, issued_at: issuedAt },
});

const HISTORY: ExchangeKeyEvent[] = [
  issued(KEY, at),
  secret(FIRST, at),
  secret(SECOND, later),
  { type: 'exchange_key.secret_revoked.v1', data: { ...key, secret_id: FIRST, revoked_at: later } },
  { type: 'exchange_key.addresses_set.v1', data: { ...key, cidrs: ['10.0.0.0/8'], at } },
  {
    type: 'exchange_key.page_set.v1',
    data: { ...key, logo: 'data:,', help_url: 'https://a.example/', terms_url: null, at },
  },
  { type: 'exchange_key.revoked.v1', data: { ...key, revoked_at: later } },
];

function recorded({ type, data }: ExchangeKeyEvent, index: number): RecordedEvent {
  return {
    ...{ type, data, id: newId(), metadata: {}, stream: `exchange_key-${KEY}`, revision: index },
    ...{ position: String(index + 1), recordedAt: new Date(at) },
  };
}

describe('the view of exchange keys', () => {
  let db: TestDatabase;
  let view: ExchangeKeysView;
  const apply = (events: readonly ExchangeKeyEvent[]): Promise<void> =>
    db.database.transaction((tx) => exchangeKeysProjection.apply(events.map(recorded), tx));

  beforeAll(async () => {
    db = await testDatabase();
    view = new ExchangeKeysView(db.database);
  });
  afterAll(() => db.drop());
  beforeEach(() => db.database.query('truncate exchange.keys, exchange.key_secrets'));

  it('shows a key with its secrets, also when every event comes twice', async () => {
    await apply(HISTORY);
    const once = await view.find(KEY);
    await apply(HISTORY);
    for (const event of HISTORY) await apply([event, event]);
    expect(await view.find(KEY)).toEqual(once);
    expect(once).toEqual({
      ...{ keyId: KEY, merchantId: MERCHANT, label: 'Shop', demandsSignature: true, memoSigning: 'full' },
      ...{ logo: 'data:,', helpUrl: 'https://a.example/', termsUrl: null },
      ...{ cidrs: ['10.0.0.0/8'], issuedAt: new Date(at), revokedAt: new Date(later) },
      secrets: [
        {
          ...{ secretId: FIRST, sealedSecret: `sealed ${FIRST}` },
          ...{ issuedAt: new Date(at), revokedAt: new Date(later) },
        },
        {
          ...{ secretId: SECOND, sealedSecret: `sealed ${SECOND}` },
          ...{ issuedAt: new Date(later), revokedAt: null },
        },
      ],
    });
  });

  it('lists the keys of a merchant or of all, and knows no other', async () => {
    await apply([issued(OTHER, later), issued(KEY, at)]);
    const ids = async (merchantId?: string) => (await view.list(merchantId)).map(({ keyId }) => keyId);
    expect(await ids()).toEqual([KEY, OTHER]);
    expect(await ids(MERCHANT)).toEqual([KEY, OTHER]);
    expect(await ids(newId())).toEqual([]);
    expect(await view.find(newId())).toBeNull();
  });
});
