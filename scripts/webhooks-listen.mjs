#!/usr/bin/env node
// npm run webhooks:listen: a receiver for development, which verifies and prints deliveries as they come.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DeliveryDesk, greetingOf } from './lib/delivery-desk.mjs';
import { install, requireNode, ROOT } from './lib/installation.mjs';
import { HELP, readOptions } from './lib/listen-options.mjs';
import { MerchantClient } from './lib/merchant-client.mjs';
import { findSandbox } from './lib/running-sandbox.mjs';
import { dataDir, nextSignal } from './lib/service.mjs';
import { bold, complain, dim, elapsed, printOn, Problem, printLine, step, table } from './lib/terminal.mjs';
import { listen } from './lib/webhook-receiver.mjs';

const DESCRIPTION = 'webhooks:listen';
const PROBE_MS = 1000;
const GOODBYE_MS = 5000;

try {
  requireNode();
  const options = readOptions();
  if (options.help) process.stdout.write(`${HELP}\n`);
  else await run(options);
} catch (error) {
  complain(error);
}

async function run(options) {
  if (options.json) printOn(process.stderr);
  printLine(`\n  ${bold('disburse')} ${dim('a receiver of webhooks, for development')}\n`);
  if (!existsSync(join(ROOT, 'node_modules', 'standardwebhooks'))) await install();
  const { Webhook } = await import('standardwebhooks');
  const merchant = options.secrets.length > 0 ? null : await findMerchant(options);
  const desk = new DeliveryDesk(options);
  const listener = await listen(options.port, { post: desk.post, get: () => desk.greeting() });
  try {
    if (merchant === null) await listenOnly(options, listener, desk, Webhook);
    else await listenAs(merchant, options, listener, desk, Webhook);
  } finally {
    desk.close();
    await listener.close();
  }
  printLine(`\n  ${dim(desk.summary())}\n`);
}

/** Verifies with secrets it was given, and registers nothing. */
async function listenOnly(options, { url }, desk, Webhook) {
  const signalled = nextSignal();
  desk.open(options.secrets.map((secret) => webhookOf(Webhook, secret)));
  table([['Receiver', `${url}, registered nowhere`]]);
  invite(options, 'Ctrl-C ends');
  await Promise.race([signalled, desk.readerGone]);
}

/** Registers an endpoint for as long as this command runs. */
async function listenAs(merchant, options, { url }, desk, Webhook) {
  await removeLeftovers(merchant, options);
  const signalled = nextSignal();
  const endpoint = await register(merchant, options.publicUrl ?? url, options.types);
  try {
    desk.open([webhookOf(Webhook, endpoint.signing_secret)], endpoint.id);
    printLine();
    table([
      ['Receiver', endpoint.url === url ? url : `${endpoint.url}, which is to lead to ${url}`],
      ['Event types', options.types?.join(', ') ?? 'all'],
      ['Signing secret', endpoint.signing_secret],
    ]);
    invite(options, 'Ctrl-C deletes the endpoint and ends');
    if (options.test) await merchant.expect(202, 'POST', `/webhook_endpoints/${endpoint.id}/test_delivery`);
    await Promise.race([signalled, desk.readerGone]);
  } finally {
    printLine();
    await unregister(merchant, endpoint.id);
  }
}

function invite({ forward: to, status, delay, test }, ending) {
  const ways = [
    ...(to ? [`is passed on to ${to.href}`] : []),
    ...(status && !to ? [`gets status ${status}`] : []),
    ...(delay > 0 ? [`waits ${elapsed(delay)} for its response`] : []),
  ];
  printLine(`\n  Waiting for deliveries. ${ending}.`);
  if (ways.length > 0) printLine(`  ${dim(`Each ${ways.join(' and ')}.`)}`);
  else if (!test) printLine(`  ${dim('npm run demo in another shell makes some.')}`);
  printLine();
}

async function findMerchant(options) {
  const { url, apiKey, privateKey } = options;
  const keys = apiKey === null ? null : { api_key: apiKey, private_key: privateKey };
  if (url !== null) return new MerchantClient(url, keys);
  let sandbox;
  await step('Sandbox', async () => {
    sandbox = await findSandbox();
    if (sandbox === null) {
      throw new Problem(
        `No sandbox is running in ${dataDir()}. Start one with npm start in another shell; or name a service with --url, --api-key and --private-key; or only verify, with --secret.`,
      );
    }
    return `running at ${sandbox.base_url}`;
  });
  return new MerchantClient(sandbox.base_url, keys ?? sandbox.merchant);
}

/** Endpoints of listeners that were killed go first: a merchant may have ten. Those of listeners that live stay. */
async function removeLeftovers(merchant, { remove, publicUrl }) {
  if (remove !== null) await merchant.expect(204, 'DELETE', `/webhook_endpoints/${remove}`);
  const { body } = await merchant.expect(200, 'GET', '/webhook_endpoints');
  const own = body.webhook_endpoints.filter(({ description }) => description === DESCRIPTION);
  const left = await Promise.all(own.map(async (each) => (await isLive(each, publicUrl)) === false));
  for (const { id, url } of own.filter((_each, index) => left[index])) {
    await step('Left behind', async () => {
      await merchant.expect(204, 'DELETE', `/webhook_endpoints/${id}`);
      return `${url} of an earlier run, deleted`;
    });
  }
}

async function isLive({ id, url }, publicUrl) {
  if (new URL(url).hostname !== '127.0.0.1') return url !== publicUrl;
  const greeting = await fetch(url, { signal: AbortSignal.timeout(PROBE_MS) })
    .then((response) => response.text())
    .catch(() => '');
  // One that is about to register knows no id yet.
  return greeting === greetingOf(id);
}

async function register(merchant, url, types) {
  let endpoint;
  await step('Endpoint', async () => {
    const fields = { url, description: DESCRIPTION, ...(types === null ? {} : { event_types: types }) };
    const response = await merchant.request('POST', '/webhook_endpoints', { webhook_endpoint: fields });
    if (response.status !== 201) throw await refusal(merchant, response);
    endpoint = response.body.webhook_endpoint;
    return `${endpoint.id}, registered`;
  });
  return endpoint;
}

async function refusal(merchant, { status, body }) {
  const errors = body?.errors ?? {};
  if (status !== 422 || !errors.webhook_endpoint) {
    // Some messages name the field themselves.
    const named = (field, message) => (message.includes(field) ? message : `${field} ${message}`);
    const details = Object.entries(errors).flatMap(([field, all]) => all.map((each) => named(field, each)));
    const said = details.length > 0 ? details.join('; ') : (body?.detail ?? 'no reason');
    return new Problem(`The service refused the endpoint (${status}): ${said}.`);
  }
  const list = await merchant.expect(200, 'GET', '/webhook_endpoints');
  const lines = list.body.webhook_endpoints.map(({ id, url, description }) =>
    `${id}  ${url}  ${description ?? ''}`.trimEnd(),
  );
  return new Problem(
    `The merchant has ten webhook endpoints, the most there may be:\n\n${lines.join('\n')}\n\nDelete one that is not needed, with its id: npm run webhooks:listen -- --remove <id>`,
  );
}

async function unregister(merchant, id) {
  const gone = merchant.request('DELETE', `/webhook_endpoints/${id}`);
  await step('Endpoint', async () => {
    const late = sleep(GOODBYE_MS, { status: 0 }, { ref: false });
    const { status } = await Promise.race([gone, late]).catch(() => ({ status: 0 }));
    if (status === 204 || status === 404) return `${id}, deleted`;
    return 'still registered; the next webhooks:listen deletes it';
  });
}

function webhookOf(Webhook, secret) {
  try {
    return new Webhook(secret);
  } catch {
    throw new Problem('--secret must be whsec_ and base64, as the registration returned it.');
  }
}
