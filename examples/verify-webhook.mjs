// Verifies webhooks with what Node brings along. Copy it into your application, or use the package standardwebhooks.
// Rules: docs/contract.md 13.4, which are those of Standard Webhooks. Remember the webhook-ids that you have
// handled: each delivery may come more than once.
import { createHmac, timingSafeEqual } from 'node:crypto';

const TOLERANCE_SECONDS = 5 * 60;

/**
 * Returns the webhook-id, or throws an Error that says why the delivery is not genuine: respond with 400 then.
 * @param secrets signing secrets of your endpoint ("whsec_..."): one, or two while one replaces the other
 * @param headers as `request.headers` of node:http has them, names in lower case
 * @param body Buffer of the bytes as they came; parsed and written again they would no longer fit the signature
 */
export function verify(secrets, headers, body, now = Date.now() / 1000) {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  const signatures = headers['webhook-signature'];
  if (!id || !timestamp || !signatures) throw new Error('a header is missing');
  if (!/^\d{1,12}$/.test(timestamp)) throw new Error('the timestamp is no number of seconds');
  if (Math.abs(now - Number(timestamp)) > TOLERANCE_SECONDS)
    throw new Error('the timestamp is more than 5 minutes off');

  const expected = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  });
  const given = signatures.split(' ').filter((entry) => entry.startsWith('v1,'));
  // Every pair is compared, each in constant time: how long it takes tells nothing.
  const fits = expected.flatMap((ours) => given.map((entry) => same(ours, entry.slice(3))));
  if (!fits.includes(true)) throw new Error('no v1 signature fits');
  return id;
}

function same(ours, theirs) {
  const [a, b] = [Buffer.from(ours), Buffer.from(theirs)];
  return a.length === b.length && timingSafeEqual(a, b);
}
