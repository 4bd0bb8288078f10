import { Option } from 'commander';
import { accessOf } from '../access.mjs';
import { withCredentials } from '../credentials.mjs';
import { printJson, withJson } from '../json-output.mjs';
import { jsonLines, printable } from '../json-text.mjs';
import { bold, cyan, dim, green, printLine, red } from '../terminal.mjs';
import { wholeNumber } from '../values.mjs';

const STATUSES = ['pending', 'received', 'expired'];

export function withPayouts(program) {
  const payouts = program
    .command('payouts')
    .summary('list payouts, or get one')
    .description('Payouts of the merchant.');
  const list = payouts
    .command('list')
    .summary('list payouts, newest first')
    .description('List payouts, newest first.')
    .addOption(new Option('--status <status>', 'only payouts with this status').choices(STATUSES))
    .option('--user <id>', 'only payouts to this user')
    .option('--external-id <id>', 'only payouts to the user of this external_id')
    .option('--transaction-hash <hash>', 'only payouts for this transaction')
    .option('--from <day>', 'only payouts reported from this day on, as YYYY-MM-DD in UTC')
    .option('--to <day>', 'and up to the end of this one')
    .option('--limit <n>', 'at most this many', wholeNumber(1, 1_000_000), 20)
    .action(listPayouts);
  withCredentials(withJson(list));
  const get = payouts
    .command('get')
    .argument('<id>', 'the id of a payout')
    .summary('get a payout')
    .description('Get a payout.')
    .action(getPayout);
  withCredentials(withJson(get, 'print the payout as a line of JSON'));
}

async function listPayouts(options) {
  const { status, limit, json } = options;
  const { externalId: external_id, transactionHash: transaction_hash, user: user_id } = options;
  const { from: created_from, to: created_to } = options;
  const filter = {
    ...{ status, user_id, external_id, transaction_hash, created_from, created_to },
    page_size: Math.min(limit, 100),
  };
  const query = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
  const access = await accessOf(options);
  let count = 0;
  for await (const payout of access.listPayouts(query)) {
    if (json) printJson(payout);
    else printLine(lineOf(payout));
    count += 1;
    if (count === limit) break;
  }
  if (json) return;
  if (count === 0) printLine(dim('No payouts.'));
  else if (count === limit) printLine(dim(`The newest ${count}; --limit for more.`));
}

async function getPayout(id, options) {
  const access = await accessOf(options);
  const payout = await access.getPayout(id);
  if (options.json) return printJson(payout);
  for (const line of jsonLines(JSON.stringify(payout), cyan)) printLine(line);
}

function lineOf({ id, created_at, status, amount, currency_code, user_id, reason }) {
  const paint = { received: green, expired: red }[status] ?? bold;
  const money = `${amount} ${currency_code}`.padStart(16);
  const why = reason === null ? '' : `  ${printable(reason)}`;
  return `${dim(created_at)}  ${id}  ${paint(status.padEnd(8))}  ${money}  ${dim('user')} ${user_id}${why}`;
}
