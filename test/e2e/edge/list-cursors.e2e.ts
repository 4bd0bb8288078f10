import { describe, expect, it } from '@jest/globals';
import { sharedApp } from '../../support/app.js';
import type { ApiResponse } from '../../support/http/signed-client.js';
import { createUser, getPayout, PAYOUTS, reported } from '../../support/payouts/payout-calls.js';

const app = await sharedApp();
const admin = await app.newAdmin();
for (let n = 0; n < 3; n += 1) {
  await app.newMerchant();
  await app.newAdmin({ role: 'support' });
  await app.merchant.post('/merchants/v1/portal_sessions', {});
}

describe('a page cursor', () => {
  it('gets 400 in another list or with other filters', async () => {
    const filters = 'kind=admin&status=active';
    const first = (await admin.get(`/credentials?${filters}&page_size=1`)).json();
    const cursor = `page_cursor=${first.next_cursor}`;
    for (const same of [`${filters}&${cursor}`, `${cursor}&page_size=2&status=active&kind=admin`])
      expect((await admin.get(`/credentials?${same}`)).status).toBe(200);
    for (const path of [
      `/credentials?${cursor}`,
      `/credentials?kind=admin&${cursor}`,
      `/credentials?kind=admin&status=rolling&${cursor}`,
      `/operators?status=active&${cursor}`,
      `/merchants?${cursor}`,
      `/operations?${cursor}`,
    ]) {
      const refused = await admin.get(path);
      expect([path, refused.status]).toEqual([path, 400]);
      expect(refused.json().detail).toMatch(/^page_cursor must/);
    }
  });

  it('is accepted only in its own list of the merchant API, with any page size', async () => {
    const { next_cursor } = (await app.merchant.get('/merchants/v1/portal_sessions?page_size=1')).json();
    const statusOf = async (path: string): Promise<number> =>
      (await app.merchant.get(`/merchants/v1/${path}page_cursor=${next_cursor}`)).status;
    expect(await statusOf('portal_sessions?page_size=2&')).toBe(200);
    expect(await statusOf('payouts?')).toBe(400);
  });
});

const user = await createUser(app.merchant);
const ids = await Promise.all(Array.from({ length: 30 }, () => reported(app.merchant, user)));
await getPayout(app.merchant, ids.at(-1)!.id);

describe('64 lists of one merchant at once', () => {
  it.each(['', '?page_size=20', '?page_size=1000', '?page_size=7'])(
    'are served, or refused with 429 and Retry-After after a long wait: payouts%s',
    async (query) => {
      for (let round = 0; round < 4; round += 1) {
        const pages = await Promise.all(
          Array.from({ length: 64 }, () => app.merchant.get(`${PAYOUTS}${query}`)),
        );
        const retry = ({ status, headers }: ApiResponse) =>
          status === 429 && headers['retry-after'] !== undefined;
        expect(pages.filter((page) => page.status !== 200 && !retry(page))).toEqual([]);
        expect(pages.some(({ status }) => status === 200)).toBe(true);
      }
    },
  );
});
