import { describe, expect, it } from '@jest/globals';
import { HDNodeWallet } from 'ethers';
import { readConfig } from '../../composition.js';
import { chooseProvider } from './onboarding.config.js';

const PRODUCTION = {
  MODE: 'production',
  DATABASE_URL: 'postgres://127.0.0.1/none',
  MASTER_KEY: '11'.repeat(32),
  PUBLIC_URL: 'https://api.example',
  CHAIN_RPC_URL: 'https://node.example',
  USDC_ADDRESS: `0x${'1'.repeat(40)}`,
};
const TWILIO = {
  ONBOARDING_SMS: 'twilio',
  TWILIO_ACCOUNT_SID: `AC${'1'.repeat(32)}`,
  TWILIO_AUTH_TOKEN: 'a-token-of-twilio-here',
  TWILIO_FROM: '+15550001111',
};
const STRIPE = {
  ONBOARDING_CARDS: 'stripe',
  STRIPE_SECRET_KEY: 'rk_test_0123456789',
  STRIPE_ISSUING_CURRENCY: 'usd',
  STRIPE_ISSUING_BILLING_ADDRESS:
    '{"line1": "1 Main Street", "city": "Springfield", "postal_code": "12345", "country": "US"}',
};
const NODE = HDNodeWallet.createRandom('', "m/44'/60'/0'");
const XPUB = { ONBOARDING_WALLETS: 'xpub', ONBOARDING_WALLET_XPUB: NODE.neuter().extendedKey };

const read = (env: Readonly<Record<string, string | undefined>>) => readConfig({ ...PRODUCTION, ...env });

describe('settings of the onboarding providers', () => {
  it('select a provider per port; the defaults are `sandbox` in the sandbox and `none` in production', () => {
    const named = { sms: 'twilio', wallet: 'xpub', card: 'stripe' };
    expect(chooseProvider(read({ ...TWILIO, ...STRIPE, ...XPUB }))).toMatchObject(named);
    expect(chooseProvider(read({}))).toEqual({ sms: 'none', identity: 'none', wallet: 'none', card: 'none' });
    const all = { sms: 'sandbox', identity: 'sandbox', wallet: 'sandbox', card: 'sandbox' };
    expect(chooseProvider(readConfig({}))).toEqual(all);
    expect(chooseProvider(readConfig({ ...XPUB, ONBOARDING_CARDS: 'none' }))).toEqual({
      ...all,
      wallet: 'xpub',
      card: 'none',
    });
  });

  it.each([
    [{ ...TWILIO, TWILIO_ACCOUNT_SID: '' }, 'TWILIO_ACCOUNT_SID must be set where ONBOARDING_SMS is twilio'],
    [{ ...TWILIO, TWILIO_AUTH_TOKEN: '' }, 'TWILIO_AUTH_TOKEN must be set where ONBOARDING_SMS is twilio'],
    [{ ...TWILIO, TWILIO_FROM: '' }, 'One of TWILIO_FROM and TWILIO_MESSAGING_SERVICE_SID must be set'],
    [{ ...TWILIO, TWILIO_MESSAGING_SERVICE_SID: `MG${'1'.repeat(32)}` }, 'and not both'],
    [{ ...TWILIO, TWILIO_FROM: '0176 1234567' }, 'TWILIO_FROM must be a phone number such as +15550001111'],
    [{ ...TWILIO, TWILIO_URL: 'http://twilio.example' }, 'TWILIO_URL must begin with https:// in production'],
    [{ ...STRIPE, STRIPE_SECRET_KEY: '' }, 'STRIPE_SECRET_KEY must be set where ONBOARDING_CARDS is stripe'],
    [{ ...STRIPE, STRIPE_SECRET_KEY: 'pk_live_12345678' }, 'must be a secret or restricted key of Stripe'],
    [{ ...STRIPE, STRIPE_ISSUING_CURRENCY: '' }, 'STRIPE_ISSUING_CURRENCY must be set'],
    [{ ...STRIPE, STRIPE_ISSUING_BILLING_ADDRESS: '' }, 'STRIPE_ISSUING_BILLING_ADDRESS must be set'],
    [{ ...STRIPE, STRIPE_ISSUING_BILLING_ADDRESS: '{"line1": "1"}' }, 'must be a JSON object such as'],
    [{ ...STRIPE, STRIPE_ISSUING_BILLING_ADDRESS: 'Main Street' }, 'must be a JSON object such as'],
    [{ ...STRIPE, STRIPE_URL: 'http://stripe.example' }, 'STRIPE_URL must begin with https:// in production'],
    [
      { ...XPUB, ONBOARDING_WALLET_XPUB: '' },
      'ONBOARDING_WALLET_XPUB must be set where ONBOARDING_WALLETS is xpub',
    ],
    [{ ...XPUB, ONBOARDING_WALLET_XPUB: 'xpub123' }, 'must be an extended public key (BIP 32)'],
    [{ ONBOARDING_SMS: 'pigeons' }, 'ONBOARDING_SMS must be one of twilio, none'],
  ])('stop the boot with a message if they are incomplete or malformed: case %#', (env, sentence) => {
    expect(() => read(env)).toThrow(sentence);
  });

  it('refuse an extended private key with a reason that does not quote the key', () => {
    const env = { ...XPUB, ONBOARDING_WALLET_XPUB: NODE.extendedKey };
    expect(() => read(env)).toThrow(/This one is private: it can spend from every wallet/);
    expect(() => read(env)).not.toThrow(NODE.extendedKey);
  });
});
