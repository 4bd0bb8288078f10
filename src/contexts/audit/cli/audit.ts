import type { Command } from 'commander';
import type { Operator } from '../../../platform/operator/operator.js';
import { balanceProgram } from './balance.js';
import { explainProgram } from './explain.js';
import { exportProgram } from './export.js';
import { ledgerProgram } from './ledger.js';
import { proofProgram } from './proof.js';
import { verifyProgram } from './verify.js';

/** `npm run audit`: replays the events instead of trusting the read models. */
export function auditProgram(program: Command, operator: Operator): void {
  program.description('Proves the books.');
  balanceProgram(program, operator);
  explainProgram(program, operator);
  exportProgram(program, operator);
  verifyProgram(program, operator);
  proofProgram(program, operator);
  ledgerProgram(program, operator);
}
