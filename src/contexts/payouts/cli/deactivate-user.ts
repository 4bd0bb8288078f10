import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { parseId, type CliContext, type CliOutcome } from '../../../platform/cli/cli-context.js';
import { writes } from '../../../platform/cli/write.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { LocateUser, StartDeactivation } from '../../users/contract.js';
import { SettleDeactivation } from '../application/deactivation-worker.js';
import { PAYOUT_VIEWS } from '../views/audited-payouts.js';

/** `npm run user -- ...`: the deactivation of users, which waits for their payouts. */
export function deactivationProgram(program: Command, cli: CliContext): void {
  const change = (command: Command, Kind: typeof StartDeactivation | typeof SettleDeactivation): Command =>
    writes(command, cli, async (context, write, id) => {
      const userId = parseId(id, 'User');
      const merchantId = await context.get(LocateUser, { strict: false }).merchantOf(userId);
      await write(new Kind(userId), merchantId);
      return changed(context, userId);
    });
  change(
    program
      .command('deactivate <user-id>')
      .description(
        'accept no more payouts for the user, who is deactivated once none is pending; there is no way back',
      ),
    StartDeactivation,
  );
  change(
    program
      .command('complete-deactivation <user-id>')
      .description(
        'deactivate at once a user who has no pending payout; the service does it automatically too',
      ),
    SettleDeactivation,
  );
}

/** Waits until the read model has the change: a deactivation that follows rests on it. */
async function changed(context: INestApplicationContext, userId: string): Promise<CliOutcome> {
  await context.get(SubscriptionProgress).waitUntilCurrent(PAYOUT_VIEWS);
  const { accountState } = (await context.get(LocateUser, { strict: false }).by({ userId }))!;
  return { text: `The user is ${accountState}`, json: { user_id: userId, account_state: accountState } };
}
