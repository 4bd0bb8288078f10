// Installs and builds when that is needed. No dependency: this runs before there are any.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { oneAtATime } from './installation-lock.mjs';
import { dim, printLine, step } from './terminal.mjs';

export { requireNode } from '../../packages/cli/src/require-node.cjs';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const LOCK = { file: join(ROOT, '.installing'), cwd: ROOT };
const REQUIRED = join(ROOT, 'package-lock.json');
/** npm writes it after everything else: an installation without it is not complete. */
const INSTALLED = join(ROOT, 'node_modules', '.package-lock.json');
const BUILD_STAMP = join(ROOT, 'dist', '.built-from');
const DOCS_STAMP = join(ROOT, 'docs', '.vitepress', 'dist', '.built-from');

/** `npm ci` when node_modules lacks a package of package-lock.json. */
export async function install() {
  await step('Dependencies', async (note) => {
    if (isInstalled()) return 'installed';
    return oneAtATime({ ...LOCK, doing: 'installing' }, async (run) => {
      if (isInstalled()) return 'installed';
      note('npm ci: the first time this takes a minute');
      await npmCi(run);
      return 'installed with npm ci';
    });
  });
}

/** Compiles src and sandbox into dist unless dist was built from these very files. */
export async function build() {
  await step('Build', async () => {
    if (isBuilt()) return 'up to date';
    return oneAtATime({ ...LOCK, doing: 'building' }, async (run) => {
      if (isBuilt()) return 'up to date';
      rmSync(BUILD_STAMP, { force: true });
      const stamp = sourceStamp();
      await compile(run).catch(async (error) => {
        if (!lacksPackage(error.message)) throw error;
        printLine(`  ${dim('The build lacks a package in node_modules: installing again')}`);
        await npmCi(run);
        await compile(run);
      });
      writeFileSync(BUILD_STAMP, stamp);
      return 'compiled';
    });
  });
}

/** Installs and builds where no build was completed; one of other sources stays. */
export async function buildOnce() {
  if (existsSync(BUILD_STAMP)) return;
  await install();
  await build();
}

/** Builds the site of the documents, quietly, unless it was built from these very files. It needs what {@link build} writes. */
export async function buildDocs(signal) {
  if (isCurrent(DOCS_STAMP, docsStamp())) return 'up to date';
  return oneAtATime({ ...LOCK, doing: 'building the documents', signal }, async (run) => {
    const stamp = docsStamp();
    if (isCurrent(DOCS_STAMP, stamp)) return 'up to date';
    await run(process.execPath, [join(ROOT, 'scripts', 'docs', 'build.mjs')]);
    writeFileSync(DOCS_STAMP, stamp);
    return 'built';
  });
}

function isBuilt() {
  return (
    isCurrent(BUILD_STAMP, sourceStamp()) && existsSync(join(ROOT, 'packages', 'sdk', 'dist', 'index.js'))
  );
}

function isCurrent(file, stamp) {
  return existsSync(file) && readFileSync(file, 'utf8') === stamp;
}

/** Removes what marks a complete installation first, so that an interrupted one does not count. */
async function npmCi(run) {
  rmSync(INSTALLED, { force: true });
  const npm = process.env.npm_execpath;
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  await run(...(npm ? [process.execPath, [npm, ...args]] : ['npm', args]));
}

async function compile(run) {
  await run(process.execPath, [join(ROOT, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js'), 'build']);
  for (const each of ['widgets', 'openapi', 'bundle'])
    await run(process.execPath, [join(ROOT, 'scripts', `${each}.mjs`)]);
  for (const client of ['sdk', 'python'])
    await run(process.execPath, [join(ROOT, 'packages', client, 'build.mjs')]);
}

/** Whether the output of a failed program names a file of node_modules or a package that should be there. */
function lacksPackage(output) {
  if (/(Cannot find (module|package)|ENOENT)[^\n]*node_modules/.test(output)) return true;
  const required = readPackages(REQUIRED);
  const missing = output.matchAll(
    /(?:Cannot find (?:module|package)|Could not resolve|The package) ["']([^"'./][^"']*)/g,
  );
  return [...missing].some(([, name]) => {
    const [scope, rest] = name.split('/');
    return `node_modules/${scope.startsWith('@') ? `${scope}/${rest}` : scope}` in required;
  });
}

/** Whether the packages of package-lock.json are there, no matter who installed them; some are for other platforms. */
function isInstalled() {
  const installed = readPackages(INSTALLED);
  const required = Object.entries(readPackages(REQUIRED)).filter(([path]) => path !== '');
  const isThere = ([path, { version, optional, devOptional, peer }]) => {
    if (!(path in installed)) return optional || devOptional || peer;
    return installed[path].version === version && existsSync(join(ROOT, path, 'package.json'));
  };
  return required.length > 0 && required.every(isThere);
}

/** The packages of a lock file by their folder; none where it is missing or was not written to its end. */
function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return {};
  }
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
