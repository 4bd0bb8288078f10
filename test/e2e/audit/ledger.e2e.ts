import { execFileSync } from 'node:child_process';
import { createPublicKey, randomUUID, verify } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { HeadResponse, ProofResponse } from '../../../src/contexts/audit/ledger/ledger.controller.js';
import {
  headText,
  keyText,
  type SignedHead,
  type SigningKey,
} from '../../../src/contexts/audit/ledger/signed-head.js';
import { EVENT_STORE, type EventStore } from '../../../src/platform/event-store/port.js';
import { testApp } from '../../support/app.js';
import { readHeads } from '../../support/audit/signed-log.js';
import { eventually } from '../../support/eventually.js';
import { programsFor, type Run } from '../../support/programs/cli.js';
import { createUser, PAYOUTS, randomHash, receivedPayout } from '../../support/payouts/payout-calls.js';
import { runFolder } from '../../support/run-folder.js';

type PayoutProof = ProofResponse['proof'];
type PublishedHead = HeadResponse['head'];

const VERIFIER = 'examples/audit-verifier/verify-proof.mjs';

const file = join(runFolder(), `heads-${randomUUID()}.jsonl`);
const app = await testApp({ AUDIT_HEAD_SECONDS: '1', AUDIT_HEADS_FILE: file });
const { merchant } = app;
const received = (await receivedPayout(app, '2')).payout.id;

describe('the ledger', () => {
  const audit = (...args: string[]): Promise<Run> => programsFor(app)('audit', ...args);
  const listHeads = async (...args: string[]): Promise<SignedHead[]> =>
    readHeads((await audit('heads', ...args)).printed);
  const fileOf = (text: string): string => {
    const name = join(runFolder(), randomUUID());
    writeFileSync(name, text);
    return name;
  };
  const proofOf = (id: string): Promise<PayoutProof> =>
    eventually(async () => {
      const response = await merchant.get(`${PAYOUTS}/${id}/proof`);
      if (response.status === 200) return response.json().proof;
      expect(response.status).toBe(503);
      expect(response.headers['retry-after']).toBe('1');
      return null;
    });
  const verifies = (pem: string, text: string, signature: string): boolean =>
    verify(null, Buffer.from(text), createPublicKey(pem), Buffer.from(signature, 'hex'));
  const isSigned = ({ public_key, signature, ...head }: PublishedHead): boolean =>
    verifies(public_key, headText(head), signature);

  it('proves the stored events of a payout', async () => {
    const { payout_id, events, head } = await proofOf(received.toUpperCase());
    expect(payout_id).toBe(received);
    expect(isSigned(head)).toBe(true);
    expect(isSigned({ ...head, size: head.size + 1 })).toBe(false);
    const stored = await app.database.query<{ position: string; data: string }>(
      'select position, data from event_store.events where stream = $1 order by revision',
      [`payout-${received}`],
    );
    const leaves = events.map(({ leaf }) => JSON.parse(leaf) as { position: string; data: object });
    expect(leaves).toHaveLength(2);
    expect(leaves.map(({ position, data }) => ({ position, data }))).toEqual(
      stored.map(({ position, data }) => ({ position, data: JSON.parse(data) as object })),
    );
    const { verifyProof } = (await import(`../../../${VERIFIER}`)) as {
      verifyProof(proof: PayoutProof, pem: string): { events: readonly { type: string }[] };
    };
    const proven = verifyProof(await proofOf(received), head.public_key).events.map(({ type }) => type);
    expect(proven).toEqual(['payout.reported.v1', 'payout.received.v2']);
  });

  it('proves a payout whose stream begins with a claim.owner_abandoned event', async () => {
    const store = app.app.get<EventStore>(EVENT_STORE, { strict: false });
    const [first] = await store.readStream(`payout-${received}`);
    const [id, metadata] = [randomUUID(), {}];
    const fence = { id: randomUUID(), type: 'claim.owner_abandoned.v1', data: {}, metadata };
    const data = { ...first!.data, payout_id: id, transaction_hash: randomHash() };
    const event = { id: randomUUID(), type: first!.type, data, metadata };
    await store.commit({
      appends: [{ stream: `payout-${id}`, events: [fence, event], expected: 'no_stream' }],
    });
    expect((await proofOf(id)).events).toHaveLength(2);
  });

  it('returns the newest signed head to merchants, and every signed head to operators and in a file', async () => {
    const { head } = (await merchant.get('/merchants/v1/audit/head')).json();
    expect(isSigned(head)).toBe(true);
    const [first] = await listHeads('--since', String(head.size - 1));
    const same: Partial<PublishedHead> = { ...head };
    delete (same as { public_key?: string }).public_key;
    expect(first).toEqual(same);
    const all = (await audit('heads')).printed;
    await eventually(() => readFileSync(file, 'utf8').startsWith(all));
    expect((await audit('key')).printed).toContain(head.public_key.trimEnd());
  });

  it('proves to merchants and operators that a head extends an earlier one', async () => {
    const heads = await listHeads();
    const [kept, newest] = [heads[0]!, heads.at(-1)!];
    const path = `/merchants/v1/audit/consistency?from=${kept.size}`;
    const pinned = await merchant.get(`${path}&to=${newest.size}`);
    const key = fileOf(pinned.json().consistency.head.public_key);
    const verified = (response: string, head: SignedHead): string =>
      execFileSync(
        process.execPath,
        [
          'examples/audit-verifier/verify-consistency.mjs',
          fileOf(response),
          key,
          fileOf(JSON.stringify(head)),
        ],
        { encoding: 'utf8', stdio: 'pipe' },
      );
    expect(verified(pinned.text, kept)).toContain(`proven: the head over ${newest.size} events`);
    expect(verified((await merchant.get(path)).text, kept)).toMatch(/^proven/);
    expect(() => verified(pinned.text, { ...kept, root: newest.root.replace(/^./, 'x') })).toThrow();
    for (const from of [newest.size + 1000, 0])
      expect((await merchant.get(`/merchants/v1/audit/consistency?from=${from}`)).status).toBe(400);
    expect((await merchant.get(`${path}&to=${newest.size + 1000}`)).status).toBe(404);

    const proof = await audit('proof', '--from', fileOf(JSON.stringify(kept)), '--to', String(newest.size));
    expect([proof.printed, proof.exitCode]).toEqual([expect.stringMatching(/^proven/), null]);
    const forged = await audit('proof', '--from', fileOf(JSON.stringify({ ...kept, root: newest.root })));
    expect([forged.printed, forged.exitCode]).toEqual([expect.stringContaining('NOT proven'), 2]);
  });

  it('passes the audit with a retained head and the published key', async () => {
    const response = await merchant.get('/merchants/v1/audit/head');
    const [kept, pem] = [fileOf(response.text), fileOf(response.json().head.public_key)];
    const { printed, exitCode } = await audit('verify', '--head', kept, '--head', file, '--key', pem);
    expect(printed).toContain('in order: the read models equal the replay, and no rule is broken');
    expect(exitCode).toBeNull();
  });

  it('continues after a key rotation with a new key that the former key has signed', async () => {
    const before = (await proofOf(received)).head;
    const { printed } = await audit('--json', 'key', 'rotate');
    const next = JSON.parse(printed) as SigningKey;
    expect(next.former_key_id).toBe(before.key_id);
    expect(verifies(before.public_key, keyText(next), next.signature!)).toBe(true);
    await createUser(merchant);
    const after = await eventually(async () => {
      const { head } = (await merchant.get('/merchants/v1/audit/head')).json();
      return head.key_id === next.key_id ? head : null;
    });
    expect(isSigned(after)).toBe(true);
    const [{ count }] = (await app.database.query(
      'select count(sealed_private_key)::int as count from audit.signing_keys',
    )) as [{ count: number }];
    expect(count).toBe(1);
    expect((await audit('verify')).exitCode).toBeNull();
  });
});
