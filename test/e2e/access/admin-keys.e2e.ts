import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import { sharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import type { ApiResponse } from '../../support/http/signed-client.js';

const reason = 'a test of admin keys';
const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];

const app = await sharedApp();
const admin = await app.newAdmin();

describe('an admin key', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  const issue = (body: object, idempotencyKey = newId()): Promise<ApiResponse> =>
    admin.post('/credentials', { name: 'server', reason, ...body }, { idempotencyKey });

  it('says when it was used last, and its revision stays', async () => {
    const client = await app.newAdmin();
    const list = await admin.get(`/credentials?operator_id=${client.operatorId}`);
    const [{ id } = { id: '' }] = list.json<{ credentials: { id: string }[] }>().credentials;
    const read = async () => {
      const response = await admin.get(`/credentials/${id}`);
      const { credential } = response.json();
      return { etag: response.headers['etag'], usedAt: credential.last_used_at };
    };
    expect(await read()).toEqual({ etag: '"0"', usedAt: null });
    expect((await client.get('/whoami')).status).toBe(200);
    await eventually(async () => (await read()).usedAt !== null);
    expect((await read()).etag).toBe('"0"');
    // What was read before the use is still what is written.
    const revoked = await admin.call({
      method: 'POST',
      path: `/credentials/${id}/revoke`,
      body: { reason },
      ifMatch: '"0"',
    });
    expect(revoked.status).toBe(200);
  });

  it.each<[string, number, (secret: string) => string | null]>([
    ['has its secret in replays of its response for 24 hours', DAY_MS - HOUR_MS, (secret) => secret],
    ['has no secret in replays from then on', DAY_MS, () => null],
  ])('%s', async (_, ageMs, displayed) => {
    const [key, body] = [newId(), { kind: 'admin', scopes: ['payouts:read'] }];
    const issuedAt = Date.now() - ageMs;
    jest.spyOn(Date, 'now').mockReturnValue(issuedAt);
    const first = await issue(body, key);
    jest.restoreAllMocks();
    const { credential } = first.json();
    const replay = await issue(body, key);
    expect([replay.status, replay.headers['idempotent-replayed']]).toEqual([first.status, 'true']);
    expect(replay.json()).toEqual({
      ...first.json(),
      credential: { ...credential, secret: displayed(credential.secret!) },
    });
  });
});
