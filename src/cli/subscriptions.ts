import { runProgram } from './operator.js';
import { subscriptionsProgram } from './subscriptions-program.js';

await runProgram(
  subscriptionsProgram({ env: process.env, print: (text) => process.stdout.write(`${text}\n`) }),
);
