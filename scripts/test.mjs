#!/usr/bin/env node
// npm test: installs when needed, runs Jest with the arguments given, and ends with "N passed, N failed".
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, install, requireNode, ROOT } from './lib/installation.mjs';
import { complain, Problem } from './lib/terminal.mjs';

try {
  requireNode();
  await install();
  // Some suites start the service as processes of its own.
  await build();
  process.exitCode = await test(process.argv.slice(2));
} catch (error) {
  complain(error);
}

async function test(args) {
  const folder = mkdtempSync(join(tmpdir(), 'disburse-jest-'));
  const result = join(folder, 'result.json');
  try {
    const code = await jest([...args, '--json', `--outputFile=${result}`]);
    if (!existsSync(result)) throw new Problem(`Jest ended without a result (exit code ${code}).`);
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(
      readFileSync(result, 'utf8'),
    );
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    console.log(`\n${numPassedTests} passed, ${failed} failed`);
    return failed === 0 ? code : code || 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function jest(args) {
  const options = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const program = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
  // Standard output would carry the whole result as JSON; what Jest tells people goes to standard error.
  const child = spawn(process.execPath, [...options, program, ...args], {
    cwd: ROOT,
    stdio: ['inherit', 'ignore', 'inherit'],
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(code ?? (signal ? 1 : 0)));
  });
}
