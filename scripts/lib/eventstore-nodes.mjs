// Nodes of an EventStoreDB server that is installed on this machine, on loopback.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { Unreachable } from '../../packages/cli/src/usage.mjs';
import { Problem } from './terminal.mjs';

const NAMES = ['eventstored', 'EventStore.ClusterNode', 'EventStore.ClusterNode.dll'];
const HOST = '127.0.0.1';
const STARTED_WITHIN_MS = 120_000;
/** Between two starts of a node that ended. */
const RESTART_MS = 500;

/** How a server is started: an executable, or an assembly that needs `dotnet`. `given`: a file, or the folder that holds it. */
export function serverCommand(given = process.env.EVENTSTOREDB_SERVER) {
  const folders = given === undefined ? (process.env.PATH ?? '').split(delimiter) : [given];
  const isFile = (path) => existsSync(path) && statSync(path).isFile();
  const found = [
    ...(given !== undefined && isFile(given) ? [given] : []),
    ...folders.flatMap((folder) => NAMES.map((name) => join(folder, name))),
  ].find(isFile);
  if (found === undefined)
    throw new Unreachable(
      `There is no EventStoreDB server ${given === undefined ? 'on the PATH' : `in ${given}`} (${NAMES.join(', ')}). Install its package, or name its folder with --server or EVENTSTOREDB_SERVER.`,
    );
  return found.endsWith('.dll') ? ['dotnet', [found]] : [found, []];
}

/**
 * The settings of `size` nodes, without TLS unless certificates are given. They share 127.0.0.1 and have two ports each from
 * `port` on; with `hosts` each has its own address and the same two. `dir`: for logs, and for data unless it stays in memory.
 * `firstGid`: each node runs in a separate group from this one on, which requires root.
 */
export function nodesOf({
  size = 1,
  port = 2113,
  dir,
  inMemory = true,
  hosts = null,
  tls = null,
  firstGid = null,
}) {
  const ends = Array.from({ length: size }, (_, place) =>
    hosts === null ? { host: HOST, at: port + 2 * place } : { host: hosts[place], at: port },
  );
  const addresses = ends.map(({ host, at }) => `${host}:${at}`);
  return ends.map(({ host, at }, place) => {
    const address = addresses[place];
    const own = join(dir, `node-${place}`);
    return {
      name: `node-${place}`,
      dir: own,
      url: `${tls === null ? 'http' : 'https'}://${address}`,
      address,
      host,
      gid: firstGid === null ? undefined : firstGid + place,
      dispatcher: new Agent({ connect: { ca: tls?.ca } }),
      args: [
        ...(tls === null ? ['--insecure'] : tls.args),
        ...(inMemory ? ['--mem-db'] : [`--db=${join(own, 'data')}`]),
        `--node-ip=${host}`,
        `--node-port=${at}`,
        `--replication-ip=${host}`,
        `--replication-port=${at + 1}`,
        `--log=${join(own, 'log')}`,
        ...(size === 1
          ? []
          : [
              `--cluster-size=${size}`,
              '--discover-via-dns=false',
              `--gossip-seed=${addresses.filter((each) => each !== address).join(',')}`,
            ]),
      ],
    };
  });
}

/** `esdb://` address of nodes without TLS. */
export function addressOf(nodes) {
  return `esdb://${nodes.map(({ address }) => address).join(',')}?tls=false`;
}

/**
 * One node, which is started again whenever it ends: a leader that the others have deposed cuts its log and ends with exit code 0.
 */
export class SupervisedNode {
  child = null;
  stopped = false;

  constructor(node, command) {
    Object.assign(this, { node, command });
  }

  start() {
    const { dir, args, gid } = this.node;
    mkdirSync(dir, { recursive: true });
    const out = openSync(join(dir, 'out.log'), 'a');
    const [file, first] = this.command;
    // Its telemetry would leave the machine.
    const env = { ...process.env, EVENTSTORE_TELEMETRY_OPTOUT: 'true' };
    this.child = spawn(file, [...first, ...args], { env, gid, stdio: ['ignore', out, out] });
    this.child.on('error', (error) => (this.failure = error));
    this.child.on('exit', async () => {
      await sleep(RESTART_MS);
      if (!this.stopped) this.start();
    });
    return this;
  }

  get pid() {
    return this.child.pid;
  }

  stop() {
    this.stopped = true;
    this.child?.kill('SIGKILL');
  }
}

/** What `GET /info` says, null where the node does not respond. */
export async function stateOf({ url, dispatcher }) {
  try {
    const { body } = await request(`${url}/info`, { dispatcher, signal: AbortSignal.timeout(1000) });
    return (await body.json()).state;
  } catch {
    return null;
  }
}

/** Resolves with the leader. */
export async function untilLed(nodes, timeoutMs = STARTED_WITHIN_MS) {
  for (const until = performance.now() + timeoutMs; performance.now() < until; await sleep(200)) {
    const states = await Promise.all(nodes.map(stateOf));
    const leaders = nodes.filter((_, place) => states[place] === 'leader');
    // A former leader that was stopped does not know of the new one at once.
    if (leaders.length === 1) return leaders[0];
  }
  throw new Problem(
    `No node became the leader within ${timeoutMs / 1000} s: see the logs in ${nodes[0].dir}.`,
  );
}
