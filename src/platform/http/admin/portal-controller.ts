import { createParamDecorator, Injectable, SetMetadata, type ExecutionContext } from '@nestjs/common';
import { SCOPES_KEY } from '../../openapi/route.js';
import { PORTAL_PAGE } from './listeners.js';
import { Callers, ScopedController, ScopesGuard, type ScopedCaller } from './scoped-controller.js';
import { requestOf } from '../request-state.js';

/** A person of a merchant, by a session of the portal (admin-api.md 6). */
export interface PortalCaller extends ScopedCaller {
  readonly merchantId: string;
  readonly sessionId: string;
  readonly actor: { readonly id: string; readonly name: string } | null;
  /** ISO 8601. */
  readonly expiresAt: string;
  readonly returnUrl: string | null;
}

/** Identifies callers of the portal. The access context provides it. */
export abstract class PortalCallers extends Callers<PortalCaller> {}

@Injectable()
class PortalGuard extends ScopesGuard {
  constructor(callers: PortalCallers) {
    super(callers);
  }
}

/** A controller of the portal's data, `/api/v1/<path>`. Each of its routes has a {@link PortalScopes}. */
export const PortalController = (path = ''): ClassDecorator =>
  ScopedController(PORTAL_PAGE, `api/v1/${path}`, PortalGuard);

/** What a session needs for the route: `deliveries:read`, for example. */
export const PortalScopes = (...scopes: readonly string[]): MethodDecorator =>
  SetMetadata(SCOPES_KEY, scopes);

/** The {@link PortalCaller}. */
export const PortalVisitor = createParamDecorator(
  (_: unknown, context: ExecutionContext): PortalCaller => requestOf(context).edge.visitor as PortalCaller,
);
