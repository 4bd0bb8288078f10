import { keysProgram } from './keys-program.js';
import { runProgram } from './operator.js';

await runProgram(keysProgram);
