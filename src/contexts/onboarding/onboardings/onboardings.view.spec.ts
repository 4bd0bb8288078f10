import { describe, expect, it } from '@jest/globals';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { newId } from '../../../kernel/ids.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { onboardingJson, progressProjection } from './onboardings.view.js';

const [end] = progressProjection.events!.filter((type) => !type.startsWith('onboarding.'));

describe('the read model of unfinished onboardings', () => {
  const db = onTestDatabase();

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
  ])('contains, after the events %j, the stage %s, for batches of any size', async (types, stage) => {
    for (const size of [1, 2, 3]) expect(await stageAfter(types, size)).toBe(stage);
  });
});

const NEXT = new Date('2026-01-02T03:04:05Z');
const open = { account_state: 'onboarding', issuer_wallet_address: null } as const;

describe('the progress of an onboarding', () => {
  it.each([
    ['started', null, null, 'person', null],
    ['phone_verified', null, null, 'person', null],
    ['details_confirmed', null, null, 'person', null],
    ['kyc_submitted', null, NEXT, 'review', NEXT],
    ['kyc_submitted', 'responded with 503', NEXT, 'provider', NEXT],
    ['kyc_passed', null, NEXT, 'provider', NEXT],
    ['wallet_provisioned', 'timeout', NEXT, 'provider', NEXT],
    ['card_issued', null, NEXT, 'service', NEXT],
    ['kyc_passed', null, null, 'operator', null],
  ] as const)('at %s with the error %s and the next attempt at %s waits for the %s', (...row) => {
    const [stage, last_error, next_at, waiting_for, at] = row;
    expect(onboardingJson(open, { stage, reason: null, last_error, next_at })).toEqual({
      stage,
      waiting_for,
      reason: last_error,
      next_at: at?.toISOString() ?? null,
    });
  });

  it.each(['kyc_failed', 'card_failed'] as const)('at %s waits for the person, with the reason', (stage) => {
    const row = { stage, reason: 'Your document has expired.', last_error: null, next_at: null };
    expect(onboardingJson(open, row)).toEqual({
      stage,
      waiting_for: 'person',
      reason: row.reason,
      next_at: null,
    });
  });

  it.each([
    ['onboarding', null, 'not_started', 'person'],
    ['active', '0x1', 'completed', 'nothing'],
    ['deactivating', '0x1', 'completed', 'nothing'],
    ['deactivated', null, 'ended', 'nothing'],
    ['erased', null, 'ended', 'nothing'],
    ['erased', '0x1', 'completed', 'nothing'],
  ] as const)('without a row, of a user who is %s with the wallet %s, is %s', (...user) => {
    const [account_state, issuer_wallet_address, stage, waiting_for] = user;
    expect(onboardingJson({ account_state, issuer_wallet_address }, undefined)).toEqual({
      stage,
      waiting_for,
      reason: null,
      next_at: null,
    });
  });

  it('waits for nothing once the user is deactivating, even if the row still exists', () => {
    const row = { stage: 'kyc_submitted', reason: null, last_error: null, next_at: NEXT } as const;
    expect(onboardingJson({ ...open, account_state: 'deactivating' }, row)).toMatchObject({
      stage: 'ended',
      waiting_for: 'nothing',
    });
  });
});
