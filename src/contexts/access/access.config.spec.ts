import { describe, expect, it } from '@jest/globals';
import { readConfig } from '../../composition.js';

const PRODUCTION = {
  MODE: 'production',
  DATABASE_URL: 'postgresql://localhost/x',
  MASTER_KEY: 'a'.repeat(64),
  PUBLIC_URL: 'https://api.example',
  CHAIN_RPC_URL: 'https://node.example',
  USDC_ADDRESS: `0x${'1'.repeat(40)}`,
};

describe.each(['ADMIN_URL', 'PORTAL_URL'])('%s', (name) => {
  it('must be https in production; the sandbox also accepts http on loopback', () => {
    const boot = (mode: object, url: string) => () => readConfig({ ...mode, [name]: url });
    for (const url of ['http://console.example', 'http://localhost:3003'])
      expect(boot(PRODUCTION, url)).toThrow(`${name} must begin with https:// in production`);
    expect(boot({}, 'http://console.example')).toThrow('https:// unless its host is loopback');
    expect(boot({}, 'http://localhost:3003')).not.toThrow();
    expect(boot({}, 'https://console.example')).not.toThrow();
  });
});
