import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testDatabase, type TestDatabase } from '../../../../test/support/postgres.js';
import { newId } from '../../../kernel/ids.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { progressProjection } from './onboardings.view.js';

const [end] = progressProjection.events!.filter((type) => !type.startsWith('onboarding.'));

describe('the read model of onboardings in progress', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await testDatabase();
  });
  afterAll(() => db.drop());

  /** The stage of a new user after these events, applied in batches of `size`; null when there is no row. */
  async function stageAfter(types: readonly string[], size: number): Promise<string | null> {
    const user_id = newId();
    const events = types.map((type) => ({
      type,
      data: { user_id, merchant_id: newId(), at: '2026-01-02T03:04:05.000Z' },
    })) as unknown as RecordedEvent[];
    for (let from = 0; from < events.length; from += size)
      await db.database.transaction((tx) => progressProjection.apply(events.slice(from, from + size), tx));
    const [row] = await db.database.query<{ stage: string }>(
      'select stage from onboarding.progress where user_id = $1',
      [user_id],
    );
    return row?.stage ?? null;
  }

  const started = 'onboarding.started.v1';
  const passed = 'onboarding.kyc_passed.v1';
  const completed = 'onboarding.completed.v1';
  it.each([
    [[started, passed], 'kyc_passed'],
    [[started, passed, completed], null],
    [[started, end!, passed], null],
    [[started, completed, passed], null],
  ])('%j leaves %s, in batches of any size', async (types, stage) => {
    for (const size of [1, 2, 3]) expect(await stageAfter(types, size)).toBe(stage);
  });
});
