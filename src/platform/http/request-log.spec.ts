import { describe, expect, it } from '@jest/globals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { loggedRequest } from './request-log.js';
import { RequestState } from './request-state.js';

const MERCHANT = '7b0c1a52-9c5c-4a4b-8d0c-3f9a3f0e1c11';

function logged(url: string, stringToSign: string | null = null) {
  const edge = new RequestState();
  edge.identifiedMerchant = { merchantId: MERCHANT } as RequestState['identifiedMerchant'];
  edge.stringToSign = stringToSign;
  const request = { edge, id: 'r', method: 'GET', raw: { url } } as unknown as FastifyRequest;
  return loggedRequest(request, { statusCode: 404 } as FastifyReply)!;
}

describe('the log entry of a request', () => {
  it.each([
    ['/merchants/v1/users/+14155550123', '/merchants/v1/users/[redacted]'],
    ['/merchants/v1/users/%2B14155550123/payouts', '/merchants/v1/users/[redacted]/payouts'],
    ['/merchants/v1/users/%252B14155550123', '/merchants/v1/users/[redacted]'],
    ['/merchants/v1/users/14155550123', '/merchants/v1/users/[redacted]'],
    ['/merchants/v1/users/ada%40example.com', '/merchants/v1/users/[redacted]'],
    ['/merchants/v1/users/ada@example.com%00', '/merchants/v1/users/[redacted]\ufffd'],
    ['/merchants/v1/users/%E0%A4%A', '/merchants/v1/users/%E0%A4%A'],
    [`/merchants/v1/payouts/${MERCHANT}`, `/merchants/v1/payouts/${MERCHANT}`],
  ])('contains the path %s as %s, also within the string to sign', (sent, kept) => {
    expect(logged(`${sent}?phone=%2B14155550123`).path).toBe(kept);
    expect(logged(sent, `1700000000\nGET\n${sent}\n`).stringToSign).toBe(`1700000000\nGET\n${kept}\n`);
  });

  it('contains only the beginning and the end of a text above 1024 characters', () => {
    const { path, stringToSign } = logged(
      `/${'a'.repeat(12_000)}`,
      `${'9'.repeat(12_000)}\nsha256:ab (2 bytes)`,
    );
    expect([path.length, stringToSign!.length]).toEqual([1024, 1024]);
    expect(stringToSign).toMatch(/^9+…9+\nsha256:ab \(2 bytes\)$/);
  });
});
