import {
  CallbackRefused,
  type Callback,
  type CallbackHeaders,
  type CallbackReader,
} from '../../application/ports.js';
import type { OnfidoObject } from './onfido-api.js';

const SIGNATURE = /^[0-9a-f]{64}$/i;

/** Webhooks of Onfido: signed with HMAC-SHA-256 (`X-SHA2-Signature`). */
export class OnfidoCallbacks implements CallbackReader {
  readonly provider = 'onfido';

  constructor(private readonly token: string) {}

  async read(headers: CallbackHeaders, body: Buffer): Promise<Callback> {
    const { OnfidoInvalidSignatureError, WebhookEventVerifier } = await import('@onfido/api');
    const signature = headers['x-sha2-signature'];
    // For another length the package's comparison throws a different error.
    if (typeof signature !== 'string' || !SIGNATURE.test(signature)) throw new CallbackRefused('forged');
    try {
      const event: unknown = new WebhookEventVerifier(this.token).readPayload(body, signature);
      return callbackOf(event);
    } catch (error) {
      if (error instanceof OnfidoInvalidSignatureError) throw new CallbackRefused('forged');
      if (error instanceof SyntaxError) throw new CallbackRefused('malformed');
      throw error;
    }
  }
}

function callbackOf(event: unknown): Callback {
  const payload = objectIn(event, 'payload');
  const object = objectIn(payload, 'object');
  const at = new Date(String(object['completed_at_iso8601'] ?? object['started_at_iso8601']));
  if (Number.isNaN(at.getTime())) throw new CallbackRefused('malformed');
  const { id } = object;
  const isCheck = payload['resource_type'] === 'check';
  if (isCheck && typeof id !== 'string') throw new CallbackRefused('malformed');
  return { at, check: isCheck ? (id as string) : null };
}

function objectIn(object: unknown, name: string): OnfidoObject {
  const found = typeof object === 'object' && object !== null ? (object as OnfidoObject)[name] : undefined;
  if (typeof found !== 'object' || found === null) throw new CallbackRefused('malformed');
  return found as OnfidoObject;
}
