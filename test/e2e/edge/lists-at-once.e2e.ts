import { describe, expect, it } from '@jest/globals';
import { sharedApp } from '../../support/app.js';
import { createUser, getPayout, PAYOUTS, reported } from '../../support/payouts/payout-calls.js';

const app = await sharedApp();
const user = await createUser(app.merchant);
const ids = await Promise.all(Array.from({ length: 30 }, () => reported(app.merchant, user)));
await getPayout(app.merchant, ids.at(-1)!.id);

describe('64 lists of one merchant at once', () => {
  it.each(['', '?page_size=20', '?page_size=1000', '?page_size=7'])(
    'are all served: payouts%s',
    async (query) => {
      for (let round = 0; round < 4; round += 1) {
        const pages = await Promise.all(
          Array.from({ length: 64 }, () => app.merchant.get(`${PAYOUTS}${query}`)),
        );
        expect(pages.map(({ status }) => status)).toEqual(pages.map(() => 200));
      }
    },
  );
});
