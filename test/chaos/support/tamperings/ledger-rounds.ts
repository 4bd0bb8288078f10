import { eventually } from '../../../../bench/support/wait.js';
import { describeFinding } from '../../../../src/contexts/audit/domain/findings.js';
import { MerkleTree } from '../../../../src/contexts/audit/domain/merkle-tree.js';
import type { Random } from '../random.js';
import type { Group, TamperingHarness } from './tampering-harness.js';

const EVENTS = 'event_store.events';
const TABLES = ['signing_keys', 'heads', 'last_head', 'leaves', 'ledger'] as const;

/** Copies the ledger into temporary tables. */
const saved = (name: string): string =>
  TABLES.map((table) => `create temp table ${name}_${table} as table audit.${table}`).join(';');
const restored = (name: string): string =>
  `${TABLES.map((table) => `delete from audit.${table}; insert into audit.${table} table ${name}_${table}`).join(';')};
   update event_store.checkpoints set position = (select position::text from audit.ledger) where name = 'audit.ledger'`;
const dropped = (name: string): string =>
  `drop table ${TABLES.map((table) => `${name}_${table}`).join(', ')}`;

type LedgerTampering = (harness: TamperingHarness, random: Random) => Promise<unknown>;

const emptied =
  (...tables: readonly string[]): LedgerTampering =>
  (harness) =>
    harness.change(`truncate ${tables.map((table) => `audit.${table}`).join(', ')} cascade`);
const lastHead =
  (change: string): LedgerTampering =>
  ({ db }) =>
    db.query(`update audit.last_head set ${change}`);

const LEDGER: Readonly<Record<string, LedgerTampering>> = {
  'frontier over a forged event': async ({ db }, random) => {
    const { rows } = await db.query<{ size: string; peaks: Buffer }>('select size, peaks from audit.ledger');
    const tree = new MerkleTree(Number(rows[0]!.size), rows[0]!.peaks);
    tree.append(random.bytes(32));
    await db.query('update audit.ledger set size = $1, peaks = $2', [tree.size, tree.peakBytes]);
  },
  'cut back to an older head, and the events behind it rewritten': (harness) =>
    harness.change(
      `${restored('older')};
       update ${EVENTS} set data = replace(data, '"', '" ') || ' ', metadata = '{}'
       where position > (select position from audit.ledger)`,
    ),
  ...Object.fromEntries(TABLES.map((table) => [`${table} emptied`, emptied(table)])),
  'all emptied': emptied(...TABLES),
  'size of the last head': lastHead('size = size - 1'),
  'hash of the last head': lastHead(`hash = repeat('0', 64)`),
  'MAC of the last head': lastHead('mac = (select mac from audit.ledger)'),
  'last heads deleted': ({ db }, random) =>
    db.query(
      `delete from audit.heads
       where size in (select size from audit.heads order by size desc limit ${1 + random.below(3)})`,
    ),
};

/**
 * The tables of the ledger are changed, and an event is written meanwhile. The running signer signs nothing until they
 * are restored, and the service is not ready.
 */
export const ledgerTables: Group = {
  percent: 4,
  stops: true,
  atOnce: Object.keys(LEDGER).length,
  async run(harness, random, count) {
    const { db, verdict } = harness;
    const kinds = random.deal(Object.keys(LEDGER), count);
    await db.query(saved('older'));
    for (const kind of kinds) {
      await harness.works();
      const before = await harness.signed();
      await db.query(`create temp table recorded as table ${EVENTS}; ${saved('newest')}`);
      await LEDGER[kind]!(harness, random);
      await harness.write();
      await eventually(`the ledger is not ready: ${kind}`, async () =>
        /"ledger":\{"status":"unavailable"/.test((await harness.readiness()).text),
      );
      await harness.ticks();
      const { rows } = await db.query<object>('select size from audit.heads where size > $1', [before]);
      verdict.none(rows, `heads signed meanwhile: ${kind}`);
      const { findings } = await harness.verify();
      verdict.expect(
        findings.some((each) => ['ledger', 'head', 'truncated', 'forged'].includes(each.kind)),
        `named: ${kind}`,
        findings.map(describeFinding),
      );
      await harness.change(
        `${restored('newest')}; ${dropped('newest')};
         delete from ${EVENTS} where position in (select position from recorded);
         insert into ${EVENTS} table recorded; drop table recorded`,
      );
    }
    await db.query(dropped('older'));
    return kinds;
  },
};
