import { rebuildProgram } from './rebuild-program.js';
import { runProgram } from './operator.js';

await runProgram(rebuildProgram({ env: process.env, print: (text) => process.stdout.write(`${text}\n`) }));
