import { merchantProgram } from './merchant-program.js';
import { runProgram } from './operator.js';

await runProgram(merchantProgram);
