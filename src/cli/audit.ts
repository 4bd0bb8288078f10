import { auditProgram } from './audit-program.js';
import { runProgram } from './operator.js';

await runProgram(auditProgram);
