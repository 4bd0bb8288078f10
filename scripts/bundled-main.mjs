/**
 * `dist/main.js`: runs the bundle, with the machine code that V8 made of it the last time (`disburse.cjs.cache`), which
 * halves the start. The first run of a build makes the cache when it has settled or ends well; a cache of another
 * version of Node.js is refused by V8 and made anew, and where the folder cannot be written there is none.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

/** By then the service has started: what a start needs is compiled. */
const SETTLED_MS = 3000;

const file = join(dirname(fileURLToPath(import.meta.url)), 'bundle', 'disburse.cjs');
const cacheFile = `${file}.cache`;

const code = readFileSync(file, 'latin1');
const script = new Script(`(function (require, module, __filename, __dirname) {${code}\n})`, {
  filename: file,
  cachedData: read(cacheFile),
  importModuleDynamically: (name) => import(name),
});
let kept = script.cachedDataRejected === false;
if (!kept) {
  setTimeout(keepCache, SETTLED_MS).unref();
  process.once('exit', (code) => code === 0 && keepCache());
}

script.runInThisContext()(createRequire(file), { exports: {} }, file, dirname(file));

function read(path) {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

function keepCache() {
  if (kept) return;
  kept = true;
  try {
    writeFileSync(`${cacheFile}.${process.pid}`, script.createCachedData());
    renameSync(`${cacheFile}.${process.pid}`, cacheFile);
  } catch {
    // A folder that is read-only: every start compiles.
  }
}
