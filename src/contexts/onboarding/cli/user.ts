import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import {
  parseId,
  limitOption,
  cliAction,
  secondsOf,
  type CliContext,
  type CliOutcome,
} from '../../../platform/cli/cli-context.js';
import { writes } from '../../../platform/cli/write.js';
import { LocateUser } from '../../users/contract.js';
import { DecideReview, RetryStep } from '../application/operator-commands.js';
import { Progress, type Stuck } from '../views/progress.js';

/** `npm run user -- ...`: onboardings that wait, and how operators continue them. */
export function onboardingProgram(program: Command, cli: CliContext): void {
  program
    .command('stuck')
    .description('list onboardings that wait for the service, for a provider or after a failure')
    .option('--older-than <duration>', 'only those that have waited so long, such as 30m, 1h or 2d', '1h')
    .addOption(limitOption())
    .action(
      cliAction(cli, function (context) {
        return stuck(context, this.opts<StuckOptions>());
      }),
    );

  writes(
    program
      .command('retry <user-id>')
      .description('retry the step that the onboarding waits for now: identity, wallet, card, activation'),
    cli,
    async (context, write, id) => {
      const userId = parseId(id, 'User');
      const { stage } = await write(new RetryStep(userId), await merchantOf(context, userId));
      const text = `The onboarding is at ${stage}: the service retries it as soon as it runs`;
      return { text, json: { user_id: userId, stage } };
    },
  );

  writes(
    program
      .command('review <user-id>')
      .description('decide an identity that the sandbox keeps under review (last name Review)')
      .option('--approve', 'it passes')
      .option('--reject', 'it fails; the person reads that the check was not passed'),
    cli,
    async function (context, write, id) {
      const [userId, decision] = [parseId(id, 'User'), decisionOf(this.opts<Decision>())];
      await write(new DecideReview(userId, { decision }), await merchantOf(context, userId));
      const outcome = decision === 'approve' ? 'passes' : 'is rejected';
      const text = `The identity ${outcome} when a worker next checks it`;
      return { text, json: { user_id: userId, passed: decision === 'approve' } };
    },
  );
}

function merchantOf(context: INestApplicationContext, userId: string) {
  return context.get(LocateUser, { strict: false }).merchantOf(userId);
}

interface Decision {
  readonly approve?: true;
  readonly reject?: true;
}

function decisionOf({ approve, reject }: Decision): 'approve' | 'reject' {
  if (approve === reject) throw new DomainError('bad_request', 'Give one of --approve and --reject');
  return approve ? 'approve' : 'reject';
}

interface StuckOptions {
  readonly olderThan: string;
  readonly limit: number;
}

async function stuck(
  context: INestApplicationContext,
  { olderThan, limit }: StuckOptions,
): Promise<CliOutcome> {
  const rows = await context.get(Progress, { strict: false }).stuck(secondsOf(olderThan), limit);
  const nothing = `Nothing is stuck: no onboarding has waited longer than ${olderThan}`;
  const text = rows.map((row) => lineOf(row)).join('\n') || nothing;
  const displays = { subject: 'users', merchantIds: rows.map(({ merchant_id }) => merchant_id) };
  return { text, json: { onboardings: rows }, displays };
}

function lineOf(row: Stuck): string {
  const head = `${row.since.toISOString()}  ${row.user_id}  merchant ${row.merchant_id}  ${row.stage.padEnd(18)}`;
  return `${head}  ${whyOf(row)}`;
}

function whyOf({ stage, reason, polls, failures, last_error, next_at }: Stuck): string {
  if (stage === 'kyc_failed') return `identity failed: ${reason}. The person may try again`;
  if (stage === 'card_failed') return `card failed: ${reason}. The person or "retry" tries again`;
  if (next_at === null) return 'no worker is on it: run "retry"';
  const next = `, next at ${next_at.toISOString()}`;
  if (last_error !== null) return `${failures} failed attempts: ${last_error}${next}`;
  if (stage === 'kyc_submitted') return `under review, checked ${polls} times${next}`;
  return `waits for the service${next}`;
}
