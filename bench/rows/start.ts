import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../sandbox/processes.js';
import { compare } from '../harness/compare.js';
import { alternate, type Variant } from '../harness/measure.js';
import { row, expectEqual, type RowContext } from '../harness/row.js';
import { lastWords, type Child } from '../support/children.js';
import { residentMiB } from '../support/memory.js';
import { ServiceProcess, startService } from '../support/service.js';
import { eventually } from '../support/wait.js';

const IDLE_MS = 5000;
/** Cheap polling, which does not slow down the start. */
const EVERY_MS = 4;

interface Starting {
  readonly child: Child;
  readonly port: number;
}

/** The time from the spawn of the process to the first 200 of GET /health/ready. */
export const startRow = row(
  'start',
  'cold start of node dist/main.js to ready, all roles, on a warm database',
  async (context) => {
    const { environment, options } = context;
    context.progress('preparing the database');
    const first = await startService(environment, { name: 'start' });
    await first.stop();

    const idle = new Map<string, number>();
    const starters: readonly (readonly [string, () => Promise<Starting>])[] = [
      ['service', () => new ServiceProcess(environment, { name: 'start' }).spawn()],
      ['bare', () => spawnBare(context)],
    ];
    const variants = starters.map(([name, spawn]): Variant => {
      return {
        name,
        run: async (round) => {
          const start = performance.now();
          const { child, port } = await spawn();
          await eventually('ready', () => isReady(port), 60_000, EVERY_MS).catch((error: Error) => {
            throw new Error(`${error.message}\n${lastWords(child.log)}`);
          });
          const seconds = (performance.now() - start) / 1000;
          if (round === options.rounds) {
            await sleep(IDLE_MS);
            idle.set(name, residentMiB(child.pid));
          }
          await child.stop();
          expectEqual(
            `${name}: ended on SIGTERM`,
            /^(exit code 0|exit code 143|signal SIGTERM)$/.test(child.exited() ?? ''),
            true,
          );
          return { units: 1, seconds };
        },
      };
    });
    const samples = await alternate(variants, options.rounds, context.progress);
    return {
      comparisons: [
        compare(samples, {
          label: 'compared with a bare Fastify and pg process',
          subject: 'service',
          reference: 'bare',
          goal: { atMost: 3 },
        }),
      ],
      notes: [
        `memory after ${IDLE_MS / 1000} s idle: service ${idle.get('service')} MiB, bare ${idle.get('bare')} MiB resident`,
      ],
    };
  },
);

async function spawnBare({ environment }: RowContext): Promise<Starting> {
  const port = await freePort();
  const child = environment.children.start({
    name: 'start-server',
    args: [fileURLToPath(new URL('../bare/start-server.mjs', import.meta.url))],
    dir: environment.folder('bare'),
    env: { DATABASE_URL: await environment.database('start'), PORT: String(port) },
  });
  return { child, port };
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () =>
      socket.write('GET /health/ready HTTP/1.1\r\nhost: bench\r\nconnection: close\r\n\r\n'),
    );
    socket.once('data', (chunk) => {
      resolve(chunk.toString('latin1').startsWith('HTTP/1.1 200'));
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}
