import { isOfMerchants, operationsOf, type Document, type Operation } from '../../support/docs/reference.js';

/** Reads the operations of merchants from the document of a service. */
export async function merchantOperations(url: string): Promise<readonly Operation[]> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Document;
  return operationsOf(document).filter(isOfMerchants);
}

/** Returns the operations without one of these calls (`<METHOD> <path>`). */
export async function uncalled(url: string, calls: Iterable<string>): Promise<string[]> {
  const all = await merchantOperations(url);
  const parameters = (path: string): number => path.split('{').length;
  // Paths with few parameters first, because `users/by_issuer_wallet_address` also matches `users/{id}`.
  const inOrder = all.toSorted((a, b) => parameters(a.path) - parameters(b.path));
  const called = new Set([...calls].map((call) => inOrder.find((operation) => isOf(call, operation))));
  return all
    .filter((operation) => !called.has(operation))
    .map(({ id, method, path }) => `${id}: ${method} ${path}`);
}

const isOf = (call: string, { method, path }: Operation): boolean =>
  new RegExp(`^${method} ${path.replace(/\{\w+\}/g, '[^/]+')}$`).test(call);
