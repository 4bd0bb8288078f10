import { userProgram } from './user-program.js';
import { runProgram } from './operator.js';

await runProgram(userProgram);
