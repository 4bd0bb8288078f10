import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { from, lastValueFrom } from 'rxjs';
import { Disclosure, ReadInterceptor, READS_KEY } from './reads.js';
import { Reply } from './reply.js';

const ID = '0e8ddec7-5ac1-4e55-8ae3-1d2f3a4b5c6d';
const [OWN, OTHER] = ['3f0c8a52-6f0e-4b0f-9d0b-5d7a1c2e4f60', '77a1c9b8-2d3e-4f5a-8b6c-9d0e1f2a3b4c'];
const FACTS = { view: 'things.view', lookup: 'thing', etag: (id: string) => [`thing-${id}`] };

interface Request {
  readonly facts?: object;
  readonly params?: object;
  readonly query?: object;
  readonly isCurrent?: boolean;
  /** The portal session of a merchant's person; null for an operator. */
  readonly portalSessionId?: string | null;
}

/** Returns the acts of a read in order, for a caller confined to OWN. The last is the response or error. */
async function actsOf(
  respond: (acts: unknown[]) => unknown,
  {
    facts = {},
    params = { id: ID.toUpperCase() },
    query = {},
    isCurrent = true,
    portalSessionId = null,
  }: Request = {},
): Promise<unknown[]> {
  const acts: unknown[] = [];
  const wait = async (view: string): Promise<boolean> => (acts.push(view), isCurrent);
  const interceptor = new ReadInterceptor(
    {
      waitUntilCurrent: wait,
      requireCurrent: async (view: string) => {
        if (!(await wait(view))) throw new Error('unavailable');
      },
    } as never,
    { findRevision: async (streams: readonly string[]) => (acts.push(...streams), 7) } as never,
    { record: async (_: unknown, ...record: unknown[]) => void acts.push(record) } as never,
  );
  const handler = (): void => undefined;
  Reflect.defineMetadata(READS_KEY, { ...FACTS, ...facts }, handler);
  const request = { params, query, edge: { visitor: { merchants: [OWN] }, portalSessionId } };
  const context = {
    getHandler: () => handler,
    switchToHttp: () => ({
      getRequest: () => request,
      getResponse: () => ({ header: (...header: string[]) => acts.push(header) }),
    }),
  } as unknown as ExecutionContext;
  const handle = () => from(Promise.resolve().then(() => (acts.push('handler'), respond(acts))));
  const response = interceptor.intercept(context, { handle }).then((result) => lastValueFrom(result));
  acts.push(await response.catch(({ message }: Error) => message));
  return acts;
}

describe('a read of the admin API', () => {
  const thing = { id: ID, merchant_id: OWN };

  it('reads the revision, waits for the view and records the lookup before it responds', async () => {
    expect(await actsOf(() => ({ thing }))).toEqual([
      `thing-${ID}`,
      'things.view',
      'handler',
      [[OWN], `thing ${ID}`],
      ['etag', '"7"'],
      { thing },
    ]);
  });

  it('records the merchant of the filter, or else the merchant of each row of a list', async () => {
    const list = { facts: { lookup: 'things', etag: undefined }, params: {} };
    const page = { things: [thing, { id: ID, merchant_id: null }, thing], next_cursor: null };
    expect(await actsOf(() => page, list)).toContainEqual([[OWN, OWN], 'things']);
    const filtered = { ...list, query: { merchant_id: OWN } };
    expect(await actsOf(() => ({ things: [] }), filtered)).toContainEqual([[OWN], 'things']);
  });

  it('refuses a resource of another merchant without recording a lookup', async () => {
    const respond = (acts: unknown[]) => new Disclosure([OTHER], () => (acts.push('built'), {}));
    const refused = [`thing-${ID}`, 'things.view', 'handler', 'Thing not found'];
    expect(await actsOf(respond)).toEqual(refused);
    // The path alone says what is read.
    expect(await actsOf(respond, { query: { merchant_id: OWN } })).toEqual(refused);
  });

  it('records the lookup of a Disclosure, builds its response and sends its revision as ETag', async () => {
    const respond = (acts: unknown[]) => new Disclosure([OWN], () => (acts.push('built'), { thing }), 9);
    const acts = await actsOf(respond);
    expect(acts.slice(3)).toEqual([[[OWN], `thing ${ID}`], 'built', ['etag', '"9"'], { thing }]);
  });

  it.each([
    ['a text', new Reply(200, '{}'), 'expected a Disclosure, not a text'],
    ['a resource without merchant_id', { thing: {} }, 'expected a merchant_id or a Disclosure'],
  ])('fails if the response is %s', async (_, response, message) => {
    expect((await actsOf(() => response)).slice(2)).toEqual(['handler', message]);
  });

  it('fails while its view lags. With mayBeLate, only a read in the portal fails', async () => {
    expect((await actsOf(() => ({ thing }), { isCurrent: false })).at(-1)).toBe('unavailable');
    const late = { isCurrent: false, facts: { mayBeLate: true } };
    expect((await actsOf(() => ({ thing }), late)).at(-1)).toEqual({ thing });
    const inPortal = { ...late, portalSessionId: ID };
    expect((await actsOf(() => ({ thing }), inPortal)).at(-1)).toBe('unavailable');
  });

  it('records no lookup in the portal and refuses a resource of another merchant there', async () => {
    const inPortal = { portalSessionId: ID };
    const before = [`thing-${ID}`, 'things.view', 'handler'];
    expect(await actsOf(() => ({ thing }), inPortal)).toEqual([...before, ['etag', '"7"'], { thing }]);
    const foreign = { thing: { id: ID, merchant_id: OTHER } };
    expect(await actsOf(() => foreign, inPortal)).toEqual([...before, 'Thing not found']);
  });
});
