import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { failure } from '../../../../test/support/onboarding/onfido/onfido-harness.js';
import { Twilio, TWILIO_SERVICE } from '../../../../test/support/onboarding/twilio/twilio.js';
import { ProviderRefused } from '../../../platform/outbound/provider-errors.js';
import { MessageUncertain } from '../providers/providers.ports.js';
import { TwilioSms } from './twilio-sms.adapter.js';

const PHONE = '+15550001111';
const CODE = '493817';
const MESSAGE = { code: CODE, text: `${CODE} is your code`, validSeconds: 36_000 };
/** For what hangs alone: a busy machine must not end a call that is served. */
const SHORT_MS = 500;
const UNAVAILABLE = { name: 'ProviderUnavailable' };

let twilio: Twilio;
const processes: TwilioSms[] = [];

function sms(account: Partial<Twilio['account']> = {}, timeoutMs?: number): TwilioSms {
  const process = new TwilioSms({ ...twilio.account, ...account }, timeoutMs);
  processes.push(process);
  return process;
}

beforeAll(async () => {
  twilio = await Twilio.start();
});
afterEach(() => {
  twilio.recover();
  twilio.messages.length = 0;
  twilio.numbers.clear();
});
afterAll(async () => {
  await Promise.all([...processes.map((each) => each.onApplicationShutdown()), twilio.shutDown()]);
});

describe('the SMS provider Twilio', () => {
  it('sends the text from the configured number with the validity of the code', async () => {
    await sms().send(PHONE, MESSAGE);
    expect(twilio.messages).toEqual([
      { to: PHONE, from: '+15005550006', body: MESSAGE.text, validitySeconds: 36_000 },
    ]);
    expect(twilio.requests).toHaveLength(1);
  });

  it('sends through a messaging service without a sender number', async () => {
    await sms({ twilioFrom: null as never, twilioMessagingServiceSid: TWILIO_SERVICE as never }).send(
      PHONE,
      MESSAGE,
    );
    expect(twilio.messages).toMatchObject([{ to: PHONE, from: null }]);
  });

  it('rejects a number that Twilio refuses, with an error that does not quote Twilio', async () => {
    twilio.numbers.set(PHONE, 21211);
    const error = await failure(sms().send(PHONE, MESSAGE));
    expect(error).toBeInstanceOf(ProviderRefused);
    expect(error).toMatchObject({ message: 'We cannot send a message to this number' });
    expect(inspect(error, { depth: 9 })).not.toMatch(/5550001111|493817/);
  });

  it.each([
    ['a wrong auth token', { twilioAuthToken: 'another-token-altogether' }, '401, error 20003'],
    ['a sender that is not ours', { twilioFrom: '+15005550001' }, '400, error 21606'],
  ])('is unavailable with %s', async (_, account, response) => {
    const error = await failure(sms(account).send(PHONE, MESSAGE));
    expect(error).toMatchObject(UNAVAILABLE);
    expect(error.message).toBe(`Twilio is unavailable: it responds with ${response}`);
  });

  it.each([
    ['500', { status: 500, body: '{"code":20500,"message":"493817"}' }],
    ['200 in HTML', { status: 200, body: '<html>+15550001111</html>' }],
    ['200 and null', { status: 200, body: 'null' }],
    ['201 with no id', { status: 201, body: '{"sid":"toString","status":"queued"}' }],
  ])('is unavailable after one request when the response is %s', async (_, fault) => {
    twilio.faults = [fault];
    const error = await failure(sms().send(PHONE, MESSAGE));
    expect(error).toMatchObject(UNAVAILABLE);
    expect(inspect(error, { depth: 9 })).not.toMatch(/5550001111|493817/);
    expect(twilio.requests).toHaveLength(1);
  });

  it('is unavailable if the message failed at once or belongs to another account', async () => {
    twilio.lie = (body) => ({ ...body, status: 'failed' });
    expect(await failure(sms().send(PHONE, MESSAGE))).toMatchObject(UNAVAILABLE);
    twilio.lie = (body) => ({ ...body, account_sid: `AC${'9'.repeat(32)}` });
    expect(await failure(sms().send(PHONE, MESSAGE))).toMatchObject(UNAVAILABLE);
  });

  it.each(['hang', 'done, then reset'] as const)(
    'reports an uncertain delivery if the response is lost: %s',
    async (fault) => {
      twilio.faults = [fault];
      const error = await failure(sms({}, SHORT_MS).send(PHONE, MESSAGE));
      expect(error).toBeInstanceOf(MessageUncertain);
      expect(twilio.requests).toHaveLength(1);
    },
  );
});
