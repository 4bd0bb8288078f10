import { rebuildProgram } from './rebuild-program.js';
import { runProgram } from './operator.js';

await runProgram(rebuildProgram);
