import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';

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
