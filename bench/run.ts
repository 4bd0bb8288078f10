/** `npm run bench`: runs the requested rows and prints their ratios. Exit code 1 when a count is off. */
import { writeFileSync } from 'node:fs';
import { Checks } from './harness/checks.js';
import { readOptions, type Options } from './harness/options.js';
import { holds, rowLines, type RowResult } from './harness/print.js';
import type { Row } from './harness/row.js';
import { auditRow } from './rows/audit.js';
import { deliveriesRow } from './rows/deliveries.js';
import { eventsAcceptRow } from './rows/events-accept.js';
import { eventsProcessRow } from './rows/events-process.js';
import { listRow } from './rows/list.js';
import { rebuildRow } from './rows/rebuild.js';
import { reportRow } from './rows/report.js';
import { startRow } from './rows/start.js';
import { BenchEnvironment } from './support/environment.js';

const ROWS: readonly Row[] = [
  reportRow,
  listRow,
  rebuildRow,
  deliveriesRow,
  eventsAcceptRow,
  eventsProcessRow,
  auditRow,
  startRow,
];

let options: Options;
try {
  options = readOptions(
    process.argv.slice(2),
    ROWS.map((row) => row.name),
  );
} catch (error) {
  console.error((error as Error).message);
  process.exit(2);
}

const results: RowResult[] = [];
const environment = await BenchEnvironment.start();
process.once('SIGINT', () => void environment.close().finally(() => process.exit(130)));
process.once('SIGTERM', () => void environment.close().finally(() => process.exit(143)));
try {
  for (const row of ROWS.filter((each) => options.rows.includes(each.name))) {
    const result = await runRow(row);
    results.push(result);
    clearProgress();
    console.log(`${rowLines(result).join('\n')}\n`);
  }
} finally {
  await environment.close();
}
if (options.json !== null) writeFileSync(options.json, `${JSON.stringify({ options, results }, null, 2)}\n`);
process.exitCode = results.every(holds) ? 0 : 1;

async function runRow(row: Row): Promise<RowResult> {
  const checks = new Checks();
  const base = { row: row.name, title: row.title };
  try {
    const outcome = await row.run({
      options,
      environment,
      checks,
      progress: (text) => showProgress(`${row.name}: ${text}`),
    });
    return { ...base, ...outcome, checks: checks.all, error: null };
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { ...base, comparisons: [], notes: [], checks: checks.all, error: message };
  } finally {
    await environment.children.stopAll();
  }
}

/** One line on the terminal that says what is being done; plain lines where there is no terminal. */
function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${text}`);
  else process.stderr.write(`${text}\n`);
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[2K');
}
