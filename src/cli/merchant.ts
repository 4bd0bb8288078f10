import { merchantProgram } from './merchant-program.js';
import { runProgram } from './operator.js';

await runProgram(merchantProgram({ env: process.env, print: (text) => process.stdout.write(`${text}\n`) }));
