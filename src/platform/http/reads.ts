import {
  applyDecorators,
  Injectable,
  SetMetadata,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { mergeMap } from 'rxjs';
import { isUuid, readUuid } from '../../kernel/ids.js';
import { isObject } from '../dto/field.js';
import { OperatorLookups, Operations, type Requester } from '../operations/operations.js';
import { requireReach } from '../operations/scopes.js';
import { SubscriptionProgress } from '../projections/subscription-progress.js';
import { Reply } from './reply.js';
import { fromRequest, getRequest } from './request-state.js';

export const READS_KEY = 'reads';

interface ReadFacts {
  /** The read model to wait for before the handler runs. Null if the handler reads none or waits itself. */
  readonly view: string | null;
  /** True to respond with outdated data after READ_YOUR_WRITES_MS, in place of a 503. */
  readonly mayBeLate?: boolean;
  /** The name of the resource in recorded lookups; null if the resource belongs to no merchant. */
  readonly lookup: string | null;
  /** Returns the streams whose revision is the ETag. */
  readonly etag?: (id: string) => readonly string[];
}

/** A response that declares its merchants and its revision. `respond` runs once the lookup is recorded. */
export class Disclosure<Body extends object = object> {
  constructor(
    readonly merchants: readonly (string | null)[],
    readonly respond: () => Body | Promise<Body>,
    readonly revision: number | null = null,
  ) {}
}

function filteredMerchant({ query }: FastifyRequest): string | null {
  return readUuid((query as { readonly merchant_id?: unknown }).merchant_id);
}

/** Injects the merchant ids that a list may contain; null for all. Filtering by any other id gets 404. */
export const Reach = fromRequest((request): Requester['merchants'] => {
  const caller = request.edge.visitor as Requester;
  const merchantId = filteredMerchant(request);
  if (merchantId === null) return caller.merchants;
  requireReach(caller, merchantId, 'Merchant');
  return [merchantId];
});

/** Waits for the read model, refuses resources of other merchants, records lookups and sets the ETag. */
@Injectable()
export class ReadInterceptor implements NestInterceptor {
  constructor(
    private readonly progress: SubscriptionProgress,
    private readonly operations: Operations,
    private readonly lookups: OperatorLookups,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler) {
    const facts = Reflect.getMetadata(READS_KEY, context.getHandler()) as ReadFacts;
    const { view, mayBeLate = false, etag } = facts;
    const request = getRequest(context);
    const { id } = request.params as { readonly id?: string };
    // The revision is read before the rows: a change in between then makes the ETag outdated, not the rows.
    const revision = etag && isUuid(id) ? await this.operations.findRevision(etag(id.toLowerCase())) : null;
    // A merchant must see its own writes, also in the portal.
    const isPortal = request.edge.portalSessionId !== null;
    if (view !== null && mayBeLate && !isPortal) await this.progress.waitUntilCurrent(view);
    else if (view !== null) await this.progress.requireCurrent(view);
    return next.handle().pipe(
      mergeMap(async (result: unknown) => {
        const disclosure = result instanceof Disclosure ? result : null;
        const { lookup } = facts;
        if (lookup !== null) await this.record(request, lookup, disclosure?.merchants ?? merchantsIn(result));
        const response: unknown = disclosure === null ? result : await disclosure.respond();
        const tag = disclosure?.revision ?? revision;
        if (tag !== null) context.switchToHttp().getResponse<FastifyReply>().header('etag', `"${tag}"`);
        return response;
      }),
    );
  }

  private async record(
    request: FastifyRequest,
    lookup: string,
    displayed: readonly (string | null)[],
  ): Promise<void> {
    const caller = request.edge.visitor as Requester;
    const { id } = request.params as { readonly id?: string };
    const merchants = displayed.filter((each) => each !== null);
    for (const each of merchants) requireReach(caller, each, lookup[0]!.toUpperCase() + lookup.slice(1));
    // Reads by the merchant's own people are not recorded.
    if (request.edge.portalSessionId !== null) return;
    if (id !== undefined) return this.lookups.record(caller, merchants, `${lookup} ${id.toLowerCase()}`);
    // An empty page of a merchant is a lookup too.
    const filter = filteredMerchant(request);
    await this.lookups.record(caller, filter === null ? merchants : [filter], lookup);
  }
}

/** Returns the `merchant_id` of the resource or of each row. Throws for a missing `merchant_id`. */
function merchantsIn(response: unknown): readonly (string | null)[] {
  if (response instanceof Reply || !isObject(response)) throw new Error('expected a Disclosure, not a text');
  return Object.values(response)
    .flat()
    .filter(isObject)
    .map(({ merchant_id: merchantId }) => {
      if (typeof merchantId === 'string' || merchantId === null) return merchantId;
      throw new Error('expected a merchant_id or a Disclosure');
    });
}

/** Declares a read of the admin API. A GET without `@Reads` fails the boot. */
export const Reads = (facts: ReadFacts): MethodDecorator =>
  applyDecorators(SetMetadata(READS_KEY, facts), UseInterceptors(ReadInterceptor));

/** Delays reads until `view` has all earlier writes; 503 after READ_YOUR_WRITES_MS (contract.md 7.1, 7.2). */
export const UpToDate = (view: string): MethodDecorator => Reads({ view, lookup: null });
