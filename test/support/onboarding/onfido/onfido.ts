import { createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { OnfidoRecords, Refused, jsonOf, type Check } from './records.js';
import { LocalServer } from '../../http/local-server.js';

/** What happens to a request. `done, then reset` rehearses a response that is lost. */
export type Fault =
  | 'reset'
  | 'hang'
  | 'trickle'
  | 'huge'
  | 'redirect'
  | 'done, then reset'
  | { readonly status: number; readonly body: string };

export const ONFIDO_TOKEN = 'api_sandbox.a-token-of-onfido';
export const ONFIDO_WEBHOOK_TOKEN = '_ABC123abc123ABC123abc123ABC123_';
const BASE = '/v3.6';

/** A local Onfido, which refuses what the documentation of its API 3.6 refuses, and may be unavailable, slow, broken or lying. */
export class Onfido extends LocalServer {
  readonly records = new OnfidoRecords();
  readonly requests: string[] = [];
  /** By the number of the request from now on, the first being 0. */
  faults: (Fault | null)[] = [];
  lie: (body: object, request: string) => unknown = (honest) => honest;

  static async start(): Promise<Onfido> {
    const onfido = new Onfido();
    await onfido.restart();
    return onfido;
  }

  get account() {
    return { onfidoUrl: `http://127.0.0.1:${this.port}${BASE}`, onfidoApiToken: ONFIDO_TOKEN };
  }

  get settings() {
    return {
      ONBOARDING_IDENTITY: 'onfido',
      ONFIDO_API_TOKEN: ONFIDO_TOKEN,
      ONFIDO_WEBHOOK_TOKEN,
      ONFIDO_URL: this.account.onfidoUrl,
    };
  }

  recover(): void {
    this.faults = [];
    this.lie = (honest) => honest;
    this.requests.length = 0;
  }

  /** The check is over, with these reports. */
  complete(check: Check, result: 'clear' | 'consider', reports: object[] = []): void {
    Object.assign(check, { status: 'complete', result, reports });
  }

  /** The webhook about a check, as it is sent. */
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

  /** Any text, signed like a webhook. */
  signed(body: string, token = ONFIDO_WEBHOOK_TOKEN): { headers: Record<string, string>; body: Buffer } {
    const signature = createHmac('sha256', token).update(body).digest('hex');
    return {
      headers: { 'content-type': 'application/json', 'x-sha2-signature': signature },
      body: Buffer.from(body),
    };
  }

  protected override async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const name = `${request.method} ${pathname.replace(BASE, '')}`;
    this.requests.push(name);
    const fault = this.faults.shift() ?? null;
    if (fault === 'reset') return void response.destroy();
    if (fault === 'hang') return;
    if (fault === 'trickle') return trickle(response);
    if (fault === 'huge')
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(Buffer.alloc(4 << 20, 'a'));
    if (fault === 'redirect')
      return void response
        .writeHead(307, { location: this.account.onfidoUrl + pathname.replace(BASE, '') })
        .end();
    if (typeof fault === 'object' && fault !== null)
      return void response.writeHead(fault.status, { 'content-type': 'application/json' }).end(fault.body);
    const [status, said] = await this.respondTo(request, pathname, searchParams, Buffer.concat(chunks));
    if (fault === 'done, then reset') return void response.destroy();
    if (status === 204) return void response.writeHead(204).end();
    const body = status < 400 ? this.lie(said, name) : said;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  private async respondTo(
    request: IncomingMessage,
    path: string,
    query: URLSearchParams,
    body: Buffer,
  ): Promise<[number, object]> {
    try {
      if (request.headers.authorization !== `Token token=${ONFIDO_TOKEN}`)
        throw new Refused(
          401,
          'authorization_error',
          'Authorization error: please re-check your credentials',
        );
      if (!path.startsWith(`${BASE}/`)) throw new Refused(404, 'resource_not_found', 'Unknown version');
      return await this.route(request, path.slice(BASE.length), query, body);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const { status, type, message, fields } = error;
      return [status, { error: { type, message, fields } }];
    }
  }

  private async route(
    request: IncomingMessage,
    path: string,
    query: URLSearchParams,
    body: Buffer,
  ): Promise<[number, object]> {
    const { records } = this;
    const type = request.headers['content-type'] ?? '';
    const json = (): Record<string, unknown> => {
      if (!type.startsWith('application/json'))
        throw new Refused(415, 'bad_request', 'Content-Type must be application/json');
      return JSON.parse(body.toString()) as Record<string, unknown>;
    };
    const form = (): Promise<FormData> => {
      if (!/^multipart\/form-data; ?boundary=/.test(type))
        throw new Refused(400, 'bad_request', 'must be multipart/form-data');
      return new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
    };
    const applicant = (): ReturnType<OnfidoRecords['find']> => records.find(query.get('applicant_id') ?? '');
    const [, resource, id] = /^\/([a-z_]+)(?:\/([^/]+))?$/.exec(path) ?? [];
    switch (`${request.method} ${resource}${id === undefined ? '' : '/:id'}`) {
      case 'POST applicants':
        return [201, records.createApplicant(json())];
      case 'PUT applicants/:id':
        return [200, records.updateApplicant(id!, json())];
      case 'DELETE applicants/:id':
        records.deleteApplicant(id!);
        return [204, {}];
      case 'GET documents':
        return [200, { documents: applicant().documents }];
      case 'POST documents':
        return [201, await records.addDocument(await form())];
      case 'GET live_photos':
        return [200, { live_photos: applicant().livePhotos }];
      case 'POST live_photos':
        return [201, await records.addLivePhoto(await form())];
      case 'GET checks':
        return [200, { checks: applicant().checks.map(jsonOf) }];
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

function trickle(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 50);
  response.on('close', () => clearInterval(timer));
}
