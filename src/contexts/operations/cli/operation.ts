import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import type { OperationJson } from '../../../platform/operations/operations.js';
import {
  limitOption,
  cliAction,
  parseId,
  type CliContext,
  type CliOutcome,
} from '../../../platform/cli/cli-context.js';
import { requesterOf } from '../../../platform/cli/requester.js';
import { whyOf, withReason } from '../../../platform/cli/write.js';
import { OperationDecisions } from '../application/decide-operation.js';
import { OperationStreams } from '../application/operation-streams.js';
import { existingOperation } from '../domain/operation.js';
import { operationJson } from '../views/operation-json.js';
import { OperationsView } from '../views/operations.js';

const DECISIONS = [
  ['approve', 'execute an operation that another person requested'],
  ['reject', 'reject an operation, or withdraw your own'],
  ['confirm', 'confirm an operation that was executed at once'],
] as const;

/** `npm run operation -- ...`: what operators did, and the decisions of second persons, with DISBURSE_ADMIN_KEY. */
export function operationProgram(program: Command, cli: CliContext): void {
  program.description('Shows operations of operators, and decides on them.');

  program
    .command('list')
    .description('list operations, newest first')
    .option('--status <status>', 'such as pending_approval or unconfirmed')
    .addOption(limitOption())
    .action(
      cliAction(cli, async function (context) {
        const { status, limit: pageSize } = this.opts<{ status?: string; limit: number }>();
        const view = context.get(OperationsView, { strict: false });
        const { operations } = await view.page(null, { status, page: { pageSize } });
        return { text: operations.map(lineOf).join('\n') || 'No operations', json: { operations } };
      }),
    );

  program
    .command('show <operation-id>')
    .description('show an operation; npm run audit -- explain operation ID leads to what it changed')
    .action(
      cliAction(cli, async (context, id) => {
        const log = context.get(OperationStreams, { strict: false });
        const { state } = await log.load(parseId(id, 'Operation'));
        return displayed(operationJson(existingOperation(state)));
      }),
    );

  for (const [decision, description] of DECISIONS)
    withReason(program.command(`${decision} <operation-id>`).description(description)).action(
      cliAction(cli, async function (context, id) {
        return decide(this, context, cli, decision, parseId(id, 'Operation'));
      }),
    );
}

async function decide(
  command: Command,
  context: INestApplicationContext,
  cli: CliContext,
  decision: (typeof DECISIONS)[number][0],
  id: string,
): Promise<CliOutcome> {
  const { reason } = whyOf(command);
  const requester = await requesterOf(context, cli);
  const decisions = context.get(OperationDecisions, { strict: false });
  const { operation, result } = await decisions[decision](id, requester, reason);
  const { login_url: url } = result as { readonly login_url?: string };
  const { text, json } = displayed(operation);
  return {
    text: url === undefined ? text : `${text}\n\n  login, once: ${url}`,
    json: { ...json, login_url: url },
  };
}

function lineOf({ id, name, status, subject, requested_by, requested_at }: OperationJson): string {
  return `${requested_at}  ${id}  ${status.padEnd(16)}  ${name}  ${subject.kind} ${subject.id}  by ${requested_by.name}`;
}

function displayed(operation: OperationJson): CliOutcome {
  const { subject, requested_by, decided_by, failure, parameters, ...rest } = operation;
  const rows = {
    ...rest,
    subject: `${subject.kind} ${subject.id}, revision ${subject.revision ?? 'none'}`,
    parameters: JSON.stringify(parameters),
    requested_by: requested_by.name,
    decided_by: decided_by?.name ?? null,
    failure: failure === null ? null : `${failure.code}: ${failure.message}`,
  };
  const lines = Object.entries(rows).map(([name, value]) => `  ${name.padEnd(16)}  ${value ?? 'none'}`);
  return { text: lines.join('\n'), json: { operation } };
}
