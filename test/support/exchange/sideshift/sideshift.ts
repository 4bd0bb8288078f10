import { isIP } from 'node:net';
import { ProviderServer, type ProviderCall, type Response } from '../provider-server.js';
import { Refused, ShiftBook } from './shift-book.js';

export const ACCOUNT = { sideshiftSecret: 'a-private-key', sideshiftAffiliateId: 'YQMi62XMb' };

/** A local server with version 2 of SideShift's API: https://docs.sideshift.ai */
export class SideShift extends ProviderServer {
  readonly book = new ShiftBook(() => this.now());
  demandsUserIp = false;
  deniedAddress: string | null = null;
  protected override readonly base = '/api/v2';

  static async start(): Promise<SideShift> {
    const sideshift = new SideShift();
    await sideshift.restart();
    return sideshift;
  }

  get account() {
    return { ...ACCOUNT, sideshiftUrl: `${this.url}${this.base}` };
  }

  /** Sends an amount to a deposit address, then confirms and processes it. */
  pay(shiftId: string, amount: string): void {
    this.book.process(shiftId, this.book.receive(shiftId, amount));
  }

  override recover(): void {
    super.recover();
    this.demandsUserIp = false;
    this.deniedAddress = null;
  }

  protected override respondTo({ method, path, query, headers, body: text }: ProviderCall): Response {
    const [, shiftId] = /^\/shifts\/([0-9a-f]+)$/.exec(path) ?? [];
    if (method === 'GET' && shiftId !== undefined) return [200, { ...this.book.shift(shiftId) }];
    if (headers['x-sideshift-secret'] !== ACCOUNT.sideshiftSecret)
      throw new Refused(404, 'Incorrect or missing "x-sideshift-secret" header', 'FORBIDDEN');
    const [, from, to] = /^\/pair\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
    if (method === 'GET' && from !== undefined && to !== undefined) {
      const { affiliateId, amount } = Object.fromEntries(query);
      requireAccount(affiliateId);
      return [200, { ...this.book.pair(from, to, amount ?? '500') }];
    }
    if (method !== 'POST') throw new Refused(404, 'Not found', 'NOT_FOUND');
    const body = JSON.parse(text) as Record<string, unknown>;
    if (path === '/cancel-order') {
      this.book.cancel(body['orderId']);
      return [204, null];
    }
    if (path !== '/quotes' && path !== '/shifts/fixed') throw new Refused(404, 'Not found', 'NOT_FOUND');
    this.requireCaller(headers['x-user-ip']);
    requireAccount(body['affiliateId']);
    return [201, { ...(path === '/quotes' ? this.book.quote(body) : this.book.open(body)) }];
  }

  private requireCaller(address: string | string[] | undefined): void {
    const isThere = typeof address === 'string';
    if ((this.demandsUserIp && !isThere) || (isThere && isIP(address) === 0))
      throw new Refused(400, 'The x-user-ip header must be set to the end-user IP address');
    if (isThere && address === this.deniedAddress)
      throw new Refused(403, 'Access denied. See https://sideshift.ai/access-denied', 'ACCESS_DENIED');
  }
}

function requireAccount(affiliateId: unknown): void {
  if (affiliateId !== ACCOUNT.sideshiftAffiliateId) throw new Refused(400, 'Invalid "affiliateId"');
}
