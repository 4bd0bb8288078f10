import { describe, expect, it } from '@jest/globals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ConsoleSite } from './sites.page.js';
import { httpConfig } from '../../../platform/config/config.js';

const request = (headers: Record<string, string>, protocol = 'http') =>
  ({ headers, protocol }) as unknown as FastifyRequest;
const at = (adminUrl: string | null) => new ConsoleSite({ ...httpConfig({}), adminUrl });

describe('the expected origin of the console', () => {
  it('is the origin of ADMIN_URL, regardless of the Host header', () => {
    for (const host of ['evil.example', 'localhost:3003'])
      expect(at('https://admin.example/').findOrigin(request({ host }))).toBe('https://admin.example');
  });

  it.each(['localhost:3003', '127.0.0.1:3003', '[::1]:3003'])('is http://%s without ADMIN_URL', (host) => {
    expect(at(null).findOrigin(request({ host }))).toBe(`http://${host}`);
  });

  it('is not derived from a foreign Host header if ADMIN_URL is not set', () => {
    expect(() => at(null).findOrigin(request({ host: 'rebound.example' }))).toThrow('ADMIN_URL is not set');
  });
});

describe('a write in a console session', () => {
  const own = { host: 'localhost:3003', origin: 'http://localhost:3003' };
  const writes = (headers: Record<string, string>) => () => at(null).requireOwnOrigin(request(headers));

  it('is accepted from the page of the console', () => {
    expect(writes(own)).not.toThrow();
    expect(writes({ ...own, 'sec-fetch-site': 'same-origin' })).not.toThrow();
  });

  it.each([
    ['from another site', { ...own, origin: 'https://evil.example' }],
    ['from another port of this machine', { ...own, origin: 'http://localhost:3002' }],
    ['without an Origin header', { host: own.host }],
    ['from an opaque origin', { ...own, origin: 'null' }],
    ['with Sec-Fetch-Site: same-site', { ...own, 'sec-fetch-site': 'same-site' }],
  ])('is refused %s', (_, headers) => {
    expect(writes(headers)).toThrow('The request comes from another site');
  });
});

describe('the cookie of the console', () => {
  const set = (mode: 'sandbox' | 'production', adminUrl: string | null): string => {
    const sent: unknown[] = [];
    const reply = {
      getHeader: () => undefined,
      header: (_: string, value: unknown) => sent.push(value),
    } as unknown as FastifyReply;
    new ConsoleSite({ ...httpConfig({}), mode, adminUrl }).setSession(reply, 'token', 60);
    return String(sent[0]);
  };

  it('is bound to its host, sent only over HTTPS, and hidden from scripts and other sites', () => {
    expect(set('production', 'https://admin.example')).toBe(
      '__Host-console=token; Max-Age=60; Path=/; HttpOnly; Secure; SameSite=Strict',
    );
    expect(set('production', null)).toContain('__Host-console=token');
    expect(set('sandbox', 'https://admin.example')).toContain('; Secure');
  });

  it('has neither the __Host- prefix nor Secure in the sandbox on loopback', () => {
    expect(set('sandbox', null)).toBe('console=token; Max-Age=60; Path=/; HttpOnly; SameSite=Strict');
    expect(set('sandbox', 'http://localhost:3003')).toMatch(/^console=token.*(?<!Secure)$/);
    expect(set('sandbox', 'http://admin.example')).toContain('__Host-console=token');
  });

  it('is read only by its full name with the prefix __Host-', () => {
    const site = new ConsoleSite({ ...httpConfig({}), mode: 'production' });
    expect(site.session(request({ cookie: 'console=planted; __Host-console=own' }))).toBe('own');
    expect(site.session(request({ cookie: 'console=planted' }))).toBeNull();
  });
});
