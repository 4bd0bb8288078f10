import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { testDatabase, type TestDatabase } from '../../../../test/support/postgres.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { newId } from '../../../kernel/ids.js';
import type { MerchantEvent } from '../domain/merchant.js';
import { directoryProjection, DirectoryView } from './directory.js';

const at = '2026-01-02T03:04:05.000Z';
const ACME = newId();
const FIRST_KEY = newId();
const SECOND_KEY = newId();

const HISTORY: MerchantEvent[] = [
  { type: 'merchant.registered.v1', data: { merchant_id: ACME, name: 'Acme', registered_at: at } },
  issued(FIRST_KEY, '2026-01-02T03:04:05.000Z'),
  issued(SECOND_KEY, '2026-01-03T03:04:05.000Z'),
  { type: 'merchant.key_revoked.v1', data: { merchant_id: ACME, key_id: FIRST_KEY, revoked_at: at } },
  { type: 'merchant.ip_allow_list_set.v1', data: { merchant_id: ACME, cidrs: ['10.0.0.0/8'], at } },
  {
    type: 'merchant.embedding_set.v1',
    data: {
      merchant_id: ACME,
      origins: ['https://acme.example'],
      callbacks: ['acme:'],
      shown_as: 'ACME!',
      at,
    },
  },
  { type: 'merchant.suspended.v1', data: { merchant_id: ACME, at } },
];

function issued(keyId: string, issuedAt: string): MerchantEvent {
  const data = {
    merchant_id: ACME,
    key_id: keyId,
    sealed_private_key: `sealed ${keyId}`,
    issued_at: issuedAt,
  };
  return { type: 'merchant.key_issued.v1', data };
}

function recorded(event: MerchantEvent, index: number): RecordedEvent {
  return {
    ...event,
    id: newId(),
    metadata: {},
    stream: `merchant-${ACME}`,
    revision: index,
    position: String(index + 1),
    recordedAt: new Date(at),
  };
}

describe('the merchant directory', () => {
  let db: TestDatabase;
  let view: DirectoryView;
  const apply = (events: readonly MerchantEvent[]): Promise<void> =>
    db.database.transaction((tx) => directoryProjection.apply(events.map(recorded), tx));

  beforeAll(async () => {
    db = await testDatabase();
    view = new DirectoryView(db.database);
  });
  afterAll(() => db.drop());
  beforeEach(() => db.database.query('truncate merchants.directory, merchants.keys'));

  it('shows a merchant with its keys, also when every event comes twice', async () => {
    await apply(HISTORY);
    const once = await view.find(ACME);
    await apply(HISTORY);
    for (const event of HISTORY) await apply([event, event]);
    expect(await view.find(ACME)).toEqual(once);
    expect(once).toEqual({
      merchantId: ACME,
      name: 'Acme',
      status: 'suspended',
      ipAllowList: ['10.0.0.0/8'],
      embedding: { origins: ['https://acme.example'], callbacks: ['acme:'], shownAs: 'ACME!' },
      registeredAt: new Date(at),
      keys: [
        {
          keyId: FIRST_KEY,
          sealedPrivateKey: `sealed ${FIRST_KEY}`,
          issuedAt: new Date(at),
          revokedAt: new Date(at),
        },
        {
          keyId: SECOND_KEY,
          sealedPrivateKey: `sealed ${SECOND_KEY}`,
          issuedAt: new Date('2026-01-03T03:04:05.000Z'),
          revokedAt: null,
        },
      ],
    });
  });

  it('shows a reinstated merchant as active', async () => {
    await apply([...HISTORY, { type: 'merchant.reinstated.v1', data: { merchant_id: ACME, at } }]);
    expect((await view.find(ACME))?.status).toBe('active');
  });

  it('lists all merchants and knows no other', async () => {
    await apply(HISTORY.slice(0, 1));
    expect((await view.list()).map((each) => [each.name, each.keys])).toEqual([['Acme', []]]);
    expect(await view.find(newId())).toBeNull();
  });
});
