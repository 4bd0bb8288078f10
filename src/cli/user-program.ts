import type { INestApplicationContext } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Command } from 'commander';
import { ViewProgress } from '../event-store/subscriptions/view-progress.js';
import { DomainError } from '../kernel/domain-error.js';
import { isUuid } from '../kernel/ids.js';
import { CompleteDeactivation } from '../users/application/complete-deactivation.js';
import { DEACTIVATION_SAGA } from '../users/application/deactivation-saga.js';
import { StartDeactivation } from '../users/application/start-deactivation.js';
import type { UserChanged } from '../users/application/user-changed.js';
import { operate, type OperatorIo, type Outcome } from './operator.js';

/** `npm run user -- ...`: what operators do with users. */
export function userProgram(io: OperatorIo): Command {
  const program = new Command('user')
    .description('Deactivates users.')
    .option('--json', 'print JSON for machines');

  program
    .command('deactivate <user-id>')
    .description('accept no more payouts for the user, who is deactivated once none is pending')
    .action(operate(io, (context, id) => change(context, new StartDeactivation(userId(id)))));

  program
    .command('complete-deactivation <user-id>')
    .description('deactivate at once a user who has no pending payout; the service does it by itself too')
    .action(operate(io, (context, id) => change(context, new CompleteDeactivation(userId(id)))));

  return program;
}

/** Waits until the saga has counted the change, so that what is said next rests on it. */
async function change(
  context: INestApplicationContext,
  command: StartDeactivation | CompleteDeactivation,
): Promise<Outcome> {
  const { state, position }: UserChanged = await context.get(CommandBus).execute(command);
  await context.get(ViewProgress).reached(DEACTIVATION_SAGA, position);
  return {
    text: `The user is ${state.accountState}`,
    json: { user_id: command.userId, account_state: state.accountState },
  };
}

function userId(text: string | undefined): string {
  if (!isUuid(text)) throw DomainError.notFound('User');
  return text.toLowerCase();
}
