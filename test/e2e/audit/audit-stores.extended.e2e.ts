import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ProofResponse } from '../../../src/contexts/audit/ledger/ledger.controller.js';
import type { AuditReport } from '../../../src/contexts/audit/verify/verify.service.js';
import { comparePositions, EVENT_STORE, type EventStore } from '../../../src/platform/event-store/port.js';
import { eventually } from '../../support/eventually.js';
import { PAYOUTS } from '../../support/payouts/payout-calls.js';
import { runFolder } from '../../support/run-folder.js';
import { wholeJourney, type WholeJourney } from './whole-journey.js';

type PayoutProof = ProofResponse['proof'];

const eventStoreDb = process.env['EVENTSTOREDB_URL'];
/**
 * Audits the events of a whole journey on an empty server, because other events would be forged here. Each check has
 * its own suite on PostgreSQL.
 */
(eventStoreDb === undefined ? describe.skip : describe)('auditing with events in EventStoreDB', () => {
  let journey: WholeJourney;
  let store: EventStore;
  let first: string;
  const out = join(runFolder(), `export-${randomUUID()}`);
  const pem = join(runFolder(), `${randomUUID()}.pem`);

  beforeAll(async () => {
    journey = await wholeJourney({ AUDIT_HEAD_SECONDS: '1', EVENT_STORE_URL: eventStoreDb! });
    store = journey.app.app.get<EventStore>(EVENT_STORE, { strict: false });
    first = (await store.readStream(`merchant-${journey.app.merchant.credentials.apiKey}`))[0]!.position;
  });
  afterAll(() => journey?.close());

  const audit = (...args: string[]): ReturnType<WholeJourney['run']> => journey.run('audit', ...args);
  const json = async <T>(...args: string[]): Promise<T> =>
    JSON.parse((await audit('--json', ...args)).printed) as T;
  const proofOf = (id: string): Promise<PayoutProof> =>
    eventually(async () => {
      const response = await journey.app.merchant.get(`${PAYOUTS}/${id}/proof`);
      return response.status === 200 && response.json().proof;
    });
  /** The faults of this journey. */
  const wrong = ({ violations, differences, ledger }: AuditReport): unknown => ({
    violations: violations.filter(({ position }) => comparePositions(position, first) >= 0),
    differences,
    ledger: ledger?.findings,
  });

  it('proves each event of a payout to a holder of the key', async () => {
    const program = '../../../examples/audit-verifier/verify-proof.mjs';
    const { verifyProof } = (await import(program)) as {
      verifyProof(proof: PayoutProof, key: string): { events: readonly { type: string }[] };
    };
    const proof = await proofOf(journey.received);
    writeFileSync(pem, proof.head.public_key);
    const proven = verifyProof(proof, proof.head.public_key).events.map(({ type }) => type);
    expect(proven).toEqual(['payout.reported.v1', 'payout.received.v2']);
  });

  it('holds every event against leaves and heads, and finds nothing changed', async () => {
    const { findings, proven, events } = (await json<AuditReport>('verify', '--key', pem)).ledger!;
    expect(findings).toEqual([]);
    expect(proven!.size).toBeGreaterThan(40);
    expect(events).toBeGreaterThanOrEqual(proven!.size);
  });

  it('verifies the log and an export of it, and the read models', async () => {
    const inOrder = { violations: [], differences: [], ledger: [] };
    const live = await json<AuditReport>('verify');
    expect(wrong(live)).toEqual(inOrder);
    expect(live.read_models!.tables.length).toBeGreaterThan(3);
    const deliveries = live.read_models!.tables.find(({ table }) => table === 'webhooks.deliveries');
    expect(deliveries!.rows).toBeGreaterThan(2);
    await audit('export', '--out', out);
    const exported = await json<AuditReport & { faults: string[] }>('verify', '--from', out);
    expect(wrong(exported)).toMatchObject({ violations: [], differences: [] });
    expect(exported.faults).toEqual([]);
    expect(exported.log_id).toBe(await store.identity());
    const { ledger } = await json<AuditReport>('verify', '--from', out, '--offline', '--key', pem);
    expect(ledger!.findings).toEqual([]);
    expect(ledger!.proven!.size).toBeGreaterThan(40);
  });

  it('finds a leaf that was changed', async () => {
    await journey.app.stop();
    await journey.app.database.query(
      'update audit.leaves set hashes = sha256(hashes) where index = (select max(index) from audit.leaves)',
    );
    const { ledger } = await json<AuditReport>('verify');
    expect(ledger!.findings.map(({ kind }) => kind)).toContain('ledger');
  });
});
