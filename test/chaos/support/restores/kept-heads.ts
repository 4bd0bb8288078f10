import { readFileSync, writeFileSync } from 'node:fs';
import { invoke } from '../../../support/programs/cli.js';
import type { Shared } from '../shared.js';
import type { Verdict } from '../verdict.js';

interface KeptHead {
  readonly size: number;
  readonly position: string;
  readonly signed_at: string;
}

/** Audits the restored log by heads that were kept elsewhere: its number of events, and how many are lost. */
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
  const fewerLeaves = `CHANGED   the tables of the ledger were changed: there are fewer leaves than the head over ${newest.size} events had`;
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
