import type pg from 'pg';
import { eventually } from '../../../../bench/support/wait.js';
import { describeFinding, type LedgerFinding } from '../../../../src/contexts/audit/verify/findings.js';
import { deliveryId, EVENT_TYPES } from '../../../../src/contexts/webhooks/webhooks.contract.js';
import type { Random } from '../random.js';
import type { Group, StoredRow, TamperingHarness } from './tampering-harness.js';

const EVENTS = 'event_store.events';
const SIGNED_MS = 30_000;

/** A tampering and the check of its finding. */
interface Done {
  readonly what: string;
  readonly isNamed: (findings: readonly LedgerFinding[]) => boolean;
}

interface Scene {
  readonly tx: pg.ClientBase;
  readonly events: readonly StoredRow[];
  readonly random: Random;
}

/** Returns null if nothing changed. */
type Tampering = (scene: Scene) => Promise<Done | null>;

/** Data is repeated, because most of an event is data. */
const COLUMNS = 'data data data metadata stream type id revision recorded_at'.split(' ');
/** Changes of columns that are not text. */
const OTHERS: Readonly<Record<string, string>> = {
  id: 'gen_random_uuid()',
  revision: 'revision + 1000000',
  recorded_at: `recorded_at + interval '1 ms'`,
};
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

type At = { readonly position: string };
const at =
  (kinds: readonly LedgerFinding['kind'][], ...positions: readonly string[]): Done['isNamed'] =>
  (findings) =>
    positions.every((position) =>
      findings.some(
        (finding) => kinds.includes(finding.kind) && (finding as Partial<At>).position === position,
      ),
    );

const flip: Tampering = async ({ tx, events, random }) => {
  const event = random.pick(events);
  const column = random.pick(COLUMNS);
  let value = OTHERS[column];
  if (value === undefined) {
    const text = event[column as 'data'];
    const [place, letter] = [random.below(text.length), random.pick([...LETTERS])];
    if (sameMeaning(column, text, text.slice(0, place) + letter + text.slice(place + 1))) return null;
    value = `overlay(${column} placing '${letter}' from ${place + 1} for 1)`;
  }
  await tx.query(`update ${EVENTS} set ${column} = ${value} where position = $1`, [event.position]);
  return {
    what: `${column} of ${event.position} changed`,
    isNamed: at(['changed', 'unreadable'], event.position),
  };
};

function sameMeaning(column: string, one: string, other: string): boolean {
  if (one === other || (column !== 'data' && column !== 'metadata')) return one === other;
  try {
    return JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other));
  } catch {
    return false;
  }
}

const drop: Tampering = async ({ tx, events, random }) => {
  const event = random.pick(events);
  await tx.query(`delete from ${EVENTS} where position = $1`, [event.position]);
  return { what: `event at ${event.position} deleted`, isNamed: at(['deleted'], event.position) };
};

const swap: Tampering = async ({ tx, events, random }) => {
  const [one, other] = [random.pick(events), random.pick(events)];
  if (one === other) return null;
  await tx.query(`update ${EVENTS} set position = -1 where position = $1`, [one.position]);
  await tx.query(`update ${EVENTS} set position = $2 where position = $1`, [other.position, one.position]);
  await tx.query(`update ${EVENTS} set position = $1 where position = -1`, [other.position]);
  return {
    what: `events at ${one.position} and ${other.position} swapped`,
    isNamed: at(['moved'], one.position, other.position),
  };
};

/** Inserts into a gap of the positions, as left by a refused commit, or at either end. */
const insert: Tampering = async ({ tx, events, random }) => {
  const { rows } = await tx.query<{ position: string }>(
    `select p as position from generate_series(0, (select max(position) from ${EVENTS})) p
     where p not in (select position from ${EVENTS})`,
  );
  const { position } = random.pick(rows);
  const model = random.pick(events);
  await tx.query(
    `insert into ${EVENTS} select $1, stream, revision + 500000, $2, type, data, metadata, recorded_at
     from ${EVENTS} where position = $3`,
    [position, random.uuid(), model.position],
  );
  return { what: `a copy of ${model.position} inserted at ${position}`, isNamed: at(['inserted'], position) };
};

/** Inserts come first, before deletions leave more gaps. */
const CHANGES = Object.entries({ insert, flip, swap, drop });

/** Events are changed, deleted, swapped and inserted into gaps, while the service writes and signs others. */
export const changedEvents: Group = {
  percent: 37,
  atOnce: 20,
  async run(harness, random, count) {
    const { db, verdict } = harness;
    const before = await harness.signed();
    const [, ...unused] = (await harness.events()).slice(0, -1);
    const next = (): StoredRow => unused.splice(random.below(unused.length), 1)[0]!;
    await db.query(`create temp table recorded as table ${EVENTS}`);
    const done: (readonly [name: string, done: Done])[] = [];
    const share = Math.ceil(count / CHANGES.length);
    for (const [name, change] of CHANGES) {
      for (let n = 0; n < share && done.length < count && unused.length > 2;) {
        const tampering = await change({ tx: db, events: [next(), next()], random });
        if (tampering === null) continue;
        done.push([name, tampering]);
        n += 1;
      }
    }
    await harness.write();
    const isSigned = async (): Promise<boolean> => (await harness.signed()) > before;
    await verdict.eventually('the service signs what it writes meanwhile', isSigned, SIGNED_MS);
    const { findings } = await harness.verify();
    for (const [, { what, isNamed }] of done)
      verdict.expect(isNamed(findings), `named: ${what}`, findings.map(describeFinding).join('; '));
    await harness.change(
      `delete from ${EVENTS} where position <= (select max(position) from recorded);
       insert into ${EVENTS} table recorded; drop table recorded`,
    );
    return done.map(([name]) => name);
  },
};

interface Forged {
  readonly name: string;
  readonly position: string;
  readonly id: string;
  /** The payout or order of the event. */
  readonly subject: string;
}

/** Forged events are inserted at the end of the log, with the MAC of another event or with none. */
export const insertedEvents: Group = {
  percent: 20,
  stops: true,
  atOnce: 40,
  async run(harness, random, count) {
    const { db, verdict } = harness;
    const events = await harness.events();
    const before = await harness.signed();
    const facts = await factsOf(harness);
    const forged: Forged[] = [];
    await db.query('begin');
    while (forged.length < count) forged.push(await insertForged(harness, events, random));
    await db.query('commit');
    await harness.write();
    const isHalted = async (): Promise<boolean> => (await harness.service.health()).text.includes('forged');
    await eventually('the service is not ready, and names a forged event', isHalted);
    await harness.ticks();
    const { findings } = await harness.verify();
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
    verdict.equal(await harness.signed(), before, 'events under the newest head');
    verdict.none('deliveries of forged events', await deliveriesOf(harness, forged));
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
    // A payout without an outcome is received, by the evidence of another one.
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
    const created = pick('order.created');
    ({ stream, metadata } = created);
    type = 'order.processing_started.v1';
    subject = stream.slice('order-'.length);
    const at = '2026-01-01T00:00:00.000Z';
    const { merchant_id, key_id } = JSON.parse(created.data) as Record<'merchant_id' | 'key_id', string>;
    const exchanged = { order_id: subject, amount_from: '9', amount_to: '9', refundable: '1', at };
    data = JSON.stringify({
      ...exchanged,
      merchant_id,
      key_id,
      status: 'processing',
      amount_refundable: '1',
    });
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
  const ids = forged.flatMap(({ id }) =>
    endpoints.flatMap((each) => EVENT_TYPES.map((type) => deliveryId(id, each.endpoint_id, type))),
  );
  return (
    await db.query<object>('select * from webhooks.deliveries where delivery_id = any($1::uuid[])', [ids])
  ).rows;
}

/** The facts that forged events would change. */
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
