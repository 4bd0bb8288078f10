#!/usr/bin/env node
// npm run NAME for the names below: checks the options, installs and builds when the program needs it, and runs it. Its usage
// names every option that it accepts, so that a wrong call ends before an installation begins.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, buildDocs, install, ROOT } from './lib/installation.mjs';
import { complain, printLine, printOn, step } from './lib/terminal.mjs';
import { Unreachable, Usage } from '../packages/cli/src/usage.mjs';

const CHAOS = 'test/chaos/run.ts';

/** `file` is a program of the tree, `tools` are programs of node_modules, which have their own options. */
const PROGRAMS = {
  chaos: {
    usage: `npm run chaos -- [SUITE] [--count N] [OPTIONS]
Without a suite: the suites, each with its usual count. Some suites accept:
  --queue postgres|redis --kill VICTIM --attack NAME --client typescript|python --from TAG
  --seed N --only N --deliveries N --endpoints N --rate N --seconds N --window N --workers N --percent N
  --addresses N --payouts N --timeout-ms N --lease-ms N --p99-ms N --p99-times N`,
    file: CHAOS,
  },
  drill: {
    usage: 'npm run drill -- [--count N] [--payouts N]: backup, destruction and restore',
    file: CHAOS,
    args: ['restores'],
  },
  failover: {
    usage: 'npm run failover -- [--count N]: promotions of a PostgreSQL standby',
    file: CHAOS,
    args: ['promotions'],
  },
  gameday: {
    usage: 'npm run gameday -- [--count N] [--only N]: faults next to a real Prometheus and Alertmanager',
    file: CHAOS,
    args: ['gameday'],
  },
  mutants: {
    usage: 'npm run mutants -- [--count 300] [--seed 1] [--workers 1] [--file PART_OF_PATH] [--area NAME]',
    file: 'test/mutants/run.ts',
  },
  bench: {
    usage: `npm run bench -- [ROW]... [--quick] [--json FILE] [SIZES]
Runs for hours; with --quick small sizes, whose ratios say little. Without a row: all of them. Sizes:
  --rounds N --connections N --reports N --users N --payouts N --user-payouts N --pages N --deliveries N
  --endpoints N --batches N --history N --minutes N`,
    file: 'bench/run.ts',
  },
  image: {
    usage:
      'npm run image -- [--slim]: builds the image and tries it; --slim also without PostgreSQL and dev chain',
    file: 'scripts/image.mjs',
    isBare: true,
  },
  docs: { usage: 'npm run docs: builds the documentation site, which the service serves at /docs' },
  'build:sdk': {
    usage: 'npm run build:sdk: builds the client in TypeScript',
    file: 'packages/sdk/build.mjs',
  },
  'build:python': {
    usage: 'npm run build:python: builds the client in Python',
    file: 'packages/python/build.mjs',
  },
  typecheck: { tools: ['tsc --noEmit -p tsconfig.json', 'tsc --noEmit -p widgets'] },
  lint: { tools: ['eslint .'], isBare: true },
  format: { tools: ['prettier --write .'], isBare: true },
  depcruise: {
    tools: [
      'depcruise src sandbox --config .dependency-cruiser.mjs',
      'depcruise src --config .dependency-cruiser.folders.mjs',
    ],
    isBare: true,
  },
};

try {
  const [name, ...args] = process.argv.slice(2);
  const { usage, file, args: first = [], tools = [], isBare = false } = PROGRAMS[name];
  if (usage !== undefined && args.some((arg) => arg === '--help' || arg === '-h')) printLine(usage);
  else {
    if (usage !== undefined) requireKnown(usage, args);
    if (!isBare) await prepare();
    if (name === 'docs') await step('Documents', () => buildDocs());
    if (file !== undefined) await runFile(file, [...first, ...args]);
    for (const tool of tools) if (!process.exitCode) runTool(tool, tool === tools.at(-1) ? args : []);
  }
} catch (error) {
  complain(error, process.stderr);
}

function requireKnown(usage, args) {
  const known = new Set(usage.match(/--[a-z0-9-]+/g));
  const unknown = args.filter((arg) => arg.startsWith('-') && !known.has(arg.split('=')[0]));
  const isAlone = !/^npm run \S+ -- /.test(usage) && args.length > 0;
  if (unknown.length > 0 || isAlone)
    throw new Usage(`Unknown: ${(isAlone ? args : unknown).join(' ')}\n\n${usage}`);
}

/** Standard output is that of the program. */
async function prepare() {
  printOn(process.stderr);
  await install();
  await build();
}

/** In this process: signals and the exit code are those of the program. */
async function runFile(file, args) {
  const path = join(ROOT, file);
  process.argv.splice(1, Infinity, path, ...args);
  if (file.endsWith('.ts')) (await import('tsx/esm/api')).register();
  await import(pathToFileURL(path).href);
}

function runTool(line, args) {
  const [name, ...own] = line.split(' ');
  const program = join(ROOT, 'node_modules', '.bin', name);
  if (!existsSync(program)) throw new Unreachable(`${name} is not installed: npm ci installs it.`);
  const { status } = spawnSync(program, [...own, ...args], { cwd: ROOT, stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
