// The imports of @jest/globals in suites. Shared modules outlive a suite and get those of the current suite.
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
