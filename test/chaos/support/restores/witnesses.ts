import { readFileSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { Disburse } from '../../../../packages/sdk/src/index.js';
import type { Acknowledged, Confirmed } from '../report-load.js';
import type { ServiceProcess } from '../../../../bench/support/service.js';
import type { Shared } from '../shared.js';
import type { Verdict } from '../verdict.js';
import type { Receivers } from '../webhooks/receivers.js';
import { invoke } from '../../../support/programs/cli.js';
import type { Credentials } from '../../../../bench/support/sign.js';
import { CREATE_USER, keyed } from '../payouts.js';
import { Senders } from '../senders.js';

const DAY_MS = 86_400_000;

/** The merchant's own books, compared with the restored service, show the lost reports and no other. */
export async function checkOwnList(
  service: ServiceProcess,
  own: readonly Acknowledged[],
  lost: readonly Acknowledged[],
  verdict: Verdict,
): Promise<void> {
  const client = new Disburse({ ...service.merchant, baseUrl: service.baseUrl });
  const [from, to] = [Date.now() - DAY_MS, Date.now()].map((at) => new Date(at).toISOString().slice(0, 10));
  const { missing, different } = await client.payouts.reconcile(
    { created_from: from!, created_to: to! },
    own.map(({ request }) => {
      const { user_id, payout } = JSON.parse(request) as Report;
      return { user_id, transaction_hash: payout.transaction_hash, amount: payout.amount };
    }),
  );
  verdict.none('a payout differs from the books of the merchant', different);
  verdict.equal(
    missing
      .map(({ transaction_hash }) => transaction_hash)
      .toSorted()
      .join(),
    lost.map(transactionOf).toSorted().join(),
    'payouts.reconcile of the client lists the reports that are gone',
  );
}

/** Receivers have webhooks about the lost reports. Returns the number of webhooks that the service lacks. */
export async function checkReceivers(
  pool: pg.Pool,
  receiver: Receivers,
  reports: { readonly lost: readonly Acknowledged[]; readonly known: readonly Acknowledged[] },
  verdict: Verdict,
): Promise<number> {
  const received = [...receiver.arrived.values()].map(({ envelope }) => envelope);
  const { rows } = await pool.query<{ id: string }>(
    `select id from unnest($1::uuid[]) id
     where not exists (select from webhooks.deliveries where delivery_id = id)`,
    [received.map(({ id }) => id)],
  );
  const unknownIds = new Set(rows.map(({ id }) => id));
  const unknown = received.filter(({ id }) => unknownIds.has(id));
  const [lost, known] = [reports.lost, reports.known].map((all) => new Set<unknown>(all.map(({ id }) => id)));
  verdict.none(
    'the service knows the delivery of a webhook about a payout that is gone',
    received,
    ({ id, data }) => lost!.has(data['payout_id']) && !unknownIds.has(id),
  );
  verdict.none(
    'a webhook that the service does not know is about no payout',
    unknown,
    ({ data }) => !lost!.has(data['payout_id']) && !known!.has(data['payout_id']),
  );
  return unknown.length;
}

interface Report {
  readonly user_id: string;
  readonly payout: { readonly amount: string; readonly transaction_hash: string };
}

function transactionOf({ request }: Acknowledged): string {
  return (JSON.parse(request) as Report).payout.transaction_hash;
}

interface KeptHead {
  readonly size: number;
  readonly position: string;
  readonly signed_at: string;
}

/** Audits the restored log by heads that were kept elsewhere. Counts its events and the lost ones. */
export async function checkKeptHeads(
  shared: Shared,
  file: string,
  verdict: Verdict,
): Promise<{ readonly restored: number; readonly lostEvents: number }> {
  const newest = headsIn(file).at(-1)!;
  const { rows } = await shared.pool.query<{ events: number; last: string }>(
    'select count(*)::int as events, max(position) as last from event_store.events',
  );
  const { events, last } = rows[0]!;
  const { printed, exitCode } = await verifyWith(shared, file);
  const changed = printed.split('\n').filter((line) => /^(CHANGED|BROKEN|DIFFERS|UNCHECKED)/.test(line));
  const fewerLeaves = `CHANGED   the tables of the ledger were changed: the leaves end before event ${newest.size}, the last one of a signed head`;
  if (newest.size <= events) {
    // Leaves follow their events, so that the newest leaves may be lost alone.
    const isBehind = exitCode === 2 && changed.join('\n') === fewerLeaves;
    verdict.expect(exitCode === null || isBehind, 'the kept heads and the restored log agree', printed);
    return { restored: events, lostEvents: 0 };
  }
  const expected = [
    `CHANGED   events are missing at the end: there are ${events} of ${newest.size} that were signed at ${newest.signed_at}; the log ends at position ${last}, not ${newest.position}`,
    fewerLeaves,
  ];
  verdict.equal(exitCode, 2, 'the audit finds that events are missing');
  verdict.equal(
    changed.join('\n'),
    expected.join('\n'),
    'the audit says which events are missing, and nothing else',
  );
  return { restored: events, lostEvents: newest.size - events };
}

/** Kept heads over restored events, and all heads since, prove the present log. */
export async function checkProven(
  shared: Shared,
  [before, since]: readonly string[],
  restored: number,
  verdict: Verdict,
): Promise<void> {
  const valid = headsIn(before!).filter(({ size }) => size <= restored);
  const file = `${since}.with-restored`;
  writeFileSync(file, [...valid, ...headsIn(since!)].map((head) => `${JSON.stringify(head)}\n`).join(''));
  const { printed, exitCode } = await verifyWith(shared, file);
  verdict.equal(exitCode, null, `the log is proven by ${valid.length} heads from before\n${printed}`);
}

function verifyWith({ databaseUrl, masterKey }: Shared, file: string): ReturnType<typeof invoke> {
  const env = { DATABASE_URL: databaseUrl, MASTER_KEY: masterKey };
  return invoke('audit', env, 'verify', '--head', file);
}

function headsIn(file: string): readonly KeptHead[] {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as KeptHead);
}

const GIVE_UP_MS = 120_000;
const PAUSE_MS = 800;

/** A merchant's client that creates users, each under its own key. */
export class UserLoad extends Senders {
  readonly confirmed: Confirmed[] = [];

  constructor(
    private readonly merchant: Credentials,
    private readonly port: number,
    verdict: Verdict,
  ) {
    super(verdict, PAUSE_MS, GIVE_UP_MS);
  }

  protected override async round(client: number): Promise<void> {
    const line = this.lineOf(client, this.port);
    const [key, { path }, request] = [randomUUID(), CREATE_USER, CREATE_USER.body('')];
    const beganAt = performance.now();
    const response = await this.untilFinal('user', [201], () =>
      line.send(keyed(this.merchant, path, request, key)),
    );
    if (response === null) return;
    const { user } = JSON.parse(response.body) as { user: { id: string } };
    const confirmedAt = performance.now();
    this.confirmed.push({ key, path, request, response: response.body, id: user.id, beganAt, confirmedAt });
  }
}
