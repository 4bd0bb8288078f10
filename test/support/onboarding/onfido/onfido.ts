import { createHmac } from 'node:crypto';
import { OnfidoRecords, Refused, jsonOf, type Check } from './records.js';
import { ProviderServer, type ProviderCall, type Response } from '../../exchange/provider-server.js';

const ONFIDO_TOKEN = 'api_sandbox.a-token-of-onfido';
export const ONFIDO_WEBHOOK_TOKEN = '_ABC123abc123ABC123abc123ABC123_';

/** A local Onfido with the refusals of its API 3.6, which may be unavailable, slow, broken or lying. */
export class Onfido extends ProviderServer {
  readonly records = new OnfidoRecords();
  protected override readonly base = '/v3.6';

  static async start(): Promise<Onfido> {
    const onfido = new Onfido();
    await onfido.restart();
    return onfido;
  }

  get account() {
    const tokens = { onfidoApiToken: ONFIDO_TOKEN, onfidoWebhookToken: ONFIDO_WEBHOOK_TOKEN };
    return { onfidoUrl: `${this.url}${this.base}`, ...tokens };
  }

  get settings() {
    return {
      ONBOARDING_IDENTITY: 'onfido',
      ONFIDO_API_TOKEN: ONFIDO_TOKEN,
      ONFIDO_WEBHOOK_TOKEN,
      ONFIDO_URL: this.account.onfidoUrl,
    };
  }

  complete(check: Check, result: 'clear' | 'consider', reports: object[] = []): void {
    Object.assign(check, { status: 'complete', result, reports });
  }

  webhook(
    check: string,
    at = new Date(),
    token = ONFIDO_WEBHOOK_TOKEN,
  ): { headers: Record<string, string>; body: Buffer } {
    const object = {
      id: check,
      status: 'complete',
      completed_at_iso8601: at.toISOString(),
      href: `https://api.eu.onfido.com/v3.6/checks/${check}`,
    };
    const body = JSON.stringify({ payload: { resource_type: 'check', action: 'check.completed', object } });
    return this.signed(body, token);
  }

  signed(body: string, token = ONFIDO_WEBHOOK_TOKEN): { headers: Record<string, string>; body: Buffer } {
    const signature = createHmac('sha256', token).update(body).digest('hex');
    return {
      headers: { 'content-type': 'application/json', 'x-sha2-signature': signature },
      body: Buffer.from(body),
    };
  }

  protected override async respondTo({
    method,
    path,
    query,
    headers,
    bytes,
  }: ProviderCall): Promise<Response> {
    const { records } = this;
    if (headers.authorization !== `Token token=${ONFIDO_TOKEN}`)
      throw new Refused(401, 'authorization_error', 'Authorization error: please re-check your credentials');
    const type = headers['content-type'] ?? '';
    const json = (): Record<string, unknown> => JSON.parse(bytes.toString()) as Record<string, unknown>;
    const form = (): Promise<FormData> =>
      new globalThis.Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
    const [, resource, id] = /^\/([a-z_]+)(?:\/([^/]+))?$/.exec(path) ?? [];
    switch (`${method} ${resource}${id === undefined ? '' : '/:id'}`) {
      case 'POST applicants':
        return [201, records.createApplicant(json())];
      case 'PUT applicants/:id':
        return [200, records.updateApplicant(id!, json())];
      case 'DELETE applicants/:id':
        records.deleteApplicant(id!);
        return [204, null];
      case 'POST documents':
        return [201, await records.addDocument(await form())];
      case 'POST live_photos':
        return [201, await records.addLivePhoto(await form())];
      case 'GET checks':
        return [200, { checks: records.find(query.get('applicant_id') ?? '').checks.map(jsonOf) }];
      case 'GET checks/:id':
        return [200, jsonOf(records.check(id!))];
      case 'POST checks':
        return [201, records.createCheck(json(), Date.now())];
      case 'GET reports':
        return [200, { reports: records.check(query.get('check_id') ?? '').reports }];
      default:
        throw new Refused(404, 'resource_not_found', 'Could not find the requested resource');
    }
  }
}
