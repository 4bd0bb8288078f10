import type { Command } from 'commander';
import { balanceProgram } from './balance.js';
import { explainProgram } from './explain.js';
import { exportProgram } from './export.js';
import { verifyBooks, type AuditReport } from '../application/verify-books.js';
import { AuditedTables } from '../store/audited-tables.js';
import { fromMinorUnits } from '../../../kernel/money.js';
import { knownTypes } from '../../../platform/context.js';
import { connected } from '../../../platform/operator/connected.js';
import type { Operator } from '../../../platform/operator/operator.js';

/** Exit code when the books do not agree. */
const EXIT_WRONG = 2;

/** `npm run audit -- verify`: replays every event and holds the read models against it. Changes nothing. */
export function auditProgram(program: Command, operator: Operator): void {
  program.description('Proves the books.');
  balanceProgram(program, operator);
  explainProgram(program, operator);
  exportProgram(program, operator);
  program
    .command('verify')
    .description(
      'replay every event and compare every payout, balance and exchange order with it; exit 2 when anything differs',
    )
    .action(async () => {
      const report = await connected(operator, (database, store) =>
        AuditedTables.read(database, (tables) => verifyBooks(tables, store, knownTypes(operator.contexts))),
      );
      const asJson = program.opts<{ json?: boolean }>().json === true;
      operator.print(asJson ? JSON.stringify(report, null, 2) : describe(report));
      if (isWrong(report)) operator.exit(EXIT_WRONG);
    });
}

function isWrong(report: AuditReport): boolean {
  return report.violations.length > 0 || report.difference_count > 0;
}

function describe(report: AuditReport): string {
  const { payouts, orders } = report;
  const ordersByStatus = Object.entries(orders).flatMap(([status, count]) =>
    count === 0 ? [] : `${count} ${status}`,
  );
  const lines = [
    `${report.events} events replayed, up to position ${report.position ?? 'none'}`,
    `payouts   ${payouts.pending} pending, ${payouts.received} received, ${payouts.expired} expired`,
    `balances  ${report.users} users: ${usdc(report.confirmed_minor)} USDC confirmed, ${usdc(report.pending_minor)} pending`,
    `orders    ${ordersByStatus.join(', ') || 'none'}`,
    ...report.violations.map(({ position, rule }) => `BROKEN    at ${position}: ${rule}`),
    ...report.let_pass.map(
      ({ type, count, position }) =>
        `LET PASS  ${type}, unknown to this version: ${count} events from ${position} on`,
    ),
    ...report.differences.map((difference) => `DIFFERS   ${difference}`),
  ];
  const verdict = isWrong(report)
    ? `NOT in order: ${report.violations.length} broken rules, ${report.difference_count} differences`
    : 'in order: the read models equal the replay, and no rule is broken';
  return [...lines, verdict].join('\n');
}

function usdc(minor: string): string {
  return fromMinorUnits(BigInt(minor));
}
