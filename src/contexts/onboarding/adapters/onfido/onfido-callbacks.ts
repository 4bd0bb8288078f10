import type { Callback, CallbackHeaders, CallbackReader, CallbackRefusal } from '../../application/ports.js';
import type { OnfidoObject } from './onfido-api.js';

const SIGNATURE = /^[0-9a-f]{64}$/i;

/** Webhooks of Onfido: signed with HMAC-SHA-256 (`X-SHA2-Signature`). */
export class OnfidoCallbacks implements CallbackReader {
  readonly provider = 'onfido';

  constructor(private readonly token: string) {}

  async read(headers: CallbackHeaders, body: Buffer): Promise<Callback | CallbackRefusal> {
    const { OnfidoInvalidSignatureError, WebhookEventVerifier } = await import('@onfido/api');
    const signature = headers['x-sha2-signature'];
    // For another length the package's comparison throws a different error.
    if (typeof signature !== 'string' || !SIGNATURE.test(signature)) return 'forged';
    try {
      return callbackOf(new WebhookEventVerifier(this.token).readPayload(body, signature));
    } catch (error) {
      if (error instanceof OnfidoInvalidSignatureError) return 'forged';
      if (error instanceof SyntaxError) return 'malformed';
      throw error;
    }
  }
}

function callbackOf(event: unknown): Callback | 'malformed' {
  const { payload } = (event ?? {}) as { readonly payload?: OnfidoObject | null };
  const { id, completed_at_iso8601, started_at_iso8601 } = (payload?.['object'] ?? {}) as OnfidoObject;
  const at = new Date(String(completed_at_iso8601 ?? started_at_iso8601));
  if (Number.isNaN(at.getTime())) return 'malformed';
  if (payload?.['resource_type'] !== 'check') return { at, check: null };
  return typeof id === 'string' ? { at, check: id } : 'malformed';
}
