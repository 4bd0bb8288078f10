import { createHash, createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';
import { SetMetadata, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/internal';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { upTo } from '../cache-size.js';
import { handlersIn } from '../discovered-methods.js';
import { failpoint } from '../failpoints.js';
import { isInside } from './address.js';
import type { ApiCaller } from './merchant-directory.js';
import { Refusal, SUSPENDED } from './problem.js';
import { receiveBody, type MemoryBudget } from './request-body.js';
import { toCaller, rawPath } from './request-state.js';

/** The global guard of one API. It reads a body only after `identify`; parsing waits until after `verify`. */
export abstract class ApiGuard implements CanActivate {
  constructor(
    private readonly prefix: string,
    private readonly memory: MemoryBudget,
  ) {}

  /** Returns the caller that the request names, before the body is read. Throws {@link Refusal}. */
  abstract identify(request: FastifyRequest): Promise<ApiCaller>;

  /** Authenticates the sender once the body is read. Throws if the authentication fails. */
  verify(_request: FastifyRequest, _reply: FastifyReply, _caller: ApiCaller): void {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    const { edge } = reply.request;
    if (edge.page !== null || !this.covers(edge.route ?? rawPath(reply.request))) return true;
    return this.admit(reply.request, reply);
  }

  covers(path: string): boolean {
    const { length } = this.prefix;
    return path.startsWith(this.prefix) && (path.length === length || path[length] === '/');
  }

  private async admit(request: FastifyRequest, reply: FastifyReply): Promise<true> {
    const { edge } = request;
    if (edge.route !== null) failpoint('request.received');
    const caller = await this.identify(request);
    await receiveBody(request, reply, this.memory);
    this.verify(request, reply, caller);
    requireAdmissible(caller, request);
    edge.merchant = caller;
    edge.idempotencyScope = toCaller(caller);
    failpoint('request.authenticated');
    return true;
  }
}

/** Enforces the status and the IP allow-list of the caller (contract.md 2). */
function requireAdmissible({ status, ipAllowList, callerId }: ApiCaller, { ip }: FastifyRequest): void {
  if (status === 'suspended') throw new Refusal(SUSPENDED);
  if (ipAllowList.length === 0 || isInside(ip, ipAllowList)) return;
  const owner = callerId === undefined ? 'merchant' : 'API key';
  throw new Refusal({ status: 403, detail: `The address is outside the IP allow-list of the ${owner}` });
}

const PUBLIC = 'public routes';

/** Marks a controller without authentication. */
export const Public = (): ClassDecorator => SetMetadata(PUBLIC, true);

/** Throws at boot for a route that is neither covered by an API nor Public. */
export function requireGuards(controllers: readonly Type[], apis: readonly ApiGuard[]): void {
  for (const controller of controllers) {
    if (Reflect.hasMetadata(PUBLIC, controller)) continue;
    const prefix = Reflect.getMetadata(PATH_METADATA, controller) as string;
    for (const [name, handler] of handlersIn(controller)) {
      const paths = [Reflect.getMetadata(PATH_METADATA, handler) as string | readonly string[]].flat();
      if (!paths.every((path) => apis.some((api) => api.covers(`/${prefix}/${path}`))))
        throw new Error(`${controller.name}.${name} has no guard`);
    }
  }
}

const SIGNATURE = /^[0-9a-f]{64}$/;

/** The cached KeyObject of each secret. Creating it each time would double the cost of a signature check. */
const keys = new LRUCache<string, KeyObject>({
  ...upTo(10_000),
  memoMethod: (secret) => createSecretKey(secret, 'utf8'),
});

export function sign(secret: string, prefix: string, body: Buffer): Buffer {
  return createHmac('sha256', keys.memo(secret)).update(prefix, 'utf8').update(body).digest();
}

/** Finds the secret that created the lower-case hex signature. Returns its index or -1, in constant time. */
export function signerAmong(
  secrets: readonly string[],
  signature: string,
  prefix: string,
  body: Buffer,
): number {
  if (!SIGNATURE.test(signature)) return -1;
  const given = Buffer.from(signature, 'hex');
  return secrets.map((secret) => timingSafeEqual(given, sign(secret, prefix, body))).lastIndexOf(true);
}

/** Returns the digest that the request log contains in place of a body (admin-api.md 3). */
export function bodyDigest(body: Buffer | string): string {
  const hash = createHash('sha256').update(body).digest('hex');
  return `sha256:${hash} (${Buffer.byteLength(body)} bytes)`;
}
