import { expect, it } from '@jest/globals';
import { isPrivateAddress } from './address.js';
import { httpConfig, proxyNotice, type HttpConfig } from '../config/config.js';

const production = httpConfig({ MODE: 'production', PUBLIC_URL: 'https://api.example.com' });
const sandbox = { mode: 'sandbox', requireHttps: false };

it.each([
  ['every request gets 403', {}, /^TRUST_PROXY is not set, .* every request will get 403/],
  ['clients share an address', sandbox, /^TRUST_PROXY is not set, .* the limits of the proxy/],
  [
    'visitors share an address',
    { ...sandbox, publicUrl: null, widgetUrl: 'https://w.example' },
    /^TRUST_PROXY/,
  ],
])('the boot warns that %s while no proxy is trusted', (_, change, notice) =>
  expect(proxyNotice({ ...production, ...change } as HttpConfig)).toMatch(notice),
);

it.each([
  ['a trusted proxy', { trustProxy: '10.0.0.1' }],
  ['no proxy', { ...sandbox, publicUrl: 'http://127.0.0.1:3000' }],
  ['the role worker alone', { roles: ['worker'] }],
])('the boot logs no warning about proxies with %s', (_, change) =>
  expect(proxyNotice({ ...production, ...change } as HttpConfig)).toBeNull(),
);

it.each([
  ['127.0.0.1', true],
  ['::ffff:10.1.2.3', true],
  ['192.168.0.7', true],
  ['fd00::1', true],
  ['8.8.8.8', false],
  ['::ffff:8.8.8.8', false],
  ['2606:4700::1111', false],
  ['', false],
])('the check that %s is a private address, which gets metrics without HTTPS, returns %s', (address, may) =>
  expect(isPrivateAddress(address)).toBe(may),
);
