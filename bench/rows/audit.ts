import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { row, expectEqual } from '../harness/row.js';
import { LEDGER, ledger } from '../seed/ledger.js';
import { count } from '../support/count.js';
import { runProgram } from '../support/program.js';

/** A program that keeps the log in memory would need this for half of it. */
const MAX_MIB = 400;

/** Audits of a whole log by their programs, whose memory does not grow with the log. */
export const auditRow = row(
  'audit',
  'memory of rebuild, export and verify of a whole log',
  async (context) => {
    const { environment, progress } = context;
    const { env, seededAfter } = await ledger(context);
    // Sagas have applied nothing of the seed; their checkpoints, which let a service boot, are reset.
    const pool = await environment.pool(LEDGER);
    await pool.query(`update event_store.checkpoints set position = $1 where name <> 'payouts.views'`, [
      seededAfter,
    ]);
    const notes: string[] = [];
    const run = async (args: readonly string[], end?: string): Promise<void> => {
      progress(args.join(' '));
      const { peakMiB, seconds } = await runProgram(environment, args, env, end);
      expectEqual(`${args.join(' ')} stays under ${MAX_MIB} MiB`, peakMiB < MAX_MIB, true);
      notes.push(`${args.slice(0, 2).join(' ')}: ${peakMiB} MiB at most, ${seconds.toFixed(1)} s`);
    };
    const out = join(environment.folder(LEDGER), 'export');
    await run(['rebuild', '--reason', 'the row of the bench']);
    // Rebuilds are operations, which are events.
    const events = await count(pool, 'event_store.events');
    notes.push(`${events} events`);
    await run(['audit', 'export', '--out', out]);
    const manifest = JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8')) as { events: number };
    expectEqual('events exported', manifest.events, events);
    // No worker signs a head over the seed, so that a verify finds it in order but unproven.
    await run(['audit', 'verify'], 'exit code 1');
    await run(['audit', 'verify', '--from', out, '--offline'], 'exit code 1');
    return { comparisons: [], notes };
  },
);
