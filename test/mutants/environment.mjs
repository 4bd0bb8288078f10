import SuiteEnvironment from '../support/suite-environment.mjs';

/** Hands out which mutants the spec reached, before its world is taken down. */
export default class MutantEnvironment extends SuiteEnvironment {
  async teardown() {
    globalThis.reachedMutants = Object.keys(this.global.__stryker__?.mutantCoverage?.static ?? {});
    await super.teardown();
  }
}
