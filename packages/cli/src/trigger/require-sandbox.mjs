import { Problem } from '../terminal.mjs';
import { Unreachable } from '../usage.mjs';

const TIMEOUT_MS = 30_000;

/**
 * Throws where the service is no sandbox: elsewhere a trigger would create real users and report payouts that do not exist.
 * The document says so, and reading it leaves no refused request in the log.
 */
export async function requireSandbox(baseUrl, type) {
  const url = new URL('/openapi.json', baseUrl);
  const responding = fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  const response = await responding.catch((error) => {
    const reason = error.cause?.code ?? error.cause?.message ?? error.message;
    throw new Unreachable(`${url.origin} does not respond (${reason}). Is the service running there?`);
  });
  const { paths = {} } = await response.json().catch(() => ({}));
  if (Object.keys(paths).some((path) => path.startsWith('/merchants/v1/sandbox/'))) return;
  throw new Problem(
    `${url.origin} is no sandbox, and ${type} would not be a test there. Only webhook_endpoint.test works with any service.`,
  );
}
