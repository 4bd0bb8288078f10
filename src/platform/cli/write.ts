import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { DomainError } from '../../kernel/domain-error.js';
import { Fault } from '../../kernel/fault.js';
import { reasonRule, ticketRule } from '../http/admin/writes.js';
import type { AnyCommand, OperatorCommand } from '../operations/operation.js';
import { Operations, type OperationJson, type OperationOutcome } from '../operations/operations.js';
import { cliAction, type CliContext, type CliOutcome } from './cli-context.js';
import { requesterOf } from './requester.js';

/** The request of a program, at the revision that the subject has now. */
export type ProgramWrite = readonly [command: AnyCommand, merchantId: string | null];

/** Requests an operation, and resolves with the result of its execution. What follows is left out while a second person is awaited. */
export type Write = <Result extends object | void>(
  command: OperatorCommand<object, Result>,
  merchantId: string | null,
) => Promise<Result>;

interface WhyOptions {
  readonly reason?: string;
  readonly ticket?: string;
}

/** Ends an action whose operation waits for its approval. */
class Waiting extends Error {
  override readonly name = 'Waiting';
}

/** Adds `--reason`, which is required, and `--ticket`: every write of a program has them (admin-api.md 4). */
export function withReason(command: Command): Command {
  return command
    .requiredOption('--reason <text>', 'why, in 3 to 500 characters; it is kept for ever: no personal data')
    .option('--ticket <text>', 'the ticket that it belongs to');
}

/** The reason and ticket of a program, as in the body of a write. Throws `validation_failed` on `reason` or `ticket`. */
export function whyOf(command: Command): { readonly reason: string; readonly ticket: string | null } {
  const { reason, ticket } = command.opts<WhyOptions>();
  const read = (name: string, value: unknown): unknown => {
    if (value instanceof Fault) throw DomainError.invalid({ [name]: [value.message] });
    return value;
  };
  return {
    reason: read(
      'reason',
      reason === undefined ? new Fault('is required') : reasonRule.read(reason),
    ) as string,
    ticket: ticket === undefined ? null : (read('ticket', ticketRule.read(ticket)) as string),
  };
}

/** For an action that writes: what it requests is in `requested`. */
export async function writerOf(
  command: Command,
  context: INestApplicationContext,
  cli: CliContext,
): Promise<{ readonly write: Write; readonly requested: readonly OperationOutcome[] }> {
  const why = whyOf(command);
  const requester = await requesterOf(context, cli);
  const operations = context.get(Operations, { strict: false });
  const requested: OperationOutcome[] = [];
  const write = async (...[command, merchantId]: ProgramWrite): Promise<object> => {
    const outcome = await operations.request(command, { ...why, requester, revision: null, merchantId });
    requested.push(outcome);
    if (outcome.operation.status === 'pending_approval') throw new Waiting('it waits for its approval');
    return outcome.result;
  };
  return { write: write as Write, requested };
}

/** Gives the command an action that writes: what it changes, it requests by {@link Write}. */
export function writes(
  command: Command,
  cli: CliContext,
  act: (
    this: Command,
    context: INestApplicationContext,
    write: Write,
    ...args: string[]
  ) => Promise<CliOutcome>,
): Command {
  return withReason(command).action(
    cliAction(cli, async function (context, ...args) {
      const { write, requested } = await writerOf(this, context, cli);
      try {
        const outcome = await act.call(this, context, write, ...args);
        return withOperations(
          outcome,
          requested.map(({ operation }) => operation),
        );
      } catch (error) {
        if (!(error instanceof Waiting)) throw error;
        return waiting(requested.at(-1)!, cli);
      }
    }),
  );
}

function withOperations({ text, json }: CliOutcome, requested: readonly OperationJson[]): CliOutcome {
  const lines = requested.map(({ id, status, expires_at }) =>
    status === 'unconfirmed'
      ? `Operation ${id}: another person must confirm it until ${expires_at}.`
      : `Operation ${id}`,
  );
  return {
    text: lines.length === 0 ? text : `${text}\n\n${lines.join('\n')}`,
    json: { ...json, ...(requested.length > 0 && { operation_id: requested.at(-1)!.id }) },
  };
}

function waiting({ operation, result }: OperationOutcome, cli: CliContext): CliOutcome {
  const { id, expires_at } = operation;
  const { adminUrl } = cli.config();
  const where = adminUrl === null ? 'the console' : `the console, ${adminUrl}/`;
  return {
    text: [
      `Nothing is changed yet: operation ${id} waits until ${expires_at} for the approval of a second person.`,
      `Another person approves it in ${where},`,
      `or with an own DISBURSE_ADMIN_KEY: npm run operation -- approve ${id} --reason <text>`,
    ].join('\n'),
    json: { operation, ...result },
  };
}
