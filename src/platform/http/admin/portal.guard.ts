import { applyDecorators, Injectable, SetMetadata, UseGuards } from '@nestjs/common';
import { SharedWith } from '../pages/page.js';
import { PORTAL_PAGE } from '../listeners.js';
import { Callers, ScopedController, ScopesGuard, type ScopedApi, type ScopedCaller } from './scopes.guard.js';

/** A person of a merchant with a portal session (admin-api.md 6). */
export interface PortalCaller extends ScopedCaller {
  readonly merchantId: string;
  readonly actor: { readonly id: string; readonly name: string } | null;
  /** ISO 8601. */
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

/** A controller of the portal's own data at `/api/v1/<path>`. Each of its routes needs PortalScopes. */
export const PortalController = (path = ''): ClassDecorator =>
  ScopedController(PORTAL_API, path, PortalGuard);

/** Declares the scopes that a session needs, such as `deliveries:read`. */
export const PortalScopes = (...scopes: readonly string[]): MethodDecorator =>
  SetMetadata(PORTAL_SCOPES_KEY, scopes);

/** Serves the route in the portal too. Admin reads there are confined to the merchant of the session. */
export const PortalRoute = (path: string, scope: string): MethodDecorator =>
  applyDecorators(
    PortalScopes(scope),
    SharedWith(PORTAL_PAGE, `/${PORTAL_API.prefix}${path}`),
    UseGuards(PortalGuard),
  );
