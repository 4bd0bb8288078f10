import type { INestApplicationContext } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { Command } from 'commander';
import { setTimeout as wait } from 'node:timers/promises';
import { DomainError } from '../../../kernel/domain-error.js';
import {
  withReason,
  type Reasoned,
  operate,
  type Operator,
  type Outcome,
} from '../../../platform/operator/operator.js';
import { ViewProgress } from '../../../platform/projections/view-progress.js';
import { EraseUser } from '../application/erase-user.js';
import { ERASING_SAGA } from '../application/erasing/erasing-saga.js';
import { leftOf } from './located.js';

/** What is dropped at once takes less; what has to wait is told of. */
const PATIENCE_MS = 5000;
const POLL_MS = 50;
/** The time for which a process keeps the keys of persons in memory. */
const CACHED = 'A process that read the user a moment ago can read the personal data for another minute.';

/** `user erase`: a person is forgotten for good. */
export function eraseCommand(
  program: Command,
  operator: Operator,
  userId: (text: string | undefined) => string,
): void {
  withReason(program.command('erase <user-id>'))
    .description('forget a deactivated user for good: all that tells who it was is dropped, payouts stay')
    .option('--yes', 'do it: nothing brings the data back, short of a backup')
    .action(async function (this: Command, id: string) {
      const { yes, ...act } = this.opts<Reasoned & { yes?: true }>();
      if (yes !== true)
        throw new DomainError(
          'bad_request',
          'Nothing brings the data back once they are erased: give --yes to go on',
        );
      await operate(operator, (context) => erase(context, new EraseUser(userId(id), act))).call(this);
    });
}

async function erase(context: INestApplicationContext, command: EraseUser): Promise<Outcome> {
  const { state, position } = await context.get(CommandBus).execute(command);
  const { userId } = command;
  const begun = await context.get(ViewProgress).reached(ERASING_SAGA, position);
  const left = begun ? await leftInTheEnd(context, userId) : 'everything: no worker has applied it yet';
  const text =
    left === null
      ? `The user is erased, and nothing is left to drop.\n${CACHED}`
      : `The user is erased. Workers have still to drop: ${left}.\n${CACHED}\nnpm run user -- show ${userId} tells when they are done.`;
  return { text, json: { user_id: userId, account_state: state.accountState, still_to_drop: left } };
}

async function leftInTheEnd(context: INestApplicationContext, userId: string): Promise<string | null> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const left = await leftOf(context, userId);
    if (left === null || performance.now() > deadline) return left;
    await wait(POLL_MS);
  }
}
