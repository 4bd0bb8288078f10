import { describe, expect, it } from '@jest/globals';
import { readConfig } from '../../composition.js';
import type { Setting } from '../../platform/config/settings.js';
import { exchangeConfig } from './exchange.config.js';

const SIDESHIFT = { SIDESHIFT_SECRET: 'a-private-key', SIDESHIFT_AFFILIATE_ID: 'YQMi62XMb' };
const PRODUCTION = {
  MODE: 'production',
  PUBLIC_URL: 'https://api.example',
  DATABASE_URL: 'postgres://localhost/disburse',
  MASTER_KEY: '0'.repeat(64),
  CHAIN_RPC_URL: 'https://node.example',
  USDC_ADDRESS: `0x${'1'.repeat(40)}`,
};

describe('the settings of the exchange provider', () => {
  it.each<[string, NodeJS.ProcessEnv]>([
    ['no provider in production', PRODUCTION],
    ['SideShift', { ...PRODUCTION, ...SIDESHIFT, EXCHANGE_PROVIDER: 'sideshift' }],
    ['only an account of SideShift, for its existing orders', { ...PRODUCTION, ...SIDESHIFT }],
    ['a local SideShift in the sandbox', { ...SIDESHIFT, SIDESHIFT_URL: 'http://127.0.0.1:1/api/v2' }],
  ])('accept %s', (_, env) => expect(readConfig(env)).toBeDefined());

  it.each<[string, NodeJS.ProcessEnv, RegExp]>([
    [
      'the sandbox in production',
      { ...PRODUCTION, EXCHANGE_PROVIDER: 'sandbox' },
      /PROVIDER must not be sandbox/,
    ],
    ['SideShift without an account', { EXCHANGE_PROVIDER: 'sideshift' }, /^SIDESHIFT_SECRET must be set/],
    ['a secret without an affiliate id', { SIDESHIFT_SECRET: 'a-private-key' }, /must be set together/],
    [
      'an unknown provider',
      { EXCHANGE_PROVIDER: 'Sideshift' },
      /^EXCHANGE_PROVIDER must be one of sandbox, sideshift/,
    ],
    [
      'a secret that would be sent over http',
      { ...PRODUCTION, ...SIDESHIFT, SIDESHIFT_URL: 'http://a.example' },
      /must begin with https/,
    ],
  ])('refuse %s', (_, env, message) => expect(() => readConfig(env)).toThrow(message));

  it('do not quote a malformed secret in the error', () =>
    expect(() => readConfig({ SIDESHIFT_SECRET: 'my secret key' })).toThrow(/^(?!.*my secret)/));
});

it('an exchange setting is secret if and only if its name contains SECRET, PASSWORD, TOKEN or API_KEY', () => {
  for (const each of Object.values<Setting<unknown>>(exchangeConfig.settings))
    expect([each.name, /SECRET|PASSWORD|TOKEN|API_KEY/.test(each.name)]).toEqual([
      each.name,
      each.secret === true,
    ]);
});
