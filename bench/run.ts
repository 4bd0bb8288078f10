/** `npm run bench`: runs the requested rows and prints their ratios. Exit code 1 when a count is wrong. */
import { writeFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { readOptions, type Options } from './harness/options.js';
import { printRow, type RowResult } from './harness/print.js';
import type { Row } from './harness/row.js';
import { auditRow } from './rows/audit.js';
import { behindRow } from './rows/behind.js';
import { deliveriesRow } from './rows/deliveries.js';
import { eventsAcceptRow } from './rows/events-accept.js';
import { eventsProcessRow } from './rows/events-process.js';
import { eventStoreDbRow } from './rows/eventstoredb.js';
import { listRow } from './rows/list.js';
import { overloadRow } from './rows/overload.js';
import { rebuildRow } from './rows/rebuild.js';
import { reportRow } from './rows/report.js';
import { reportCostsRow } from './rows/report-costs.js';
import { soakRow } from './rows/soak.js';
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
  overloadRow,
  behindRow,
  reportCostsRow,
  startRow,
  eventStoreDbRow,
  soakRow,
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
    printRow(result);
  }
} finally {
  await environment.close();
}
if (options.json !== null) writeFileSync(options.json, `${JSON.stringify({ options, results }, null, 2)}\n`);
process.exitCode = results.every(({ error }) => error === null) ? 0 : 1;

async function runRow(row: Row): Promise<RowResult> {
  const { name, title } = row;
  const progress = (text: string): void => console.error(`${name}: ${text}`);
  try {
    return { row: name, title, ...(await row.run({ options, environment, progress })), error: null };
  } catch (error) {
    return { row: name, title, comparisons: [], notes: [], error: inspect(error) };
  } finally {
    await environment.children.stopAll();
  }
}
