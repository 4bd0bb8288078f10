#!/usr/bin/env node
// npm test: installs and builds when needed, runs Jest, and ends with "N passed, N failed, N skipped". npm run test:all adds
// the suites that need more than Node and npm; test/README.md has both tiers and the options.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Interrupted, Usage } from '../packages/cli/src/usage.mjs';
import { build, buildDocs, install, requireNode, ROOT } from './lib/installation.mjs';
import { nextSignal } from './lib/service.mjs';
import { installSystemPackages } from './lib/system-packages.mjs';
import { complain, Problem, step } from './lib/terminal.mjs';
import { descendantsOf, sweepOrphans } from '../test/support/jest/test-run.mjs';

/** More failed suites than these are a fault of the code, not of chance: they do not run again. */
const MAX_REPEATED = 3;
/** The time for Jest to end after it has written its result: suites that share a service leave it running. */
const AFTER_RESULT_MS = 5000;
/** The longest run. A suite that never ends must not block the gate. */
const MAX_RUN_MS = 3_600_000;

/** Resolves with the first signal; both runs of Jest end with it. */
let firstSignal;

const USAGE =
  'npm test -- [PART_OF_A_PATH]... [--workers N] [--order reverse|SEED] [options of Jest]\n' +
  'npm run test:all -- [--rest]: test/README.md';
const EXTENDED = String.raw`\.extended\.`;

try {
  requireNode();
  const { tier, order, args } = readOptions(process.argv.slice(2));
  if (args.includes('--help')) throw new Usage(USAGE);
  await install();
  // Some suites start the service as separate processes.
  await build();
  firstSignal = nextSignal();
  if (tier !== 'test') {
    await installSystemPackages();
    await step('Documents', () => buildDocs());
  }
  if (order !== undefined) process.env.DISBURSE_TEST_ORDER = order;
  const { code, passed, failed, skipped } = await test([...tierArgs(tier, args), ...args], args.length === 0);
  console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`);
  process.exitCode = failed === 0 ? code : code || 1;
} catch (error) {
  complain(error);
}

/** `--all` runs both tiers, `--rest` the second; `--workers N` and `--order reverse|SEED` change how; the rest is Jest's. */
function readOptions(given) {
  const options = { tier: 'test', order: undefined, args: [] };
  for (let n = 0; n < given.length; n += 1) {
    const [name, value] = given[n].split('=');
    if (name === '--all' || name === '--rest') options.tier = name.slice(2);
    else if (name === '--order') options.order = value ?? given[(n += 1)];
    else if (name === '--workers') options.args.push(`--maxWorkers=${value ?? given[(n += 1)]}`);
    else options.args.push(given[n]);
  }
  return options;
}

/** A path selects suites of both tiers. */
function tierArgs(tier, args) {
  if (tier === 'rest') return ['--testMatch=**/*.extended.{spec,e2e}.ts'];
  const hasPath = args.some((arg, n) => !arg.startsWith('-') && args[n - 1] !== '-t');
  return tier === 'all' || hasPath || args.some((arg) => arg.startsWith('--test'))
    ? []
    : [`--testPathIgnorePatterns=${EXTENDED}`];
}

/** Suites of a whole run that fail run again, alone; one that passes then is named as unstable. */
async function test(args, isWhole) {
  const first = await attempt(args);
  if (!isWhole || first.failing.length === 0 || first.failing.length > MAX_REPEATED) return first;
  const names = first.failing.map((file) => relative(ROOT, file));
  console.error(`\nAgain, alone: ${names.join(', ')}`);
  const second = await attempt(['--runInBand', '--runTestsByPath', ...first.failing]);
  for (const name of names.filter((_, n) => !second.failing.includes(first.failing[n]))) {
    console.log(`unstable: ${name} failed next to other suites and passed alone`);
  }
  return { ...second, passed: first.passedElsewhere + second.passed, skipped: first.skipped };
}

/** Runs Jest once. Returns what progress-reporter.mjs wrote, and the exit code. */
async function attempt(args) {
  const folder = mkdtempSync(join(tmpdir(), 'disburse-jest-'));
  const result = join(folder, 'result.json');
  try {
    const code = await jest(args, result);
    if (!existsSync(result)) throw new Problem(`Jest ended without a result (exit code ${code}).`);
    return { code, ...JSON.parse(readFileSync(result, 'utf8')) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs Jest in a process group. When it ends, or a signal ends it, no process that it started remains. */
async function jest(args, result) {
  const program = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
  const child = spawn(process.execPath, [program, ...args], {
    cwd: ROOT,
    env: { PGCONNECT_TIMEOUT: '60', ...process.env, DISBURSE_TEST_RESULT: result },
    stdio: ['inherit', 'ignore', 'inherit'],
    detached: true,
  });
  const exited = once(child, 'exit').then(([code]) => code);
  const limit = performance.now() + MAX_RUN_MS;
  let written = null;
  const watch = setInterval(() => {
    const now = performance.now();
    if (existsSync(result)) written ??= now;
    if (now < (written === null ? limit : written + AFTER_RESULT_MS)) return;
    if (written === null) console.error('Jest is killed: it takes too long');
    killAll(child.pid);
  }, 1000);
  try {
    const ended = await Promise.race([exited, firstSignal.then((signal) => ({ signal }))]);
    if (ended?.signal)
      throw new Interrupted(ended.signal, 'Interrupted; every process of the run has ended.');
    // Without a code it was killed; the result that it had written by then counts.
    return ended ?? (written === null ? 1 : 0);
  } finally {
    clearInterval(watch);
    killAll(child.pid);
    await exited;
    await sweepOrphans();
  }
}

/** Kills the group, and what its processes started in other groups. */
function killAll(pid) {
  const pids = descendantsOf([pid]);
  for (const each of [-pid, ...pids]) {
    try {
      process.kill(each, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  }
}
