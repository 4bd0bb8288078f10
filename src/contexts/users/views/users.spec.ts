import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testDatabase, type TestDatabase } from '../../../../test/support/postgres.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { newId } from '../../../kernel/ids.js';
import { walletsProjection, WalletsView } from './users.js';

const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';

describe('users by wallet address', () => {
  const [merchant, userId] = [newId(), newId()];
  let db: TestDatabase;
  let view: WalletsView;

  beforeAll(async () => {
    db = await testDatabase();
    view = new WalletsView(db.database);
  });
  afterAll(() => db.drop());

  it('finds the user of the merchant in any letter case, also when the event came twice', async () => {
    const activated: RecordedEvent = {
      id: newId(),
      type: 'user.activated.v1',
      data: {
        user_id: userId,
        merchant_id: merchant,
        issuer_wallet_address: ADDRESS,
        activated_at: '2026-01-01',
      },
      metadata: {},
      stream: `user-${userId}`,
      revision: 1,
      position: '1',
      recordedAt: new Date(),
    };
    await db.database.transaction((tx) => walletsProjection.apply([activated, activated], tx));
    await db.database.transaction((tx) => walletsProjection.apply([activated], tx));
    for (const form of [ADDRESS, ADDRESS.toLowerCase(), ` ${ADDRESS} `]) {
      expect(await view.ownerOf(merchant, form)).toBe(userId);
    }
    expect(await view.ownerOf(newId(), ADDRESS)).toBeNull();
    expect(await view.ownerOf(merchant, '0x\u0000')).toBeNull();
  });
});
