// Installs and builds when that is needed. No dependency: this runs before there are any.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Problem, step } from './terminal.mjs';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const NEEDED = [20, 19];
const LOCK = join(ROOT, '.installing');
const BUILD_STAMP = join(ROOT, 'dist', '.built-from');
const DOCS_STAMP = join(ROOT, 'docs', '.vitepress', 'dist', '.built-from');

export function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) return;
  throw new Problem(`disburse needs Node ${NEEDED.join('.')} or later; this is ${process.versions.node}.`);
}

/** `npm ci` when node_modules is missing or was installed from another package-lock.json. */
export async function install() {
  await step('Dependencies', async (note) => {
    if (isInstalled()) return 'installed';
    return oneAtATime(async () => {
      if (isInstalled()) return 'installed';
      note('npm ci: the first time this takes a minute');
      const npm = process.env.npm_execpath;
      const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
      await run(...(npm ? [process.execPath, [npm, ...args]] : ['npm', args]));
      writeFileSync(join(ROOT, 'node_modules', '.disburse-lock'), lockHash());
      return 'installed with npm ci';
    });
  });
}

/** Compiles src and sandbox into dist unless dist was built from these very files. */
export async function build() {
  await step('Build', async () => {
    if (isBuilt()) return 'up to date';
    return oneAtATime(async () => {
      if (isBuilt()) return 'up to date';
      const stamp = sourceStamp();
      await run(process.execPath, [join(ROOT, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js'), 'build']);
      for (const each of ['widgets', 'bundle', 'openapi'])
        await run(process.execPath, [join(ROOT, 'scripts', `${each}.mjs`)]);
      for (const client of ['sdk', 'python'])
        await run(process.execPath, [join(ROOT, 'packages', client, 'build.mjs')]);
      writeFileSync(BUILD_STAMP, stamp);
      return 'compiled';
    });
  });
}

/** Builds the site of the documents, quietly, unless it was built from these very files. It needs what {@link build} writes. */
export async function buildDocs(signal) {
  if (isCurrent(DOCS_STAMP, docsStamp())) return 'up to date';
  return oneAtATime(async () => {
    const stamp = docsStamp();
    if (isCurrent(DOCS_STAMP, stamp)) return 'up to date';
    await run(process.execPath, [join(ROOT, 'scripts', 'docs', 'build.mjs')], signal);
    writeFileSync(DOCS_STAMP, stamp);
    return 'built';
  });
}

function isBuilt() {
  return isCurrent(BUILD_STAMP, sourceStamp());
}

function isCurrent(file, stamp) {
  return existsSync(file) && readFileSync(file, 'utf8') === stamp;
}

function isInstalled() {
  const installed = join(ROOT, 'node_modules', '.package-lock.json');
  if (!existsSync(installed)) return false;
  const mark = join(ROOT, 'node_modules', '.disburse-lock');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === lockHash()) return true;
  return statSync(installed).mtimeMs >= statSync(join(ROOT, 'package-lock.json')).mtimeMs;
}

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex');
}

/** Changes with every file that the build reads. */
export function sourceStamp() {
  const inputs = [
    ...['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'nest-cli.json', '.swcrc'],
    ...['widgets', 'bundle', 'bundled', 'openapi'].map((name) => `scripts/${name}.mjs`),
    ...['build.mjs', 'package.json', 'tsconfig.json'].map((name) => `packages/sdk/${name}`),
    'packages/python/build.mjs',
  ];
  return stampOf(inputs, ['src', 'sandbox', 'widgets', 'packages/sdk/src', 'packages/python/generator']);
}

/** Changes with every file that the site is built from; of src it reads the document. */
function docsStamp() {
  const inputs = [
    ...['package-lock.json', 'src/platform/openapi/signing-guide.ts'],
    ...['sdk', 'python', 'cli'].map((name) => `packages/${name}/README.md`),
  ];
  const document = readFileSync(join(ROOT, 'dist', 'openapi', 'sandbox.json'));
  const documentHash = createHash('sha256').update(document).digest('hex');
  return (
    documentHash + stampOf(inputs, ['docs', 'scripts/docs', 'packages/sdk/src', 'packages/python/generator'])
  );
}

function stampOf(inputs, folders) {
  const hash = createHash('sha256').update(process.versions.node);
  const sources = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((name) => join(folder, name)),
  );
  // What the build writes there is no input.
  const isWritten = /\/generated|\.vitepress\/(dist|\.next|\.pages|\.temp|cache)/;
  for (const name of [...inputs, ...sources].filter((each) => !isWritten.test(each)).sort()) {
    const file = statSync(join(ROOT, name));
    if (file.isFile()) hash.update(`${name}\n${file.size}\n${file.mtimeMs}\n`);
  }
  return hash.digest('hex');
}

/** Two commands started at once must not install or build into the same folder together. */
async function oneAtATime(work) {
  for (;;) {
    try {
      writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw new Problem(`This folder is not writable: ${error.message}`);
      if (!holderLives()) unlock();
      await sleep(100);
    }
  }
  process.once('exit', unlock);
  try {
    return await work();
  } finally {
    process.off('exit', unlock);
    unlock();
  }
}

function holderLives() {
  try {
    process.kill(Number(readFileSync(LOCK, 'utf8')), 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function unlock() {
  rmSync(LOCK, { force: true });
}

/** Runs a program quietly; its output is displayed when it fails. The signal ends it. */
function run(command, args, signal) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], signal });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
    child.on('error', (error) => reject(new Problem(`${command} could not be started: ${error.message}`)));
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Problem(`${[command, ...args].join(' ')} failed:\n\n${said.trim()}`));
    });
  });
}
