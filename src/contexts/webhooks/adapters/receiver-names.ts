import { HostsFile } from './hosts-file.js';
import { askDns, NameUnresolved, SystemQuestions } from './name-questions.js';

const LOOPBACK = ['127.0.0.1', '::1'];

/** A look-up under way, and how many wait for it. */
interface Flight {
  readonly answer: Promise<readonly string[]>;
  readonly abort: AbortController;
  waiting: number;
}

/**
 * Addresses of names that merchants chose. A DNS server that never answers costs its own name time and nobody else:
 * dotted names are asked over sockets, and only names without a dot (services of a compose file, which need the
 * system's search list) take a thread. Nothing is kept; who asks while the same name is under way shares the answer.
 */
export class ReceiverNames {
  private readonly flights = new Map<string, Flight>();
  private readonly hosts: HostsFile;
  private readonly system = new SystemQuestions();

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
      flight.answer.then(resolve, reject).finally(() => !signal.aborted && leave());
    });
  }

  private depart(name: string): Flight {
    const abort = new AbortController();
    const asked = name.includes('.') ? askDns(name, abort.signal) : this.system.ask(name, abort.signal);
    const answer = asked.finally(() => this.land(name, flight));
    const flight: Flight = { answer, abort, waiting: 0 };
    this.flights.set(name, flight);
    return flight;
  }

  private land(name: string, flight: Flight): void {
    if (this.flights.get(name) === flight) this.flights.delete(name);
  }
}
