import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ResponseStore } from '../../../src/platform/idempotency/response-store.js';
import { CLOCK, type Clock } from '../../../src/kernel/clock.js';
import { RESPONSES_KEPT_DAYS } from '../../../src/kernel/idempotency.js';
import { onTestApp } from '../../support/app.js';
import type { ApiResponse, SignedClient } from '../../support/http/signed-client.js';
import { randomHash, randomPhone, USERS } from '../../support/payouts/payout-calls.js';

const PAYOUTS = '/merchants/v1/payouts/report';
const ENDPOINTS = '/merchants/v1/webhook_endpoints';
const DAY_MS = 86_400_000;

const idOf = (response: ApiResponse, of: string): string =>
  response.json<Record<string, { id: string }>>()[of]!.id;

describe('a repeat under an Idempotency-Key whose response is no longer stored', () => {
  // A separate service, because the clock is moved by a month.
  const app = onTestApp();
  let merchant: SignedClient;

  beforeEach(async () => {
    merchant = await app.newMerchant();
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** Advances the clock and purges expired responses like the service. */
  const later = async (days: number): Promise<void> => {
    const at = (): Date => new Date(Date.now() + days * DAY_MS);
    jest.spyOn(app.app.get<Clock>(CLOCK), 'now').mockImplementation(at);
    await app.app.get(ResponseStore).purge(undefined, at());
  };
  /** Simulates a crash between the events and their response, on a store that does not carry responses. */
  const loseResponse = (key: string): Promise<unknown> =>
    app.database.query('delete from event_store.responses where key = $1', [key]);
  const create = (phone: string, key: string): Promise<ApiResponse> =>
    merchant.post(USERS, { phone_number: phone }, key);

  it('creates another user, whom the next repeat returns', async () => {
    const [key, phone] = [randomUUID(), randomPhone()];
    const first = await create(phone, key);
    await later(RESPONSES_KEPT_DAYS + 1);
    const again = await create(phone, randomUUID());
    expect(again.status).toBe(422);
    expect(again.json()).toMatchObject({ errors: { phone_number: ['is taken by another user'] } });

    const second = await create(randomPhone(), key);
    expect([second.status, second.headers['idempotent-replayed']]).toEqual([201, undefined]);
    expect(idOf(second, 'user')).not.toBe(idOf(first, 'user'));
    const stored = JSON.parse(second.text) as { user: { phone_number: string } };
    await loseResponse(key);
    const repeat = await create(stored.user.phone_number, key);
    expect([repeat.status, repeat.text]).toEqual([201, second.text]);
  });

  it('returns the user of the first request 28 days later if the response was lost', async () => {
    const [key, phone] = [randomUUID(), randomPhone()];
    const first = await create(phone, key);
    await loseResponse(key);
    await later(RESPONSES_KEPT_DAYS - 2);
    const repeat = await create(phone, key);
    expect([repeat.status, repeat.text]).toEqual([201, first.text]);
  });

  it('returns the former payout for an identical report, and records a new payout for another report', async () => {
    const userId = idOf(await create(randomPhone(), randomUUID()), 'user');
    const key = randomUUID();
    const report = (transaction: string): Promise<ApiResponse> =>
      merchant.post(
        PAYOUTS,
        { user_id: userId, payout: { amount: '1', transaction_hash: transaction } },
        key,
      );
    const [one, other] = [randomHash(), randomHash()];
    const first = await report(one);
    await later(RESPONSES_KEPT_DAYS + 1);
    const late = await report(one);
    expect([late.status, idOf(late, 'payout')]).toEqual([201, idOf(first, 'payout')]);
    await loseResponse(key);
    const second = await report(other);
    expect(second.status).toBe(201);
    expect(idOf(second, 'payout')).not.toBe(idOf(first, 'payout'));
    await loseResponse(key);
    expect((await report(other)).text).toBe(second.text);
  });

  it('never returns a signing secret again', async () => {
    const key = randomUUID();
    const register = (url: string): Promise<ApiResponse> =>
      merchant.post(ENDPOINTS, { webhook_endpoint: { url } }, key);
    const secretOf = (response: ApiResponse): string => response.json().webhook_endpoint.signing_secret;
    const first = await register('https://8.8.8.8/a');
    const rotateKey = randomUUID();
    const path = `${ENDPOINTS}/${idOf(first, 'webhook_endpoint')}/rotate_secret`;
    const rotated = await merchant.post(path, undefined, rotateKey);
    expect(rotated.status).toBe(200);
    await later(RESPONSES_KEPT_DAYS + 1);
    const second = await register('https://8.8.8.8/a');
    const rotatedAgain = await merchant.post(path, undefined, rotateKey);
    expect([second.status, rotatedAgain.status]).toEqual([201, 200]);
    expect(idOf(second, 'webhook_endpoint')).not.toBe(idOf(first, 'webhook_endpoint'));
    const secrets = [first, rotated, second, rotatedAgain].map(secretOf);
    expect(new Set(secrets).size).toBe(4);
  });
});
