import { eventually } from '../../../../bench/support/wait.js';
import type { Group } from './tampering-harness.js';

const TABLE = 'webhooks.deliveries';
const COLUMNS = 'endpoint_id, merchant_id, type, body, is_test, mac';

/** Deliveries are invented, or changed and due again, while the workers send what is due. */
export const deliveries: Group = {
  percent: 9,
  atOnce: 30,
  async run(harness, random, count) {
    const { db, verdict, receiver } = harness;
    const { rows } = await db.query<{ id: string }>(
      `select delivery_id as id from ${TABLE} where state = 'succeeded' and type = 'payout.received' order by delivery_id`,
    );
    await db.query(`create temp table sent as table ${TABLE}`);
    const forged = new Map<string, string>();
    const marks: string[] = [];
    while (forged.size < count) {
      const model = random.pick(rows).id;
      const [id, mark] = [random.uuid(), random.uuid()];
      const how = random.pick(['no MAC', 'MAC copied', 'body', 'endpoint', 'type'] as const);
      const isNew = how === 'no MAC' || how === 'MAC copied';
      if (!isNew && forged.has(model)) continue;
      const body = `regexp_replace(body, '"payout_id":"[^"]*"', '"payout_id":"${mark}"')`;
      if (isNew) {
        await db.query(
          `insert into ${TABLE} (delivery_id, ${COLUMNS})
           select $1, endpoint_id, merchant_id, type, ${body}, is_test, ${how === 'no MAC' ? 'null' : 'mac'}
           from ${TABLE} where delivery_id = $2`,
          [id, model],
        );
      } else {
        const change = {
          body: `body = ${body}`,
          endpoint: `endpoint_id = (select endpoint_id from webhooks.endpoint_snapshots l where l.endpoint_id <> ${TABLE}.endpoint_id limit 1)`,
          type: `type = 'payout.failed'`,
        }[how];
        await db.query(
          `update ${TABLE} set ${change}, state = 'pending', due_at = now(), finished_at = null where delivery_id = $1`,
          [model],
        );
      }
      forged.set(isNew ? id : model, how);
      marks.push(mark);
    }
    const before = receiver.received.length;
    const ids = [...forged.keys()];
    await eventually('every forged delivery is refused', async () => {
      const left = await db.query(
        `select from ${TABLE} where delivery_id = any($1::uuid[]) and (state <> 'dropped' or leased_by is not null)`,
        [ids],
      );
      return left.rowCount === 0;
    });
    const since = receiver.received.slice(before);
    for (const [id, how] of forged) {
      const sent = since.filter(({ headers }) => headers['webhook-id'] === id);
      verdict.none(sent, `refused by the sender: delivery ${id}, ${how}`);
    }
    verdict.none(
      receiver.received.filter(({ body }) => marks.some((mark) => body.includes(mark))),
      'notifications of payouts that were never reported',
    );
    await harness.change(`delete from ${TABLE}; insert into ${TABLE} table sent; drop table sent`);
    return [...forged.values()];
  },
};
