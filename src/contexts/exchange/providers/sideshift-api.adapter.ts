import { DomainError } from '../../../kernel/domain-error.js';
import { isObject } from '../../../platform/dto/field.js';
import type { HttpResult } from '../../../platform/outbound/outbound-request.js';
import { OperatorHosts } from '../../../platform/outbound/guarded-hosts.js';
import { OutboundClient } from '../../../platform/outbound/outbound-client.js';
import { ProviderRefused, ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';

/** The maximum size of a response, which suffices for a shift with many deposits. */
const MAX_RESPONSE_BYTES = 262_144;

/** An untrusted JSON object. Every value must be checked before its use. */
export type SideShiftObject = Readonly<Record<string, unknown>>;

export type SideShiftAccount = Readonly<
  Record<'sideshiftUrl' | 'sideshiftSecret' | 'sideshiftAffiliateId', string>
>;

interface Refusal {
  readonly message: string;
  readonly code: string;
}

/** SideShift's API, version 2 (docs.sideshift.ai; ADR 119). Calls throw the errors of ExchangeProvider. */
export class SideShiftApi {
  private readonly client: OutboundClient;
  private readonly base: string;

  constructor(
    private readonly account: SideShiftAccount,
    timeoutMs: number,
  ) {
    this.base = account.sideshiftUrl.replace(/\/+$/, '');
    const limits = { timeoutMs, bodyBytes: MAX_RESPONSE_BYTES, keptBytes: MAX_RESPONSE_BYTES };
    this.client = new OutboundClient(new OperatorHosts(), limits);
  }

  async get(path: string): Promise<SideShiftObject> {
    return this.readObject(await this.client.get(this.base + path, this.headers(null)), 200);
  }

  /** Sends a request with the caller's IP address, because SideShift refuses callers of some countries. */
  async post(path: string, body: SideShiftObject, callerAddress: string | null): Promise<SideShiftObject> {
    return this.readObject(await this.send(path, body, callerAddress), 201);
  }

  /** Cancels a shift, unless it has ended. Throws ProviderUnavailable (`later`) in its first 5 minutes. */
  async cancel(id: string): Promise<void> {
    const result = await this.send('/cancel-order', { orderId: id }, null);
    if (result.kind === 'response' && result.status === 204) return;
    if (result.kind === 'failed' || result.status !== 400) return void this.readObject(result, 204);
    if (/only be cancelled after/i.test(refusalIn(result)?.message ?? ''))
      throw new ProviderUnavailable('it cancels shifts once they are 5 minutes old', 'later');
  }

  close(): Promise<void> {
    return this.client.close();
  }

  private send(path: string, body: SideShiftObject, callerAddress: string | null): Promise<HttpResult> {
    return this.client.post(this.base + path, this.headers(callerAddress), JSON.stringify(body));
  }

  private headers(callerAddress: string | null): Record<string, string> {
    return {
      accept: 'application/json',
      'content-type': 'application/json',
      'x-sideshift-secret': this.account.sideshiftSecret,
      ...(callerAddress === null ? {} : { 'x-user-ip': callerAddress }),
    };
  }

  private readObject(result: HttpResult, expected: number): SideShiftObject {
    if (result.kind === 'failed') throw new ProviderUnavailable(`it cannot be reached: ${result.error}`);
    if (result.status !== expected) throw toError(result.status, refusalIn(result));
    return objectIn(result.body) ?? contradiction('its response is not a JSON object');
  }
}

export function contradiction(message: string): never {
  throw new ProviderUnavailable(message, 'contradiction');
}

function toError(status: number, refusal: Refusal | null): Error {
  const { message = '', code = '' } = refusal ?? {};
  if (status === 429) return new ProviderUnavailable('it takes no more requests for a minute', 'later');
  if (code === 'ACCESS_DENIED' || /access denied|access-denied/i.test(message))
    return new ProviderRefused("exchanges are not offered in the caller's country", null);
  if (/x-user-ip/i.test(message))
    return new ProviderRefused('exchanges are offered only to callers with a public address', null);
  if (status === 401 || status === 403 || /x-sideshift-secret|affiliateId/i.test(message))
    return new ProviderUnavailable(`it rejects our account or its authentication (${status})`);
  if (status === 400) return refused(message);
  return new ProviderUnavailable(`it responds with ${status}`);
}

/** Classifies a refusal by the sentences of docs.sideshift.ai/troubleshoot-errors. */
function refused(message: string): Error {
  if (/receiving address|settle ?address/i.test(message))
    return new ProviderRefused('is not accepted by the exchange provider', 'withdraw_address');
  if (/memo/i.test(message))
    return new ProviderRefused('is not accepted by the exchange provider', 'withdraw_address_memo');
  if (/method .* not found|coin|network|disabled|offline|unavailable/i.test(message))
    return new ProviderRefused('cannot be exchanged now', 'pair_id');
  if (/amount|deposit range|too (low|high|small|large)/i.test(message))
    return DomainError.invalid({ amount_from: ['is outside the limits of the exchange provider'] });
  if (/quote/i.test(message)) return new ProviderUnavailable('its quote had expired', 'later');
  return new ProviderRefused('the exchange provider refuses the order', null);
}

function refusalIn({ body }: { readonly body: Buffer }): Refusal | null {
  const error = objectIn(body)?.['error'];
  if (!isObject(error)) return null;
  const text = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 500) : '');
  return { message: text(error['message']), code: text(error['code']) };
}

function objectIn(body: Buffer): SideShiftObject | null {
  try {
    const parsed: unknown = JSON.parse(body.toString());
    return isObject(parsed) ? parsed : null;
  } catch {
    return null;
  }
}
