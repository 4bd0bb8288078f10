// The verification of a delivery, with the reason where it fails.
import { verifyWebhook } from '@disburse/sdk';
import { isUtf8 } from 'node:buffer';
import { isJson } from '../json-text.mjs';
import { elapsed } from '../terminal.mjs';

const TOLERANCE_MS = 5 * 60_000;
const REQUIRED = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

/**
 * Null for a genuine delivery, else a sentence that says why it is none (contract.md 13.4).
 * @param secrets any of them may have signed
 */
export function whyNotGenuine(secrets, headers, body) {
  const missing = REQUIRED.filter((name) => !headers[name]);
  if (missing.length > 0) return `missing: ${missing.join(', ')}`;
  // The package signs over text: bytes that are no text would be compared as something that was not sent.
  if (!isUtf8(body)) return 'the body is not UTF-8';
  const text = body.toString('utf8');
  if (!isJson(text)) return 'the body is not JSON';
  try {
    verifyWebhook(secrets, text, headers);
    return null;
  } catch {
    // The client says less than what is wrong with which header.
  }
  return reason(headers);
}

function reason({ 'webhook-timestamp': timestamp, 'webhook-signature': signature }) {
  if (!/^\d{1,12}$/.test(timestamp)) return 'webhook-timestamp is no number of seconds';
  const age = Date.now() - Number(timestamp) * 1000;
  if (Math.abs(age) > TOLERANCE_MS) {
    return `webhook-timestamp is ${elapsed(Math.abs(age))} ${age > 0 ? 'old' : 'ahead'}; 5 min is the limit`;
  }
  if (!signature.split(' ').some((entry) => entry.startsWith('v1,')))
    return 'webhook-signature has no v1 entry';
  return 'no v1 entry of webhook-signature fits the secret and the body';
}
