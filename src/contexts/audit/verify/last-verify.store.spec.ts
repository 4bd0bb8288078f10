import { describe, expect, it } from '@jest/globals';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { LastVerifies, type LastVerify } from './last-verify.store.js';

describe('the last verification', () => {
  const db = onTestDatabase();

  it('is replaced by an incomplete verification only if it was incomplete too', async () => {
    const verifies = new LastVerifies(db.database);
    const record = async (day: number, outcome: LastVerify['outcome']): Promise<string> => {
      await verifies.record({ at: `2026-01-0${day}T00:00:00.000Z`, outcome, read_to: '7' });
      const { at, outcome: kept } = (await verifies.read())!;
      return `${at.slice(0, 10)} ${kept}`;
    };
    expect(await verifies.read()).toBeNull();
    expect(await record(1, 'incomplete')).toBe('2026-01-01 incomplete');
    expect(await record(2, 'incomplete')).toBe('2026-01-02 incomplete');
    expect(await record(3, 'wrong')).toBe('2026-01-03 wrong');
    expect(await record(4, 'incomplete')).toBe('2026-01-03 wrong');
    expect(await record(5, 'in_order')).toBe('2026-01-05 in_order');
  });
});
