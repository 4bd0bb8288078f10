import { randomBytes } from 'node:crypto';
import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import type { FastifyRequest } from 'fastify';
import { defer, lastValueFrom, type Observable } from 'rxjs';
import { newId } from '../../kernel/ids.js';
import { AlreadyResponded } from '../event-store/command-loop-types.js';
import type { StoredResponse } from '../event-store/port.js';
import { ResponseSeal } from '../idempotency/ticket.js';
import type { ResponseStore } from '../idempotency/response-store.js';
import { Sealer } from '../sealing/sealer.js';
import { StoresResponseWithEvents } from './decorators.js';
import { IdempotencyInterceptor, parseIdempotencyKey } from './idempotency.interceptor.js';
import { Refusal } from './problem.js';
import { Reply } from './reply.js';
import { MemoryBudget } from './request-body.js';
import { RequestState, getTicket } from './request-state.js';

class Routes {
  plain(): void {}
  @StoresResponseWithEvents({ inClear: true }) inClear(): void {}
  @StoresResponseWithEvents() withEvents(): void {}
}

interface Call {
  readonly scope?: string;
  readonly key?: string | null;
  readonly method?: string;
  readonly url?: string;
  readonly body?: string;
  readonly route?: keyof Routes;
}

/** The response of an interceptor: its status, its body, and true for a replay. */
type Sent = readonly [number, string, boolean];

/** Creates an interceptor with a store that retains the first response under a scope and a key. */
function interceptor({ carriesResponses = true } = {}) {
  const kept = new Map<string, StoredResponse>();
  let queries = 0;
  const store: Pick<ResponseStore, 'inFlight' | 'seal' | 'find' | 'storeOrGet'> = {
    seal: new ResponseSeal(new Sealer(randomBytes(32))),
    inFlight: new Map(),
    find: async (scope, key) => {
      queries += 1;
      return kept.get(scope + key) ?? null;
    },
    storeOrGet: async (response) => {
      const name = response.scope + response.key;
      const first = kept.get(name);
      if (first === undefined) kept.set(name, response);
      return first ?? null;
    },
  };
  const one = new IdempotencyInterceptor(store as ResponseStore, { carriesResponses }, new MemoryBudget(1));
  /** Sends a request; `handle` responds with a status and a body, and fails for a status of 400 and more. */
  const send = async (
    { scope = 'merchant', key = null, method = 'POST', url = '/users', body = '{}', route = 'plain' }: Call,
    handle: (request: FastifyRequest) => Promise<Reply | object | void>,
  ): Promise<Sent> => {
    const edge = Object.assign(new RequestState(), {
      merchant: { merchantId: scope },
      idempotencyScope: scope,
      rawBody: Buffer.from(body),
    });
    const headers = key === null ? {} : { 'idempotency-key': `"${key}"` };
    const request = { method, raw: { url }, headers, edge, routeOptions: { config: {} } };
    let isReplay = false;
    const reply = { request, statusCode: 201, header: () => (isReplay = true) };
    const http = { getRequest: () => request, getResponse: () => reply };
    const context = { switchToHttp: () => http, getHandler: () => Routes.prototype[route] };
    const next = { handle: () => defer(() => handle(request as unknown as FastifyRequest)) };
    const responses = (await one.intercept(
      context as unknown as ExecutionContext,
      next,
    )) as Observable<unknown>;
    const response = await lastValueFrom(responses);
    if (!(response instanceof Reply)) return [201, JSON.stringify(response), isReplay];
    return [response.status, response.body, isReplay];
  };
  return { send, kept, queries: () => queries };
}

const created =
  (body: string, status = 201) =>
  async (): Promise<Reply> =>
    new Reply(status, body);
const refused =
  (status: number, isTransient = false) =>
  async (): Promise<never> => {
    throw new Refusal({ status, detail: `refused ${status}`, isTransient });
  };
const refusal = (status: number): object => ({ problem: expect.objectContaining({ status }) });

describe('a request under an Idempotency-Key', () => {
  const key = newId();

  it('gets 409 while a request with its key is in flight, or 422 if the two requests differ', async () => {
    const { send } = interceptor();
    let finish = (_: Reply): void => undefined;
    const first = send({ key }, () => new Promise((resolve) => (finish = resolve)));
    await expect(send({ key }, created('2'))).rejects.toMatchObject(refusal(409));
    for (const change of [{ method: 'PATCH' }, { url: '/x' }, { body: '{ }' }])
      await expect(send({ key, ...change }, created('2'))).rejects.toMatchObject(refusal(422));
    expect(await send({ key, scope: 'other' }, created('3'))).toEqual([201, '3', false]);
    finish(new Reply(201, '1'));
    expect(await first).toEqual([201, '1', false]);
    expect(await send({ key }, created('2'))).toEqual([201, '1', true]);
    await expect(send({ key, url: '/x' }, created('2'))).rejects.toMatchObject(refusal(422));
  });

  it('runs again after an unexpected error, and gets 400 if its key is not a UUID', async () => {
    const { send } = interceptor();
    const broken = new Error('broken');
    await expect(send({ key }, () => Promise.reject(broken))).rejects.toBe(broken);
    expect(await send({ key }, created('1'))).toEqual([201, '1', false]);
    await expect(send({ key: 'k' }, created('1'))).rejects.toMatchObject(refusal(400));
  });

  it('stores the response text that is sent, but nothing for a GET or without a key', async () => {
    const { send, kept } = interceptor();
    expect(await send({ key }, async () => ({ n: 1 }))).toEqual([201, '{"n":1}', false]);
    expect(await send({ key }, async () => ({ n: 2 }))).toEqual([201, '{"n":1}', true]);
    await send({}, created('1'));
    await send({ key: newId(), method: 'GET' }, created('1'));
    expect(kept.size).toBe(1);
  });

  it('stores the response that is sent, unless the commit stored the same status and body', async () => {
    const { send, kept, queries } = interceptor();
    const committing = (sent: Reply) => async (request: FastifyRequest) => {
      getTicket(request).response(201, 'created');
      return sent;
    };
    await send({ key, route: 'withEvents' }, committing(new Reply(201, 'created')));
    expect([kept.size, queries()]).toEqual([0, 0]);
    await send({ key, route: 'withEvents' }, committing(new Reply(201, 'another text')));
    expect(await send({ key, route: 'plain' }, created('2'))).toEqual([201, 'another text', true]);
    await send({ key: newId(), route: 'withEvents' }, committing(new Reply(200, 'created')));
    expect(kept.size).toBe(2);
  });

  it('replays the earlier response that the commit finds under the key', async () => {
    const { send, kept } = interceptor();
    await send({ key }, created('first'));
    const repeat = async (): Promise<never> => {
      throw new AlreadyResponded([...kept.values()][0]!);
    };
    expect(await send({ key, route: 'withEvents' }, repeat)).toEqual([201, 'first', true]);
  });

  it('uses the response store if the event store cannot commit responses with events', async () => {
    const { send, kept, queries } = interceptor({ carriesResponses: false });
    const handle = async (request: FastifyRequest) => {
      getTicket(request).response(201, 'created');
      return new Reply(201, 'created');
    };
    await send({ key, route: 'withEvents' }, handle);
    expect([kept.size, queries()]).toEqual([1, 1]);
    expect(await send({ key, route: 'withEvents' }, created('2'))).toEqual([201, 'created', true]);
  });

  it.each([401, 413, 429, 500, 503, 403, 404, 409])(
    'stores no response if it fails with %i, so that a repeat runs again',
    async (status) => {
      const { send, kept } = interceptor();
      await expect(send({ key }, refused(status))).rejects.toMatchObject(refusal(status));
      await expect(send({ key }, refused(422, true))).rejects.toMatchObject(refusal(422));
      expect(kept.size).toBe(0);
    },
  );

  it.each([403, 404, 409])(
    'gets the 201 that another process stored for a repeat, and not the %i of this process',
    async (status) => {
      const { send, kept } = interceptor();
      await send({ key }, created('faster'));
      const [[name, faster]] = [...kept] as [[string, StoredResponse]];
      kept.clear();
      const overtaken = async (): Promise<never> => {
        kept.set(name, faster);
        return refused(status)();
      };
      expect(await send({ key }, overtaken)).toEqual([201, 'faster', true]);
    },
  );

  it.each([400, 415, 422, 499])('stores a problem with status %i for its repeats', async (status) => {
    const { send } = interceptor();
    await expect(send({ key }, refused(status))).rejects.toMatchObject(refusal(status));
    const [replayed, body, isReplay] = await send({ key }, created('2'));
    expect([replayed, isReplay]).toEqual([status, true]);
    expect(JSON.parse(body)).toMatchObject({ status, detail: `refused ${status}` });
  });

  it('stores the refusal of an invalid JSON body', async () => {
    const { send } = interceptor();
    const malformed = { key, body: '{' };
    await expect(send(malformed, created('1'))).rejects.toMatchObject({ code: 'bad_request' });
    expect((await send(malformed, created('1'))).slice(0, 1)).toEqual([400]);
  });

  it('seals the stored response, unless the route stores it in clear, and replays the original', async () => {
    const { send, kept } = interceptor();
    await send({ key }, created('whsec_secret'));
    const timed = newId();
    const once = async (request: FastifyRequest) => {
      getTicket(request).hideSecretAfter(-1);
      return { secret: 'whsec_secret' };
    };
    await send({ key: timed }, once);
    for (const { body } of kept.values()) expect(body).not.toContain('whsec');
    expect(await send({ key }, created('2'))).toEqual([201, 'whsec_secret', true]);
    expect(await send({ key: timed }, created('2'))).toEqual([201, '{"secret":null}', true]);
    const payout = newId();
    await send({ key: payout, route: 'inClear' }, created('payout'));
    expect(kept.get(`merchant${payout}`)!.body).toContain('payout');
    expect(await send({ key: payout }, created('2'))).toEqual([201, 'payout', true]);
    kept.set(`merchant${payout}`, { ...kept.get(`merchant${payout}`)!, body: 'forged' });
    await expect(send({ key: payout }, created('2'))).rejects.toMatchObject(refusal(503));
  });
});

describe('ids that are derived from an Idempotency-Key', () => {
  const [merchant, other, key] = [newId(), newId(), newId()];
  const { send } = interceptor();
  const idOf = async (call: Call, purpose = 'user'): Promise<string> =>
    (await send(call, async (request) => created(getTicket(request).id(purpose), 503)()))[1];

  it('are equal for a repeat, differ by merchant, key or purpose, and are random without a key', async () => {
    const calls = [
      { scope: merchant, key },
      { scope: other, key },
      { scope: merchant, key: newId() },
      { scope: merchant },
      { scope: merchant },
    ];
    const ids = [await idOf({ scope: merchant, key }, 'payout')];
    for (const call of calls) ids.push(await idOf(call));
    expect(new Set(ids).size).toBe(6);
    expect(await idOf({ scope: merchant, key }, 'payout')).toBe(ids[0]);
    expect(await idOf({ scope: merchant, key })).toBe(ids[1]);
  });
});

describe('the Idempotency-Key header', () => {
  const key = newId();

  it('is a uuid in quotes, in any letter case', () => {
    expect(parseIdempotencyKey(`"${key.toUpperCase()}"`)).toBe(key);
  });

  it.each([key, `"${key}`, `'${key}'`, `"${key}" `, `"${key.slice(1)}g"`, `x${key}"`, '""'])(
    'cannot be %s',
    (header) => expect(parseIdempotencyKey(header)).toBeNull(),
  );
});
