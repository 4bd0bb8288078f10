import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { fromMinorUnits } from '../../../kernel/money.js';
import { connected } from '../../../platform/cli/connected.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { logPages } from '../../../platform/event-store/log-pages.js';
import { requireId } from '../application/explain.js';
import { isUpTo } from '../application/export.js';
import { BalanceReplay } from '../domain/balance-replay.js';
import { Violations } from '../domain/findings.js';
import { POINT_FORMS, readPoint } from '../domain/log-point.js';
import { columns, printResult, progressOf } from './output.js';

/** `npm run audit -- balance`: the figures of one user in the money books, at a point of the log. Changes nothing. */
export function balanceProgram(program: Command, cli: CliContext): void {
  program
    .command('balance')
    .description('what a user had by the money books: up to a position, before a time, or now')
    .requiredOption('--user <id>', 'the user')
    .option('--at <point>', POINT_FORMS)
    .action(async ({ user, at }: { readonly user: string; readonly at?: string }) => {
      const id = requireId('user', user);
      const point = at === undefined ? null : readPoint(at);
      if (at !== undefined && point === null)
        throw new DomainError('bad_request', `--at takes ${POINT_FORMS}.`);
      const books = new BalanceReplay(new Violations());
      const progress = progressOf();
      const end = point?.kind === 'position' ? { end: point.position } : {};
      let [read, position] = [0, '-1'];
      await connected(cli, async (_, store) => {
        for await (const page of logPages(store, end)) {
          for (const event of page) if (point === null || isUpTo(point, event)) books.add(event);
          read += page.length;
          position = page.at(-1)!.position;
          progress(read, position);
        }
      });
      const balance = books.balances.get(id);
      if (balance === undefined)
        throw new DomainError('not_found', `The log knows no user ${id} at this point.`);
      const { confirmed, pending, merchantId: merchant_id } = balance;
      const figures = { confirmed, pending, committed: confirmed + pending };
      const usdc = Object.entries(figures).map(([name, minor]) => [name, fromMinorUnits(minor)] as const);
      const result = { user_id: id, merchant_id, at: at ?? null, position, ...Object.fromEntries(usdc) };
      printResult(program, cli, result, () =>
        [...columns(usdc), `the books at ${at ?? 'the end'}, read up to position ${position}`].join('\n'),
      );
    });
}
