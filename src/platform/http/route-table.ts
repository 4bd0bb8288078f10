import type { FastifyRequest, RouteOptions } from 'fastify';
import { API, EVERY_LISTENER, listenerConstraint } from './connections.js';
import type { HttpProblem } from './problem.js';
import { rawPath } from './request-state.js';

interface Route {
  readonly method: string;
  readonly url: string;
  readonly listener: string;
  readonly pattern: RegExp;
}

/** The routes of all listeners. Distinguishes an unknown path (404) from a wrong method (405). */
export class RouteTable {
  readonly all: Route[] = [];

  /** Adds a route and sets its listener constraint, before the router reads the constraint. */
  add(route: RouteOptions): void {
    const { listener = API } = (route.constraints ?? {}) as { readonly listener?: string };
    route.constraints = listener === EVERY_LISTENER ? {} : { listener };
    const source = route.url
      .split('/')
      .map((part) => (part.startsWith(':') ? '[^/]+' : part === '*' ? '.*' : part.replace(/[^\w]/g, '\\$&')))
      .join('/');
    const pattern = new RegExp(`^${source}$`);
    for (const method of [route.method].flat()) this.all.push({ method, url: route.url, listener, pattern });
  }

  /** Returns 405 with `Allow` for a path with other methods only (contract.md 3.5), else null. */
  wrongMethod(request: FastifyRequest): HttpProblem | null {
    const path = rawPath(request);
    const listener = listenerConstraint.deriveConstraint(request.raw);
    const found = this.all.filter(
      (route) =>
        (route.listener === listener || route.listener === EVERY_LISTENER) &&
        // A wildcard route serves an application, whose script interprets the path.
        (listener === API || !route.url.endsWith('*')) &&
        route.pattern.test(path),
    );
    const allowed = [...new Set(found.map(({ method }) => method))];
    if (allowed.length === 0 || allowed.includes(request.method)) return null;
    const headers = { allow: allowed.join(', ') };
    return { status: 405, detail: `${request.method} is not allowed here`, headers };
  }
}
