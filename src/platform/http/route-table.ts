interface Route {
  readonly method: string;
  /** As registered, for example `/merchants/v1/payouts/:id`. */
  readonly url: string;
  readonly pattern: RegExp;
}

/** Every route that the server knows, to tell an unknown path (404) from a wrong method (405) and for the OpenAPI test. */
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

  /** The methods that the path has; empty when it is unknown. */
  methodsOf(path: string): readonly string[] {
    return [...new Set(this.routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))];
  }

  list(): readonly { readonly method: string; readonly url: string }[] {
    return this.routes.map(({ method, url }) => ({ method, url }));
  }
}
