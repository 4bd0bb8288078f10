import { randomBytes } from 'node:crypto';
import { ChaosRedis } from '../../test/chaos/support/webhooks/redis.js';
import { compare, type Comparison } from '../harness/compare.js';
import { alternate, type Variant } from '../harness/measure.js';
import type { Row, RowContext, RowOutcome } from '../harness/row.js';
import { seedEndpoints } from '../seed/deliveries.js';
import { isSigned, Receiver } from '../support/receiver.js';
import {
  bareDeliveries,
  serviceDeliveries,
  signingSecrets,
  UNDER_WAY,
  type DeliveryTarget,
} from './deliveries-targets.js';

const COMPARISONS: readonly Comparison[] = [
  {
    label: 'beside a bare loop: claim 500, POST, group-committed record',
    subject: 'one',
    reference: 'loop',
    goal: { atLeast: 0.6 },
  },
  {
    label: 'beside one BullMQ job per delivery on PostgreSQL',
    subject: 'one',
    reference: 'jobs-postgres',
    goal: { atLeast: 5 },
  },
  {
    label: 'beside one BullMQ job per delivery on Redis',
    subject: 'one',
    reference: 'jobs-redis',
    goal: { atLeast: 1.5 },
  },
  {
    label: 'many endpoints beside one',
    subject: 'many',
    reference: 'one',
    goal: { atLeast: 0.8 },
  },
];

/** Webhook deliveries through the service, beside the least that could send them and one job for each. */
export const deliveriesRow: Row = {
  name: 'deliveries',
  title: 'webhook deliveries that are due, sent and recorded',
  run: runDeliveries,
};

async function runDeliveries(context: RowContext): Promise<RowOutcome> {
  const { environment, options } = context;
  context.progress('starting receiver, service and references');
  const receiver = await Receiver.start(environment);
  const redis = await ChaosRedis.start(environment.folder('redis')).catch(() => null);
  try {
    const masterKey = randomBytes(32);
    const secrets = await signingSecrets(environment, masterKey);
    const endpoints = seedEndpoints(options.endpoints, (index) => receiver.url(`hooks/${index}`), secrets);
    const [service, bare] = [
      await serviceDeliveries(environment, endpoints, masterKey, secrets),
      await bareDeliveries(environment, endpoints, redis?.url ?? null),
    ];
    const variants = [...service, ...bare].map((target) => variantOf(context, receiver, target));
    const samples = await alternate(variants, options.rounds, context.progress);
    const comparisons = COMPARISONS.filter(({ reference }) => samples.has(reference));
    return {
      comparisons: comparisons.map((comparison) => compare(samples, comparison)),
      notes: [
        `${options.deliveries} deliveries per variant and round, ${options.jobs} where each is a job on PostgreSQL, ` +
          `at most ${UNDER_WAY} under way; many endpoints are ${options.endpoints}`,
        ...(redis === null ? ['redis-server did not start (is it installed?): its variant is left out'] : []),
      ],
    };
  } finally {
    await redis?.stop();
  }
}

function variantOf(context: RowContext, receiver: Receiver, target: DeliveryTarget): Variant {
  return {
    name: target.name,
    run: async (round) => {
      const count = target.deliveries(context.options);
      const when = `${target.name}, ${round < 0 ? 'warm-up' : `round ${round + 1}`}`;
      await receiver.expect(count);
      const seconds = await target.send(count, receiver);
      const received = await receiver.all();
      const { checks } = context;
      checks.equal(`${when}: requests`, received.requests, count);
      checks.equal(`${when}: ids`, received.ids, count);
      checks.equal(`${when}: endpoints`, received.paths, target.endpoints.length);
      const sent = target.endpoints.find(({ url }) =>
        received.sample.head.startsWith(`POST ${new URL(url).pathname} `),
      );
      checks.equal(`${when}: the first was signed`, isSigned(received.sample, sent!.secret), true);
      checks.equal(`${when}: rows`, await target.recorded(), { deliveries: count, attempts: count });
      return { units: count, seconds };
    },
  };
}
