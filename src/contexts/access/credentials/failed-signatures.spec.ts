import { beforeEach, describe, expect, it } from '@jest/globals';
import { FailedSignatures, type SignatureSource } from './signature.guard.js';

const START = 1_000_000;
const source: SignatureSource = { client: '192.0.2.1', merchantId: 'm' };

describe('the limit on failed signatures', () => {
  let now: number;
  let failures: FailedSignatures;
  beforeEach(() => {
    now = START;
    failures = new FailedSignatures(() => now);
  });
  const fail = (times: number, by = source, bytes = 0): number | null => {
    let last: number | null = null;
    for (let n = 0; n < times; n += 1) last = failures.failed(by, bytes);
    return last;
  };

  it('blocks an address from its 301st failure in a minute until the minute ends', () => {
    expect(fail(300)).toBeNull();
    expect(fail(1)).toBe(START + 60_000);
    now = START + 60_000;
    expect(fail(300)).toBeNull();
  });

  it('blocks failures for one merchant from the 3,001st in a minute, regardless of their addresses', () => {
    for (let n = 0; n < 10; n += 1) expect(fail(300, { ...source, client: `192.0.2.${n}` })).toBeNull();
    expect(fail(1, { ...source, client: '198.51.100.1' })).toBe(START + 60_000);
    expect(fail(1, { client: '198.51.100.1', merchantId: 'other' })).toBeNull();
  });

  it('counts one more failure for each 16 KiB of the body', () => {
    expect(fail(1, source, 16_384 * 299 - 1)).toBeNull();
    expect(fail(1)).toBeNull();
    expect(fail(1)).not.toBeNull();
    const other = { ...source, client: '203.0.113.1', merchantId: 'other' };
    expect(fail(1, other, 16_384 * 299)).toBeNull();
    expect(fail(1, other)).not.toBeNull();
  });
});
