import { readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { hashOfEvent, type LeafEvent } from '../../../src/contexts/audit/ledger/event-leaf.js';
import { MerkleTree } from '../../../src/contexts/audit/ledger/merkle-tree.js';
import {
  headText,
  keyText,
  type SignedHead,
  type SigningKey,
} from '../../../src/contexts/audit/ledger/signed-head.js';
import {
  LedgerCheck,
  type LedgerInputs,
  type LedgerReport,
} from '../../../src/contexts/audit/verify/check-ledger.service.js';
import { toKeyId, newKeyPair, signText } from '../../../src/contexts/audit/ledger/ledger-keys.commands.js';
import type { Leaf, LedgerState } from '../../../src/contexts/audit/ledger/ledger.store.js';

const LOG = randomUUID();
export const AT = '2026-01-02T03:04:05.678Z';

interface Signer extends SigningKey {
  readonly sign: (text: string) => string;
}

export function signer(former: Signer | null, pair = newKeyPair()): Signer {
  const key = {
    key_id: toKeyId(pair.publicKey),
    public_key: pair.publicKey.toString('base64'),
    made_at: AT,
    former_key_id: former?.key_id ?? null,
  };
  const signature = former === null ? null : former.sign(keyText(key));
  return { ...key, signature, sign: (text) => signText(text, pair.privateKey) };
}

export const log = (amounts: readonly number[]): LeafEvent[] =>
  amounts.map((amount, place) => ({
    position: String(place + 1),
    stream: `s-${place}`,
    revision: 0,
    id: randomUUID(),
    type: 'paid.v1',
    data: { amount },
    metadata: {},
    recordedAt: new Date(place),
  }));

export function headOf(
  events: readonly LeafEvent[],
  key: Signer,
  previous: string | null = null,
): SignedHead {
  const tree = new MerkleTree();
  for (const event of events) tree.append(hashOfEvent(event));
  const [size, root] = [tree.size, tree.root.toString('hex')];
  return signedHead(key, { log_id: LOG, size, root, signed_at: AT, previous });
}

export function signedHead({ key_id, sign }: Signer, over: Partial<SignedHead> = {}): SignedHead {
  const { size = 1 } = over;
  const place = { log_id: 'l', size, root: 'ab', position: String(size), signed_at: 'then' };
  const head = { ...place, key_id, previous: null, ...over };
  return { ...head, signature: sign(headText(head)) };
}

/** Returns the follower's leaves of the events, and its state. */
export function ledgerOver(events: readonly LeafEvent[]) {
  const tree = new MerkleTree();
  const leaves = events.map((event, index): Leaf => {
    const [hash, ...completed] = tree.append(hashOfEvent(event));
    return { index, position: event.position, hash: hash!, completed: Buffer.concat(completed) };
  });
  const state: LedgerState = { logId: LOG, tree, position: events.at(-1)?.position ?? '-1', mac: '' };
  return { state, leaves };
}

export async function* stored(heads: readonly SignedHead[]): AsyncGenerator<SignedHead> {
  yield* heads;
}

export const TRUSTING: LedgerInputs['trust'] = { verify: () => null, trusts: () => true, findings: [] };

export async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** Compares the whole log, page by page, with the ledger. */
export async function checkLedger(
  pages: AsyncIterable<readonly LeafEvent[]>,
  ledger: LedgerInputs,
): Promise<LedgerReport> {
  const check = await LedgerCheck.begin(ledger);
  for await (const page of pages) await check.add(page);
  return check.end();
}

export function readHeads(text: string): SignedHead[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as SignedHead);
}

export function headSizesIn(path: string): number[] {
  return readHeads(readFileSync(path, 'utf8')).map(({ size }) => size);
}
