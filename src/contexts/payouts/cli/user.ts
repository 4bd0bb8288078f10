import type { INestApplicationContext } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { Command } from 'commander';
import {
  parseId,
  withReason,
  type ReasonOptions,
  operate,
  type Operator,
  type Outcome,
} from '../../../platform/operator/operator.js';
import { ViewProgress } from '../../../platform/projections/view-progress.js';
import { StartDeactivation, type UserChanged } from '../../users/contract.js';
import { DEACTIVATION_SAGA } from '../application/deactivation-saga.js';
import { SettleDeactivation } from '../application/deactivation-worker.js';

/** `npm run user -- ...`: the deactivation of users, which waits for their payouts. */
export function deactivationProgram(program: Command, operator: Operator): void {
  withReason(program.command('deactivate <user-id>'))
    .description(
      'accept no more payouts for the user, who is deactivated once none is pending; there is no way back',
    )
    .action(
      operate(operator, function (context, id) {
        return change(context, new StartDeactivation(parseId(id, 'User'), this.opts<ReasonOptions>()));
      }),
    );

  program
    .command('complete-deactivation <user-id>')
    .description('deactivate at once a user who has no pending payout; the service does it automatically too')
    .action(operate(operator, (context, id) => change(context, new SettleDeactivation(parseId(id, 'User')))));
}

/** Waits until the saga has counted the change, so that what is said next rests on it. */
async function change(
  context: INestApplicationContext,
  command: StartDeactivation | SettleDeactivation,
): Promise<Outcome> {
  const { state, position }: UserChanged = await context.get(CommandBus).execute(command);
  await context.get(ViewProgress).reached(DEACTIVATION_SAGA, position);
  return {
    text: `The user is ${state.accountState}`,
    json: { user_id: command.userId, account_state: state.accountState },
  };
}
