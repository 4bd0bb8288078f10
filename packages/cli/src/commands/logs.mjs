import { ConnectionError } from '@disburse/sdk';
import { Option } from 'commander';
import { setTimeout as sleep } from 'node:timers/promises';
import { withPortal } from '../access.mjs';
import { withCredentials } from '../credentials.mjs';
import { inWords } from '../failures.mjs';
import { printJson, withJson } from '../json-output.mjs';
import { printable } from '../json-text.mjs';
import { nextSignal } from '../signals.mjs';
import { complain, dim, green, printLine, red } from '../terminal.mjs';
import { duration, wholeNumber } from '../values.mjs';

const PAGE = 100;
const MAX_REMEMBERED = 10_000;

export function withLogs(program) {
  const logs = program
    .command('logs')
    .summary('follow the requests that the service received')
    .description('The log of requests of the merchant, kept for 7 days.');
  const tail = logs
    .command('tail')
    .summary('print requests as they come')
    .description('Print the newest requests, then each one as it comes. Ctrl-C ends.')
    .option('--lines <n>', 'how many of the former ones', wholeNumber(0, PAGE), 10)
    .option('--no-follow', 'print the former ones and end')
    .option('--status <n>', 'only requests with this status', wholeNumber(100, 599))
    .option('--path <prefix>', 'only requests whose path begins so')
    .addOption(new Option('--every <duration>', 'how often to poll').argParser(duration).default(1000, '1s'))
    .action(tailRequests);
  withCredentials(withJson(tail, 'a line of JSON for each request'));
}

async function tailRequests(options) {
  const ended = nextSignal();
  await withPortal(options, ['requests:read'], (portal) => follow(portal, options, ended));
}

async function follow(portal, { status, path, lines, follow: follows, every, json }, ended) {
  const print = (request) => (json ? printJson(request) : printLine(lineOf(request)));
  const filter = { status, path, page_size: PAGE };
  const { data } = await portal.get('requests', filter);
  const seen = new Set(data.requests.map(({ request_id }) => request_id));
  data.requests.slice(0, lines).reverse().forEach(print);
  const readerGone = new Promise((resolve) => process.stdout.on('error', () => resolve('gone')));
  const outage = new Outage();
  while (follows) {
    const event = await Promise.race([ended, readerGone, sleep(every, null, { ref: true })]);
    if (event !== null) return;
    const fresh = await unseen(portal, filter, seen).catch((error) => outage.began(error));
    if (fresh === null) continue;
    outage.ended();
    fresh.reverse().forEach(print);
  }
}

/** A service that restarts does not end the command. One sentence says so, another one that it is back. */
class Outage {
  isOn = false;

  /** Returns null; throws what the next poll would get too. */
  began(error) {
    if (!(error instanceof ConnectionError || error.status === 429 || error.status >= 500)) throw error;
    if (!this.isOn) complain(inWords(error), process.stderr);
    process.exitCode = 0;
    this.isOn = true;
    return null;
  }

  ended() {
    if (this.isOn) process.stderr.write('  The service responds again.\n\n');
    this.isOn = false;
  }
}

/** Newest first. Reads back until a page has requests that were there before, or there are no more. */
async function unseen(portal, filter, seen) {
  const fresh = [];
  let page_cursor;
  do {
    const { data } = await portal.get('requests', { ...filter, page_cursor });
    const found = data.requests.filter(({ request_id }) => !seen.has(request_id));
    fresh.push(...found);
    const isMore = found.length === data.requests.length && fresh.length < MAX_REMEMBERED;
    page_cursor = isMore ? data.next_cursor : null;
  } while (page_cursor);
  // Only now: after a page that could not be read all of them are read again.
  for (const { request_id } of fresh) seen.add(request_id);
  for (const id of seen) {
    if (seen.size <= MAX_REMEMBERED) break;
    seen.delete(id);
  }
  return fresh;
}

function lineOf({ at, method, path, status, duration_ms, request_id, refusal }) {
  const paint = status < 400 ? green : red;
  const why = refusal === null ? '' : `  ${printable(refusal)}`;
  const call = `${method.padEnd(6)} ${printable(path)}`;
  return `${dim(at)}  ${paint(status)}  ${call}  ${dim(`${Math.round(duration_ms)} ms  ${request_id}`)}${why}`;
}
