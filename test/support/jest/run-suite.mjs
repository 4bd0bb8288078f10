import { readFile } from 'node:fs/promises';
import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';
import runner from 'jest-circus/runner';

const require = createRequire(import.meta.url);
const HANDLERS = Symbol.for('EVENT_HANDLERS');
/** Set by test/support/app.ts. */
const END_SHARED_APP = Symbol.for('disburse.endSharedApp');
register('./module-hooks.mjs', import.meta.url);
process.setSourceMapsEnabled(true);
// A worker ends although its suites share a running service, whose servers end with the folder of the run.
const END = 2;
process.on('message', ([type]) => type === END && process.exit());

/**
 * Jest's own runner, but a suite and its imports are modules of Node. A worker loads them once, while Jest's
 * sandbox compiles some 2,700 files for each suite (ADR 165).
 */
export default async function runSuite(globalConfig, config, environment, runtime, path, send) {
  // Fake timers replace those of the whole process, so that timers of a service would never fire again.
  if ((await readFile(path, 'utf8')).includes('useFakeTimers')) await globalThis[END_SHARED_APP]?.();
  const modules = {
    // The state of a run is in this module, which each suite loads again.
    requireInternalModule: {
      value: (file) => {
        delete globalThis[HANDLERS];
        delete require.cache[file];
        return require(file);
      },
    },
    unstable_shouldLoadAsEsm: { value: () => true },
    unstable_importModule: { value: (file) => import(pathToFileURL(file)) },
  };
  // Jest's source maps cover only its own compilations. Node has the others.
  Error.prepareStackTrace = undefined;
  globalThis.jest = runtime.jestGlobals.jestObjectFor(path);
  return runner.default(globalConfig, config, environment, Object.create(runtime, modules), path, send);
}
