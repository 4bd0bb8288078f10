import { createHmac } from 'node:crypto';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import {
  CallbackRefused,
  type Callback,
  type CallbackHeaders,
  type CallbackReader,
} from '../application/callback-reader.js';

/** What the sandbox's identity provider sends once a review is decided: signed by Standard Webhooks. */
export class SandboxCallbacks implements CallbackReader {
  readonly provider = 'sandbox';
  private readonly webhook: Webhook;

  /** `root`: of the key ring. */
  constructor(root: Buffer) {
    const secret = createHmac('sha256', root).update('sandbox identity callbacks').digest();
    this.webhook = new Webhook(secret, { format: 'raw' });
  }

  /** A callback about a verification as the provider sends it. */
  signed(id: string, verificationId: string, at: Date): { headers: Record<string, string>; body: Buffer } {
    const body = JSON.stringify({ type: 'review.decided', verification_id: verificationId });
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': this.webhook.sign(id, at, body),
    };
    return { headers, body: Buffer.from(body) };
  }

  read(headers: CallbackHeaders, body: Buffer): Callback {
    const text = (name: string): string => String(headers[name] ?? '');
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
    try {
      this.webhook.verify(body, Object.fromEntries(names.map((name) => [name, text(name)])), {
        jsonParse: false,
      });
    } catch (error) {
      if (error instanceof WebhookVerificationError) throw new CallbackRefused('forged');
      throw error;
    }
    const at = new Date(Number(text('webhook-timestamp')) * 1000);
    return { eventId: text('webhook-id'), at, check: verificationIn(body) };
  }
}

function verificationIn(body: Buffer): string {
  try {
    const { verification_id: id } = JSON.parse(body.toString()) as { readonly verification_id?: unknown };
    if (typeof id === 'string') return id;
  } catch {
    // Refused below.
  }
  throw new CallbackRefused('malformed');
}
