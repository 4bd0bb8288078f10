import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { DisburseError } from './errors.js';
import type { WebhookEvent } from './types.js';

const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** The error for a delivery with a wrong signature, or of more than five minutes ago. Respond with 400. */
export class WebhookError extends DisburseError {
  override name = 'WebhookError';
}

/**
 * Verifies the signature of a delivery and returns its event. Throws {@link WebhookError}. `body` is the
 * received text or bytes, never JSON that was parsed and written again. `secret` is the `whsec_...` of the
 * endpoint, or several during a rotation.
 *
 * An event may arrive more than once: process each `id` once. A `switch` over `type` needs a `default`,
 * because the service may have types that are newer than this client.
 */
export function verifyWebhook(
  secret: string | readonly string[],
  body: string | ArrayBuffer | ArrayBufferView,
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>,
): WebhookEvent {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const lower = Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value ?? '')]));
  const text = textOfBody(body);
  let reason: unknown;
  for (const each of [secret].flat()) {
    try {
      const event = new Webhook(each).verify(text, lower) as WebhookEvent | undefined;
      if (event !== undefined) return event;
      reason = new SyntaxError('The body is empty');
    } catch (error) {
      reason = error;
    }
  }
  throw new WebhookError(textOf(reason), { cause: reason });
}

/** Throws a WebhookError for parsed JSON, because the signed bytes can no longer be recovered. */
function textOfBody(body: unknown): string {
  if (typeof body === 'string') return body;
  if (ArrayBuffer.isView(body) || body instanceof ArrayBuffer) return UTF8.decode(body as ArrayBuffer);
  const type = body === null ? 'null' : typeof body;
  throw new WebhookError(
    `The body is of type ${type}: expected the text or bytes that arrived, before they are parsed`,
  );
}

function textOf(reason: unknown): string {
  if (reason instanceof WebhookVerificationError) return reason.message;
  return reason instanceof SyntaxError ? 'The body is no JSON' : 'The secret is no signing secret';
}
