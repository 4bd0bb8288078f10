import type { Command } from 'commander';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { balanceProgram } from './balance.js';
import { explainProgram } from './explain.js';
import { exportProgram } from './export.js';
import { ledgerProgram } from './ledger.js';
import { verifyProgram } from './verify.js';

/** `npm run audit`: replays the events instead of trusting the read models. */
export function auditProgram(program: Command, cli: CliContext): void {
  program.description('Proves the books.');
  balanceProgram(program, cli);
  explainProgram(program, cli);
  exportProgram(program, cli);
  verifyProgram(program, cli);
  ledgerProgram(program, cli);
}
