import { keysProgram } from './keys-program.js';
import { runProgram } from './operator.js';

await runProgram(keysProgram({ env: process.env, print: (text) => process.stdout.write(`${text}\n`) }));
