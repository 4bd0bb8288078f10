import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { CrashRoad } from '../../test/support/crash-road.js';
import { ScanLab, type LabOrder } from '../../test/support/scan-lab.js';

let lab: ScanLab;

beforeAll(async () => {
  lab = await ScanLab.open();
});
afterAll(() => lab.close());

/** One run of a process that dies at its `nth` message to the database; whether it got that far. */
async function scanAndDie(nth: number, side: 'unsent' | 'unacknowledged'): Promise<boolean> {
  const road = await CrashRoad.open(lab.db.url);
  let isDead = false;
  void road.end.then(() => (isDead = true));
  const victim = await lab.start({}, { isScanning: false, databaseUrl: road.url });
  road.endAt(nth, side);
  await victim.scanner.work.options.run(new AbortController().signal).catch(() => undefined);
  const wasKilled = isDead;
  road.endNow();
  await victim.stop().catch(() => undefined);
  return wasKilled;
}

it.each(['unsent', 'unacknowledged'] as const)(
  'counts every deposit once, whichever message to the database was the last of a process (%s)',
  async (side) => {
    const alive = await lab.start({}, { isScanning: false });
    const orders: LabOrder[] = [];
    for (let nth = 1, isKilled = true; isKilled; nth += 1) {
      // However long the runs take, addresses are given out.
      await alive.scanner.work.options.run(new AbortController().signal);
      const order = await lab.order(alive);
      orders.push(order);
      await lab.chain.transfer(order.address, '100');
      isKilled = await scanAndDie(nth, side);
    }
    expect(orders.length).toBeGreaterThan(8);
    await alive.scanner.work.options.run(new AbortController().signal);
    for (const order of orders) {
      const { deposits, isDepositUnderWay } = await alive.provider.status(order);
      expect([deposits.map(({ amount }) => amount), isDepositUnderWay]).toEqual([['100'], false]);
    }
    expect(await lab.deposits()).toHaveLength(
      new Set((await lab.deposits()).map(({ order_id }) => order_id)).size,
    );
  },
);
