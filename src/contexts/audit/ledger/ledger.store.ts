import { Inject, Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { Database } from '../../../platform/postgres/database.js';
import type { Macs } from '../../../platform/event-store/authentic-event-store.js';
import { LedgerTampered } from './signed-head.js';
import { HASH_BYTES, joinedRoot, MerkleTree, lastLeafOf, type Range, toSubtrees } from './merkle-tree.js';

export interface LedgerState {
  readonly logId: string;
  readonly tree: MerkleTree;
  readonly position: string;
  /** The MAC over the other members. */
  readonly mac: string;
}

export interface Leaf {
  readonly index: number;
  readonly position: string;
  readonly hash: Buffer;
  /** The roots of the subtrees that this leaf completes, smallest first, without the leaf itself. */
  readonly completed: Buffer;
}

interface StateRow {
  readonly log_id: string;
  readonly size: string;
  readonly position: string;
  readonly peaks: Buffer;
  readonly mac: string;
}

const STATE = 'select log_id, size, position, peaks, mac from audit.ledger';
const PURPOSE = 'ledger';

export function isAuthenticState(state: LedgerState, macs: Pick<Macs, 'isAuthentic'>): boolean {
  return macs.isAuthentic(PURPOSE, toText(state), state.mac);
}

function toText({ logId, tree, position }: Omit<LedgerState, 'mac'>): string {
  return JSON.stringify([logId, tree.size, position, tree.peakBytes.toString('hex')]);
}

/** Creates the row of an empty ledger. The follower must not, because a missing row means a deletion. */
export async function beginLedger(tx: Pick<PoolClient, 'query'>, logId: string, macs: Macs): Promise<void> {
  const empty = { logId, tree: new MerkleTree(), position: '-1' };
  await tx.query(
    `insert into audit.ledger (log_id, size, position, peaks, mac) values ($1, 0, $2, $3, $4) on conflict do nothing`,
    [logId, empty.position, empty.tree.peakBytes, macs.mac(PURPOSE, toText(empty))],
  );
}

/** The Merkle tree over the log, in `audit.leaves` and `audit.ledger`. */
@Injectable()
export class Ledger {
  constructor(@Inject(Database) private readonly database: Pick<Database, 'query'>) {}

  async state(): Promise<LedgerState | null> {
    const [row] = await this.database.query<StateRow>(`${STATE} where size > 0`);
    return row === undefined ? null : toState(row);
  }

  /** Reads the positions of the last leaf and of the leaf before it (`after`); null for an empty ledger. */
  async last(): Promise<{ readonly position: string; readonly after: string | null } | null> {
    const [row] = await this.database.query<{ position: string; after: string | null }>(
      `select l.position, b.position as after from audit.ledger l
       left join audit.leaves b on b.index = l.size - 2 where l.size > 0`,
    );
    return row ?? null;
  }

  /** Finds the indexes of events in the tree by binary search; null for an event that has no leaf. */
  async indexes(positions: readonly string[]): Promise<readonly (number | null)[]> {
    const rows = await this.database.query<{ index: number | null }>(
      `with recursive halves(place, position, low, high) as (
         select p.place, p.position, 0::bigint, l.size - 1
         from unnest($1::bigint[]) with ordinality p(position, place) cross join audit.ledger l
         union all
         select h.place, h.position,
           case when m.position < h.position then m.index + 1 else h.low end,
           case when m.position < h.position then h.high else m.index end
         from halves h join audit.leaves m on m.index = (h.low + h.high) / 2
         where h.low < h.high
       )
       select l.index::float8 as index from unnest($1::bigint[]) with ordinality p(position, place)
       left join halves h on h.place = p.place and h.low = h.high
       left join audit.leaves l on l.index = h.low and l.position = p.position
       order by p.place`,
      [positions],
    );
    return rows.map(({ index }) => index);
  }

  /** Computes the root over each range of a proof. Throws when the ledger lacks leaves. */
  async path(ranges: readonly Range[]): Promise<readonly Buffer[]> {
    const parts = ranges.map(toSubtrees);
    const subtrees = parts.flat();
    const rows = await this.database.query<{ hash: Buffer | null }>(
      `select substring(l.hashes from 1 + ${HASH_BYTES} * w.level for ${HASH_BYTES}) as hash
       from unnest($1::bigint[], $2::int[]) with ordinality w(index, level, place)
       left join audit.leaves l using (index) order by w.place`,
      [subtrees.map(lastLeafOf), subtrees.map(({ level }) => level)],
    );
    const hashes = rows.map(({ hash }, place) => {
      if (hash?.length === HASH_BYTES) return hash;
      throw new Error(`audit.leaves lacks the subtree ${JSON.stringify(subtrees[place])}`);
    });
    let place = 0;
    return parts.map(({ length }) => joinedRoot(hashes.slice(place, (place += length))));
  }

  async leaves(index: number, limit: number): Promise<readonly Leaf[]> {
    return this.database.query<Leaf>(
      `select l.index::float8 as index, l.position, substring(l.hashes for ${HASH_BYTES}) as hash,
         substring(l.hashes from 1 + ${HASH_BYTES}) as completed
       from audit.leaves l where l.index >= $1 order by l.index limit $2`,
      [index, limit],
    );
  }
}

/** Adds leaves. Throws {@link LedgerTampered} if the state is forged, of another log or below `signed`. */
export async function extendLedger(
  tx: PoolClient,
  macs: Macs,
  { logId, signed = 0 }: { readonly logId: string; readonly signed?: number | undefined },
  leaves: readonly Pick<Leaf, 'position' | 'hash'>[],
): Promise<void> {
  const { rows } = await tx.query<StateRow>({ name: 'audit.ledger_state', text: `${STATE} for update` });
  if (rows[0] === undefined) throw new LedgerTampered('audit.ledger was emptied');
  const state = toState(rows[0]);
  if (!isAuthenticState(state, macs))
    throw new LedgerTampered('the row of audit.ledger was not written by the service');
  const { tree } = state;
  const { size } = tree;
  if (size < signed) throw new LedgerTampered(`the ledger went back to ${size} of ${signed} signed events`);
  if (state.logId !== logId) {
    throw new LedgerTampered(
      `the ledger is of the log ${state.logId}, and the event store holds ${logId}: a new log needs an empty schema audit`,
    );
  }
  const fresh = leaves.filter(({ position }) => BigInt(position) > BigInt(state.position));
  const hashes = fresh.map(({ hash }) => Buffer.concat(tree.append(hash)));
  const position = fresh.at(-1)?.position ?? state.position;
  let stop = 1;
  const stops = hashes.map(({ length }) => (stop += length));
  // One parameter has the bytes of all leaves, because an array of byte strings would be sent as text.
  await tx.query({
    name: 'audit.extend',
    text: `with added as (
        insert into audit.leaves (index, position, hashes)
        select $5::bigint + n.place - 1, n.position, substring($6::bytea from n.start for n.stop - n.start)
        from unnest($7::bigint[], $8::int[], $9::int[]) with ordinality n(position, start, stop, place)
      )
      update audit.ledger set size = $1, position = $2, peaks = $3, mac = $4`,
    values: [
      tree.size,
      position,
      tree.peakBytes,
      macs.mac(PURPOSE, toText({ logId, tree, position })),
      size,
      Buffer.concat(hashes),
      fresh.map((leaf) => leaf.position),
      [1, ...stops.slice(0, -1)],
      stops,
    ],
  });
}

function toState({ log_id, size, position, peaks, mac }: StateRow): LedgerState {
  return { logId: log_id, tree: toTree(Number(size), peaks), position, mac };
}

function toTree(size: number, peaks: Buffer): MerkleTree {
  try {
    return new MerkleTree(size, peaks);
  } catch (error) {
    throw new LedgerTampered('the row of audit.ledger was not written by the service', { cause: error });
  }
}
