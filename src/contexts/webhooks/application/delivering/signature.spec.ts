import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { signatureHeader, signingSecret } from './signature.js';

const body = '{"id":"d","data":{"name":"é😀"}}';
const timestamp = Math.floor(Date.now() / 1000);
const headers = (signature: string) => ({
  'webhook-id': 'd',
  'webhook-timestamp': String(timestamp),
  'webhook-signature': signature,
});

describe('the signature', () => {
  it('equals the vector of the Standard Webhooks specification', () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const message = {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: 1614265330,
      body: '{"test": 2432232314}',
    };
    expect(signatureHeader([secret], message)).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('is accepted by the standardwebhooks package, and not for another body', () => {
    const secret = signingSecret(randomBytes(32));
    const signature = signatureHeader([secret], { id: 'd', timestamp, body });
    expect(new Webhook(secret).verify(body, headers(signature))).toEqual(JSON.parse(body));
    expect(() => new Webhook(secret).verify(`${body} `, headers(signature))).toThrow();
  });

  it('is the HMAC of id, timestamp and body under the decoded secret', () => {
    const key = randomBytes(32);
    const digest = createHmac('sha256', key)
      .update(Buffer.from(`d.${timestamp}.${body}`))
      .digest('base64');
    expect(signatureHeader([signingSecret(key)], { id: 'd', timestamp, body })).toBe(`v1,${digest}`);
  });

  it('has one entry per secret while two are valid', () => {
    const [old, fresh] = [signingSecret(randomBytes(32)), signingSecret(randomBytes(32))];
    const signature = signatureHeader([fresh, old], { id: 'd', timestamp, body });
    for (const secret of [old, fresh])
      expect(() => new Webhook(secret).verify(body, headers(signature))).not.toThrow();
    expect(signature.split(' ')).toHaveLength(2);
  });
});

it('a secret is whsec_ and 32 bytes in base64', () => {
  expect(signingSecret(Buffer.alloc(32, 255))).toBe(`whsec_${Buffer.alloc(32, 255).toString('base64')}`);
  expect(() => signingSecret(Buffer.alloc(24))).toThrow(RangeError);
});
