import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { hashOfEvent, type StoredEvent } from '../domain/event-leaf.js';
import { MerkleTree } from '../domain/merkle-tree.js';
import { headText, keyText, type SignedHead, type SigningKey } from '../domain/signed-head.js';
import { checkLedger, type LedgerReport } from './check-ledger.js';
import { HeadTrust } from './head-trust.js';
import { keyIdOf, newKeyPair, signText } from './signatures.js';

const LOG = randomUUID();
const AT = '2026-01-02T03:04:05.678Z';

interface Signer extends SigningKey {
  readonly sign: (text: string) => string;
}

function signer(former: Signer | null, pair = newKeyPair()): Signer {
  const key = {
    key_id: keyIdOf(pair.publicKey),
    public_key: pair.publicKey.toString('base64'),
    made_at: AT,
    former_key_id: former?.key_id ?? null,
  };
  const signature = former === null ? null : former.sign(keyText(key));
  return { ...key, signature, sign: (text) => signText(text, pair.privateKey) };
}

const log = (amounts: readonly number[]): StoredEvent[] =>
  amounts.map((amount, place) => ({
    ...{ position: String(place + 1), stream: `s-${place}`, revision: 0, id: randomUUID(), type: 'paid.v1' },
    ...{ data: { amount }, metadata: {}, recordedAt: new Date(place) },
  }));

function headOf(events: readonly StoredEvent[], { key_id, sign }: Signer): SignedHead {
  const tree = new MerkleTree();
  for (const event of events) tree.append(hashOfEvent(event));
  const [size, root] = [tree.size, tree.root.toString('hex')];
  const head = { log_id: LOG, size, root, position: String(size), signed_at: AT, key_id, previous: null };
  return { ...head, signature: sign(headText(head)) };
}

async function checked(
  events: readonly StoredEvent[],
  heads: readonly SignedHead[],
  keys: readonly Signer[],
  known: SigningKey | null,
): Promise<LedgerReport> {
  const trust = new HeadTrust(LOG, keys, known, null);
  const pages = (async function* () {
    yield events;
  })();
  const report = await checkLedger(pages, {
    ...{ state: null, leaves: async () => [], judge: (head: SignedHead) => trust.judge(head) },
    heads: async (size) => heads.filter((head) => head.size > size),
    isVouched: (head) => trust.vouchesFor(head),
  });
  return { ...report, findings: [...trust.findings, ...report.findings] };
}

describe('heads, for an auditor who knows one public key', () => {
  const first = signer(null);
  const second = signer(first);
  const events = log([1, 2, 3, 4, 5]);
  const heads = [
    headOf(events.slice(0, 2), first),
    headOf(events.slice(0, 3), first),
    headOf(events, second),
  ];

  it.each([
    ['the first', first],
    ['a later one', second],
    ['none', null],
  ])('are in order over a log that nobody touched: %s', async (_name, known) => {
    const { findings, proven } = await checked(events, heads, [first, second], known);
    expect(findings).toEqual([]);
    expect(proven?.size).toBe(5);
  });

  it('prove nothing when a key that was put before it has signed them', async () => {
    // Whoever has the database makes a key, lets it sign the one that everybody knows, and signs another history.
    const evil = signer(null);
    const signed = { ...first, former_key_id: evil.key_id };
    const keys = [evil, { ...signed, signature: evil.sign(keyText(signed)) }];
    const forged = log([1, 2, 3, 4, 999]);
    const { findings, proven } = await checked(forged, [headOf(forged, evil)], keys, first);
    expect(proven).toBeNull();
    expect(findings).toEqual([expect.objectContaining({ kind: 'head', size: 5 })]);
  });

  it('of the keys before it still tell what contradicts them', async () => {
    const forged = [...log([7]), ...events.slice(1)];
    const all = [...heads.slice(0, 2), headOf(forged, second)];
    const { findings } = await checked(forged, all, [first, second], second);
    expect(findings.map(({ kind }) => kind)).toEqual(['rewritten']);
  });
});
