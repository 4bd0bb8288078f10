import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { issue, newPair } from './certificate-authority.js';

/** Writes `key.pem` and a self-signed `cert.pem` into the folder, for names such as `IP:8.8.8.8` and `DNS:*.example`. */
export function certify(dir: string, names: readonly string[]): void {
  const hosts = names.map((name) => name.slice(name.indexOf(':') + 1));
  const { key, cert } = issue(newPair(), { name: 'test', hosts, authority: true });
  writeFileSync(join(dir, 'key.pem'), key);
  writeFileSync(join(dir, 'cert.pem'), cert);
}
