import { eventually } from '../../../../bench/support/wait.js';
import type { Group } from './tampering-harness.js';

const TABLE = 'webhooks.deliveries';
const COLUMNS = 'endpoint_id, merchant_id, type, body, is_test';
const KINDS = ['no MAC', 'MAC copied', 'body', 'endpoint', 'type'] as const;

/** Deliveries are invented, or changed and due again, while workers send. */
export const deliveries: Group = {
  percent: 7,
  atOnce: 15,
  async run(harness, random, count) {
    const { db, verdict, receiver } = harness;
    const { rows } = await db.query<{ id: string }>(
      `select delivery_id as id from ${TABLE} where state = 'succeeded' and type = 'payout.received' order by delivery_id`,
    );
    await db.query(`create temp table sent as table ${TABLE}`);
    const before = receiver.received.length;
    const mark = random.uuid();
    const forged = new Map<string, string>();
    for (const kind of random.deal(KINDS, count)) {
      const model = rows.splice(random.below(rows.length), 1)[0]!.id;
      const body = `regexp_replace(body, '"payout_id":"[^"]*"', '"payout_id":"${mark}"')`;
      const isNew = kind === 'no MAC' || kind === 'MAC copied';
      const id = isNew ? random.uuid() : model;
      if (isNew) {
        rows.push({ id: model });
        await db.query(
          `insert into ${TABLE} (delivery_id, ${COLUMNS}, mac)
           select $1, ${COLUMNS.replace('body', body)}, ${kind === 'no MAC' ? 'null' : 'mac'}
           from ${TABLE} where delivery_id = $2`,
          [id, model],
        );
      } else {
        const change = {
          body: `body = ${body}`,
          endpoint: `endpoint_id = (select endpoint_id from webhooks.endpoint_snapshots l where l.endpoint_id <> ${TABLE}.endpoint_id limit 1)`,
          type: `type = 'payout.failed'`,
        }[kind];
        await db.query(
          `update ${TABLE} set ${change}, state = 'pending', due_at = now(), finished_at = null where delivery_id = $1`,
          [id],
        );
      }
      forged.set(id, kind);
    }
    await eventually('every forged delivery is refused', async () => {
      const left = await db.query(
        `select from ${TABLE} where delivery_id = any($1::uuid[]) and (state <> 'dropped' or leased_by is not null)`,
        [[...forged.keys()]],
      );
      return left.rowCount === 0;
    });
    const since = receiver.received.slice(before);
    for (const [id, kind] of forged) {
      const sent = since.filter(({ headers }) => headers['webhook-id'] === id);
      verdict.none(sent, `refused by the sender: delivery ${id}, ${kind}`);
    }
    const invented = since.filter(({ body }) => body.includes(mark));
    verdict.none(invented, 'notifications of payouts that were never reported');
    await harness.change(`delete from ${TABLE}; insert into ${TABLE} table sent; drop table sent`);
    return [...forged.values()];
  },
};
