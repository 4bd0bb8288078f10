import { describe, expect, it } from '@jest/globals';
import { ReceiverAddresses } from './receiver-addresses.js';

const production = new ReceiverAddresses({ mode: 'production', webhookAllowCidrs: null });
const sandbox = new ReceiverAddresses({ mode: 'sandbox', webhookAllowCidrs: null });

describe('a receiver URL', () => {
  it.each([
    ['not a url', /valid URL/],
    ['http://8.8.8.8/', /https/],
    ['ftp://8.8.8.8/', /https/],
    ['https://user:pw@8.8.8.8/', /password/],
    ['https://2130706433/', /127\.0\.0\.1 is loopback/],
    ['https://0x7f.1/', /127\.0\.0\.1 is loopback/],
    ['https://0177.0.0.1/', /127\.0\.0\.1 is loopback/],
    ['https://[::1]/', /loopback/],
    ['https://[::ffff:127.0.0.1]/', /mapped/],
    ['https://localhost/', /localhost resolves to .* loopback/],
    ['https://127.0.0.1./', /loopback/],
    [`https://8.8.8.8/${'a'.repeat(2048)}`, /2048/],
  ])('%s is refused', async (url, reason) => expect(await production.refusal(url)).toMatch(reason));

  it('may be public', async () =>
    expect(await production.refusal('https://8.8.8.8:8443/hooks?x=1')).toBeNull());
  it('may be a name that does not resolve yet', async () =>
    expect(await production.refusal('https://nowhere.invalid/hooks')).toBeNull());

  it('may be plain http on loopback in sandbox mode', async () => {
    expect(await sandbox.refusal('http://127.0.0.1:4000/')).toBeNull();
    expect(await sandbox.refusal('http://localhost:4000/')).toBeNull();
    expect(await sandbox.refusal('http://10.0.0.1/')).toMatch(/RFC 1918/);
  });
});
