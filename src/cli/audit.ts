import { auditProgram } from './audit-program.js';
import { runProgram } from './operator.js';

await runProgram(auditProgram({ env: process.env, print: (text) => process.stdout.write(`${text}\n`) }));
