import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { toKeyId, newKeyPair, signText } from '../../../../src/contexts/audit/ledger/ledger-keys.commands.js';
import { hashOfEvent } from '../../../../src/contexts/audit/ledger/event-leaf.js';
import { describeFinding, type LedgerFinding } from '../../../../src/contexts/audit/verify/findings.js';
import { MerkleTree } from '../../../../src/contexts/audit/ledger/merkle-tree.js';
import { hashOfHead, headText, type SignedHead } from '../../../../src/contexts/audit/ledger/signed-head.js';
import { PostgresEventStore } from '../../../../src/platform/event-store/postgres/postgres-event-store.js';
import { invoke } from '../../../support/programs/cli.js';
import type { Random } from '../random.js';
import type { Group, StoredRow, Verified } from './tampering-harness.js';

const EVENTS = 'event_store.events';

interface Scene {
  readonly db: pg.Client;
  readonly random: Random;
  readonly events: readonly StoredRow[];
  readonly heads: readonly SignedHead[];
}

/** Changes the log. Returns the number of unchanged events at its beginning. */
type Change = (scene: Scene) => Promise<number>;
/** Rebuilds the ledger after `same` unchanged events. Returns a predicate of the expected finding. */
type Cover = (scene: Scene, same: number) => Promise<(finding: LedgerFinding) => boolean>;

const CHANGES: Readonly<Record<string, Change>> = {
  async 'amount forged'({ db, random, events }) {
    const payout = random.pick(events.filter(({ type }) => type === 'payout.reported.v1'));
    const { payout_id: id, amount } = JSON.parse(payout.data) as { payout_id: string; amount: string };
    const forged = (column: string): string =>
      `${column} = replace(${column}, '"amount":"${amount}"', '"amount":"9${amount}"')`;
    await db.query(
      `update ${EVENTS} set ${forged('data')} where stream = '${payout.stream}';
       update payouts.payouts set amount_minor = amount_minor + 90000000, ${forged('body')} where id = '${id}';
       update payouts.balances set confirmed = confirmed + 90000000
       where user_id = (select user_id from payouts.payouts where id = '${id}')`,
    );
    return events.indexOf(payout);
  },
  async 'event deleted'({ db, random, events }) {
    const index = random.below(events.length - 1);
    await db.query(`delete from ${EVENTS} where position = $1`, [events[index]!.position]);
    return index;
  },
  async 'events swapped'({ db, random, events }) {
    const index = random.below(events.length - 1);
    const [one, other] = [events[index]!, events[index + 1 + random.below(events.length - index - 1)]!];
    await db.query(
      `update ${EVENTS} set position = -1 where position = ${one.position};
       update ${EVENTS} set position = ${one.position} where position = ${other.position};
       update ${EVENTS} set position = ${other.position} where position = -1`,
    );
    return index;
  },
  async 'events renumbered'({ db, random, events }) {
    const index = random.below(events.length);
    await db.query(`update ${EVENTS} set position = position + 1000000 where position >= $1`, [
      events[index]!.position,
    ]);
    return index;
  },
};

const COVERS: Readonly<Record<string, Cover>> = {
  async 'heads as they were'({ db }, same) {
    await rebuild(db);
    return (finding) =>
      finding.kind === 'truncated' ||
      (finding.kind === 'rewritten' && finding.since <= same && same < finding.size);
  },
  async 'heads with new roots and old signatures'({ db, heads }, same) {
    await rebuild(db, heads);
    return (finding) => finding.kind === 'head' && finding.size > same;
  },
  async "heads signed with a forger's key"({ db, heads }) {
    const { publicKey, privateKey } = newKeyPair();
    const id = toKeyId(publicKey);
    await db.query('update audit.signing_keys set key_id = $1, public_key = $2', [id, publicKey]);
    await rebuild(db, heads, { id, privateKey });
    return ({ kind }) => kind === 'key';
  },
};
const AUDITORS = ['with the master key', 'with the public key'] as const;

interface Tampering {
  readonly name: string;
  readonly auditor: (typeof AUDITORS)[number] | 'with a retained head';
  /** Returns whether a report names the tampering. */
  readonly tamper: (scene: Scene) => Promise<(report: Verified) => boolean>;
}

const found =
  (isNamed: (finding: LedgerFinding) => boolean) =>
  ({ findings }: Verified): boolean =>
    findings.some(isNamed);

const FORGERIES = Object.entries(CHANGES).flatMap(([changed, change]) =>
  Object.entries(COVERS).flatMap(([covered, cover]) =>
    AUDITORS.map((auditor): Tampering => {
      const tamper: Tampering['tamper'] = async (scene) => found(await cover(scene, await change(scene)));
      return { name: `${changed}, ${covered}, ${auditor}`, auditor, tamper };
    }),
  ),
);

const CUTS: readonly Tampering[] = [
  {
    name: 'log cut',
    auditor: 'with the master key',
    async tamper({ db, random, events }) {
      await cut(db, random.below(events.length - 1), events);
      return ({ missing }) => missing !== null;
    },
  },
  {
    name: 'log and checkpoints cut',
    auditor: 'with the master key',
    async tamper({ db, random, events }) {
      const size = 1 + random.below(events.length - 1);
      await cut(db, size, events);
      await cutCheckpoints(db);
      return found((finding) => finding.kind === 'truncated' && finding.events === size);
    },
  },
  /** The log, its leaves and its heads end earlier, which is a valid, shorter ledger. */
  {
    name: 'log and ledger cut back to an older head',
    auditor: 'with a retained head',
    async tamper({ db, random, events, heads }) {
      const { size } = random.pick(heads.slice(0, -1));
      await cut(db, size, events);
      await cutCheckpoints(db);
      await db.query('delete from audit.heads where size > $1', [size]);
      await rebuild(db);
      return found((finding) => finding.kind === 'truncated' && finding.size === heads.at(-1)!.size);
    },
  },
  {
    name: 'byte of a leaf changed',
    auditor: 'with the master key',
    async tamper({ db, random, events }) {
      await db.query(
        `update audit.leaves set hashes = set_byte(hashes, $2, get_byte(hashes, $2) # $3) where index = $1`,
        [random.below(events.length), random.below(32), 1 + random.below(255)],
      );
      return found(({ kind }) => kind === 'ledger');
    },
  },
];
const TAMPERINGS = [...FORGERIES, ...CUTS];

/** The whole log is cut or rewritten together with the ledger, each time in a copy of the database. */
export const wholeLog: Group = {
  percent: 10,
  atOnce: TAMPERINGS.length,
  async run(harness, random, count) {
    const { verdict, shared } = harness;
    const tamperings = random.deal(TAMPERINGS, count);
    const headsFile = join(shared.environment.dir, 'heads');
    const keyFile = join(shared.environment.dir, 'key');
    const options = {
      'with the master key': [],
      'with a retained head': ['--head', headsFile],
      'with the public key': ['--key', keyFile],
    };
    const { events, heads } = await harness.withCopy(async (db, DATABASE_URL) => {
      const { printed } = await invoke('audit', { DATABASE_URL }, 'heads');
      const key = (await invoke('audit', { DATABASE_URL }, 'key')).printed;
      writeFileSync(headsFile, printed);
      writeFileSync(keyFile, key.slice(key.indexOf('-----BEGIN')));
      const lines = printed.trim().split('\n');
      return { events: await harness.events(db), heads: lines.map((line) => JSON.parse(line) as SignedHead) };
    });
    for (const { name, auditor, tamper } of tamperings)
      await harness.withCopy(async (db, url) => {
        // Disables foreign keys.
        await db.query('set session_replication_role = replica');
        const isNamed = await tamper({ db, random, events, heads });
        const masterKey = auditor === 'with the public key' ? null : undefined;
        const report = await harness.verify(url, options[auditor], masterKey);
        verdict.equal(report.exitCode, 2, `exit code of verify: ${name}`);
        verdict.expect(
          isNamed(report),
          `named: ${name}`,
          report.missing ?? report.findings.map(describeFinding),
        );
      });
    return tamperings.map(({ name }) => name);
  },
};

async function cut(db: pg.Client, size: number, events: readonly StoredRow[]): Promise<void> {
  await db.query(`delete from ${EVENTS} where position >= $1`, [events[size]!.position]);
}

/** Resets checkpoints beyond the end of the log. */
async function cutCheckpoints(db: pg.Client): Promise<void> {
  await db.query(
    `update event_store.checkpoints set position = (select max(position)::text from ${EVENTS})
     where position::bigint > (select max(position) from ${EVENTS})`,
  );
}

/** Rebuilds leaves and frontier over the present log, and `heads` over the new roots, signed by `key`. */
async function rebuild(
  db: pg.Client,
  heads: readonly SignedHead[] = [],
  key?: { readonly id: string; readonly privateKey: Buffer },
): Promise<void> {
  const events = await new PostgresEventStore(db as unknown as pg.Pool).readAll(null, 100_000);
  const tree = new MerkleTree();
  const roots: string[] = [];
  await db.query('delete from audit.leaves');
  for (const [index, event] of events.entries()) {
    const hashes = Buffer.concat(tree.append(hashOfEvent(event)));
    await db.query('insert into audit.leaves values ($1, $2, $3)', [index, event.position, hashes]);
    roots.push(tree.root.toString('hex'));
  }
  await db.query(
    'update audit.ledger set size = $1, peaks = $2, position = (select max(position) from audit.leaves)',
    [tree.size, tree.peakBytes],
  );
  let previous: string | null = null;
  for (const former of heads) {
    const size = Math.min(former.size, tree.size);
    let head = { ...former, size, root: roots[size - 1]!, position: events[size - 1]!.position };
    if (key !== undefined) {
      head = { ...head, key_id: key.id, previous };
      head = { ...head, signature: signText(headText(head), key.privateKey) };
      previous = hashOfHead(head);
    }
    // The last head may cover as many events as the previous one after a deletion.
    if (size < former.size) await db.query('delete from audit.heads where size = $1', [size]);
    await db.query(
      `update audit.heads set size = $2, root = decode($3, 'hex'), position = $4, key_id = $5,
         previous = decode($6, 'hex'), signature = decode($7, 'hex') where size = $1`,
      [former.size, size, head.root, head.position, head.key_id, head.previous, head.signature],
    );
  }
}
