import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { writes } from '../../../platform/cli/write.js';
import {
  limitOption,
  cliAction,
  parseId,
  secondsOf,
  type CliContext,
  type CliOutcome,
} from '../../../platform/cli/cli-context.js';
import { ResendDelivery } from '../application/delivery-commands.js';
import { describeDelivery } from '../application/delivery-descriptions.js';
import { DeliveriesView } from '../views/deliveries.js';
import { StuckDeliveries, STUCK_DAYS, type DeliveryFacts } from '../views/stuck-deliveries.js';
import { unknownProgram } from './unknown.js';

/** `npm run delivery -- ...`: webhook deliveries that are stuck, and how they continue. */
export function deliveryProgram(program: Command, cli: CliContext): void {
  program.description('Shows webhook deliveries of any merchant, and sends them again.');

  program
    .command('stuck')
    .description(`list deliveries that wait for long, and those exhausted in the last ${STUCK_DAYS} days`)
    .option('--older-than <duration>', 'pending for so long, such as 15m, 1h or 2d', '15m')
    .addOption(limitOption())
    .action(
      cliAction(cli, function (context) {
        return stuck(context, this.opts<StuckOptions>());
      }),
    );

  program
    .command('show <delivery-id>')
    .description('show what became of a delivery, each attempt, and what to do next')
    .action(cliAction(cli, (context, id) => show(context, parseId(id, 'Delivery'))));

  unknownProgram(program, cli);

  writes(
    program
      .command('resend <delivery-id>')
      .description('send a delivery again at once, under the same webhook-id'),
    cli,
    async (context, write, given) => {
      const id = parseId(given, 'Delivery');
      const found = await context.get(DeliveriesView).find(id);
      if (found === null) throw DomainError.notFound('Delivery');
      await write(new ResendDelivery(id), found.merchant_id);
      return { text: 'The delivery is sent again as soon as a worker runs', json: { delivery_id: id } };
    },
  );
}

interface StuckOptions {
  readonly olderThan: string;
  readonly limit: number;
}

async function stuck(
  context: INestApplicationContext,
  { olderThan, limit }: StuckOptions,
): Promise<CliOutcome> {
  const rows = await context.get(StuckDeliveries).stuck(secondsOf(olderThan), limit);
  const now = context.get<Clock>(CLOCK, { strict: false }).now();
  const nothing = `Nothing is stuck: no delivery has been pending for longer than ${olderThan}, none was exhausted in the last ${STUCK_DAYS} days`;
  const text = rows.map((row) => linesOf(row, now)).join('\n') || nothing;
  const displays = { subject: 'deliveries', merchantIds: rows.map(({ merchant_id }) => merchant_id) };
  return {
    text,
    displays,
    json: { deliveries: rows.map((row) => ({ ...row, ...describeDelivery(row, now) })) },
  };
}

function linesOf(facts: DeliveryFacts, now: Date): string {
  const { what, next } = describeDelivery(facts, now);
  const { created_at, delivery_id, merchant_id, type, state } = facts;
  const head = `${created_at.toISOString()}  ${delivery_id}  merchant ${merchant_id}  ${type}  ${state}`;
  return `${head}\n  ${what}\n  next: ${next}`;
}

interface Attempt {
  readonly attempt: number;
  readonly started_at: string;
  readonly latency_ms: number;
  readonly http_status: number | null;
  readonly error_class: string | null;
  readonly error: string | null;
}

async function show(context: INestApplicationContext, id: string): Promise<CliOutcome> {
  const [facts, detail] = await Promise.all([
    context.get(StuckDeliveries).of(id),
    context.get(DeliveriesView).detail(null, id),
  ]);
  if (facts === null || detail === null) throw DomainError.notFound('Delivery');
  const description = describeDelivery(facts, context.get<Clock>(CLOCK, { strict: false }).now());
  const delivery = JSON.parse(detail.text) as { readonly attempts: readonly Attempt[] };
  const { attempts, ...rest } = delivery;
  const lines = Object.entries(rest)
    .filter(([name]) => name !== 'payload')
    .map(([name, value]) => `  ${name.padEnd(20)}  ${String(value ?? 'none')}`);
  const text = [
    ...lines,
    ...attempts.map(attemptLine),
    '',
    `  ${description.what}`,
    `  next: ${description.next}`,
  ];
  const displays = { subject: `delivery ${id}`, merchantIds: [facts.merchant_id] };
  return { text: text.join('\n'), json: { delivery, ...description }, displays };
}

function attemptLine({ attempt, started_at, latency_ms, http_status, error_class, error }: Attempt): string {
  const outcome = [http_status ?? error_class, error].filter((part) => part !== null).join(': ');
  return `  attempt ${attempt}  ${started_at}  ${outcome}  after ${latency_ms} ms`;
}
