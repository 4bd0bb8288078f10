import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { knownTypes } from '../context.js';
import type { EventStore } from '../event-store/port.js';
import { Checkpoints } from '../projections/checkpoints.js';
import { PassingTypes, type PassingType } from '../projections/passing-types.js';
import type { Database } from '../postgres/database.js';
import { HoldEventType, LetEventTypePass } from './system-commands.js';
import { connected } from './connected.js';
import type { CliContext, CliOutcome } from './cli-context.js';
import { writes, type Write } from './write.js';

/** `npm run subscriptions -- ...`: how far they are, and what they do about types that no version here knows (ADR 96). */
export function subscriptionsProgram(program: Command, cli: CliContext): void {
  program.description('Shows how far subscriptions are, and lets unknown types of events pass.');
  const known = knownTypes(cli.contexts);
  const say = (text: string, json: object): void =>
    cli.print(program.opts<{ json?: boolean }>().json === true ? JSON.stringify(json, null, 2) : text);

  program
    .command('show')
    .description('the checkpoint of each subscription, its next event, and which types may pass')
    .action(() =>
      connected(cli, async (database, store) => {
        const subscriptions = await statuses(database, store, known);
        const let_pass = await new PassingTypes(database).all();
        say(describe(subscriptions, let_pass), { subscriptions, let_pass });
      }),
    );

  const onType =
    (Kind: typeof LetEventTypePass | typeof HoldEventType, done: string) =>
    async (_: INestApplicationContext, write: Write, type: string): Promise<CliOutcome> => {
      await write(new Kind(type), null);
      return { text: `${done} ${type}`, json: { type } };
    };
  writes(
    program
      .command('let-pass <type>')
      .description(
        'subscriptions go past events of this type, for good: only for types that no version will need',
      ),
    cli,
    onType(LetEventTypePass, 'Subscriptions go past'),
  );
  writes(
    program
      .command('hold <type>')
      .description(
        'removes the rule; a process that went past one of this type does so until it is restarted',
      ),
    cli,
    onType(HoldEventType, 'Subscriptions wait at'),
  );
}

/** The checkpoint of each subscription, and its next event. */
async function statuses(database: Database, store: EventStore, knownTypes: ReadonlySet<string>) {
  const all = [];
  for (const { name, position } of await new Checkpoints(database).all()) {
    const [event] = await store.readAll(position, 1);
    const next = event && {
      type: event.type,
      recorded_at: event.recordedAt,
      known: knownTypes.has(event.type),
    };
    all.push({ name, position, next: next ?? null });
  }
  return all;
}

function describe(
  subscriptions: Awaited<ReturnType<typeof statuses>>,
  passing: readonly PassingType[],
): string {
  const width = Math.max(0, ...subscriptions.map(({ name }) => name.length));
  const lines = subscriptions.map(({ name, position, next }) => {
    const where = `${name.padEnd(width)}  at ${position ?? 'the start'}`;
    if (next === null) return `${where}, the end`;
    const unknown = next.known ? '' : ', unknown to this version';
    return `${where}, next ${next.type} of ${next.recorded_at.toISOString()}${unknown}`;
  });
  const rules = passing.map(
    ({ type, reason, allowed_at }) => `${type} may pass since ${allowed_at.toISOString()}: ${reason}`,
  );
  return [...lines, ...rules].join('\n');
}
