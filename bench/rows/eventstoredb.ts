import { freePort } from '../../sandbox/processes.js';
import {
  addressOf,
  nodesOf,
  serverCommand,
  SupervisedNode,
  untilLed,
} from '../../scripts/lib/eventstore-nodes.mjs';
import { compare } from '../harness/compare.js';
import { alternate, type Variant } from '../harness/measure.js';
import { row, expectEqual } from '../harness/row.js';
import { rebuildPayouts } from '../seed/ledger.js';
import { operatorEnv, startService, type ServiceProcess } from '../support/service.js';
import { measured, servedTarget, type Target } from './report.js';

const STORES = ['postgresql', 'eventstoredb'] as const;

/** The same service on EventStoreDB and on PostgreSQL: reports, and reads of the whole log. */
export const eventStoreDbRow = row(
  'eventstoredb',
  'the service on EventStoreDB, compared with the same on PostgreSQL',
  async (context) => {
    const { environment, progress } = context;
    const command = installed();
    if (typeof command === 'string') return { comparisons: [], notes: [`not run: ${command}`] };
    const dir = environment.folder('nodes');
    const nodes = nodesOf({ port: await freePort(), dir, inMemory: false });
    const node = new SupervisedNode(nodes[0]!, command).start();
    process.once('exit', () => node.stop());
    try {
      progress('starting EventStoreDB');
      await untilLed(nodes);
      const urls = { postgresql: {}, eventstoredb: { EVENT_STORE_URL: addressOf(nodes) } };
      const services: ServiceProcess[] = [];
      const targets: Target[] = [];
      for (const name of STORES) {
        // Checks of the pending payouts of one service would slow down the other.
        const env = { ...urls[name], PAYOUT_CHECK_INTERVAL_MS: '3600000' };
        const service = await startService(environment, { name, env });
        services.push(service);
        targets.push(await servedTarget(context, name, name, service, name === 'postgresql'));
      }
      const reports = await measured(context, targets);
      for (const service of services) await service.stop();
      const rebuilt = STORES.map((name, place): Variant => ({
        name,
        run: async () => {
          const env = { ...(await operatorEnv(environment, name)), ...urls[name] };
          const { events, seconds } = await rebuildPayouts(environment, { env });
          const { accepted, users } = targets[place]!;
          expectEqual(`${name}: payouts and users`, events, accepted + users.length);
          return { units: accepted, seconds };
        },
      }));
      const readings = await alternate(rebuilt, context.options.rounds, progress);
      const [reference, subject] = STORES;
      return {
        comparisons: [
          compare(reports, { label: 'reports', subject, reference, goal: { atLeast: 0.05 } }),
          compare(readings, {
            label: 'rebuild of the read models of payouts, which reads the log from its first event on',
            ...{ subject, reference, goal: { atLeast: 0.2 } },
          }),
        ],
        notes: [`${targets[0]!.accepted} reports to each`],
      };
    } finally {
      node.stop();
    }
  },
);

/** The server's command, or the reason why there is none. */
function installed(): ReturnType<typeof serverCommand> | string {
  try {
    return serverCommand();
  } catch (error) {
    return (error as Error).message;
  }
}
