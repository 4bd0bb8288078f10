import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { DisburseError } from './errors.js';
import type { WebhookEvent } from './types.js';

/** The delivery is not one that the service sent with this secret, or it is more than five minutes old. Respond with 400. */
export class WebhookError extends DisburseError {
  override name = 'WebhookError';
}

/**
 * The event of a delivery, once its signature is verified. `body` is the exact text that arrived, not JSON that was parsed and
 * written again; `headers` those of the request, as an object or `Headers`. `secret` is `whsec_...` of the endpoint, or
 * several during a rotation. An event may arrive more than once: receive each `id` once. Events of a type that was added later
 * than this client arrive too: a `switch` over `type` needs its `default`.
 *
 * Throws {@link WebhookError}.
 */
export function verifyWebhook(
  secret: string | readonly string[],
  body: string,
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>,
): WebhookEvent {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const lower = Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value ?? '')]));
  let reason: unknown;
  for (const each of [secret].flat()) {
    try {
      const event = new Webhook(each).verify(body, lower) as WebhookEvent | undefined;
      if (event !== undefined) return event;
      reason = new SyntaxError('The body is empty');
    } catch (error) {
      reason = error;
    }
  }
  throw new WebhookError(textOf(reason), { cause: reason });
}

function textOf(reason: unknown): string {
  if (reason instanceof WebhookVerificationError) return reason.message;
  return reason instanceof SyntaxError ? 'The body is no JSON' : 'The secret is no signing secret';
}
