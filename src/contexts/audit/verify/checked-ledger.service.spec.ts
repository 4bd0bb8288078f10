import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { listOf, signedHead, signer, stored as tableOf } from '../../../../test/support/audit/signed-log.js';
import { withMac } from '../../../platform/event-store/authentic-event-store.js';
import { Sealer } from '../../../platform/sealing/sealer.js';
import type { LeafEvent } from '../ledger/event-leaf.js';
import { MerkleTree } from '../ledger/merkle-tree.js';
import { hashOfHead, type HeadExtent, type SignedHead } from '../ledger/signed-head.js';
import type { Heads, SigningKeys } from '../ledger/heads.store.js';
import type { Ledger, LedgerState } from '../ledger/ledger.store.js';
import { type AuditorInputs, currentLedger } from './checked-ledger.service.js';

const sealer = new Sealer(randomBytes(32));
const key = signer(null);
const headOf = (size: number, root = 'ab'): SignedHead => signedHead(key, { size, root });
const tree = new MerkleTree();
tree.append(randomBytes(32));
const mac = sealer.mac('ledger', JSON.stringify(['l', 1, '7', tree.peakBytes.toString('hex')]));
const STATE: LedgerState = { logId: 'l', tree, position: '7', mac };

interface Stored {
  readonly heads?: readonly SignedHead[];
  readonly state?: LedgerState | null;
  readonly last?: HeadExtent | null;
}

async function atHand(
  { heads = [], state = STATE, last = { size: 0, hash: '' } }: Stored,
  inputs: Partial<AuditorInputs> = {},
) {
  const stored = {
    ledger: { state: async () => state, leaves: async (from: number, limit: number) => [from, limit] },
    heads: {
      // A later head.
      newest: async () => heads.at(-2) ?? heads.at(-1) ?? null,
      all: ({ upTo }: { upTo: number }) => tableOf(heads.filter((head) => head.size <= upTo)),
      find: async ({ hash }: HeadExtent) => heads.find((head) => hashOfHead(head) === hash) ?? null,
      lastSigned: async () => last,
    },
    keys: { all: async () => [key] },
  } as unknown as { readonly ledger: Ledger; readonly heads: Heads; readonly keys: SigningKeys };
  return currentLedger(stored, 'l', { heads: [], key: null, sealer: null, ...inputs });
}

const sizes = async (heads: AsyncIterable<SignedHead>): Promise<readonly number[]> =>
  (await listOf(heads)).map(({ size }) => size);

describe('the ledger that a log is compared with', () => {
  const heads = [1, 2, 3, 4, 5].map((size) => headOf(size));

  it('includes the heads that existed before the check', async () => {
    const { heads: read, leaves } = await atHand({ heads });
    expect(await sizes(read)).toEqual([1, 2, 3, 4]);
    expect(await leaves(3, 4)).toEqual([3, 4]);
    expect(await sizes((await atHand({})).heads)).toEqual([]);
  });

  it('includes the heads that an auditor retained, in order and each once', async () => {
    const kept = [headOf(9), headOf(3, 'cd'), heads[1]!, headOf(3, 'cd')];
    expect(await sizes((await atHand({ heads }, { heads: kept })).heads)).toEqual([1, 2, 3, 3, 4, 9]);
  });

  it('recognises the events that the service did not write, even if the key ring changes during the check', async () => {
    const place = { stream: 's', revision: 0, position: '1', recordedAt: new Date(0) };
    const event = { id: 'e', type: 't', data: { n: 1 }, metadata: {} };
    const own: LeafEvent = { ...withMac(event, 's', 0, sealer), ...place };
    const { isForged } = await atHand({}, { sealer });
    expect([await isForged!(own), await isForged!({ ...own, revision: 1 })]).toEqual([false, true]);
    // A rotation during the check adds a key to the ring.
    const [before, later] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const ring = new Sealer(before);
    const rotated = { ...withMac(event, 's', 0, new Sealer(later)), ...place };
    const refreshKeys = async (): Promise<void> => ring.setKeys(later, [before]);
    const during = await atHand({}, { sealer: ring, refreshKeys });
    expect(await during.isForged!(rotated)).toBe(false);
    expect((await atHand({})).isForged).toBeUndefined();
  });

  it.each<[string, Stored, readonly string[]]>([
    ['none if all are authentic', {}, []],
    ['none before the first event', { state: null }, []],
    ['none if the last head is stored', { heads, last: { size: 3, hash: hashOfHead(heads[2]!) } }, []],
    [
      'a changed audit.ledger',
      { state: { ...STATE, position: '8' } },
      ['the service did not write the row of audit.ledger'],
    ],
    ['a changed audit.last_head', { last: null }, ['the service did not write the row of audit.last_head']],
    [
      'a missing last head',
      { last: { size: 6, hash: 'x' } },
      ['the head that was signed last, over 6 events, is not in audit.heads'],
    ],
  ])('reports forged and missing rows: %s', async (_what, stored, rows) => {
    expect((await atHand(stored, { sealer })).forgedRows).toEqual(rows);
    expect((await atHand(stored)).forgedRows).toEqual([]);
  });
});
