import type { FastifyRequest } from 'fastify';
import type { HttpProblem } from './problem.js';
import { rawPath } from './request-state.js';

interface Route {
  readonly method: string;
  /** As registered, for example `/merchants/v1/payouts/:id`. */
  readonly url: string;
  readonly pattern: RegExp;
}

/** Every route of a listener: distinguishes an unknown path (404) from a wrong method (405). */
export class RouteTable {
  private readonly routes: Route[] = [];

  add(methods: string | readonly string[], url: string): void {
    const source = url
      .split('/')
      .map((part) => (part.startsWith(':') ? '[^/]+' : part === '*' ? '.*' : part.replace(/[^\w]/g, '\\$&')))
      .join('/');
    const pattern = new RegExp(`^${source}$`);
    for (const method of [methods].flat()) this.routes.push({ method, url, pattern });
  }

  /** 405 with `Allow` (contract.md 3.5) for a path with other methods than that of the request; null otherwise. */
  wrongMethod(request: FastifyRequest): HttpProblem | null {
    const path = rawPath(request);
    const found = this.routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
    const allowed = [...new Set(found)];
    if (allowed.length === 0 || allowed.includes(request.method)) return null;
    const headers = { allow: allowed.join(', ') };
    return { status: 405, detail: `${request.method} is not allowed here`, headers };
  }

  list(): readonly { readonly method: string; readonly url: string }[] {
    return this.routes.map(({ method, url }) => ({ method, url }));
  }
}
