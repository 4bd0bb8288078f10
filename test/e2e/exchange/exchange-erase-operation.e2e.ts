import { expect, it } from '@jest/globals';
import type { OrderRecord } from '../../../src/contexts/exchange/orders/order-record.js';
import { sharedApp } from '../../support/app.js';
import { ADDRESS, orderIn } from '../../support/exchange/exchange-orders.js';
import { programsFor } from '../../support/programs/cli.js';

const app = await sharedApp();
const PERSON = { user_id: 'quixotina@unmistakable.example', withdraw_address_memo: 'memo of vandersnoot' };
const NO_PERSON = { user_id: null, withdraw_address_memo: null };

const run = programsFor(app, { OPERATIONS_APPROVALS: 'on' });
const erase = async (...args: string[]): Promise<string> =>
  (await run('exchange', 'erase', ...args, '--yes', '--reason', 'a request of the person')).printed;
const ended = async (person: object): Promise<OrderRecord> => {
  const by = app.exchange.open;
  const { id } = orderIn(await by.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS, ...person }), 201);
  return orderIn(await by.call({ method: 'PATCH', path: `/v1/orders/${id}/cancel`, signs: ADDRESS }));
};
const read = async ({ id }: OrderRecord): Promise<OrderRecord> =>
  orderIn(await app.exchange.open.act(id, 'refresh', ADDRESS));

it('a user is erased from orders once a second operator approves, and the operation names no user', async () => {
  const bob = await app.newAdmin({ role: 'finance' });
  const orders = [await ended(PERSON), await ended(PERSON)];
  const other = await ended({ user_id: 'somebody else' });
  const { apiKey } = app.exchange.open.credentials;
  await expect(erase('--key', apiKey, '--user-id', 'another')).rejects.toThrow('No order of this key has');
  const printed = await erase('--key', apiKey, '--user-id', PERSON.user_id);
  const [, id] = /operation (\S{36}) waits until/.exec(printed)!;
  for (const order of orders) expect(await read(order)).toMatchObject(PERSON);

  const response = await bob.get(`/operations/${id}`);
  const { operation } = response.json();
  expect(operation).toMatchObject({
    name: 'orders.erase_user',
    status: 'pending_approval',
    parameters: { api_key: apiKey },
    requested_by: { operator_id: null, name: 'shell' },
  });
  for (const personal of Object.values(PERSON)) expect(response.text).not.toContain(personal);

  const approve = `/operations/${id}/approve`;
  const viewer = await app.newAdmin({ role: 'viewer' });
  expect((await viewer.post(approve, { reason: 'I would' })).status).toBe(403);
  const approved = await bob.post(approve, { reason: 'The request is theirs' });
  expect(approved.json()).toMatchObject({ operation: { status: 'executed' } });
  for (const order of orders) expect(await read(order)).toMatchObject(NO_PERSON);
  expect(await read(other)).toMatchObject({ user_id: 'somebody else' });
  const causes = await app.database.query<{ operation: string }>(
    `select metadata::json->>'operation_id' as operation from event_store.events
     where type like 'order.%erased%' order by position`,
  );
  expect(causes).toEqual(orders.map(() => ({ operation: id })));
});
