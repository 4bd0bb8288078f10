import { runProgram } from './operator.js';
import { subscriptionsProgram } from './subscriptions-program.js';

await runProgram(subscriptionsProgram);
