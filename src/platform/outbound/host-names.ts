import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { askDns, NameUnresolved, SystemLookups } from './name-lookup.js';

const LOOPBACK = ['127.0.0.1', '::1'];

/** A look-up under way, and how many wait for it. */
interface Flight {
  readonly found: Promise<readonly string[]>;
  readonly abort: AbortController;
  waiting: number;
}

/**
 * Addresses of names that strangers chose. A DNS server that never responds costs its own name time and nobody else:
 * dotted names are asked over sockets, and only names without a dot (services of a compose file, which need the
 * system's search list) take a thread. Nothing is kept; who asks while the same name is under way shares the look-up.
 */
export class HostNames {
  private readonly flights = new Map<string, Flight>();
  private readonly hosts: HostsFile;
  private readonly system = new SystemLookups();

  constructor(hostsFile = '/etc/hosts') {
    this.hosts = new HostsFile(hostsFile);
  }

  /** Every A and AAAA record of a name in lower case. Rejects with {@link NameUnresolved}, also when the signal aborts. */
  async addresses(hostname: string, signal: AbortSignal): Promise<readonly string[]> {
    const name = hostname.replace(/\.$/, '');
    // RFC 6761: never asked of anyone.
    if (name === 'localhost' || name.endsWith('.localhost')) return LOOPBACK;
    const listed = this.hosts.addresses(name);
    return listed.length > 0 ? listed : this.shared(name, signal);
  }

  private shared(name: string, signal: AbortSignal): Promise<readonly string[]> {
    if (signal.aborted) throw new NameUnresolved(name, 'ETIMEOUT');
    const flight = this.flights.get(name) ?? this.depart(name);
    flight.waiting++;
    return new Promise<readonly string[]>((resolve, reject) => {
      const leave = (): void => {
        signal.removeEventListener('abort', giveUp);
        if (--flight.waiting > 0) return;
        this.land(name, flight);
        flight.abort.abort();
      };
      const giveUp = (): void => {
        leave();
        reject(new NameUnresolved(name, 'ETIMEOUT'));
      };
      signal.addEventListener('abort', giveUp, { once: true });
      flight.found.then(resolve, reject).finally(() => !signal.aborted && leave());
    });
  }

  private depart(name: string): Flight {
    const abort = new AbortController();
    const asked = name.includes('.') ? askDns(name, abort.signal) : this.system.ask(name, abort.signal);
    const found = asked.finally(() => this.land(name, flight));
    const flight: Flight = { found, abort, waiting: 0 };
    this.flights.set(name, flight);
    return flight;
  }

  private land(name: string, flight: Flight): void {
    if (this.flights.get(name) === flight) this.flights.delete(name);
  }
}

/** /etc/hosts, read again whenever it has changed. A file that cannot be read lists nothing. */
export class HostsFile {
  private version = '';
  private names = new Map<string, string[]>();

  constructor(private readonly path: string) {}

  /** What the file lists for this name, in lower case; empty when nothing. */
  addresses(name: string): readonly string[] {
    // Synchronous on purpose: a page of memory, while asynchronous reading would wait for the threads of getaddrinfo.
    try {
      const { mtimeMs, size, ino } = statSync(this.path);
      const version = [mtimeMs, size, ino].join();
      if (version !== this.version) {
        this.names = parse(readFileSync(this.path, 'utf8'));
        this.version = version;
      }
    } catch {
      this.names = new Map();
      this.version = '';
    }
    return this.names.get(name) ?? [];
  }
}

function parse(text: string): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...listed] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of listed) {
      const key = name.toLowerCase().replace(/\.$/, '');
      names.set(key, [...(names.get(key) ?? []), address]);
    }
  }
  return names;
}
