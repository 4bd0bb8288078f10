import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { eventually } from '../../test/support/eventually.js';
import { ScanLab, type LabOrder } from '../../test/support/scan-lab.js';

describe('rows of the sandbox provider that another process than the scan wrote', () => {
  const errors: unknown[] = [];
  let lab: ScanLab;

  beforeAll(async () => {
    lab = await ScanLab.open();
    jest.spyOn(Logger.prototype, 'error').mockImplementation((message: unknown) => void errors.push(message));
    await lab.startScan();
  });
  afterAll(() => lab.close());

  const sql = (text: string, ...params: unknown[]) => lab.db.database.query(text, params);
  const reported = (order: LabOrder, msg: string) =>
    errors.some((each) => {
      const { order_id, msg: said } = each as { order_id?: string; msg?: string };
      return order_id === order.orderId && said?.startsWith(msg) === true;
    });

  it('a row of exchange.deposits alone is no deposit, and is reported', async () => {
    const order = await lab.order(lab.scan);
    // The scan removes such a row when it comes by, perhaps before the provider reads it.
    await eventually(async () => {
      await sql(
        `insert into exchange.deposits (transaction_hash, place, block_hash, order_id, amount_minor, block_number, block_at)
         values ($1, 0, $2, $3, 100000000, 1, now()) on conflict do nothing`,
        ...[`0x${'1'.repeat(64)}`, `0x${'2'.repeat(64)}`, order.orderId],
      );
      expect((await lab.scan.provider.status(order)).deposits).toEqual([]);
      return reported(order, 'deposit row ignored: the chain does not have the transfer');
    });
  });

  it('a row with the amount, the order or the block of another transfer is no deposit', async () => {
    const [order, other] = [await lab.order(lab.scan), await lab.order(lab.scan)];
    await lab.chain.transfer(order.address, '1');
    await lab.chain.mine(2);
    await lab.until(lab.scan, order, ({ deposits }) => deposits.length === 1);
    await sql('update exchange.deposits set amount_minor = 100000000 where order_id = $1', order.orderId);
    expect((await lab.scan.provider.status(order)).deposits).toEqual([]);
    const move = 'update exchange.deposits set amount_minor = 1000000, order_id = $2 where order_id = $1';
    await sql(move, order.orderId, other.orderId);
    expect((await lab.scan.provider.status(other)).deposits).toEqual([]);
    await sql(move, other.orderId, order.orderId);
    expect((await lab.scan.provider.status(order)).deposits).toHaveLength(1);
  });

  it('an order whose row names the address of another order does not get its deposit', async () => {
    const [order, other] = [await lab.order(lab.scan), await lab.order(lab.scan)];
    await lab.chain.transfer(other.address, '1');
    await lab.chain.mine(2);
    await lab.until(lab.scan, other, ({ deposits }) => deposits.length === 1);
    const name = 'update exchange.sandbox_orders set deposit_address = $2 where order_id = $1';
    await sql(name, other.orderId, lab.chain.newAddress());
    await sql(name, order.orderId, other.address);
    await sql('update exchange.deposits set order_id = $2 where order_id = $1', other.orderId, order.orderId);
    expect((await lab.scan.provider.status(order)).deposits).toEqual([]);
  });

  it('a deposit that is marked as missing and is on the chain is not missing', async () => {
    const order = await lab.order(lab.scan);
    await lab.chain.transfer(order.address, '1');
    await lab.chain.mine(2);
    await lab.until(lab.scan, order, ({ deposits }) => deposits.length === 1);
    await sql('update exchange.deposits set missing_since = now() where order_id = $1', order.orderId);
    const { deposits, missing } = await lab.scan.provider.status(order);
    expect([deposits, missing]).toEqual([[], []]);
    expect(reported(order, 'deposit row ignored: it is marked as missing')).toBe(true);
  });

  it('small transfers that never came are not summed up, and a settlement in the table is no outcome', async () => {
    const order = await lab.order(lab.scan);
    await sql('insert into exchange.sandbox_dust values ($1, -1, 500, 5000000000)', order.orderId);
    await sql(
      `update exchange.sandbox_orders set settled_at = now() - interval '1 hour', settled_amount_to = '1000',
         settled_mac = 'forged' where order_id = $1`,
      order.orderId,
    );
    const { unlisted, outcome } = await lab.scan.provider.status(order);
    expect([unlisted, outcome]).toEqual([undefined, null]);
  });
});
