import { deriveId } from '../../../../src/kernel/ids.js';
import { eventually } from '../../../../bench/support/wait.js';
import { describeFinding } from '../../../../src/contexts/audit/domain/findings.js';
import type { Random } from '../random.js';
import type { Group, TamperingHarness } from './tampering-harness.js';
import { PLAIN, type Done, type StoredRow } from './tampering.js';

const EVENTS = 'event_store.events';
/** Gaps first: what is deleted leaves more of them. */
const CHANGES = ['insert', 'flip', 'swap', 'drop'] as const;

/** Recorded events are changed, deleted, swapped and inserted into gaps, while the service writes and signs others. */
export const changedEvents: Group = {
  percent: 44,
  atOnce: 20,
  async run(harness, random, count) {
    const { db } = harness;
    const [, ...unused] = (await harness.events()).slice(0, -1);
    const next = (): StoredRow => unused.splice(random.below(unused.length), 1)[0]!;
    await db.query(`create temp table recorded as table ${EVENTS}`);
    const done: (readonly [name: string, done: Done])[] = [];
    const share = Math.ceil(count / CHANGES.length);
    for (const name of CHANGES) {
      for (let n = 0; n < share && done.length < count && unused.length > 2;) {
        const tampering = await PLAIN[name]!({ tx: db, events: [next(), next()], random });
        if (tampering === null) continue;
        done.push([name, tampering]);
        n += 1;
      }
    }
    if (random.chance(0.25)) await signsOnly(harness);
    const { findings } = await harness.check();
    for (const [, { what, isNamed }] of done)
      harness.verdict.expect(isNamed(findings), `named: ${what}`, findings.map(describeFinding).join('; '));
    await harness.change(
      `delete from ${EVENTS} where position <= (select max(position) from recorded);
       insert into ${EVENTS} table recorded; drop table recorded`,
    );
    return done.map(([name]) => name);
  },
};

/** The service signs what it wrote, and its heads remain true: they are checked once the events are restored. */
async function signsOnly(harness: TamperingHarness): Promise<void> {
  const { size } = await harness.newestHead();
  await harness.write();
  await eventually('the signer continues', async () => (await harness.newestHead()).size > size);
}

interface Forged {
  readonly name: string;
  readonly position: string;
  readonly id: string;
  /** Of the payout or order that it is about. */
  readonly subject: string;
}

/** Events that the service did not write are inserted at the end of the log, with the MAC of another or with none. */
export const insertedEvents: Group = {
  percent: 25,
  stops: true,
  atOnce: 40,
  async run(harness, random, count) {
    const { db, verdict } = harness;
    const events = await harness.events();
    const before = await harness.newestHead();
    const facts = await factsOf(harness);
    const forged: Forged[] = [];
    await db.query('begin');
    while (forged.length < count) forged.push(await insertForged(harness, events, random));
    await db.query('commit');
    await harness.write();
    const isHalted = async (): Promise<boolean> => (await harness.readiness()).text.includes('forged');
    await eventually('the service is not ready, and names a forged event', isHalted);
    await harness.ticks();
    const { findings } = await harness.check();
    for (const { name, position, id, subject } of forged) {
      const isNamed = findings.some((each) => each.kind === 'forged' && each.position === position);
      const isSent = harness.receiver.received.some(({ body }) => body.includes(subject));
      verdict.expect(
        isNamed,
        `named: ${name} inserted at ${position}`,
        findings.map(describeFinding).slice(-3),
      );
      verdict.expect(!isSent, `the merchant is not notified of ${id}`);
    }
    verdict.equal((await harness.newestHead()).size, before.size, 'events under the newest head');
    verdict.none(await deliveriesOf(harness, forged), 'deliveries of forged events');
    verdict.equal(await factsOf(harness), facts, 'payouts, balances, orders, endpoints and the provider');
    await db.query(`delete from ${EVENTS} where position = any($1::bigint[])`, [
      forged.map(({ position }) => position),
    ]);
    return forged.map(({ name }) => name);
  },
};

async function insertForged(
  { db }: TamperingHarness,
  events: readonly StoredRow[],
  random: Random,
): Promise<Forged> {
  const pick = (type: string): StoredRow => random.pick(events.filter((each) => each.type.startsWith(type)));
  const name = random.pick(['received', 'processing', 'reported', 'any'] as const);
  const id = random.uuid();
  const copied = random.pick(events).metadata;
  let { stream, type, data, metadata } = random.pick(events);
  let subject = id;
  if (name === 'received') {
    // A payout that has no outcome yet is received, by the evidence of another one.
    const ended = new Set(events.filter((each) => each.revision > 0).map((each) => each.stream));
    const open = random.pick(
      events.filter((each) => each.type === 'payout.reported.v1' && !ended.has(each.stream)),
    );
    ({ type, metadata } = pick('payout.received.v2'));
    const evidence = JSON.parse(pick('payout.received.v2').data) as object;
    data = JSON.stringify({
      ...evidence,
      ...(JSON.parse(open.data) as object),
      received_at: '2026-01-01T00:00:00.000Z',
    });
    ({ stream } = open);
    subject = stream.slice('payout-'.length);
  } else if (name === 'processing') {
    ({ stream, metadata } = pick('order.created'));
    type = 'order.processing_started.v1';
    subject = stream.slice('order-'.length);
    const at = '2026-01-01T00:00:00.000Z';
    data = JSON.stringify({ order_id: subject, amount_from: '9', amount_to: '9', refundable: '0', at });
  } else if (name === 'reported') {
    ({ type, data, metadata } = pick('payout.reported.v1'));
    data = data.replace(/"payout_id":"[^"]*"/, `"payout_id":"${id}"`);
    stream = `payout-${id}`;
  }
  const mac = random.pick(['none', 'its own', 'copied', 'changed'] as const);
  if (mac === 'none') metadata = '{}';
  else if (mac === 'copied') metadata = copied;
  else if (mac === 'changed') metadata = metadata.replace(/.("\})$/, (_, end: string) => `-${end}`);
  const { rows } = await db.query<{ position: string }>(
    `insert into ${EVENTS}
     select nextval('event_store.position'), $1,
       (select coalesce(max(revision), -1) + 1 from ${EVENTS} where stream = $1), $2, $3, $4, $5, clock_timestamp()
     returning position`,
    [stream, id, type, data, metadata],
  );
  return { name: `${name}, MAC ${mac}`, position: rows[0]!.position, id, subject };
}

async function deliveriesOf({ db }: TamperingHarness, forged: readonly Forged[]): Promise<readonly object[]> {
  const { rows: endpoints } = await db.query<{ endpoint_id: string }>(
    'select endpoint_id from webhooks.endpoint_snapshots',
  );
  const ids = forged.flatMap(({ id }) => endpoints.map((each) => deriveId(id, each.endpoint_id)));
  return (
    await db.query<object>('select * from webhooks.deliveries where delivery_id = any($1::uuid[])', [ids])
  ).rows;
}

/** What forged events would change. */
async function factsOf({ db }: TamperingHarness): Promise<string> {
  const { rows } = await db.query<{ facts: string }>(
    `select jsonb_build_object(
       'payouts', (select jsonb_object_agg(id, status) from payouts.payouts),
       'balances', (select jsonb_object_agg(user_id, array[confirmed, pending]) from payouts.balances),
       'orders', (select jsonb_object_agg(id, status) from exchange.orders),
       'provider', (select jsonb_agg(to_jsonb(o) order by o::text) from exchange.sandbox_orders o),
       'lanes', (select jsonb_object_agg(endpoint_id, url) from webhooks.endpoint_snapshots))::text as facts`,
  );
  return rows[0]!.facts;
}
