import { TestEnvironment } from 'jest-environment-node';
import { SuiteFolder } from '../support/jest/suite-folder.mjs';

/** A fault that creates an endless loop throws after so many rounds. */
const MAX_HITS = 10_000_000;

/** Exports the reached mutants before the spec's realm is removed. After the first failure only hooks run. */
export default class MutantEnvironment extends TestEnvironment {
  folder = new SuiteFolder();

  async setup() {
    await super.setup();
    this.folder.create(this.global.process.env);
    this.global.__stryker__ = { hitCount: 0, hitLimit: MAX_HITS };
  }

  async handleTestEvent({ name, test }) {
    if (name === 'test_done' && test.errors.length > 0) this.failed = true;
    if (name === 'test_start' && this.failed) test.mode = 'skip';
  }

  async teardown() {
    globalThis.reachedMutants = Object.keys(this.global.__stryker__?.mutantCoverage?.static ?? {});
    await super.teardown();
    await this.folder.remove();
  }
}
