#!/usr/bin/env node
// npm run demo: the whole way of a payout, of an exchange order (npm run demo -- exchange), or a morning's data for the
// console (npm run demo -- console), against the running sandbox or one that it starts and stops itself.
import { CONSOLE_TITLE, consoleDemo } from './lib/demo-console.mjs';
import { exchangeDemo, EXCHANGE_TITLE } from './lib/demo-exchange.mjs';
import { payoutDemo, PAYOUT_TITLE } from './lib/demo-payout.mjs';
import { install } from './lib/installation.mjs';
import { useSandbox } from './lib/running-sandbox.mjs';
import { bold, complain, dim, printLine, table } from './lib/terminal.mjs';
import { Usage } from '../packages/cli/src/usage.mjs';

const DEMOS = {
  payout: { title: PAYOUT_TITLE, run: payoutDemo },
  exchange: { title: EXCHANGE_TITLE, run: exchangeDemo },
  console: { title: CONSOLE_TITLE, run: consoleDemo },
};

/** A response that refuses is no fault of the demo: its sentence is enough. */
async function inWords(error) {
  const failures = await import('../packages/cli/src/failures.mjs');
  throw failures.inWords(error);
}

try {
  const [name = 'payout', ...more] = process.argv.slice(2);
  if ([name, ...more].some((each) => ['-h', '--help'].includes(each))) {
    table(Object.entries(DEMOS).map(([each, { title }]) => [`npm run demo -- ${each}`, title]));
    process.exit();
  }
  if (more.length > 0) throw new Usage(`A demo takes no arguments: ${more.join(' ')}`);
  if (!Object.hasOwn(DEMOS, name))
    throw new Usage(`There is no demo "${name}": try ${Object.keys(DEMOS).join(' or ')}.`);
  const { title, run } = DEMOS[name];
  printLine(`\n  ${bold('disburse')} ${dim(title)}\n`);
  await install();
  const { sandbox, letGo } = await useSandbox();
  try {
    await run(sandbox).catch(inWords);
  } finally {
    await letGo();
  }
  printLine();
} catch (error) {
  complain(error);
}
