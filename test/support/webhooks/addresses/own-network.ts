import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { certify } from '../../http/certificate.js';
import { specFolder } from '../../run-folder.js';
import { systemProgram } from '../../programs/system-program.js';

/** A script in TypeScript that runs alone in a network where every address leads back to it. */
export interface OwnNetwork {
  readonly script: string;
  /** /etc/hosts as the script sees it. */
  readonly hosts: string;
  /** Names and addresses of its certificate, such as `IP:8.8.8.8` and `DNS:*.example`. */
  readonly certifiedFor: readonly string[];
  readonly timeoutMs: number;
}

/** DNS is what the script serves on 127.0.0.1. */
const RESOLV_CONF = 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n';

/**
 * Runs the script in separate network and mount namespaces: loopback alone, all of IPv4 and IPv6 routed to it, its own
 * /etc/resolv.conf and /etc/hosts. The script finds its key and certificate in $TLS_FILES and trusts them. Returns what
 * it printed, parsed; null where namespaces are not permitted (Linux alone has them), or where iproute2 or openssl are
 * missing and cannot be installed.
 */
export async function runInOwnNetwork<T>(network: OwnNetwork): Promise<T | null> {
  const unshare = [['-rnm'], ['-nm']].find((flags) => succeeds('unshare', [...flags, 'true']));
  if (!unshare) {
    console.warn('namespaces are not permitted here: what needs a separate network is left out');
    return null;
  }
  if (systemProgram('ip') === null || systemProgram('openssl') === null) return null;
  const dir = specFolder('own-network');
  writeFileSync(join(dir, 'resolv.conf'), RESOLV_CONF);
  writeFileSync(join(dir, 'hosts'), network.hosts);
  certify(dir, network.certifiedFor);
  const steps = [
    'set -e',
    'ip link set lo up',
    'ip route add local default dev lo',
    'ip -6 route add local default dev lo',
    `mount --bind "${dir}/resolv.conf" /etc/resolv.conf`,
    `mount --bind "${dir}/hosts" /etc/hosts`,
    'exec "$@"',
  ].join('\n');
  const command = [process.execPath, '--import', 'tsx', network.script];
  const output = await outputOf('unshare', [...unshare, 'sh', '-c', steps, 'sh', ...command], {
    timeoutMs: network.timeoutMs,
    env: { TLS_FILES: dir, NODE_EXTRA_CA_CERTS: join(dir, 'cert.pem') },
  });
  return JSON.parse(output) as T;
}

function succeeds(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { timeout: 10_000 }).status === 0;
}

function outputOf(
  command: string,
  args: readonly string[],
  { timeoutMs, env }: { timeoutMs: number; env: Record<string, string> },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], ...env },
    });
    const [out, errors]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      if (code === 0) resolve(Buffer.concat(out).toString('utf8'));
      else reject(new Error(`${command} ended with ${code}: ${Buffer.concat(errors).toString('utf8')}`));
    });
  });
}
