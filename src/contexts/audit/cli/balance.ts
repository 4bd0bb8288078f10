import type { Command } from 'commander';
import { connected } from '../../../platform/cli/connected.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { balanceAt, type BalanceAt } from '../application/user-history.js';
import { AuditedPayouts } from '../../payouts/contract.js';
import { POINT_FORMS } from '../domain/log-point.js';
import { columns, counted, EXIT_WRONG, printResult, progressOf, time } from './output.js';

interface Options {
  readonly user: string;
  readonly at?: string;
  readonly quick?: boolean;
}

/** `npm run audit -- balance`: what a user had at a point of the log, from the events. Changes nothing. */
export function balanceProgram(program: Command, cli: CliContext): void {
  program
    .command('balance')
    .description(
      'what a user had at a point of the log, from the events alone; without --at, compared with the API',
    )
    .requiredOption('--user <id>', 'the user')
    .option('--at <point>', POINT_FORMS)
    .option(
      '--quick',
      'let the read model say which payouts the user has, and read only these; no scan of the log',
    )
    .action(async ({ user, at, quick }: Options) => {
      const balance = await connected(cli, (database, store) => {
        const tables = new AuditedPayouts((sql, values) => database.query(sql, values));
        return balanceAt(store, tables, user, { at, quick, progress: progressOf() });
      });
      printResult(program, cli, jsonOf(balance, quick), () => textOf(balance, at, quick));
      if (balance.api?.agrees === false) cli.exit(EXIT_WRONG);
    });
}

function textOf({ history, figures, payouts, api }: BalanceAt, at?: string, quick?: boolean): string {
  const { userId, merchantId, createdAt, position, read } = history;
  const rows = payouts.map(({ id, amount, status, reportedAt, endedAt }) => [
    id,
    amount,
    status,
    time(reportedAt),
    endedAt === null ? '' : time(endedAt),
  ]);
  const head = ['payout', 'amount', 'status', 'reported (UTC)', 'received or expired (UTC)'];
  const sums = [
    ['confirmed', figures.confirmed, of(payouts, 'received')],
    ['pending', figures.pending, of(payouts, 'pending')],
    ['committed', figures.committed, 'confirmed and pending'],
  ];
  return [
    `user      ${userId}, of merchant ${merchantId}, created ${time(createdAt)} UTC`,
    `at        ${at ?? 'now'}: up to position ${position}, ${counted(read, 'event')} read${quick ? ', of the payouts that the read model names' : ''}`,
    '',
    ...(rows.length === 0 ? ['no payouts'] : columns([head, ...rows], [1])),
    '',
    ...columns(sums, [1]),
    ...(api === null ? [] : ['', apiLine(api)]),
  ].join('\n');
}

function of(payouts: BalanceAt['payouts'], status: string): string {
  return `USDC, ${counted(payouts.filter((each) => each.status === status).length, 'payout')}`;
}

function apiLine({
  figures,
  by_the_events: events,
  position,
  agrees,
}: NonNullable<BalanceAt['api']>): string {
  const where = `read model at position ${position ?? 'none'}`;
  if (agrees) return `the API says the same (${where})`;
  const said = figures === null ? 'nothing' : `${figures.confirmed} confirmed, ${figures.pending} pending`;
  return `DIFFERS   the API says ${said}; the events up to there say ${events.confirmed} confirmed, ${events.pending} pending (${where})`;
}

function jsonOf({ history, figures, payouts, api }: BalanceAt, quick = false): object {
  return {
    user_id: history.userId,
    merchant_id: history.merchantId,
    created_at: history.createdAt,
    position: history.position,
    events_read: history.read,
    payouts_named_by: quick ? 'read model' : 'log',
    ...figures,
    payouts: payouts.map(({ reportedAt: reported_at, endedAt: ended_at, ...each }) => ({
      ...each,
      reported_at,
      ended_at,
    })),
    api,
  };
}
