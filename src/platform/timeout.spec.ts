import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { withTimeout } from './timeout.js';

const timers = (): number => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
const never = new Promise<string>(() => undefined);

describe('work with a timeout', () => {
  it('returns its result or error if it ends in time, and leaves no timer', async () => {
    const before = timers();
    expect(await withTimeout(60_000, Promise.resolve('done'), () => 'late')).toBe('done');
    await expect(withTimeout(60_000, Promise.reject(new Error('broken')), () => 'late')).rejects.toThrow(
      'broken',
    );
    expect(timers()).toBe(before);
  });

  it('returns the substitute, or throws its error, after the time limit', async () => {
    expect(await withTimeout(5, never, () => 'late')).toBe('late');
    const refuse = (): never => {
      throw new Error('too late');
    };
    await expect(withTimeout(5, never, refuse)).rejects.toThrow('too late');
  });

  it('can fail after the time limit without an unhandled rejection', async () => {
    const failing = sleep(20).then(() => Promise.reject(new Error('later')));
    expect(await withTimeout(5, failing, () => 'late')).toBe('late');
    await sleep(40);
  });
});
