import { applyDecorators, Injectable, SetMetadata, UseGuards } from '@nestjs/common';
import { SharedWith } from '../pages/page.js';
import { PORTAL_PAGE } from '../listeners.js';
import { Callers, ScopedController, ScopesGuard, type ScopedApi, type ScopedCaller } from './scopes.guard.js';

/** A person of a merchant with a portal session (admin-api.md 6). */
export interface PortalCaller extends ScopedCaller {
  readonly merchantId: string;
  readonly actor: { readonly id: string; readonly name: string } | null;
  /** The end of the session in ISO 8601. */
  readonly expiresAt: string;
  readonly returnUrl: string | null;
}

/** Identifies callers of the portal. The access context provides it. */
export abstract class PortalCallers extends Callers<PortalCaller> {}

export const PORTAL_SCOPES_KEY = 'portal scopes';

const PORTAL_API: ScopedApi = { page: PORTAL_PAGE, prefix: 'api/v1/', scopesKey: PORTAL_SCOPES_KEY };

@Injectable()
class PortalGuard extends ScopesGuard {
  constructor(callers: PortalCallers) {
    super(PORTAL_API, callers);
  }
}

/** Declares a controller of portal data at `/api/v1/<path>`. Each route needs PortalScopes. */
export const PortalController = (path = ''): ClassDecorator =>
  ScopedController(PORTAL_API, path, PortalGuard);

/** Declares the scopes that a portal session needs for the route, such as `deliveries:read`. */
export const PortalScopes = (...scopes: readonly string[]): MethodDecorator =>
  SetMetadata(PORTAL_SCOPES_KEY, scopes);

/** Serves the route also in the portal, where an admin read returns only data of the session's merchant. */
export const PortalRoute = (path: string, scope: string): MethodDecorator =>
  applyDecorators(
    PortalScopes(scope),
    SharedWith(PORTAL_PAGE, `/${PORTAL_API.prefix}${path}`),
    UseGuards(PortalGuard),
  );
