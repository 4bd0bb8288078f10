#!/usr/bin/env node
// npm run eventstore [-- --cluster] [--port N] [--data FOLDER] [--server PATH]: an installed EventStoreDB server for tests, or three as a
// cluster, on loopback, without TLS, in memory unless a folder is named. Ctrl-C ends it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { addressOf, nodesOf, serverCommand, SupervisedNode, untilLed } from './lib/eventstore-nodes.mjs';
import { complain, printLine, step } from './lib/terminal.mjs';
import { Usage } from '../packages/cli/src/usage.mjs';

const CLUSTER = 3;

try {
  const { values } = parseArgs({
    options: {
      cluster: { type: 'boolean', default: false },
      port: { type: 'string', default: '2113' },
      data: { type: 'string' },
      server: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    printLine('npm run eventstore -- [--cluster] [--port N] [--data FOLDER] [--server PATH]');
    process.exit(0);
  }
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 1024 || port > 65_500)
    throw new Usage('--port must be a number from 1024 to 65500.');
  const command = serverCommand(values.server);
  const dir = values.data ?? mkdtempSync(join(tmpdir(), 'disburse-eventstore-'));
  const nodes = nodesOf({
    size: values.cluster ? CLUSTER : 1,
    port,
    dir,
    inMemory: values.data === undefined,
  });
  const running = nodes.map((node) => new SupervisedNode(node, command));
  // From here on: nodes that were started end with this process.
  const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  try {
    for (const each of running) each.start();
    const led = step('EventStoreDB', async () => {
      const leader = await untilLed(nodes);
      return values.cluster ? `the leader is ${leader.name}` : 'ready';
    });
    led.catch(() => undefined);
    if ((await Promise.race([led.then(() => 'led'), interrupted])) === 'led')
      printLine(`EVENTSTOREDB_URL='${addressOf(nodes)}'`);
    await interrupted;
  } finally {
    for (const each of running) each.stop();
    if (values.data === undefined) rmSync(dir, { recursive: true, force: true });
  }
  process.exit();
} catch (error) {
  complain(error);
}
