import { userProgram } from './user-program.js';
import { runProgram } from './operator.js';

await runProgram(userProgram({ env: process.env, print: (text) => process.stdout.write(`${text}\n`) }));
