import type { ContractChecker } from '../../../../support/http/openapi.js';
import { Tally } from '../../verdict.js';
import type { Response } from '../responses.js';
import { MARKS, PERSONAL, SECRET, type Mark, type MarkedMerchant } from './merchants.js';
import { ETAG, LATELY, type ScopedRequest } from './requests.js';

const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
const KEEPS_LATELY = 64;
/** HTTP statuses that the document does not repeat at each operation. */
const OF_HTTP = [404, 405, 414, 417, 431];
const API = /^\/(admin|api)\/v1\//;
const IN_PATH = /^\/[a-z]+\/v1(\/[a-z_]+\/[0-9a-f-]{36})/;

/** Records responses, completes requests with their values, and finds leaks. */
export class Oracle {
  /** Operations named in successful responses, and the decided ones. */
  readonly acknowledged = new Set<string>();
  readonly decided = new Set<string>();
  /** Successful writes to the portal, also by the method of another route of the path. */
  readonly written = new Set<string>();
  /** The number of responses per route and class of status. */
  readonly statuses = new Tally();
  /** Requests whose effect is unknown from their response. */
  unavailable = 0;
  private readonly owners = new Map<string, string>();
  private readonly etags = new Map<string, string>();
  private readonly lately = new Map<string, string[]>();

  constructor(private readonly contract: ContractChecker) {}

  readonly complete = (drawn: ScopedRequest): ScopedRequest => {
    const path = drawn.path.replace(new RegExp(LATELY, 'g'), (_, name: string, place: string) => {
      const known = this.lately.get(name) ?? [];
      return known[Number(place) % known.length] ?? UNKNOWN_ID;
    });
    if (drawn.headers['if-match'] !== ETAG) return { ...drawn, path };
    const etag = this.etags.get(IN_PATH.exec(path)?.[1] ?? '') ?? '"0"';
    return { ...drawn, path, headers: { ...drawn.headers, 'if-match': etag } };
  };

  know({ mark, ids }: MarkedMerchant): void {
    for (const [resource, all] of Object.entries(ids))
      for (const id of all) {
        if (!this.owners.has(id)) this.remember(resource, id);
        this.owners.set(id, mark);
      }
  }

  readonly evaluate = (request: ScopedRequest, response: Response): string | null => {
    const { endpoint, method, path, caller } = request;
    const isOwnMethod = endpoint !== null && endpoint.method === method;
    if (isOwnMethod) this.statuses.add(`${method} ${endpoint.path} ${Math.floor(response.status / 100)}xx`);
    // An export beyond the last signed head is unsigned. A HEAD has no body with that reason.
    const isUnsigned =
      response.body.includes('signed') ||
      (method === 'HEAD' && /\/(proof|head|consistency)(\?|$)/.test(path));
    // A check of the readiness may exceed its limit on a busy machine.
    const isNotReady = response.body.startsWith('{"status":"unavailable"');
    if (response.status === 503 && !isUnsigned && !isNotReady) {
      this.unavailable += 1;
      return `a 503: ${response.body}`;
    }
    const succeeds = response.status < 300;
    if (succeeds && (isOwnMethod || endpoint?.port === 'portal')) this.learn(request, response);
    const { scopes } = caller;
    // Any other prefix, also in capitals, is the public page.
    if (succeeds && endpoint !== null && isOwnMethod && API.test(path)) {
      const missing = scopes === null ? 'sign-in' : endpoint.scopes.find((scope) => !scopes.has(scope));
      if (missing !== undefined) return `a ${response.status} without ${missing} for ${caller.name}`;
    }
    if (['GET', 'HEAD'].includes(method) && SECRET.test(response.body)) return 'a secret';
    const isPersonal = request.port === 'admin' && scopes?.has('users_personal:read') !== true;
    if (isPersonal && PERSONAL.test(response.body) && !PERSONAL.test(said(request)))
      return `personal data for ${caller.name}`;
    const foreign = this.foreign(request, response);
    if (foreign !== null) return foreign;
    return isOwnMethod && !path.includes('\\') ? this.undocumented(request, response) : null;
  };

  private foreign(request: ScopedRequest, response: Response): string | null {
    const { caller, path } = request;
    if (caller.scopes !== null && caller.reach === null) return null;
    const own: Mark | null = caller.reach;
    const isForeign = (owner: string | undefined): boolean => owner !== undefined && owner !== own;
    // A refusal may repeat parts of the request.
    const known = response.status < 300 ? '' : said(request);
    for (const mark of MARKS)
      if (isForeign(mark) && response.body.includes(mark) && !known.includes(mark))
        return `${mark} for ${caller.name} of ${own}`;
    for (const [id] of response.body.matchAll(UUIDS))
      if (isForeign(this.owners.get(id)) && !known.includes(id))
        return `${id} of ${this.owners.get(id)} for ${caller.name} of ${own}`;
    const subject = IN_PATH.exec(path)?.[1]?.split('/')[2];
    if (response.status < 300 && subject !== undefined && isForeign(this.owners.get(subject)))
      return `${response.status} on what belongs to ${this.owners.get(subject)} for ${caller.name} of ${own}`;
    return null;
  }

  private undocumented(request: ScopedRequest, response: Response): string | null {
    const { endpoint, method, path } = request;
    const { status, headers, body } = response;
    if (endpoint?.port !== 'admin' || OF_HTTP.includes(status) || response.toHead) return null;
    if (!path.startsWith('/admin/v1/')) return null;
    try {
      this.contract.expect(method, endpoint.path, {
        status,
        headers: headers as Record<string, string>,
        text: body,
        json: <T>() => JSON.parse(body) as T,
      });
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  }

  private learn({ endpoint, method, path, caller }: ScopedRequest, { headers, body }: Response): void {
    const at = IN_PATH.exec(path)?.[1];
    if (method === 'GET' || method === 'HEAD') {
      const { etag } = headers;
      if (typeof etag === 'string' && at !== undefined) this.etags.set(at, etag);
      const cursor = /"next_cursor":"([^"]+)"/.exec(body)?.[1];
      if (cursor !== undefined) this.remember('cursors', cursor);
      return;
    }
    if (endpoint!.port === 'portal') {
      this.written.add(String(headers['request-id']));
      return;
    }
    if (body === '') return;
    const said = JSON.parse(body) as {
      readonly operation_id?: string;
      readonly operation?: {
        readonly id: string;
        readonly status: string;
        readonly subject: { readonly id: string };
      };
      readonly merchant?: { readonly id: string };
      readonly credential?: { readonly id: string; readonly merchant_id: string | null };
    };
    const operation = said.operation_id ?? said.operation?.id;
    if (operation !== undefined) {
      this.acknowledged.add(operation);
      this.remember('operations', operation);
      if (/\/(approve|reject|confirm)$/.test(endpoint!.path)) this.decided.add(operation);
      if (caller.reach !== null) this.owners.set(operation, caller.reach);
    }
    if (said.credential !== undefined) {
      this.remember('credentials', said.credential.id);
      const owner = this.owners.get(said.credential.merchant_id ?? '');
      if (owner !== undefined) this.owners.set(said.credential.id, owner);
    }
    if (said.merchant !== undefined && method === 'POST' && endpoint!.path === '/admin/v1/merchants') {
      this.owners.set(said.merchant.id, 'another');
      this.remember('merchants', said.merchant.id);
    }
  }

  private remember(name: string, value: string): void {
    const known = this.lately.get(name) ?? [];
    known.push(value);
    if (known.length > KEEPS_LATELY) known.shift();
    this.lately.set(name, known);
  }
}

function said({ path, body }: ScopedRequest): string {
  let decoded = path;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    // The path is not UTF-8.
  }
  return `${path} ${decoded} ${body?.toString('utf8') ?? ''}`;
}
