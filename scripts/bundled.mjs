/**
 * `dist/main.js` and `dist/cli.js`: runs the program of that name in the bundle, with the machine code that V8 created
 * for it the last time (`disburse.cjs.main.cache`), which halves the start. The first run of a build writes the cache
 * when it has settled or ends well; V8 refuses a cache of another version of Node.js, which is then replaced, and where
 * the folder cannot be written there is none.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

/** By then the service has started: what a start needs is compiled. */
const SETTLED_MS = 3000;

const self = fileURLToPath(import.meta.url);
const program = basename(self, '.js');
const file = join(dirname(self), 'bundle', 'disburse.cjs');
const cacheFile = `${file}.${program}.cache`;

const script = new Script(readFileSync(file, 'latin1'), {
  filename: file,
  cachedData: read(cacheFile),
});
let kept = script.cachedDataRejected === false;
if (!kept) {
  setTimeout(keepCache, SETTLED_MS).unref();
  process.once('exit', (code) => code === 0 && keepCache());
}

const bundle = { exports: {} };
script.runInThisContext()(createRequire(file), bundle, file, dirname(file));
await bundle.exports[program]();

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
