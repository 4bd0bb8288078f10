import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { connect, isIP } from 'node:net';
import { Logger } from '@nestjs/common';
import { HttpReceivers, ReceiverHosts } from '../../../../src/contexts/webhooks/adapters/http-receivers.js';
import { TestDnsServer } from './dns-server.js';
import {
  hostileAddresses,
  hostileUrls,
  hostOf,
  malformedUrls,
  publicAddresses,
} from './hostile-addresses.js';
import { halfResolvedNames, hostileNames, hostileZone, nameOf, publicNames } from './hostile-names.js';
import { NetworkListener } from './network-listener.js';
import { ALLOWED_CIDRS, HASTY_MS, TIMEOUT_MS, type Posted } from './network-report.js';

/** The script that own-network.ts runs in the test network: tries everything and prints what happened, without a verdict. */
const listener = await NetworkListener.start(process.env['TLS_FILES']!);
const dns = await TestDnsServer.start(hostileZone);

const logged: string[] = [];
const note = (line: unknown): void => void logged.push(JSON.stringify(line));
Logger.overrideLogger({ log: note, warn: note, error: note });

function senderOf(
  mode: 'production' | 'sandbox',
  webhookAllowCidrs: string | null = null,
  timeoutMs = TIMEOUT_MS,
) {
  const addresses = new ReceiverHosts({ mode, webhookAllowCidrs });
  return { addresses, receivers: new HttpReceivers({ webhookTimeoutMs: timeoutMs }, addresses) };
}
const production = senderOf('production');
const sandbox = senderOf('sandbox');
const hasty = senderOf('production', null, HASTY_MS);
const allowing = senderOf('production', ALLOWED_CIDRS);

async function post({ receivers }: typeof production, url: string): Promise<Posted> {
  const began = performance.now();
  logged.length = 0;
  const { response, error } = await receivers.post(url, {}, '{}');
  const ms = performance.now() - began;
  const outcome = response.kind === 'responded' ? response.status : response.phase;
  return { url, outcome, error, logged: logged.splice(0), ms, reached: await listener.reached() };
}

async function postAll(sender: typeof production, urls: readonly string[]): Promise<Posted[]> {
  const posted: Posted[] = [];
  for (const url of urls) posted.push(await post(sender, url));
  return posted;
}

/** What a client without a guard gets: `reached`, or the code of the failure. */
function connected(host: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port: 443, host, autoSelectFamily: false });
    const end = (result: string): void => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(2000, () => end('timeout'));
    socket.on('connect', () => end('reached'));
    socket.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}

async function unguarded(hosts: readonly string[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const host of hosts) {
    found[host] = await connected(host);
    if (found[host] === 'reached' && (await listener.reached()).length === 0) found[host] = 'someone else';
  }
  return found;
}

const hostOfUrl = (url: string): string => new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
const hostile = [
  ...hostileAddresses.map(([address]) => `https://${hostOf(address)}/hooks`),
  ...hostileUrls.map(([url]) => url),
];
/** Refused for their form at registration; here they must not reach 127.0.0.1 either. */
const withUser = malformedUrls
  .map(([url]) => url)
  .filter((url) => URL.canParse(url) && /^(https|http):$/.test(new URL(url).protocol))
  .filter((url) => hostOfUrl(url) === '127.0.0.1');
const names = [...hostileNames, ...halfResolvedNames].map(({ label }) => `https://${nameOf(label)}/hooks`);

async function rebinding() {
  const url = (label: string, path = 'hooks'): string => `https://${nameOf(label)}/${path}`;
  const questions = (label: string): number => dns.requests.get(`${nameOf(label)} A`) ?? 0;
  const registration = await production.addresses.refusal(url('becomes-bad'));
  const registered = await post(production, url('becomes-bad'));
  const afterCheck = await post(production, url('becomes-bad-after-the-check'));
  const everyOther = await postAll(
    production,
    Array.from({ length: 8 }, () => url('every-other', 'close')),
  );
  const kept = await postAll(production, [
    url('becomes-bad-while-kept'),
    url('becomes-bad-while-kept', 'close'),
    url('becomes-bad-while-kept'),
  ]);
  return {
    registration,
    registered,
    afterCheck,
    questionsOfOneConnect: questions('becomes-bad-after-the-check'),
    everyOther,
    kept,
    becomesGood: await postAll(
      production,
      Array.from({ length: 2 }, () => url('bad-then-good')),
    ),
    stays: await postAll(
      production,
      Array.from({ length: 3 }, () => url('stays', 'close')),
    ),
  };
}

async function questionsOfSixteen(): Promise<number> {
  const url = `https://${nameOf('resolved-once')}/close`;
  await Promise.all(Array.from({ length: 16 }, () => production.receivers.post(url, {}, '{}')));
  await listener.reached();
  return dns.requests.get(`${nameOf('resolved-once')} A`) ?? 0;
}

/** Another receiver, the system's own queries and files, while `urls` are never resolved. */
async function alongside(sender: typeof production, urls: readonly string[]) {
  const began = performance.now();
  const unresponsive = Promise.all(urls.map((url) => sender.receivers.post(url, {}, '{}')));
  await new Promise((resolve) => setTimeout(resolve, 50));
  const other = await post(production, `https://${nameOf('stays')}/close`);
  // One name resolved by the system and one file.
  const ownBegan = performance.now();
  await lookup(nameOf('good-a'), { family: 4 });
  await readFile('/etc/hosts');
  const ownMs = performance.now() - ownBegan;
  const outcomes = (await unresponsive).map(({ response }) =>
    response.kind === 'failed' ? response.phase : 'responded',
  );
  const unresponsiveMs = performance.now() - began;
  return { other, ownMs, outcomes, unresponsiveMs };
}

/** What deadlines leave behind: of queries, and of handshakes, without a response. */
async function leftovers(): Promise<string[]> {
  const urls = ['unresponsive.example', nameOf('all-dead')].map((host) => `https://${host}/`);
  const before = process.getActiveResourcesInfo();
  await Promise.all(urls.map((url) => hasty.receivers.post(url, {}, '{}')));
  // The other ends of the connections are here too, and are notified a little later.
  await new Promise((resolve) => setTimeout(resolve, 100));
  const left = process.getActiveResourcesInfo();
  for (const each of before) if (left.includes(each)) left.splice(left.indexOf(each), 1);
  return left;
}

const addressesOfUrls = [...new Set(hostile.map(hostOfUrl))].filter((host) => isIP(host) > 0);
const report = {
  /** Without a guard: `reached` or the code of the failure, by host. */
  unguarded: {
    addresses: await unguarded(addressesOfUrls),
    names: await unguarded(hostileNames.map(({ label }) => nameOf(label))),
    localhost: await unguarded(['localhost', 'ip6-localhost', 'db']),
    public: await unguarded(publicAddresses),
  },
  hostile: await postAll(production, hostile),
  hostileOverHttp: await postAll(
    production,
    hostile.map((url) => url.replace(/^https:/, 'http:')),
  ),
  hostileInSandbox: await postAll(
    sandbox,
    hostileAddresses.map(([address]) => `http://${hostOf(address)}/hooks`),
  ),
  withUser: await postAll(production, withUser),
  names: await postAll(production, names),
  publicAddresses: await postAll(
    production,
    publicAddresses.map((each) => `https://${hostOf(each)}/close`),
  ),
  publicNames: await postAll(
    production,
    publicNames.map(({ label }) => `https://${nameOf(label)}/close`),
  ),
  rebinding: await rebinding(),
  /** DNS questions for A while sixteen connections to one name began together. */
  questionsOfSixteen: await questionsOfSixteen(),
  allDead: await post(hasty, `https://${nameOf('all-dead')}/`),
  allowed: await postAll(
    allowing,
    [
      '10.1.2.3',
      '[fd00:1::1]',
      'db',
      'cache',
      '10.2.0.1',
      '[fd00:2::1]',
      '[::ffff:10.1.2.3]',
      'localhost',
    ].map((host) => `https://${host}/hooks`),
  ),
  unresponsive: await alongside(
    production,
    Array.from({ length: 50 }, (_, index) => `https://unresponsive-${index}.example/`),
  ),
  unresponsiveShortNames: await alongside(
    allowing,
    Array.from({ length: 10 }, (_, index) => `https://unresponsive-${index}/`),
  ),
  leftovers: await leftovers(),
  /** For a name that is never resolved; a second one is queried 2 s after the first, unless it was given up. */
  queriesWithoutResponse: dns.requests.get('unresponsive-0.example A') ?? 0,
};
export type NetworkReport = typeof report;
process.stdout.write(JSON.stringify(report), () => process.exit(0));
