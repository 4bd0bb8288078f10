import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { withTimeout } from './timeout.js';

const timers = (): number => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
const never = new Promise<string>(() => undefined);

describe('work with a timeout', () => {
  it('returns its result if it comes in time, and leaves no timer behind', async () => {
    const before = timers();
    expect(await withTimeout(60_000, Promise.resolve('done'), () => 'late')).toBe('done');
    await expect(withTimeout(60_000, Promise.reject(new Error('broken')), () => 'late')).rejects.toThrow(
      'broken',
    );
    expect(timers()).toBe(before);
  });

  it('returns or throws the substitute once the time is over', async () => {
    expect(await withTimeout(5, never, () => 'late')).toBe('late');
    const refuse = (): never => {
      throw new Error('too late');
    };
    await expect(withTimeout(5, never, refuse)).rejects.toThrow('too late');
  });

  it('can fail later without an unhandled rejection', async () => {
    const failing = sleep(20).then(() => Promise.reject(new Error('later')));
    expect(await withTimeout(5, failing, () => 'late')).toBe('late');
    await sleep(40);
  });
});
