import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { sharedApp } from '../../support/app.js';

const reason = 'a test of decisions at once';
const AT_ONCE = 20;

const app = await sharedApp();
const [ada, bob] = [await app.newAdmin(), await app.newAdmin()];

describe('decisions of one person at once', () => {
  let types = 0;

  const requested = async (): Promise<string> => {
    const path = `/system/event_types/older.event_${(types += 1)}.v1/let_pass`;
    return (await ada.post(path, { reason })).json().operation.id;
  };
  const suspended = async (): Promise<string> => {
    const { apiKey } = (await app.newMerchant()).credentials;
    const done = await ada.change(`/merchants/${apiKey}`, '/suspend', { reason });
    return done.json().operation_id;
  };

  it.each([
    ['approve', 'executed', requested, () => bob],
    ['reject', 'rejected', requested, () => bob],
    ['reject', 'withdrawn', requested, () => ada],
    ['confirm', 'executed', suspended, () => bob],
  ] as const)(
    'to %s: one is recorded, as %s, and the others are 409',
    async (decision, status, begin, who) => {
      const path = `/operations/${await begin()}`;
      const tries = Array.from({ length: AT_ONCE }, (_, n) => {
        const body = { reason: `${reason}, number ${n}` };
        const options = { idempotencyKey: randomUUID() };
        return { body, options, send: () => who().post(`${path}/${decision}`, body, options) };
      });
      const responses = await Promise.all(tries.map(({ send }) => send()));
      const codes = responses.map((response) => response.status).sort();
      expect(codes).toEqual([200, ...Array.from({ length: AT_ONCE - 1 }, () => 409)]);
      const first = responses.findIndex((response) => response.status === 200);
      const { operation } = (await bob.get(path)).json();
      expect([operation.status, operation.decision_reason]).toEqual([status, tries[first]!.body.reason]);
      expect((await tries[first]!.send()).text).toBe(responses[first]!.text);

      // As after a crash between the decision and its response.
      const key = tries[first]!.options.idempotencyKey;
      await app.database.query('delete from event_store.responses where key = $1', [key]);
      const again = await tries[first]!.send();
      expect([again.status, again.text]).toEqual([200, responses[first]!.text]);
      expect((await tries[(first + 1) % AT_ONCE]!.send()).status).toBe(409);
    },
  );
});
