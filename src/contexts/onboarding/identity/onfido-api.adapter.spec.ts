import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Onfido, ONFIDO_WEBHOOK_TOKEN } from '../../../../test/support/onboarding/onfido/onfido.js';
import { readWebhook } from './onfido-api.adapter.js';

const onfido = new Onfido();
const AT = new Date('2026-01-02T03:04:05.000Z');

async function read(headers: Record<string, string>, body: Buffer) {
  return readWebhook(ONFIDO_WEBHOOK_TOKEN, headers, body);
}

/** Signed as Onfido signs. */
async function signed(text: string) {
  const signature = createHmac('sha256', ONFIDO_WEBHOOK_TOKEN).update(text).digest('hex');
  return read({ 'x-sha2-signature': signature }, Buffer.from(text));
}

describe('a webhook of Onfido', () => {
  it('contains the id of the check and the time of its completion', async () => {
    const { headers, body } = onfido.webhook('check-123', AT);
    const callback = await read(headers, body);
    expect(callback).toMatchObject({ check: 'check-123', at: AT });
  });

  it('is accepted with the test vector of the Onfido package', async () => {
    const text = `{"payload":{"resource_type":"check","action":"check.completed","object":{"id":"check-123","status":"complete","completed_at_iso8601":"2020-01-01T00:00:00Z","href":"https://api.onfido.com/v3/checks/check-123"}}}`;
    const signature = 'a0082d7481f9f0a2907583dbe1f344d6d4c0d9989df2fd804f98479f60cd760e';
    expect(await read({ 'x-sha2-signature': signature }, Buffer.from(text))).toMatchObject({
      check: 'check-123',
    });
  });

  it.each(['', 'ab', 'z'.repeat(64), 'a'.repeat(64), 'a'.repeat(66)])(
    'is refused as forged with the signature %j',
    async (signature) => {
      const { body } = onfido.webhook('check-123', AT);
      await expect(read({ 'x-sha2-signature': signature }, body)).resolves.toBe('forged');
    },
  );

  it('is refused as forged if unsigned, signed with another token, or changed after signing', async () => {
    const { headers, body } = onfido.webhook('check-123', AT);
    const other = onfido.webhook('check-123', AT, 'another token');
    await expect(read({}, body)).resolves.toBe('forged');
    await expect(read(other.headers, other.body)).resolves.toBe('forged');
    await expect(read(headers, Buffer.concat([body, Buffer.from(' ')]))).resolves.toBe('forged');
  });

  it.each([
    '',
    'nonsense',
    'null',
    '[]',
    '{}',
    '{"payload":null}',
    '{"payload":{"resource_type":"check","object":{"id":"x"}}}',
    '{"payload":{"resource_type":"check","object":{"id":7,"completed_at_iso8601":"2026-01-01T00:00:00Z"}}}',
  ])('is refused as malformed with the body %j', async (text) => {
    await expect(signed(text)).resolves.toBe('malformed');
  });

  it('has the check null if its resource is not a check', async () => {
    const object = { id: 'report-1', completed_at_iso8601: AT.toISOString() };
    const text = JSON.stringify({ payload: { resource_type: 'report', action: 'report.completed', object } });
    expect(await signed(text)).toMatchObject({ check: null, at: AT });
  });
});
