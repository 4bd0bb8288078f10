import { describe, expect, it } from '@jest/globals';
import { testApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import {
  createUser,
  getPayout,
  reported,
  type PayoutBody,
  receivedPayout,
} from '../../support/payouts/payout-calls.js';

interface Check {
  readonly last_at: string | null;
  readonly last_finding: string | null;
  readonly next_at: string | null;
  readonly attempts: number | null;
}
type AdminPayout = PayoutBody & { readonly merchant_id: string; readonly check: Check };
interface Page {
  readonly payouts: readonly AdminPayout[];
  readonly next_cursor: string | null;
}

// A separate service, because heads of the ledger come at once, and the lists are of all merchants.
const app = await testApp({ AUDIT_HEAD_SECONDS: '1' });
const admin = await app.newAdmin();
const { user: userId, payout: received } = await receivedPayout(app, '2');
const pending = await reported(app.merchant, userId);
const foreign = await reported(app.secondMerchant, await createUser(app.secondMerchant));

describe('payouts in the admin API', () => {
  const list = async (query: Record<string, string>, by = admin): Promise<Page> => {
    const response = await by.get(`/payouts?${new URLSearchParams(query)}`);
    expect([response.status, response.text]).toEqual([200, expect.anything()]);
    return response.json();
  };
  const ids = async (query: Record<string, string>, by = admin): Promise<readonly string[]> =>
    (await list(query, by)).payouts.map(({ id }) => id);
  const statusOf = async (path: string, by = admin): Promise<number> => (await by.get(path)).status;

  it('are listed over all merchants, newest first, as in the merchant API and with their merchant', async () => {
    const { payouts, next_cursor } = await list({});
    expect(payouts.map(({ id }) => id)).toEqual([foreign.id, pending.id, received.id]);
    expect(next_cursor).toBeNull();
    const { check, merchant_id, ...payout } = payouts[2]!;
    expect(merchant_id).toBe(app.merchant.credentials.apiKey);
    expect(payout).toEqual(await getPayout(app.merchant, received.id));
    expect(check).toMatchObject({ last_finding: 'settled', next_at: null });
    const first = await list({ page_size: '2' });
    expect(await ids({ page_size: '2', page_cursor: first.next_cursor! })).toEqual([received.id]);
  });

  it('are overdue if their window has ended and their check is late', async () => {
    const end = `update payouts.verifications set expires_at = now() - interval '1 day' where payout_id = $1 returning 1`;
    await eventually(async () => (await app.database.query(end, [foreign.id])).length === 1);
    // The check without a wallet is due at the end of the window, which is late in the schedule.
    expect(await ids({ overdue: 'true' })).toEqual([foreign.id]);
    expect(await ids({ overdue: 'true', status: 'received' })).toEqual([]);
  });

  it('are refused with 400 for an unknown or invalid filter, which the response names', async () => {
    const wrong = {
      merchant: 'x',
      status: 'lost',
      overdue: 'yes',
      page_size: '0',
      user_id: 'u',
      created_from: 'x',
    };
    for (const [name, value] of Object.entries(wrong)) {
      const response = await admin.get(`/payouts?${name}=${value}`);
      expect(response.status).toBe(400);
      expect(response.json().detail).toContain(name);
    }
  });

  it('are returned by id with an ETag and the state of their verification', async () => {
    const response = await admin.get(`/payouts/${received.id}`);
    expect([response.status, response.headers['etag']]).toEqual([200, '"1"']);
    const { payout } = response.json();
    expect(payout).toMatchObject({ ...received, merchant_id: app.merchant.credentials.apiKey });
    const { check } = await eventually(async () => {
      const one = (await admin.get(`/payouts/${pending.id}`)).json().payout;
      return (one.check.attempts ?? 0) > 1 && one;
    });
    expect(check).toMatchObject({
      last_finding: 'not_found',
      last_at: expect.any(String),
      next_at: expect.any(String),
    });
  });

  it('have the finding of each check with the host of its node', async () => {
    const { checks } = (await admin.get(`/payouts/${received.id}/checks`)).json<{ checks: object[] }>();
    expect(checks[0]).toEqual({
      at: expect.any(String),
      finding: 'settled',
      node: new URL(app.config.chainRpcUrl!).host,
      head: expect.any(Number),
      confirmations: expect.any(Number),
    });
    const ofPending = (await admin.get(`/payouts/${pending.id}/checks`)).json<{ checks: object[] }>().checks;
    expect(ofPending[0]).toMatchObject({ finding: 'not_found', confirmations: null });
  });

  it('have the same evidence as in the merchant API, and a proof', async () => {
    const path = `/payouts/${received.id}`;
    const merchants = (part: string) => app.merchant.get(`/merchants/v1${path}/${part}`);
    expect((await admin.get(`${path}/evidence`)).json()).toEqual((await merchants('evidence')).json());
    expect(await statusOf(`/payouts/${pending.id}/evidence`)).toBe(409);
    const proof = await eventually(async () => {
      const response = await admin.get(`${path}/proof`);
      return (
        response.status === 200 && response.json<{ proof: { payout_id: string; events: unknown[] } }>().proof
      );
    });
    expect([proof.payout_id, proof.events.length]).toEqual([received.id, 2]);
  });

  it('are found by their id and by the hash of their transaction', async () => {
    const search = async (q: string) =>
      (await admin.get(`/search?q=${encodeURIComponent(q)}`)).json<{ results: object[] }>().results;
    const found = {
      kind: 'payout',
      id: received.id,
      merchant_id: app.merchant.credentials.apiKey,
      title: '2 USDC, received',
    };
    expect(await search(received.id)).toEqual([found]);
    expect(await search(received.transaction_hash)).toEqual([found]);
  });
});
