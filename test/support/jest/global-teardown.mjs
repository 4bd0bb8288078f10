import { removeRun } from './test-run.mjs';

export default async function globalTeardown() {
  await removeRun(process.env.DISBURSE_TEST_RUN);
}
