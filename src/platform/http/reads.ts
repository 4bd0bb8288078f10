import {
  applyDecorators,
  createParamDecorator,
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
import { getRequest } from './request-state.js';

/** Key of the metadata of a route: its {@link ReadFacts}. */
export const READS_KEY = 'reads';

interface ReadFacts {
  /** The read model that includes all earlier writes before the handler runs; null: the handler reads none, or waits. */
  readonly view: string | null;
  /** True: the response may lack writes that take longer than READ_YOUR_WRITES_MS; 503 otherwise. */
  readonly mayBeLate?: boolean;
  /** The name of what is read, in the portals of its merchants; null: it belongs to no merchant. */
  readonly lookup: string | null;
  /** The streams whose revision is the ETag of the resource with this id. */
  readonly etag?: (id: string) => readonly string[];
}

/**
 * What a read displays, where the response does not name its merchants in `merchant_id` or has a revision of another kind.
 * `respond` is called once the caller may see it and the read is recorded.
 */
export class Disclosure<Body extends object = object> {
  constructor(
    readonly merchants: readonly (string | null)[],
    readonly respond: () => Body | Promise<Body>,
    readonly revision: number | null = null,
  ) {}
}

/** The valid filter `merchant_id` of a list. */
function filteredMerchant({ query }: FastifyRequest): string | null {
  return readUuid((query as { readonly merchant_id?: unknown }).merchant_id);
}

/** The merchants whose rows a list may hold; null: all. Throws `not_found` for a filter that the caller is not confined to. */
export const Reach = createParamDecorator((_: unknown, context: ExecutionContext): Requester['merchants'] => {
  const request = getRequest(context);
  const caller = request.edge.visitor as Requester;
  const merchantId = filteredMerchant(request);
  if (merchantId === null) return caller.merchants;
  requireReach(caller, merchantId, 'Merchant');
  return [merchantId];
});

/** Waits for the read model, refuses what is out of the caller's reach, records the lookup and sends the ETag. */
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
    // The revision precedes the rows: a change in between makes the ETag too old, and not the response.
    const revision = etag && isUuid(id) ? await this.operations.findRevision(etag(id.toLowerCase())) : null;
    // A merchant reads all that was written before, through the portal too.
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
    // The merchant's own people are no operators.
    if (request.edge.portalSessionId !== null) return;
    if (id !== undefined) return this.lookups.record(caller, merchants, `${lookup} ${id.toLowerCase()}`);
    // Only a list has filters: any other query is not checked. An empty page of a merchant is a lookup, too.
    const filter = filteredMerchant(request);
    await this.lookups.record(caller, filter === null ? merchants : [filter], lookup);
  }
}

/** The `merchant_id` of the resource or the rows in a response. Throws for a text, and for what lacks the member. */
function merchantsIn(response: unknown): readonly (string | null)[] {
  if (response instanceof Reply || !isObject(response)) throw new Error('a text needs a Disclosure');
  return Object.values(response)
    .flat()
    .filter(isObject)
    .map(({ merchant_id: merchantId }) => {
      if (typeof merchantId === 'string' || merchantId === null) return merchantId;
      throw new Error('a resource without merchant_id needs a Disclosure');
    });
}

/** Declares a read of the admin API: a GET without it stops the boot. */
export const Reads = (facts: ReadFacts): MethodDecorator =>
  applyDecorators(SetMetadata(READS_KEY, facts), UseInterceptors(ReadInterceptor));

/**
 * Declares the read model of a read for a merchant: the response includes all that was written before the request, from
 * any process (contract.md 7.1, 7.2); 503 when that takes longer than READ_YOUR_WRITES_MS.
 */
export const UpToDate = (view: string): MethodDecorator => Reads({ view, lookup: null });
