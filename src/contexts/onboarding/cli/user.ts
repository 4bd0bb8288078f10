import type { INestApplicationContext } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import {
  parseId,
  limitOption,
  operate,
  secondsOf,
  type Operator,
  type Outcome,
} from '../../../platform/operator/operator.js';
import { DecideReview, RetryStep } from '../application/operator-commands.js';
import { Progress, type Stuck } from '../views/progress.js';

const MAX_REASON_LENGTH = 200;

/** `npm run user -- ...`: onboardings that wait, and how operators continue them. */
export function onboardingProgram(program: Command, operator: Operator): void {
  program
    .command('stuck')
    .description('list onboardings that wait for the service, for a provider or after a failure')
    .option('--older-than <duration>', 'only those that have waited so long, such as 30m, 1h or 2d', '1h')
    .addOption(limitOption())
    .action(
      operate(operator, function (context) {
        return stuck(context, this.opts<StuckOptions>());
      }),
    );

  program
    .command('retry <user-id>')
    .description('retry the step that the onboarding waits for now: identity, wallet, card, activation')
    .action(
      operate(operator, async (context, id) => {
        const userId = parseId(id, 'User');
        const stage = await context.get(CommandBus).execute(new RetryStep(userId));
        const text = `The onboarding is at ${stage}: the service retries it as soon as it runs`;
        return { text, json: { user_id: userId, stage } };
      }),
    );

  program
    .command('review <user-id>')
    .description('decide an identity that the sandbox keeps under review (last name Review)')
    .option('--approve', 'it passes')
    .option('--reject <reason>', 'it fails; the person reads the reason')
    .action(
      operate(operator, async function (context, id) {
        const [userId, outcome] = [parseId(id, 'User'), outcomeOf(this.opts<Decision>())];
        if (operator.config().mode !== 'sandbox')
          throw new DomainError(
            'bad_request',
            'Outside the sandbox the identity provider decides, in its dashboard',
          );
        await context.get(CommandBus).execute(new DecideReview(userId, outcome));
        const text = `The identity ${outcome.passed ? 'passes' : 'is rejected'} when a worker next checks it`;
        return { text, json: { user_id: userId, ...outcome } };
      }),
    );
}

interface Decision {
  readonly approve?: true;
  readonly reject?: string;
}

function outcomeOf({ approve, reject }: Decision): DecideReview['outcome'] {
  if ((approve === undefined) === (reject === undefined))
    throw new DomainError('bad_request', 'Give one of --approve and --reject');
  if (reject === undefined) return { passed: true };
  const reason = reject.trim();
  if (reason === '' || [...reason].length > MAX_REASON_LENGTH || /[\p{Cc}\p{Cs}]/u.test(reason))
    throw new DomainError('bad_request', `The reason must have 1 to ${MAX_REASON_LENGTH} characters`);
  return { passed: false, reason };
}

interface StuckOptions {
  readonly olderThan: string;
  readonly limit: number;
}

async function stuck(context: INestApplicationContext, { olderThan, limit }: StuckOptions): Promise<Outcome> {
  const rows = await context.get(Progress, { strict: false }).stuck(secondsOf(olderThan), limit);
  const nothing = `Nothing is stuck: no onboarding has waited longer than ${olderThan}`;
  const text = rows.map((row) => lineOf(row)).join('\n') || nothing;
  return { text, json: { onboardings: rows } };
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
