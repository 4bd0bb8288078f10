#!/usr/bin/env node
// npm start: installs and builds when needed, boots the service in sandbox mode, and says how to use it.
import { relative } from 'node:path';
import { build, buildDocs, install } from './lib/installation.mjs';
import { clientsOf } from './lib/sandbox-clients.mjs';
import { dataDir, ending, nextSignal, requireFreePorts, startService, stopService } from './lib/service.mjs';
import {
  bold,
  complain,
  cyan,
  dim,
  elapsed,
  green,
  Problem,
  printLine,
  step,
  table,
} from './lib/terminal.mjs';
import { Usage, WrongSetting } from '../packages/cli/src/usage.mjs';

const began = performance.now();
/** Ends the build of the documents. */
const documents = new AbortController();
/** The running service: an error here must not leave it. */
let service;

try {
  if (process.argv.length > 2)
    throw new Usage(
      'npm start takes no arguments: it runs the sandbox until Ctrl-C. Settings are environment variables (docs/configuration.md).',
    );
  if (process.env.MODE === 'production') {
    throw new WrongSetting(
      'npm start runs the sandbox. In production run node dist/main.js, with MODE=production.',
    );
  }
  printLine(`\n  ${bold('disburse')} ${dim('sandbox')}\n`);
  await requireFreePorts();
  await install();
  await build();
  const signalled = nextSignal();
  service = await startService(signalled);
  await welcome(service.sandbox, service.loginUrl);
  // Meanwhile /docs says that it is being built.
  buildDocs(documents.signal).catch(() => {
    if (!documents.signal.aborted)
      printLine(`  ${dim('The documents could not be built: npm run docs says why')}\n`);
  });
  const signal = await Promise.race([signalled, service.exited.then(() => null)]);
  documents.abort();
  if (signal === null) await mourn(service);
  else await step('Stopping', async () => stopService(service).then(() => 'drained and stopped'));
} catch (error) {
  documents.abort();
  if (service !== undefined) await stopService(service);
  complain(error);
}

async function welcome(sandbox, loginUrl) {
  const place = relative(process.cwd(), dataDir()) || '.';
  printLine(`\n  ${green('Ready')} ${dim(`after ${elapsed(performance.now() - began)}`)}\n`);
  const pages = [
    ['Documents', `${sandbox.base_url}/docs`],
    ['Widget', `${sandbox.widget_url}/onboarding`, '?merchant_id=…&user_id=…'],
    ['Pay page', `${sandbox.pay_url}/widget`, '?api_key=…&withdraw_address=…&signature=…'],
    ['Console', `${sandbox.console_url}/login`],
    ['Metrics', sandbox.metrics_url],
  ];
  const served = await Promise.all(pages.map(async ([, url]) => isServed(url)));
  table([
    ['API', `${cyan(sandbox.base_url)}`],
    ...pages
      .filter((_, index) => served[index])
      .map(([name, url, rest = '']) => [name, `${cyan(url)}${dim(rest)}`]),
    ...(await portalLink(sandbox)),
    ['Dev chain', `${cyan(sandbox.chain.rpc_url)} ${dim(`chain ${sandbox.chain.chain_id}`)}`],
    ['Test USDC', sandbox.chain.usdc_address],
  ]);
  printLine();
  table([
    ['svc-api-key', sandbox.merchant.api_key],
    ['private key', sandbox.merchant.private_key],
    ['exchange key', sandbox.exchange.api_key],
    ['its secret', sandbox.exchange.secret],
    ['for programs', `${place}/sandbox.json`],
    ['log', `${place}/service.log`],
  ]);
  // Programs use `.sandbox` of the folder, unless DATA_DIR names another one.
  const run = `${process.env.DATA_DIR ? `DATA_DIR=${place} ` : ''}npm run`;
  printLine(`\n  Sign in to the console, once, for 15 minutes: ${cyan(loginUrl)}`);
  printLine(
    `  ${dim(`Later: ${run} operator -- login-link administrator@sandbox.example --reason "sign in"`)}`,
  );
  printLine(`\n  Try it in a second shell:  ${bold(`${run} demo`)}, ${bold(`${run} demo -- exchange`)}`);
  printLine(`  Webhooks as they come:     ${bold(`${run} webhooks:listen`)}`);
  printLine(`  What operators do:         ${bold(`${run} admin -- --help`)}`);
  printLine(`  ${dim('Ctrl-C stops everything; what was written stays in')} ${dim(place)}\n`);
}

/** Opens the portal of the sandbox merchant once; nothing where no process serves it. */
async function portalLink(sandbox) {
  if (!(await isServed(sandbox.portal_url))) return [];
  const { merchant } = await clientsOf(sandbox);
  const created = await merchant.portalSessions
    .create({ actor: { id: 'sandbox', name: 'Sandbox' } })
    .catch(() => null);
  return created === null ? [] : [['Portal', `${cyan(created.data.url)} ${dim('once, for 15 minutes')}`]];
}

/** The screen shows what there is: a page that this process does not serve is left out. */
async function isServed(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(2000) }).catch(() => null);
  return response !== null && !(response.status === 404 && url.endsWith('/docs'));
}

async function mourn(service) {
  const { code, signal } = await service.exited;
  if (code === 0) return;
  const kept = signal === 'SIGKILL' ? '\nWhat it had accepted is kept: npm start brings it back.' : '';
  throw new Problem(`${ending(code, signal)}${kept}\nIts log: ${service.logFile}`);
}
