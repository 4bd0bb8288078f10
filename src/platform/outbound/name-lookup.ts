import { lookup, Resolver } from 'node:dns/promises';

/** One query to one DNS server; the second try waits longer (c-ares doubles it). */
const QUERY_MS = 2000;
const TRIES = 2;
/** How long the slower family may take after the other has given addresses. */
const OTHER_FAMILY_MS = 1000;
/** libuv gives getaddrinfo two of its four threads; the other one is for the names of our own servers. */
const THREADS = 1;

/** A name without addresses. `code` is that of the resolver: ENOTFOUND, ENODATA, ESERVFAIL, ETIMEOUT... */
export class NameUnresolved extends Error {
  override readonly name = 'NameUnresolved';

  constructor(
    hostname: string,
    readonly code: string,
  ) {
    super(`${hostname} did not resolve (${code})`);
  }
}

type Family = readonly string[] | NameUnresolved;

/**
 * Asks DNS for A and AAAA at once, over sockets (c-ares) and not on a thread. Each name has a resolver of its own: a
 * fresh port against forged replies, today's resolv.conf, and it can be cancelled alone.
 */
export async function askDns(name: string, signal: AbortSignal): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: QUERY_MS, tries: TRIES });
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const family = (asked: Promise<string[]>): Promise<Family> =>
      asked.catch((error: unknown) => unresolved(name, error));
    return await joined(family(resolver.resolve4(name)), family(resolver.resolve6(name)));
  } finally {
    signal.removeEventListener('abort', cancel);
    resolver.cancel();
  }
}

/**
 * One family's addresses are enough when the other has none, fails or is late. Only addresses that were seen are judged
 * and connected to, so that whoever withholds a record wins nothing by it.
 */
async function joined(v4: Promise<Family>, v6: Promise<Family>): Promise<readonly string[]> {
  const first = await Promise.race([v4, v6]);
  const both = Promise.all([v4, v6]);
  const found: readonly Family[] = isList(first)
    ? ((await within(OTHER_FAMILY_MS, both)) ?? [first])
    : await both;
  const [one, other] = found.filter(isList);
  if (one !== undefined) return inTurn(one, other ?? []);
  const failures = found.filter((each) => each instanceof NameUnresolved);
  throw failures.find(({ code }) => code !== 'ENODATA') ?? failures[0]!;
}

function isList(found: Family): found is readonly string[] {
  return !(found instanceof NameUnresolved);
}

/** IPv4 first, then the families in turn: of a few addresses that are tried, neither family is left out. */
function inTurn(one: readonly string[], other: readonly string[]): readonly string[] {
  const length = Math.max(one.length, other.length);
  return Array.from({ length }, (_, index) => [one[index], other[index]])
    .flat()
    .filter((each) => each !== undefined);
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => (timer = setTimeout(resolve, ms, null)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Asks the system (getaddrinfo), a bounded number of names at a time: each holds a thread until it is done. */
export class SystemLookups {
  private readonly queue: (() => void)[] = [];
  private busy = 0;

  async ask(name: string, signal: AbortSignal): Promise<readonly string[]> {
    while (this.busy >= THREADS) await new Promise<void>((resolve) => this.queue.push(resolve));
    try {
      if (signal.aborted) throw new NameUnresolved(name, 'ETIMEOUT');
      this.busy++;
      // Nobody can cancel it: the thread counts as taken until getaddrinfo is back, whoever still waits.
      const found = await lookup(name, { all: true }).finally(() => this.busy--);
      return found.map((each) => each.address);
    } catch (error) {
      throw unresolved(name, error);
    } finally {
      this.queue.shift()?.();
    }
  }
}

/** What some codes of c-ares mean for a name; ECONNREFUSED, left as it is, would speak of the host itself. */
const MEANT: Readonly<Record<string, string>> = {
  ECANCELLED: 'ETIMEOUT',
  ECONNREFUSED: 'EAI_AGAIN',
  EBADRESP: 'ESERVFAIL',
};

function unresolved(name: string, error: unknown): NameUnresolved {
  if (error instanceof NameUnresolved) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  return new NameUnresolved(name, MEANT[code] ?? code);
}
