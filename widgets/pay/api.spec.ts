import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Api, Refusal } from './api.js';

const MINUTES = 60_000;
const respond = (body: object, status = 200): void => {
  const response = new Response(JSON.stringify(body), { status });
  jest.spyOn(globalThis, 'fetch').mockResolvedValueOnce(response);
};

afterEach(() => {
  jest.restoreAllMocks();
});

describe('the clock of the page', () => {
  it.each([-10, 0, 10])('is that of the server on a device whose clock is %d minutes off', async (off) => {
    const server = Date.UTC(2026, 0, 1, 12);
    const device = jest.spyOn(Date, 'now').mockReturnValue(server + off * MINUTES);
    const api = new Api('session');
    respond({ now: server });
    await api.order('id');
    expect(api.now()).toBe(server);
    device.mockReturnValue(server + off * MINUTES + 5000);
    expect(api.now()).toBe(server + 5000);
  });
});

describe('a refusal of the API', () => {
  it.each([
    [401, 'troubleSession'],
    [403, 'troubleSession'],
    [404, 'troubleMissing'],
    [409, 'troubleMoved'],
    [422, 'troubleEntry'],
    [429, 'troubleOften'],
    [500, 'troubleServer'],
    [503, 'troubleServer'],
  ])('with status %d has its message and the wrong parameter', async (status, messageKey) => {
    respond({ errors: { amount_from: ['is wrong'], pair_id: ['too'] } }, status);
    const refusal = await new Api('session').order('id').catch((error: unknown) => error as Refusal);
    expect(refusal).toMatchObject({ status, messageKey, parameter: 'amount_from' });
  });

  it('without a response has the message of a failed connection', async () => {
    jest.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('failed'));
    await expect(new Api('session').order('id')).rejects.toMatchObject({ messageKey: 'troubleUnreachable' });
  });
});
