import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import {
  limitOption,
  cliAction,
  parseId,
  type CliContext,
  type CliOutcome,
} from '../../../platform/cli/cli-context.js';
import { SEEN } from '../domain/stuck-reasons.js';
import { payout } from '../domain/payout.js';
import { PayoutChecks, type PastCheckJson } from '../store/payout-checks.js';
import { StuckPayouts, type StuckPayout } from '../views/stuck-payouts.js';

/** `npm run payout -- ...`: what keeps payouts pending. Changes nothing. */
export function payoutProgram(program: Command, cli: CliContext): void {
  program.description('Shows payouts and what keeps them pending.');
  program
    .command('stuck')
    .description(
      'list pending payouts that need an operator, oldest first: what was seen, and what to do next',
    )
    .addOption(limitOption())
    .action(async function (this: Command) {
      const { limit } = this.opts<{ limit: number }>();
      await cliAction(cli, async (context) => {
        const stuck = await context.get(StuckPayouts, { strict: false }).list(limit);
        return {
          text: stuck.map(describe).join('\n\n') || 'No payout is stuck',
          json: { payouts: stuck },
          displays: { subject: 'payouts', merchantIds: stuck.map(({ merchant_id }) => merchant_id) },
        };
      }).call(this);
    });

  program
    .command('show <payout-id>')
    .description('display a payout, what each check of the chain found, and what to do next')
    .action(cliAction(cli, (context, id) => show(context, parseId(id, 'Payout'))));
}

async function show(context: INestApplicationContext, id: string): Promise<CliOutcome> {
  const state = await context.get(CommandLoop, { strict: false }).loadForDisplay(payout, id);
  if (state.status === 'unreported') throw DomainError.notFound('Payout');
  const [pending, checks] = await Promise.all([
    context.get(StuckPayouts, { strict: false }).find(id),
    context.get(PayoutChecks, { strict: false }).list(id),
  ]);
  const { facts, status, createdAt, expiresAt } = state;
  const reason = status === 'expired' ? state.reason : null;
  const known = [
    `${id}  ${status}${reason === null ? '' : `: ${reason}`}`,
    `  ${facts.amount} ${facts.currency_code} to user ${facts.user_id} of merchant ${facts.merchant_id}`,
    `  transaction ${facts.transaction_hash} on chain ${facts.chain_id}`,
    `  reported ${createdAt}, window until ${expiresAt}`,
  ];
  return {
    text: [
      ...known,
      ...(pending === null ? [] : guidanceOn(pending)),
      ...(checks.length === 0 ? ['  no checks are kept'] : checks.map(checkLine)),
    ].join('\n'),
    json: {
      ...facts,
      payout_id: id,
      status,
      reason,
      created_at: createdAt,
      expires_at: expiresAt,
      pending,
      checks,
    },
    displays: { subject: `payout ${id}`, merchantIds: [facts.merchant_id] },
  };
}

function describe(stuck: StuckPayout): string {
  const { payout_id, merchant_id, amount, created_at, transaction_hash, chain_id } = stuck;
  return [
    `${payout_id}  ${amount} USDC of merchant ${merchant_id}, reported ${created_at}`,
    `  transaction ${transaction_hash} on chain ${chain_id}`,
    ...guidanceOn(stuck),
  ].join('\n');
}

function guidanceOn({ saw, next, attempts, last_at: lastAt, node, next_at: nextAt }: StuckPayout): string[] {
  const last = lastAt === null ? '' : `, the last ${lastAt}${node === null ? '' : ` at ${node}`}`;
  return [`  ${saw}`, `  ${attempts} checks${last}; the next ${nextAt}`, `  next: ${next}`];
}

function checkLine({ at, finding, node, head, confirmations }: PastCheckJson): string {
  const where = node === null ? '' : `  ${node}, head ${head}`;
  return `  ${at}  ${SEEN[finding]}${where}${confirmations === null ? '' : `, ${confirmations} confirmations`}`;
}
