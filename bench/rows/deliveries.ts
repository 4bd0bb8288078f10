import { randomBytes } from 'node:crypto';
import { compare } from '../harness/compare.js';
import { alternate, type Variant } from '../harness/measure.js';
import type { Row, RowContext, RowOutcome } from '../harness/row.js';
import { seedEndpoints } from '../seed/deliveries.js';
import { isSigned, Receiver } from '../support/receiver.js';
import {
  bareDeliveries,
  IN_FLIGHT,
  serviceDeliveries,
  signingSecrets,
  type DeliveryTarget,
} from './deliveries-targets.js';

/** Webhook deliveries through the service, compared with the least that could send them. */
export const deliveriesRow: Row = {
  name: 'deliveries',
  title: 'webhook deliveries that are due, sent and recorded',
  run: runDeliveries,
};

async function runDeliveries(context: RowContext): Promise<RowOutcome> {
  const { environment, options } = context;
  context.progress('starting receiver, service and reference');
  const receiver = await Receiver.start(environment);
  const masterKey = randomBytes(32);
  const secrets = await signingSecrets(environment, masterKey);
  const endpoints = seedEndpoints(options.endpoints, (index) => receiver.url(`hooks/${index}`), secrets);
  const targets = [
    ...(await serviceDeliveries(environment, endpoints, masterKey, secrets)),
    await bareDeliveries(environment, endpoints),
  ];
  const variants = targets.map((target) => variantOf(context, receiver, target));
  const samples = await alternate(variants, options.rounds, context.progress);
  return {
    comparisons: [
      compare(samples, {
        label: 'compared with a bare loop: claim 500, POST, group-committed record',
        subject: 'one',
        reference: 'loop',
        goal: { atLeast: 0.6 },
      }),
      compare(samples, {
        label: 'many endpoints compared with one',
        subject: 'many',
        reference: 'one',
        goal: { atLeast: 0.8 },
      }),
    ],
    notes: [
      `${options.deliveries} deliveries per variant and round, at most ${IN_FLIGHT} in flight; ` +
        `many endpoints are ${options.endpoints}`,
    ],
  };
}

function variantOf(context: RowContext, receiver: Receiver, target: DeliveryTarget): Variant {
  return {
    name: target.name,
    run: async (round) => {
      const count = context.options.deliveries;
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
