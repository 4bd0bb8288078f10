#!/usr/bin/env node
// npm test: installs when needed, runs Jest with the arguments given, and ends with "N passed, N failed". Of a whole run,
// suites that failed run again, alone; one that passes then is named as unstable.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { build, buildDocs, install, requireNode, ROOT } from './lib/installation.mjs';
import { complain, Problem, step } from './lib/terminal.mjs';
import { sweepOrphans } from '../test/support/jest/test-run.mjs';

/** More suites than these do not fail by chance. */
const MAX_REPEATED = 3;
/** Jest has written its result and does not end: something that a suite has left behind holds its streams open. */
const AFTER_RESULT_MS = 15_000;
/** No run takes as long; a suite that never ends must not hold the gate. */
const MAX_RUN_MS = 3_600_000;

try {
  requireNode();
  await install();
  // Some suites start the service as separate processes.
  await build();
  const args = process.argv.slice(2);
  // Half a minute that other suites do not need.
  if (args.length === 0 || args.some((each) => each.includes('docs')))
    await step('Documents', () => buildDocs());
  process.exitCode = await test(args);
} catch (error) {
  complain(error);
}

async function test(args) {
  const first = await attempt(args);
  if (args.length > 0 || first.failing.length === 0 || first.failing.length > MAX_REPEATED)
    return verdict(first);
  const names = first.failing.map((file) => relative(ROOT, file));
  console.error(`\nAgain, alone: ${names.join(', ')}`);
  const second = await attempt(['--runInBand', '--runTestsByPath', ...first.failing]);
  for (const name of names.filter((_, n) => !second.failing.includes(first.failing[n]))) {
    console.log(`unstable: ${name} failed next to other suites and passed alone`);
  }
  return verdict({ ...second, passed: first.passedElsewhere + second.passed });
}

function verdict({ passed, failed, code }) {
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 ? code : code || 1;
}

/** One run of Jest: what passed and failed, and the files of the suites that failed. */
async function attempt(args) {
  const folder = mkdtempSync(join(tmpdir(), 'disburse-jest-'));
  const result = join(folder, 'result.json');
  try {
    const code = await jest([...args, '--json', `--outputFile=${result}`], result);
    if (!existsSync(result)) throw new Problem(`Jest ended without a result (exit code ${code}).`);
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, testResults } = JSON.parse(
      readFileSync(result, 'utf8'),
    );
    const failing = testResults.filter(({ status }) => status === 'failed');
    const passedInFailing = failing.flatMap(({ assertionResults }) => assertionResults);
    return {
      code,
      passed: numPassedTests,
      failed: numFailedTests + numRuntimeErrorTestSuites,
      failing: failing.map(({ name }) => name),
      passedElsewhere: numPassedTests - passedInFailing.filter(({ status }) => status === 'passed').length,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** In a separate process group, which ends with it, along with all that suites left in there. */
async function jest(args, result) {
  const program = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
  // Standard output would carry the whole result as JSON; Jest reports to people on standard error.
  const child = spawn(process.execPath, [program, ...args], {
    cwd: ROOT,
    stdio: ['inherit', 'ignore', 'inherit'],
    detached: true,
  });
  const signals = ['SIGINT', 'SIGTERM'].map((signal) => [signal, () => signalGroup(child.pid, signal)]);
  for (const [signal, forward] of signals) process.on(signal, forward);
  const limit = performance.now() + MAX_RUN_MS;
  let written = null;
  const watch = setInterval(() => {
    const now = performance.now();
    if (existsSync(result)) written ??= now;
    if (now < (written === null ? limit : written + AFTER_RESULT_MS)) return;
    console.error(written === null ? 'Jest is killed: it takes too long' : 'Jest is killed: it does not end');
    signalGroup(child.pid, 'SIGKILL');
  }, 1000);
  try {
    const [code] = await once(child, 'exit');
    // Without a code it was killed; what it had written by then counts.
    return code ?? (written === null ? 1 : 0);
  } finally {
    clearInterval(watch);
    for (const [signal, forward] of signals) process.off(signal, forward);
    signalGroup(child.pid, 'SIGKILL');
    await sweepOrphans();
  }
}

function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch {
    // It is empty already.
  }
}
