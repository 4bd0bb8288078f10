import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';
import { SuiteFolder } from './suite-folder.mjs';

/** The environment of a suite in Node's own realm (run-suite.mjs), which restores its changes at the end. */
export default class SuiteEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  #folder = new SuiteFolder();
  #before = { env: { ...process.env }, exit: process.exit, console: globalThis.console };

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  getVmContext() {
    return null;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  async setup() {
    this.#folder.create(process.env);
  }

  async teardown() {
    this.fakeTimersModern.dispose();
    await this.#folder.remove();
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, this.#before.env);
    process.exit = this.#before.exit;
    globalThis.console = this.#before.console;
  }
}
