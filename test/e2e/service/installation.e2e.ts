import { beforeEach, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isAlive } from '../../../sandbox/processes.js';
import { eventually } from '../../support/eventually.js';
import { SIZES } from '../../chaos/support/suite.js';
import { TestProcess } from '../../support/programs/test-process.js';
import { specFolder } from '../../support/run-folder.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PACKAGES = { '': {}, 'node_modules/a': { version: '1.0.0' }, 'node_modules/@nestjs/cli': {} };

/** Installs the packages of the tree, after an endless child process if NPM_HANGS is set. */
const NPM = `
  import { spawnSync } from 'node:child_process';
  import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
  import { dirname } from 'node:path';
  const write = (name, text) => (mkdirSync(dirname(name), { recursive: true }), writeFileSync(name, text));
  appendFileSync('npm.log', process.pid + '\\n');
  write('node_modules/a/package.json', '{}');
  const script = 'fs.appendFileSync("npm.log", process.pid + "\\\\n"); setInterval(() => {}, 1000)';
  if (process.env.NPM_HANGS) spawnSync(process.execPath, ['-e', script]);
  write('node_modules/@nestjs/cli/package.json', '{}');
  write('node_modules/@nestjs/cli/bin/nest.js', '');
  write('node_modules/.package-lock.json', ${JSON.stringify(JSON.stringify({ packages: PACKAGES }))});
`;
const BUILD = [
  ...['tsconfig.json', 'tsconfig.build.json', 'nest-cli.json', '.swcrc', 'src/a', 'sandbox/a', 'widgets/a'],
  ...['widgets', 'bundle', 'bundled', 'openapi'].map((name) => `scripts/${name}.mjs`),
  ...['build.mjs', 'package.json', 'tsconfig.json', 'src/a'].map((name) => `packages/sdk/${name}`),
  ...['packages/python/build.mjs', 'packages/python/generator/a', 'dist/a'],
];

let tree: string;

beforeEach(() => {
  tree = specFolder('clone');
  for (const name of ['scripts/lib', 'scripts/run.mjs', 'packages/cli/src'])
    cpSync(join(ROOT, name), join(tree, name), { recursive: true });
  for (const name of BUILD) write(name, '');
  write('npm.mjs', NPM);
  write('package-lock.json', JSON.stringify({ packages: PACKAGES }));
});

function write(name: string, text: string): void {
  mkdirSync(dirname(join(tree, name)), { recursive: true });
  writeFileSync(join(tree, name), text);
}

const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  NO_COLOR: '1',
  npm_execpath: join(tree, 'npm.mjs'),
});

/** Runs the installation, or another function of the module. */
function run(work = 'install', env: Record<string, string> = {}, shell = false): TestProcess {
  const script = `
    const { ${work} } = await import('./scripts/lib/installation.mjs');
    const { complain } = await import('./scripts/lib/terminal.mjs');
    await ${work}().catch(complain);`;
  const args = ['--input-type=module', '-e', script];
  // The shell of npm is killed by SIGTERM and its child remains.
  const [command, ...rest] = shell
    ? ['/bin/sh', '-c', '"$@"; exit', 'sh', process.execPath, ...args]
    : [process.execPath, ...args];
  return new TestProcess(command!, rest, { cwd: tree, env: { ...environment(), ...env } });
}

function npmPids(): number[] {
  const file = join(tree, 'npm.log');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number) : [];
}

async function installWithoutPackage(): Promise<void> {
  expect(await run().ended).toBe(0);
  for (const name of ['node_modules/a', 'npm.log']) rmSync(join(tree, name), { recursive: true });
}

/** Starts an installation up to the middle of `npm ci`. Returns it with the processes of npm. */
async function halfInstalled(
  env: Record<string, string> = {},
  shell = false,
): Promise<[TestProcess, number[]]> {
  const started = run('install', { NPM_HANGS: '1', ...env }, shell);
  await eventually(() => npmPids().length === 2);
  return [started, npmPids()];
}

async function expectInstalled(): Promise<void> {
  const next = run();
  expect([await next.ended, next.text]).toEqual([0, expect.stringContaining('installed with npm ci')]);
  expect(npmPids()).toHaveLength(3);
  const last = run();
  expect([await last.ended, last.text]).toEqual([0, expect.not.stringContaining('npm ci')]);
  expect(npmPids()).toHaveLength(3);
}

describe('an installation', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('ends npm and its children on %s; the next installation succeeds', async (signal, code) => {
    await installWithoutPackage();
    const [started, pids] = await halfInstalled();
    expect(await started.end(signal)).toBe(code);
    expect(started.text).toContain('Stopped while installing; the next npm start continues.');
    expect(pids.filter(isAlive)).toEqual([]);
    expect(existsSync(join(tree, '.installing'))).toBe(false);
    await expectInstalled();
  });

  test('ends npm with its children if the shell of npm was ended by SIGTERM', async () => {
    const [started, pids] = await halfInstalled({ npm_lifecycle_event: 'start' }, true);
    await started.end('SIGTERM');
    expect(started.text).toContain('Stopped while installing');
    expect(pids.filter(isAlive)).toEqual([]);
    await expectInstalled();
  });

  test('leaves npm running if it is killed, and the next installation ends that npm first', async () => {
    const [started, pids] = await halfInstalled();
    started.child.kill('SIGKILL');
    await eventually(() => !isAlive(started.child.pid!));
    expect(pids.filter(isAlive)).toEqual(pids);
    const next = run();
    expect(await next.ended).toBe(0);
    expect(next.text).toContain(`Ending process ${pids[0]}, which was left behind while installing`);
    expect(next.text).toContain('installed with npm ci');
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test('waits for the installation of another process and prints its process id', async () => {
    const [started] = await halfInstalled();
    const second = run();
    const waiting = `Waiting for process ${started.child.pid}, which is installing`;
    await eventually(() => second.text.includes(waiting));
    started.child.kill('SIGINT');
    expect(await second.ended).toBe(0);
    expect(second.text).toContain('installed with npm ci');
  });

  test('is repeated if a package is missing, and ignores a lock whose process is gone', async () => {
    await run().ended;
    rmSync(join(tree, 'node_modules', 'a'), { recursive: true });
    write(
      '.installing',
      JSON.stringify({ pid: process.pid, start: 'of another process', doing: 'building' }),
    );
    const again = run();
    expect([await again.ended, again.text]).toEqual([0, expect.stringContaining('installed with npm ci')]);
    expect(npmPids()).toHaveLength(2);
  });
});

test('a build that lacks a package installs again once', async () => {
  await run().ended;
  const nest = join(tree, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js');
  rmSync(nest);
  const built = run('build');
  expect([await built.ended, built.text]).toEqual([0, expect.stringContaining('compiled')]);
  expect(built.text).toContain('The build lacks a package in node_modules: installing again');
  expect(npmPids()).toHaveLength(2);

  write('scripts/openapi.mjs', 'await import("./not-there.mjs")');
  const failed = run('build');
  expect([await failed.ended, failed.text]).toEqual([1, expect.stringContaining('not-there.mjs')]);
  expect(existsSync(join(tree, 'dist', '.built-from'))).toBe(false);
  expect(npmPids()).toHaveLength(2);
});

describe('npm run', () => {
  /** Runs scripts/run.mjs in a clone without node_modules. */
  const npmRun = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/run.mjs', ...args], {
      cwd: tree,
      encoding: 'utf8',
      env: environment(),
    });
    return { status, stdout, stderr: stderr.replace(/\s+/g, ' ') };
  };

  test.each(['chaos', 'drill', 'failover', 'gameday', 'mutants', 'bench', 'image', 'docs', 'build:sdk'])(
    '%s prints its usage for --help, and exits with 2 for an unknown option, without an installation',
    (name) => {
      const help = npmRun(name, '--help');
      expect([help.status, help.stdout]).toEqual([0, expect.stringMatching(`^npm run ${name}`)]);
      const wrong = npmRun(name, '--nonsense=1');
      expect([wrong.status, wrong.stdout]).toEqual([2, '']);
      expect(wrong.stderr).toContain(`Unknown: --nonsense=1 npm run ${name}`);
      expect(npmPids()).toEqual([]);
    },
  );

  test('chaos names every size of a suite in its usage', () => {
    const { stdout } = npmRun('chaos', '--help');
    for (const size of SIZES) expect(stdout).toContain(`--${size} N`);
  });

  test('lint prints a message if eslint is not installed', () => {
    expect(npmRun('lint')).toEqual({
      status: 69,
      stdout: '',
      stderr: ' ✗ eslint is not installed: npm ci installs it. ',
    });
  });

  test('build:sdk installs the packages and builds before its program runs', () => {
    write('packages/sdk/build.mjs', 'console.log(process.argv.length)');
    write('packages/sdk/dist/index.js', '');
    const { status, stdout, stderr } = npmRun('build:sdk');
    expect([status, stdout]).toEqual([0, '2\n']);
    expect(stderr).toMatch(/installed with npm ci.* compiled/);
  });
});
