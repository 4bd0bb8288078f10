// What suites import from @jest/globals. The modules that suites share live longer than one: they get the current one's.
export { jestExpect as expect } from '@jest/expect';

const ofSuite = (name) =>
  new Proxy(() => {}, {
    apply: (_, self, args) => globalThis[name](...args),
    get: (_, key) => globalThis[name][key],
  });

export const [afterAll, afterEach, beforeAll, beforeEach, describe, it, jest, test] = [
  'afterAll',
  'afterEach',
  'beforeAll',
  'beforeEach',
  'describe',
  'it',
  'jest',
  'test',
].map(ofSuite);
