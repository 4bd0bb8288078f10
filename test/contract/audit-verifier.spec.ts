import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type {
  ConsistencyResponse,
  HeadResponse,
  ProofResponse,
} from '../../src/contexts/audit/ledger/ledger.controller.js';
import {
  toKeyId,
  newKeyPair,
  toPem,
  signText,
} from '../../src/contexts/audit/ledger/ledger-keys.commands.js';
import { canonicalJson, eventLeaf, leafHash } from '../../src/contexts/audit/ledger/event-leaf.js';
import {
  consistencyRanges,
  inclusionRanges,
  MerkleTree,
} from '../../src/contexts/audit/ledger/merkle-tree.js';
import { pathOf } from '../support/audit/merkle.js';
import { headText } from '../../src/contexts/audit/ledger/signed-head.js';
import { runFolder } from '../support/run-folder.js';

type ConsistencyProof = ConsistencyResponse['consistency'];
type PayoutProof = ProofResponse['proof'];
type PublishedHead = HeadResponse['head'];

interface Verifier {
  verifyProof(proof: unknown, pem: string): { readonly events: readonly object[] };
}

const PAYOUTS = 1000;
const PROGRAM = 'examples/audit-verifier/verify-proof.mjs';

const LOG_ID = randomUUID();
const { publicKey, privateKey } = newKeyPair();
const pem = toPem({ public_key: publicKey.toString('base64') });
const other = toPem({ public_key: newKeyPair().publicKey.toString('base64') });

function headOver(size: number, root: string, position: string): PublishedHead {
  const signed_at = '2026-01-02T03:04:05.678Z';
  const key = { key_id: toKeyId(publicKey), previous: '00'.repeat(32) };
  const named = { log_id: LOG_ID, size, root, position, signed_at, ...key };
  return { ...named, signature: signText(headText(named), privateKey), public_key: pem };
}

function refuses(verify: () => unknown): boolean {
  try {
    verify();
    return false;
  } catch (error) {
    return error instanceof Error && error.message.length > 0;
  }
}

/** Proofs under one head of payouts that were reported and then received. */
function proofs(): readonly PayoutProof[] {
  const ids = Array.from({ length: PAYOUTS }, () => randomUUID());
  const leaves = [0, 1].flatMap((revision) =>
    ids.map((id, place) =>
      canonicalJson(
        eventLeaf({
          position: String(7 + 3 * (revision * PAYOUTS + place)),
          stream: `payout-${id}`,
          revision,
          id: randomUUID(),
          type: revision === 0 ? 'payout.reported.v1' : 'payout.received.v2',
          data: { payout_id: id, amount: `${place}.5` },
          metadata: {},
          recordedAt: new Date(place),
        }),
      ),
    ),
  );
  const tree = new MerkleTree();
  const rows = leaves.map((leaf) => tree.append(leafHash(leaf)));
  const head = headOver(tree.size, tree.root.toString('hex'), '6004');
  return ids.map((payout_id, place) => ({
    payout_id,
    head,
    events: [place, PAYOUTS + place].map((index) => ({
      leaf: leaves[index]!,
      index,
      path: pathOf(inclusionRanges(index, tree.size), rows).map((hash) => hash.toString('hex')),
    })),
  }));
}

type Place = readonly (string | number)[];

/** Returns the place of every leaf value in a document. */
function placesOf(value: unknown, at: Place = []): readonly Place[] {
  if (typeof value !== 'object' || value === null) return [at];
  return Object.entries(value).flatMap(([name, each]) =>
    placesOf(each, [...at, Array.isArray(value) ? Number(name) : name]),
  );
}

/** Copies a proof with one value changed or removed, chosen by `seed`. */
function broken(proof: PayoutProof, seed: number): PayoutProof {
  const copy = structuredClone(proof) as unknown as Record<string, unknown>;
  const places = placesOf(copy);
  const place = places[seed % places.length]!;
  let holder = copy as Record<string | number, unknown>;
  for (const name of place.slice(0, -1)) holder = holder[name] as Record<string | number, unknown>;
  const name = place.at(-1)!;
  const value = holder[name];
  const change = Math.floor(seed / places.length) % 4;
  if (change === 0 && Array.isArray(holder)) holder.splice(Number(name), 1);
  else if (change === 0 && name === 'public_key') holder[name] = other;
  else if (change === 0) delete holder[name];
  else if (change === 1) holder[name] = null;
  else if (typeof value === 'number') holder[name] = value + (change === 2 ? 1 : -1);
  else holder[name] = flipped(String(value), seed, change === 2);
  return copy as unknown as PayoutProof;
}

function flipped(text: string, seed: number, replaces: boolean): string {
  const at = seed % text.length;
  const instead = text[at] === '7' ? '8' : '7';
  return text.slice(0, at) + (replaces ? instead : '') + text.slice(at + 1);
}

describe('the verifier of heads', () => {
  const LEAVES = 20;
  const tree = new MerkleTree();
  const roots: string[] = [];
  const rows = Array.from({ length: LEAVES }, (_, n) => {
    const row = tree.append(leafHash(String(n)));
    roots.push(tree.root.toString('hex'));
    return row;
  });
  const headAt = (size: number): PublishedHead => headOver(size, roots[size - 1]!, String(size));
  const proofOf = (from: number, size: number): ConsistencyProof => ({
    from,
    head: headAt(size),
    path: pathOf(consistencyRanges(from, size), rows).map((hash) => hash.toString('hex')),
  });

  it('confirms any two heads of one log, and refuses a proof in which any one part was changed', async () => {
    const program = '../../examples/audit-verifier/verify-consistency.mjs';
    const { verifyConsistency } = (await import(program)) as {
      verifyConsistency(proof: unknown, pem: string, kept: unknown): { readonly size: number };
    };
    const fails = (proof: ConsistencyProof, kept: object, key = pem): boolean =>
      refuses(() => verifyConsistency(proof, key, kept));
    for (let size = 1; size <= LEAVES; size += 1) {
      for (let from = 1; from <= size; from += 1) {
        const [proof, kept] = [proofOf(from, size), headAt(from)];
        expect(verifyConsistency(proof, pem, kept).size).toBe(size);
        const rewritten = { ...kept, root: leafHash('another').toString('hex') };
        const wrong = [
          fails(proof, rewritten),
          fails(proof, { ...kept, log_id: randomUUID() }),
          fails(proof, headAt(from === 1 ? 2 : from - 1)),
          fails({ ...proof, path: [...proof.path, roots[0]!] }, kept),
          from === size || fails({ ...proof, path: proof.path.slice(1) }, kept),
          from === size || fails({ ...proof, head: headAt(size === LEAVES ? size - 1 : size + 1) }, kept),
        ];
        expect(wrong).toEqual(wrong.map(() => true));
      }
    }
    expect(fails(proofOf(3, 9), headAt(3), other)).toBe(true);
  });
});

describe('the verifier of proofs', () => {
  it('confirms 1,000 proofs and refuses 1,000 broken ones', async () => {
    const { verifyProof } = (await import(`../../${PROGRAM}`)) as Verifier;
    const fails = (proof: unknown, key = pem): boolean => refuses(() => verifyProof(proof, key));
    const all = proofs();
    expect(all.filter((proof) => verifyProof(proof, pem).events.length === 2)).toHaveLength(PAYOUTS);
    const accepted = all.flatMap((proof, seed) => (fails(broken(proof, seed)) ? [] : [seed]));
    expect(accepted).toEqual([]);
    expect(all.every((proof) => fails(proof, other))).toBe(true);
    // The proof of one payout under the id of another, and under a path of another.
    const [one, two] = all as [PayoutProof, PayoutProof];
    expect(fails({ ...one, payout_id: two.payout_id })).toBe(true);
    expect(fails({ ...one, events: two.events })).toBe(true);
    expect(fails({ ...one, events: [one.events[0], two.events[1]] })).toBe(true);
    expect(fails({ ...one, events: one.events.toReversed() })).toBe(true);
    expect(fails({ ...one, events: [] })).toBe(true);
  });

  it('prints which payout is proven, and exits with 1 if the proof is broken', () => {
    const [proof] = proofs() as [PayoutProof];
    const file = (name: string, text: string): string => {
      const path = join(runFolder(), `${randomUUID()}-${name}`);
      writeFileSync(path, text);
      return path;
    };
    const key = file('key.pem', pem);
    const run = (each: PayoutProof): string =>
      execFileSync(process.execPath, [PROGRAM, file('proof.json', JSON.stringify({ proof: each })), key], {
        encoding: 'utf8',
        stdio: 'pipe',
      });
    expect(run(proof)).toMatch(new RegExp(`^proven: payout ${proof.payout_id}, among the first 2000 events`));
    expect(() => run({ ...proof, head: { ...proof.head, size: 2001 } })).toThrow(
      expect.objectContaining({ status: 1, stderr: 'NOT proven: the signature of the head is wrong\n' }),
    );
  });
});
