import type pg from 'pg';
import { keyIdOf, newKeyPair, signText } from '../../../../src/contexts/audit/application/ledger-keys.js';
import { hashOfEvent } from '../../../../src/contexts/audit/domain/event-leaf.js';
import { describeFinding } from '../../../../src/contexts/audit/domain/findings.js';
import { MerkleTree } from '../../../../src/contexts/audit/domain/merkle-tree.js';
import { hashOfHead, headText } from '../../../../src/contexts/audit/domain/signed-head.js';
import { PostgresEventStore } from '../../../../src/platform/event-store/postgres/postgres-event-store.js';
import type { Group } from './tampering-harness.js';
import { PLAIN, type Scene, type Tampering } from './tampering.js';

/**
 * The amount of a payout grows in its events, in its row and in the balance, and every table of the ledger is rebuilt to match:
 * leaves, subtrees, frontier, roots of heads. All of this works without the master key.
 */
const forge: Tampering = async (scene) => {
  const { tx, events, random } = scene;
  const payouts = events.filter(({ type }) => type === 'payout.reported.v1');
  const { stream, position, data } = random.pick(payouts);
  const { payout_id: id, amount } = JSON.parse(data) as { payout_id: string; amount: string };
  await tx.query(`update event_store.events set data = replace(data, $2, $3) where stream = $1`, [
    stream,
    `"amount":"${amount}"`,
    `"amount":"9${amount}"`,
  ]);
  await tx.query(
    `update payouts.payouts set amount_minor = amount_minor + 90000000, body = replace(body, $2, $3) where id = $1`,
    [id, `"amount":"${amount}"`, `"amount":"9${amount}"`],
  );
  await tx.query(
    `update payouts.balances set confirmed = confirmed + 90000000 where user_id = (select user_id from payouts.payouts where id = $1)`,
    [id],
  );
  const what = `amount of payout ${id} forged in events, views and ledger`;
  const index = events.findIndex((event) => event.position === position);
  switch (random.below(3)) {
    case 0:
      await rewriteLedger(scene);
      return {
        what: `${what}, heads as they were`,
        isNamed: (findings) =>
          findings.some(
            (finding) => finding.kind === 'rewritten' && finding.since <= index && index < finding.size,
          ),
      };
    case 1:
      await rewriteLedger(scene);
      await rewriteHeads(tx, null);
      return {
        what: `${what}, heads with the new roots and the old signatures`,
        isNamed: (findings) => findings.some(({ kind }) => kind === 'head'),
      };
    default: {
      await rewriteLedger(scene);
      const key = await replaceKey(tx);
      await rewriteHeads(tx, key);
      return {
        what: `${what}, heads signed with a key of the forger's`,
        isNamed: (findings) => findings.some(({ kind }) => kind === 'key'),
        ...(random.chance(0.5) ? { needs: 'key' as const } : {}),
      };
    }
  }
};

/** The log, its leaves and its heads end where they once ended: a sound ledger, only shorter. */
const rollBack: Tampering = async ({ tx, events, random }) => {
  const { rows } = await tx.query<{ size: string; position: string }>(
    'select size, position from audit.heads order by size desc offset 1',
  );
  const head = random.pick(rows);
  await tx.query('delete from event_store.events where position > $1', [head.position]);
  await tx.query('delete from audit.leaves where index >= $1', [head.size]);
  await tx.query('delete from audit.heads where size > $1', [head.size]);
  await saveFrontier(tx, await treeOf(tx), head.position);
  return {
    what: `log and ledger cut from ${events.length} events to ${head.size}`,
    needs: 'head',
    isNamed: (findings) => findings.some(({ kind }) => kind === 'truncated'),
  };
};

/** Rows of the ledger alone are changed: the log is what it was. */
const spoil: Tampering = async ({ tx, random }) => {
  const { rows } = await tx.query<{ index: string; bytes: number }>(
    'select index, octet_length(hashes) as bytes from audit.leaves order by index',
  );
  const { index, bytes } = random.pick(rows);
  const place = random.below(bytes);
  await tx.query(
    'update audit.leaves set hashes = set_byte(hashes, $2, get_byte(hashes, $2) # $3) where index = $1',
    [index, place, 1 + random.below(255)],
  );
  return {
    what: `byte ${place} of leaf ${index} changed`,
    isNamed: (findings) => findings.every(({ kind }) => kind === 'ledger'),
  };
};

const KINDS = Object.entries({ forge, rollBack, spoil, truncate: PLAIN['truncate']! });

/** The whole log is cut or rewritten together with the ledger, each time in a transaction that is rolled back. */
export const wholeLog: Group = {
  percent: 12,
  atOnce: 20,
  async run(harness, random, count) {
    const { db, key } = harness;
    const events = await harness.events();
    const newest = await harness.newestHead();
    const done: string[] = [];
    for (let number = 0; done.length < count; number += 1) {
      const [name, tamper] = KINDS[number % KINDS.length]!;
      await db.query('begin');
      const tampering = await tamper({ tx: db, events, random });
      if (tampering !== null) {
        const { needs, what, isNamed } = tampering;
        const { findings } = await harness.check(
          needs === 'head' ? { heads: [newest] } : needs === 'key' ? { key, sealer: null } : {},
        );
        harness.verdict.expect(isNamed(findings), `named: ${what}`, findings.map(describeFinding).join('; '));
        done.push(name);
      }
      await db.query('rollback');
    }
    return done;
  },
};

async function rewriteLedger({ tx }: Scene): Promise<void> {
  const tree = await treeOf(tx, async (index, hashes) => {
    await tx.query('update audit.leaves set hashes = $2 where index = $1', [index, hashes]);
  });
  const { rows } = await tx.query<{ position: string }>('select position from audit.ledger');
  await saveFrontier(tx, tree, rows[0]!.position);
}

async function treeOf(
  tx: pg.ClientBase,
  onLeaf: (index: number, hashes: Buffer) => Promise<void> = async () => undefined,
): Promise<MerkleTree> {
  const tree = new MerkleTree();
  const { rows } = await tx.query<{ hash: Buffer }>(
    'select substring(hashes for 32) as hash from audit.leaves order by index',
  );
  const events = await new PostgresEventStore(tx as unknown as pg.Pool).readAll(null, 100_000);
  for (const [index, event] of events.slice(0, rows.length).entries()) {
    const hash = hashOfEvent(event);
    const size = tree.size;
    const completed = tree.append(hash);
    // Those before the first change are what they were; from there on each may differ.
    if (!rows[index]!.hash.equals(hash) || completed.length > 1) await onLeaf(size, Buffer.concat(completed));
  }
  return tree;
}

async function saveFrontier(tx: pg.ClientBase, tree: MerkleTree, position: string): Promise<void> {
  await tx.query('update audit.ledger set size = $1, peaks = $2, position = $3', [
    tree.size,
    tree.peakBytes,
    position,
  ]);
}

/** Gives the only row of the keys another key. */
async function replaceKey(tx: pg.ClientBase): Promise<{ readonly id: string; readonly privateKey: Buffer }> {
  const { publicKey, privateKey } = newKeyPair();
  const id = keyIdOf(publicKey);
  await tx.query('alter table audit.heads drop constraint heads_key_id_fkey');
  await tx.query('update audit.signing_keys set key_id = $1, public_key = $2', [id, publicKey]);
  return { id, privateKey };
}

async function rewriteHeads(
  tx: pg.ClientBase,
  key: { readonly id: string; readonly privateKey: Buffer } | null,
): Promise<void> {
  const tree = new MerkleTree();
  const leaves = await tx.query<{ hash: Buffer }>(
    'select substring(hashes for 32) as hash from audit.leaves order by index',
  );
  const { rows } = await tx.query<{ size: string; position: string; signed_at: Date; log_id: string }>(
    'select h.size, h.position, h.signed_at, l.log_id from audit.heads h cross join audit.ledger l order by h.size',
  );
  let previous: string | null = null;
  for (const { size, position, signed_at, log_id } of rows) {
    while (tree.size < Number(size)) tree.append(leaves.rows[tree.size]!.hash);
    const root = tree.root.toString('hex');
    if (key === null) {
      await tx.query('update audit.heads set root = $2 where size = $1', [size, tree.root]);
      continue;
    }
    const head = {
      log_id,
      size: Number(size),
      root,
      position,
      signed_at: signed_at.toISOString(),
      key_id: key.id,
      previous,
    };
    const signature = signText(headText(head), key.privateKey);
    await tx.query(
      `update audit.heads set root = $2, key_id = $3, signature = decode($4, 'hex'), previous = decode($5, 'hex')
       where size = $1`,
      [size, tree.root, key.id, signature, previous],
    );
    previous = hashOfHead({ ...head, signature });
  }
}
