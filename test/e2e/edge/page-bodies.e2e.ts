import { once } from 'node:events';
import { request as send, type IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { sharedApp } from '../../support/app.js';
import { createPortalSession } from '../../support/http/portal-browser.js';

const MIB = 1_048_576;
const PIECE = Buffer.alloc(16_384, ' ');

interface Sent {
  readonly bytes: number;
  readonly isChunked: boolean;
  /** Sends nothing before `100 Continue` or the response. */
  readonly waits?: true;
}

/** The status of a POST whose body is sent in pieces, and whether the service let it continue. */
async function post(url: string, headers: Record<string, string>, { bytes, isChunked, waits }: Sent) {
  const length: Record<string, string> = isChunked ? {} : { 'content-length': String(bytes) };
  const expectation: Record<string, string> = waits ? { expect: '100-continue' } : {};
  const all = { 'content-type': 'application/json', ...headers, ...length, ...expectation };
  const request = send(url, { method: 'POST', headers: all });
  const response = once(request, 'response') as Promise<[IncomingMessage]>;
  let continues = false;
  const goesOn = once(request, 'continue').then(() => (continues = true));
  goesOn.catch(() => undefined);
  if (waits) {
    request.flushHeaders();
    await Promise.race([goesOn, response]);
  }
  let isOver = waits === true && !continues;
  response.then(() => (isOver = true)).catch(() => undefined);
  for (let sent = 0; sent < bytes && !isOver; sent += PIECE.length) {
    const part = PIECE.subarray(0, Math.min(PIECE.length, bytes - sent));
    if (!request.write(part)) await Promise.race([once(request, 'drain'), response]);
  }
  const [{ statusCode }] = await response;
  request.destroy();
  return [statusCode, continues];
}

const app = await sharedApp();
const admin = await app.newAdmin();
const portal = new URL((await createPortalSession(app.merchant)).url).origin;

describe('a body that the admin API and the portal do not accept', () => {
  it.each([
    [{ bytes: 16_384, isChunked: false }, false],
    [{ bytes: 16_384, isChunked: true }, false],
    [{ bytes: MIB, isChunked: false }, false],
    [{ bytes: 24 * MIB, isChunked: true }, false],
    [{ bytes: MIB, isChunked: false, waits: true }, false],
    [{ bytes: MIB, isChunked: true, waits: true }, true],
  ] as const)('of %j is 413 before the connection ends', async (sent, continues) => {
    const authorization = `Bearer ${admin.key}`;
    const expected = [413, continues];
    expect(await post(`${portal}/session`, { origin: portal }, sent)).toEqual(expected);
    expect(await post(`${admin.baseUrl}/admin/v1/merchants`, { authorization }, sent)).toEqual(expected);
  });

  it('is 415 with a Content-Encoding', async () => {
    const [sent, encoded] = [{ bytes: 100, isChunked: false }, { 'content-encoding': 'gzip' }];
    const authorization = `Bearer ${admin.key}`;
    expect(await post(`${portal}/session`, { origin: portal, ...encoded }, sent)).toEqual([415, false]);
    const merchants = `${admin.baseUrl}/admin/v1/merchants`;
    expect(await post(merchants, { authorization, ...encoded }, sent)).toEqual([415, false]);
  });

  it('of a stranger is 401, and is not read', async () => {
    const sent = { bytes: MIB, isChunked: true, waits: true } as const;
    expect(await post(`${admin.baseUrl}/admin/v1/merchants`, {}, sent)).toEqual([401, false]);
  });
});
