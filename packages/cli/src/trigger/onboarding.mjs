// The steps of the onboarding page, as its browser calls them (docs/contract.md 18). No dependency: npm run demo loads this
// before there are any.
import { randomBytes } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import { Problem } from '../terminal.mjs';
import { Unreachable } from '../usage.mjs';

const TIMEOUT_MS = 30_000;

/**
 * Takes a person from the phone number to the identity that is handed in. The sandbox decides by `last_name`: `Rejected`
 * fails, `Review` stays under review. Returns `state()`, which reads the step that the person is at.
 */
export async function handInIdentity({ widgetUrl, merchantId, user, first_name, last_name }) {
  const steps = `${widgetUrl}/onboarding/${merchantId}/${user.id}`;
  const browser = randomBytes(16).toString('hex');
  const { phone_number } = user;
  let session = '';
  const call = async (name, body, type = 'application/json') => {
    const responding = fetch(`${steps}/${name}`, {
      method: 'POST',
      body: Buffer.isBuffer(body) ? body : JSON.stringify(body),
      headers: { 'content-type': type, ...(session && { authorization: `Bearer ${session}` }) },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const response = await responding.catch((error) => {
      const reason = error.cause?.code ?? error.cause?.message ?? error.message;
      throw new Unreachable(
        `${widgetUrl} does not respond (${reason}). Are the onboarding pages served there?`,
      );
    });
    const result = await response.json().catch(() => ({}));
    if (response.ok) return result;
    throw new Problem(`onboarding ${name} responded with ${response.status}: ${result.detail}`);
  };
  await call('code', { phone_number, browser });
  const { code } = await call('inbox', {});
  ({ session } = await call('phone', { phone_number, code, browser }));
  const versions = { terms_version: 'sandbox', privacy_version: 'sandbox' };
  await call('details', { first_name, last_name, date_of_birth: '1990-05-04', ...versions });
  for (const kind of ['document_front', 'selfie']) await call(`images/${kind}`, photo(), 'image/png');
  await call('identity', {});
  return { state: () => call('state', {}) };
}

/** A grey PNG of 640 × 480 pixels. */
function photo() {
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const sizes = Buffer.alloc(8);
    sizes.writeUInt32BE(data.length, 0);
    sizes.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([sizes.subarray(0, 4), body, sizes.subarray(4)]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(640, 0);
  header.writeUInt32BE(480, 4);
  header[8] = 8;
  const pixels = deflateSync(Buffer.alloc(480 * 641, 128));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
