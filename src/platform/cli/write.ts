import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { DomainError } from '../../kernel/domain-error.js';
import { Fault } from '../../kernel/fault.js';
import type { Rule } from '../dto/field.js';
import { reasonRule, ticketRule } from '../http/admin/writes.js';
import type { OperatorCommand } from '../operations/operation.js';
import { OperatorDirectory, Operations, SHELL, type OperationJson } from '../operations/operations.js';
import { cliAction, type CliContext, type CliOutcome } from './cli-context.js';

/** Requests an operation as the shell. Throws Waiting if a second person must approve it. */
type Write = <Result extends object | void>(
  command: OperatorCommand<object, Result>,
  merchantId: string | null,
) => Promise<Result>;

class Waiting extends Error {
  override readonly name = 'Waiting';
}

function read(name: string, rule: Rule, text: string): string {
  const value = rule.read(text);
  if (value instanceof Fault) throw DomainError.invalid({ [name]: [value.message] });
  return value as string;
}

/** Returns `write` and the operations it requested. Throws `validation_failed` for a bad reason or ticket. */
export function createWriter(command: Command, context: INestApplicationContext) {
  const given = command.opts<{ reason?: string; ticket?: string }>();
  const reason = read('reason', reasonRule, given.reason ?? '');
  const ticket = given.ticket === undefined ? null : read('ticket', ticketRule, given.ticket);
  const { allScopes: scopes } = context.get(OperatorDirectory, { strict: false });
  const operations = context.get(Operations, { strict: false });
  const requested: OperationJson[] = [];
  const write = async (command: OperatorCommand<object, object>, merchantId: string | null) => {
    const request = { reason, ticket, requester: { ...SHELL, scopes }, revision: null, merchantId };
    const { operation, result } = await operations.request(command, request);
    requested.push(operation);
    if (operation.status === 'pending_approval') throw new Waiting('it waits for its approval');
    return result;
  };
  return { write: write as Write, requested };
}

/** Adds the options `--reason` and `--ticket`, which createWriter reads. */
export function withReason(command: Command): Command {
  return command
    .requiredOption('--reason <text>', 'why, in 3 to 500 characters; it is kept for ever: no personal data')
    .option('--ticket <text>', 'the ticket that it belongs to');
}

/** Adds `--reason`, `--ticket` and an action that changes data through `write`. */
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
  const action = cliAction(cli, async function (context, ...args) {
    const { write, requested } = createWriter(this, context);
    try {
      const { text, json } = await act.call(this, context, write, ...args);
      const { id } = requested[0]!;
      return { text: `${text}\n\nOperation ${id}`, json: { ...json, operation_id: id } };
    } catch (error) {
      if (!(error instanceof Waiting)) throw error;
      return waiting(requested[0]!);
    }
  });
  return withReason(command).action(action);
}

function waiting(operation: OperationJson): CliOutcome {
  const { id, expires_at } = operation;
  return {
    text: [
      `Nothing is changed yet: operation ${id} waits until ${expires_at} for the approval of a second person,`,
      'in the console, or with the DISBURSE_ADMIN_KEY of that person:',
      `npm run admin -- operations approve ${id} --reason <text>`,
    ].join('\n'),
    json: { operation },
  };
}
