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

const { publicKey, privateKey } = newKeyPair();
const pem = toPem({ public_key: publicKey.toString('base64') });
const other = toPem({ public_key: newKeyPair().publicKey.toString('base64') });

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
  const named = {
    log_id: randomUUID(),
    size: tree.size,
    root: tree.root.toString('hex'),
    position: '6004',
    signed_at: '2026-01-02T03:04:05.678Z',
    key_id: toKeyId(publicKey),
    previous: '00'.repeat(32),
  };
  const head = { ...named, signature: signText(headText(named), privateKey), public_key: pem };
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

/** The place of every value in a document that holds no other. */
function placesOf(value: unknown, at: Place = []): readonly Place[] {
  if (typeof value !== 'object' || value === null) return [at];
  return Object.entries(value).flatMap(([name, each]) =>
    placesOf(each, [...at, Array.isArray(value) ? Number(name) : name]),
  );
}

/** A copy with one value changed or removed, chosen by `seed`. */
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
  const log_id = randomUUID();
  const LEAVES = 20;
  const tree = new MerkleTree();
  const roots: string[] = [];
  const rows = Array.from({ length: LEAVES }, (_, n) => {
    const row = tree.append(leafHash(String(n)));
    roots.push(tree.root.toString('hex'));
    return row;
  });
  const headOver = (size: number): PublishedHead => {
    const named = {
      log_id,
      size,
      root: roots[size - 1]!,
      position: String(size),
      signed_at: '2026-01-02T03:04:05.678Z',
      key_id: toKeyId(publicKey),
      previous: null,
    };
    return { ...named, signature: signText(headText(named), privateKey), public_key: pem };
  };
  const proofOf = (from: number, size: number): ConsistencyProof => ({
    from,
    head: headOver(size),
    path: pathOf(consistencyRanges(from, size), rows).map((hash) => hash.toString('hex')),
  });

  it('confirms each pair of heads of one log, and refuses another root, path, size, log and key', async () => {
    const program = '../../examples/audit-verifier/verify-consistency.mjs';
    const { verifyConsistency } = (await import(program)) as {
      verifyConsistency(proof: unknown, pem: string, kept: unknown): { readonly size: number };
    };
    const refuses = (proof: ConsistencyProof, kept: object, key = pem): boolean => {
      try {
        verifyConsistency(proof, key, kept);
        return false;
      } catch (error) {
        return error instanceof Error;
      }
    };
    for (let size = 1; size <= LEAVES; size += 1) {
      for (let from = 1; from <= size; from += 1) {
        const [proof, kept] = [proofOf(from, size), headOver(from)];
        expect(verifyConsistency(proof, pem, kept).size).toBe(size);
        const rewritten = { ...kept, root: leafHash('another').toString('hex') };
        const wrong = [
          refuses(proof, rewritten),
          refuses(proof, { ...kept, log_id: randomUUID() }),
          refuses(proof, headOver(from === 1 ? 2 : from - 1)),
          refuses({ ...proof, path: [...proof.path, roots[0]!] }, kept),
          from === size || refuses({ ...proof, path: proof.path.slice(1) }, kept),
          from === size || refuses({ ...proof, head: headOver(size === LEAVES ? size - 1 : size + 1) }, kept),
        ];
        expect(wrong).toEqual(wrong.map(() => true));
      }
    }
    expect(refuses(proofOf(3, 9), headOver(3), other)).toBe(true);
  });
});

describe('the verifier of proofs', () => {
  it('confirms 1,000 proofs and refuses 1,000 broken ones', async () => {
    const { verifyProof } = (await import(`../../${PROGRAM}`)) as Verifier;
    const refuses = (proof: unknown, key = pem): boolean => {
      try {
        verifyProof(proof, key);
        return false;
      } catch (error) {
        return error instanceof Error && error.message.length > 0;
      }
    };
    const all = proofs();
    expect(all.filter((proof) => verifyProof(proof, pem).events.length === 2)).toHaveLength(PAYOUTS);
    const accepted = all.flatMap((proof, seed) => (refuses(broken(proof, seed)) ? [] : [seed]));
    expect(accepted).toEqual([]);
    expect(all.every((proof) => refuses(proof, other))).toBe(true);
    // The proof of one payout under the id of another, and under a path of another.
    const [one, two] = all as [PayoutProof, PayoutProof];
    expect(refuses({ ...one, payout_id: two.payout_id })).toBe(true);
    expect(refuses({ ...one, events: two.events })).toBe(true);
    expect(refuses({ ...one, events: [one.events[0], two.events[1]] })).toBe(true);
    expect(refuses({ ...one, events: one.events.toReversed() })).toBe(true);
    expect(refuses({ ...one, events: [] })).toBe(true);
  });

  it('says what is proven, and exits with 1 when nothing is', () => {
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
