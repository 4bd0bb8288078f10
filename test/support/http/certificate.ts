import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Writes `key.pem` and a self-signed `cert.pem` into the folder, for names such as `IP:8.8.8.8` and `DNS:*.example`. */
export function certify(dir: string, names: readonly string[]): void {
  const subject = ['-subj', '/CN=test', '-addext', `subjectAltName=${names.join()}`];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const files = ['-keyout', join(dir, 'key.pem'), '-out', join(dir, 'cert.pem')];
  const created = spawnSync('openssl', ['req', '-x509', '-days', '2', ...key, ...subject, ...files]);
  if (created.status !== 0) throw new Error(`openssl wrote no certificate: ${created.stderr.toString()}`);
}
