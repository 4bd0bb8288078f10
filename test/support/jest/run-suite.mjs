import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';
import runner from 'jest-circus/runner';

const require = createRequire(import.meta.url);
const HANDLERS = Symbol.for('EVENT_HANDLERS');
register('./module-hooks.mjs', import.meta.url);
process.setSourceMapsEnabled(true);
// A worker ends although its suites share a running service. Its servers work in the folder of the run, which ends
// them.
const END = 2;
process.on('message', ([type]) => type === END && process.exit());

/**
 * Jest's own runner, but a suite and its imports are modules of Node: a worker loads them once, while Jest's sandbox
 * compiles some 2,700 files for each suite (ADR 165).
 */
export default async function runSuite(globalConfig, config, environment, runtime, path, send) {
  const modules = {
    // The state of a run is a module's: fresh for each suite.
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
  // Jest's source maps cover only its own compilations; Node has the others.
  Error.prepareStackTrace = undefined;
  globalThis.jest = runtime.jestGlobals.jestObjectFor(path);
  return runner.default(globalConfig, config, environment, Object.create(runtime, modules), path, send);
}
