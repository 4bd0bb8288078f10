import type { Command } from 'commander';
import { operate, type Operator } from '../../../platform/operator/operator.js';
import { LedgerStart } from '../application/ledger-start.js';

const BEGUN = 'The ledger begins again. Restart every worker now, with another AUDIT_HEADS_FILE.';

/** `npm run audit -- begin`: the only way to a new ledger of a log that has events. */
export function beginProgram(program: Command, operator: Operator): void {
  program
    .command('begin')
    .description(
      'after a ledger was lost or changed: delete its leaves and heads, and make it again from the first event',
    )
    .action(
      operate(operator, async (context) => {
        await context.get(LedgerStart, { strict: false }).again();
        return { text: BEGUN, json: { begun: true } };
      }),
    );
}
