import { eventually } from '../../../../bench/support/wait.js';
import { describeFinding } from '../../../../src/contexts/audit/domain/findings.js';
import { MerkleTree } from '../../../../src/contexts/audit/domain/merkle-tree.js';
import type { Random } from '../random.js';
import type { Group, TamperingHarness } from './tampering-harness.js';

const TABLES = ['signing_keys', 'heads', 'last_head', 'leaves', 'ledger'] as const;
const SAVED = TABLES.map((table) => `create temp table saved_${table} as table audit.${table}`).join(';');

type LedgerTampering = (harness: TamperingHarness, random: Random) => Promise<string>;

/** An unsigned hash becomes a leaf of the frontier. */
const frontier: LedgerTampering = async ({ db }, random) => {
  const { rows } = await db.query<{ size: string; peaks: Buffer }>('select size, peaks from audit.ledger');
  const tree = new MerkleTree(Number(rows[0]!.size), rows[0]!.peaks);
  tree.append(random.bytes(32));
  await db.query('update audit.ledger set size = $1, peaks = $2', [tree.size, tree.peakBytes]);
  return 'frontier over a forged event';
};

/** Log, leaves and heads end at an older head, with the rows of that time, and the events behind it are others. */
const cutBack: LedgerTampering = async (harness) => {
  const { db } = harness;
  const { rows } = await db.query<{ size: string; position: string }>(
    'select size, position from older_ledger',
  );
  const { size, position } = rows[0]!;
  await harness.change(
    `delete from audit.heads where size > ${size}; delete from audit.leaves where index >= ${size};
     delete from audit.ledger; insert into audit.ledger table older_ledger;
     delete from audit.last_head; insert into audit.last_head table older_last_head;
     update event_store.checkpoints set position = '${position}' where name = 'audit.ledger';
     update event_store.events set data = replace(data, '"', '" ') || ' ', metadata = '{}' where position > ${position}`,
  );
  return `ledger cut back to ${size} events, and those behind it rewritten`;
};

const emptied: LedgerTampering = async (harness, random) => {
  const table = random.pick([...TABLES, 'all']);
  const names = table === 'all' ? TABLES : [table];
  await harness.change(`truncate ${names.map((name) => `audit.${name}`).join(', ')} cascade`);
  return `emptied: ${names.join(', ')}`;
};

const lastHead: LedgerTampering = async ({ db }, random) => {
  const [change, what] = random.pick([
    ['size = size - 1', 'size'],
    [`hash = repeat('0', 64)`, 'hash'],
    [`mac = (select mac from audit.ledger)`, 'MAC'],
  ] as const);
  await db.query(`update audit.last_head set ${change}`);
  return `${what} of the row that names the last head`;
};

const lastHeads: LedgerTampering = async ({ db }, random) => {
  const count = 1 + random.below(3);
  await db.query(
    `delete from audit.heads where size in (select size from audit.heads order by size desc limit ${count})`,
  );
  return `the last ${count} heads deleted`;
};

const LEDGER = { frontier, cutBack, emptied, lastHead, lastHeads };

/**
 * The tables of the ledger are changed, and an event is written meanwhile: the running signer signs nothing until they are
 * as they were, and the service is not ready.
 */
export const ledgerTables: Group = {
  percent: 1,
  stops: true,
  atOnce: 1,
  async run(harness, random) {
    const { db, verdict } = harness;
    const before = await harness.newestHead();
    const name = random.pick(Object.keys(LEDGER) as (keyof typeof LEDGER)[]);
    await db.query(`create temp table recorded as table event_store.events; ${SAVED}`);
    const signed = async (): Promise<readonly object[]> =>
      (await db.query<object>('select size from audit.heads where size > $1', [before.size])).rows;
    const what = await LEDGER[name](harness, random);
    await harness.write();
    await eventually(`the ledger is not ready: ${what}`, async () => {
      const { text } = await harness.readiness();
      return /"ledger":\{"status":"unavailable"/.test(text);
    });
    await harness.ticks();
    verdict.none(await signed(), `heads signed meanwhile: ${what}`);
    const { findings } = await harness.check();
    verdict.expect(
      findings.some(({ kind }) => ['ledger', 'head', 'truncated', 'forged'].includes(kind)),
      `named: ${what}`,
      findings.map(describeFinding),
    );
    await harness.change(
      `${TABLES.filter((table) => table !== 'leaves')
        .map((table) => `delete from audit.${table}; insert into audit.${table} table saved_${table};`)
        .join('')}
       delete from audit.leaves where index >= (select size from audit.ledger);
       insert into audit.leaves table saved_leaves on conflict do nothing;
       delete from event_store.events where position in (select position from recorded);
       insert into event_store.events table recorded;
       update event_store.checkpoints set position = (select position::text from audit.ledger) where name = 'audit.ledger'`,
    );
    await db.query(`drop table recorded, ${TABLES.map((table) => `saved_${table}`).join(', ')}`);
    return [name];
  },
};
