import { expect, it } from '@jest/globals';
import { GroupCall } from './group-call.js';

it('a group call batches the calls that arrive during a batch, in order and up to the maximum', async () => {
  const batches: number[][] = [];
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  const doubled = new GroupCall<number, number>(
    async (inputs) => {
      batches.push([...inputs]);
      await held;
      return inputs.map((input) => input * 2);
    },
    { max: 3 },
  );
  const first = doubled.call(1);
  await new Promise((resolve) => setImmediate(resolve));
  const others = [2, 3, 4, 5].map((input) => doubled.call(input));
  letGo();
  expect(await Promise.all([first, ...others])).toEqual([2, 4, 6, 8, 10]);
  expect(batches).toEqual([[1], [2, 3, 4], [5]]);
});

it('a failed batch of a group call rejects its own calls and not those of the next batch', async () => {
  let broken = true;
  const calls = new GroupCall<number, number>((inputs) =>
    broken ? Promise.reject(new Error('unavailable')) : Promise.resolve(inputs),
  );
  await expect(calls.call(1)).rejects.toThrow('unavailable');
  broken = false;
  await expect(calls.call(2)).resolves.toBe(2);
});

it('a group call lets other work run only while no call is in flight', async () => {
  const log: string[] = [];
  const calls = new GroupCall<string, null>(async (inputs) => {
    log.push('begin');
    await new Promise((resolve) => setTimeout(resolve, 5));
    log.push('end');
    return inputs.map(() => null);
  });
  const call = calls.call('a');
  const between = calls.between(() => Promise.resolve(log.push('between')));
  await Promise.all([call, between]);
  expect(log).toEqual(['begin', 'end', 'between']);
});
